#include "nodeup/plan/static_pod.h"

#include "nodeup/plan/tasklist.h"

static const char *log_path(struct plan *p, const char *name)
{
	return arena_printf(p->arena, "/var/log/%s.log", name);
}

struct pod *plan_pod(struct plan *p, const char *name, const char *image)
{
	static const struct pod_toleration critical = { "CriticalAddonsOnly", "Exists" };
	struct pod *pod = arena_new(p->arena, struct pod);

	*pod = (struct pod){
		.name = name,
		.namespace_ = "kube-system",
		.host_network = true,
		.container = { .name = name, .image = image, .cpu_request = "100m" },
	};
	strmap_set(p->arena, &pod->labels, "k8s-app", name);
	strmap_set(p->arena, &pod->annotations, "scheduler.alpha.kubernetes.io/critical-pod", "");
	arena_push(p->arena, pod->tolerations, pod->n_tolerations, critical);
	return pod;
}

void plan_proxy_env(const struct plan *p, struct pod *pod)
{
	const struct node_proxy *proxy = &p->req->node->proxy;
	const struct pod_env env[] = {
		{ "http_proxy", proxy->url },
		{ "https_proxy", proxy->url },
		{ "NO_PROXY", proxy->excludes },
		{ "no_proxy", proxy->excludes },
	};
	struct pod_container *c = &pod->container;

	for (size_t i = 0; proxy->url && i < ARRAY_LEN(env); i++)
		arena_push(p->arena, c->env, c->n_env, env[i]);
}

int plan_static_pod(struct plan *p, const struct pod *pod, struct err *e)
{
	const char *manifest =
		arena_printf(p->arena, "/etc/kubernetes/manifests/%s.manifest", pod->name);
	struct task *log = plan_file(p, log_path(p, pod->name), 0400, "", e);
	char *text;
	int r;

	if (!log)
		return -EINVAL;
	/* the runtime would make a directory of a file that is mounted and not there */
	log->file.if_absent = true;
	r = manifest_render(p->arena, pod, &text, e);
	if (r < 0)
		return r;
	/* a login at the proxy is not for every user of this machine */
	if (pod->container.n_env && p->req->node->proxy.is_secret)
		return plan_secret(p, manifest, 0600, text, e) ? 0 : -EINVAL;
	return plan_file(p, manifest, 0644, text, e) ? 0 : -EINVAL;
}
