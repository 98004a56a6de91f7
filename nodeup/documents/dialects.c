#include "nodeup/documents/dialects.h"

#include "nodeup/config/kops18/kops18.h"

const struct dialect *const dialects[] = { &kops18_dialect, NULL };

int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e)
{
	for (const struct dialect *const *d = dialects; *d; d++)
		if ((*d)->recognises(conf))
			return (*d)->read(a, conf, o, ret, e);
	return err_config(e, "%s: these documents are in no dialect that nodeup reads",
			  tree_where(a, &conf->pos));
}

const char *dialects_find(bool (*is_there)(const char *path))
{
	for (const struct dialect *const *d = dialects; *d; d++)
		for (const char *const *place = (*d)->places; *place; place++)
			if (is_there(*place))
				return *place;
	return NULL;
}
