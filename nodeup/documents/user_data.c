#include "nodeup/documents/user_data.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "assets/unpack/inflate.h"
#include "nodeup/base/buf.h"
#include "nodeup/base/enc.h"
#include "nodeup/config/heredoc.h"
#include "nodeup/documents/dialects.h"
#include "userdata/script.h"

enum { VERSION_WITHIN = 4096, BASE64_MIN = 16, BASE64_SURE = 64, PARTS_TOLD = 6 };

/* Names for a text by its first words, or for a part by its type. All names are in lower case. If one name begins
 * like another, the longer name comes first. source: cloud-init cloudinit/handlers/__init__.py INCLUSION_TYPES_MAP */
static const struct kind {
	const char *start, *type, *what;
} kinds[] = {
	{ "#!", "text/x-shellscript", NULL },
	{ "#cloud-config-archive", "text/cloud-config-archive", "a cloud-config-archive" },
	{ "#cloud-config-jsonp", "text/cloud-config-jsonp", "a cloud-config-jsonp" },
	{ "#cloud-config", "text/cloud-config", "a cloud-config" },
	{ "#cloud-boothook", "text/cloud-boothook", "a cloud-boothook" },
	{ "#include-once", "text/x-include-once-url", "an #include-once, which lists URLs" },
	{ "#include", "text/x-include-url", "an #include, which lists URLs" },
	{ "#part-handler", "text/part-handler", "a part-handler" },
	{ "#upstart-job", "text/upstart-job", "an upstart-job" },
	{ "## template: jinja", "text/jinja2", "a jinja template" },
};

/* In a part of one of these types the first words decide what the part is; in other parts the type decides. source:
 * cloud-init cloudinit/user_data.py TYPE_NEEDED */
static const char *const types_by_start[] = { "text/plain",
					      "text/x-not-multipart",
					      "text/x-shellscript",
					      "text/x-shellscript-per-boot",
					      "text/x-shellscript-per-instance",
					      "text/x-shellscript-per-once",
					      NULL };
/* source: cloud-init cloudinit/user_data.py DECOMP_TYPES */
static const char *const gzip_types[] = {
	"application/gzip",       "application/gzip-compressed",   "application/gzipped",
	"application/x-compress", "application/x-compressed",      "application/x-gunzip",
	"application/x-gzip",     "application/x-gzip-compressed", NULL
};

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* A text and its place. */
struct piece {
	const char *file, *text;
	size_t n;
	unsigned int line; /* line of the file */
};

struct reader {
	struct arena *arena;
	const char *file;
	size_t left; /* bytes that may still be unpacked */
	struct user_data *ret;
	const char *found_in; /* number of the part with the document; NULL: none so far */
	struct strv parts;    /* kinds of the other parts */
};

/* Describes a text that has no document. */
struct verdict {
	const char *what;  /* NULL: nothing that cloud-init knows */
	unsigned int line; /* line that shows what the text is; 0: the whole text */
	bool is_other;     /* the text is no script */
};

static bool is_gzip(const char *text, size_t n)
{
	return n > 2 && (unsigned char)text[0] == 0x1f && (unsigned char)text[1] == 0x8b;
}

static const struct kind *kind_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strncasecmp(text, kinds[i].start, strlen(kinds[i].start)) == 0)
			return &kinds[i];
	return NULL;
}

static size_t blanks(const char *text)
{
	return strspn(text, " \t\r\n\v\f");
}

static bool is_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
			return false;
	return true;
}

/* Returns whether a text may be base64, quoted or not. Most texts are not, and need no copy. */
static bool may_be_base64(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("+/=\" \t\r\n\v\f", text[i]))
			return false;
	return true;
}

/* Decodes base64, quoted or not; false: it is no base64 of user data. */
static bool is_base64(struct arena *a, const char *text, size_t n, struct piece *ret)
{
	char *word, *bytes;
	struct err ignored;
	size_t end;

	if (!may_be_base64(text, n))
		return false;
	word = str_trim(a, arena_strn(a, text, n));
	end = strlen(word);
	if (end > 1 && *word == '"' && word[end - 1] == '"') {
		word[end - 1] = '\0';
		word++;
	}
	if (strlen(word) < BASE64_MIN || !str_has_only(word, "+/=\r\n") ||
	    enc_unbase64(a, word, &bytes, &n, &ignored) < 0)
		return false;
	if (!is_gzip(bytes, n) && !is_text(bytes, n))
		return false;
	ret->text = bytes;
	ret->n = n;
	return true;
}

