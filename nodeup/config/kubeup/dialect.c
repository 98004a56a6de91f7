/* Tests: test_kubeup_documents.py. */
#include "nodeup/config/kubeup/states.h"

#include <string.h>
#include "assets/asset.h"
#include "nodeup/config/storage_docker.h"

static const char *const places[] = { "/etc/kubernetes/kube_env.yaml", NULL };
static const char *const signs[] = { "SALT_TAR_URL", "KUBERNETES_MASTER", NULL };

static int read_conf(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		     struct documents *ret, struct err *e)
{
	struct kubeup_env *env = arena_new(a, struct kubeup_env);
	int r = kubeup_env(a, conf, o, env, e);

	if (r < 0)
		return r;
	*ret = (struct documents){
		.dialect = &kubeup_dialect,
		.own = env,
		.settings = env->settings,
		.cluster_name = env->instance_prefix,
		/* kept documents belong to this tarball */
		.base = asset_url_public(a, arena_strn(a, env->salt_tar_url,
						       strcspn(env->salt_tar_url, ","))),
		.any_patch = true,
		.in_store = true,
		.archive = { .text = arena_printf(a, "%s@%s", env->salt_tar_hash,
						  env->salt_tar_url),
			     .pos = tree_get(conf, "SALT_TAR_URL")->pos },
		.instance_store = storage_kube_up_name,
		.instance_store_key = "DOCKER_STORAGE",
		/* masters lack these options */
		.docker_root = env->is_master ? NULL
					      : storage_docker_root(a, env->extra_docker_opts),
	};
	return 0;
}

static const struct version oldest = { 1, 2, 0, NULL }, newest = { 1, 5, 0, NULL };

static const struct field_rules *const rules[] = { &kubeup_rules, NULL };

const struct dialect kubeup_dialect = {
	.name = "kubeup",
	.title = "kube-up",
	.oldest = &oldest,
	.newest = &newest,
	.conf_name = "kube_env.yaml",
	.places = places,
	.signs = signs,
	.document = &kubeup_env_schema,
	.rules = rules,
	.script = kubeup_script,
	.read = read_conf,
	.node = kubeup_node,
};
