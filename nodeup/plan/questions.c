#include "nodeup/plan/questions.h"

#include <string.h>

const char plan_containerd_unit[] = "containerd.service";

const struct distro *plan_distro(const struct plan *p)
{
	return distro_of(p->req->facts->distribution);
}

const char *plan_in_srv(const struct plan *p, const char *name)
{
	return arena_printf(p->arena, "%s/%s", plan_distro(p)->srv, name);
}

const char *plan_resolv_conf(const struct plan *p)
{
	const struct opt_bool resolved = p->req->facts->resolved,
			      loops = p->req->facts->asks_itself;
	const bool is_todays = p->req->node->kind == NODE_CONFIGURED;
	/* not each release of older documents has it */
	const bool usual = is_todays && plan_distro(p)->has_resolved;

	/* kops of today takes its file wherever it is */
	if (!is_todays && loops.set && !loops.v)
		return NULL;
	return (resolved.set ? resolved.v : usual) ? "/run/systemd/resolve/resolv.conf" : NULL;
}

const char *plan_api_server(const struct plan *p)
{
	const struct node *n = p->req->node;

	if (!n->is_master)
		return arena_printf(p->arena, "https://%s", n->master_internal_name);
	return node_k8s_at_least(n, 1, 6) ? "https://127.0.0.1" : "http://127.0.0.1:8080";
}

/* source: kops 1.8.1 pkg/dns/gossip.go IsGossipHostname */
static bool is_gossip_name(const char *name)
{
	return str_has_suffix(name, ".k8s.local") || str_has_suffix(name, ".k8s.local.") ||
	       strcmp(name, "k8s.local") == 0;
}

bool plan_uses_gossip(const struct plan *p)
{
	return is_gossip_name(p->req->node->master_internal_name);
}

bool plan_is_gossip_cluster(const struct plan *p)
{
	return is_gossip_name(p->req->node->cluster_name);
}

bool plan_uses_containerd(const struct plan *p)
{
	if (p->req->node->kind == NODE_CONFIGURED)
		return true;
	return str_eq(p->req->runtime.unit, plan_containerd_unit) &&
	       node_k8s_at_least(p->req->node, 1, 10) &&
	       str_eq(p->req->node->kubelet.network_plugin_name, "cni");
}

const char *plan_encryption_config(const struct plan *p)
{
	const struct node *n = p->req->node;

	return n->encryption_config && node_k8s_at_least(n, 1, 7)
		       ? strmap_get(&n->secrets, "encryptionconfig")
		       : NULL;
}
