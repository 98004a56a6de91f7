#include "tests/unit/lib/move_world.h"
#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#define BACK "/var/lib/nodeup/unmoved/var-lib-docker"
#define WORD "/run/nodeup/users/var-lib-docker"
#define LOG "/var/lib/docker/containers/abc.log"

/* The move whose end task_resume_ops is asked about. */
static void follow(struct world *w, const struct task *move)
{
	static const struct task *needs[1];

	needs[0] = move;
	w->task.needs = needs;
	w->task.n_needs = 1;
}

/* Stopped, and then somebody has a file open whom stopping docker does not end. */
static void fail_to_move(struct world *w)
{
	fill(w);
	apply_task_well(w, &task_stop_ops);
	w->docker->is.active_state = w->socket->is.active_state = "inactive";
	a_process(w, "812", "fd/7", LOG);
	assert_int_equal(apply_task(w, &task_move_ops), TASK_WAIT);
	w->run.since_ns = 1;
	assert_int_equal(task_move_ops.apply(&w->task, &w->ctx, &w->run, &w->e), -EBUSY);
	w->bus.calls[0] = '\0';
}

static void four_ways_of_stepping_back(void **state)
{
	struct world *w = *state;

	/* absent: nothing failed, or nothing is there */
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	fail_to_move(w);
	apply_task_well(w, &task_resume_ops);
	assert_true(is_there(w, BACK));
	assert_string_equal(w->bus.calls, "start docker.service, start docker.socket, ");
	assert_false(is_there(w, STOPPED));

	/* twice */
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);

	/* different: refused before anything was stopped, so that nothing is to be started */
	assert_int_equal(unlink(here(w, BACK)), 0);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "it was not moved: its mount steps back, for "
					 "docker.socket, docker.service to start");
	w->bus.calls[0] = '\0';
	apply_task_well(w, &task_resume_ops);
	assert_true(is_there(w, BACK));
	assert_string_equal(w->bus.calls, "");
}

/* What is on the volume, or was on one, or may be on one, is not to be begun anew beside it. */
static void it_steps_back_from_nothing_else(void **state)
{
	static const char *const alone = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
	struct world *w = *state;

	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	fill(w);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_DIFFERS);
	scratch_write(&w->root, "/proc/self/mountinfo", alone);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	scratch_write(&w->root, "/proc/self/mountinfo", bound);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	scratch_write(&w->root, "/proc/self/mountinfo", mounted);
	w->ctx.image_mode = true;
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	w->ctx.image_mode = false;
	apply_task_well(w, &task_move_ops);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	scratch_write(&w->root, "/var/lib/docker/late", "x");
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	assert_int_equal(unlink(here(w, "/var/lib/docker/late")), 0);
	/* a fresh disk, and what was moved to another before */
	assert_int_equal(rename(here(w, "/mnt/disks"), here(w, "/mnt/lost")), 0);
	scratch_write(&w->root, "/mnt/disks/lost+found/x", "");
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	assert_false(is_there(w, BACK));
}

/* Docker uses two of them: what holds it back is the one that was not moved. */
static void all_step_back_before_one_is_resumed(void **state)
{
	struct world *w = *state;
	const struct task other = {
		.kind = TASK_MOVE,
		.ops = &task_move_ops,
		.move = { .source = "/var/lib/kubelet",
			  .target = "/mnt/disks/kubelet",
			  .mount_point = "/mnt/disks",
			  .machine = "i-0a1b" },
	};

	fill(w);
	apply_task_well(w, &task_stop_ops);
	apply_task_well(w, &task_move_ops);
	scratch_write(&w->root, "/var/lib/kubelet/file", "x");
	follow(w, &other);
	apply_task_well(w, &task_resume_ops);
	assert_true(is_there(w, "/var/lib/nodeup/unmoved/var-lib-kubelet"));
	assert_false(is_there(w, BACK));
	assert_int_equal(unlink(here(w, "/var/lib/nodeup/unmoved/var-lib-kubelet")), 0);
	task_resume_ops.cancel(&w->task, &w->ctx);
	assert_true(is_there(w, "/var/lib/nodeup/unmoved/var-lib-kubelet"));
}

/* A plan that would move it does not say that it steps back. */
static void a_move_to_come_needs_no_way_back(void **state)
{
	struct world *w = *state;
	struct task move = {
		.kind = TASK_MOVE, .ops = &task_move_ops, .index = 1, .move = w->task.move
	};
	bool changed[2] = { false, true };

	fill(w);
	follow(w, &move);
	w->ctx.changed = changed;
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	changed[1] = false;
	assert_int_equal(check_task(w, &task_resume_ops), TASK_DIFFERS);
}

