#include "nodeup/plan/static_pod.h"

#include "manifests/pod.h"
#include "nodeup/plan/questions.h"
#include "nodeup/plan/tasklist.h"

struct pod *plan_pod(struct plan *p, const char *name, const char *image)
{
	static const struct pod_toleration critical = { "CriticalAddonsOnly", "Exists" };
	struct pod *pod = arena_new(p->arena, struct pod);

	*pod = (struct pod){
		.name = name,
		.namespace_ = "kube-system",
		.host_network = true,
		.container = { .name = name, .image = image },
	};
	strmap_set(p->arena, &pod->labels, "k8s-app", name);
	arena_push(p->arena, pod->tolerations, pod->n_tolerations, critical);
	return pod;
}

struct pod_probe plan_probe(const char *path, const char *scheme, int64_t port)
{
	return (struct pod_probe){
		.host = "127.0.0.1",
		.path = path,
		.scheme = scheme,
		.port = port,
		.initial_delay = 15,
		.timeout = 15,
	};
}

void plan_proxy_env(const struct plan *p, const struct node_proxy *proxy, struct pod *pod)
{
	const struct pod_env env[] = {
		{ .name = "http_proxy", .value = proxy->url },
		{ .name = "https_proxy", .value = proxy->url },
		{ .name = "NO_PROXY", .value = proxy->excludes },
		{ .name = "no_proxy", .value = proxy->excludes },
	};
	struct pod_container *c = &pod->container;

	if (!proxy->url)
		return;
	/* only root may read a manifest that holds the proxy's login */
	pod->is_private = pod->is_private || proxy->is_secret;
	for (size_t i = 0; i < ARRAY_LEN(env); i++)
		arena_push(p->arena, c->env, c->n_env, env[i]);
}

/* Lists the folders in which distributions keep CA certificates. */
static const char *const ssl_paths[] = {
	"/etc/ssl",     "/etc/pki/tls",       "/etc/pki/ca-trust", "/usr/share/ssl", "/usr/ssl",
	"/usr/lib/ssl", "/usr/local/openssl", "/var/ssl",          "/etc/openssl",
};
static const char *const ssl_paths_readonly_usr[] = {
	"/etc/ssl",
	"/etc/pki/tls",
	"/etc/pki/ca-trust",
	"/usr/share/ca-certificates",
};

void plan_mount_ssl(const struct plan *p, struct pod *pod)
{
	const bool readonly_usr = plan_distro(p)->readonly_usr;
	const char *const *paths = readonly_usr ? ssl_paths_readonly_usr : ssl_paths;
	size_t n = readonly_usr ? ARRAY_LEN(ssl_paths_readonly_usr) : ARRAY_LEN(ssl_paths);

	for (size_t i = 0; i < n; i++)
		pod_host_path(p->arena, pod, NULL, paths[i], NULL, true);
}

void plan_static_pod(struct plan *p, const struct pod *pod)
{
	const char *manifest = arena_printf(p->arena, POD_MANIFESTS "/%s.manifest", pod->name);
	struct err e;
	char *text;

	/* the log file must exist: if it were missing, the runtime would make a directory in its place */
	plan_file(p, arena_printf(p->arena, "/var/log/%s.log", pod->name), 0400, "")
		->file.if_absent = true;
	if (p->is_partial && str_is_empty(pod->container.image))
		return;
	if (manifest_render(p->arena, pod, &text, &e) < 0)
		plan_fail(p, &e);
	else if (pod->is_private)
		plan_secret(p, manifest, 0600, text);
	else
		plan_file(p, manifest, 0644, text);
}
