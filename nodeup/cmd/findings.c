#include "nodeup/cmd/findings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/field.h"
#include "nodeup/base/near.h"
#include "nodeup/base/show.h"
#include "nodeup/cmd/cli.h"
#include "nodeup/documents/dialects.h"

/* EXCERPTS_MAX: at most so many findings are shown with their line */
enum { EXCERPTS_MAX = 200, SHOWN_MAX = 100, DEPTH_MAX = 16, KEY_MIN = 5, GITHUB_MAX = 1 << 20 };

/* Lists the keys of a schema, and of its nested schemas, that may hold a password. */
static void add_secrets(struct arena *a, const struct schema *s, size_t depth, struct strv *keys)
{
	for (size_t i = 0; s && i < s->n && depth < DEPTH_MAX; i++) {
		if (s->fields[i].secret)
			strv_add(a, keys, s->fields[i].key);
		else
			add_secrets(a, s->fields[i].schema, depth + 1, keys);
	}
}

static struct strv secret_keys(struct arena *a)
{
	/* keys of documents that kinds.c names */
	static const char *const others[] = { "token", "UserData", "LaunchTemplateVersions",
					      "machine" };
	struct strv keys = { 0 };

	strv_add_array(a, &keys, others);
	for (const struct dialect *const *d = dialects; *d; d++) {
		add_secrets(a, (*d)->document, 0, &keys);
		add_secrets(a, (*d)->cluster, 0, &keys);
		add_secrets(a, (*d)->group, 0, &keys);
	}
	return keys;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Returns whether the key may hold a password, also if it is misspelt. */
static bool is_secret_key(const struct strv *keys, const char *word)
{
	for (size_t i = 0; i < keys->n; i++)
		if (near_edits(word, keys->v[i]) <= (strlen(word) < KEY_MIN ? 0 : 1))
			return true;
	return false;
}

static bool names_secret(struct arena *a, const struct strv *keys, const char *line)
{
	while (*line) {
		size_t n = 0, end;

		while (is_word(line[n]))
			n++;
		if (n == 0) {
			line++;
			continue;
		}
		end = n + strspn(line + n, "\"' ");
		if (line[end] == ':' && is_secret_key(keys, arena_strn(a, line, n)))
			return true;
		line += n;
	}
	return false;
}

/* Returns whether a URL in the line has a user and password, or a signature. */
static bool has_url_secret(const char *line)
{
	const char *url = strstr(line, "://");

	return url && strpbrk(url, "@?");
}

/* Splits the text into lines, up to the last line that is needed. */
static struct strv split_lines(struct arena *a, const char *text, size_t n, size_t last)
{
	struct strv l = { 0 };

	for (const char *p = text, *end = text + n; p < end && l.n < last;) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const size_t len = (size_t)((eol ? eol : end) - p);

		strv_add(a, &l, arena_strn(a, p, len));
		p += len + 1;
	}
	return l;
}

static size_t indent_of(const char *line)
{
	return strspn(line, " \t");
}

/* Returns whether the last line, or a key above it, may hold a password. A list's item may be indented no deeper
 * than the list's key. */
static bool is_secret_line(struct arena *a, const struct strv *l)
{
	const struct strv keys = secret_keys(a);
	const char *line = l->v[l->n - 1];
	size_t indent = indent_of(line);
	bool is_item = line[indent] == '-';

	if (names_secret(a, &keys, line) || has_url_secret(line))
		return true;
	for (size_t i = l->n - 1; i-- > 0;) {
		const size_t at = indent_of(l->v[i]);
		const char *text = l->v[i] + at;

		if (*text == '\0' || *text == '#' || at > indent ||
		    (at == indent && (!is_item || *text == '-')))
			continue;
		if (names_secret(a, &keys, text))
			return true;
		indent = at;
		is_item = *text == '-';
	}
	return false;
}

/* Returns the byte at which a character begins; the first character is 0. */
static size_t byte_of(const char *line, size_t character)
{
	size_t i = 0;

	while (line[i] && character > 0) {
		i++;
		while (((unsigned char)line[i] & 0xc0) == 0x80)
			i++;
		character--;
	}
	return i;
}

