#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/enc.h"
#include "tests/unit/lib/store_fixture.h"

static void have_role(struct fixture *fx, const char *id, const char *secret, const char *token)
{
	struct arena *a = fx->c->arena;
	const char *json = arena_printf(a,
					"{\"Code\":\"Success\",\"AccessKeyId\":\"%s\","
					"\"SecretAccessKey\":\"%s\",\"Token\":\"%s\","
					"\"Expiration\":\"2038-01-01T08:55:00Z\"}",
					id, secret, token);

	cloud_tell(fx->c, CLOUD_IMDS,
		   arena_printf(a, "/__set?path=iam/security-credentials/nodes&value=%s",
				enc_url(a, json, false)));
}

/* A bucket that only this key may read, which the instance's role has. */
static void go_private(struct fixture *fx)
{
	cloud_tell(fx->c, CLOUD_S3, "/__key?id=ASIA1&secret=canary-s&token=canary-t");
	have_role(fx, "ASIA1", "canary-s", "canary-t");
	fx_reopen(fx, fx->c->http, "us-west-2");
}

static int count_signed(struct fixture *fx)
{
	struct buf b = BUF_INIT(64);
	struct http_req req = { .url = cloud_url(fx->c, CLOUD_S3, "/__signed"), .no_proxy = true };
	struct err e;
	int n;

	if (http_get(fx->c->http, &req, &b, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	n = (int)strtol(buf_str(&b), NULL, 10);
	buf_done(&b);
	return n;
}

/* The fake computes the signature by itself, from what arrives. */
static void test_signed(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/a/system:dns", "token");
	fx_object(fx, "bucket/a/o d+d~&é", "odd");
	fx_object(fx, "bucket/a/z", "");
	go_private(fx);
	fx_expect(fx, "s3://bucket/a/system:dns", "token");
	fx_expect(fx, "s3://bucket/a/o d+d~&é", "odd");
	fx_expect_list(fx, "s3://bucket/a", "o d+d~&é system:dns z");
	/* two names a page */
	assert_int_equal(count_signed(fx), 4);
	assert_int_equal(fx->waits, 0);
	/* a location that is not an s3:// is nobody's to sign for */
	fx_expect_failure(fx, cloud_url(fx->c, CLOUD_S3, "/bucket/a/z"), EACCES);
	assert_int_equal(count_signed(fx), 4);
}

static void expect_no_secret(const struct err *e)
{
	assert_null(strstr(e->msg, "canary"));
	assert_null(strstr(e->msg, "ASIA1"));
	for (size_t i = 0; i < e->nnotes; i++) {
		assert_null(strstr(e->notes[i].text, "canary"));
		assert_null(strstr(e->notes[i].text, "ASIA1"));
	}
}

static void test_wrong_secret_or_token(void **state)
{
	static const struct {
		const char *secret, *token, *part;
	} cases[] = {
		{ "canary-x", "canary-t", "403 SignatureDoesNotMatch" },
		{ "canary-s", "canary-x", "400 InvalidToken" },
	};
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *text;
		struct err e;

		go_private(fx);
		have_role(fx, "ASIA1", cases[i].secret, cases[i].token);
		assert_true(fx_get(fx, "s3://bucket/k", &text, &e) < 0);
		if (!strstr(e.msg, cases[i].part))
			fail_msg("want %s got %s", cases[i].part, e.msg);
		expect_no_secret(&e);
	}
}

static void test_signed_denied(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	go_private(fx);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=AccessDenied&region=us-west-2");
	e = fx_expect_failure(fx, "s3://bucket/k", EACCES);
	assert_string_equal(
		e.msg, "GET s3://bucket/k: S3 403 AccessDenied: As asked, request REQ1, region "
		       "us-west-2, as assumed-role/nodes/i-0123456789abcdef0 (valid until 08:55 "
		       "UTC)");
	assert_non_null(fx_note(&e, "ruled out", "region (the bucket confirms us-west-2)"));
	assert_non_null(fx_note(&e, "ruled out", "clock (0 s off)"));
	assert_non_null(fx_note(&e, "ruled out", "expired token"));
	assert_non_null(fx_note(&e, "left", "s3:GetObject, kms:Decrypt, endpoint policy"));
	expect_no_secret(&e);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/", "status=403&code=AccessDenied");
	assert_true(store_list(fx->s, "s3://bucket/x", &(struct strv){ 0 }, &e) < 0);
	assert_non_null(fx_note(&e, "left", "s3:ListBucket"));
}

/* Unsigned was refused, and then there is a role: an instance profile comes seconds after boot. */
static void test_role_comes_late(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	fx_object(fx, "bucket/k", "v");
	cloud_tell(fx->c, CLOUD_S3, "/__key?id=ASIA1&secret=canary-s&token=canary-t");
	fx_reopen(fx, fx->c->http, "us-west-2");
	e = fx_expect_failure(fx, "s3://bucket/k", EACCES);
	assert_non_null(fx_note(&e, "unsigned", "the instance has no role"));
	have_role(fx, "ASIA1", "canary-s", "canary-t");
	fx_expect(fx, "s3://bucket/k", "v");
	assert_int_equal(count_signed(fx), 1);
}

/* A clock that is wrong by hours, either way: known from the answer, at once. */
static void test_clock_is_corrected(void **state)
{
	static const char *const offs[] = { "/__clock?off=7200", "/__clock?off=-7200" };
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	fx_object(fx, "bucket/l", "w");
	for (size_t i = 0; i < ARRAY_LEN(offs); i++) {
		int before = count_signed(fx);

		cloud_tell(fx->c, CLOUD_S3, offs[i]);
		go_private(fx);
		fx_expect(fx, "s3://bucket/k", "v");
		assert_int_equal(count_signed(fx) - before, 2);
		fx_expect(fx, "s3://bucket/l", "w");
		assert_int_equal(count_signed(fx) - before, 3);
		assert_true(llabs(llabs(store_clock_off(fx->s)) - 7200) <= 2);
		assert_int_equal(store_clock_off(fx->s) > 0, i == 0);
	}
	assert_int_equal(fx->waits, 0);
}

/* Side by side: each learns of the clock by itself or from the others. */
static void test_clock_is_corrected_for_many(void **state)
{
	struct fixture *fx = *state;
	struct arena *a = fx->c->arena;
	struct strv documents = { 0 };
	struct err e;

	for (int i = 0; i < 20; i++) {
		fx_object(fx, arena_printf(a, "bucket/d/%02d", i), "x");
		strv_add(a, &documents, arena_printf(a, "s3://bucket/d/%02d", i));
	}
	cloud_tell(fx->c, CLOUD_S3, "/__clock?off=5000");
	go_private(fx);
	if (store_prefetch(fx->s, &documents, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	fx_expect(fx, "s3://bucket/d/19", "x");
	assert_int_equal(fx->waits, 0);
}

/* The right time is tried once; then it is said. */
static void test_clock_only_once(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	cloud_tell(fx->c, CLOUD_S3, "/__clock?off=7200");
	go_private(fx);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=RequestTimeTooSkewed&times=99");
	e = fx_expect_failure(fx, "s3://bucket/k", EACCES);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/k"), 2);
	assert_non_null(fx_note(&e, "clock", " s off S3's; signed with S3's time"));
}

/* A server that has another time for each question must not be asked for ever. */
static void test_clock_that_runs_away(void **state)
{
	struct fixture *fx = *state;

	cloud_tell(fx->c, CLOUD_S3, "/__clock?off=7200&step=7200");
	go_private(fx);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=RequestTimeTooSkewed&times=99");
	fx_expect_failure(fx, "s3://bucket/k", EACCES);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/k"), 2);
}

static void test_expired_token_is_renewed(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	fx_object(fx, "bucket/k", "v");
	go_private(fx);
	have_role(fx, "ASIA0", "old", "old");
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=400&code=ExpiredToken");
	assert_int_equal(store_list(fx->s, "s3://bucket/none", &(struct strv){ 0 }, &e), -EACCES);
	have_role(fx, "ASIA1", "canary-s", "canary-t");
	fx_expect(fx, "s3://bucket/k", "v");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/k"), 2);
	assert_int_equal(fx->waits, 0);

	/* never newer ones: waited for as long as there is patience, and no loop */
	cloud_fault(fx->c, CLOUD_S3, "/bucket/m", "status=400&code=ExpiredToken&times=99");
	e = fx_expect_failure(fx, "s3://bucket/m", EPROTO);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/m"), 2);
	assert_non_null(strstr(e.msg, "400 ExpiredToken"));

	/* IMDS may be late with them, and the refusal is not a bad request for ever */
	fx_object(fx, "bucket/n", "x");
	cloud_fault(fx->c, CLOUD_S3, "/bucket/n", "status=400&code=ExpiredToken&times=3");
	store_set_patience(fx->s, -1);
	fx_expect(fx, "s3://bucket/n", "x");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/n"), 4);
	assert_int_equal(fx->waits, 2);
}

/* A key of the environment is what it is: nobody has to wait. */
static void test_expired_token_of_the_environment(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(setenv("AWS_ACCESS_KEY_ID", "ASIA9", 1), 0);
	assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "canary-s", 1), 0);
	go_private(fx);
	store_set_patience(fx->s, -1);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=400&code=ExpiredToken&times=99");
	fx_expect_failure(fx, "s3://bucket/k", EPROTO);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/k"), 1);
}

/* A redirect leads elsewhere, and what was signed is for here. */
static void test_signed_is_not_redirected(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	go_private(fx);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=307&location=/bucket/evil");
	fx_expect_failure(fx, "s3://bucket/k", EPROTO);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/evil"), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(test_signed),
		T(test_wrong_secret_or_token),
		T(test_signed_denied),
		T(test_role_comes_late),
		T(test_clock_is_corrected),
		T(test_clock_is_corrected_for_many),
		T(test_clock_only_once),
		T(test_clock_that_runs_away),
		T(test_expired_token_is_renewed),
		T(test_expired_token_of_the_environment),
		T(test_signed_is_not_redirected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
