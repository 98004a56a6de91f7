/* tags.c - the tags by which kops of two generations marks what belongs to a cluster */
#include "nodeup/etcd/volumes.h"

#include <ctype.h>
#include <string.h>

static const char legacy_cluster[] = "KubernetesCluster";
static const char cluster_prefix[] = "kubernetes.io/cluster/";
static const char any_role[] = "k8s.io/role/*"; /* of which these two are looked for */
static const char *const roles[] = { "k8s.io/role/master", "k8s.io/role/control-plane" };

/* It becomes part of a host name. */
static bool is_name(const char *s)
{
	for (const char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '.')
			return false;
	return isalnum((unsigned char)*s);
}

int volume_member_parse(struct arena *a, const char *text, struct volume_member *ret, struct err *e)
{
	const char *slash = strchr(text, '/');
	struct volume_member m = { 0 };
	struct strv names;

	if (!slash || strchr(slash + 1, '/'))
		return err_config(e, "'%s': wanted <member>/<member>,<member>...", text);
	m.me = arena_strn(a, text, (size_t)(slash - text));
	names = strv_split(a, slash + 1, ',');
	for (size_t i = 0; i < names.n; i++) {
		if (!is_name(names.v[i]))
			return err_config(e, "'%s': '%s' is not the name of a member", text,
					  names.v[i]);
		if (strv_has(&m.members, names.v[i]))
			return err_config(e, "'%s': member '%s' is there twice", text, names.v[i]);
		strv_add(a, &m.members, names.v[i]);
	}
	if (!strv_has(&m.members, m.me))
		return err_config(e, "'%s': '%s' is not among its members", text, m.me);
	*ret = m;
	return 0;
}

static char *cluster_key(struct arena *a, const char *cluster)
{
	return arena_printf(a, "%s%s", cluster_prefix, cluster);
}

static bool is_of_cluster(struct arena *a, const struct strmap *tags, const char *cluster)
{
	return str_eq(strmap_get(tags, legacy_cluster), cluster) ||
	       strmap_get(tags, cluster_key(a, cluster)) != NULL;
}

static bool is_of_masters(const struct strmap *tags)
{
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (strmap_get(tags, roles[i]))
			return true;
	return false;
}

bool volume_is_of_masters(struct arena *a, const struct strmap *tags, const char *cluster)
{
	return is_of_cluster(a, tags, cluster) && is_of_masters(tags);
}

/* What the instance's tags say instead. */
static const char *other_cluster(const struct strmap *tags)
{
	const char *legacy = strmap_get(tags, legacy_cluster);

	for (size_t i = 0; i < tags->n && !legacy; i++)
		if (str_has_prefix(tags->v[i].key, cluster_prefix))
			legacy = tags->v[i].key + strlen(cluster_prefix);
	return legacy;
}

int volume_check_cluster(const struct ec2_instance *self, const char *cluster, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *other = other_cluster(&self->tags);

	if (is_of_cluster(a, &self->tags, cluster))
		return 0;
	if (other)
		(void)err_config(e,
				 "instance %s is tagged for cluster '%s', the documents are "
				 "of '%s'",
				 self->id, other, cluster);
	else
		(void)err_config(e, "instance %s has no tag that says which cluster it is of",
				 self->id);
	err_note(e, "want", "%s=%s or %s%s=owned", legacy_cluster, cluster, cluster_prefix,
		 cluster);
	return -EINVAL;
}

static void add_filter(struct arena *a, struct ec2_filters *filters, const char *name,
		       struct strv values)
{
	arena_push(a, filters->v, filters->n, (struct ec2_filter){ name, values });
}

static struct strv one(struct arena *a, const char *value)
{
	struct strv v = { 0 };

	strv_add(a, &v, value);
	return v;
}

/* Volumes of masters by one generation's tag of the cluster; the role may be of either. */
static struct ec2_filters by_cluster(struct arena *a, const char *key, struct strv values)
{
	struct ec2_filters f = { 0 };

	add_filter(a, &f, arena_printf(a, "tag:%s", key), values);
	add_filter(a, &f, "tag-key", one(a, any_role));
	return f;
}

void volume_filters(struct arena *a, const struct volume_wish *wish,
		    const struct ec2_instance *self, const char *cluster, const char *zone,
		    struct ec2_filters **ret, size_t *ret_n)
{
	struct ec2_filters *all = NULL, f = { 0 };
	size_t n = 0;

	if (wish->by == VOLUME_BY_ID) {
		add_filter(a, &f, "volume-id", one(a, wish->value));
		arena_push(a, all, n, f);
	} else if (wish->by == VOLUME_BY_TAG) {
		add_filter(a, &f, arena_printf(a, "tag:%s", wish->key), one(a, wish->value));
		arena_push(a, all, n, f);
	} else {
		struct strv life = one(a, "owned");

		strv_add(a, &life, "shared");
		if (str_eq(strmap_get(&self->tags, legacy_cluster), cluster))
			arena_push(a, all, n, by_cluster(a, legacy_cluster, one(a, cluster)));
		if (strmap_get(&self->tags, cluster_key(a, cluster)))
			arena_push(a, all, n, by_cluster(a, cluster_key(a, cluster), life));
	}
	for (size_t i = 0; zone && i < n; i++)
		add_filter(a, &all[i], "availability-zone", one(a, zone));
	*ret = all;
	*ret_n = n;
}
