#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "tests/unit/lib/ec2_fake.h"

#define VOLUME(id, zone, more)           \
	"\"" id "\": {\"zone\": \"" zone \
	"\", \"tags\": {\"KubernetesCluster\": \"c.example\"}" more "}"

static const char state_text[] =
	"\"instances\": {\"i-1\": {\"zone\": \"us-west-2a\", \"ip\": \"10.0.0.7\", \"tags\": "
	"{\"KubernetesCluster\": \"c.example\", \"Name\": \"a & b\"}}, "
	"\"i-2\": {\"zone\": \"us-west-2a\", \"ip\": \"10.0.0.8\"}}, "
	"\"volumes\": {" VOLUME("vol-1", "us-west-2a", "") ", " VOLUME("vol-2", "us-west-2b", "") ", " VOLUME(
		"vol-3", "us-west-2a",
		", \"instance\": \"i-2\", \"device\": \"/dev/xvdu\"") ", " VOLUME("vol-4",
										  "us-west-2a",
										  "") ", " VOLUME("vol-5",
												  "us-west-2a",
												  "") "}";

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

static void test_an_instance(void **state)
{
	struct ec2_fake *f = *state;
	struct ec2_instance i = { 0 };
	struct err e = { 0 };

	if (ec2_describe_instance(f->ec2, f->arena, "i-1", &i, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(i.id, "i-1");
	assert_string_equal(i.zone, "us-west-2a");
	assert_string_equal(i.private_ip, "10.0.0.7");
	assert_string_equal(strmap_get(&i.tags, "Name"), "a & b");
	assert_int_equal(i.devices.n, 1);
	assert_string_equal(i.devices.v[0], "/dev/xvda");
	assert_int_equal(ec2_describe_instance(f->ec2, f->arena, "i-9", &i, &e), -ENOENT);
	assert_int_equal(e.kind, ERR_NET);
	assert_string_equal(e.msg, "instance i-9: DescribeInstances: EC2 400 "
				   "InvalidInstanceID.NotFound: EC2 does not know this instance, "
				   "or not yet");
}

static struct ec2_filters in_zone(struct arena *a, const char *zone)
{
	struct ec2_filters filters = { 0 };
	struct strv zones = { 0 }, clusters = { 0 };

	strv_add(a, &zones, zone);
	strv_add(a, &clusters, "c.example");
	arena_push(a, filters.v, filters.n,
		   (struct ec2_filter){ "tag:KubernetesCluster", clusters });
	arena_push(a, filters.v, filters.n, (struct ec2_filter){ "availability-zone", zones });
	return filters;
}

static void test_volumes_page_by_page(void **state)
{
	struct ec2_fake *f = *state;
	struct ec2_filters filters = in_zone(f->arena, "us-west-2a");
	struct ec2_volumes all = { 0 };
	struct err e = { 0 };

	if (ec2_describe_volumes(f->ec2, f->arena, &filters, &all, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(all.n, 4);
	assert_int_equal(ec2_fake_count(f, "DescribeVolumes"), 2);
	assert_string_equal(all.v[1].id, "vol-3");
	assert_string_equal(all.v[1].state, "in-use");
	assert_string_equal(all.v[1].instance, "i-2");
	assert_string_equal(all.v[1].device, "/dev/xvdu");
	assert_string_equal(all.v[1].attachment, "attached");
	assert_string_equal(all.v[2].state, "available");
	assert_string_equal(all.v[2].instance, "");
}

static void test_attach_and_detach(void **state)
{
	struct ec2_fake *f = *state;
	struct ec2_instance i = { 0 };
	struct err e = { 0 };

	if (ec2_attach(f->ec2, "vol-1", "i-1", "/dev/xvdu", &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(ec2_describe_instance(f->ec2, f->arena, "i-1", &i, &e), 0);
	assert_true(strv_has(&i.devices, "/dev/xvdu"));
	assert_int_equal(ec2_attach(f->ec2, "vol-1", "i-1", "/dev/xvdv", &e), -EBUSY);
	assert_int_equal(ec2_attach(f->ec2, "vol-4", "i-1", "/dev/sdu", &e), -EADDRINUSE);
	assert_int_equal(ec2_attach(f->ec2, "vol-2", "i-1", "/dev/xvdv", &e), -EINVAL);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_int_equal(ec2_attach(f->ec2, "vol-9", "i-1", "/dev/xvdv", &e), -ENOENT);
	assert_int_equal(ec2_detach(f->ec2, "vol-1", "i-1", &e), 0);
	assert_int_equal(ec2_detach(f->ec2, "vol-1", "i-1", &e), -EBUSY);
}

static void test_addresses(void **state)
{
	struct ec2_fake *f = *state;
	const char *names[] = { "i-1", "i-2" };
	struct strv ids = { names, 2 };
	struct strmap found = { 0 };
	struct err e = { 0 };

	if (ec2_describe_addresses(f->ec2, f->arena, &ids, &found, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(strmap_get(&found, "i-1"), "10.0.0.7");
	assert_string_equal(strmap_get(&found, "i-2"), "10.0.0.8");
}

static void test_a_wrong_key_is_refused(void **state)
{
	static const char *const names[] = { "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
					     "AWS_ACCESS_KEY_ID" };
	struct ec2_fake *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autofree char *before = xstrdup(getenv(names[i]));
		struct ec2_instance ignored;
		struct err e = { 0 };
		struct query *c;

		assert_int_equal(setenv(names[i], "WRONG", 1), 0);
		c = ec2_new(&(struct query_req){ .http = f->http });
		assert_int_equal(ec2_describe_instance(c, f->arena, "i-1", &ignored, &e),
				 -EKEYEXPIRED);
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
	struct ec2_instance ignored;
	struct err e = { 0 };
	struct query *c;

	assert_int_equal(unsetenv("AWS_ACCESS_KEY_ID"), 0);
	assert_int_equal(unsetenv("AWS_SECRET_ACCESS_KEY"), 0);
	c = ec2_new(&(struct query_req){ .http = f->http });
	assert_int_equal(ec2_describe_instance(c, f->arena, "i-1", &ignored, &e), -EKEYEXPIRED);
	assert_int_equal(e.kind, ERR_NET);
	assert_string_equal(e.msg, "instance i-1: DescribeInstances: no credentials: no key in the "
				   "environment");
	assert_string_equal(ec2_fake_log(f), "[]");
	query_free(c);
}

/* The question is given up at the deadline, not when the server says something. */
static void test_a_silent_server(void **state)
{
	struct ec2_fake *f = *state;
	struct ec2_instance ignored;
	struct err e = { 0 };

	ec2_fake_fault(f, "DescribeInstances&hang=1");
	query_set_deadline(f->ec2, dur_now() + 50 * DUR_MS);
	assert_int_equal(ec2_describe_instance(f->ec2, f->arena, "i-1", &ignored, &e), -ETIMEDOUT);
	assert_int_equal(e.kind, ERR_NET);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_an_instance),
		T(test_volumes_page_by_page),
		T(test_attach_and_detach),
		T(test_addresses),
		T(test_a_wrong_key_is_refused),
		T(test_nobody_is_asked_without_credentials),
		T(test_a_silent_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
