#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "nodeup/move/same_tree.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/move_world.h"

static void four_ways(void **state)
{
	struct world *w = *state;

	/* absent */
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "there is no /mnt/disks/docker yet");
	apply_task_well(w, &task_move_ops);
	assert_true(is_there(w, "/mnt/disks/docker"));
	assert_true(is_there(w, "/var/lib/docker"));
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);

	/* different: content that is not on the volume */
	assert_int_equal(unlink(here(w, MARK)), 0);
	fill(w);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "its content is not on /mnt/disks yet");
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/overlay2/abc/diff/etc/passwd", "root");
	assert_true(is_there(w, MARK));
	assert_int_equal(scratch_count(&w->root, "/mnt/disks/.nodeup"), 1);
	/* the old content stays, below the mount to come */
	assert_text(w, "/var/lib/docker/overlay2/abc/diff/etc/passwd", "root");
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);

	/* seen through the bind mount */
	scratch_write(&w->root, "/proc/self/mountinfo", bound);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

/* A mark on the root's disk, left when the volume was not mounted, says nothing. */
static void nothing_is_moved_to_the_bare_directory(void **state)
{
	struct world *w = *state;

	fill(w);
	scratch_write(&w->root, MARK, "/var/lib/docker\n");
	scratch_write(&w->root, "/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	assert_int_equal(apply_task(w, &task_move_ops), -ENODEV);
	assert_string_equal(w->e.msg, "/mnt/disks is not mounted: /var/lib/docker was not moved");
	assert_false(is_there(w, "/mnt/disks/docker"));
}

/* Another volume that came there since. */
static void what_is_mounted_at_the_target_is_not_emptied(void **state)
{
	struct world *w = *state;

	fill(w);
	scratch_write(&w->root, "/mnt/disks/docker/precious", "data");
	scratch_write(&w->root, "/proc/self/mountinfo",
		      arena_printf(w->arena,
				   "%s40 22 0:50 / /mnt/disks/docker rw - ext4 /dev/xvdg rw\n",
				   mounted));
	assert_int_equal(apply_task(w, &task_move_ops), -EBUSY);
	assert_text(w, "/mnt/disks/docker/precious", "data");
	assert_false(is_there(w, MARK));
}

static void two_contents_are_both_kept(void **state)
{
	struct world *w = *state;

	fill(w);
	scratch_write(&w->root, "/mnt/disks/docker/precious", "data");
	assert_int_equal(apply_task(w, &task_move_ops), -EEXIST);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_text(w, "/mnt/disks/docker/precious", "data");
	assert_text(w, "/var/lib/docker/image/repositories.json", "{}");
	assert_false(is_there(w, MARK));
}

/* A volume of an earlier instance, and nothing here to be moved. */
static void content_of_the_volume_is_taken(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/mnt/disks/docker/precious", "data");
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/precious", "data");
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

static void a_target_is_a_directory_of_the_volume(void **state)
{
	static const char *const bad[] = { "/mnt/disks",
					   "/mnt/disks/",
					   "/mnt/disks2/docker",
					   "/mnt/disks/../etc",
					   "/mnt/disks/a/../..",
					   "/mnt/disks/.nodeup",
					   "/etc" };
	struct world *w = *state;

	fill(w);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		w->task.move.target = bad[i];
		assert_int_equal(apply_task(w, &task_move_ops), -EINVAL);
		assert_int_equal(w->e.kind, ERR_CONFIG);
	}
	assert_true(is_there(w, "/mnt/disks/lost+found/x"));
}

/* Killed while it copied: what we made aside is ours to begin again. */
static void an_interrupted_copy_is_begun_again(void **state)
{
	struct world *w = *state;

	fill(w);
	scratch_write(&w->root, COPY "/image/repositories.json", "{");
	scratch_write(&w->root, COPY "/gone-since", "x");
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
	assert_false(is_there(w, "/mnt/disks/docker/gone-since"));
	assert_false(is_there(w, COPY));
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

/* Killed between the copy and its mark: the same content at both places is not a conflict. */
static void a_copy_without_its_mark_is_known_by_its_content(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	assert_int_equal(unlink(here(w, MARK)), 0);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

/* The volume was away, and a service or a person wrote to the bare directory. */
static void what_was_written_meanwhile_is_not_hidden(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	scratch_write(&w->root, "/var/lib/docker/volumes/new", "precious");
	assert_true(check_task(w, &task_move_ops) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_string_equal(w->e.msg, "/var/lib/docker was written to since it was moved to "
				      "/mnt/disks/docker: neither was touched");
	assert_true(check_task(w, &task_stop_ops) < 0);
	/* a file of the same size is another one all the same */
	assert_int_equal(unlink(here(w, "/var/lib/docker/volumes/new")), 0);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	scratch_write(&w->root, "/var/lib/docker/image/repositories.json", "[]");
	assert_true(check_task(w, &task_move_ops) < 0);
	/* who frees the space of the old content hides nothing */
	assert_int_equal(unlink(here(w, "/var/lib/docker/image/repositories.json")), 0);
	assert_true(check_task(w, &task_move_ops) < 0);
	assert_int_equal(unlink(here(w, "/var/lib/docker/overlay2/abc/diff/etc/passwd")), 0);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

/* A volume that was another machine's says nothing of what this one has. */
static void a_mark_of_another_machine_is_none(void **state)
{
	struct world *w = *state;

	w->task.move.machine = "i-0other";
	apply_task_well(w, &task_move_ops);
	w->task.move.machine = "i-0a1b";
	fill(w);
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");

	/* and with content of its own on the volume neither gives way */
	w->task.move.machine = "i-0third";
	scratch_write(&w->root, "/var/lib/docker/image/repositories.json", "[]");
	assert_int_equal(apply_task(w, &task_move_ops), -EEXIST);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

static void another_disk_at_the_source_is_not_ours(void **state)
{
	static const char *const others[] = {
		"31 22 8:32 /docker /var/lib/docker rw - ext4 /dev/sdc rw\n",
		"31 22 8:16 /else /var/lib/docker rw - ext4 /dev/sdb rw\n",
		"31 22 8:16 / /var/lib/docker rw - ext4 /dev/sdb rw\n",
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		scratch_write(&w->root, "/proc/self/mountinfo",
			      arena_printf(w->arena, "%s%s", mounted, others[i]));
		assert_true(check_task(w, &task_move_ops) < 0);
		assert_int_equal(w->e.kind, ERR_REFUSED);
		assert_string_equal(w->e.msg, "/var/lib/docker is in use: another disk is mounted "
					      "there; nothing was moved");
	}
	/* the one on top counts */
	scratch_write(&w->root, "/proc/self/mountinfo",
		      arena_printf(w->arena, "%s%s", bound, others[0]));
	assert_true(check_task(w, &task_move_ops) < 0);
}

static void what_an_older_volume_holds_is_not_hidden(void **state)
{
	struct world *w = *state;

	w->task.move.aside = true;
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	scratch_write(&w->root, "/mnt/disks/image", "theirs");
	assert_true(check_task(w, &task_stop_ops) < 0 && check_task(w, &task_move_ops) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
}

static void a_file_or_a_link_is_no_empty_directory(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/var/lib/docker", "content");
	assert_true(check_task(w, &task_move_ops) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_string_equal(w->e.msg, "/var/lib/docker is a file and no directory: nothing was "
				      "moved, and nothing is mounted there");
	assert_int_equal(unlink(here(w, "/var/lib/docker")), 0);
	scratch_write(&w->root, "/mnt/ephemeral/docker/x", "");
	assert_int_equal(symlink("/mnt/ephemeral/docker", here(w, "/var/lib/docker")), 0);
	assert_true(check_task(w, &task_move_ops) < 0);
	assert_non_null(strstr(w->e.msg, "is a symbolic link"));
	assert_true(check_task(w, &task_stop_ops) < 0);
}

static void what_is_in_use_is_not_moved(void **state)
{
	struct world *w = *state;

	fill(w);
	a_process(w, "1", "cwd", "/");
	scratch_write(&w->root, "/proc/1/mountinfo",
		      arena_printf(w->arena,
				   "%s40 22 0:50 / /var/lib/docker/overlay2/abc/merged "
				   "rw - overlay overlay rw\n",
				   mounted));
	w->e = (struct err){ 0 };
	w->run = (struct task_run){ .since_ns = 1 };
	assert_true(task_move_ops.apply(&w->task, &w->ctx, &w->run, &w->e) < 0);
	assert_non_null(strstr(w->e.msg, "'/var/lib/docker/overlay2/abc/merged' mounted"));
	assert_false(is_there(w, "/mnt/disks/docker"));
	assert_false(is_there(w, MARK));
}

/* A container that outlives its runtime's stop writes where nobody would look any more. */
static void content_is_not_copied_under_a_writer(void **state)
{
	struct world *w = *state;

	fill(w);
	a_process(w, "812", "fd/7", "/var/lib/docker/containers/abc.log");
	assert_int_equal(apply_task(w, &task_move_ops), TASK_WAIT);
	assert_string_equal(w->run.waiting, "containerd-shim (pid 812) has "
					    "'/var/lib/docker/containers/abc.log' open");
	assert_false(is_there(w, COPY));
	w->run.since_ns = 1;
	w->e = (struct err){ 0 };
	assert_true(task_move_ops.apply(&w->task, &w->ctx, &w->run, &w->e) < 0);
	assert_int_equal(w->e.kind, ERR_BUSY);
	assert_true(w->run.final);
	assert_string_equal(w->e.msg, "containerd-shim (pid 812) has "
				      "'/var/lib/docker/containers/abc.log' open: /var/lib/docker "
				      "is in use and was not moved");
	assert_false(is_there(w, MARK));
	/* it ends */
	assert_int_equal(unlink(here(w, "/proc/812/fd/7")), 0);
	apply_task_well(w, &task_move_ops);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
}

/* Began and ended while it was copied: the copy proves nothing. */
static void a_write_during_the_copy_is_seen(void **state)
{
	struct world *w = *state;
	autofree char *path = xstrdup(getenv("PATH"));
	int r;

	fill(w);
	scratch_write(&w->root, "/tools/cp",
		      "#!/bin/bash\nPATH=${PATH#*:}\ncp \"$@\" && chmod 644 "
		      "${@: -2:1}/image/repositories.json\n");
	assert_int_equal(chmod(here(w, "/tools/cp"), 0755), 0);
	assert_int_equal(
		setenv("PATH", arena_printf(w->arena, "%s:%s", here(w, "/tools"), path), 1), 0);
	r = apply_task(w, &task_move_ops);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(w->e.kind, ERR_BUSY);
	assert_string_equal(w->e.msg, "/var/lib/docker was written to while it was copied");
	assert_false(is_there(w, MARK));
	assert_false(is_there(w, "/mnt/disks/docker"));
	apply_task_well(w, &task_move_ops);
}

static void a_copy_is_complete(void **state)
{
	struct world *w = *state;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct stat st, other;
	bool has_whiteout;
	char text[16];
	int fd;

	fill(w);
	assert_int_equal(chdir(here(w, "/var/lib/docker")), 0);
	assert_int_equal(chmod(".", 0710), 0);
	assert_int_equal(link("image/repositories.json", "image/second-name"), 0);
	assert_int_equal(symlink("/nowhere", "link"), 0);
	assert_int_equal(mkfifo("fifo", 0640), 0);
	/* an overlay has whiteouts of its own, and lets nothing else make one */
	has_whiteout = mknod("whiteout", S_IFCHR, 0) == 0;
	assert_true(has_whiteout || errno == EPERM);
	assert_int_equal(chown("image", 123, 456), 0);
	assert_int_equal(chmod("image", 02751), 0);
	assert_int_equal(setxattr("overlay2", "user.note", "a\0b", 3, 0), 0);
	fd = open("sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(pwrite(fd, "end", 3, 50 << 20), 3);
	assert_int_equal(close(fd), 0);
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "kubelet.sock");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(close(fd), 0);

	apply_task_well(w, &task_move_ops);
	assert_int_equal(chdir(here(w, "/mnt/disks/docker")), 0);
	assert_int_equal(stat(".", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0710);
	assert_int_equal(stat("image/repositories.json", &st), 0);
	assert_int_equal(stat("image/second-name", &other), 0);
	assert_int_equal(st.st_ino, other.st_ino);
	assert_int_equal(readlink("link", text, sizeof(text)), 8);
	assert_int_equal(lstat("fifo", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(lstat("whiteout", &st), has_whiteout ? 0 : -1);
	assert_true(!has_whiteout || S_ISCHR(st.st_mode));
	assert_int_equal(stat("image", &st), 0);
	assert_int_equal(st.st_mode & 07777, 02751);
	assert_int_equal(st.st_uid, 123);
	assert_int_equal(st.st_gid, 456);
	assert_int_equal(getxattr("overlay2", "user.note", text, sizeof(text)), 3);
	assert_int_equal(stat("sparse", &st), 0);
	assert_true(st.st_blocks * 512 < 1 << 20);
	assert_int_equal(chdir("/"), 0);
}

/* A tool that lost something did not move it, and what uses the old content can go on. */
static void a_copy_that_is_not_proven_is_no_move(void **state)
{
	struct world *w = *state;
	autofree char *path = xstrdup(getenv("PATH"));
	const char *tool = here(w, "/tools/cp");
	int r;

	fill(w);
	scratch_write(
		&w->root, "/tools/cp",
		"#!/bin/bash\nPATH=${PATH#*:}\ncp \"$@\"\nrm ${!#}/image/repositories.json\n");
	assert_int_equal(chmod(tool, 0755), 0);
	assert_int_equal(
		setenv("PATH", arena_printf(w->arena, "%s:%s", here(w, "/tools"), path), 1), 0);
	r = apply_task(w, &task_move_ops);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_true(r < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_string_equal(w->e.msg, "the copy of '/image/repositories.json' differs: "
				      "one has it, one has not");
	assert_false(is_there(w, MARK));
	assert_text(w, "/var/lib/docker/image/repositories.json", "{}");
	/* with a better one */
	assert_int_equal(check_task(w, &task_move_ops), TASK_DIFFERS);
	apply_task_well(w, &task_move_ops);
	assert_text(w, "/mnt/disks/docker/image/repositories.json", "{}");
}

static int compare(struct world *w, const char *a, const char *b)
{
	autoclose int x = open(here(w, a), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int y = open(here(w, b), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(x >= 0 && y >= 0);
	w->e = (struct err){ 0 };
	return same_tree(x, y, &w->e);
}

/* The proof itself: each difference is seen. */
static void a_copy_that_differs_is_none(void **state)
{
	static const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct world *w = *state;
	const char *file;

	fill(w);
	apply_task_well(w, &task_move_ops);
	file = here(w, "/mnt/disks/docker/image/repositories.json");
	assert_int_equal(compare(w, "/var/lib/docker", "/mnt/disks/docker"), 0);

	assert_int_equal(chmod(file, 0600), 0);
	assert_true(compare(w, "/var/lib/docker", "/mnt/disks/docker") < 0);
	assert_string_equal(w->e.msg,
			    "the copy of '/image/repositories.json' differs: type or mode");
	assert_int_equal(chmod(file, 0644), 0);

	assert_int_equal(chown(file, 1, 0), 0);
	assert_true(compare(w, "/var/lib/docker", "/mnt/disks/docker") < 0);
	assert_non_null(strstr(w->e.msg, "owner"));
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(compare(w, "/var/lib/docker", "/mnt/disks/docker"), 0);

	assert_int_equal(setxattr(file, "user.x", "1", 1, 0), 0);
	assert_true(compare(w, "/var/lib/docker", "/mnt/disks/docker") < 0);
	assert_non_null(strstr(w->e.msg, "extended attributes"));
	assert_int_equal(removexattr(file, "user.x"), 0);

	scratch_write(&w->root, "/mnt/disks/docker/image/repositories.json", "[]");
	assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
	assert_int_equal(
		utimensat(AT_FDCWD, here(w, "/var/lib/docker/image/repositories.json"), old, 0), 0);
	assert_true(compare(w, "/var/lib/docker", "/mnt/disks/docker") < 0);
	assert_non_null(strstr(w->e.msg, "content"));

	assert_int_equal(unlink(file), 0);
	assert_true(compare(w, "/var/lib/docker", "/mnt/disks/docker") < 0);
	assert_non_null(strstr(w->e.msg, "one has it"));
}

static void units_are_stopped_and_started_again(void **state)
{
	struct world *w = *state;

	/* absent: nothing to be moved, nothing to stop */
	assert_int_equal(check_task(w, &task_stop_ops), TASK_EQUAL);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);

	fill(w);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why,
			    "docker.socket, docker.service is stopped while its content is moved");
	apply_task_well(w, &task_stop_ops);
	assert_string_equal(w->bus.calls, "stop docker.socket, stop docker.service, ");
	assert_text(w, STOPPED, "docker.socket\ndocker.service\n");
	w->docker->is.active_state = w->socket->is.active_state = "inactive";
	assert_int_equal(check_task(w, &task_stop_ops), TASK_EQUAL);

	/* different: they do not run */
	w->bus.calls[0] = '\0';
	assert_int_equal(check_task(w, &task_resume_ops), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "docker.socket, docker.service was stopped for the move");
	apply_task_well(w, &task_resume_ops);
	assert_string_equal(w->bus.calls, "start docker.service, start docker.socket, ");
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);

	/* twice */
	w->docker->is.active_state = w->socket->is.active_state = "active";
	apply_task_well(w, &task_resume_ops);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
}

static void what_does_not_run_is_not_started(void **state)
{
	struct world *w = *state;

	fill(w);
	w->socket->is.active_state = "inactive";
	apply_task_well(w, &task_stop_ops);
	assert_text(w, STOPPED, "docker.service\n");
	w->bus.calls[0] = '\0';
	apply_task_well(w, &task_resume_ops);
	assert_string_equal(w->bus.calls, "start docker.service, ");
}

/* Killed between stop and start: the next run finds them stopped, and whose work that was. */
static void a_killed_run_leaves_word(void **state)
{
	struct world *w = *state;

	fill(w);
	w->socket->is.active_state = "inactive";
	apply_task_well(w, &task_stop_ops);
	w->docker->is.active_state = "inactive";
	w->socket->is.active_state = "active";
	apply_task_well(w, &task_stop_ops);
	assert_text(w, STOPPED, "docker.service\ndocker.socket\n");
}

static void a_moved_directory_stops_nobody(void **state)
{
	struct world *w = *state;

	fill(w);
	apply_task_well(w, &task_move_ops);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_EQUAL);
	scratch_write(&w->root, "/proc/self/mountinfo", bound);
	assert_int_equal(check_task(w, &task_stop_ops), TASK_EQUAL);
}

static void a_job_is_waited_for_and_may_fail(void **state)
{
	struct world *w = *state;

	fill(w);
	w->docker->job = BUS_JOB_RUNNING;
	assert_int_equal(apply_task(w, &task_stop_ops), TASK_WAIT);
	assert_string_equal(w->run.waiting, "the stop job of docker.service");
	w->docker->job = BUS_JOB_FAILED;
	w->docker->result = "timeout";
	assert_true(task_stop_ops.apply(&w->task, &w->ctx, &w->run, &w->e) < 0);
	assert_string_equal(w->e.msg, "the stop job of docker.service: timeout");
	/* nothing is started twice: one call for each unit */
	assert_string_equal(w->bus.calls, "stop docker.socket, stop docker.service, ");
}

static void an_image_moves_nothing(void **state)
{
	struct world *w = *state;

	fill(w);
	w->ctx.image_mode = true;
	assert_int_equal(check_task(w, &task_stop_ops), TASK_EQUAL);
	assert_int_equal(check_task(w, &task_move_ops), TASK_EQUAL);
	assert_int_equal(check_task(w, &task_resume_ops), TASK_EQUAL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, move_world_new, move_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(four_ways),
		T(nothing_is_moved_to_the_bare_directory),
		T(what_is_in_use_is_not_moved),
		T(what_is_mounted_at_the_target_is_not_emptied),
		T(two_contents_are_both_kept),
		T(content_of_the_volume_is_taken),
		T(a_target_is_a_directory_of_the_volume),
		T(an_interrupted_copy_is_begun_again),
		T(a_copy_without_its_mark_is_known_by_its_content),
		T(what_was_written_meanwhile_is_not_hidden),
		T(a_mark_of_another_machine_is_none),
		T(another_disk_at_the_source_is_not_ours),
		T(what_an_older_volume_holds_is_not_hidden),
		T(a_file_or_a_link_is_no_empty_directory),
		T(content_is_not_copied_under_a_writer),
		T(a_write_during_the_copy_is_seen),
		T(a_copy_is_complete),
		T(a_copy_that_is_not_proven_is_no_move),
		T(a_copy_that_differs_is_none),
		T(units_are_stopped_and_started_again),
		T(what_does_not_run_is_not_started),
		T(a_killed_run_leaves_word),
		T(a_moved_directory_stops_nobody),
		T(a_job_is_waited_for_and_may_fail),
		T(an_image_moves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
