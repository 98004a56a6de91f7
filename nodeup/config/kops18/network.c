#include "nodeup/config/kops18/spec.h"

#include <string.h>
#include <strings.h>
#include "nodeup/base/near.h"

static bool is_network(const char *name)
{
	for (size_t i = 0; i < kops18_networking_schema.n; i++)
		if (strcasecmp(kops18_networking_schema.fields[i].key, name) == 0)
			return true;
	return false;
}

static struct strv network_list(struct arena *a)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < kops18_networking_schema.n; i++)
		strv_add(a, &names, kops18_networking_schema.fields[i].key);
	return names;
}

static const char *network_names(struct arena *a)
{
	const struct strv names = network_list(a);

	return strv_join(a, &names, ", ");
}

static int unknown_network(struct kops18_build *b, const struct tree_item *it)
{
	const struct strv names = network_list(b->in->arena);
	const char *nearest = near_name(it->key, names.v, names.n);

	(void)err_config(b->in->err, "%s: networking: unknown network '%s'",
			 tree_where(b->in->arena, &it->key_pos), it->key);
	err_note(b->in->err, "want", "one of %s", network_names(b->in->arena));
	if (nearest)
		err_note(b->in->err, "do", "did you mean %s?", nearest);
	return err_code(b->in->err);
}

/* Refuses a network that kops 1.8 does not have: the node would get another network than the cluster. */
int kops18_known_networks(struct kops18_build *b)
{
	const struct tree *section = tree_lookup(b->cluster_spec, "networking");

	for (size_t i = 0; section && section->kind == TREE_MAP && i < section->n; i++) {
		const struct tree_item *it = &section->items[i];

		if (it->value->kind == TREE_NULL || is_network(it->key))
			continue;
		return unknown_network(b, it);
	}
	return 0;
}

/* Finds the network by kubelet's plugin, for documents without a networking section. */
static int network_of_plugin(struct kops18_build *b, const char **ret)
{
	const bool master = b->in->node->is_master && b->cluster.has_master_kubelet;
	const char *section = master ? "masterKubelet" : "kubelet";
	const struct kubelet_spec *k = master ? &b->cluster.master_kubelet : &b->cluster.kubelet;
	const char *plugin = k->network_plugin_name;

	if (str_is_empty(plugin)) {
		/* kops reads a missing plugin as the classic network, but not a missing kubelet section */
		*ret = master || b->cluster.has_kubelet ? "classic" : "kubenet";
		return 0;
	}
	if (strcmp(plugin, "kubenet") != 0 && strcmp(plugin, "cni") != 0)
		return err_config(b->in->err,
				  "%s%s.networkPluginName: '%s' is neither kubenet nor cni",
				  tree_place(b->in->arena, b->cluster_spec, section), section,
				  plugin);
	*ret = plugin;
	return 0;
}

int kops18_networking(struct kops18_build *b)
{
	const struct schema *s = &kops18_networking_schema;
	const char *where = tree_place(b->in->arena, b->cluster_spec, "networking");
	const char *name = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const char *section = (const char *)&b->cluster.networking;

		if (!*(const bool *)(section + s->fields[i].present_offset))
			continue;
		if (name)
			return err_config(b->in->err, "%snetworking: both %s and %s", where, name,
					  s->fields[i].key);
		name = s->fields[i].key;
	}
	b->in->node->networking = name;
	if (name)
		return 0;
	if (!b->cluster.has_networking)
		return network_of_plugin(b, &b->in->node->networking);
	/* the network may be a value that could not be read */
	if (errs_any(b->in->opts->errors))
		return 0;
	(void)err_config(b->in->err, "%snetworking: it names no network", where);
	err_note(b->in->err, "want", "one of %s", network_names(b->in->arena));
	return err_code(b->in->err);
}

/* The proxy goes into shell lines, units and configuration files, so it may hold no character that is special in one
 * of them. */
static bool is_plain(const char *s)
{
	return str_has_only(s, "-._~%!*+,;=:@[]/");
}

/* The messages do not show the text: it may hold a password. */
static int check_proxy(struct kops18_build *b, const char *host, const char *excludes)
{
	const char *where = tree_place(b->in->arena, b->cluster_spec, "egressProxy");
	const char *name = strrchr(host, '@');

	name = name ? name + 1 : host;
	if (strstr(host, "://"))
		return err_config(b->in->err, "%segressProxy.httpProxy.host: only http:// is known",
				  where);
	if (!is_plain(host) || strchr(host, '/') || *name == '\0')
		return err_config(b->in->err,
				  "%segressProxy.httpProxy.host: expected a host name, "
				  "[user:password@] before it",
				  where);
	if (!is_plain(excludes))
		return err_config(b->in->err,
				  "%segressProxy.excludes: expected names with commas between them",
				  where);
	return 0;
}

int kops18_egress_proxy(struct kops18_build *b)
{
	const struct kops18_egress_proxy *p = &b->cluster.egress_proxy;
	const char *host = p->host ? p->host : "", *excludes = p->excludes;
	int r;

	if (!b->cluster.has_egress_proxy)
		return 0;
	if (str_has_prefix(host, "http://"))
		host += strlen("http://");
	if (*host == '\0') {
		/* no warning if the host could not be read */
		if (!errs_any(b->in->opts->errors))
			dialect_warn(b->in->arena, b->in->opts,
				     "%segressProxy names no host: nothing is proxied",
				     tree_place(b->in->arena, b->cluster_spec, "egressProxy"));
		return 0;
	}
	excludes = excludes ? excludes : "";
	r = check_proxy(b, host, excludes);
	if (r < 0)
		return r;
	b->in->node->proxy.url =
		p->port.set && p->port.v
			? arena_printf(b->in->arena, "http://%s:%lld", host, (long long)p->port.v)
			: arena_printf(b->in->arena, "http://%s", host);
	b->in->node->proxy.excludes = excludes;
	b->in->node->proxy.is_secret = strchr(host, '@') != NULL;
	return 0;
}
