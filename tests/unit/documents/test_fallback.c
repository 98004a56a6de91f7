/* Documents that stand in for those that cannot be had, and those that do not. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "tests/unit/lib/kops18_world.h"
#include "tests/unit/lib/seed_node.h"

static void test_store_unreachable(void **state)
{
	struct seed *fx = *state;

	seed_store_is_down();
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	/* of the cluster spec or the instance group, whichever was first */
	assert_true(
		str_has_prefix(fx->e.msg, "cluster spec and instance group: s3://" SEED_BASE "/"));
	assert_non_null(strstr(fx->e.msg, ": GET 'http://127.0.0.1:9/"));
	fx->req.patience.ns = DUR_SEC / 10;
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	/* a first boot has nothing to fall back on, and says so */
	assert_non_null(seed_note(fx, "kept documents: none of this instance"));
	assert_true(fx->waits > 0);
}

static void test_replay(void **state)
{
	struct seed *fx = *state;
	struct stat st;

	fx->req.conf = seed_master;
	seed_must_load(fx);
	assert_string_equal(fx->b.key, "s3://" SEED_BASE " i-0123456789abcdef0");
	seed_must_persist(fx);
	assert_true(scratch_stat(&fx->root, "/var/lib/nodeup/documents.json", &st));
	assert_int_equal(st.st_mode & 07777, 0600);

	seed_store_is_down();
	fx->req.patience.ns = DUR_SEC / 10;
	seed_must_load(fx);
	assert_true(fx->b.replayed);
	assert_true(fx->b.replay_age_ns >= 0 && fx->b.replay_age_ns < 600 * DUR_SEC);
	assert_true(fx->b.node.keypairs.n >= 10);
	assert_non_null(strmap_get(&fx->b.node.secrets, "kube"));
	assert_non_null(strstr(strv_join(fx->a, &fx->b.warnings, "\n"), "ago are used: "));

	/* somebody else's node, or not told that it may */
	fx->policy.mode = MODE_VALIDATE;
	assert_true(seed_load(fx) < 0);
	fx->policy.mode = MODE_APPLY;
	cloud_tell(fx->c, CLOUD_IMDS, "/__set?path=instance-id&value=i-2");
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	cloud_fault(fx->c, CLOUD_IMDS, SEED_ID, "status=500");
	assert_true(seed_load(fx) < 0);
	assert_non_null(seed_note(fx, "the id of this instance is not known"));
}

/* A store that answers that something is gone is not down. */
static void test_no_replay_for_what_is_gone(void **state)
{
	struct seed *fx = *state;

	seed_must_load(fx);
	seed_must_persist(fx);
	assert_int_equal(unlink(seed_below(fx, SEED_BASE "/cluster.spec")), 0);
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
}