/* Gives all of the text at once. */
static ssize_t give(void *arg, const void **ret)
{
	struct piece *p = arg;
	const size_t n = p->n;

	*ret = p->text;
	p->n = 0;
	return (ssize_t)n;
}

static int unpack(struct reader *r, struct piece *p, const char **ret_broken, struct err *e)
{
	struct piece packed = *p;
	autobuf struct buf out = BUF_INIT(r->left);
	struct inflate *z = inflate_new(give, &packed);
	const char *why = NULL;
	const void *bytes;
	ssize_t got;
	int q = 0;

	while (q == 0 && (got = inflate_read(z, &bytes, &why)) > 0)
		q = buf_add(&out, bytes, (size_t)got);
	inflate_free(z);
	*ret_broken = q == 0 && got < 0 ? why ? why : "cut off" : NULL;
	if (*ret_broken)
		return 0;
	q = buf_check(&out, r->file, e);
	if (q < 0) {
		e->kind = ERR_CONFIG;
		return q;
	}
	r->left -= out.len;
	p->n = out.len;
	p->text = arena_strn(r->arena, buf_str(&out), out.len);
	return 0;
}

static struct user_data_file file_of(const char *name, const char *text)
{
	return (struct user_data_file){ name, text, strlen(text), strspn(text, "\n") };
}

static bool is_conf(const char *name)
{
	for (const struct dialect *const *d = dialects; *d; d++)
		if (str_eq((*d)->conf_name, name))
			return true;
	return false;
}

/* Reads a script that `nodeup userdata` rendered. -ENOENT: the text is no such script. */
static int take_own(struct reader *r, const struct piece *p, struct user_data *ret, struct err *e)
{
	struct user_data found = { .file = p->file, .whole = ret->whole, .whole_n = ret->whole_n };
	struct heredoc *h;
	size_t n;
	int q = heredoc_all(r->arena, p->file, p->text, USERDATA_PUT, &h, &n, e);

	for (size_t i = 0; i < n && q == 0; i++) {
		struct user_data_file f;

		q = heredoc_take(r->arena, p->file, &h[i], h[i].name, &f.text, e);
		if (q < 0)
			break;
		f = file_of(h[i].name, f.text);
		f.padding = h[i].line - 1;
		if (is_conf(f.name))
			found.conf = f;
		else
			arena_push(r->arena, found.others, found.n_others, f);
	}
	if (q < 0)
		return q;
	if (!found.conf.text)
		return -ENOENT;
	*ret = found;
	return 0;
}

/* Reads a dialect's boot script. */
static int take_out(struct reader *r, const struct piece *p, struct user_data *ret, struct err *e)
{
	const char *text;
	int q = take_own(r, p, ret, e);

	for (const struct dialect *const *d = dialects; *d && q == -ENOENT; d++) {
		q = (*d)->script ? (*d)->script(r->arena, p->file, p->text, &text, e) : -ENOENT;
		if (q == 0)
			*ret = (struct user_data){ .file = p->file,
						   .whole = ret->whole,
						   .whole_n = ret->whole_n,
						   .conf = file_of((*d)->conf_name, text) };
	}
	return q;
}

/* Takes the script that has the document. Puts empty lines before the script, so that its lines keep the file's
 * numbers. */
static int take_in_place(struct reader *r, const struct piece *p, struct user_data *ret,
			 struct err *e)
{
	const size_t before = p->line - 1;
	struct piece placed = *p;
	struct err elsewhere;
	char *text;
	int q = take_out(r, p, ret, &elsewhere);

	if (q == -ENOENT)
		return q;
	text = arena_alloc(r->arena, before + p->n + 1);
	memset(text, '\n', before);
	memcpy(text + before, p->text, p->n);
	placed.text = text;
	placed.n += before;
	q = take_out(r, &placed, ret, e);
	ret->script = text;
	return q;
}

/* Returns the first line that ends in CRLF; 0: none. */
static unsigned int find_return(const char *text)
{
	unsigned int line = 1;

	for (; *text; text++) {
		if (text[0] == '\r' && (text[1] == '\n' || text[1] == '\0'))
			return line;
		line += *text == '\n';
	}
	return 0;
}

