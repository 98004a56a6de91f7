/* Tests: test_kops_host.c, test_kops_files.py. */
#include "nodeup/plan/kops/kops.h"

#include "nodeup/plan/kops/pods.h"
#include "nodeup/plan/kops/release.h"

/* Adds these addresses to a name. */
static void add_names(struct plan *p, struct strmap *hosts, const char *name,
		      const struct strv *addresses)
{
	for (size_t i = 0; !str_is_empty(name) && i < addresses->n; i++) {
		const char *others = strmap_get(hosts, addresses->v[i]);
		const struct strv known = strv_split(p->arena, others ? others : "", ' ');

		if (!strv_has(&known, name))
			strmap_set(p->arena, hosts, addresses->v[i],
				   others ? arena_printf(p->arena, "%s %s", others, name) : name);
	}
}

/* source: kops 1.37 nodeup/pkg/model/etc_hosts.go */
static struct strmap find_hosts(struct plan *p)
{
	static const char *here[] = { "127.0.0.1" };
	const struct strv this_node = { .v = here, .n = 1 };
	const struct kops_node *n = kops_of(p);
	const struct strv *servers = &n->boot->apiserver_ips, *etcd = &n->boot->etcd_ips;
	const char *cluster = n->config->cluster_name;
	const char *api = kops_internal_name(p);
	const bool is_master = p->req->node->is_master;
	struct strmap hosts = { 0 };

	if (is_master && n->config->uses_none_dns) {
		add_names(p, &hosts, api, &this_node);
		add_names(p, &hosts, n->config->apiserver.public_name, &this_node);
	} else {
		add_names(p, &hosts, api, servers);
		add_names(p, &hosts, kops_name_inside(p->arena, "kops-controller", cluster),
			  servers);
	}
	if (!kops_has_api_server(p) || is_master)
		return hosts;
	add_names(p, &hosts, kops_name_inside(p->arena, "main.etcd", cluster), etcd);
	add_names(p, &hosts, kops_name_inside(p->arena, "events.etcd", cluster), etcd);
	return hosts;
}

/* Writes a line for each address. Lines are sorted, and so are the names in a line. source: kops 1.37 pkg/dns/hosts */
static void add_hosts(struct plan *p)
{
	const struct strmap hosts = find_hosts(p);
	struct strv lines = { 0 };

	for (size_t i = 0; i < hosts.n; i++) {
		struct strv names = strv_split(p->arena, hosts.v[i].value, ' ');

		strv_sort(&names);
		strv_addf(p->arena, &lines, "%s\t%s", hosts.v[i].key,
			  strv_join(p->arena, &names, " "));
	}
	if (lines.n == 0)
		return;
	strv_sort(&lines);
	plan_new_task(p, TASK_HOSTS, "/etc/hosts")->hosts = (struct task_hosts){ .lines = lines };
}

/* Writes the configuration for a kubelet with its own cloud provider. source: kops 1.37
 * nodeup/pkg/model/cloudconfig.go */
static void add_cloud_config(struct plan *p)
{
	static const char form[] = "[global]\n%s\n";
	const struct kops_config *c = kops_of(p)->config;
	struct arena *a = p->arena;
	struct strv lines = { 0 };

	if (!kops_has_api_server(p) && str_eq(c->kubelet.cloud_provider, "external"))
		return;
	if (c->disable_security_group_ingress.set)
		strv_addf(a, &lines, "DisableSecurityGroupIngress = %s",
			  c->disable_security_group_ingress.v ? "true" : "false");
	if (c->elb_security_group)
		strv_addf(a, &lines, "ElbSecurityGroup = %s", c->elb_security_group);
	if (c->nlb_security_group_mode)
		strv_addf(a, &lines, "NLBSecurityGroupMode = %s", c->nlb_security_group_mode);
	if (kops_has(p, KOPS_IN_TREE_CLOUD))
		plan_file(p, KOPS_IN_TREE_CONFIG, 0644,
			  arena_printf(a, form, strv_join(a, &lines, "\n")));
	for (size_t i = 0; i < c->node_ip_families.n; i++)
		strv_addf(a, &lines, "NodeIPFamilies = %s", c->node_ip_families.v[i]);
	plan_file(p, "/etc/kubernetes/cloud.config", 0644,
		  arena_printf(a, form, strv_join(a, &lines, "\n")));
}

void build_kops_system(struct plan *p)
{
	static const char *const paths[] = { POD_MANIFESTS, "/srv/kubernetes",
					     "/srv/kubernetes/assets" };
	const char *login = strmap_get(&p->req->node->secrets, "dockerconfig");

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		plan_dir(p, paths[i], 0755);
	plan_file(p, "/srv/kubernetes/ca.crt", 0600, kops_ca(p));
	/* kubelet looks below its HOME, which is /root */
	if (login)
		plan_secret(p, "/root/.docker/config.json", 0600, login);
	add_hosts(p);
	add_cloud_config(p);
}

/* source: kops 1.37 nodeup/pkg/model/packages.go */
const char *needs_kops_system(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;
	const struct release_today *r = kops_release(p);
	struct strv names = { 0 };
	const bool nftables = kops_has(p, KOPS_NFTABLES_PACKAGE) && c->has_kube_proxy &&
			      c->kube_proxy.enabled.v &&
			      str_eq(c->kube_proxy.proxy_mode, "nftables");

	if (r->old_iptables && kops_has(p, KOPS_NFTABLES_ALONE))
		strv_add(p->arena, &names, "nftables");
	else if (r->old_iptables && !kops_has(p, KOPS_NFTABLES_HOSTS))
		strv_add(p->arena, &names, r->old_iptables);
	else if (r->iptables)
		strv_add(p->arena, &names, r->iptables);
	strv_add(p->arena, &names, r->packages);
	if (nftables)
		strv_add(p->arena, &names, "nftables");
	if (kops_has(p, KOPS_OLD_TOOLS))
		strv_add(p->arena, &names, r->old_tools);
	if (kops_has(p, KOPS_OLDER_TOOLS))
		strv_add(p->arena, &names, r->older_tools);
	return strv_join(p->arena, &names, " ");
}
