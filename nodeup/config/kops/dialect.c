/* Tests: test_kops_documents.py. */
#include "nodeup/config/kops/model.h"

#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/kops/changes.h"

/* No place belongs to this dialect alone: kops 1.8 also writes /opt/kops/conf/kube_env.yaml, and its row names that
 * path. */
static const char *const places[] = { NULL };
/* Lists keys that only today's kops writes; kops 1.8 also has ClusterName, ConfigBase and InstanceGroupName. */
static const char *const signs[] = { "NodeupConfigHash",
				     "InstanceGroupRole",
				     "CloudProvider",
				     "ConfigServer",
				     "APIServerIPs",
				     "EtcdIPs",
				     NULL };

/* source: kops 1.37 upup/pkg/fi/nodeup/command.go */
static const char *place_of_config(struct arena *a, const struct kops_boot *boot)
{
	return kops_in_base(a, boot,
			    arena_printf(a, "igconfig/%s/%s/nodeupconfig.yaml", boot->role->folder,
					 boot->instance_group_name));
}

static int read_conf(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		     struct documents *ret, struct err *e)
{
	struct kops_boot *boot = arena_new(a, struct kops_boot);
	struct documents_join *join = NULL;
	bool in_store;
	int r = kops_boot(a, conf, o, boot, e);

	if (r < 0)
		return r;
	if (boot->config_server.servers.n) {
		join = arena_new(a, struct documents_join);
		*join = (struct documents_join){ .servers = boot->config_server.servers,
						 .tls_server_name =
							 boot->config_server.tls_server_name,
						 .ca = boot->config_server.ca_certificates };
	}
	/* kops gives such nodes no keysets */
	if (join && boot->role->serves_api && !o->checks_alone)
		return err_config(e,
				  "%s: ConfigServer has servers, and an InstanceGroupRole %s takes "
				  "its keys from ConfigBase alone",
				  tree_where(a, &conf->pos), boot->instance_group_role);
	in_store = !join && boot->role->serves_api;
	*ret = (struct documents){
		.dialect = &kops_dialect,
		.join = join,
		.base = in_store ? boot->config_base
				 : arena_printf(a, "kops-controller://%s/%s", boot->cluster_name,
						boot->instance_group_name),
		.in_store = in_store,
		.cluster_at = in_store ? place_of_config(a, boot) : NULL,
		.beside_will_do = true,
		.of_instance = join || in_store,
		.own = boot,
		.settings = boot->settings,
		.cluster_name = boot->cluster_name,
		.checked = arena_printf(a, "BootConfig of instance group %s, %s",
					boot->instance_group_name, boot->instance_group_role),
	};
	return 0;
}

/* Makes the node. A NodeupConfig next to the document of --conf replaces the NodeupConfig of the state store or
 * kops-controller. */
static int make_node(const struct reading *in, const struct documents *d)
{
	const struct kops_boot *boot = d->own;
	struct kops_config *config = arena_new(in->arena, struct kops_config);
	struct node *n = in->node;
	int r;

	*config = (struct kops_config){ 0 };
	*n = (struct node){ .dialect = &kops_dialect,
			    .cluster_name = boot->cluster_name,
			    .cloud_provider = boot->cloud_provider };
	if (d->cluster->kind == TREE_NULL && d->adopted) {
		n->is_adopted = true;
		n->own = kops_unknown_node(in->arena, boot, in->facts);
	}
	if (d->cluster->kind == TREE_NULL)
		return 0;
	r = kops_config(in->arena, d->cluster, boot, &d->vintage, in->opts, config, in->err);
	if (r == 0 && !errs_any_vital(in->opts->errors))
		r = kops_node(in, boot, config);
	n->dialect = &kops_dialect;
	return r;
}

static int check_config(struct arena *a, const struct documents *d, const char *from,
			const char *text, size_t n, struct err *e)
{
	return kops_config_check_hash(a, d->own, from, text, n, e);
}

static const struct field_rules *const rules[] = { &kubelet_rules,
						   &taint_rules,
						   &kube_proxy_rules,
						   &rules_apiserver,
						   &rules_oidc,
						   &rules_kcm,
						   &rules_leader,
						   &rules_scheduler,
						   &rules_pod,
						   &rules_containerd,
						   NULL };

const struct dialect kops_dialect = {
	.name = "kops",
	.cluster_tells = true,
	.is_same_kops = kops_is_same,
	.dual_stack = true,
	.title = kops_title,
	.oldest = &kops_oldest,
	.newest = &kops_newest,
	.conf_name = "kube_env.yaml",
	.cluster_name = "nodeupconfig.yaml",
	.places = places,
	.signs = signs,
	.document = &kops_boot_schema,
	.rules = rules,
	.hook = &kops_hook_schema,
	.cluster = &kops_config_schema,
	.script = kops_script,
	.read = read_conf,
	.check_cluster = check_config,
	.cluster_hash_line = kops_config_hash_line,
	.examples = kops_examples,
	.node = make_node,
	.keyset = kops_keyset,
	.wants = kops_wants,
};