static void take_line(struct arena *a, struct finding *f, const struct user_data_file *t)
{
	autoarena struct arena *scratch = arena_new_empty();
	const struct strv l = split_lines(scratch, t->text, t->n, f->pos.line);
	const size_t character = f->pos.column ? f->pos.column - 1 : 0;
	size_t at, from;
	char *line;

	if (l.n < f->pos.line || is_secret_line(scratch, &l))
		return;
	line = arena_str(scratch, l.v[l.n - 1]);
	line[strcspn(line, "\r")] = '\0';
	for (char *p = line; *p; p++)
		if (*p == '\t')
			*p = ' ';
	at = byte_of(line, character);
	/* of a long line, the part around the place */
	from = at > SHOWN_MAX / 2 && strlen(line) > SHOWN_MAX ? at - SHOWN_MAX / 2 : 0;
	while (((unsigned char)line[from] & 0xc0) == 0x80)
		from--;
	f->line = arena_printf(a, "%.*s", SHOWN_MAX, line + from);
	f->caret = 0;
	for (size_t i = from; i < at; i++)
		f->caret += ((unsigned char)line[i] & 0xc0) != 0x80;
}

/* Reads ":12:3: ", and returns its end; NULL: the text is no place. */
static const char *read_place(const char *colon, struct tree_pos *pos)
{
	char *end;
	const unsigned long line = isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, &end, 10)
								    : 0;
	unsigned long column;

	if (line == 0 || *end != ':' || !isdigit((unsigned char)end[1]))
		return NULL;
	column = strtoul(end + 1, &end, 10);
	if (end[0] != ':' || end[1] != ' ')
		return NULL;
	pos->line = (unsigned int)line;
	pos->column = (unsigned int)column;
	return end + 2;
}

/* Splits "file:line:column: text". Text before a place ("on debian 9: ") has a blank after a colon. */
static void take_place(struct arena *a, struct finding *f)
{
	for (const char *p = strchr(f->text, ':'); p; p = strchr(p + 1, ':')) {
		const char *rest = read_place(p, &f->pos);

		if (rest) {
			f->pos.file = arena_strn(a, f->text, (size_t)(p - f->text));
			f->text = rest;
			return;
		}
		if (p[1] == ' ')
			return;
	}
}

/* Returns the index of the script's text that holds the place, since all texts of a script have its name; SIZE_MAX:
 * no text. */
static size_t text_at(const struct bootstrap *b, const struct tree_pos *pos)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; b && pos->file && i < b->n_texts; i++)
		if (str_eq(b->texts[i].name, pos->file) && b->texts[i].padding < pos->line &&
		    (best == SIZE_MAX || b->texts[i].padding > b->texts[best].padding))
			best = i;
	return best;
}

static void add(struct findings *f, struct finding one, const struct bootstrap *b)
{
	size_t text;

	take_place(f->arena, &one);
	one.order = f->n;
	one.rank = text = text_at(b, &one.pos);
	one.at = one.pos;
	if (!one.pos.file && f->n) {
		one.rank = f->v[f->n - 1].rank;
		one.at = f->v[f->n - 1].at;
	}
	if (text != SIZE_MAX && f->n < EXCERPTS_MAX)
		take_line(f->arena, &one, &b->texts[text]);
	f->errors += one.is_error;
	arena_push(f->arena, f->v, f->n, one);
}

static struct finding of_error(struct arena *a, const struct err *e)
{
	struct finding f = { .is_error = true, .text = arena_str(a, e->msg) };

	for (size_t i = 0; i < e->nnotes; i++)
		strv_addf(a, &f.notes, "%-9s %s", e->notes[i].label, e->notes[i].text);
	return f;
}

