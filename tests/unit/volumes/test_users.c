#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/volumes/mounts.h"
#include "nodeup/volumes/users.h"
#include "tests/unit/lib/scratch.h"

#define DIR_OF "/var/lib/docker"
#define ROOT "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"

struct world {
	struct scratch root;
	struct arena *arena;
	struct user who;
	struct err e;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->arena = arena_new_empty();
	scratch_write(&w->root, "/proc/self/mountinfo", ROOT);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	arena_free(w->arena);
	free(w);
	return 0;
}

static void put_link(struct world *w, const char *path, const char *to)
{
	char *at = arena_printf(w->arena, "%s%s", w->root.path, path);

	(void)unlink(at);
	assert_int_equal(symlink(to, at), 0);
}

/* A process that uses nothing, in the namespace of that name and table. */
static void process(struct world *w, const char *pid, const char *ns, const char *table)
{
	struct arena *a = w->arena;

	scratch_write(&w->root, arena_printf(a, "/proc/%s/comm", pid), "shim\n");
	scratch_write(&w->root, arena_printf(a, "/proc/%s/maps", pid), "");
	scratch_write(&w->root, arena_printf(a, "/proc/%s/mountinfo", pid), table);
	assert_int_equal(io_mkdirs(w->root.fd, arena_printf(a, "/proc/%s/fd", pid), 0755, &w->e),
			 0);
	scratch_write(&w->root, arena_printf(a, "/proc/%s/ns/.x", pid), "");
	put_link(w, arena_printf(a, "/proc/%s/ns/mnt", pid), ns);
	put_link(w, arena_printf(a, "/proc/%s/cwd", pid), "/");
	put_link(w, arena_printf(a, "/proc/%s/root", pid), "/");
	put_link(w, arena_printf(a, "/proc/%s/fd/0", pid), "/dev/null");
	put_link(w, arena_printf(a, "/proc/%s/fd/1", pid), "socket:[4711]");
}

