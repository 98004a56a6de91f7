#include "nodeup/documents/loader.h"

#include <unistd.h>
#include "nodeup/documents/dialects.h"
#include "nodeup/documents/location.h"

static bool may_be_there(const char *conf)
{
	if (location_is_imds(conf))
		return str_eq(conf, LOCATION_IMDS);
	return location_is_remote(conf) || str_has_prefix(conf, "file://") ||
	       access(conf, F_OK) == 0;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static const char *usual_places(struct arena *a)
{
	struct strv all = { 0 };

	for (const struct dialect *const *d = dialects; *d; d++)
		for (const char *const *place = (*d)->places; *place; place++)
			strv_add(a, &all, *place);
	return strv_join(a, &all, ", ");
}

/* Returns the document that --conf names. If --conf names a folder that has gone, returns the document of that
 * folder that was applied last. */
static const char *given_conf(struct loader *l)
{
	const char *conf = l->req->conf, *path = location_path(conf);
	const char *inside = location_in_folder(l->arena, conf), *last;
	struct err ignored;

	return path && policy_is_of_node(l->policy) && access(path, F_OK) < 0 &&
			       loader_last_applied(l, &last, &ignored) == 0 &&
			       str_eq(last, loader_conf_name(l->arena, inside))
		       ? inside
		       : location_document(l->arena, conf);
}

int loader_find_conf(struct loader *l, const char **ret, struct err *e)
{
	const struct bootstrap_req *req = l->req;
	const char *last = NULL;
	int r = req->conf ? 0 : loader_last_applied(l, &last, e);

	*ret = req->conf ? given_conf(l) : last;
	if (r < 0 || req->conf || (last && may_be_there(last)))
		return r;
	if (l->policy->image_mode)
		return err_fail(e, ERR_USAGE, 0,
				"no --conf, and nothing was applied to this root yet");
	if (last)
		return 0;
	r = dialects_find(is_there, ret, e);
	if (r < 0 || *ret)
		return r;
	return err_fail(e, ERR_USAGE, 0,
			"no --conf, nothing was applied yet, and none of %s is there",
			usual_places(l->arena));
}

const struct user_data_file *loader_brought(struct loader *l, const char *location)
{
	const struct user_data *u = &l->user_data;

	for (size_t i = 0; i < u->n_others; i++)
		if (str_eq(location_beside(l->arena, l->b->conf, u->others[i].name), location))
			return &u->others[i];
	return NULL;
}

/* Returns whether the documents come from the store or the server. In a run that changes nothing, a document beside
 * --conf replaces documents of store and server. */
static bool is_elsewhere(struct loader *l)
{
	const char *beside =
		location_beside(l->arena, l->b->conf, l->b->documents.dialect->cluster_name);

	if (l->b->adopted)
		return false;
	if (l->b->store && l->b->replayed)
		return true;
	return policy_makes_node(l->policy) &&
	       !((l->policy->offline || !policy_may_change(l->policy)) &&
		 (loader_brought(l, beside) || may_be_there(beside)));
}

struct loader_specs loader_find_specs(struct loader *l)
{
	const struct documents *d = &l->b->documents;
	const struct dialect *dialect = d->dialect;
	const char *conf = l->b->conf;

	if (d->join && is_elsewhere(l))
		return (struct loader_specs){ .from = LOADER_SERVER };
	if (!dialect->cluster_name)
		return (struct loader_specs){ .from = LOADER_NOWHERE };
	if (!d->in_store || (d->beside_will_do && !is_elsewhere(l)))
		return (struct loader_specs){
			.from = LOADER_BESIDE,
			.cluster = location_beside(l->arena, conf, dialect->cluster_name),
			.group = dialect->group_name
					 ? location_beside(l->arena, conf, dialect->group_name)
					 : d->group_at,
		};
	if (l->policy->mode == MODE_BAKE && l->policy->offline &&
	    location_is_remote(d->cluster_at) && !d->of_instance)
		return (struct loader_specs){ .from = LOADER_UNREAD };
	return (struct loader_specs){ LOADER_STORE, d->cluster_at, d->group_at };
}