static int with_tools(struct world *w, const char *cp)
{
	autofree char *path = xstrdup(getenv("PATH"));
	int r;

	scratch_write(&w->root, "/tools/cp", cp);
	assert_int_equal(chmod(here(w, "/tools/cp"), 0755), 0);
	assert_int_equal(
		setenv("PATH", arena_printf(w->arena, "%s:%s", here(w, "/tools"), path), 1), 0);
	r = apply_task(w, &task_move_ops);
	assert_int_equal(setenv("PATH", path, 1), 0);
	return r;
}

/* Killed from the first byte of the copy on, nothing starts on the old directory any more. */
static void the_way_back_is_closed_before_the_copy(void **state)
{
	struct world *w = *state;

	fail_to_move(w);
	apply_task_well(w, &task_resume_ops);
	assert_int_equal(unlink(here(w, "/proc/812/fd/7")), 0);
	assert_int_equal(with_tools(w, arena_printf(w->arena,
						    "#!/bin/bash\nPATH=${PATH#*:}\n"
						    "! test -e %s && cp \"$@\"\n",
						    here(w, BACK))),
			 TASK_DONE);
	assert_false(is_there(w, BACK));
	assert_false(is_there(w, WORD));
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
	/* one that was left is in the way of the mount */
	scratch_write(&w->root, BACK, "");
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	assert_false(is_there(w, BACK));
}

