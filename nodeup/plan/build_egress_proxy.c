#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/plan/pieces.h"

/* First line of each file: when the cluster has no proxy any more, what begins so goes again. */
static const char marker[] = "# Written by nodeup for egressProxy";
static const char apt_marker[] = "// Written by nodeup for egressProxy";

static const char manager_conf[] = "/etc/systemd/system.conf.d/20-kops-proxy.conf";
static const char apt_conf[] = "/etc/apt/apt.conf.d/31kops-proxy";
const char plan_proxy_env_file[] = "/etc/sysconfig/kops-proxy";

/* Those that talk to the outside: they pull images, ask the cloud, fetch. */
static const char *const units[] = { "docker.service", "kubelet.service",
				     "kops-configuration.service", plan_containerd_unit };

/* docker has a containerd too, which downloads nothing. */
static bool talks_to_the_outside(const struct plan *p, const char *unit)
{
	return strcmp(unit, plan_containerd_unit) != 0 || plan_uses_containerd(p);
}

bool plan_is_proxied(const struct plan *p, const char *unit)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (p->req->node->proxy.url && strcmp(units[i], unit) == 0)
			return talks_to_the_outside(p, unit);
	return false;
}

void plan_proxy_variables(const struct plan *p, struct strmap *ret)
{
	node_proxy_variables(p->arena, &p->req->node->proxy, ret);
}

struct strv plan_proxy_words(const struct plan *p)
{
	struct strmap variables = { 0 };
	struct strv words = { 0 };

	plan_proxy_variables(p, &variables);
	for (size_t i = 0; i < variables.n; i++)
		strv_add(p->arena, &words,
			 arena_printf(p->arena, "%s=%s", variables.v[i].key, variables.v[i].value));
	return words;
}

/* "http_proxy=..." "https_proxy=..." for one line of systemd's. */
static const char *assignments(const struct plan *p)
{
	struct strmap variables = { 0 };
	struct strv words = { 0 };

	plan_proxy_variables(p, &variables);
	for (size_t i = 0; i < variables.n; i++)
		strv_add(p->arena, &words,
			 plan_assignment(p->arena, variables.v[i].key, variables.v[i].value));
	return strv_join(p->arena, &words, " ");
}

static const char *environment(const struct plan *p)
{
	struct strmap variables = { 0 };
	struct strv lines = { 0 };

	plan_proxy_variables(p, &variables);
	strv_add(p->arena, &lines, arena_printf(p->arena, "%s\n", marker));
	for (size_t i = 0; i < variables.n; i++)
		strv_add(p->arena, &lines,
			 unit_env_line(p->arena, variables.v[i].key, variables.v[i].value));
	return strv_join(p->arena, &lines, "");
}

/* Where the file is wanted its text, else nothing of ours. A login makes it root's alone. */
static int add(struct plan *p, const char *path, const char *mark, const char *text, struct err *e)
{
	const bool secret = p->req->node->proxy.is_secret;
	const struct task *t;

	if (!text)
		t = plan_no_file(p, path, mark, e);
	else
		t = secret ? plan_secret(p, path, 0600, text, e)
			   : plan_file(p, path, 0644, text, e);
	return t ? 0 : -EINVAL;
}

/* Every user may read Environment= over the bus, but not the content of a file. */
static int add_dropins(struct plan *p, struct err *e)
{
	const struct node_proxy *proxy = &p->req->node->proxy;
	const char *text = NULL;
	int r = 0;

	if (proxy->url && proxy->is_secret)
		text = arena_printf(p->arena, "%s\n[Service]\nEnvironmentFile=-%s\n", marker,
				    plan_proxy_env_file);
	else if (proxy->url)
		text = arena_printf(p->arena, "%s\n[Service]\nEnvironment=%s\n", marker,
				    assignments(p));
	for (size_t i = 0; i < ARRAY_LEN(units) && r == 0; i++)
		r = add(p,
			arena_printf(p->arena, "/etc/systemd/system/%s.d/20-kops-proxy.conf",
				     units[i]),
			marker, talks_to_the_outside(p, units[i]) ? text : NULL, e);
	return r;
}

/* source: kops 1.8.1 pkg/model/bootstrapscript.go createProxyEnv, whose script writes the same into
 * files of the distribution */
int build_egress_proxy(struct plan *p, struct err *e)
{
	const struct node_proxy *proxy = &p->req->node->proxy;
	const bool open = proxy->url && !proxy->is_secret;
	const char *manager = NULL, *apt = NULL;
	int r;

	if (open)
		manager = arena_printf(p->arena, "%s\n[Manager]\nDefaultEnvironment=%s\n", marker,
				       assignments(p));
	if (proxy->url)
		apt = arena_printf(p->arena, "%s\nAcquire::http::Proxy \"%s\";\n", apt_marker,
				   proxy->url);
	r = add(p, plan_proxy_env_file, marker,
		proxy->url && proxy->is_secret ? environment(p) : NULL, e);
	if (r == 0)
		r = add_dropins(p, e);
	if (r == 0)
		r = add(p, manager_conf, marker, manager, e);
	if (r == 0 && plan_distro(p)->has_apt_conf)
		r = add(p, apt_conf, apt_marker, apt, e);
	return r;
}
