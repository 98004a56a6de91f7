#include "nodeup/plan/kops/kops.h"

#include <string.h>
#include "nodeup/config/kops/changes.h"
#include "nodeup/plan/kops/toml.h"

const struct kops_node *kops_of(const struct plan *p)
{
	return p->req->node->own;
}

bool kops_has(const struct plan *p, enum kops_change change)
{
	return kops_does(kops_of(p)->config, change);
}

const char *kops_ca(const struct plan *p)
{
	return strmap_get(&kops_of(p)->config->cas, KOPS_CA);
}

bool kops_has_api_server(const struct plan *p)
{
	return kops_of(p)->boot->role->serves_api;
}

const char *kops_internal_name(const struct plan *p)
{
	return kops_name_inside(p->arena, "api", kops_of(p)->config->cluster_name);
}

bool kops_is_ipv6_only(const struct plan *p)
{
	const char *cidr = kops_of(p)->config->networking.non_masquerade_cidr;

	return cidr && strchr(cidr, ':');
}

struct task *kops_kubeconfig(struct plan *p, const char *path, const char *user)
{
	/* an API server on this node has a certificate that this CA signed */
	const char *ca = kops_has_api_server(p) ? plan_keypair(p, KOPS_CA, false)->cert
						: kops_ca(p);

	return plan_kubeconfig_of(p, path, user, ca, kops_of(p)->api_server);
}

bool kops_is_warming(const struct plan *p)
{
	const char *state = p->req->facts->target_lifecycle_state;

	return kops_of(p)->config->warm_pool_images.n && state &&
	       str_has_prefix(state, "Warmed:") && !kops_of(p)->boot->role->is_control_plane;
}

/* source: kops 1.37 util/pkg/env/proxy.go */
struct node_proxy kops_proxy(struct plan *p)
{
	const struct kops_networking *n = &kops_of(p)->config->networking;
	const char *host = n->proxy_host ? n->proxy_host : "";

	if (!n->has_proxy)
		return (struct node_proxy){ 0 };
	return (struct node_proxy){
		.url = n->proxy_port ? arena_printf(p->arena, "http://%s:%lld", host,
						    (long long)n->proxy_port)
				     : arena_printf(p->arena, "http://%s", host),
		.excludes = n->proxy_excludes ? n->proxy_excludes : "",
		.is_secret = strchr(host, '@'),
	};
}

/* source: kops 1.31 pkg/flagbuilder/build_flags.go maybeQuote */
void kops_quote_flags(struct plan *p, struct strv *flags)
{
	for (size_t i = 0; i < flags->n; i++) {
		const char *value = strchr(flags->v[i], '=') + 1;

		if (strchr(value, '"'))
			flags->v[i] = arena_printf(p->arena, "%.*s%s", (int)(value - flags->v[i]),
						   flags->v[i], toml_string(p->arena, value));
	}
}

struct strv kops_flags(struct plan *p, const struct schema *schema, const void *spec)
{
	struct strv flags = { 0 };

	field_flags(p->arena, schema, spec, &flags);
	if (kops_has(p, KOPS_QUOTED_FLAGS))
		kops_quote_flags(p, &flags);
	return flags;
}

bool kops_brings_file(const struct plan *p, const char *path)
{
	return node_files_find(&p->req->node->files, path);
}

const char *kops_slice(const struct plan *p, const char *cgroup)
{
	size_t n;

	cgroup += strspn(cgroup, "/");
	n = strlen(cgroup);
	while (n && cgroup[n - 1] == '/')
		n--;
	return arena_strn(p->arena, cgroup, n);
}

bool kops_has_slice(const struct plan *p, const char *cgroup)
{
	const struct kops_config *c = kops_of(p)->config;

	return !str_is_empty(cgroup) &&
	       (kops_does(c, KOPS_SLICES) || str_eq(c->kubelet.cgroup_driver, "systemd"));
}

const char *kops_slice_line(const struct plan *p, const char *cgroup)
{
	return kops_has_slice(p, cgroup)
		       ? arena_printf(p->arena, "Slice=%s.slice\n", kops_slice(p, cgroup))
		       : "";
}