/* A tool outlives a nodeup that is killed: nobody works beside it in what it fills or removes. */
static void an_orphan_is_waited_for(void **state)
{
	struct world *w = *state;
	int orphan;

	fill(w);
	scratch_write(&w->root, COPY "/half", "x");
	orphan = open(here(w, COPY), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(orphan, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(apply_task(w, &task_move_ops), -EWOULDBLOCK);
	assert_int_equal(w->e.kind, ERR_BUSY);
	assert_string_equal(w->e.msg,
			    "what a run that was killed began is still at work in '" COPY "'");
	assert_text(w, COPY "/half", "x");
	assert_int_equal(close(orphan), 0);
	/* the tool has the lock for as long as it lives, as its standard input */
	assert_int_equal(with_tools(w, "#!/bin/bash\nPATH=${PATH#*:}\n"
				       "flock -n \"${!#}\" true && exit 1\n"
				       "test /dev/stdin -ef \"${!#}\" && cp \"$@\"\n"),
			 TASK_DONE);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

/* A full disk that could not be foreseen, as any failure of the copy. */
static void a_copy_that_fails_lets_them_start_again(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_stop_ops);
	w->bus.calls[0] = '\0';
	assert_true(with_tools(w, "#!/bin/bash\necho no space; exit 1\n") < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_DIFFERS);
	apply_task_well(w, &task_resume_ops);
	assert_string_equal(w->bus.calls, "start docker.service, start docker.socket, ");
	assert_true(is_there(w, BACK));
	assert_text(w, "/var/lib/docker/image/repositories.json", "{}");
	assert_false(is_there(w, "/mnt/disks/docker"));
}

/* Two contents, or one that has no room, or a place that is another's: known before a stop. */
static void what_can_be_known_stops_nobody(void **state)
{
	struct world *w = *state;

	fill(w);
	scratch_write(&w->root, "/mnt/disks/docker/precious", "data");
	assert_int_equal(check_task(w, &task_move_ops), -EEXIST);
	assert_int_equal(check_task(w, &task_stop_ops), -EEXIST);
	assert_string_equal(w->e.msg, "both /var/lib/docker and /mnt/disks/docker have content: "
				      "neither was touched");
	assert_int_equal(unlink(here(w, "/mnt/disks/docker/precious")), 0);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	scratch_write(&w->root, "/proc/self/mountinfo",
		      arena_printf(w->arena,
				   "%s40 22 0:50 / /mnt/disks/docker rw - ext4 /dev/xvdg rw\n",
				   mounted));
	assert_int_equal(check_task(w, &task_stop_ops), -EBUSY);
	scratch_write(&w->root, "/proc/self/mountinfo", mounted);
	w->task.move.target = "/mnt/disks/../etc";
	assert_int_equal(check_task(w, &task_stop_ops), -EINVAL);
	assert_string_equal(w->bus.calls, "");
}

static void a_volume_without_room_stops_nobody(void **state)
{
	struct world *w = *state;
	const char *disk = here(w, "/mnt/disks");
	char *big = calloc(1, 200 << 10);

	assert_non_null(big);
	memset(big, 'x', (200 << 10) - 1);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	/* what is open was opened in the other namespace */
	assert_int_equal(close(w->root.fd), 0);
	w->ctx.root_fd = w->root.fd = open(w->root.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mount("tmpfs", disk, "tmpfs", 0, "size=100k,nr_inodes=20"), 0);
	fill(w);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	scratch_write(&w->root, "/var/lib/docker/big", big);
	assert_int_equal(check_task(w, &task_stop_ops), -ENOSPC);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_string_equal(w->e.msg, "/mnt/disks has no room for what /var/lib/docker has: "
				      "nothing was moved");
	/* the copy that a killed run left goes first */
	assert_int_equal(truncate(here(w, "/var/lib/docker/big"), 80 << 10), 0);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	big[60 << 10] = '\0';
	scratch_write(&w->root, COPY "/big", big);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	/* holes and second names take no room */
	assert_int_equal(truncate(here(w, "/var/lib/docker/big"), 10 << 20), 0);
	assert_int_equal(link(here(w, "/var/lib/docker/big"), here(w, "/var/lib/docker/same")), 0);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	/* names do */
	for (int i = 0; i < 30; i++)
		scratch_write(&w->root, arena_printf(w->arena, "/var/lib/docker/n/%d", i), "");
	assert_int_equal(check_task(w, &task_stop_ops), -ENOSPC);
	assert_int_equal(check_task(w, &task_move_ops), -ENOSPC);
	assert_int_equal(umount(disk), 0);
	free(big);
}

/* Services are stopped for it once: while it is still there, a further stop would help nobody. */
static void who_does_not_let_go_is_waited_for_with_services_up(void **state)
{
	struct world *w = *state;

	fail_to_move(w);
	apply_task_well(w, &task_resume_ops);
	assert_text(w, WORD, "812\n");
	w->docker->is.active_state = w->socket->is.active_state = "active";
	w->bus.calls[0] = '\0';
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	assert_int_equal(apply_task(w, &task_stop_ops), TASK_WAIT);
	assert_string_equal(w->run.waiting, "containerd-shim (pid 812) has '" LOG "' open");
	w->run.since_ns = 1;
	assert_int_equal(task_stop_ops.apply(&w->task, &w->ctx, &w->run, &w->e), -EBUSY);
	assert_int_equal(w->e.kind, ERR_BUSY);
	assert_true(w->run.final);
	assert_string_equal(w->bus.calls, "");
	/* another who uses it may be one of those who are stopped */
	assert_int_equal(unlink(here(w, "/proc/812/fd/7")), 0);
	a_process(w, "99", "fd/7", LOG);
	apply_task_well(w, &task_stop_ops);
	assert_string_equal(w->bus.calls, "stop docker.socket, stop docker.service, ");
}

/* At the deadline nobody waits for jobs any more, but what was stopped does not stay down. */
static void a_run_that_ends_early_starts_them(void **state)
{
	struct world *w = *state;

	fail_to_move(w);
	task_resume_ops.cancel(&w->task, &w->ctx);
	assert_string_equal(w->bus.calls, "start docker.service, start docker.socket, ");
	assert_true(is_there(w, BACK));
	/* whether that came to anything the next run sees */
	assert_int_equal(check_task(w, &task_resume_ops), TASK_DIFFERS);
	w->bus.calls[0] = '\0';
	w->ctx.image_mode = true;
	task_resume_ops.cancel(&w->task, &w->ctx);
	assert_string_equal(w->bus.calls, "");
}

#define T(f) cmocka_unit_test_setup_teardown(f, move_world_new, move_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(four_ways_of_stepping_back),
		T(it_steps_back_from_nothing_else),
		T(all_step_back_before_one_is_resumed),
		T(a_move_to_come_needs_no_way_back),
		T(the_way_back_is_closed_before_the_copy),
		T(an_orphan_is_waited_for),
		T(a_copy_that_fails_lets_them_start_again),
		T(what_can_be_known_stops_nobody),
		T(a_volume_without_room_stops_nobody),
		T(who_does_not_let_go_is_waited_for_with_services_up),
		T(a_run_that_ends_early_starts_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