static int look_at_script(struct reader *r, const struct piece *p, struct verdict *v, struct err *e)
{
	const unsigned int line = find_return(p->text);
	int q;

	*v = (struct verdict){ 0 };
	if (strlen(p->text) != p->n)
		v->what = "a script with a NUL byte in it";
	else if (blanks(p->text))
		v->what = "a script with an empty line or a blank before its #!, which the kernel "
			  "does not see there";
	else if (line)
		v->what = "a script with a carriage return at a line's end (CRLF), which a shell "
			  "takes for a part of a word";
	v->line = line && v->what ? p->line + line - 1 : 0;
	if (v->what)
		return 0;
	q = take_in_place(r, p, r->ret, e);
	if (q == -ENOENT)
		v->what = "a script that writes no kube_env.yaml in a way that nodeup knows";
	return q == -ENOENT ? 0 : q < 0 ? q : 1;
}

static bool is_user_data(const char *text, size_t n)
{
	return kind_of(text + blanks(text)) || mime_is_message(text, n);
}

/* Decodes UTF-16 of ASCII; NULL: the text is something else. */
static char *narrow(struct arena *a, const struct piece *p)
{
	const bool little = p->n > 3 && memcmp(p->text, "\xff\xfe", 2) == 0;
	char *out;

	if (!little && (p->n < 4 || memcmp(p->text, "\xfe\xff", 2) != 0))
		return NULL;
	out = arena_alloc(a, p->n / 2 + 1);
	for (size_t i = 2; i + 1 < p->n; i += 2)
		out[i / 2 - 1] = p->text[i + !little];
	return out;
}

/* Returns 1 if the text has the document. Returns 0 if it has no document; then the verdict tells what the text is. */
static int look(struct reader *r, const struct piece *p, struct verdict *v, struct err *e)
{
	const struct kind *kind = kind_of(p->text + blanks(p->text));
	const char *narrowed = narrow(r->arena, p);
	const size_t mark = strlen(byte_order_mark);
	struct piece inner;

	if (kind && !kind->what)
		return look_at_script(r, p, v, e);
	*v = (struct verdict){ kind ? kind->what : NULL, .is_other = true };
	if (str_has_prefix(p->text, byte_order_mark) && is_user_data(p->text + mark, p->n - mark))
		v->what = "user data behind a byte order mark, which neither cloud-init nor the "
			  "kernel takes for the beginning of a script";
	else if (narrowed && is_user_data(narrowed, strlen(narrowed)))
		v->what = "user data in UTF-16, of which cloud-init takes nothing";
	else if (is_gzip(p->text, p->n))
		v->what = "gzip once more: it was packed twice, and cloud-init unpacks it once";
	else if (is_base64(r->arena, p->text, p->n, &inner))
		v->what = "base64 once more: it was encoded twice, and only Amazon Linux has a "
			  "cloud-init that would run it";
	else if (!kind && p->n >= BASE64_SURE && str_has_only(p->text, "+/=\r\n"))
		v->what = "base64 that is cut off or damaged";
	return 0;
}

static const struct kind *kind_by_type(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_eq(kinds[i].type, type))
			return &kinds[i];
	return NULL;
}

/* Decodes a part. If the part cannot be decoded, gives the reason. */
static int open_part(struct reader *r, const struct mime_part *part, struct piece *p,
		     const char **ret_type, const char **ret_what, struct err *e)
{
	const bool packed = is_gzip(p->text, p->n);
	const char *broken = NULL;
	int q = 0;

	*ret_type = part->type;
	*ret_what = part->broken;
	if (part->broken)
		return 0;
	if (!str_is_one_of(part->type, gzip_types)) {
		if (packed)
			*ret_what = arena_printf(r->arena,
						 "gzip of type %.60s, and cloud-init unpacks that "
						 "of type application/gzip alone",
						 part->type);
		return 0;
	}
	*ret_type = types_by_start[0];
	p->line = 0;
	if (packed)
		q = unpack(r, p, &broken, e);
	if (!packed || broken)
		*ret_what = "broken gzip";
	return q;
}

/* Reads a part as cloud-init does. Returns 1 if the part has the document. */
static int judge_part(struct reader *r, const struct mime_part *part, struct piece *p,
		      const char **ret_what, struct err *e)
{
	const struct kind *kind;
	struct verdict v = { 0 };
	const char *type;
	int q = open_part(r, part, p, &type, ret_what, e);

	if (q < 0 || *ret_what)
		return q;
	if (!str_is_one_of(type, types_by_start)) {
		kind = kind_by_type(type);
		*ret_what = kind ? kind->what
				 : arena_printf(r->arena,
						"of type %.60s, of which cloud-init runs nothing",
						type);
		return 0;
	}
	if (p->line == 0) {
		p->line = 1;
		p->file = *part->number
				  ? arena_printf(r->arena, "%s[part %s]", r->file, part->number)
				  : r->file;
	}
	q = look(r, p, &v, e);
	*ret_what = v.what ? v.what : "a text without a #!";
	if (v.line)
		*ret_what = arena_printf(r->arena, "%s, line %u", v.what, v.line);
	return q;
}