static const char *look(struct world *w)
{
	w->who = (struct user){ "", "not filled" };
	if (users_of(w->root.fd, w->arena, DIR_OF, NULL, &w->who, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	return w->who.what ? w->who.what : "";
}

static void each_kind_of_use_is_found(void **state)
{
	static const struct {
		const char *link, *said;
	} cases[] = {
		{ "/proc/7/cwd", "as its working directory" },
		{ "/proc/7/root", "as its root directory" },
		{ "/proc/7/exe", "as its program" },
		{ "/proc/7/fd/12", "open" },
	};
	struct world *w = *state;

	process(w, "7", "mnt:[1]", ROOT);
	assert_string_equal(look(w), "");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		put_link(w, cases[i].link, DIR_OF "/a/b");
		assert_string_equal(look(w), arena_printf(w->arena, "shim (pid 7) has '%s' %s",
							  DIR_OF "/a/b", cases[i].said));
		put_link(w, cases[i].link, DIR_OF);
		assert_string_not_equal(look(w), "");
		/* its neighbours are not it */
		put_link(w, cases[i].link, DIR_OF "2/a");
		assert_string_equal(look(w), "");
	}
	scratch_write(&w->root, "/proc/7/maps",
		      "7f00-7f01 r--p 0000 08:01 12      /usr/lib/libc.so\n"
		      "7f02-7f03 rw-p 0000 00:00 0       [heap]\n"
		      "7f04-7f05 rw-s 0000 08:01 13      " DIR_OF "/meta.db\n");
	assert_string_equal(look(w), "shim (pid 7) has '" DIR_OF "/meta.db' mapped");
}

/* A container's own names: the path of a file says nothing without its table of mounts. */
static void other_namespaces_are_seen_through(void **state)
{
	struct world *w = *state;

	/* all of the host's disk, below /host */
	process(w, "8", "mnt:[2]",
		"50 1 0:60 / / rw - overlay overlay rw\n"
		"51 50 8:1 / /host rw - ext4 /dev/sda1 rw\n");
	put_link(w, "/proc/8/fd/3", "/host/var/lib/docker/x");
	assert_string_equal(look(w), "shim (pid 8) has '/host/var/lib/docker/x' open");
	/* the same name on another disk */
	put_link(w, "/proc/8/fd/3", "/var/lib/docker/x");
	assert_string_equal(look(w), "");

	/* a part of it is mounted, whatever is open */
	process(w, "9", "mnt:[3]",
		"50 1 0:61 / / rw - overlay overlay rw\n"
		"51 50 8:1 /var/lib/docker/volumes/v/_data /data rw - ext4 "
		"/dev/sda1 rw\n");
	assert_string_equal(look(w), "shim (pid 9) has '/data' mounted");
	process(w, "9", "mnt:[3]",
		"50 1 0:61 / / rw - overlay overlay rw,lowerdir=/l:"
		"/var/lib/docker/overlay2/b/diff,upperdir=/u\n");
	assert_string_equal(look(w), "shim (pid 9) has '/' mounted");
	process(w, "9", "mnt:[3]",
		"50 1 0:61 / / rw - overlay overlay "
		"rw,upperdir=/x/var/lib/docker/y\n");
	assert_string_equal(look(w), "");
	/* a namespace that a service got has the host's root */
	process(w, "9", "mnt:[3]", ROOT "51 22 0:70 / /var/lib/docker/merged rw - tmpfs t rw\n");
	assert_string_equal(look(w), "shim (pid 9) has '/var/lib/docker/merged' mounted");
}

static void what_cannot_be_seen_is_not_taken_for_unused(void **state)
{
	struct world *w = *state;
	const char *exe = arena_printf(w->arena, "%s/proc/7/exe", w->root.path);

	process(w, "7", "mnt:[1]", ROOT);
	/* no link: as a kernel that refuses, for root may read everything here */
	(void)unlink(exe);
	scratch_write(&w->root, "/proc/7/exe", "");
	assert_true(users_of(w->root.fd, w->arena, DIR_OF, NULL, &w->who, &w->e) < 0);
	assert_string_equal(w->e.msg, "what process 7 has open cannot be seen: Invalid argument");
	/* one that ends meanwhile has nothing any more */
	assert_int_equal(unlink(exe), 0);
	assert_int_equal(unlink(arena_printf(w->arena, "%s/proc/7/maps", w->root.path)), 0);
	assert_string_equal(look(w), "");
}

static void swap_files_are_in_use(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/proc/swaps",
		      "Filename Type Size Used Priority\n/var/lib/docker/swap file 1 0 -2\n");
	assert_string_equal(look(w), "'/var/lib/docker/swap' is swap space in use");
	scratch_write(&w->root, "/proc/swaps", "/var/lib/docker/a\\040b file 1 0 -2\n");
	assert_string_equal(look(w), "'/var/lib/docker/a b' is swap space in use");
	scratch_write(&w->root, "/proc/swaps", "/var/lib/docker2/swap file 1 0 -2\n");
	assert_string_equal(look(w), "");
}

/* docker's devicemapper on loop devices: only the kernel has its two files open. */
static void disks_over_files_are_in_use(void **state)
{
	static const char file[] = "/sys/block/loop3/loop/backing_file";
	struct world *w = *state;

	scratch_write(&w->root, "/sys/block/nvme0n1/size", "1\n");
	scratch_write(&w->root, "/sys/block/loop0/size", "0\n");
	scratch_write(&w->root, file, "/var/lib/docker2/data\n");
	assert_string_equal(look(w), "");
	scratch_write(&w->root, file, DIR_OF "/devicemapper/devicemapper/data\n");
	assert_string_equal(look(w), "'/var/lib/docker/devicemapper/devicemapper/data' is the disk "
				     "/dev/loop3");
	/* removed, and written to all the same */
	scratch_write(&w->root, file, DIR_OF "/metadata (deleted)\n");
	assert_string_equal(look(w), "'/var/lib/docker/metadata (deleted)' is the disk /dev/loop3");
	/* by the name of another mount of it */
	scratch_write(&w->root, "/proc/self/mountinfo",
		      ROOT "40 22 8:1 /var/lib /alias rw - ext4 /dev/sda1 rw\n");
	scratch_write(&w->root, file, "/alias/docker/data\n");
	assert_string_equal(look(w), "'/alias/docker/data' is the disk /dev/loop3");
	scratch_write(&w->root, file, "/alias/else/data\n");
	assert_string_equal(look(w), "");
}

