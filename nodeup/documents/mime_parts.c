/* mime_parts.c - the parts of a MIME message, as cloud-init sees them
 * Reads headers in any order, case and fold, line breaks of either kind, and parts in parts. Decodes each part's
 * Content-Transfer-Encoding.
 * Source: RFC 2045, RFC 2046; Python's email.feedparser, which cloud-init uses. */
#include "nodeup/documents/user_data.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/enc.h"

enum { PARTS_MAX = 100, DEPTH_MAX = 8, HEADER_MAX = 4096 };

static const char plain[] = "text/plain";

/* The rest of the message, or a part of it. */
struct span {
	const char *text;
	size_t n;
	unsigned int line; /* line of the message where the span begins */
};

struct headers {
	const char *type, *boundary, *encoding; /* NULL: the header is missing */
	bool has_version, crlf;                 /* crlf: the message's lines end in CRLF */
};

struct walk {
	struct arena *arena;
	const char *file;
	mime_part_fn *fn;
	void *arg;
	size_t seen;
};

/* Takes the next line from the span; *ret is the line without its end. */
static bool next_line(struct span *s, struct span *ret, bool *ret_crlf)
{
	const char *end = s->n ? memchr(s->text, '\n', s->n) : NULL;
	const size_t n = end ? (size_t)(end - s->text) : s->n, all = n + (end != NULL);

	if (!s->n)
		return false;
	*ret_crlf = end && n && s->text[n - 1] == '\r';
	*ret = (struct span){ s->text, n - *ret_crlf, s->line };
	*s = (struct span){ s->text + all, s->n - all, s->line + 1 };
	return true;
}

/* Returns the length of the header's name at the beginning of the line; 0: there is none. */
static size_t name_of(const struct span *line)
{
	for (size_t i = 0; i < line->n; i++) {
		if (line->text[i] == ':')
			return i;
		if (!isascii(line->text[i]) || !isgraph(line->text[i]))
			return 0;
	}
	return 0;
}

static char *lower(struct arena *a, const char *text, size_t n)
{
	char *out = str_trim(a, arena_strn(a, text, n));

	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

/* Returns the value of a parameter in "; name=value"; the value may be in quotes. *end is the place after the value. */
static char *take_value(struct arena *a, const char *p, const char **end)
{
	char *out = arena_alloc(a, strlen(p) + 1), *to = out;
	bool quoted;

	p += strspn(p, " \t");
	quoted = *p == '"';
	for (p += quoted; *p && *p != (quoted ? '"' : ';'); p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	*end = p + strcspn(p, ";");
	return str_trim(a, out);
}

/* Returns a header value's parameter of that name; NULL: there is none. */
static const char *parameter(struct arena *a, const char *value, const char *name)
{
	const char *p = value + strcspn(value, ";");

	while (*p) {
		const size_t n = strcspn(++p, "=;");
		const char *key = lower(a, p, n);

		p += n;
		if (*p != '=')
			continue;
		value = take_value(a, p + 1, &p);
		if (str_eq(key, name))
			return value;
	}
	return NULL;
}

static void set_type(struct arena *a, struct headers *h, const char *value)
{
	autoarena struct arena *scratch = arena_new_empty();
	const char *type = lower(a, value, strcspn(value, ";"));
	const char *slash = strchr(type, '/');

	h->type = slash && !strchr(slash + 1, '/') ? type : plain;
	h->boundary = arena_str(a, parameter(scratch, value, "boundary"));
}

/* Sets a header. If several headers have one name, the first counts. */
static void set_header(struct arena *a, struct headers *h, const char *name, const char *value)
{
	if (strcasecmp(name, "MIME-Version") == 0)
		h->has_version = true;
	else if (strcasecmp(name, "Content-Type") == 0 && !h->type)
		set_type(a, h, value);
	else if (strcasecmp(name, "Content-Transfer-Encoding") == 0 && !h->encoding)
		h->encoding = lower(a, value, strlen(value));
}

/* Reads headers up to an empty line, or a line that is no header. Afterwards s is the rest of the message. */
static struct headers read_headers(struct arena *a, struct span *s)
{
	struct headers h = { 0 };
	autobuf struct buf value = BUF_INIT(HEADER_MAX);
	const char *name = NULL;
	struct span line, rest = *s;
	bool crlf;
	size_t n;

	while (next_line(&rest, &line, &crlf)) {
		h.crlf = h.crlf || crlf;
		n = name_of(&line);
		if (n || line.n == 0) {
			if (name)
				set_header(a, &h, name, buf_str(&value));
			name = NULL;
			buf_done(&value);
		}
		if (n)
			name = arena_strn(a, line.text, n++);
		else if (line.n && !(name && isblank((unsigned char)*line.text)))
			break;
		*s = rest;
		if (line.n == 0)
			break;
		(void)buf_add(&value, line.text + n, line.n - n);
	}
	if (name)
		set_header(a, &h, name, buf_str(&value));
	return h;
}

bool mime_is_message(const char *text, size_t n)
{
	autoarena struct arena *a = arena_new_empty();
	struct span s = { text, n, 1 };
	const struct headers h = read_headers(a, &s);

	return h.has_version || h.type;
}

static char *without_returns(struct arena *a, const struct span *s, bool crlf, size_t *ret_n)
{
	char *out = arena_strn(a, s->text, s->n);
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!crlf || out[i] != '\r' || i + 1 == s->n || out[i + 1] != '\n')
			out[n++] = out[i];
	out[n] = '\0';
	*ret_n = n;
	return out;
}

/* Decodes quoted-printable in place; returns the new length. */
static size_t unquote(char *text, size_t n)
{
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		const int high = text[i] == '=' && i + 2 < n ? str_hex_value(text[i + 1]) : -1;
		const int low = high >= 0 ? str_hex_value(text[i + 2]) : -1;

		if (low >= 0) {
			text[to++] = (char)(high << 4 | low);
			i += 2;
		} else if (text[i] == '=' && (i + 1 == n || text[i + 1] == '\n')) {
			i++;
		} else {
			text[to++] = text[i];
		}
	}
	text[to] = '\0';
	return to;
}