static int see_part(void *arg, const struct mime_part *part, struct err *e)
{
	struct reader *r = arg;
	struct piece p = { r->file, part->text, part->n, part->line };
	const char *what;
	int q = judge_part(r, part, &p, &what, e);

	if (q < 0)
		return q;
	if (q == 1 && r->found_in)
		return err_config(e, "%s: parts %s and %s both write kube_env.yaml", r->file,
				  r->found_in, part->number);
	if (q == 1) {
		r->found_in = part->number;
		return 0;
	}
	strv_addf(r->arena, &r->parts, "%s%s is %s", *part->number ? "part " : "it", part->number,
		  what);
	return 0;
}

static int read_message(struct reader *r, const struct piece *p, struct err *e)
{
	const size_t within = p->n < VERSION_WITHIN ? p->n : VERSION_WITHIN;
	size_t told;
	int q;

	/* cloud-init does not take these lines for headers */
	if (!strcasestr(arena_strn(r->arena, p->text, within), "mime-version:"))
		return err_config(
			e,
			"%s: a MIME message that has no MIME-Version in its first %d bytes: "
			"cloud-init takes none of it",
			r->file, VERSION_WITHIN);
	q = mime_walk(r->arena, r->file, p->text, p->n, see_part, r, e);
	if (q < 0 || r->found_in)
		return q;
	told = r->parts.n < PARTS_TOLD ? r->parts.n : PARTS_TOLD;
	if (told < r->parts.n)
		strv_addf(r->arena, &r->parts, "and %zu more", r->parts.n - told);
	return err_config(e, "%s: a MIME message of which no part writes kube_env.yaml: %s%s%s",
			  tree_where(r->arena, &(struct tree_pos){ r->file, 1, 1 }),
			  told ? strv_join(r->arena, &(struct strv){ r->parts.v, told }, "; ")
			       : "it has none",
			  told < r->parts.n ? "; " : "",
			  told < r->parts.n ? r->parts.v[r->parts.n - 1] : "");
}

/* Unpacks the whole text: gzip, and base64 of gzip. */
static int open_whole(struct reader *r, bool raw, struct piece *p, struct err *e)
{
	const char *broken = NULL;
	int q = 0;

	if (!raw)
		(void)is_base64(r->arena, p->text, p->n, p);
	if (is_gzip(p->text, p->n))
		q = unpack(r, p, &broken, e);
	return broken ? err_config(e, "%s: broken gzip: %s", r->file, broken) : q;
}

int user_data_read(struct arena *a, const char *file, const struct user_data_file *text, bool raw,
		   struct user_data *ret, struct err *e)
{
	struct reader r = { .arena = a, .file = file, .left = USER_DATA_MAX, .ret = ret };
	struct piece p = { file, text->text, text->n, 1 };
	struct verdict v = { 0 };
	int q = open_whole(&r, raw, &p, e);

	if (q < 0)
		return q;
	*ret = (struct user_data){ .file = file,
				   .whole = p.text,
				   .whole_n = p.n,
				   .conf = { text->name, p.text, p.n, 0 } };
	if (mime_is_message(p.text, p.n))
		return read_message(&r, &p, e);
	q = look(&r, &p, &v, e);
	if (q == 0 && !v.what && blanks(p.text) &&
	    mime_is_message(p.text + blanks(p.text), p.n - blanks(p.text)))
		v = (struct verdict){ "a MIME message with an empty line or a blank before its "
				      "headers, of which cloud-init takes none",
				      .is_other = true };
	if (q != 0 || !v.what)
		return q < 0 ? q : 0;
	if (v.is_other)
		return err_config(e,
				  "%s: this is %s; --conf wants kube_env.yaml, or user data whose "
				  "script writes it",
				  file, v.what);
	return err_config(e, "%s: %s",
			  v.line ? tree_where(a, &(struct tree_pos){ file, v.line, 1 }) : file,
			  v.what);
}
