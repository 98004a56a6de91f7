#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "tests/unit/lib/ec2_fake.h"

static const char state_text[] =
	"\"volumes\": {\"vol-1\": {}, \"vol-2\": {}, \"vol-4\": {}, \"vol-5\": {}, "
	"\"vol-3\": {\"instance\": \"i-2\", \"device\": \"/dev/xvdu\", \"attachment\": \"attaching\"}}";

static int setup(void **state)
{
	*state = ec2_fake_start(state_text);
	return 0;
}

static int teardown(void **state)
{
	ec2_fake_stop(*state);
	return 0;
}

static int ask_all(struct ec2_fake *f, struct query *c, struct ec2_volumes *ret, struct err *e)
{
	/* the last is not known there */
	static const char *const ids[] = { "vol-1", "vol-3", "vol-4", "vol-5", "vol-6" };
	struct strv want = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		strv_add(f->arena, &want, ids[i]);
	return ec2_describe_volumes(c, f->arena, &want, ret, e);
}

static void test_volumes_page_by_page(void **state)
{
	struct ec2_fake *f = *state;
	struct ec2_volumes all = { 0 };
	struct err e = { 0 };

	if (ask_all(f, f->ec2, &all, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(all.n, 4);
	assert_int_equal(ec2_fake_count(f, "DescribeVolumes"), 2);
	assert_string_equal(all.v[1].id, "vol-3");
	assert_string_equal(all.v[1].state, "in-use");
	assert_string_equal(all.v[1].instance, "i-2");
	assert_string_equal(all.v[1].device, "/dev/xvdu");
	assert_string_equal(all.v[1].attachment, "attaching");
	assert_string_equal(all.v[2].state, "available");
	assert_string_equal(all.v[2].instance, "");
}

static int ask(struct ec2_fake *f, struct query *c, struct err *e)
{
	struct ec2_volumes ignored = { 0 };

	return ask_all(f, c, &ignored, e);
}

static void test_a_wrong_key_is_refused(void **state)
{
	static const char *const names[] = { "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
					     "AWS_ACCESS_KEY_ID" };
	struct ec2_fake *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *before = xstrdup(getenv(names[i]));
		struct err e = { 0 };
		struct query *c;

		assert_int_equal(setenv(names[i], "WRONG", 1), 0);
		c = ec2_new(&(struct query_req){ .http = f->http });
		assert_int_equal(ask(f, c, &e), -EKEYEXPIRED);
		assert_int_equal(e.kind, ERR_NET);
		assert_null(strstr(e.msg, "WRONG"));
		assert_string_equal(e.notes[e.nnotes - 1].text,
				    "the key of AWS_ACCESS_KEY_ID, region us-west-2");
		query_free(c);
		assert_int_equal(setenv(names[i], before, 1), 0);
	}
}

static void test_nobody_is_asked_without_credentials(void **state)
{
	struct ec2_fake *f = *state;
	struct err e = { 0 };
	struct query *c;

	assert_int_equal(unsetenv("AWS_ACCESS_KEY_ID"), 0);
	assert_int_equal(unsetenv("AWS_SECRET_ACCESS_KEY"), 0);
	c = ec2_new(&(struct query_req){ .http = f->http });
	assert_int_equal(ask(f, c, &e), -EKEYEXPIRED);
	assert_int_equal(e.kind, ERR_NET);
	assert_string_equal(e.msg, "DescribeVolumes: no credentials: no key in the "
				   "environment");
	assert_string_equal(ec2_fake_log(f), "[]");
	query_free(c);
}

/* The question is given up at the deadline, not when the server says something. */
static void test_a_silent_server(void **state)
{
	struct ec2_fake *f = *state;
	struct err e = { 0 };

	ec2_fake_fault(f, "DescribeVolumes&hang=1");
	query_set_deadline(f->ec2, dur_now() + 50 * DUR_MS);
	assert_int_equal(ask(f, f->ec2, &e), -ETIMEDOUT);
	assert_int_equal(e.kind, ERR_NET);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_volumes_page_by_page),
		T(test_a_wrong_key_is_refused),
		T(test_nobody_is_asked_without_credentials),
		T(test_a_silent_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
