/* Tests: test_build_extras.c. */
#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/plan/environment.h"

/* Each of our files begins with this line. When the cluster has no proxy any more, files that begin with this line
 * are removed. */
static const char marker[] = "# Written by nodeup for egressProxy";
static const char apt_marker[] = "// Written by nodeup for egressProxy";

static const char manager_conf[] = "/etc/systemd/system.conf.d/20-kops-proxy.conf";
static const char apt_conf[] = "/etc/apt/apt.conf.d/31kops-proxy";

/* Writes the text if the file is wanted. Removes a file that is not wanted, if it begins with our marker. If the
 * text has a login, only root may read it. */
static void put_file(struct plan *p, const char *path, const char *mark, const char *text)
{
	if (!text)
		plan_no_file(p, path, mark);
	else if (p->req->node->proxy.is_secret)
		plan_secret(p, path, 0600, text);
	else
		plan_file(p, path, 0644, text);
}

/* Adds drop-ins that read the variables from a file: any user can read Environment= over the bus, but not the
 * content of a file. */
static void add_dropins(struct plan *p, const struct strmap *variables)
{
	const struct node_proxy *proxy = &p->req->node->proxy;
	const char *text = NULL;

	if (proxy->url && proxy->is_secret)
		text = arena_printf(p->arena, "%s\n[Service]\nEnvironmentFile=-%s\n", marker,
				    plan_proxy_env_file);
	else if (proxy->url)
		text = arena_printf(p->arena, "%s\n[Service]\nEnvironment=%s\n", marker,
				    plan_assignments(p->arena, variables));
	for (const char *const *unit = plan_proxied_units; *unit; unit++)
		put_file(p,
			 arena_printf(p->arena, "/etc/systemd/system/%s.d/20-kops-proxy.conf",
				      *unit),
			 marker, plan_is_proxied(p, *unit) ? text : NULL);
}

/* source: kops 1.8.1 pkg/model/bootstrapscript.go createProxyEnv, whose script writes the same into
 * files of the distribution */
void build_egress_proxy(struct plan *p)
{
	const struct node_proxy *proxy = &p->req->node->proxy;
	const bool open = proxy->url && !proxy->is_secret;
	const char *manager = NULL, *apt = NULL, *login = NULL;
	struct strmap variables = { 0 };

	node_proxy_variables(p->arena, proxy, &variables);
	if (open)
		manager = arena_printf(p->arena, "%s\n[Manager]\nDefaultEnvironment=%s\n", marker,
				       plan_assignments(p->arena, &variables));
	if (proxy->url)
		apt = arena_printf(p->arena, "%s\nAcquire::http::Proxy \"%s\";\n", apt_marker,
				   proxy->url);
	if (proxy->url && proxy->is_secret)
		login = arena_printf(p->arena, "%s\n%s", marker,
				     plan_env_lines(p->arena, &variables));
	put_file(p, plan_proxy_env_file, marker, login);
	add_dropins(p, &variables);
	put_file(p, manager_conf, marker, manager);
	if (plan_distro(p)->has_apt_conf)
		put_file(p, apt_conf, apt_marker, apt);
}
