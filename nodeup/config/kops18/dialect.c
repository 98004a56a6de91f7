/* Tests: test_dialects.c, config/test_ranges.c. */
#include "nodeup/config/kops18/kops18.h"

#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/kops18/spec.h"

static const char *const places[] = {
	"/opt/kops/conf/kube_env.yaml",
	"/var/cache/kubernetes-install/kube_env.yaml",
	NULL,
};

static const char *const signs[] = { "ClusterName", "Assets", "ConfigBase", NULL };

static int read_conf(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		     struct documents *ret, struct err *e)
{
	const struct tree *group = tree_get(conf, "InstanceGroupName");
	struct kube_env *env = arena_new(a, struct kube_env);
	int r = kops18_env(a, conf, o, env, e);

	if (r < 0)
		return r;
	*ret = (struct documents){
		.dialect = &kops18_dialect,
		.own = env,
		.settings = env->settings,
		.cluster_name = env->cluster_name,
		.base = env->config_base ? env->config_base : env->cluster_location,
	};
	ret->in_store = kops18_locations(a, env, &ret->cluster_at, &ret->group_at);
	if (group && env->instance_group_name)
		ret->group_from = tree_where(a, &group->pos);
	if (env->docker_storage || env->kube_aws_storage) {
		ret->instance_store = storage_kube_up_name;
		ret->instance_store_key = "DOCKER_STORAGE";
	}
	return 0;
}

static const struct dialect_program programs[] = {
	{ "kubelet", &kubelet_schema },
	{ "dockerd", &docker_schema },
	{ "kube-proxy", &kube_proxy_schema },
	{ "kube-apiserver", &kube_apiserver_schema },
	{ "kube-controller-manager", &kube_controller_manager_schema },
	{ "kube-scheduler", &kube_scheduler_schema },
	{ NULL },
};

static const struct field_rules *const rules[] = { &kubelet_rules, &taint_rules, &rules_apiserver,
						   &rules_kcm, NULL };

const struct dialect kops18_dialect = {
	.name = "kops18",
	.title = "kops 1.8",
	.oldest = &kops18_oldest,
	.newest = &kops18_newest,
	.conf_name = "kube_env.yaml",
	.cluster_name = "cluster_spec.yaml",
	.group_name = "ig_spec.yaml",
	.places = places,
	.signs = signs,
	.document = &kops18_env_schema,
	.programs = programs,
	.rules = rules,
	.cluster = &kops18_cluster_schema,
	.group = &kops18_ig_schema,
	.hook = &kops18_hook_schema,
	.file_asset = &kops18_file_asset_schema,
	.volume_mount = &storage_mount_schema,
	.pki = kops18_pki,
	.examples = kops18_examples,
	.read = read_conf,
	.node = kops18_node,
	.proxy = kops18_proxy,
	.wants = kops18_wants,
};
