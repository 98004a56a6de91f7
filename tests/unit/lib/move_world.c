#include "tests/unit/lib/move_world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char mounted[] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		       "30 22 8:16 / /mnt/disks rw - ext4 /dev/sdb rw\n";
const char bound[] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		     "30 22 8:16 / /mnt/disks rw - ext4 /dev/sdb rw\n"
		     "31 22 8:16 /docker /var/lib/docker rw - ext4 /dev/sdb rw\n";

int move_world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->arena = arena_new_empty();
	w->docker = fake_bus_add(&w->bus, "docker.service", 5);
	w->socket = fake_bus_add(&w->bus, "docker.socket", 5);
	w->task = (struct task){
		.name = "/var/lib/docker",
		.move = { .source = "/var/lib/docker",
			  .target = "/mnt/disks/docker",
			  .mount_point = "/mnt/disks",
			  .machine = "i-0a1b" },
	};
	strv_add(w->arena, &w->task.move.units, "docker.socket");
	strv_add(w->arena, &w->task.move.units, "docker.service");
	w->ctx = (struct task_ctx){ .root_fd = w->root.fd, .bus = &w->bus };
	scratch_write(&w->root, "/proc/self/mountinfo", mounted);
	scratch_write(&w->root, "/mnt/disks/lost+found/x", "");
	*state = w;
	return 0;
}

int move_world_done(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	arena_free(w->arena);
	free(w);
	return 0;
}

int check_task(struct world *w, const struct task_ops *ops)
{
	int r;

	w->diff.why[0] = '\0';
	w->e = (struct err){ 0 };
	r = ops->check(&w->task, &w->ctx, &w->diff, &w->e);
	if (r == TASK_DIFFERS)
		assert_string_not_equal(w->diff.why, "");
	return r;
}

int apply_task(struct world *w, const struct task_ops *ops)
{
	w->e = (struct err){ 0 };
	w->run = (struct task_run){ 0 };
	return ops->apply(&w->task, &w->ctx, &w->run, &w->e);
}

void apply_task_well(struct world *w, const struct task_ops *ops)
{
	if (apply_task(w, ops) != TASK_DONE)
		fail_msg("%s %s", w->e.msg, w->run.waiting);
}

char *here(struct world *w, const char *path)
{
	return arena_printf(w->arena, "%s%s", w->root.path, path);
}

void fill(struct world *w)
{
	scratch_write(&w->root, "/var/lib/docker/image/repositories.json", "{}");
	scratch_write(&w->root, "/var/lib/docker/overlay2/abc/diff/etc/passwd", "root");
}

void assert_text(struct world *w, const char *path, const char *want)
{
	char *text = scratch_read(&w->root, path);

	if (!text)
		fail_msg("no %s", path);
	assert_string_equal(text, want);
	free(text);
}

bool is_there(struct world *w, const char *path)
{
	struct stat st;

	return scratch_stat(&w->root, path, &st);
}

void a_process(struct world *w, const char *pid, const char *link, const char *to)
{
	char *dir = arena_printf(w->arena, "/proc/%s/fd", pid);

	assert_int_equal(io_mkdirs(w->root.fd, dir, 0755, &w->e), 0);
	scratch_write(&w->root, arena_printf(w->arena, "/proc/%s/comm", pid), "containerd-shim\n");
	scratch_write(&w->root, arena_printf(w->arena, "/proc/%s/maps", pid), "");
	scratch_write(&w->root, arena_printf(w->arena, "/proc/%s/mountinfo", pid), mounted);
	scratch_write(&w->root, arena_printf(w->arena, "/proc/%s/ns/.x", pid), "");
	assert_int_equal(
		symlink("mnt:[1]", here(w, arena_printf(w->arena, "/proc/%s/ns/mnt", pid))), 0);
	assert_int_equal(symlink(to, here(w, arena_printf(w->arena, "/proc/%s/%s", pid, link))), 0);
}
