#include "nodeup/plan/plan.h"

#include "nodeup/config/distro.h"

/* Its members are called after each; kops 1.8 has no others. */
static const struct {
	const char *cluster, *name;
} clusters[] = {
	{ "main", "etcd" },
	{ "events", "etcd-events" },
};

const char *plan_etcd_cluster(const char *cluster)
{
	for (size_t i = 0; i < ARRAY_LEN(clusters); i++)
		if (str_eq(clusters[i].cluster, cluster))
			return clusters[i].name;
	return NULL;
}

const char *plan_etcd_name(struct arena *a, const struct node *n, const char *cluster,
			   const char *member)
{
	const char *name = plan_etcd_cluster(cluster);

	return arena_printf(a, "%s-%s.internal.%s", name ? name : cluster, member, n->cluster_name);
}

const char *plan_etcd_path(struct arena *a, const struct facts *f, const char *volume_id)
{
	return arena_printf(a, "%s/master-%s", distro_of(f->distribution)->volumes_dir, volume_id);
}
