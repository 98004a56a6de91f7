#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/unpack/apply.h"
#include "nodeup/base/mem.h"
#include "tests/unit/lib/origin.h"

/* A tree as the child leaves it, beside a file that nothing may touch. */
struct place {
	char dir[64];
	int fd;
	struct extract_report *report;
};

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));
	autofree char *tree = NULL;

	tmp_make(p->dir);
	tmp_write(p->dir, "victim", "intact", 6);
	tmp_write(p->dir, "tree/d/file", "x", 1);
	tree = xasprintf("%s/tree", p->dir);
	p->fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->fd >= 0);
	assert_int_equal(fchmodat(p->fd, "d/file", EXTRACT_NEW_MODE, 0), 0);
	(void)close(openat(p->fd, "placeholder", O_WRONLY | O_CREAT | O_CLOEXEC, 0));
	p->report = xcalloc(1, sizeof(*p->report));
	p->report->file = fdopen(extract_report_make(), "w+");
	assert_non_null(p->report->file);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	(void)fclose(p->report->file);
	(void)close(p->fd);
	tmp_remove(p->dir);
	free(p->report);
	free(p);
	return 0;
}

static void put(struct place *p, enum extract_kind kind, const char *path, const char *target,
		uint32_t mode)
{
	const struct extract_entry told = {
		.kind = kind, .path = path, .target = target, .mode = mode, .mtime = { 1000, 5 }
	};

	assert_int_equal(extract_report_put(p->report, &told), 0);
}

static int apply(struct place *p, struct err *e)
{
	rewind(p->report->file);
	return extract_apply(p->report, p->fd, "a.tar", 10, e);
}

static void must_be_intact(struct place *p)
{
	struct stat st;

	assert_int_equal(fstatat(p->fd, "../victim", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_size, 6);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_not_equal(st.st_mtim.tv_sec, 1000);
}

static void test_good(void **state)
{
	struct place *p = *state;
	struct stat st;
	struct err e;
	char to[8] = { 0 };

	put(p, EXTRACT_DIR, "d", NULL, 01772);
	put(p, EXTRACT_FILE, "d/file", NULL, 06777);
	put(p, EXTRACT_LINK, "placeholder", "d/file", 0777);
	put(p, EXTRACT_END, "", NULL, 0);
	if (apply(p, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(fstatat(p->fd, "d", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0750); /* nobody else writes to it, whatever it says */
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	assert_int_equal(fstatat(p->fd, "d/file", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755); /* and is never setuid */
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(readlinkat(p->fd, "placeholder", to, sizeof(to)), 6);
}

/* What no honest child would say: none of it reaches out of the tree. */
static void test_forged(void **state)
{
	static const struct {
		enum extract_kind kind;
		const char *path, *target, *says;
	} cases[] = {
		{ EXTRACT_FILE, "../victim", NULL, "'..' in the name" },
		{ EXTRACT_FILE, "d/../../victim", NULL, "'..' in the name" },
		{ EXTRACT_FILE, "/etc/passwd", NULL, "absolute name" },
		{ EXTRACT_FILE, "", NULL, "no name" },
		{ EXTRACT_FILE, "out", NULL, "no longer a file" },
		{ EXTRACT_HARDLINK, "out", NULL, "no longer a file" },
		{ EXTRACT_FILE, "d", NULL, "no longer a file" },
		{ EXTRACT_DIR, "out", NULL, "no longer a directory" },
		{ EXTRACT_FILE, "up/victim", NULL, "open the directory" },
		{ EXTRACT_LINK, "up/victim", "x", "open the directory" },
		{ EXTRACT_LINK, "placeholder", "../victim", "leaves the tree" },
		{ EXTRACT_LINK, "placeholder", "/etc/passwd", "absolute path" },
		{ EXTRACT_FILE, "absent", NULL, "find 'absent'" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		void *again = p;
		struct err e;

		assert_int_equal(symlinkat("../victim", p->fd, "out"), 0);
		assert_int_equal(symlinkat("..", p->fd, "up"), 0);
		put(p, cases[i].kind, cases[i].path, cases[i].target, 0777);
		put(p, EXTRACT_END, "", NULL, 0);
		if (apply(p, &e) >= 0 || !strstr(e.msg, cases[i].says))
			fail_msg("case %zu: '%s', wanted '%s'", i, e.msg, cases[i].says);
		must_be_intact(p);
		assert_int_equal(teardown(&again), 0);
		assert_int_equal(setup(&again), 0);
		*state = p = again;
	}
}

/* An earlier entry's record does not undo a later entry of the same name. */
static void test_superseded(void **state)
{
	struct place *p = *state;
	struct stat st;
	struct err e;

	put(p, EXTRACT_LINK, "d/file", "nowhere", 0777);
	put(p, EXTRACT_FILE, "d/file", NULL, 0640);
	put(p, EXTRACT_FILE, "placeholder", NULL, 0755);
	put(p, EXTRACT_LINK, "placeholder", "d", 0777);
	put(p, EXTRACT_END, "", NULL, 0);
	if (apply(p, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(fstatat(p->fd, "d/file", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0640);
	assert_int_equal(fstatat(p->fd, "placeholder", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void test_half_a_report(void **state)
{
	static const char noise[64] = "\x7f this is not a record at all";
	struct place *p = *state;
	struct err e;

	put(p, EXTRACT_FILE, "d/file", NULL, 0644);
	assert_int_equal(fwrite(noise, sizeof(noise), 1, p->report->file), 1);
	assert_true(apply(p, &e) < 0);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "half a report"));
}

static void test_too_many(void **state)
{
	struct place *p = *state;
	struct err e;

	for (int i = 0; i < 11; i++)
		put(p, EXTRACT_FILE, "d/file", NULL, 0644);
	put(p, EXTRACT_END, "", NULL, 0);
	assert_true(apply(p, &e) < 0);
	assert_non_null(strstr(e.msg, "more entries than allowed"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_good),          TEST(test_forged),   TEST(test_superseded),
		TEST(test_half_a_report), TEST(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
