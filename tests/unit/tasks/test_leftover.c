#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
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

#define MASK "/etc/systemd/system/x.service"

static const struct task mask = {
	.kind = TASK_LINK,
	.ops = &task_mask_ops,
	.name = MASK,
	.origin = "upgrades",
	.link.target = "/dev/null",
};
static const struct task unmask = {
	.kind = TASK_FILE,
	.ops = &task_leftover_ops,
	.name = MASK,
	.file = { .unwanted = "", .unit = "x.service" },
};

/* A machine on which an earlier run masked the unit. */
static void mask_it(struct scratch *root, struct bus *bus, struct task_ctx *ctx)
{
	struct task_run run = { 0 };
	struct err e;

	scratch_new(root);
	*ctx = (struct task_ctx){ .root_fd = root->fd, .bus = bus };
	scratch_write(root, "/etc/systemd/system/y.service", "");
	assert_int_equal(state_open(root->fd, &ctx->state, &e), 0);
	assert_int_equal(mask.ops->apply(&mask, ctx, &run, &e), TASK_DONE);
	/* what it knows is read anew by the next run */
	assert_int_equal(state_store(ctx->state, &e), 0);
	state_close(ctx->state);
	assert_int_equal(state_open(root->fd, &ctx->state, &e), 0);
}

static void make_younger(const struct scratch *root, int64_t seconds)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct stat st;

	assert_true(scratch_stat(root, MASK, &st));
	times[1] = st.st_mtim;
	times[1].tv_sec += seconds;
	assert_int_equal(utimensat(root->fd, &MASK[1], times, AT_SYMLINK_NOFOLLOW), 0);
}

/* With --prune, like any leftover. The unit is not started: the next boot does that. */
static void a_mask_of_ours_goes(void **state)
{
	(void)state;
	for (int is_image = 0; is_image < 2; is_image++) {
		struct scratch root;
		struct bus bus = { 0 };
		struct task_ctx ctx;
		struct task_diff diff = { 0 };
		struct task_run run = { 0 };
		struct fake_unit *u = fake_bus_add(&bus, "x.service", 1);
		struct err e;

		u->is.active_state = "inactive";
		mask_it(&root, is_image ? NULL : &bus, &ctx);
		ctx.image_mode = is_image;
		ctx.only_looks = true;
		assert_int_equal(unmask.ops->check(&unmask, &ctx, &diff, &e), TASK_EQUAL);
		assert_non_null(strstr(diff.why, "removed with --prune"));
		ctx.only_looks = false;
		ctx.prune = true;
		assert_int_equal(unmask.ops->check(&unmask, &ctx, &diff, &e), TASK_DIFFERS);
		assert_true(diff.removes);
		assert_int_equal(unmask.ops->apply(&unmask, &ctx, &run, &e), TASK_DONE);
		assert_string_equal(bus.calls, is_image ? "" : "reload all, ");
		assert_int_equal(unmask.ops->check(&unmask, &ctx, &diff, &e), TASK_EQUAL);
		assert_false(scratch_stat(&root, MASK, &(struct stat){ 0 }));
		state_close(ctx.state);
		scratch_done(&root);
	}
}

/* One that was there before, and one that somebody made after ours was removed; --prune changes nothing. */
static void a_mask_of_an_admin_stays(void **state)
{
	static const struct {
		bool was_before;
		int64_t younger;
		int result;
	} rows[] = {
		{ true, 0, TASK_EQUAL },
		{ false, 1, TASK_EQUAL },
		{ false, -1, TASK_EQUAL },
		{ false, 0, TASK_DIFFERS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct scratch root;
		struct bus bus = { 0 };
		struct task_ctx ctx;
		struct task_diff diff = { 0 };
		struct task_run run = { 0 };
		struct err e;

		mask_it(&root, &bus, &ctx);
		ctx.only_looks = ctx.prune = true;
		if (rows[i].was_before) {
			state_forget(ctx.state, MASK);
			assert_int_equal(mask.ops->check(&mask, &ctx, &diff, &e), TASK_EQUAL);
			/* somebody was faster than this run */
			assert_int_equal(mask.ops->apply(&mask, &ctx, &run, &e), TASK_DONE);
		}
		make_younger(&root, rows[i].younger);
		diff = (struct task_diff){ 0 };
		assert_int_equal(unmask.ops->check(&unmask, &ctx, &diff, &e), rows[i].result);
		if (rows[i].result == TASK_EQUAL)
			assert_non_null(
				strstr(diff.why, "it is not as nodeup wrote it: left alone"));
		state_close(ctx.state);
		scratch_done(&root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unit_that_has_another_in_its_place_goes),
		cmocka_unit_test(a_mask_of_ours_goes),
		cmocka_unit_test(a_mask_of_an_admin_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
