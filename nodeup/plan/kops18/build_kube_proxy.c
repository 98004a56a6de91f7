/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

static const char kubeconfig[] = "/var/lib/kube-proxy/kubeconfig";
static const char log_file[] = "/var/log/kube-proxy.log";

static struct strv proxy_flags(struct plan *p)
{
	struct kube_proxy_spec spec = kops18_of(p)->kube_proxy;
	struct strv out = { 0 };

	if (str_is_empty(spec.master))
		spec.master = kops18_api_server(p);
	strv_add(p->arena, &out, "--conntrack-max-per-core=131072");
	strv_addf(p->arena, &out, "--kubeconfig=%s", kubeconfig);
	strv_add(p->arena, &out, "--oom-score-adj=-998");
	strv_add(p->arena, &out, "--resource-container=");
	field_flags(p->arena, &kube_proxy_schema, &spec, &out);
	return out;
}

void build_kube_proxy(struct plan *p)
{
	const struct kube_proxy_spec *spec = &kops18_of(p)->kube_proxy;
	struct arena *a = p->arena;
	struct strv args;
	struct pod *pod;

	/* this network replaces kube-proxy; its daemon set brings everything but this kubeconfig */
	if (str_eq(p->req->node->networking, "kuberouter"))
		kops18_kubeconfig(p, "/var/lib/kube-router/kubeconfig", "kube-router");
	if (!kops18_runs_kube_proxy(p->req->node))
		return;
	args = proxy_flags(p);
	pod = kops18_pod(p, "kube-proxy", spec->image);
	if (!str_is_empty(spec->cpu_request))
		pod->container.cpu_request = spec->cpu_request;
	strmap_set(a, &pod->labels, "tier", "node");
	pod->container.privileged = true;
	pod_shell_command(a, pod, "/usr/local/bin/kube-proxy", &args, "/usr/bin/tee", log_file);
	pod_host_path(a, pod, "kubeconfig", kubeconfig, NULL, true);
	pod_host_path(a, pod, "logfile", log_file, NULL, false);
	pod_host_path(a, pod, "ssl-certs-hosts", "/usr/share/ca-certificates", "/etc/ssl/certs",
		      true);
	/* protokube writes names here */
	if (kops18_is_gossip_cluster(p))
		pod_host_path(a, pod, "etchosts", "/etc/hosts", NULL, true);
	kops18_kubeconfig(p, kubeconfig, "kube-proxy");
	plan_static_pod(p, pod);
}
