/* Each row of the table of signals, by tests/fake/autoscaling.py, cloudformation.py and ec2.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/aws/signal.h"
#include "nodeup/base/dur.h"
#include "nodeup/config/signals.h"
#include "tests/unit/lib/ec2_fake.h"

#define INSTANCE "i-0123456789abcdef0"

static int send(struct ec2_fake *f, const char *text, bool failed, struct err *e)
{
	struct signal s;

	assert_true(signal_parse(f->arena, text, &s));
	const struct signal_req req = { .http = f->http,
					.service = s.row->service,
					.action = s.row->action,
					.parameters =
						signal_parameters(f->arena, &s, INSTANCE, failed),
					.timeout_ns = 2 * DUR_SEC };

	return signal_send(&req, e);
}

static void must_send(struct ec2_fake *f, const char *text, bool failed, int want, const char *part)
{
	struct err e = { 0 };
	const int r = send(f, text, failed, &e);

	if (r != want)
		fail_msg("%s: %d %s", text, r, e.msg);
	if (!strstr(ec2_fake_log(f), part))
		fail_msg("%s is not in %s", part, ec2_fake_log(f));
}

static void groups(void **state)
{
	struct ec2_fake *f = ec2_fake_start_groups(
		"\"groups\": {\"g\": {\"hooks\": {\"up\": [\"" INSTANCE "\"], \"h\": [\"" INSTANCE
		"\"]}}}, \"health\": {\"" INSTANCE "\": \"Healthy\"}");
	struct err e;

	(void)state;
	must_send(f, "lifecycleHook=g:up", false, 1, "\"LifecycleActionResult\": \"CONTINUE\"");
	must_send(f, "lifecycleHook=g:h", true, 1, "\"LifecycleActionResult\": \"ABANDON\"");
	/* the hook is done */
	must_send(f, "lifecycleHook=g:h", true, 0, "ABANDON");
	must_send(f, "instanceHealth", true, 1, "\"HealthStatus\": \"Unhealthy\"");
	assert_int_equal(send(f, "lifecycleHook=none:up", false, &e), -EINVAL);
	ec2_fake_stop(f);
}

static void stacks(void **state)
{
	struct ec2_fake *f = ec2_fake_start_stacks(
		"\"stacks\": {\"s\": {\"state\": \"CREATE_IN_PROGRESS\", \"resources\": {\"r\": {}}}, "
		"\"old\": {\"state\": \"CREATE_COMPLETE\", \"resources\": {\"r\": {}}}}");
	struct err e;

	(void)state;
	must_send(f, "stackSignal=s:r", false, 1, "\"Status\": \"SUCCESS\"");
	must_send(f, "stackSignal=s:r", false, 0, "\"UniqueId\": \"" INSTANCE "\"");
	must_send(f, "stackSignal=s:r", true, 1, "\"Status\": \"FAILURE\"");
	must_send(f, "stackSignal=old:r", false, 0, "\"StackName\": \"old\"");
	assert_int_equal(send(f, "stackSignal=none:r", false, &e), -EINVAL);
	ec2_fake_stop(f);
}

static void tags(void **state)
{
	struct ec2_fake *f = ec2_fake_start("\"tags\": {\"" INSTANCE "\": {}}");
	int64_t begun;
	struct err e;

	(void)state;
	must_send(f, "tag=node state", false, 1, "\"Tag.1.Value\": \"ready\"");
	must_send(f, "tag=node state", true, 1, "\"Tag.1.Value\": \"failed\"");
	ec2_fake_fault(f, "CreateTags&code=UnauthorizedOperation&status=403");
	assert_int_equal(send(f, "tag=k", true, &e), -EACCES);
	/* a service that hangs costs two seconds */
	ec2_fake_fault(f, "CreateTags&code=Unavailable&hang=1");
	begun = dur_now();
	assert_true(send(f, "tag=k", true, &e) < 0);
	assert_true(dur_now() - begun < 4 * DUR_SEC);
	ec2_fake_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(stacks),
		cmocka_unit_test(tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
