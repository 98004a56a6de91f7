/* plan_flags.c - which flags of a long line would change, one by one
 * A file of flags (DAEMON_ARGS= of a sysconfig, the command of a manifest) has several flags on one line. Two such
 * lines may differ in only a word or two, which a person does not find. Invariant: the value of a flag that may hold
 * a password is never in the result. */
#include "nodeup/cmd/plan.h"

#include <ctype.h>
#include <string.h>
#include "nodeup/documents/dialects.h"

enum {
	MANY_FLAGS = 3
}; /* a line with so many flags is a line of flags, not a command with an option */

static size_t secret_of(const struct schema *s, const char *text)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		autofree char *flag = f->secret && f->flag ? xasprintf("--%s=", f->flag) : NULL;

		if (flag && str_has_prefix(text, flag))
			return strlen(flag);
	}
	return 0;
}

/* Returns the length of a program's flag at text whose value may hold a password; 0: there is none. */
static size_t secret_flag(const char *text)
{
	const struct dialect_program *program;
	size_t n = 0;

	for (size_t i = 0; n == 0 && (program = dialects_program(i)); i++)
		n = secret_of(program->schema, text);
	return n;
}

/* Returns the end of a secret value, at the next flag or the end of its line: it may hold spaces. */
static const char *end_of_secret(const char *text)
{
	while (*text && *text != '\n' && !str_has_prefix(text, " --"))
		text++;
	return text;
}

void cmd_plan_mask(struct buf *b, const char *text)
{
	while (*text) {
		const size_t n = *text == '-' ? secret_flag(text) : 0;

		if (n == 0) {
			(void)buf_addc(b, *text++);
			continue;
		}
		(void)buf_addf(b, "%.*s(not shown)", (int)n, text);
		text = end_of_secret(text + n);
	}
}

/* Returns whether a flag begins here: at the start of a word, also inside quotes. */
static bool is_flag(const char *text, const char *start)
{
	return str_has_prefix(text, "--") && isalpha((unsigned char)text[2]) &&
	       (text == start || isspace((unsigned char)text[-1]) || strchr("\"'=", text[-1]));
}

/* Returns the end of the flag's word; a quote before the value ends the word too. */
static const char *end_of_flag(const char *text)
{
	const size_t secret = secret_flag(text);
	const char *p = text;

	if (secret)
		return end_of_secret(text + secret);
	p += strcspn(p, "= \t\r\n\"'");
	if (*p == '=' && (p[1] == '"' || p[1] == '\'')) {
		const char quote[] = { p[1], '\n', '\0' }, *end = p + 2 + strcspn(p + 2, quote);

		return *end == p[1] ? end + 1 : end;
	}
	return p + strcspn(p, " \t\r\n\"'");
}

/* Lists all flags of a text, sorted; ret_most: the number of flags on the line that has most. */
static struct strv flags_of(struct arena *a, const char *text, size_t *ret_most)
{
	struct strv found = { 0 };
	size_t here = 0;

	for (const char *p = text; *p;) {
		const char *end = is_flag(p, text) ? end_of_flag(p) : NULL;

		if (*p == '\n')
			here = 0;
		if (!end) {
			p++;
			continue;
		}
		strv_add(a, &found, arena_strn(a, p, (size_t)(end - p)));
		here++;
		if (here > *ret_most)
			*ret_most = here;
		p = end;
	}
	strv_sort(&found);
	return found;
}

static bool same_name(const char *a, const char *b)
{
	const size_t n = strcspn(a, "=");

	return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

/* The lines of one flag; old values come first. */
struct lines {
	struct strv all, added;
	const char *flag;
};

static void flush_added(struct arena *a, struct lines *l)
{
	strv_add_all(a, &l->all, &l->added);
	l->added = (struct strv){ 0 };
}

static void tell_flag(struct arena *a, struct lines *l, char sign, const char *flag)
{
	autobuf struct buf b = BUF_INIT(1 << 20);

	if (l->flag && !same_name(l->flag, flag))
		flush_added(a, l);
	l->flag = flag;
	cmd_plan_mask(&b, flag);
	strv_addf(a, sign == '+' ? &l->added : &l->all, "%c %s", sign, buf_str(&b));
}

struct strv cmd_plan_flags(struct arena *a, const char *was, const char *want)
{
	size_t most = 0, i = 0, k = 0;
	const struct strv old = flags_of(a, was, &most), new = flags_of(a, want, &most);
	struct lines lines = { 0 };

	while (most >= MANY_FLAGS && (i < old.n || k < new.n)) {
		const int order = i == old.n ? 1 : k == new.n ? -1 : strcmp(old.v[i], new.v[k]);

		if (order < 0)
			tell_flag(a, &lines, '-', old.v[i]);
		else if (order > 0)
			tell_flag(a, &lines, '+', new.v[k]);
		i += order <= 0;
		k += order >= 0;
	}
	flush_added(a, &lines);
	return lines.all;
}
