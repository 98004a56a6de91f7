#include "nodeup/base/accepts.h"
#include "nodeup/base/field_value.h"

static const char *const kind_names[] = {
	[FIELD_STRING] = "string", [FIELD_BOOL] = "bool",       [FIELD_INT] = "integer",
	[FIELD_OPT_BOOL] = "bool", [FIELD_OPT_INT] = "integer", [FIELD_OPT_DUR] = "duration",
	[FIELD_STRV] = "strings",  [FIELD_STRMAP] = "map",      [FIELD_OBJECT] = "section",
	[FIELD_LIST] = "list",     [FIELD_TREE] = "any",
};

enum { KEY_WIDTH = 38, KIND_WIDTH = 9, FLAG_WIDTH = 40 };

/* Writes a row's demand, and the versions that have the row's flag. Writes the name of a long list of words instead
 * of the list. */
static void add_accepts(const struct field *f, struct buf *b)
{
	autoarena struct arena *a = arena_new_empty();

	for (const struct field_accepts *d = f->accepts; d; d = d->next)
		(void)buf_addf(b, " (accepts %s%s%s)", d->keys ? "as a key " : "",
			       accepts_wanted(a, d), field_versions(a, d->since, d->until));
	if (f->usual)
		(void)buf_addf(b, " (default %s)", f->usual);
	(void)buf_addf(b, "%s\n", field_versions(a, f->since, f->until));
}

int field_docs(const struct schema *s, int depth, struct buf *b)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		const int indent = 2 * depth;
		int used = 0;

		(void)buf_addf(b, "%*s%-*s %-*s ", indent, "", KEY_WIDTH - indent, f->key,
			       KIND_WIDTH, kind_names[f->kind]);
		if (f->flag) {
			(void)buf_addf(b, "--%s", f->flag);
			used = (int)__builtin_strlen(f->flag) + 2;
		}
		(void)buf_addf(b, "%*s %s", used < FLAG_WIDTH ? FLAG_WIDTH - used : 0, "",
			       f->doc ? f->doc : "");
		if (f->oneof)
			(void)buf_addf(b, " (%s)", f->oneof);
		add_accepts(f, b);
		if (f->schema)
			(void)field_docs(f->schema, depth + 1, b);
	}
	return b->overflow ? -EFBIG : 0;
}
