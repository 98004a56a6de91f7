/* Where the documents are: what --conf and the documents say of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/lib/kops18_world.h"
#include "tests/unit/lib/seed_node.h"

static void test_config_base_is_a_path(void **state)
{
	struct seed *fx = *state;
	const char *base = seed_below(fx, SEED_BASE),
		   *spec = seed_below(fx, SEED_BASE "/cluster.spec");

	(void)seed_rebase(fx, spec, base, SEED_BASE "/cluster.spec");
	fx->req.conf = seed_rebase(fx, seed_master, base, "kube_env.yaml");
	seed_write(fx, "facts.yaml", "instanceID: i-1\nlocalHostname: ip-1\n");
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	seed_must_load(fx);
	assert_true(fx->b.node.keypairs.n >= 10);
	assert_int_equal(seed_asked(fx, NULL), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
}

/* Without ConfigBase: all of it beside --conf. */
static void test_beside(void **state)
{
	struct seed *fx = *state;

	seed_write(fx, "b/kube_env.yaml",
		   "ClusterName: abc.joshdurbin.net\nAssets:\n"
		   "- 0f3a59e4c0aae8c2b2a0924d8ace010ebf39f48e@https://x.example/v1.8.7/kubelet\n"
		   "Tags: [_aws]\n");
	seed_write(fx, "b/cluster_spec.yaml",
		   "kubelet:\n  hostnameOverride: fixed\n"
		   "kubeProxy:\n  hostnameOverride: fixed\n");
	seed_run((const char *const[]){ "cp", "-r", seed_below(fx, SEED_BASE "/pki"),
					seed_below(fx, "b/pki"), NULL });
	seed_write(fx, "facts.yaml", "instanceID: i-1\n");
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	fx->req.conf = seed_below(fx, "b/kube_env.yaml");
	seed_must_load(fx);
	assert_string_equal(world_host_name(&fx->b.node), "fixed");
	assert_string_equal(seed_names(fx), "ca kube-proxy kubelet");
	assert_int_equal(seed_asked(fx, NULL), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
	assert_non_null(strstr(strv_join(fx->a, &fx->b.warnings, "\n"), "b/ig_spec.yaml"));
}

static void test_missing_documents(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = "/nowhere/kube_env.yaml";
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "/nowhere/kube_env.yaml"));
	fx->req.conf = seed_worker;
	assert_int_equal(unlink(seed_below(fx, SEED_BASE "/instancegroup/nodes")), 0);
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg,
			       "instance group: GET s3://" SEED_BASE "/instancegroup/nodes: "
			       "S3 404 NoSuchKey"));
	/* never looked for elsewhere */
	assert_int_equal(unlink(seed_below(fx, SEED_BASE "/cluster.spec")), 0);
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_non_null(strstr(fx->e.msg, "cluster spec: GET s3://"));
}

/* --conf is a URL: it is kept as well. */
static void test_conf_from_the_store(void **state)
{
	struct seed *fx = *state;

	seed_run((const char *const[]){ "cp", seed_worker,
					seed_below(fx, SEED_BASE "/kube_env.yaml"), NULL });
	fx->req.conf = "s3://" SEED_BASE "/kube_env.yaml";
	seed_must_load(fx);
	assert_string_equal(fx->b.conf, fx->req.conf);
	seed_must_persist(fx);
	seed_store_is_down();
	fx->req.conf = NULL;
	seed_must_load(fx);
	assert_true(fx->b.replayed);
	assert_string_equal(fx->b.conf, "s3://" SEED_BASE "/kube_env.yaml");
}

/* As any other that is not of this machine; of a secret no message shows a line. */
static void test_conf_is_the_user_data(void **state)
{
	struct seed *fx = *state;

	cloud_tell(fx->c, CLOUD_IMDS, arena_printf(fx->a, "/__user_data?file=%s", seed_worker));
	fx->req.conf = "imds";
	seed_must_load(fx);
	assert_string_equal(fx->b.key, "imds i-0123456789abcdef0");
	assert_null(fx->b.texts[0].name);
	seed_must_persist(fx);
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/user-data", "status=500&times=99");
	fx->req.conf = NULL;
	seed_must_load(fx);
	assert_true(fx->b.replayed);
	assert_string_equal(fx->b.conf, "imds");
}

static void test_last_applied(void **state)
{
	struct seed *fx = *state;
	autofree char *conf = realpath(seed_worker, NULL), *record = NULL;

	fx->req.conf = NULL;
	fx->policy.image_mode = true;
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_USAGE);
	fx->policy.image_mode = false;
	fx->req.conf = seed_worker;
	seed_must_load(fx);
	seed_must_persist(fx);
	fx->req.conf = NULL;
	seed_must_load(fx);
	assert_string_equal(fx->b.conf, conf);
	record = scratch_read(&fx->root, "/var/lib/nodeup/conf");
	assert_string_equal(record, arena_printf(fx->a, "%s\n", conf));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, seed_setup, seed_teardown)
	const struct CMUnitTest tests[] = {
		T(test_config_base_is_a_path), T(test_beside),
		T(test_missing_documents),     T(test_conf_from_the_store),
		T(test_conf_is_the_user_data), T(test_last_applied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
