/* What is asked of AWS once: by tests/fake/autoscaling.py, ec2.py and imds.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/ec2_fake.h"
#include "tests/unit/lib/scratch.h"

#define INSTANCE "i-0123456789abcdef0"
#define PREFIX_PATH "network/interfaces/macs/06:11:22:33:44:55/ipv6-prefix"

static const struct task hook = {
	.kind = TASK_LIFECYCLE,
	.ops = &task_lifecycle_ops,
	.name = "kops-warmpool",
	.lifecycle = { "nodes.a.example", INSTANCE, NULL, "Warmed:Stopped" },
};
static const struct task prefix = {
	.kind = TASK_PREFIX,
	.ops = &task_prefix_ops,
	.name = "of the first interface",
	.prefix = { INSTANCE, NULL },
};

struct world {
	struct scratch root;
	struct cloud *cloud;
	struct ec2_fake *fake;
	struct task_ctx ctx;
	struct task_diff diff;
	struct task_run run;
	struct err e;
};

static struct world *begin(struct ec2_fake *fake)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fake = fake;
	scratch_new(&w->root);
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .http = fake->http };
	return w;
}

static int setup_hook(void **state)
{
	*state = begin(ec2_fake_start_groups("\"groups\": {\"nodes.a.example\": {\"hooks\": "
					     "{\"kops-warmpool\": [\"" INSTANCE "\"]}}, "
					     "\"others.a.example\": {\"hooks\": {}}}"));
	return 0;
}

static int setup_prefix(void **state)
{
	struct cloud *cloud = cloud_start(NULL);
	struct world *w = begin(ec2_fake_start("\"interfaces\": {\"eni-1\": []}"));

	w->cloud = cloud;
	cloud_tell(cloud, CLOUD_IMDS, "/__set?path=mac&value=06:11:22:33:44:55");
	cloud_tell(
		cloud, CLOUD_IMDS,
		"/__set?path=network/interfaces/macs/06:11:22:33:44:55/interface-id&value=eni-1");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	ec2_fake_stop(w->fake);
	if (w->cloud)
		cloud_stop(w->cloud);
	scratch_done(&w->root);
	free(w);
	return 0;
}

static int check(struct world *w, const struct task *t)
{
	w->diff = (struct task_diff){ 0 };
	return t->ops->check(t, &w->ctx, &w->diff, &w->e);
}

static int apply(struct world *w, const struct task *t)
{
	w->run = (struct task_run){ 0 };
	return t->ops->apply(t, &w->ctx, &w->run, &w->e);
}

static void a_group_is_told_once(void **state)
{
	struct world *w = *state;
	struct task into_service = hook;

	assert_int_equal(check(w, &hook), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "group nodes.a.example may wait for this instance");
	if (apply(w, &hook) != TASK_DONE)
		fail_msg("%s", w->e.msg);
	assert_string_equal(w->run.remark, "the group goes on");
	assert_int_equal(check(w, &hook), TASK_EQUAL);
	/* the same boot, but another way */
	into_service.lifecycle.state = "InService";
	assert_int_equal(check(w, &into_service), TASK_DIFFERS);
	assert_int_equal(ec2_fake_count(w->fake, "CompleteLifecycleAction"), 1);
}

/* A kill between the answer and its note. */
static void a_group_that_was_told_already_is_not_an_error(void **state)
{
	struct world *w = *state;

	assert_int_equal(apply(w, &hook), TASK_DONE);
	scratch_write(&w->root, "/run/nodeup/granted/lifecycle", "");
	assert_int_equal(check(w, &hook), TASK_DIFFERS);
	if (apply(w, &hook) != TASK_DONE)
		fail_msg("%s", w->e.msg);
	assert_string_equal(w->run.remark, "the group waits for nothing");
	assert_int_equal(check(w, &hook), TASK_EQUAL);
}

static void a_group_without_the_hook_is_told_nothing(void **state)
{
	struct world *w = *state;
	struct task other = hook;

	other.lifecycle.group = "others.a.example";
	assert_int_equal(apply(w, &other), TASK_DONE);
	assert_int_equal(ec2_fake_count(w->fake, "CompleteLifecycleAction"), 0);
	assert_int_equal(check(w, &other), TASK_EQUAL);
}

