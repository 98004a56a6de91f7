#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeup/aws/creds.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "tests/unit/lib/cloud.h"

#define ROLES "/latest/meta-data/iam/security-credentials/"

struct fixture {
	struct cloud *c;
	struct imds *imds;
	struct creds *creds;
	struct creds_now now;
	struct err e;
};

static void reopen(struct fixture *fx, struct imds *imds)
{
	creds_free(fx->creds);
	fx->creds = creds_new(imds);
}

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	fx->c = cloud_start(NULL);
	fx->imds = imds_new(fx->c->http);
	reopen(fx, fx->imds);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	creds_free(fx->creds);
	imds_free(fx->imds);
	cloud_stop(fx->c);
	free(fx);
	return 0;
}

static int get(struct fixture *fx)
{
	fx->e = (struct err){ 0 };
	fx->now = (struct creds_now){ 0 };
	return creds_get(fx->creds, &fx->now, &fx->e);
}

static void must_get(struct fixture *fx)
{
	if (get(fx) < 0)
		fail_msg("%s", fx->e.msg);
}

static const char *who(struct fixture *fx)
{
	return creds_who(fx->creds, fx->c->arena);
}

static void set_role(struct fixture *fx, const char *json)
{
	struct arena *a = fx->c->arena;

	cloud_tell(fx->c, CLOUD_IMDS,
		   arena_printf(a, "/__set?path=iam/security-credentials/nodes.prod&value=%s",
				enc_url(a, json, false)));
}

/* A role with credentials good for so many seconds. */
static void have_role(struct fixture *fx, const char *id, int64_t seconds)
{
	time_t until = dur_wall() / DUR_SEC + seconds;
	char expires[32];
	struct tm tm;

	(void)strftime(expires, sizeof(expires), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&until, &tm));
	set_role(fx,
		 arena_printf(fx->c->arena,
			      "{\"Code\":\"Success\",\"AccessKeyId\":\"%s\",\"SecretAccessKey\":"
			      "\"canary-secret\",\"Token\":\"canary-token\",\"Expiration\":\"%s\"}",
			      id, expires));
}

static int asked(struct fixture *fx, const char *path)
{
	return cloud_count(fx->c, CLOUD_IMDS, path);
}

static void set(const char *name, const char *value)
{
	assert_int_equal(setenv(name, value, 1), 0);
}

static void test_role(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	assert_int_equal(asked(fx, NULL), 0);
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA1");
	assert_string_equal(fx->now.key->secret, "canary-secret");
	assert_string_equal(fx->now.key->token, "canary-token");
	assert_true(llabs(fx->now.time - dur_wall() / DUR_SEC) <= 1);
	must_get(fx);
	/* token, list, credentials: once */
	assert_int_equal(asked(fx, NULL), 3);
	assert_true(str_has_prefix(who(fx),
				   "assumed-role/nodes.prod/i-0123456789abcdef0 (valid until "));
	assert_null(strstr(who(fx), "canary"));
	assert_null(strstr(who(fx), "ASIA"));
}

static void test_environment_first(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	set("AWS_ACCESS_KEY_ID", "AKIA1");
	set("AWS_SECRET_ACCESS_KEY", "canary");
	must_get(fx);
	assert_string_equal(fx->now.key->id, "AKIA1");
	assert_string_equal(fx->now.key->secret, "canary");
	assert_null(fx->now.key->token);
	assert_string_equal(who(fx), "the key of AWS_ACCESS_KEY_ID");
	assert_false(creds_refused(fx->creds, fx->now.serial));
	assert_int_equal(asked(fx, NULL), 0);

	set("AWS_SESSION_TOKEN", "T");
	reopen(fx, NULL);
	must_get(fx);
	assert_string_equal(fx->now.key->token, "T");
}

