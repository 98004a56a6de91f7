/* Key pairs and secrets, as the store has them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/seed_node.h"

#define ISSUED SEED_BASE "/pki/issued/kubelet/"
#define PRIVATE SEED_BASE "/pki/private/kubelet/"
#define SERIAL "7710425790609754113396402942"
#define KOPS "7710425791189541713288795883"
#define CA SEED_BASE "/pki/issued/ca/"

static void test_newest_serial(void **state)
{
	struct seed *fx = *state;
	const char *old = "9999999999999999999999999999", *new = "17710425790609754113396402942";

	/* larger as text, smaller as a number than the other */
	seed_copy(fx, ISSUED SERIAL ".crt", arena_printf(fx->a, ISSUED "%s.crt", old));
	seed_copy(fx, PRIVATE SERIAL ".key", arena_printf(fx->a, PRIVATE "%s.key", old));
	seed_copy(fx, SEED_BASE "/pki/issued/kops/" KOPS ".crt",
		  arena_printf(fx->a, ISSUED "%s.crt", new));
	seed_copy(fx, SEED_BASE "/pki/private/kops/" KOPS ".key",
		  arena_printf(fx->a, PRIVATE "%s.key", new));
	seed_write(fx, ISSUED "keyset.yaml", "kind: Keyset\n");
	seed_write(fx, ISSUED "99999999999999999999999999999999x.crt", "not a serial");
	seed_must_load(fx);
	assert_string_equal(node_keypair(&fx->b.node, "kubelet")->cert,
			    seed_content(fx, SEED_BASE "/pki/issued/kops/" KOPS ".crt"));
	assert_string_equal(node_keypair(&fx->b.node, "kubelet")->key,
			    seed_content(fx, SEED_BASE "/pki/private/kops/" KOPS ".key"));
	assert_null(node_keypair(&fx->b.node, "kubelet")->pool);
	assert_true(strv_has(&fx->b.warnings,
			     "s3://" ISSUED "99999999999999999999999999999999x.crt: ignored, its "
			     "name is not a serial"));
}

static void test_pool_of_the_ca(void **state)
{
	struct seed *fx = *state;
	const char *ca = seed_content(fx, CA "7710425789003051302500238632.crt");

	seed_copy(fx, SEED_BASE "/pki/issued/kops/" KOPS ".crt", CA "9.crt");
	seed_copy(fx, ISSUED SERIAL ".crt", CA "10.crt");
	seed_must_load(fx);
	assert_string_equal(node_keypair(&fx->b.node, "ca")->cert, ca);
	assert_string_equal(node_keypair(&fx->b.node, "ca")->pool,
			    arena_printf(fx->a, "%s%s%s", ca, seed_content(fx, CA "10.crt"),
					 seed_content(fx, CA "9.crt")));
	seed_write(fx, CA "9.crt", "SECRET");
	assert_true(seed_load(fx) < 0);
	assert_string_equal(fx->e.msg,
			    "key pair ca: s3://" CA "9.crt: keypair ca: no PEM certificate");
}

/* A token of the user's own logs in like those that kops made. */
static void test_every_secret_of_the_store(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = seed_master;
	seed_write(fx, SEED_BASE "/secrets/robot", "{\"Data\":\"dG9rZW4=\"}");
	seed_write(fx, SEED_BASE "/secrets/a,b", "{\"Data\":\"dG9rZW4=\"}");
	seed_must_load(fx);
	assert_string_equal(strmap_get(&fx->b.node.secrets, "robot"), "token");
	assert_true(strv_has(&fx->b.warnings,
			     "s3://" SEED_BASE "/secrets/a,b: ignored, no such name can "
			     "be a user's"));
}

/* kops goes on without the aggregator; we too, but not in silence. */
static void test_what_is_left_out_is_told(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = seed_master;
	tmp_remove(seed_below(fx, SEED_BASE "/pki/issued/apiserver-aggregator"));
	seed_must_load(fx);
	assert_null(node_keypair(&fx->b.node, "apiserver-aggregator"));
	assert_true(strv_has(&fx->b.warnings,
			     "key pair apiserver-aggregator is left out, as kops does: no "
			     "certificate in s3://" SEED_BASE "/pki/issued/apiserver-aggregator"));
}

static void test_key_of_another_serial_is_none(void **state)
{
	struct seed *fx = *state;

	seed_copy(fx, ISSUED SERIAL ".crt", ISSUED "99999999999999999999999999999.crt");
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg,
			    "missing key pair kubelet: s3://" SEED_BASE "/pki/private/kubelet/"
			    "99999999999999999999999999999.key is not there");
}

static void test_missing_key_pairs(void **state)
{
	struct seed *fx = *state;

	fx->req.patience.ns = -1;
	assert_int_equal(unlink(seed_below(fx, ISSUED SERIAL ".crt")), 0);
	tmp_remove(seed_below(fx, SEED_BASE "/pki/issued/kube-proxy"));
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg, "missing key pair kubelet: no certificate in s3://" SEED_BASE
				       "/pki/issued/kubelet");
	assert_non_null(seed_note(fx, "kube-proxy"));
	/* nothing was written */
	assert_int_equal(scratch_count(&fx->root, "/var"), 0);
	assert_int_equal(fx->waits, 0);
}

static void test_missing_secret(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = seed_master;
	assert_int_equal(unlink(seed_below(fx, SEED_BASE "/secrets/kube")), 0);
	assert_int_equal(seed_load(fx), -ENOENT);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_non_null(strstr(fx->e.msg, "missing secret kube: s3://" SEED_BASE "/secrets/kube"));
}

static void test_bad_secret_is_not_shown(void **state)
{
	struct seed *fx = *state;

	fx->req.conf = seed_master;
	seed_write(fx, SEED_BASE "/secrets/kube", "{\"Data\": \"canary!!\"}");
	assert_true(seed_load(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_null(strstr(fx->e.msg, "canary"));
	seed_write(fx, SEED_BASE "/secrets/kube", "{\"Data\": canary");
	assert_true(seed_load(fx) < 0);
	assert_null(strstr(fx->e.msg, "canary"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, seed_setup, seed_teardown)
	const struct CMUnitTest tests[] = {
		T(test_newest_serial),
		T(test_pool_of_the_ca),
		T(test_every_secret_of_the_store),
		T(test_what_is_left_out_is_told),
		T(test_key_of_another_serial_is_none),
		T(test_missing_key_pairs),
		T(test_missing_secret),
		T(test_bad_secret_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