static int by_place(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	if (x->at.column != y->at.column)
		return x->at.column < y->at.column ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void findings_add(struct findings *f, const struct errs *errors, const struct strv *warnings,
		  const struct bootstrap *b)
{
	const size_t before = f->n;

	for (size_t i = 0; i < errors->n; i++)
		add(f, of_error(f->arena, &errors->v[i]), b);
	if (errors->more)
		add(f,
		    (struct finding){
			    .is_error = true,
			    .text = arena_printf(f->arena, "and %zu more errors", errors->more) },
		    b);
	for (size_t i = 0; i < errors->lines.n; i++)
		add(f, (struct finding){ .is_error = true, .text = errors->lines.v[i] }, b);
	for (size_t i = 0; i < warnings->n; i++)
		add(f, (struct finding){ .text = warnings->v[i] }, b);
	if (f->n > before)
		qsort(f->v + before, f->n - before, sizeof(*f->v), by_place);
}

void findings_add_other(struct findings *f, const struct err *e, bool ends_it)
{
	struct finding one = of_error(f->arena, e);

	one.ends_it = ends_it;
	f->errors++;
	arena_push(f->arena, f->v, f->n, one);
}

static const char *severity(const struct finding *f)
{
	return f->is_error ? "error" : "warning";
}

static void print_one(const struct finding *f)
{
	const struct tree_pos *pos = &f->pos;

	if (pos->file)
		show_line(stderr, "%s:%u:%u: %s: %s", pos->file, pos->line, pos->column,
			  severity(f), f->text);
	else
		show_line(stderr, "%s: %s", severity(f), f->text);
	if (f->line) {
		show_line(stderr, "%6u | %s", pos->line, f->line);
		show_line(stderr, "       | %*s^", (int)f->caret, "");
	}
	for (size_t k = 0; k < f->notes.n; k++)
		show_line(stderr, "  %s", f->notes.v[k]);
}

static int by_weight(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	return x->order < y->order ? -1 : 1;
}

/* Returns the errors in order, followed by the most important warnings. */
static struct findings without_many(const struct findings *f)
{
	struct findings out = { .arena = f->arena, .errors = f->errors };

	for (int is_error = 1; is_error >= 0; is_error--)
		for (size_t i = 0; i < f->n; i++)
			if (f->v[i].is_error == is_error)
				arena_push(out.arena, out.v, out.n, f->v[i]);
	qsort(out.v + f->errors, f->n - f->errors, sizeof(*out.v), by_weight);
	out.n = f->errors + CLI_WARNINGS_MAX;
	return out;
}

void findings_print(const struct findings *f)
{
	const bool many = f->n - f->errors > CLI_WARNINGS_MAX;
	const struct findings shown = many ? without_many(f) : *f;

	for (size_t i = 0; i < shown.n; i++)
		if (!shown.v[i].ends_it)
			print_one(&shown.v[i]);
	if (many)
		show_line(stderr, "warning: and %zu more", f->n - shown.n);
}

/* Escapes the characters that workflow commands use themselves. */
static void add_escaped(struct buf *b, const char *text, const char *signs)
{
	for (; *text; text++)
		if (strchr(signs, *text))
			(void)buf_addf(b, "%%%02X", (unsigned int)(unsigned char)*text);
		else
			(void)buf_addc(b, *text);
}

void findings_print_github(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->v[i];
		autobuf struct buf b = BUF_INIT(GITHUB_MAX);

		(void)buf_addf(&b, "::%s ", severity(one));
		if (one->pos.file) {
			(void)buf_adds(&b, "file=");
			add_escaped(&b, one->pos.file, "%\r\n:,");
			(void)buf_addf(&b, ",line=%u,col=%u", one->pos.line, one->pos.column);
		} else {
			(void)buf_adds(&b, "title=nodeup validate");
		}
		(void)buf_adds(&b, "::");
		add_escaped(&b, one->text, "%\r\n");
		for (size_t k = 0; k < one->notes.n; k++) {
			(void)buf_adds(&b, "%0A");
			add_escaped(&b, one->notes.v[k], "%\r\n");
		}
		show_line(stdout, "%s", buf_str(&b));
	}
}

struct tree *findings_tree(const struct findings *f)
{
	struct arena *a = f->arena;
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->v[i];
		struct tree *t = tree_map(a);

		tree_set_text(a, t, "severity", severity(one));
		tree_set_text(a, t, "file", one->pos.file);
		if (one->pos.file) {
			tree_set_int(a, t, "line", one->pos.line);
			tree_set_int(a, t, "column", one->pos.column);
		}
		tree_set_text(a, t, "text", one->text);
		tree_set_some(a, t, "notes", tree_of_strv(a, &one->notes));
		(void)tree_add(a, list, t);
	}
	return list;
}
