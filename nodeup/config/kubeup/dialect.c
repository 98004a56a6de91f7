#include "nodeup/config/kubeup/states.h"

static const char *const places[] = { "/etc/kubernetes/kube_env.yaml", NULL };
/* Where documents alone are checked, of no machine. */
static const char any_host[] = "any-host.ec2.internal";
static const char *const signs[] = { "SALT_TAR_URL", "KUBERNETES_MASTER", NULL };

static int read_conf(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		     struct documents *ret, struct err *e)
{
	struct kubeup_env *env = arena_new(a, struct kubeup_env);
	int r = kubeup_env(a, conf, o, env, e);

	if (r < 0)
		return r;
	if (!o->no_host)
		return err_config(e,
				  "%s: these are kube-up's documents: this nodeup checks them, and "
				  "cannot make a node of them yet",
				  tree_where(a, &conf->pos));
	*ret = (struct documents){
		.dialect = &kubeup_dialect,
		.own = env,
		.settings = env->settings,
		.cluster_name = env->instance_prefix,
		.any_patch = true,
		.in_store = true,
		.archive = { .text = arena_printf(a, "%s@%s", env->salt_tar_hash,
						  env->salt_tar_url),
			     .pos = tree_get(conf, "SALT_TAR_URL")->pos },
	};
	return 0;
}

/* source: cluster/saltbase/pillar/systemd.sls: what has no systemd had sysvinit or upstart */
static int check_release(const struct facts *f, struct err *e)
{
	static const struct {
		const char *distribution, *version, *name;
	} old[] = {
		{ "ubuntu", "14.04", "trusty" },
		{ "ubuntu", "12.04", "precise" },
		{ "debian", "7", "wheezy" },
	};

	for (size_t i = 0; i < ARRAY_LEN(old); i++)
		if (str_eq(f->distribution, old[i].distribution) &&
		    (str_eq(f->codename, old[i].name) ||
		     (f->version && str_has_prefix(f->version, old[i].version))))
			return err_config(
				e,
				"%s %s has no systemd: nodeup makes kube-up's nodes where "
				"there is one",
				old[i].distribution, old[i].name);
	return 0;
}

static int make_node(struct arena *a, const struct documents *d, const struct facts *f,
		     const struct dialect_opts *o, struct node *ret, struct err *e)
{
	const struct kubeup_env *env = d->own;
	struct node node = {
		.cluster_name = env->instance_prefix,
		.cloud_provider = "aws",
		.networking = str_is_empty(env->network_provider) ? "none" : env->network_provider,
		.non_masquerade_cidr = env->non_masquerade_cidr,
		.service_cluster_ip_range = env->service_cluster_ip_range,
		.cluster_dns_domain = env->dns_domain,
		.is_master = env->is_master,
		.auto_upgrades = str_eq(env->auto_upgrade, "true"),
		.kubernetes = env->kubernetes,
	};
	struct kubeup_files files;
	int r = check_release(f, e);

	(void)o;
	/* documents alone: nothing was read, and what is made of it is known to be right only here */
	if (r == 0 && d->files.n)
		r = kubeup_render(a, d, env, f->local_hostname ? f->local_hostname : any_host,
				  &files, e);
	if (r == 0)
		*ret = node;
	return r;
}

static int find_proxy(struct arena *a, const struct documents *d, const struct dialect_opts *o,
		      struct node_proxy *ret, struct err *e)
{
	(void)a;
	(void)d;
	(void)o;
	(void)e;
	*ret = (struct node_proxy){ 0 };
	return 0;
}

/* Everything is in the one document. */
static struct node_wants find_wants(struct arena *a, const struct documents *d,
				    const struct node *n)
{
	(void)a;
	(void)d;
	(void)n;
	return (struct node_wants){ 0 };
}

const struct dialect kubeup_dialect = {
	.name = "kubeup",
	.conf_name = "kube_env.yaml",
	.places = places,
	.signs = signs,
	.document = &kubeup_env_schema,
	.checks_alone = true,
	.script = kubeup_script,
	.read = read_conf,
	.node = make_node,
	.proxy = find_proxy,
	.wants = find_wants,
};
