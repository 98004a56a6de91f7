#include "nodeup/config/instance_store.h"

#include "nodeup/config/storage_docker.h"

const char instance_store_name[] = "/mnt/instance-store";

enum instance_store_fate instance_store_fate(const struct instance_store *s)
{
	const struct facts *f = s->facts;

	if (!s->policy || !f->instance_store.set || f->instance_store.v == 0)
		return INSTANCE_STORE_NONE;
	if (f->instance_store_used.v)
		return INSTANCE_STORE_USED;
	if (s->by_unit)
		return f->pods || s->was_made ? INSTANCE_STORE_KEEPS : INSTANCE_STORE_USED;
	return f->pods ? INSTANCE_STORE_STOPS : INSTANCE_STORE_USED;
}

/* Returns why the node does not get the volume. */
static const char *why_not(const struct instance_store *s)
{
	const char *pods = s->facts->pods;

	return arena_printf(s->arena, "instanceStorePolicy: %s, so the instance store is not used",
			    pods ? pods : "this is not the instance's first boot");
}

static int stop(const struct instance_store *s)
{
	int r = err_config(s->err, "%s: %s", tree_where(s->arena, &s->policy->pos), why_not(s));

	err_note(s->err, "do",
		 "replace the node: a new instance gets it at its first boot; "
		 "or drain this one, remove its containers, and run nodeup again");
	return r;
}

int instance_store_add(const struct instance_store *s, struct node *node, const char **ret_why)
{
	struct arena *a = s->arena;
	const char *where = s->policy ? tree_where(a, &s->policy->pos) : "";

	*ret_why = NULL;
	switch (instance_store_fate(s)) {
	case INSTANCE_STORE_NONE:
		if (s->policy && s->facts->instance_store.set)
			dialect_warn(
				a, s->opts,
				"%s: instanceStorePolicy: this instance has no instance store: "
				"everything stays on the root volume",
				where);
		return 0;
	case INSTANCE_STORE_USED:
		arena_push(a, node->volumes.v, node->volumes.n,
			   storage_on_store(a, instance_store_name,
					    s->filesystem ? s->filesystem : "ext4", -1, s->docker,
					    s->policy->pos));
		return volumes_check(a, &node->volumes, s->err);
	case INSTANCE_STORE_KEEPS:
		*ret_why = arena_printf(a, "%s: replace the node%s", why_not(s),
					s->facts->pods ? "" : ", or run nodeup apply by hand");
		dialect_warn(a, s->opts, "%s: %s", where, *ret_why);
		return 0;
	case INSTANCE_STORE_STOPS:
		if (!s->looks)
			break;
		dialect_warn(a, s->opts, "%s: %s: apply is refused", where, why_not(s));
		return 0;
	}
	return stop(s);
}
