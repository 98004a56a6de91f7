#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

/* Whoever wrote it, and without being asked: what takes its place would run beside it. */
static void a_unit_that_has_another_in_its_place_goes(void **state)
{
	static const char path[] = "/lib/systemd/system/x.service";
	const struct task t = {
		.kind = TASK_FILE,
		.ops = &task_superseded_ops,
		.name = path,
		.file = { .unwanted = "", .unit = "x.service" },
	};
	struct scratch root;
	struct bus bus = { 0 };
	struct task_ctx ctx = { .bus = &bus };
	struct task_diff diff = { 0 };
	struct task_run run = { 0 };
	struct fake_unit *u = fake_bus_add(&bus, "x.service", 1);
	struct err e;

	(void)state;
	scratch_new(&root);
	ctx.root_fd = root.fd;
	assert_int_equal(state_open(root.fd, &ctx.state, &e), 0);
	u->is.file_state = "enabled";
	u->job = BUS_JOB_DONE;
	assert_int_equal(t.ops->check(&t, &ctx, &diff, &e), TASK_EQUAL);
	scratch_write(&root, path, "of another program\n");
	assert_int_equal(t.ops->check(&t, &ctx, &diff, &e), TASK_DIFFERS);
	assert_true(diff.removes);
	assert_string_equal(diff.why, "the documents no longer name it");
	assert_int_equal(t.ops->apply(&t, &ctx, &run, &e), TASK_DONE);
	assert_string_equal(bus.calls, "disable x.service, reload all, stop x.service, ");
	assert_int_equal(t.ops->check(&t, &ctx, &diff, &e), TASK_EQUAL);
	state_close(ctx.state);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unit_that_has_another_in_its_place_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
