#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/lib/kops18_world.h"
#include "tests/unit/lib/seed_node.h"

#define ISSUED SEED_BASE "/pki/issued/kubelet/"
#define PRIVATE SEED_BASE "/pki/private/kubelet/"
#define SERIAL "7710425790609754113396402942"

static void test_worker(void **state)
{
	struct seed *fx = *state;

	seed_must_load(fx);
	assert_string_equal(fx->b.node.cluster_name, "abc.joshdurbin.net");
	assert_false(fx->b.node.is_master);
	assert_string_equal(seed_names(fx), "ca kube-proxy kubelet");
	assert_null(node_keypair(&fx->b.node, "ca")->key);
	assert_non_null(strstr(node_keypair(&fx->b.node, "kubelet")->key, "PRIVATE KEY"));
	assert_string_equal(fx->b.facts.local_hostname, "ip-10-0-0-7.us-west-2.compute.internal");
	assert_string_equal(world_host_name(&fx->b.node), fx->b.facts.local_hostname);
	assert_string_equal(fx->b.facts.distribution, "debian");
	assert_string_equal(fx->b.runtime.unit, "docker.service");
	assert_false(fx->b.replayed);
	/* a token, the role, the one fact that the documents want, the name to keep them by, and whether it needs a token */
	assert_int_equal(seed_asked(fx, NULL), 5);
	assert_int_equal(seed_asked(fx, SEED_ID), 2);
	assert_true(fx->b.imds_lacks_version1);
	assert_int_equal(seed_asked(fx, SEED_ROLE), 1);
	assert_int_equal(seed_asked(fx, SEED_HOSTNAME), 1);
	assert_int_equal(fx->waits, 0);
}

/* Kubelet's question is asked once a boot, if it is answered; each load asks for the id of the instance. */
static void test_version1_is_asked_once(void **state)
{
	static const char record[] = "/run/nodeup/imds-version-1";
	struct seed *fx = *state;
	struct stat st;

	seed_must_load(fx);
	seed_must_persist(fx);
	assert_false(scratch_stat(&fx->root, record, &st));
	cloud_tell(fx->c, CLOUD_IMDS, "/__tokens?http=optional");
	seed_must_load(fx);
	assert_false(fx->b.imds_lacks_version1);
	assert_int_equal(seed_asked(fx, SEED_ID), 4);
	seed_must_persist(fx);
	assert_true(scratch_stat(&fx->root, record, &st));
	seed_must_load(fx);
	seed_must_persist(fx);
	assert_int_equal(seed_asked(fx, SEED_ID), 5);
	assert_int_equal(unlinkat(fx->root.fd, record + 1, 0), 0);
	cloud_fault(fx->c, CLOUD_IMDS, SEED_ID, "status=500&times=2");
	seed_must_load(fx);
	assert_false(fx->b.imds_lacks_version1);
	assert_int_equal(seed_asked(fx, SEED_ID), 7);
	seed_must_persist(fx);
	assert_false(scratch_stat(&fx->root, record, &st));
}

static void test_master(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = seed_master;
	seed_must_load(fx);
	assert_true(fx->b.node.is_master);
	assert_true(fx->b.node.keypairs.n >= 10);
	assert_non_null(node_keypair(&fx->b.node, "ca")->key);
	assert_non_null(strmap_get(&fx->b.node.secrets, "kube"));
	assert_non_null(strmap_get(&fx->b.node.secrets, "system:controller_manager"));
	/* not in the store, and not needed */
	assert_null(strmap_get(&fx->b.node.secrets, "dockerconfig"));
}

static void test_facts_file_leaves_nothing_to_ask(void **state)
{
	struct seed *fx = *state;

	seed_write(fx, "facts.yaml", "localHostname: ip-1\ninstanceID: i-1\nversion: '11'\n");
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	seed_must_load(fx);
	assert_string_equal(world_host_name(&fx->b.node), "ip-1");
	assert_string_equal(fx->b.facts.version, "11");
	assert_string_equal(fx->b.facts.distribution, "debian");
	/* but who signs: a token, and the role */
	assert_int_equal(seed_asked(fx, NULL), 2);
	assert_int_equal(seed_asked(fx, SEED_ROLE), 1);
	assert_string_equal(fx->b.key, "s3://" SEED_BASE " i-1");
}

