/* Tests: test_kops_kubelet.py. */
#include "nodeup/plan/kops/pods.h"
#include "nodeup/plan/kops/release.h"

static const char kubeconfig[] = "/var/lib/kube-proxy/kubeconfig";

enum { CONNTRACK_PER_CORE = 131072 };

static const struct kops_mount mounts[] = {
	{ .name = "logfile", .path = "/var/log/kube-proxy.log", .is_writable = true },
	{ .name = "kubeconfig", .path = kubeconfig, .when = KOPS_PROXY_FILE },
	{ .name = "kubeconfig", .path = "/var/lib/kube-proxy", .when = KOPS_PROXY_FOLDER },
	{ .name = "modules", .path = "/lib/modules" },
	{ .name = "ssl-certs-hosts", .path = "/usr/share/ca-certificates", .at = "/etc/ssl/certs" },
	{ .name = "iptableslock",
	  .path = "/run/xtables.lock",
	  .is_writable = true,
	  .type = "FileOrCreate" },
};

static const struct kops_pod form = {
	.name = "kube-proxy",
	.priority_class = "system-node-critical",
	.mounts = mounts,
	.n_mounts = ARRAY_LEN(mounts),
};

/* Returns the API server's URL. On a control plane kube-proxy must start before names can be resolved. */
static const char *master(struct plan *p)
{
	return p->req->node->is_master
		       ? "https://127.0.0.1"
		       : arena_printf(p->arena, "https://%s", kops_internal_name(p));
}

static struct strv proxy_flags(struct plan *p)
{
	struct kops_kube_proxy spec = kops_of(p)->config->kube_proxy;
	struct strv out = { 0 };

	if (kops_release(p)->only_nftables && kops_has(p, KOPS_NFTABLES_PROXY) &&
	    (str_is_empty(spec.proxy_mode) || str_eq(spec.proxy_mode, "iptables")))
		spec.proxy_mode = "nftables";
	if (str_is_empty(spec.master))
		spec.master = master(p);
	if (!spec.conntrack_max_per_core.set)
		spec.conntrack_max_per_core = (struct opt_int){ true, CONNTRACK_PER_CORE };
	strv_addf(p->arena, &out, "--kubeconfig=%s", kubeconfig);
	strv_add(p->arena, &out, "--oom-score-adj=-998");
	field_flags(p->arena, &kops_kube_proxy_schema, &spec, &out);
	return out;
}

/* source: kops 1.37 nodeup/pkg/model/kube_proxy.go */
static void add_pod(struct plan *p, const struct kops_kube_proxy *s)
{
	const struct kops_pod_spec spec = KOPS_POD_SPEC(s, NULL);
	struct strv flags = proxy_flags(p);
	struct pod *pod = kops_pod(p, &form, &spec, &flags);

	strmap_set(p->arena, &pod->labels, "kubernetes.io/managed-by", "nodeup");
	strmap_set(p->arena, &pod->labels, "tier", "node");
	pod->container.privileged = true;
	plan_static_pod(p, pod);
}

void build_kops_kube_proxy(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;

	/* kube-router replaces kube-proxy; its daemon set brings everything but this kubeconfig */
	if (c->networking.kuberouter)
		kops_kubeconfig(p, "/var/lib/kube-router/kubeconfig", "kube-router");
	if (!c->has_kube_proxy)
		return;
	kops_kubeconfig(p, kubeconfig, "kube-proxy");
	add_pod(p, &c->kube_proxy);
}
