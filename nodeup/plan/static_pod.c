#include "nodeup/plan/static_pod.h"

#include "nodeup/plan/tasklist.h"

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

void plan_log_file(struct plan *p, const char *path)
{
	/* the runtime would make a directory of a file that is mounted and not there */
	plan_file(p, path, 0400, "")->file.if_absent = true;
}

void plan_static_pod(struct plan *p, const struct pod *pod)
{
	const char *manifest =
		arena_printf(p->arena, "/etc/kubernetes/manifests/%s.manifest", pod->name);
	struct err e;
	char *text;

	plan_log_file(p, arena_printf(p->arena, "/var/log/%s.log", pod->name));
	if (manifest_render(p->arena, pod, &text, &e) < 0)
		plan_fail(p, &e);
	/* a login at the proxy is not for every user of this machine */
	else if (pod->container.n_env && p->req->node->proxy.is_secret)
		plan_secret(p, manifest, 0600, text);
	else
		plan_file(p, manifest, 0644, text);
}
