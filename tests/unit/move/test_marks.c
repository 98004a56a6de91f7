#include "tests/unit/lib/move_world.h"
#include "nodeup/tasks/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD "/var/lib/nodeup/moved/var-lib-docker@i-0a1b"

static void four_ways_of_remembering(void **state)
{
	struct world *w = *state;
	char *mark, *record;

	/* absent */
	fill(w);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	mark = scratch_read(&w->root, MARK);
	record = scratch_read(&w->root, RECORD);
	assert_string_equal(record, mark);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	free(record);

	/* killed after the mark: the next run finds it, stops nobody and copies nothing */
	assert_int_equal(unlink(here(w, RECORD)), 0);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_EQUAL);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "that it was moved is not on record");
	apply_task_well(w, &task_move_ops);
	assert_text(w, RECORD, mark);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);

	/* different, seen through the bind mount */
	scratch_write(&w->root, RECORD, "/var/lib/docker\nfiles 1 bytes 2 newest 3\n");
	scratch_write(&w->root, "/proc/self/mountinfo", bound);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	assert_text(w, RECORD, mark);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	free(mark);
}

/* An instance store after stop and start. */
static void lose_the_disk(struct world *w)
{
	assert_int_equal(rename(here(w, "/mnt/disks"), here(w, "/mnt/lost")), 0);
	scratch_write(&w->root, "/mnt/disks/lost+found/x", "");
}

static void a_fresh_disk_begins_empty(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	lose_the_disk(w);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "it begins empty: its content was moved once, to a disk "
					 "that is not this one");
	apply_task_well(w, &task_move_ops);
	assert_string_equal(w->run.remark, "begins empty");
	assert_int_equal(scratch_count(&w->root, "/mnt/disks/docker"), 0);
	assert_true(is_there(w, "/mnt/disks/docker"));
	assert_true(is_there(w, MARK));
	/* not a byte of the old content is touched */
	assert_text(w, "/var/lib/docker/image/repositories.json", "{}");
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	/* and once more */
	assert_int_equal(rename(here(w, "/mnt/disks"), here(w, "/mnt/lost2")), 0);
	scratch_write(&w->root, "/mnt/disks/lost+found/x", "");
	apply_task_well(w, &task_move_ops);
	assert_int_equal(scratch_count(&w->root, "/mnt/disks/docker"), 0);
}

/* Nothing but this very content was on a disk: all else is moved. */
static void what_came_since_is_moved_to_a_fresh_disk(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	lose_the_disk(w);
	scratch_write(&w->root, "/var/lib/docker/volumes/new", "precious");
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "its content is not on /mnt/disks yet");
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/volumes/new", "precious");
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

/* An image of the machine: what it brings along was never on a disk of the new one. */
static void another_machine_remembers_nothing(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	lose_the_disk(w);
	w->task.move.machine = "i-0new";
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "its content is not on /mnt/disks yet");
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

static void who_has_no_name_remembers_nothing(void **state)
{
	struct world *w = *state;

	w->task.move.machine = NULL;
	fill(w);
	apply_task_well(w, &task_move_ops);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	assert_false(is_there(w, "/var/lib/nodeup/moved"));
	lose_the_disk(w);
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

/* Killed after the copy had its place and before the mark: it is not a fresh disk, and the copy counts. */
static void a_copy_is_not_taken_for_a_fresh_disk(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	assert_int_equal(unlink(here(w, MARK)), 0);
	apply_task_well(w, &task_move_ops);
	assert_string_equal(w->run.remark, "");
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

/* Who uses the old content would not see that another directory is mounted over it. */
static void nothing_begins_empty_under_a_user(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	lose_the_disk(w);
	a_process(w, "812", "fd/7", "/var/lib/docker/containers/abc.log");
	assert_int_equal(apply_task(w, &task_move_ops), TASK_WAIT);
	assert_false(is_there(w, MARK));
}

static void an_empty_directory_is_nothing_to_remember(void **state)
{
	struct world *w = *state;

	apply_task_well(w, &task_move_ops);
	assert_false(is_there(w, RECORD));
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, move_world_new, move_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(four_ways_of_remembering),
		T(a_fresh_disk_begins_empty),
		T(what_came_since_is_moved_to_a_fresh_disk),
		T(another_machine_remembers_nothing),
		T(who_has_no_name_remembers_nothing),
		T(a_copy_is_not_taken_for_a_fresh_disk),
		T(nothing_begins_empty_under_a_user),
		T(an_empty_directory_is_nothing_to_remember),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
