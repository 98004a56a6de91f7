#include "nodeup/config/kops/kops.h"

/* Its place, /opt/kops/conf/kube_env.yaml, is that of kops 1.8 too, whose row names it. */
static const char *const places[] = { NULL };
/* ClusterName, ConfigBase and InstanceGroupName are keys of kops 1.8 too. */
static const char *const signs[] = { "NodeupConfigHash",
				     "InstanceGroupRole",
				     "CloudProvider",
				     "ConfigServer",
				     "APIServerIPs",
				     "EtcdIPs",
				     NULL };

static int read_conf(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		     struct documents *ret, struct err *e)
{
	struct kops_boot *boot = arena_new(a, struct kops_boot);
	int r = kops_boot(a, conf, o, boot, e);

	if (r < 0)
		return r;
	*ret = (struct documents){
		.dialect = &kops_dialect,
		.own = boot,
		.settings = boot->settings,
		.cluster_name = boot->cluster_name,
		.checked = arena_printf(a, "BootConfig of instance group %s, %s",
					boot->instance_group_name, boot->instance_group_role),
	};
	return 0;
}

/* NodeupConfig beside the document of --conf stands for what the state store or kops-controller would say. */
static int make_node(struct arena *a, const struct documents *d, const struct facts *f,
		     const struct dialect_opts *o, struct node *ret, struct err *e)
{
	const struct kops_boot *boot = d->own;
	struct kops_config *config = arena_new(a, struct kops_config);
	int r = 0;

	(void)f;
	if (d->cluster->kind != TREE_NULL) {
		r = errs_keep(o->errors,
			      kops_config_check_hash(a, boot, d->cluster->pos.file,
						     d->cluster_text.text, d->cluster_text.n, e),
			      e);
		if (r == 0)
			r = kops_config(a, d->cluster, boot, o, config, e);
	}
	*ret = (struct node){ .cluster_name = boot->cluster_name,
			      .kubernetes = config->kubernetes,
			      .cloud_provider = boot->cloud_provider,
			      .is_master = str_eq(boot->instance_group_role, "ControlPlane") };
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

static struct node_wants find_wants(struct arena *a, const struct documents *d,
				    const struct node *n)
{
	(void)a;
	(void)d;
	(void)n;
	return (struct node_wants){ 0 };
}

const struct dialect kops_dialect = {
	.name = "kops",
	.conf_name = "kube_env.yaml",
	.cluster_name = "nodeupconfig.yaml",
	.places = places,
	.signs = signs,
	.document = &kops_boot_schema,
	.cluster = &kops_config_schema,
	.script = kops_script,
	.read = read_conf,
	.node = make_node,
	.proxy = find_proxy,
	.wants = find_wants,
};
