#include "nodeup/plan/pieces.h"

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/yaml.h"

enum { KUBECONFIG_MAX = 256 << 10 };

const struct distro *plan_distro(const struct plan *p)
{
	return distro_of(p->req->facts->distribution);
}

const char *plan_in_srv(const struct plan *p, const char *name)
{
	return arena_printf(p->arena, "%s/%s", plan_distro(p)->srv, name);
}

const struct node_keypair *plan_keypair(const struct plan *p, const char *name, bool key,
					struct err *e)
{
	const struct node_keypair *k = node_keypair(p->req->node, name);

	if (k && !str_is_empty(k->cert) && (!key || !str_is_empty(k->key)))
		return k;
	if (p->req->no_keys) {
		struct node_keypair *empty = arena_new(p->arena, struct node_keypair);

		*empty = (struct node_keypair){ .name = name, .cert = "", .key = "" };
		return empty;
	}
	(void)err_config(e, "keypair %s: no %s, which %s needs", name,
			 k && !str_is_empty(k->cert) ? "private key" : "certificate", p->builder);
	return NULL;
}

const char *plan_api_server(const struct plan *p)
{
	const struct node *n = p->req->node;

	if (!n->is_master)
		return arena_printf(p->arena, "https://%s", n->master_internal_name);
	return node_k8s_at_least(n, 1, 6) ? "https://127.0.0.1" : "http://127.0.0.1:8080";
}

static struct tree *data(struct arena *a, const char *pem)
{
	return tree_string(a, enc_base64(a, pem, strlen(pem)));
}

/* A one-item list {detail_key: detail, name: name}, as a kubeconfig has three of. */
static struct tree *named(struct arena *a, const char *detail_key, struct tree *detail,
			  const char *name)
{
	struct tree *t = tree_map(a);

	(void)tree_set(a, t, detail_key, detail);
	tree_set_text(a, t, "name", name);
	return tree_add(a, tree_seq(a), t);
}

static struct tree *kubeconfig_tree(const struct plan *p, const char *ca,
				    const struct node_keypair *user)
{
	static const char context_name[] = "service-account-context";
	struct arena *a = p->arena;
	struct tree *cluster = tree_map(a), *context = tree_map(a), *login = tree_map(a);
	struct tree *t = tree_map(a);

	(void)tree_set(a, cluster, "certificate-authority-data", data(a, ca));
	tree_set_text(a, cluster, "server", plan_api_server(p));
	tree_set_text(a, context, "cluster", "local");
	tree_set_text(a, context, "user", user->name);
	(void)tree_set(a, login, "client-certificate-data", data(a, user->cert));
	(void)tree_set(a, login, "client-key-data", data(a, user->key));
	tree_set_text(a, t, "apiVersion", "v1");
	(void)tree_set(a, t, "clusters", named(a, "cluster", cluster, "local"));
	(void)tree_set(a, t, "contexts", named(a, "context", context, context_name));
	tree_set_text(a, t, "current-context", context_name);
	tree_set_text(a, t, "kind", "Config");
	(void)tree_set(a, t, "users", named(a, "user", login, user->name));
	return t;
}

int plan_kubeconfig(struct plan *p, const char *path, const char *user, struct err *e)
{
	autobuf struct buf b = BUF_INIT(KUBECONFIG_MAX);
	const struct node_keypair *k = plan_keypair(p, user, true, e);
	const struct node_keypair *ca = k ? plan_keypair(p, "ca", false, e) : NULL;
	int r;

	if (!ca)
		return -EINVAL;
	r = yaml_render(kubeconfig_tree(p, ca->cert, k), &b, e);
	if (r < 0)
		return err_wrap(e, "%s", path);
	return plan_secret(p, path, 0400, arena_strn(p->arena, buf_str(&b), b.len), e) ? 0
										       : -EINVAL;
}

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

void plan_environment(const struct plan *p, const struct strmap *env, struct strmap *ret_open,
		      struct strmap *ret_secret)
{
	static const char *const credentials[] = {
		"S3_ACCESS_KEY_ID",      "S3_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	};

	for (size_t i = 0; i < env->n; i++) {
		/* a URL may carry a password */
		bool secret = strchr(env->v[i].value, '@') != NULL;

		for (size_t k = 0; k < ARRAY_LEN(credentials); k++)
			secret |= strcmp(env->v[i].key, credentials[k]) == 0;
		strmap_set(p->arena, secret ? ret_secret : ret_open, env->v[i].key,
			   env->v[i].value);
	}
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

const char *plan_assignment(struct arena *a, const char *key, const char *value)
{
	char *text = arena_alloc(a, strlen(key) + 2 * strlen(value) + sizeof("\"=\""));
	char *out = stpcpy(stpcpy(stpcpy(text, "\""), key), "=");

	for (; *value; value++) {
		if (strchr("\"\\", *value))
			*out++ = '\\';
		if (*value == '%')
			*out++ = '%';
		*out++ = *value;
	}
	*out = '"';
	return text;
}

const char plan_containerd_unit[] = "containerd.service";

const char *plan_digest(const struct plan *p, const struct asset *as)
{
	char hex[DIGEST_TEXT_MAX];

	return arena_str(p->arena, digest_hex(&as->digest, hex));
}

bool plan_uses_containerd(const struct plan *p)
{
	return str_eq(p->req->runtime.unit, plan_containerd_unit) &&
	       node_k8s_at_least(p->req->node, 1, 10) &&
	       str_eq(p->req->node->kubelet.network_plugin_name, "cni");
}