static void decode(struct arena *a, const char *encoding, struct mime_part *part)
{
	char *text = arena_strn(a, part->text, part->n);
	struct err ignored;

	if (str_eq(encoding, "quoted-printable")) {
		part->n = unquote(text, part->n);
		part->text = text;
		part->line = 0;
	} else if (str_eq(encoding, "base64")) {
		if (enc_unbase64(a, part->text, &text, &part->n, &ignored) < 0)
			part->broken = "in base64 that is cut off or damaged";
		part->text = text;
		part->line = 0;
	} else if (encoding && strstr(encoding, "uu")) {
		part->broken = "in uuencode, which nodeup does not undo";
	}
}

static int see_part(struct walk *w, const struct span *s, const struct headers *h,
		    const char *number, struct err *e)
{
	struct mime_part part = { .number = number,
				  .type = h->type ? h->type : plain,
				  .line = s->line };

	part.text = without_returns(w->arena, s, h->crlf, &part.n);
	if (str_has_prefix(part.type, "multipart/"))
		part.broken = "a multipart that names no boundary";
	else
		decode(w->arena, h->encoding, &part);
	return w->fn(w->arg, &part, e);
}

static int walk(struct walk *w, struct span s, const char *number, unsigned int depth,
		struct err *e);

/* Returns 1 if the line separates two parts, 2 if the line ends the last part, otherwise 0. */
static int is_boundary(const struct span *line, const char *boundary)
{
	const size_t n = strlen(boundary);
	const char *p, *end = line->text + line->n;
	int r = 1;

	if (line->n < n + 2 || memcmp(line->text, "--", 2) != 0 ||
	    memcmp(line->text + 2, boundary, n) != 0)
		return 0;
	p = line->text + 2 + n;
	if (end - p >= 2 && memcmp(p, "--", 2) == 0) {
		p += 2;
		r = 2;
	}
	while (p < end && isblank((unsigned char)*p))
		p++;
	return p == end ? r : 0;
}

/* Ignores text before the first boundary and after the last. */
static int walk_parts(struct walk *w, struct span rest, const char *boundary, const char *number,
		      unsigned int depth, struct err *e)
{
	struct span part = { 0 }, line;
	bool crlf, part_crlf = false;
	size_t n = 0;
	int kind = 0, r = 0;

	while (r >= 0 && kind != 2) {
		const bool more = next_line(&rest, &line, &crlf);

		kind = more ? is_boundary(&line, boundary) : 2;
		if (kind && part.text) {
			/* the line break before a boundary belongs to the boundary */
			part.n = (size_t)((more ? line.text : rest.text) - part.text);
			part.n -= more && part.n ? 1 + (part_crlf && part.n > 1) : 0;
			r = walk(w, part,
				 arena_printf(w->arena, "%s%s%zu", number, *number ? "." : "", ++n),
				 depth + 1, e);
		}
		if (kind)
			part = rest;
		part_crlf = more && crlf;
	}
	return r;
}

static int walk(struct walk *w, struct span s, const char *number, unsigned int depth,
		struct err *e)
{
	struct headers h;

	if (depth > DEPTH_MAX || w->seen++ > PARTS_MAX)
		return err_config(e,
				  "%s: a MIME message of more than %d parts, or %d in each other",
				  w->file, PARTS_MAX, DEPTH_MAX);
	h = read_headers(w->arena, &s);
	if (h.type && str_has_prefix(h.type, "multipart/") && h.boundary)
		return walk_parts(w, s, h.boundary, number, depth, e);
	return see_part(w, &s, &h, number, e);
}

int mime_walk(struct arena *a, const char *file, const char *text, size_t n, mime_part_fn *fn,
	      void *arg, struct err *e)
{
	struct walk w = { .arena = a, .file = file, .fn = fn, .arg = arg };

	return walk(&w, (struct span){ text, n, 1 }, "", 0, e);
}
