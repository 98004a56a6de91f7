#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "tests/unit/lib/scratch.h"

static struct scratch root;

static int set_up(void **state)
{
	(void)state;
	scratch_new(&root);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_done(&root);
	return 0;
}

static struct io_attr mine(mode_t mode)
{
	return (struct io_attr){ .mode = mode, .uid = geteuid(), .gid = getegid() };
}

static int replace(const char *path, const char *text, mode_t mode, struct err *e)
{
	const struct io_attr attr = mine(mode);

	return io_replace(root.fd, path, text, strlen(text), &attr, e);
}

static void replaced_files_have_content_and_mode(void **state)
{
	autofree char *text = NULL;
	struct err e = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(replace("/a", "old and longer", 0644, &e), 0);
	assert_int_equal(replace("/a", "new", 0600, &e), 0);
	text = scratch_read(&root, "/a");
	assert_string_equal(text, "new");
	assert_true(scratch_stat(&root, "/a", &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	/* no staging file is left */
	assert_int_equal(scratch_count(&root, "/"), 1);
}

/* Who has the old file open goes on reading the old one. */
static void replacing_is_by_rename(void **state)
{
	autobuf struct buf b = BUF_INIT(100);
	autoclose int old = -1;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(replace("/a", "old", 0644, &e), 0);
	assert_int_equal(io_open(root.fd, "/a", O_RDONLY, &old, &e), 0);
	assert_int_equal(replace("/a", "new", 0644, &e), 0);
	assert_int_equal(io_read_fd(old, "a", &b, &e), 0);
	assert_string_equal(buf_str(&b), "old");
	assert_int_equal(fcntl(old, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void a_failure_leaves_the_old_file(void **state)
{
	autofree char *text = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(replace("/a", "old", 0644, &e), 0);
	assert_int_equal(replace("/missing/a", "x", 0644, &e), -ENOENT);
	assert_string_equal(e.msg, "open directory '/missing': No such file or directory");
	assert_int_equal(replace("/a/", "x", 0644, &e), -EINVAL);
	assert_int_equal(replace("a", "x", 0644, &e), -EINVAL);
	assert_int_equal(mkdirat(root.fd, "d", 0755), 0);
	assert_int_equal(replace("/d", "x", 0644, &e), -EISDIR);
	assert_int_equal(scratch_count(&root, "/"), 2);
	text = scratch_read(&root, "/a");
	assert_string_equal(text, "old");
}

static void a_dropped_stage_leaves_nothing(void **state)
{
	struct err e = { 0 };
	const struct io_attr attr = mine(0755);
	struct stat st;

	(void)state;
	{
		autostage struct io_stage s = IO_STAGE_INIT;

		assert_int_equal(io_stage_open(root.fd, "/bin", &s, &e), 0);
		assert_int_equal(fstat(s.fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(scratch_count(&root, "/"), 1);
	}
	assert_int_equal(scratch_count(&root, "/"), 0);
	{
		autostage struct io_stage s = IO_STAGE_INIT;

		assert_int_equal(io_stage_open(root.fd, "/bin", &s, &e), 0);
		assert_int_equal(io_stage_commit(&s, "/bin", &attr, &e), 0);
	}
	assert_true(scratch_stat(&root, "/bin", &st));
	assert_int_equal(st.st_mode & 07777, 0755);
}

/* A file that came between the look and the rename stays. */
static void a_new_file_replaces_none(void **state)
{
	autofree char *text = NULL;
	struct err e = { 0 };
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		autostage struct io_stage s = IO_STAGE_INIT;

		assert_int_equal(io_stage_open(root.fd, "/new", &s, &e), 0);
		assert_int_equal(io_write_fd(s.fd, "/new", i ? "other" : "first", 5, &e), 0);
		assert_int_equal(io_stage_commit_new(&s, "/new", &e), i ? -EEXIST : 0);
	}
	assert_int_equal(e.kind, ERR_REFUSED);
	assert_string_equal(e.msg, "'/new' exists, and is not replaced");
	text = scratch_read(&root, "/new");
	assert_string_equal(text, "first");
	assert_true(scratch_stat(&root, "/new", &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(scratch_count(&root, "/"), 1);
}

static void nothing_leaves_the_root(void **state)
{
	autofree char *text = NULL;
	struct err e = { 0 };
	int fd = -1;

	(void)state;
	assert_int_equal(symlinkat("/etc", root.fd, "abs"), 0);
	assert_int_equal(symlinkat("../../../../etc", root.fd, "rel"), 0);
	assert_int_equal(mkdirat(root.fd, "etc", 0755), 0);
	assert_int_equal(replace("/abs/hosts", "inside", 0644, &e), 0);
	text = scratch_read(&root, "/etc/hosts");
	assert_string_equal(text, "inside");
	assert_int_equal(io_open(root.fd, "/rel/passwd", O_RDONLY, &fd, &e), -ENOENT);
	assert_int_equal(io_open(root.fd, "/../../etc/passwd", O_RDONLY, &fd, &e), -ENOENT);
	assert_int_equal(fd, -1);
}

/* The kernel asks to try again when something is renamed while ".." is followed. */
static void *rename_for_ever(void *arg)
{
	atomic_bool *stop = arg;

	while (!atomic_load(stop)) {
		(void)renameat(root.fd, "x", root.fd, "y");
		(void)renameat(root.fd, "y", root.fd, "x");
	}
	return NULL;
}

static void renames_elsewhere_do_not_fail_an_open(void **state)
{
	atomic_bool stop = false;
	struct err e = { 0 };
	pthread_t t;
	int failed = 0;

	(void)state;
	assert_int_equal(mkdirat(root.fd, "x", 0755), 0);
	assert_int_equal(mkdirat(root.fd, "d", 0755), 0);
	assert_int_equal(symlinkat("../d/../d/../d/../d/../a", root.fd, "d/link"), 0);
	assert_int_equal(replace("/a", "text", 0644, &e), 0);
	assert_int_equal(pthread_create(&t, NULL, rename_for_ever, &stop), 0);
	for (int i = 0; i < 20000; i++) {
		autoclose int fd = -1;

		failed += io_open(root.fd, "/d/link", O_RDONLY, &fd, &e) < 0;
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(failed, 0);
}

static void reading(void **state)
{
	autobuf struct buf b = BUF_INIT(10), small = BUF_INIT(3);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(replace("/a", "0123", 0644, &e), 0);
	assert_int_equal(io_read(root.fd, "/a", &b, &e), 0);
	assert_int_equal(io_read(root.fd, "/a", &b, &e), 0);
	assert_string_equal(buf_str(&b), "01230123");
	assert_int_equal(io_read(root.fd, "/a", &small, &e), -EFBIG);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "/a: larger than 3 bytes");
	assert_int_equal(io_read(root.fd, "/none", &b, &e), -ENOENT);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_int_equal(io_read(root.fd, "/", &b, &e), -EISDIR);
}

static void a_file_is_read_itself_or_not_at_all(void **state)
{
	autobuf struct buf b = BUF_INIT(64);
	struct err e = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(replace("/a", "text", 0640, &e), 0);
	assert_int_equal(symlinkat("a", root.fd, "link"), 0);
	assert_int_equal(io_read_itself(root.fd, "/link", &b, &st, &e), -ELOOP);
	assert_int_equal(io_read_itself(root.fd, "/none", &b, &st, &e), -ENOENT);
	assert_int_equal(b.len, 0);
	assert_int_equal(io_read_itself(root.fd, "/a", &b, &st, &e), 0);
	assert_string_equal(buf_str(&b), "text");
	assert_int_equal(st.st_mode, S_IFREG | 0640);
}

static void directories(void **state)
{
	struct err e = { 0 };
	struct stat st;

	(void)state;
	(void)umask(0077);
	assert_int_equal(io_mkdirs(root.fd, "/a/b/c", 0700, &e), 0);
	assert_int_equal(io_mkdirs(root.fd, "/a/b/c/", 0750, &e), 0);
	assert_int_equal(io_mkdirs(root.fd, "/", 0755, &e), 0);
	(void)umask(0022);
	assert_int_equal(io_stat(root.fd, "/a/b/c", &st, &e), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(io_stat(root.fd, "/a/b", &st, &e), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(replace("/f", "", 0644, &e), 0);
	assert_true(io_mkdirs(root.fd, "/f/g", 0755, &e) < 0);
	assert_int_equal(io_mkdirs(root.fd, "/f", 0755, &e), -ENOTDIR);
	assert_int_equal(e.kind, ERR_SYSTEM);
}

static void stamps_tell_versions_apart(void **state)
{
	struct err e = { 0 };
	struct stat st;
	struct io_stamp one, two;

	(void)state;
	assert_int_equal(replace("/a", "x", 0644, &e), 0);
	assert_int_equal(io_stat(root.fd, "/a", &st, &e), 0);
	one = io_stamp_of(&st);
	assert_int_equal(io_stat(root.fd, "/a", &st, &e), 0);
	two = io_stamp_of(&st);
	assert_true(io_stamp_eq(&one, &two));
	assert_int_equal(replace("/a", "x", 0644, &e), 0);
	assert_int_equal(io_stat(root.fd, "/a", &st, &e), 0);
	two = io_stamp_of(&st);
	assert_false(io_stamp_eq(&one, &two));
	assert_int_equal(symlinkat("/a", root.fd, "l"), 0);
	assert_int_equal(io_stat(root.fd, "/l", &st, &e), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(io_stat(root.fd, "/none", &st, &e), -ENOENT);
}

static void sweeping_spares_what_is_being_written(void **state)
{
	struct io_stage stage;
	struct err e;

	(void)state;
	scratch_write(&root, "/d/.nodeup-0123456789abcdef", "of a killed run");
	scratch_write(&root, "/d/other", "");
	assert_int_equal(io_stage_open(root.fd, "/d/f", &stage, &e), 0);
	assert_int_equal(scratch_count(&root, "/d"), 3);
	/* one is still open, as by who unpacks for a run that was killed */
	assert_false(io_stage_sweep(root.fd, "/d"));
	assert_true(io_stage_sweep(root.fd, "/no/such"));
	assert_int_equal(scratch_count(&root, "/d"), 2);
	assert_int_equal(io_stage_commit(&stage, "/d/f", &(struct io_attr){ .mode = 0600 }, &e), 0);
	io_stage_done(&stage);
	assert_true(io_stage_sweep(root.fd, "/d"));
	assert_int_equal(scratch_count(&root, "/d"), 2);
}

#define in_scratch(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_scratch(sweeping_spares_what_is_being_written),
		in_scratch(replaced_files_have_content_and_mode),
		in_scratch(replacing_is_by_rename),
		in_scratch(a_failure_leaves_the_old_file),
		in_scratch(a_dropped_stage_leaves_nothing),
		in_scratch(a_new_file_replaces_none),
		in_scratch(nothing_leaves_the_root),
		in_scratch(renames_elsewhere_do_not_fail_an_open),
		in_scratch(reading),
		in_scratch(a_file_is_read_itself_or_not_at_all),
		in_scratch(directories),
		in_scratch(stamps_tell_versions_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
