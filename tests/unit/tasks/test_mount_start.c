#include "tests/unit/lib/move_world.h"
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include <unistd.h>

static const char bare[] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";

static int start(struct world *w, const struct task *unit)
{
	w->e = (struct err){ 0 };
	w->run = (struct task_run){ 0 };
	w->bus.calls[0] = '\0';
	return task_unit_ops.apply(unit, &w->ctx, &w->run, &w->e);
}

static void inactive(struct world *w, const char *name)
{
	fake_bus_add(&w->bus, name, 0)->is.active_state = "inactive";
}

/* The disk may have been waited for minutes since its mount point was looked at. */
static void files_that_came_meanwhile_are_not_hidden(void **state)
{
	struct world *w = *state;
	const struct task unit = {
		.kind = TASK_UNIT,
		.ops = &task_unit_ops,
		.name = "mnt-disks.mount",
		.unit = { .where = "/mnt/disks", .volume = "/mnt/disks" },
	};

	inactive(w, unit.name);
	scratch_write(&w->root, "/proc/self/mountinfo", bare);
	scratch_write(&w->root, "/mnt/disks/precious", "data");
	assert_true(start(w, &unit) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_string_equal(w->e.msg, "/mnt/disks is in use: it was free before; nothing was "
				      "mounted");
	assert_string_equal(w->bus.calls, "");
	/* systemd mounts it just now: what is seen is the volume's */
	scratch_write(&w->root, "/proc/self/mountinfo", mounted);
	assert_true(start(w, &unit) >= 0);
	assert_string_equal(w->bus.calls, "start mnt-disks.mount, ");
	scratch_write(&w->root, "/proc/self/mountinfo", bare);
	assert_int_equal(unlink(here(w, "/mnt/disks/precious")), 0);
	assert_true(start(w, &unit) >= 0);
	assert_string_equal(w->bus.calls, "start mnt-disks.mount, ");
}

/* Nor are those that came to a directory after it was moved. */
static void a_moved_directory_is_looked_at_once_more(void **state)
{
	struct world *w = *state;
	const struct task *needs[] = { &w->task };
	const struct task unit = {
		.kind = TASK_UNIT,
		.ops = &task_unit_ops,
		.name = "var-lib-docker.mount",
		.unit = { .where = "/var/lib/docker" },
		.needs = needs,
		.n_needs = 1,
	};

	inactive(w, unit.name);
	w->task.kind = TASK_MOVE;
	w->task.ops = &task_move_ops;
	fill(w);
	assert_true(start(w, &unit) < 0);
	assert_int_equal(w->e.kind, ERR_BUSY);
	apply_task_well(w, &task_move_ops);
	scratch_write(&w->root, "/var/lib/docker/volumes/new", "precious");
	assert_true(start(w, &unit) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_non_null(strstr(w->e.msg, "/var/lib/docker was written to since it was moved"));
	assert_string_equal(w->bus.calls, "");
	assert_int_equal(unlink(here(w, "/var/lib/docker/volumes/new")), 0);
	assert_true(start(w, &unit) >= 0);
	assert_string_equal(w->bus.calls, "start var-lib-docker.mount, ");
	/* of another's move nothing is asked */
	assert_int_equal(unlink(here(w, MARK)), 0);
	w->task.move.source = "/var/lib/other";
	assert_true(start(w, &unit) >= 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, move_world_new, move_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(files_that_came_meanwhile_are_not_hidden),
		T(a_moved_directory_is_looked_at_once_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