static void test_offline(void **state)
{
	struct seed *fx = *state;

	seed_write(fx, "facts.yaml", "instanceID: i-0123456789abcdef0\nlocalHostname: ip-1\n");
	seed_must_load(fx);
	seed_must_persist(fx);
	fx->policy.offline = true;
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	cloud_tell(fx->c, CLOUD_IMDS, "/__reset");
	cloud_tell(fx->c, CLOUD_S3, "/__reset");
	seed_must_load(fx);
	assert_true(fx->b.replayed);
	assert_int_equal(seed_asked(fx, NULL), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
	/* replayed documents do not become younger */
	seed_must_persist(fx);
	assert_int_equal(fx->b.node.keypairs.n, 3);
}

/* The id of this instance was asked in this boot, and is not asked again. The metadata service is no server of documents. */
static void test_offline_in_the_same_boot(void **state)
{
	static const char boot_id[] = "/proc/sys/kernel/random/boot_id";
	struct seed *fx = *state;

	scratch_write(&fx->root, boot_id, "boot-1\n");
	seed_must_load(fx);
	seed_must_persist(fx);
	assert_string_equal(bootstrap_kept(fx->a, fx->root.fd) ? "kept" : "", "kept");
	fx->policy.offline = true;
	cloud_tell(fx->c, CLOUD_IMDS, "/__reset");
	seed_must_load(fx);
	assert_non_null(strstr(world_host_name(&fx->b.node), "ip-10-0-0-7."));
	assert_int_equal(seed_asked(fx, NULL),
			 1); /* whether it answers kubelet, which has no token */
	/* a disk that another instance may have booted from */
	scratch_write(&fx->root, boot_id, "boot-2\n");
	assert_null(bootstrap_kept(fx->a, fx->root.fd));
	fx->policy.no_metadata = true;
	assert_true(seed_load(fx) < 0);
	assert_non_null(seed_note(fx, "the id of this instance is not known"));
	fx->policy.no_metadata = false;
	seed_must_load(fx);
	assert_true(fx->b.replayed && seed_asked(fx, SEED_HOSTNAME) == 1);
}

/* The node's kube_env.yaml, below the temporary directory; the name of the instance is known. */
static char *own_conf(struct seed *fx)
{
	char *conf = seed_rebase(fx, seed_worker, "s3://" SEED_BASE, "node/kube_env.yaml");

	seed_write(fx, "facts.yaml", "instanceID: i-1\nlocalHostname: ip-1\n");
	fx->req.facts_file = seed_below(fx, "facts.yaml");
	fx->req.conf = conf;
	seed_must_load(fx);
	seed_must_persist(fx);
	assert_int_equal(fx->b.n_lost, 0);
	return conf;
}

static void test_a_lost_conf_is_kept(void **state)
{
	struct seed *fx = *state;
	char *conf = own_conf(fx);
	const char *text = seed_content(fx, "node/kube_env.yaml"), *warned;

	assert_int_equal(unlink(conf), 0);
	for (int i = 0; i < 2; i++) {
		/* the last one applied, and the one that our unit names */
		fx->req.conf = i ? conf : NULL;
		seed_must_load(fx);
		assert_string_equal(fx->b.conf, conf);
		assert_string_equal(fx->b.lost[0].text, text);
		assert_string_equal(fx->b.node.cluster_name, "abc.joshdurbin.net");
		/* the store is there: the rest is as of now */
		assert_false(fx->b.replayed);
		warned = strv_join(fx->a, &fx->b.warnings, "\n");
		assert_non_null(strstr(warned, arena_printf(fx->a, "%s is gone; ", conf)));
		assert_non_null(strstr(warned, " UTC, of i-1"));
	}
	/* what is put back is kept as before */
	seed_must_persist(fx);
	seed_must_load(fx);
	seed_store_is_down();
	seed_must_load(fx);
	assert_true(fx->b.replayed);
	assert_string_equal(fx->b.lost[0].text, text);
	/* with its folder, too */
	assert_int_equal(rmdir(seed_below(fx, "node")), 0);
	seed_must_load(fx);
	assert_string_equal(fx->b.lost[0].text, text);
}

/* The file on this machine is the newer one, whatever is kept. */
static void test_a_conf_that_is_there_is_read(void **state)
{
	struct seed *fx = *state;
	char *conf = own_conf(fx);

	seed_write(fx, "node/kube_env.yaml",
		   arena_printf(fx->a, "%s\npackages: [mine]\n",
				seed_content(fx, "node/kube_env.yaml")));
	seed_store_is_down();
	seed_must_load(fx);
	assert_true(fx->b.replayed);
	assert_int_equal(fx->b.n_lost, 0);
	assert_string_equal(fx->b.conf, conf);
	assert_int_equal(fx->b.node.packages.n, 1);
}

static void test_a_lost_conf_of_another_instance(void **state)
{
	struct seed *fx = *state;
	char *conf = own_conf(fx);

	assert_int_equal(unlink(conf), 0);
	seed_write(fx, "facts.yaml", "instanceID: i-2\nlocalHostname: ip-1\n");
	for (int i = 0; i < 2; i++) {
		fx->req.conf = i ? conf : NULL;
		assert_true(seed_load(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_CONFIG);
		assert_non_null(strstr(fx->e.msg, conf));
		assert_non_null(strstr(fx->e.msg, "kept documents are of i-1, and this is i-2"));
	}
}

static void test_a_lost_conf_and_nothing_kept(void **state)
{
	struct seed *fx = *state;
	char *conf = own_conf(fx);

	assert_int_equal(unlink(conf), 0);
	scratch_write(&fx->root, "/var/lib/nodeup/documents.json", "{");
	fx->req.conf = NULL;
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg,
			       arena_printf(fx->a, "%s, which was applied last, is gone", conf)));
	/* never was applied here: no copy stands in for a name that was mistyped */
	fx->req.conf = seed_below(fx, "node/kube_enw.yaml");
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_null(strstr(fx->e.msg, "kept"));
	/* nothing at all: a command line that says too little */
	assert_int_equal(unlinkat(fx->root.fd, "var/lib/nodeup/conf", 0), 0);
	fx->req.conf = NULL;
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_USAGE);
	assert_non_null(strstr(fx->e.msg, "nothing was applied yet"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, seed_setup, seed_teardown)
	const struct CMUnitTest tests[] = {
		T(test_store_unreachable),
		T(test_replay),
		T(test_no_replay_for_what_is_gone),
		T(test_offline),
		T(test_offline_in_the_same_boot),
		T(test_a_lost_conf_is_kept),
		T(test_a_conf_that_is_there_is_read),
		T(test_a_lost_conf_of_another_instance),
		T(test_a_lost_conf_and_nothing_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
