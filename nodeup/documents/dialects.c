#include "nodeup/documents/dialects.h"

#include <string.h>
#include <strings.h>
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kops18/kops18.h"
#include "nodeup/config/kubeup/kubeup.h"

/* If two formats have the same keys, the newer format's row comes first. The last row takes all documents that no
 * other row takes: its errors name the missing key. */
const struct dialect *const dialects[] = { &kubeup_dialect, &kops_dialect, &kops18_dialect, NULL };

const struct dialect_program *dialects_program(size_t n)
{
	for (const struct dialect *const *d = dialects; *d; d++)
		for (const struct dialect_program *p = (*d)->programs; p && p->name; p++)
			if (n-- == 0)
				return p;
	return NULL;
}

static bool has_key(const struct dialect *d, const char *key)
{
	for (size_t i = 0; i < d->document->n; i++)
		if (strcasecmp(d->document->fields[i].key, key) == 0)
			return true;
	return false;
}

/* Returns the document's first key that only this dialect has, or NULL. Keys that `other` has too do not count. */
static const struct tree_item *sign_of(const struct dialect *d, const struct dialect *other,
				       const struct tree *conf)
{
	for (size_t i = 0; conf->kind == TREE_MAP && i < conf->n; i++)
		for (const char *const *sign = d->signs; *sign; sign++)
			if (strcasecmp(conf->items[i].key, *sign) == 0 &&
			    !(other && has_key(other, *sign)))
				return &conf->items[i];
	return NULL;
}

/* Finds the dialect whose keys the document has. */
static int recognise(struct arena *a, const struct tree *conf, const struct dialect **ret,
		     struct err *e)
{
	const struct tree_item *first = NULL;

	*ret = dialects[ARRAY_LEN(dialects) - 2];
	for (const struct dialect *const *d = dialects; *d; d++) {
		const struct tree_item *sign = sign_of(*d, first ? *ret : NULL, conf);

		if (sign && first)
			return err_config(e,
					  "%s: '%s' and, at %s, '%s' are keys of two kinds of "
					  "documents: %s and %s",
					  tree_where(a, &first->key_pos), first->key,
					  tree_where(a, &sign->key_pos), sign->key, (*ret)->name,
					  (*d)->name);
		if (!sign)
			continue;
		first = sign;
		*ret = *d;
	}
	return 0;
}

int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e)
{
	const struct vintage_sources sources = { .setting = o->vintage,
						 .script = o->script,
						 .script_pos = o->script_pos,
						 .document = conf };
	struct vintage vintage;
	const struct dialect *d;
	int r = kinds_check(a, conf, e);

	if (r == 0)
		r = vintage_settle(a, o, vintage_find(a, &sources, &vintage, e), &vintage, e);
	if (r == 0)
		r = vintage_check(a, &vintage, o, e);
	if (r == 0)
		r = recognise(a, conf, &d, e);
	if (r == 0)
		r = d->read(a, conf, o, ret, e);
	if (r == 0)
		ret->vintage = vintage;
	return r;
}

int dialects_check_cluster(struct arena *a, const struct dialect_opts *o, struct documents *d,
			   struct err *e)
{
	const struct vintage_sources sources = { .document = d->cluster, .is_node_config = true };
	struct vintage found, both;
	int r;

	if (!d->dialect->cluster_tells)
		return 0;
	r = vintage_find(a, &sources, &found, e);
	if (r == 0)
		r = vintage_join(a, &d->vintage, &found, &both, e);
	r = vintage_settle(a, o, r, &both, e);
	if (r == 0 && !d->vintage.newest)
		r = vintage_check(a, &both, o, e);
	if (r == 0)
		d->vintage = both;
	return r;
}

int dialects_find(bool (*is_there)(const char *path), const char **ret, struct err *e)
{
	const char *found = NULL;

	for (const struct dialect *const *d = dialects; *d; d++)
		for (const char *const *place = (*d)->places; *place; place++) {
			if (!is_there(*place))
				continue;
			if (found)
				return err_config(
					e,
					"%s and %s are both there, and nothing was applied "
					"yet: say which by --conf",
					found, *place);
			found = *place;
		}
	*ret = found;
	return 0;
}
