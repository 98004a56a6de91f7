#include "nodeup/plan/kops18/kops18.h"

#include <string.h>

const struct kops18_node *kops18_of(const struct plan *p)
{
	return p->req->node->own;
}

const char *kops18_in_srv(const struct plan *p, const char *name)
{
	return arena_printf(p->arena, "%s/%s", plan_distro(p)->srv, name);
}

const char *kops18_api_server(const struct plan *p)
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

bool kops18_uses_gossip(const struct plan *p)
{
	return is_gossip_name(p->req->node->master_internal_name);
}

bool kops18_is_gossip_cluster(const struct plan *p)
{
	return is_gossip_name(p->req->node->cluster_name);
}

const char *kops18_encryption_config(const struct plan *p)
{
	const struct node *n = p->req->node;

	return kops18_of(p)->encryption_config && node_k8s_at_least(n, 1, 7)
		       ? strmap_get(&n->secrets, "encryptionconfig")
		       : NULL;
}

void kops18_warn_flags(struct plan *p, const char *component, const struct schema *schema,
		       const struct strv *flags)
{
	const struct version *v = &p->req->node->kubernetes;

	for (size_t i = 0; i < schema->n; i++) {
		const struct field *f = &schema->fields[i];

		if (f->schema)
			kops18_warn_flags(p, component, f->schema, flags);
		if ((v->minor >= f->since && (!f->until || v->minor <= f->until)) ||
		    !plan_has_flag(flags, f->flag))
			continue;
		plan_warn(p,
			  "%s of Kubernetes %d.%d has no flag --%s, which the documents "
			  "ask for: it will not start",
			  component, v->major, v->minor, f->flag);
	}
}

struct task *kops18_kubeconfig(struct plan *p, const char *path, const char *user)
{
	return plan_kubeconfig_of(p, path, user, plan_keypair(p, "ca", false)->cert,
				  kops18_api_server(p));
}

struct pod *kops18_pod(struct plan *p, const char *name, const char *image)
{
	struct pod *pod = plan_pod(p, name, image);

	pod->is_stamped = true;
	pod->container.cpu_request = "100m";
	strmap_set(p->arena, &pod->annotations, "scheduler.alpha.kubernetes.io/critical-pod", "");
	return pod;
}
