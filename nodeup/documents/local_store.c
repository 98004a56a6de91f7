#include "nodeup/config/instance_store.h"
#include "nodeup/documents/loader.h"

int loader_store_volume(struct loader *l, const struct dialect_opts *o, struct err *e)
{
	struct bootstrap *b = l->b;
	const struct settings_doc *doc = &b->documents.settings;
	const struct tree *policy = settings_store_policy(l->req->settings, doc);
	const struct instance_store store = {
		.arena = l->arena,
		.policy = policy,
		.filesystem = settings_store_filesystem(l->req->settings, doc),
		/* a kops that writes a NodeupConfig knows no docker */
		.docker = !b->documents.dialect->cluster_tells,
		.by_unit = l->policy->at_boot || l->policy->mode == MODE_GUARD,
		.looks = !policy_may_change(l->policy),
		.was_made = policy && loader_was_made(l),
		.facts = &b->facts,
		.opts = o,
		.err = e,
	};

	if (policy && b->documents.instance_store &&
	    !str_eq(b->documents.instance_store, instance_store_name)) {
		dialect_warn(l->arena, o,
			     "%s: instanceStorePolicy: not used: %s says what is on the instance "
			     "store",
			     tree_where(l->arena, &policy->pos), b->documents.instance_store_key);
		return 0;
	}
	return instance_store_add(&store, &b->node, &b->lacks_store);
}