/* The real kernel's /proc, of a process namespace that has nobody but a child of ours in it. */
static int look_for_child(struct world *w, const char *dir, const char *path)
{
	autoclose int root = -1;
	int ready[2], r, before;
	pid_t pid;
	char byte;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0 || pipe(ready) < 0)
		return 10;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	before = users_of(root, w->arena, dir, NULL, &w->who, &w->e);
	if (before < 0 || w->who.what)
		return 11;
	pid = fork();
	if (pid == 0) {
		const int fd = open(path, O_RDWR); /* NOLINT: it is to stay open */

		(void)!write(ready[1], fd >= 0 ? "y" : "n", 1);
		(void)pause();
		_exit(0);
	}
	if (read(ready[0], &byte, 1) != 1 || byte != 'y')
		return 12;
	r = users_of(root, w->arena, dir, NULL, &w->who, &w->e);
	(void)kill(pid, SIGKILL);
	if (r < 0 || !w->who.what)
		return 13;
	return strstr(w->who.what, arena_printf(w->arena, "(pid %d) has '%s' open", pid, path))
		       ? 0
		       : 14;
}

static void a_real_process_is_found(void **state)
{
	struct world *w = *state;
	char *dir = arena_printf(w->arena, "%s/real", w->root.path);
	char *path = arena_printf(w->arena, "%s/file", dir);
	int status = -1;
	pid_t pid;

	scratch_write(&w->root, "/real/file", "x");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
			_exit(9);
		pid = fork();
		if (pid == 0)
			_exit(look_for_child(w, dir, path));
		_exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									   : 8);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void tables_are_read(void **state)
{
	struct world *w = *state;
	struct mounts all;
	const struct mount *m;

	scratch_write(&w->root, "/proc/self/mountinfo",
		      ROOT "30 22 8:16 / /mnt/a\\040b rw shared:1 master:2 - ext4 /dev/sdb rw\n"
			   "31 22 8:32 /sub /mnt/a\\040b rw - ext4 /dev/sdc rw,x\n"
			   "garbage\n");
	assert_int_equal(mounts_read(w->root.fd, w->arena, "self", &all, &w->e), 0);
	assert_int_equal(all.n, 3);
	m = mounts_at(&all, "/mnt/a b");
	assert_non_null(m);
	assert_string_equal(m->source, "/dev/sdc");
	assert_string_equal(m->options, "rw,x");
	assert_null(mounts_at(&all, "/mnt"));
	assert_ptr_equal(mounts_under(&all, "/mnt/a b/x"), m);
	assert_string_equal(mounts_inner(w->arena, m, "/mnt/a b/x"), "/sub/x");
	assert_string_equal(mounts_inner(w->arena, m, "/mnt/a b"), "/sub");
	m = mounts_under(&all, "/mnt/a");
	assert_string_equal(m->point, "/");
	assert_string_equal(mounts_inner(w->arena, m, "/mnt/a"), "/mnt/a");
	assert_string_equal(mounts_inner(w->arena, m, "/"), "/");
	assert_int_equal(mounts_read(w->root.fd, w->arena, "12", &all, &w->e), -ENOENT);
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_kind_of_use_is_found),
		T(other_namespaces_are_seen_through),
		T(what_cannot_be_seen_is_not_taken_for_unused),
		T(swap_files_are_in_use),
		T(disks_over_files_are_in_use),
		T(a_real_process_is_found),
		T(tables_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