static void what_goes_wrong_is_said(void **state)
{
	struct world *w = *state;
	struct task unknown = hook;

	ec2_fake_fault(w->fake, "CompleteLifecycleAction&code=AccessDenied&status=403");
	assert_int_equal(apply(w, &hook), -EACCES);
	assert_int_equal(w->e.kind, ERR_NET);
	assert_string_equal(w->e.msg, "group nodes.a.example, hook kops-warmpool: "
				      "CompleteLifecycleAction: Auto Scaling 403 AccessDenied: "
				      "the role may not do this");
	assert_int_equal(check(w, &hook), TASK_DIFFERS);
	unknown.lifecycle.group = "gone";
	assert_int_equal(apply(w, &unknown), -EINVAL);
	assert_int_equal(w->e.kind, ERR_CONFIG);
	assert_string_equal(w->e.notes[0].text, "AutoScalingGroup name not found - gone");
	assert_string_equal(w->e.notes[1].text, "REQ1");
	assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "another", 1), 0);
	assert_int_equal(apply(w, &hook), -EKEYEXPIRED);
	assert_string_equal(w->e.notes[0].text,
			    "The request signature we calculated does not match");
}

static void an_image_and_an_offline_run_ask_nothing(void **state)
{
	struct world *w = *state;

	w->ctx.is_offline = true;
	assert_int_equal(check(w, &hook), TASK_EQUAL);
	assert_true(w->diff.left);
	w->ctx.image_mode = true;
	assert_int_equal(check(w, &hook), TASK_EQUAL);
	assert_false(w->diff.left);
	assert_int_equal(check(w, &prefix), TASK_EQUAL);
}

static void a_prefix_is_assigned_once(void **state)
{
	struct world *w = *state;

	assert_int_equal(check(w, &prefix), TASK_DIFFERS);
	if (apply(w, &prefix) != TASK_DONE)
		fail_msg("%s", w->e.msg);
	/* the metadata are late */
	assert_int_equal(check(w, &prefix), TASK_EQUAL);
	assert_string_equal(w->diff.how, "assigned, metadata do not show it yet");
	cloud_tell(w->cloud, CLOUD_IMDS, "/__set?path=" PREFIX_PATH "&value=2001:db8:0:0::/80");
	assert_int_equal(check(w, &prefix), TASK_EQUAL);
	assert_null(w->diff.how);
	assert_int_equal(ec2_fake_count(w->fake, "AssignIpv6Addresses"), 1);
}

static void a_prefix_that_is_there_is_kept(void **state)
{
	struct world *w = *state;

	cloud_tell(w->cloud, CLOUD_IMDS, "/__set?path=" PREFIX_PATH "&value=2001:db8:0:7::/80");
	assert_int_equal(check(w, &prefix), TASK_EQUAL);
}

static void a_prefix_that_cannot_be_had_is_said(void **state)
{
	struct world *w = *state;

	ec2_fake_fault(w->fake, "AssignIpv6Addresses&code=UnauthorizedOperation&status=403");
	assert_int_equal(apply(w, &prefix), -EACCES);
	assert_string_equal(w->e.msg, "AssignIpv6Addresses: EC2 403 UnauthorizedOperation: the "
				      "role may not do this");
	cloud_tell(w->cloud, CLOUD_IMDS,
		   "/__set?path=network/interfaces/macs/06:11:22:33:44:55/interface-id");
	assert_int_equal(apply(w, &prefix), -ENOENT);
	cloud_fault(w->cloud, CLOUD_IMDS, "/latest/meta-data/mac", "status=500&times=9");
	assert_true(check(w, &prefix) < 0);
	assert_int_equal(w->e.kind, ERR_NET);
	w->ctx.is_offline = true;
	assert_int_equal(apply(w, &prefix), -ENETDOWN);
}

#define HOOK_TEST(f) cmocka_unit_test_setup_teardown(f, setup_hook, teardown)
#define PREFIX_TEST(f) cmocka_unit_test_setup_teardown(f, setup_prefix, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOOK_TEST(a_group_is_told_once),
		HOOK_TEST(a_group_that_was_told_already_is_not_an_error),
		HOOK_TEST(a_group_without_the_hook_is_told_nothing),
		HOOK_TEST(what_goes_wrong_is_said),
		HOOK_TEST(an_image_and_an_offline_run_ask_nothing),
		PREFIX_TEST(a_prefix_is_assigned_once),
		PREFIX_TEST(a_prefix_that_is_there_is_kept),
		PREFIX_TEST(a_prefix_that_cannot_be_had_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