static void test_bad_facts_file(void **state)
{
	struct seed *fx = *state;

	fx->req.facts_file = seed_below(fx, "no-facts.yaml");
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	seed_write(fx, "facts.yaml", "instanceId: i-1\nnonsense: x\n");
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "facts.yaml:"));
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
}

static void test_image(void **state)
{
	struct seed *fx = *state;

	fx->policy.image_mode = true;
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "localHostname"));
	seed_write(fx, "facts.yaml", "localHostname: ip-1\narch: amd64\n");
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	seed_must_load(fx);
	assert_string_equal(fx->b.runtime.unit, "docker.service");
	assert_null(fx->b.key);
	assert_null(fx->b.imds);
	assert_int_equal(seed_asked(fx, NULL), 0);
}

/* validate and userdata run where no node is. */
static void test_documents_only(void **state)
{
	struct seed *fx = *state;

	fx->policy.mode = MODE_VALIDATE;
	assert_int_equal(unlinkat(fx->root.fd, "etc/os-release", 0), 0);
	assert_int_equal(unlink(seed_below(fx, ISSUED SERIAL ".crt")), 0);
	seed_must_load(fx);
	assert_int_equal(fx->b.node.keypairs.n, 0);
	assert_string_equal(world_host_name(&fx->b.node), "@aws");
	assert_int_equal(seed_asked(fx, NULL), 0);
	fx->policy.mode = MODE_APPLY;
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "distribution"));
}

/* Of documents and keys, though the metadata service does not answer. */
static void test_all_that_is_wrong(void **state)
{
	static const char spoil[] =
		"cd $0; echo '  isolateMasters: x' >>cluster.spec; rm -r pki/issued/ca";
	struct seed *fx = *state;
	struct errs others = { .arena = fx->a };

	seed_run((const char *const[]){ "sh", "-c", spoil, seed_below(fx, SEED_BASE), NULL });
	cloud_fault(fx->c, CLOUD_IMDS, SEED_HOSTNAME, "status=500&times=9");
	fx->req.other_errors = &others;
	assert_true(seed_load(fx) < 0 && others.n == 2 && strstr(others.v[1].msg, "key pair ca"));
}

static void test_own_name_not_to_be_had(void **state)
{
	struct seed *fx = *state;

	cloud_fault(fx->c, CLOUD_IMDS, SEED_HOSTNAME, "status=500&times=2");
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	assert_true(str_has_prefix(fx->e.msg,
				   "hostnameOverride '@aws': fact localHostname: instance "
				   "metadata: GET "));
	fx->req.patience.ns = -1;
	seed_must_load(fx);
	assert_int_equal(fx->waits, 1);
	assert_int_equal(seed_asked(fx, SEED_HOSTNAME), 3);
}

static void test_bad_documents(void **state)
{
	static const struct {
		const char *path, *text, *part;
	} cases[] = {
		{ SEED_BASE "/cluster.spec", "spec: [", "cluster.spec:2:" },
		{ SEED_BASE "/instancegroup/nodes", "a: 1\na: 2\n", "instancegroup/nodes:2:1" },
		{ ISSUED SERIAL ".crt", "no pem", "pki/issued/kubelet/" SERIAL ".crt" },
	};
	struct seed *fx = *state;

	fx->req.patience.ns = -1;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *kept = arena_printf(fx->a, "%s.kept", cases[i].path);

		seed_copy(fx, cases[i].path, kept);
		seed_write(fx, cases[i].path, cases[i].text);
		assert_true(seed_load(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		if (!strstr(fx->e.msg, cases[i].part))
			fail_msg("%s", fx->e.msg);
		seed_copy(fx, kept, cases[i].path);
	}
}

/* Two round trips for a master's keys, however many there are. */
static void test_each_object_is_asked_for_once(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = seed_master;
	seed_must_load(fx);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/" SEED_BASE "/cluster.spec"), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/" SEED_BASE "/secrets/kube"), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/" PRIVATE SERIAL ".key"), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, seed_setup, seed_teardown)
	const struct CMUnitTest tests[] = {
		T(test_worker),
		T(test_version1_is_asked_once),
		T(test_master),
		T(test_facts_file_leaves_nothing_to_ask),
		T(test_bad_facts_file),
		T(test_image),
		T(test_documents_only),
		T(test_all_that_is_wrong),
		T(test_own_name_not_to_be_had),
		T(test_bad_documents),
		T(test_each_object_is_asked_for_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
