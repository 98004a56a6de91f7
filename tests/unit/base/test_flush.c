#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/flush.h"
#include "tests/unit/lib/lost_writes.h"
#include "tests/unit/lib/scratch.h"

enum { FILES = 6 };

/* A group, and what became of each of its files: 1 well, else its errno. */
struct world {
	struct scratch root;
	struct flush *f;
	int fds[FILES];
	int became[FILES];
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->f = flush_new();
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	flush_free(w->f);
	scratch_done(&w->root);
	free(w);
	return 0;
}

static void note_end(void *arg, int fd, const struct err *e)
{
	int *became = arg;

	assert_true(fd >= 0);
	assert_int_equal(*became, 0);
	*became = e ? e->errnum : 1;
}

static void add(struct world *w, int i, const char *path, const char *text)
{
	const struct io_attr attr = { .mode = 0640, .uid = geteuid(), .gid = getegid() };
	autostage struct io_stage s = IO_STAGE_INIT;
	struct err e;

	assert_int_equal(io_stage_open(w->root.fd, path, &s, &e), 0);
	assert_int_equal(io_write_fd(s.fd, path, text, strlen(text), &e), 0);
	w->fds[i] = s.fd;
	assert_int_equal(flush_add(w->f, &s, path, &attr, note_end, &w->became[i], &e), 0);
	assert_int_equal(s.fd, -1);
}

static void add_all(struct world *w)
{
	for (int i = 0; i < FILES; i++) {
		char path[] = "/f0";

		path[2] = (char)('0' + i);
		add(w, i, path, path);
	}
}

static void named_when_flushed(void **state)
{
	struct world *w = *state;
	struct stat st;
	struct err e;

	assert_int_equal(flush_since(w->f), 0);
	scratch_write(&w->root, "/f1", "the old one");
	add_all(w);
	assert_true(flush_since(w->f) > 0);
	assert_false(scratch_stat(&w->root, "/f0", &st));
	for (int i = 0; i < FILES; i++)
		assert_int_equal(w->became[i], 0);
	assert_int_equal(flush_run(w->f, &e), 0);
	assert_int_equal(flush_since(w->f), 0);
	for (int i = 0; i < FILES; i++) {
		char path[] = "/f0";
		autofree char *text = NULL;

		path[2] = (char)('0' + i);
		text = scratch_read(&w->root, path);
		assert_string_equal(text, path);
		assert_true(scratch_stat(&w->root, path, &st));
		assert_int_equal(st.st_mode & 07777, 0640);
		assert_int_equal(w->became[i], 1);
	}
	assert_int_equal(scratch_count(&w->root, "/"), FILES);
	/* each is told once */
	assert_int_equal(flush_run(w->f, &e), 0);
}

static void a_group_that_ends_leaves_nothing(void **state)
{
	struct world *w = *state;

	add_all(w);
	flush_free(w->f);
	w->f = NULL;
	assert_int_equal(scratch_count(&w->root, "/"), 0);
	assert_int_equal(w->became[0], ECANCELED);
}

static void a_name_that_cannot_be_had_fails_alone(void **state)
{
	struct world *w = *state;
	struct err e;

	add(w, 0, "/a", "a");
	add(w, 1, "/b", "b");
	scratch_write(&w->root, "/a/in/the/way", "");
	assert_int_equal(flush_run(w->f, &e), 0);
	assert_int_equal(w->became[0], EISDIR);
	assert_int_equal(w->became[1], 1);
	assert_int_equal(scratch_count(&w->root, "/"), 2);
}

/* In a process of its own; its exit status. */
static int in_child(struct world *w, int (*fn)(struct world *w))
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn(w));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int lose_one(struct world *w)
{
	/* a whole flush fails for the names, too: those of the others are told that */
	const bool whole = flush_is_whole(w->root.fd);
	const int want = whole ? -EIO : 0;
	struct err e;

	add_all(w);
	assert_int_equal(flush_note(w->f, w->root.fd, &e), 0);
	lose_writes(w->fds[3]);
	if (flush_run(w->f, &e) != want)
		return 3;
	for (int i = 0; i < FILES; i++)
		if (w->became[i] != (whole || i == 3 ? EIO : 1))
			return 1;
	return flush_run(w->f, &e) == want ? 0 : 2;
}

/* Its name is not there, and those of the others are. */
static void a_lost_write_is_told_to_its_file(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(in_child(w, lose_one), 0);
	assert_false(scratch_stat(&w->root, "/f3", &st));
	assert_true(scratch_stat(&w->root, "/f2", &st));
	assert_int_equal(scratch_count(&w->root, "/"), FILES - 1);
}

static int lose_names(struct world *w)
{
	struct err e;

	if (flush_note(w->f, w->root.fd, &e) < 0)
		return 1;
	lose_writes(-1);
	if (flush_run(w->f, &e) != -EIO || e.kind != ERR_SYSTEM)
		return 2;
	/* nothing is noted any more, and what was lost stays lost */
	return flush_run(w->f, &e) == -EIO ? 0 : 3;
}

static void lost_names_stay_an_error(void **state)
{
	assert_int_equal(in_child(*state, lose_names), 0);
}

static int lose_of_many(struct world *w)
{
	int lost[FILES];

	add_all(w);
	lose_writes(w->fds[3]);
	if (flush_files(w->fds, FILES, lost) != 1)
		return 1;
	for (int i = 0; i < FILES; i++)
		if (lost[i] != (i == 3 ? EIO : 0))
			return 2;
	return 0;
}

static void which_was_lost_is_found(void **state)
{
	struct world *w = *state;
	int lost[FILES] = { 1, 1, 1, 1, 1, 1 };

	add_all(w);
	assert_int_equal(flush_files(w->fds, FILES, lost), 0);
	assert_int_equal(lost[0] | lost[FILES - 1], 0);
	flush_free(w->f);
	w->f = flush_new();
	assert_int_equal(in_child(w, lose_of_many), 0);
}

/* From here on a process that asks for the kernel's version is killed. */
static void forbid_uname(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_uname, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_LEN(filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		_exit(99);
}

static int note_twice(struct world *w)
{
	autoclose int dir = io_open_at(w->root.fd, "dir", O_DIRECTORY);
	struct err e;

	if (!flush_is_whole(dir))
		return 0;
	if (flush_note(w->f, w->root.fd, &e) < 0)
		return 1;
	forbid_uname();
	return flush_note(w->f, dir, &e) < 0 || flush_run(w->f, &e) < 0;
}

/* The kernel and the file system are asked once, and not for each name. */
static void a_file_system_is_asked_once(void **state)
{
	struct world *w = *state;

	scratch_write(&w->root, "/dir/file", "");
	assert_int_equal(in_child(w, note_twice), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(named_when_flushed),
		TEST(a_group_that_ends_leaves_nothing),
		TEST(a_name_that_cannot_be_had_fails_alone),
		TEST(a_lost_write_is_told_to_its_file),
		TEST(lost_names_stay_an_error),
		TEST(which_was_lost_is_found),
		TEST(a_file_system_is_asked_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
