/* help_key.c - explains one key of a document, or one setting: its meaning, flag, accepted values; from the tables */
#include "nodeup/cmd/cli.h"

#include <string.h>
#include <strings.h>
#include "nodeup/base/accepts.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/paths.h"
#include "nodeup/config/rules.h"
#include "nodeup/config/settings.h"
#include "nodeup/documents/dialects.h"

enum { DEPTH_MAX = 16, SHOWN_MAX = 256 << 10 };

struct search {
	struct arena *arena;
	const char *name;              /* "maxPods", "KubeletConfig.maxPods" */
	const struct dialect *dialect; /* NULL: the settings of the machine are searched */
	struct strmap shown;           /* shown texts about a row, with the places of each */
};

static void line(struct buf *b, const char *label, const char *text)
{
	if (!str_is_empty(text))
		(void)buf_addf(b, "  %-8s %s\n", label, text);
}

/* Returns whether nodes of such documents may have a version of this range. */
static bool is_of(const struct dialect *d, unsigned int since, unsigned int until)
{
	return accepts_holds(since, 0, d->newest->minor) &&
	       accepts_holds(0, until, d->oldest->minor);
}

/* Returns whether a text contains this word, ignoring case. */
static bool names(struct arena *a, const char *text, const char *word)
{
	return accepts_matches(arena_printf(a, "(?i)(^|[^a-z0-9])%s([^a-z0-9]|$)", word), text);
}

/* Returns the form in which nodeup itself reads the field's value. */
static const char *read_as(struct arena *a, const struct field *f)
{
	if (f->format)
		return f->format->wanted;
	return f->min || f->max ? arena_printf(a, "%d to %d", f->min, f->max) : f->oneof;
}

static void show_accepts(const struct search *s, const struct field *f, struct buf *b)
{
	for (const struct field_accepts *d = f->accepts; d; d = d->next) {
		const char *words = d->names && d->near ? d->near : d->oneof;
		const char *text = arena_printf(s->arena, "%s%s%s%s", d->keys ? "as a key " : "",
						accepts_wanted(s->arena, d),
						field_versions(s->arena, d->since, d->until),
						d->names ? "; another one is a warning" : "");

		if (is_of(s->dialect, d->since, d->until)) {
			line(b, "accepts", text);
			line(b, "", d->wanted ? words : NULL);
		}
	}
}

/* Prints the rules about a field. A rule may have several rows, and is printed once. */
static void show_rules(const struct search *s, const struct field *f, const char *section,
		       struct buf *b)
{
	struct arena *a = s->arena;

	for (const struct field_rules *const *all = s->dialect ? s->dialect->rules : NULL;
	     all && *all; all++)
		for (size_t k = 0; names(a, (*all)->sections, section) && k < (*all)->n; k++) {
			const struct field_rule *r = &(*all)->v[k];
			const char *text = arena_printf(a, "%.*s: %s%s", (int)strcspn(r->keys, "|"),
							r->keys, r->text,
							field_versions(a, r->since, r->until));

			if ((names(a, r->keys, f->key) || names(a, r->when, f->key)) &&
			    is_of(s->dialect, r->since, r->until) && !strstr(buf_str(b), text))
				line(b, "rule", text);
		}
}

static void show(struct search *s, const struct field *f, const char *path, const char *in)
{
	autobuf struct buf b = BUF_INIT(SHOWN_MAX);
	const char *dot = strrchr(in, '.'), *text, *paths;

	(void)buf_addf(&b, ", of %s\n",
		       s->dialect ? s->dialect->title : OWN_SETTINGS_DIR "/*.yaml");
	line(&b, "means", f->doc);
	line(&b, "flag", f->flag ? arena_printf(s->arena, "--%s", f->flag) : "");
	line(&b, "config", f->config);
	line(&b, "default", f->usual);
	line(&b, "read", read_as(s->arena, f));
	show_accepts(s, f, &b);
	show_rules(s, f, dot ? dot + 1 : *in ? in : "document", &b);
	text = arena_str(s->arena, buf_str(&b));
	paths = strmap_get(&s->shown, text);
	/* a cluster and an instance group have the same keys */
	if (!paths)
		strmap_set(s->arena, &s->shown, text, path);
	else if (!strstr(arena_printf(s->arena, ", %s,", paths),
			 arena_printf(s->arena, ", %s,", path)))
		strmap_set(s->arena, &s->shown, text,
			   arena_printf(s->arena, "%s, %s", paths, path));
}

static void look(struct search *s, const struct schema *in, const char *path, size_t depth)
{
	for (size_t i = 0; in && i < in->n && depth < DEPTH_MAX; i++) {
		const struct field *f = &in->fields[i];
		const char *here = field_path(s->arena, path, f->key);

		if (strcasecmp(f->key, s->name) == 0 || strcasecmp(here, s->name) == 0)
			show(s, f, here, path);
		look(s, f->schema, here, depth + 1);
	}
}

bool help_key(struct arena *a, const char *name, struct buf *b)
{
	struct search s = { .arena = a, .name = name };

	for (const struct dialect *const *d = dialects; *d; d++) {
		s.dialect = *d;
		look(&s, (*d)->document, "", 0);
		look(&s, (*d)->cluster, "", 0);
		look(&s, (*d)->group, "", 0);
	}
	s.dialect = NULL;
	look(&s, &settings_schema, "", 0);
	for (size_t i = 0; i < s.shown.n; i++)
		(void)buf_addf(b, "%s%s%s", i ? "\n" : "", s.shown.v[i].value, s.shown.v[i].key);
	return s.shown.n > 0;
}
