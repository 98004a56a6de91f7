/* help_key.c - what one key of a document means, becomes and accepts, from the tables that documents are read by */
#include "nodeup/cmd/help_key.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "nodeup/base/accepts.h"
#include "nodeup/base/field_value.h"
#include "nodeup/config/rules.h"
#include "nodeup/documents/dialects.h"

enum { DEPTH_MAX = 16 };

/* The rows that have such a key, each with the places that it stands at. */
struct hit {
	const struct field *field;
	const struct dialect *dialect;
	struct strv paths, sections; /* a section is called as in struct field_rules */
};

struct search {
	struct arena *arena;
	const char *name; /* "maxPods", "KubeletConfig.maxPods" */
	const struct dialect *dialect;
	struct hit *v;
	size_t n;
};

static void add(struct search *s, const struct field *f, const char *path, const char *in)
{
	const char *dot = strrchr(in, '.');
	struct hit *hit = NULL;

	for (size_t i = 0; i < s->n && !hit; i++)
		if (s->v[i].field == f)
			hit = &s->v[i];
	if (!hit) {
		arena_push(s->arena, s->v, s->n, (struct hit){ .field = f, .dialect = s->dialect });
		hit = &s->v[s->n - 1];
	}
	if (!strv_has(&hit->paths, path))
		strv_add(s->arena, &hit->paths, path);
	strv_add(s->arena, &hit->sections, dot ? dot + 1 : *in ? in : "document");
}

static void look(struct search *s, const struct schema *in, const char *path, size_t depth)
{
	for (size_t i = 0; in && i < in->n && depth < DEPTH_MAX; i++) {
		const struct field *f = &in->fields[i];
		const char *here = field_path(s->arena, path, f->key);

		if (strcasecmp(f->key, s->name) == 0 || strcasecmp(here, s->name) == 0)
			add(s, f, here, path);
		look(s, f->schema, here, depth + 1);
	}
}

static void line(struct buf *b, const char *label, const char *text)
{
	if (!str_is_empty(text))
		(void)buf_addf(b, "  %-8s %s\n", label, text);
}

/* Whether any node of such documents has a version of this range. */
static bool is_of(const struct dialect *d, int since, int until)
{
	return (!since || since <= d->newest->minor) && (!until || until >= d->oldest->minor);
}

/* What nodeup itself reads of it. */
static const char *read_as(struct arena *a, const struct field *f)
{
	if (f->format)
		return f->format->wanted;
	if (f->oneof)
		return f->oneof;
	return f->min || f->max ? arena_printf(a, "%d to %d", f->min, f->max) : "";
}

static void show_accepts(struct arena *a, const struct hit *hit, struct buf *b)
{
	for (const struct field_accepts *d = hit->field->accepts; d; d = d->next) {
		if (!is_of(hit->dialect, d->since, d->until))
			continue;
		line(b, "accepts",
		     arena_printf(a, "%s%s%s%s", d->keys ? "as a key " : "",
				  accepts_wanted(a, d),
				  accepts_versions(a, d->since, d->until),
				  d->names ? "; another one is a warning" : ""));
		if (d->wanted)
			line(b, "", d->oneof);
	}
}

/* Whether a text has this word. */
static bool names(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (const char *s = text; (s = strcasestr(s, word)); s += n)
		if ((s == text || !isalnum((unsigned char)s[-1])) && !isalnum((unsigned char)s[n]))
			return true;
	return false;
}

static bool is_in(const struct hit *hit, const char *sections)
{
	for (size_t i = 0; i < hit->sections.n; i++)
		if (names(sections, hit->sections.v[i]))
			return true;
	return false;
}

static void show_rules(struct arena *a, const struct hit *hit, struct buf *b)
{
	struct strv shown = { 0 };

	for (const struct field_rules *const *all = hit->dialect->rules; all && *all; all++)
		for (size_t k = 0; is_in(hit, (*all)->sections) && k < (*all)->n; k++) {
			const struct field_rule *rule = &(*all)->v[k];
			const char *text = arena_printf(
				a, "%s: %s%s", arena_strn(a, rule->keys, strcspn(rule->keys, "|")),
				rule->text, accepts_versions(a, rule->since, rule->until));

			if ((!names(rule->keys, hit->field->key) &&
			     !names(rule->when, hit->field->key)) ||
			    !is_of(hit->dialect, rule->since, rule->until) ||
			    strv_has(&shown, text))
				continue;
			strv_add(a, &shown, text);
			line(b, "rule", text);
		}
}

static void show(struct arena *a, const struct hit *hit, struct buf *b)
{
	const struct field *f = hit->field;

	(void)buf_addf(b, "%s%s, of %s\n", b->len ? "\n" : "", strv_join(a, &hit->paths, ", "),
		       hit->dialect->title);
	line(b, "means", f->doc);
	line(b, "flag", f->flag ? arena_printf(a, "--%s", f->flag) : "");
	line(b, "config", f->config);
	line(b, "default", f->usual);
	line(b, "read", read_as(a, f));
	show_accepts(a, hit, b);
	show_rules(a, hit, b);
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
	for (size_t i = 0; i < s.n; i++)
		show(a, &s.v[i], b);
	return s.n > 0;
}