/* kops' own variables are for kops' own endpoint, and a role of AWS is not. */
static void test_s3_endpoint(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	set("S3_ACCESS_KEY_ID", "KOPS");
	set("S3_SECRET_ACCESS_KEY", "canary");
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA1");

	assert_int_equal(unsetenv("AWS_ENDPOINT_URL_S3"), 0);
	set("S3_ENDPOINT", "https://minio.example");
	reopen(fx, fx->imds);
	must_get(fx);
	assert_string_equal(fx->now.key->id, "KOPS");
	assert_null(fx->now.key->token);

	assert_int_equal(unsetenv("S3_ACCESS_KEY_ID"), 0);
	assert_int_equal(unsetenv("S3_SECRET_ACCESS_KEY"), 0);
	reopen(fx, fx->imds);
	must_get(fx);
	assert_null(fx->now.key);
	assert_false(creds_refused(fx->creds, fx->now.serial));
}

static void test_half_a_key(void **state)
{
	struct fixture *fx = *state;

	set("AWS_ACCESS_KEY_ID", "AKIA1");
	assert_true(get(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_string_equal(fx->e.msg, "credentials: AWS_ACCESS_KEY_ID is set, "
				       "AWS_SECRET_ACCESS_KEY is not");
	set("AWS_SECRET_ACCESS_KEY", "canary\r\nX-Evil: 1");
	assert_true(get(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_CONFIG);
	assert_null(strstr(fx->e.msg, "canary"));
}

static void test_no_role(void **state)
{
	struct fixture *fx = *state;

	must_get(fx);
	assert_null(fx->now.key);
	assert_string_equal(who(fx), "the instance has no role");
	must_get(fx);
	assert_int_equal(asked(fx, ROLES), 1);
	/* a profile may be attached late: asked again when the unsigned request was refused */
	have_role(fx, "ASIA1", 3600);
	assert_true(creds_refused(fx->creds, fx->now.serial));
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA1");

	reopen(fx, NULL);
	must_get(fx);
	assert_null(fx->now.key);
	assert_string_equal(who(fx), "no key in the environment");
}

/* Unsigned for now; what kept it from being asked is said. */
static void test_imds_down(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	cloud_fault(fx->c, CLOUD_IMDS, ROLES, "status=500");
	must_get(fx);
	assert_null(fx->now.key);
	assert_non_null(strstr(who(fx), "cannot be asked: instance metadata: "));
	assert_true(creds_refused(fx->creds, fx->now.serial));
	must_get(fx);
	assert_non_null(fx->now.key);
}

/* One answer that does not come is not a reason to drop what still holds. */
static void test_role_cannot_be_listed(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	must_get(fx);
	creds_set_clock(fx->creds, dur_wall() / DUR_SEC + 3600 - 100);
	have_role(fx, "ASIA2", 7200);
	cloud_fault(fx->c, CLOUD_IMDS, ROLES, "status=500");
	must_get(fx);
	assert_non_null(fx->now.key);
	assert_string_equal(fx->now.key->id, "ASIA1");
	assert_int_equal(asked(fx, ROLES), 2);
	/* what is over holds no more */
	creds_set_clock(fx->creds, dur_wall() / DUR_SEC + 3600 + 100);
	assert_true(creds_are_over(fx->creds));
}

/* The name of a role is there before what belongs to it. */
static void test_credentials_come_late(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	cloud_fault(fx->c, CLOUD_IMDS, ROLES "nodes.prod", "status=404&times=2");
	for (int i = 0; i < 2; i++) {
		assert_true(get(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_NET);
		assert_int_not_equal(fx->e.errnum, ENOENT);
		assert_string_equal(
			fx->e.msg,
			"credentials: role nodes.prod has no credentials: not there yet");
	}
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA1");
}

static void test_bad_answers(void **state)
{
	static const struct {
		const char *json, *part;
	} cases[] = {
		{ "canary", "not a JSON" },
		{ "[]", "not a JSON" },
		{ "{\"Code\":\"AssumeRoleUnauthorizedAccess\"}", "AssumeRoleUnauthorizedAccess" },
		{ "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"canary\"}", "lacks" },
		{ "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"canary\",\"Token\":\"a\\r\\nX: y\","
		  "\"Expiration\":\"2038-01-01T00:00:00Z\"}",
		  "lacks" },
		{ "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"canary\",\"Token\":\"t\"}",
		  "until when" },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		set_role(fx, cases[i].json);
		assert_true(get(fx) < 0);
		assert_int_equal(fx->e.kind, ERR_NET);
		if (!strstr(fx->e.msg, cases[i].part) || strstr(fx->e.msg, "canary"))
			fail_msg("%s: %s", cases[i].json, fx->e.msg);
	}
}

/* Five minutes before the end there are others. */
static void test_renewed_before_expiry(void **state)
{
	struct fixture *fx = *state;
	int64_t here = dur_wall() / DUR_SEC;

	have_role(fx, "ASIA1", 3600);
	must_get(fx);
	have_role(fx, "ASIA2", 7200);
	creds_set_clock(fx->creds, here + 3600 - 310);
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA1");
	creds_set_clock(fx->creds, here + 3600 - 299);
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA2");
	assert_int_equal(asked(fx, ROLES), 2);
}

/* What comes may be about to expire, too, or our clock be wrong: IMDS is not asked without pause. */
static void test_renewed_with_pauses(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", -3600);
	for (int i = 0; i < 3; i++) {
		must_get(fx);
		assert_string_equal(fx->now.key->id, "ASIA1");
	}
	assert_int_equal(asked(fx, ROLES), 1);
}

/* The server knows better than our clock. */
static void test_refused(void **state)
{
	struct fixture *fx = *state;
	unsigned int first;

	have_role(fx, "ASIA1", 3600);
	must_get(fx);
	first = fx->now.serial;
	have_role(fx, "ASIA2", 3600);
	assert_true(creds_refused(fx->creds, first));
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA2");
	/* another request of the old ones' time: that was dealt with */
	assert_true(creds_refused(fx->creds, first));
	must_get(fx);
	assert_int_equal(asked(fx, ROLES), 2);
	/* there are no others: an error, not a request that fails for sure */
	cloud_fault(fx->c, CLOUD_IMDS, ROLES "nodes.prod", "status=500&times=1");
	assert_true(creds_refused(fx->creds, fx->now.serial));
	assert_true(get(fx) < 0);
	assert_int_equal(fx->e.kind, ERR_NET);
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA2");
}

/* An old pair that is about to expire is better than none. */
static void test_renewal_may_fail(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", 3600);
	must_get(fx);
	cloud_fault(fx->c, CLOUD_IMDS, ROLES "nodes.prod", "status=500&times=99");
	creds_set_clock(fx->creds, dur_wall() / DUR_SEC + 3600 - 120);
	must_get(fx);
	must_get(fx);
	assert_string_equal(fx->now.key->id, "ASIA1");
	assert_int_equal(asked(fx, ROLES), 2);
}

static void test_clock(void **state)
{
	struct fixture *fx = *state;
	int64_t here = dur_wall() / DUR_SEC;

	assert_int_equal(creds_clock_off(fx->creds), 0);
	creds_set_clock(fx->creds, here - 7000);
	must_get(fx);
	assert_true(llabs(fx->now.time - (here - 7000)) <= 2);
	assert_true(llabs(creds_clock_off(fx->creds) + 7000) <= 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_role),
		T(test_environment_first),
		T(test_s3_endpoint),
		T(test_half_a_key),
		T(test_no_role),
		T(test_imds_down),
		T(test_role_cannot_be_listed),
		T(test_credentials_come_late),
		T(test_bad_answers),
		T(test_renewed_before_expiry),
		T(test_renewed_with_pauses),
		T(test_refused),
		T(test_renewal_may_fail),
		T(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
