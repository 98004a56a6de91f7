#include "userdata/mime.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "nodeup/base/buf.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/near.h"
#include "nodeup/base/str.h"

enum { MIME_MAX = 2 << 20, BASE64_LINE = 76, TEXT_LINE_MAX = 998 };

static const char handler_type[] = "text/part-handler";

/* source: cloud-init cloudinit/handlers, cloudinit/user_data.py; cloud-init recognises the last two by their content */
static const char *const types[] = {
	"text/cloud-config",
	"text/cloud-config-archive",
	"text/cloud-config-jsonp",
	"text/cloud-boothook",
	"text/jinja2",
	"text/upstart-job",
	"text/x-include-url",
	"text/x-include-once-url",
	"text/x-shellscript",
	"text/x-shellscript-per-boot",
	"text/x-shellscript-per-instance",
	"text/x-shellscript-per-once",
	handler_type,
	"text/plain",
	"application/octet-stream",
};

bool userdata_type_is_known(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcasecmp(types[i], type) == 0)
			return true;
	return false;
}

bool userdata_type_is_handler(const char *type)
{
	return strcasecmp(type, handler_type) == 0;
}

const char *userdata_type_near(struct arena *a, const char *type)
{
	/* many heads give the type without "text/": "cloud-config" */
	if (!strchr(type, '/'))
		type = arena_printf(a, "text/%s", type);
	return near_name(type, types, ARRAY_LEN(types));
}

/* Returns whether s is a token of RFC 2045: no space, no control, none of its special characters. */
static bool is_token(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isascii(s[i]) || !isgraph(s[i]) || strchr("()<>@,;:\\\"/[]?=", s[i]))
			return false;
	return n > 0;
}

static bool is_type(const char *type)
{
	size_t main_type = strcspn(type, "/");

	return type[main_type] == '/' && is_token(type, main_type) &&
	       is_token(type + main_type + 1, strlen(type + main_type + 1));
}

/* Returns whether the data may be written unencoded: it is ASCII, and every reader takes its lines. */
static bool is_text(const struct userdata_part *p)
{
	size_t line = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!isascii(p->data[i]) || p->data[i] == '\0' || p->data[i] == '\r')
			return false;
		line = p->data[i] == '\n' ? 0 : line + 1;
		if (line > TEXT_LINE_MAX)
			return false;
	}
	return true;
}

static void put_base64(struct arena *a, const struct userdata_part *p, struct buf *b)
{
	const char *text = enc_base64(a, p->data, p->n);
	size_t left = strlen(text);

	while (left > BASE64_LINE) {
		(void)buf_add(b, text, BASE64_LINE);
		(void)buf_addc(b, '\n');
		text += BASE64_LINE;
		left -= BASE64_LINE;
	}
	(void)buf_adds(b, text);
}

static int put_part(struct arena *a, const struct userdata_part *p, const char *boundary,
		    struct buf *b, struct err *e)
{
	if (!is_type(p->type))
		return err_config(e,
				  "'%s' is not a MIME type (wanted text/x-shellscript or the like)",
				  p->type);
	if (!is_token(p->name, strlen(p->name)))
		return err_config(e, "'%s' is not a name for a part of the user data", p->name);
	(void)buf_addf(b, "--%s\nContent-Type: %s; charset=\"%s\"\nMIME-Version: 1.0\n", boundary,
		       p->type, is_text(p) ? "us-ascii" : "utf-8");
	(void)buf_addf(b, "Content-Transfer-Encoding: %s\n", is_text(p) ? "7bit" : "base64");
	(void)buf_addf(b, "Content-Disposition: attachment; filename=\"%s\"\n\n", p->name);
	if (is_text(p))
		(void)buf_add(b, p->data, p->n);
	else
		put_base64(a, p, b);
	/* The line break before a boundary belongs to the boundary. */
	(void)buf_addc(b, '\n');
	return 0;
}

static bool is_in_a_part(const char *text, const struct userdata_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(parts[i].data, parts[i].n, text, strlen(text)))
			return true;
	return false;
}

int userdata_mime(struct arena *a, const struct userdata_part *parts, size_t n, char **ret_text,
		  struct err *e)
{
	autobuf struct buf b = BUF_INIT(MIME_MAX);
	const char *boundary = "MIMEBOUNDARY";
	int r;

	for (unsigned int i = 1; is_in_a_part(boundary, parts, n); i++)
		boundary = arena_printf(a, "MIMEBOUNDARY_%u", i);
	(void)buf_addf(&b, "Content-Type: multipart/mixed; boundary=\"%s\"\nMIME-Version: 1.0\n\n",
		       boundary);
	for (size_t i = 0; i < n; i++) {
		r = put_part(a, &parts[i], boundary, &b, e);
		if (r < 0)
			return r;
	}
	(void)buf_addf(&b, "--%s--\n", boundary);
	r = buf_check(&b, "multipart user data", e);
	if (r < 0)
		return r;
	*ret_text = arena_str(a, buf_str(&b));
	return 0;
}
