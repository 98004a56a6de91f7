#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "tests/unit/lib/scratch.h"

/* What stands where a file is expected. */
static const struct kind {
	const char *path, *what;
	mode_t mode;
	int errnum;
} kinds[] = {
	{ "/fifo", "FIFO", S_IFIFO, ENXIO },
	{ "/socket", "socket", S_IFSOCK, ENXIO },
	{ "/null", "character device", S_IFCHR, ENXIO },
	{ "/dir", "directory", S_IFDIR, EISDIR },
};

static struct scratch root;

static int set_up(void **state)
{
	(void)state;
	scratch_new(&root);
	scratch_write(&root, "/dir/one", "");
	scratch_write(&root, "/file", "text");
	assert_int_equal(mknodat(root.fd, "fifo", S_IFIFO | 0600, 0), 0);
	assert_int_equal(mknodat(root.fd, "socket", S_IFSOCK | 0600, 0), 0);
	/* reads as empty, if it may be opened */
	assert_int_equal(mknodat(root.fd, "null", S_IFCHR | 0600, makedev(1, 3)), 0);
	assert_int_equal(symlinkat("fifo", root.fd, "link"), 0);
	/* what waits for a writer would wait for ever */
	(void)alarm(60);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)alarm(0);
	scratch_done(&root);
	return 0;
}

static void assert_says(const struct err *e, const struct kind *k)
{
	autofree char *want = xasprintf("'%s' is a %s, not a regular file", k->path, k->what);

	assert_string_equal(e->msg, want);
	assert_int_equal(e->kind, ERR_SYSTEM);
}

static void only_a_regular_file_is_read(void **state)
{
	autobuf struct buf text = BUF_INIT(100);
	struct err e;
	int fd = -1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		assert_int_equal(io_read(root.fd, kinds[i].path, &text, &e), -kinds[i].errnum);
		assert_says(&e, &kinds[i]);
		assert_int_equal(io_open_file(root.fd, kinds[i].path, &fd, &e), -kinds[i].errnum);
		assert_int_equal(fd, -1);
	}
	assert_int_equal(io_read(root.fd, "/link", &text, &e), -ENXIO);
	assert_int_equal(io_read(root.fd, "/none", &text, &e), -ENOENT);
	assert_int_equal(text.len, 0);
	assert_int_equal(io_read(root.fd, "/file", &text, &e), 0);
	assert_string_equal(buf_str(&text), "text");
}

static void only_a_regular_file_is_locked(void **state)
{
	struct err e;
	int fd = -1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		assert_true(io_open_lock(root.fd, kinds[i].path, 0600, &fd, &e) < 0);
	assert_int_equal(io_open_lock(root.fd, "/link", 0600, &fd, &e), -ELOOP);
	assert_int_equal(fd, -1);
	assert_int_equal(io_open_lock(root.fd, "/fifo", 0600, &fd, &e), -ENXIO);
	assert_says(&e, &kinds[0]);
	assert_int_equal(io_open_lock(root.fd, "/new", 0600, &fd, &e), 0);
	(void)close(fd);
	assert_int_equal(scratch_count(&root, "/"), (int)ARRAY_LEN(kinds) + 3);
}

static void nothing_is_waited_for_in_a_directory(void **state)
{
	int fd;

	(void)state;
	fd = io_open_at(root.fd, "fifo", O_NOFOLLOW);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(io_open_at(root.fd, "link", O_NOFOLLOW), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(io_open_at(root.fd, "file", O_DIRECTORY), -1);
	assert_int_equal(errno, ENOTDIR);
}

/* Comes late, writes in two pieces. */
static void *write_late(void *path)
{
	int fd;

	(void)usleep(50 * 1000);
	fd = open(path, O_WRONLY);
	(void)!write(fd, "one ", 4);
	(void)usleep(50 * 1000);
	(void)!write(fd, "two", 3);
	(void)close(fd);
	return NULL;
}

static void a_pipe_that_a_person_names_is_read_to_its_end(void **state)
{
	autofree char *path = xasprintf("%s/fifo", root.path);
	autobuf struct buf text = BUF_INIT(100);
	pthread_t writer;
	struct err e;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_late, path), 0);
	assert_int_equal(io_read_given(path, 0, &text, &e), 0);
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_string_equal(buf_str(&text), "one two");
}

static void a_pipe_without_an_end_has_its_time(void **state)
{
	autofree char *path = xasprintf("%s/fifo", root.path);
	autobuf struct buf text = BUF_INIT(100);
	const int64_t start = dur_now();
	struct err e;

	(void)state;
	assert_int_equal(io_read_given(path, 100 * DUR_MS, &text, &e), -ETIMEDOUT);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, "its writer has not come to the end yet"));
	assert_true(dur_now() - start >= 100 * DUR_MS);
}

static void a_pipe_has_the_limit_of_a_file(void **state)
{
	autobuf struct buf text = BUF_INIT(10);
	struct err e;

	(void)state;
	assert_int_equal(io_read_given("/dev/zero", 0, &text, &e), -EFBIG);
}

static void what_a_person_names_is_no_directory(void **state)
{
	autofree char *dir = xasprintf("%s/dir", root.path),
		      *file = xasprintf("%s/file", root.path);
	autobuf struct buf text = BUF_INIT(100);
	struct err e;

	(void)state;
	assert_int_equal(io_read_given(dir, 0, &text, &e), -EISDIR);
	assert_non_null(strstr(e.msg, "is a directory, not a regular file"));
	assert_int_equal(io_read_given("/none of these", 0, &text, &e), -ENOENT);
	assert_int_equal(io_read_given(file, 0, &text, &e), 0);
	assert_string_equal(buf_str(&text), "text");
}

/* Returns whether the error is this, of a file system below the scratch that has no inode left. */
static bool says_no_inode(const struct err *e, const char *what)
{
	autofree char *all = xasprintf("%s: No space left on device, no inode is free on %s/dir "
				       "(see du -xd1 --inodes)",
				       what, root.path),
		      *cause = xasprintf("no inode is free on %s/dir", root.path);

	return strcmp(e->msg, all) == 0 && strcmp(e->cause, cause) == 0;
}

static void a_name_that_has_no_inode_says_what_shows_it(void **state)
{
	const struct io_attr attr = { .mode = 0644 };
	autofree char *dir = xasprintf("%s/dir", root.path);
	int dir_r, file_r;
	struct err d, f;

	(void)state;
	/* its root is the only one */
	assert_int_equal(mount("tmpfs", dir, "tmpfs", 0, "nr_inodes=1"), 0);
	dir_r = io_mkdirs(root.fd, "/dir/sub", 0755, &d);
	file_r = io_replace(root.fd, "/dir/file", "text", 4, &attr, &f);
	assert_int_equal(umount2(dir, MNT_DETACH), 0);
	assert_int_equal(dir_r, -ENOSPC);
	assert_true(says_no_inode(&d, "create directory '/dir/sub'"));
	assert_int_equal(file_r, -ENOSPC);
	assert_true(says_no_inode(&f, "stage a file beside '/dir/file'"));
}

#define in_scratch(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_scratch(only_a_regular_file_is_read),
		in_scratch(only_a_regular_file_is_locked),
		in_scratch(nothing_is_waited_for_in_a_directory),
		in_scratch(a_pipe_that_a_person_names_is_read_to_its_end),
		in_scratch(a_pipe_without_an_end_has_its_time),
		in_scratch(a_pipe_has_the_limit_of_a_file),
		in_scratch(what_a_person_names_is_no_directory),
		in_scratch(a_name_that_has_no_inode_says_what_shows_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
