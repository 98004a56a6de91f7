#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/tree.h"
#include "assets/unpack/extract.h"
#include "assets/cache/unpack.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/lost_writes.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/tar.h"

/* A cache, and an archive in memory. */
struct box {
	char dir[64];
	int root_fd;
	struct cache *c;
	struct arena *a;
	struct buf archive;
	struct asset as;
};

static int setup(void **state)
{
	struct box *x = xcalloc(1, sizeof(*x));
	struct err e;

	tmp_make(x->dir);
	x->root_fd = open(x->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(cache_new(x->root_fd, "/cache", true, &x->c, &e), 0);
	x->a = arena_new_empty();
	x->archive = TAR_BUF;
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct box *x = *state;

	cache_free(x->c);
	(void)close(x->root_fd);
	arena_free(x->a);
	buf_done(&x->archive);
	assert_int_equal(walk_remove(AT_FDCWD, x->dir), 0);
	free(x);
	return 0;
}

static void end_archive(struct box *x)
{
	tar_end(&x->archive);
	tar_gzip(&x->archive);
	x->as = (struct asset){ .name = "cni.tar.gz", .form = ASSET_TAR_GZ };
	digest_of(DIGEST_SHA1, x->archive.data, x->archive.len, &x->as.digest);
}

/* Noise, so that an archive is more than what a pipe holds. */
static char *noise(struct box *x, size_t n)
{
	char *p = arena_alloc(x->a, n + 1);
	uint32_t seed = 1;

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (char)('!' + (seed >> 24) % 90);
	}
	return p;
}

static void good_archive(struct box *x)
{
	tar_add(&x->archive, &(struct tar_entry){ .name = "bin/", .type = '5', .mode = 0755 });
	tar_add(&x->archive, &(struct tar_entry){ .name = "bin/bridge",
						  .type = '0',
						  .mode = 0755,
						  .data = noise(x, 2000000) });
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "bin/alias", .type = '2', .link = "bridge" });
	tar_add(&x->archive, &(struct tar_entry){ .name = "last", .type = '0', .data = "x" });
	/* whoever inflates may keep as much to itself until the end */
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "more", .type = '0', .data = noise(x, 500000) });
	end_archive(x);
}

static char *path_of(struct box *x, const char *name)
{
	return arena_printf(x->a, "%s/cache/%s", x->dir, name);
}

static char *tree_of(struct box *x, const char *name)
{
	return arena_printf(x->a, "%s%s/%s", x->dir, cache_unpacked_path(x->c, x->a, &x->as.digest),
			    name);
}

/* How many names a folder of the cache has; the last of them in *ret. */
static size_t names_in(struct box *x, const char *folder, char **ret)
{
	autodir DIR *dir = opendir(path_of(x, folder));
	const struct dirent *d;
	size_t n = 0;

	assert_non_null(dir);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.' && ++n && ret)
			*ret = arena_printf(x->a, "%s/%s", folder, d->d_name);
	return n;
}

static void must_be_empty(struct box *x)
{
	assert_int_equal(names_in(x, "tmp", NULL), 0);
	assert_int_equal(names_in(x, "unpacked", NULL), 0);
}

/* Feed from..to in pieces of an odd size; 0 or the first error. */
static int feed(struct unpack *u, const struct buf *b, size_t from, size_t to, struct err *e)
{
	int r = 0;

	for (size_t at = from; at < to && r == 0; at += 7001)
		r = unpack_feed(u,
				&(struct extract_piece){ b->data + at,
							 to - at < 7001 ? to - at : 7001, -1, 0 },
				e);
	return r;
}

/* Wait until the child has made the file, as stat gives it; it is as fast as it likes. */
static void wait_for(const char *path, struct stat *ret)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };

	for (int i = 0; i < 12000; i++) {
		if (lstat(path, ret) == 0)
			return;
		(void)nanosleep(&nap, NULL);
	}
	fail_msg("'%s' does not appear", path);
}

static void test_streamed(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct stat st;
	struct err e;
	char have[8] = { 0 };

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(stat(tree_of(x, "bin/bridge"), &st), 0);
	assert_int_equal(st.st_size, 2000000);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(readlink(tree_of(x, "bin/alias"), have, sizeof(have)), 6);
	assert_int_equal(lstat(tree_of(x, "bin/alias"), &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(stat(tree_of(x, "."), &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(names_in(x, "tmp", NULL), 0);

	/* there it is */
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), -EALREADY);
	assert_null(u);
}

/* A full disk has room for no record: this run goes on with what it unpacked, the next one looks again. */
static void test_without_record(void **state)
{
	struct box *x = *state;
	struct cache *later;
	struct unpack *u;
	struct err e;

	good_archive(x);
	assert_int_equal(walk_remove(AT_FDCWD, path_of(x, "verified")), 0);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(cache_has_tree(x->c, &x->as));
	/* it is the tree that was verified, not its name, that is known */
	assert_int_equal(chmod(tree_of(x, "last"), 0600), 0);
	assert_false(cache_has_tree(x->c, &x->as));
	assert_int_equal(cache_new(x->root_fd, "/cache", false, &later, &e), 0);
	assert_false(cache_has_tree(later, &x->as));
	cache_free(later);
}

static void unpack_whole(struct box *x)
{
	struct unpack *u;
	struct err e;

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Whether another process would believe the tree. */
static bool is_recorded(struct box *x)
{
	struct cache *other;
	struct err e;
	bool has;

	assert_int_equal(cache_new(x->root_fd, "/cache", false, &other, &e), 0);
	has = cache_has_tree(other, &x->as);
	cache_free(other);
	return has;
}

/* This run goes on with the tree at once. A record says that the tree is on the disk, so it waits for that. */
static void test_recorded_when_flushed(void **state)
{
	struct box *x = *state;
	struct err e;

	unpack_whole(x);
	assert_true(cache_has_tree(x->c, &x->as));
	assert_int_equal(is_recorded(x), !cache_settles(x->c));
	assert_int_equal(cache_settle(x->c, &e), 0);
	assert_true(is_recorded(x));
	/* nothing waits any more: a record that is gone is not written again */
	assert_int_equal(walk_remove(AT_FDCWD, path_of(x, "verified")), 0);
	assert_int_equal(mkdir(path_of(x, "verified"), 0755), 0);
	assert_int_equal(cache_settle(x->c, &e), 0);
	assert_false(is_recorded(x));
}

/* A tree that was changed before it was flushed gets no record. */
static void test_changed_before_it_is_flushed(void **state)
{
	struct box *x = *state;
	struct err e;

	unpack_whole(x);
	assert_int_equal(chmod(tree_of(x, "last"), 0600), 0);
	assert_int_equal(cache_settle(x->c, &e), 0);
	assert_false(cache_has_tree(x->c, &x->as));
	assert_false(is_recorded(x));
}

/* The kernel says once that a write was lost, and the tree reads as right from memory. */
static void test_lost_when_flushed(void **state)
{
	struct box *x = *state;
	int status = -1;
	struct err e;
	pid_t pid;

	if (!cache_settles(x->c))
		skip();
	unpack_whole(x);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		lose_writes(-1);
		_exit(cache_settle(x->c, &e) == -EIO && e.kind == ERR_SYSTEM ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	must_be_empty(x);
	assert_false(cache_has_tree(x->c, &x->as));
	assert_int_equal(cache_settle(x->c, &e), 0);
	assert_false(is_recorded(x));
}

/* A disk changed a byte and no stamp says so. The process that read the tree knows it. Where it may
 * not remove the tree, it takes it for absent from then on. */
static void test_wrong_in_a_read_only_cache(void **state)
{
	struct box *x = *state;
	struct cache *readers[2];
	autoclose int fd = -1;
	struct digest stamp;
	struct unpack *u;
	struct err e;

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
	fd = open(tree_of(x, "last"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "y", 1), 1);
	(void)close(fd);
	fd = open(tree_of(x, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(cache_tree_stamp(fd, &stamp), 0);
	cache_tree_believe(x->c, &x->as.digest, &stamp, NULL, false);
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		assert_int_equal(cache_new(x->root_fd, "/cache", false, &readers[i], &e), 0);
	assert_true(cache_has_tree(readers[0], &x->as));
	assert_true(cache_tree_is_wrong(readers[0], &x->as));
	assert_false(cache_has_tree(readers[0], &x->as));
	assert_true(cache_has_tree(readers[1], &x->as));
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		cache_free(readers[i]);
	/* where it may, it removes the tree */
	assert_true(cache_tree_is_wrong(x->c, &x->as));
	assert_int_equal(access(tree_of(x, ""), F_OK), -1);
	assert_false(cache_has_tree(x->c, &x->as));
}

/* Whatever the archive says, nobody but root may write to anything of the tree. */
static void test_modes(void **state)
{
	static const struct tree_mode {
		const char *name, type;
		unsigned int mode, want;
	} cases[] = {
		{ "plain", '5', 0755, 0755 },       { "open", '5', 0777, 0755 },
		{ "sticky", '5', 01777, 0755 },     { "group", '5', 0775, 0755 },
		{ "closed", '5', 0500, 0500 },      { "open/bridge", '0', 0777, 0755 },
		{ "open/text", '0', 0666, 0644 },   { "sticky/ptp", '0', 0772, 0750 },
		{ "plain/group", '0', 0664, 0644 }, { "closed/key", '0', 0600, 0600 },
	};
	struct box *x = *state;
	struct unpack *u;
	struct stat st;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		tar_add(&x->archive, &(struct tar_entry){ .name = cases[i].name,
							  .type = cases[i].type,
							  .mode = cases[i].mode });
	/* another name of a file, with more rights than its own */
	tar_add(&x->archive,
		&(struct tar_entry){
			.name = "hard", .type = '1', .link = "open/text", .mode = 0777 });
	/* one that only its members imply */
	tar_add(&x->archive, &(struct tar_entry){ .name = "implied/x", .type = '0', .mode = 0622 });
	end_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(lstat(tree_of(x, cases[i].name), &st), 0);
		if ((st.st_mode & 07777) != cases[i].want)
			fail_msg("%s: mode %o", cases[i].name, st.st_mode & 07777);
	}
	assert_int_equal(lstat(tree_of(x, "hard"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(lstat(tree_of(x, "implied"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(lstat(tree_of(x, "implied/x"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(cache_has_tree(x->c, &x->as));
}

/* A record is of what was verified: a tree that others may write to has none that counts, whatever its
 * stamp. */
static void test_no_record_for_an_open_tree(void **state)
{
	static const char *const names[] = { "bin/bridge", "bin", "." };
	struct box *x = *state;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		autoclose int fd = -1;
		struct digest stamp;
		struct unpack *u;
		struct stat st;

		x->archive.len = 0;
		good_archive(x);
		assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
		if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
			fail_msg("%s", e.msg);
		assert_true(cache_has_tree(x->c, &x->as));
		assert_int_equal(stat(tree_of(x, names[i]), &st), 0);
		assert_int_equal(chmod(tree_of(x, names[i]), 0757), 0);
		fd = open(tree_of(x, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(cache_tree_stamp(fd, &stamp), -EPERM);
		assert_int_equal(cache_tree_digest(fd, &stamp), -EPERM);
		assert_false(cache_has_tree(x->c, &x->as));
		assert_int_equal(walk_remove(AT_FDCWD, tree_of(x, "")), 0);
	}
}

/* Before the verdict: private, without modes, without links, and without a trace once dropped. */
static void test_nothing_before_the_verdict(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct stat st;
	struct err e;
	char *tmp;

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	assert_int_equal(feed(u, &x->archive, 0, x->archive.len, &e), 0);
	assert_int_equal(names_in(x, "tmp", &tmp), 1);
	wait_for(arena_printf(x->a, "%s/last", path_of(x, tmp)), &st);
	assert_int_equal(stat(path_of(x, tmp), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	wait_for(arena_printf(x->a, "%s/bin/alias", path_of(x, tmp)), &st);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0);
	wait_for(arena_printf(x->a, "%s/bin/bridge", path_of(x, tmp)), &st);
	assert_int_equal(st.st_mode & 0111, 0);
	if (geteuid() == 0)
		assert_int_not_equal(st.st_uid, 0);
	assert_int_equal(names_in(x, "unpacked", NULL), 0);
	unpack_abort(u);
	must_be_empty(x);
	unpack_abort(NULL);
}

/* Another program of the user that the child is, and what it could do by the tree's name. */
static int as_nobody(const char *tree)
{
	autofree char *file = xasprintf("%s/bin/bridge", tree);
	int fd;

	if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
	    setresuid(65534, 65534, 65534) < 0)
		return 1;
	fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		return 2;
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		return 3;
	if (rename(file, tree) == 0 || errno != EACCES || chmod(tree, 0777) == 0 || errno != EACCES)
		return 4;
	return 0;
}

/* Its owner is one that others may be: the way to it is closed. */
static void test_nobody_else_gets_there(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct stat st;
	struct err e;
	int status;
	pid_t pid;
	char *tmp;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(x->dir, 0755), 0);
	/* as an earlier version made it */
	assert_int_equal(chmod(path_of(x, "tmp"), 0755), 0);
	cache_free(x->c);
	assert_int_equal(cache_new(x->root_fd, "/cache", true, &x->c, &e), 0);
	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	assert_int_equal(feed(u, &x->archive, 0, x->archive.len, &e), 0);
	assert_int_equal(names_in(x, "tmp", &tmp), 1);
	wait_for(arena_printf(x->a, "%s/bin/bridge", path_of(x, tmp)), &st);
	assert_int_equal(st.st_uid, 65534);
	pid = fork();
	if (pid == 0)
		_exit(as_nobody(path_of(x, tmp)));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if (unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Each of these is refused by name and reason, and of none of them anything is left. */
static const struct evil {
	struct tar_entry entries[3];
	const char *says;
} evils[] = {
	{ { { "/etc/evil", '0' } }, "'/etc/evil' refused: absolute name" },
	{ { { "//etc/evil", '5' } }, "'//etc/evil' refused: absolute name" },
	{ { { "../evil", '0' } }, "'../evil' refused: '..' in the name" },
	{ { { "a/../../evil", '0' } }, "'a/../../evil' refused: '..' in the name" },
	{ { { "a/b/..", '5' } }, "'a/b/..' refused: '..' in the name" },
	{ { { ".", '0' } }, "'.' refused: no name" },
	{ { { "l", '2', "/etc/passwd" } }, "'l' refused: a link to an absolute path" },
	{ { { "l", '2', ".." } }, "'l' refused: a link that leaves the tree" },
	{ { { "a/l", '2', "../../x" } }, "'a/l' refused: a link that leaves the tree" },
	{ { { "a/up", '2', ".." }, { "l", '2', "a/up/../x" } },
	  "'l' refused: a link that leaves the tree" },
	{ { { "l", '2' } }, "'l' refused: a link without a target" },
	{ { { "l", '2', "x" }, { "l/f", '0' } },
	  "'l/f' refused: its directory is a link or a file" },
	{ { { "h", '1', "/etc/passwd" } }, "'h' refused: absolute name" },
	{ { { "h", '1', "../victim" } }, "'h' refused: '..' in the name" },
	{ { { "h", '1', "missing" } }, "'h' refused: a hard link to no earlier file" },
	{ { { "l", '2', "x" }, { "h", '1', "l" } }, "'h' refused: a hard link to no earlier file" },
	{ { { "f", '0' }, { "f", '1', "f" } }, "'f' refused: a link to itself" },
	{ { { "null", '3' } }, "'null' refused: neither file, directory nor link" },
	{ { { "sda", '4' } }, "'sda' refused: neither file, directory nor link" },
	{ { { "fifo", '6' } }, "'fifo' refused: neither file, directory nor link" },
	{ { { "su", '0', .mode = 04755 } }, "'su' refused: setuid or setgid" },
	{ { { "sg", '0', .mode = 02755 } }, "'sg' refused: setuid or setgid" },
	{ { { "sd/", '5', .mode = 02755 } }, "'sd/' refused: setuid or setgid" },
	{ { { "d/", '5' }, { "d", '2', "x" } }, "'d' refused: it would replace a directory" },
	{ { { "d/f", '0' }, { "d", '0' } }, "'d' refused: it would replace a directory" },
	{ { { "f", '0' }, { "d/", '5' }, { "d", '1', "f" } },
	  "'d' refused: it would replace a directory" },
	{ { { "f", '0' }, { "f/g", '0' } }, "'f/g' refused: its directory is a link or a file" },
	{ { { "f", '0' }, { "f/", '5' } }, "'f/' refused: a directory in place of something else" },
	{ { { "huge", '0', .size = UINT64_C(6) << 30 } }, "truncated, at or after entry 'huge'" },
};

/* Nothing of it is wanted, and what an evil archive is refused for is the same. */
static void test_evil(void **state)
{
	for (size_t k = 0; k < 2 * ARRAY_LEN(evils); k++) {
		const size_t i = k / 2;
		struct strv none = { 0 };
		struct box *x = *state;
		struct unpack *u;
		struct err e = { 0 };
		int r;

		tar_add(&x->archive,
			&(struct tar_entry){ .name = "good", .type = '0', .data = "x" });
		for (size_t n = 0; n < ARRAY_LEN(evils[i].entries) && evils[i].entries[n].name; n++)
			tar_add(&x->archive, &evils[i].entries[n]);
		end_archive(x);
		x->as.members = k % 2 ? &none : NULL;
		assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
		r = feed(u, &x->archive, 0, x->archive.len, &e);
		if (r < 0)
			unpack_abort(u);
		else
			r = unpack_finish(u, &e);
		if (r >= 0 || e.kind != ERR_INTEGRITY || !strstr(e.msg, "'cni.tar.gz'") ||
		    !strstr(e.msg, evils[i].says))
			fail_msg("case %zu.%zu: %d '%s', wanted '%s'", i, k % 2, r, e.msg,
				 evils[i].says);
		must_be_empty(x);
		assert_int_equal(access(arena_printf(x->a, "%s/evil", x->dir), F_OK), -1);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* The asset, with these members alone. */
static struct asset only(struct box *x, const char *first, const char *second)
{
	struct asset as = x->as;

	as.members = arena_new(x->a, struct strv);
	*as.members = (struct strv){ 0 };
	strv_add(x->a, as.members, first);
	if (second)
		strv_add(x->a, as.members, second);
	return as;
}

static void add_archive_to_cache(struct box *x)
{
	struct cache_entry *en;
	struct err e;

	assert_int_equal(cache_begin(x->c, &x->as.digest, &en, &e), 0);
	assert_int_equal(cache_write(en, x->archive.data, x->archive.len, &e), 0);
	assert_int_equal(cache_commit(en, &e), 0);
}

static void must_unpack(struct cache *c, const struct asset *as)
{
	struct err e;

	if (cache_unpack(c, as, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(cache_has_tree(c, as));
}

static ino_t inode_of(struct box *x, const char *name)
{
	struct stat st;

	return lstat(tree_of(x, name), &st) < 0 ? 0 : st.st_ino;
}

/* What is wanted is there as it would be in the whole tree, and of the rest the directories. */
static void test_members(void **state)
{
	struct box *x = *state;
	struct asset two, more;
	struct cache *other;
	struct unpack *u;
	struct stat st;
	struct err e;

	good_archive(x);
	two = only(x, "bridge", "alias");
	more = only(x, "bridge", "last");
	assert_int_equal(unpack_start(x->c, &two, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(stat(tree_of(x, "bin/alias"), &st), 0);
	assert_int_equal(st.st_size, 2000000);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(inode_of(x, "last") | inode_of(x, "more"), 0);
	assert_int_equal(cache_settle(x->c, &e), 0);
	assert_int_equal(cache_new(x->root_fd, "/cache", false, &other, &e), 0);
	assert_true(cache_has_tree(other, &two));
	assert_false(cache_has_tree(other, &more));
	assert_false(cache_has_tree(other, &x->as));
	cache_free(other);
	assert_true(cache_has_tree(x->c, &two));
	assert_false(cache_has_tree(x->c, &more));
	assert_false(cache_has_tree(x->c, &x->as));
}

/* What another node's documents want, too, is added out of the archive. Fewer members change nothing. */
static void test_members_grow(void **state)
{
	struct box *x = *state;
	struct asset last, more;
	struct cache *later;
	struct err e;
	ino_t tree;

	good_archive(x);
	add_archive_to_cache(x);
	last = only(x, "last", NULL);
	more = only(x, "more", NULL);
	must_unpack(x->c, &last);
	tree = inode_of(x, "");
	must_unpack(x->c, &last);
	assert_int_equal(inode_of(x, ""), tree);
	assert_int_equal(cache_settle(x->c, &e), 0);

	assert_int_equal(cache_new(x->root_fd, "/cache", true, &later, &e), 0);
	must_unpack(later, &more);
	assert_true(cache_has_tree(later, &last));
	assert_int_equal(inode_of(x, "bin/bridge"), 0);
	tree = inode_of(x, "");
	must_unpack(later, &last);
	assert_int_equal(inode_of(x, ""), tree);
	must_unpack(later, &x->as);
	assert_int_not_equal(inode_of(x, "bin/bridge"), 0);
	tree = inode_of(x, "");
	cache_free(later);
	/* it has a record as each version of nodeup writes it for a whole tree */
	assert_int_equal(cache_new(x->root_fd, "/cache", true, &later, &e), 0);
	must_unpack(later, &more);
	assert_false(cache_tree_is_wrong(later, &more));
	assert_int_equal(inode_of(x, ""), tree);
	cache_free(later);
}

/* The archive cannot be read from its start again while it arrives: the task after it takes all of it. */
static void test_member_is_a_link_to_another(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct asset as;
	struct err e;
	int r;

	tar_add(&x->archive, &(struct tar_entry){ .name = "real", .type = '0', .data = "x" });
	tar_add(&x->archive, &(struct tar_entry){ .name = "name", .type = '1', .link = "real" });
	end_archive(x);
	as = only(x, "name", NULL);
	assert_int_equal(unpack_start(x->c, &as, &u, &e), 0);
	r = feed(u, &x->archive, 0, x->archive.len, &e);
	if (r < 0)
		unpack_abort(u);
	else
		r = unpack_finish(u, &e);
	assert_int_equal(r, -EMLINK);
	assert_int_equal(e.kind, ERR_SYSTEM);
	must_be_empty(x);
	add_archive_to_cache(x);
	must_unpack(x->c, &as);
	assert_int_equal(inode_of(x, "name"), inode_of(x, "real"));
	assert_true(cache_has_tree(x->c, &x->as));
}

/* Before it has a record, and whatever its record says, it is compared with what it is to have of the archive. */
static void test_members_are_compared(void **state)
{
	static const char *const wrong[] = { "bin/bridge", "last", "bin/planted" };
	struct box *x = *state;
	struct asset as;
	struct err e;

	good_archive(x);
	add_archive_to_cache(x);
	as = only(x, "bridge", "alias");
	for (size_t i = 0; i <= ARRAY_LEN(wrong); i++) {
		autoclose int fd = -1;
		struct cache *later;
		ino_t tree;

		must_unpack(x->c, &as);
		tree = inode_of(x, "");
		/* killed before the trees are settled */
		assert_int_equal(cache_new(x->root_fd, "/cache", true, &later, &e), 0);
		assert_int_equal(cache_has_tree(later, &as), !cache_settles(x->c));
		if (i < ARRAY_LEN(wrong)) {
			fd = open(tree_of(x, wrong[i]), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
			assert_int_equal(write(fd, "x", 1), 1);
		}
		assert_int_equal(cache_tree_is_wrong(later, &as), i < ARRAY_LEN(wrong));
		must_unpack(later, &as);
		assert_int_equal(inode_of(x, "") == tree, i == ARRAY_LEN(wrong));
		assert_int_equal(inode_of(x, "last") | inode_of(x, "bin/planted"), 0);
		assert_false(cache_tree_is_wrong(later, &as));
		cache_free(later);
		(void)cache_tree_drop(x->c, &as.digest, -1);
	}
}

/* One is missing, and one that the archive has as it is here is too many. */
static void test_members_are_exchanged(void **state)
{
	struct box *x = *state;
	struct asset as;

	tar_add(&x->archive,
		&(struct tar_entry){ .name = "real", .type = '0', .mode = 0644, .data = "x" });
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "name", .type = '1', .link = "real", .mode = 0644 });
	end_archive(x);
	add_archive_to_cache(x);
	as = only(x, "real", NULL);
	must_unpack(x->c, &as);
	assert_int_equal(inode_of(x, "name"), 0);
	assert_int_equal(rename(tree_of(x, "real"), tree_of(x, "name")), 0);
	assert_true(cache_tree_is_wrong(x->c, &as));
}

static void test_name_of_4096_bytes(void **state)
{
	struct box *x = *state;
	char name[4097];
	struct unpack *u;
	struct err e = { 0 };
	int r;

	for (size_t n = 0; n < 4096; n++)
		name[n] = n % 255 == 254 ? '/' : 'n';
	name[4096] = '\0';
	tar_add(&x->archive, &(struct tar_entry){ .name = name, .type = '0' });
	end_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	r = feed(u, &x->archive, 0, x->archive.len, &e);
	assert_int_equal(r, 0);
	assert_true(unpack_finish(u, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	assert_non_null(strstr(e.msg, "refused: the name has more than 4095 bytes"));
	must_be_empty(x);
}

/* 201 000 entries in half a megabyte. */
static void test_too_many(void **state)
{
	struct box *x = *state;
	autobuf struct buf part = TAR_BUF;
	struct unpack *u;
	struct err e = { 0 };
	int r;

	for (int i = 0; i < 1000; i++)
		tar_add(&part, &(struct tar_entry){ .name = "d/", .type = '5' });
	tar_gzip(&part);
	for (int i = 0; i < 201; i++)
		assert_int_equal(buf_add(&x->archive, part.data, part.len), 0);
	x->as = (struct asset){ .name = "many.tar.gz", .form = ASSET_TAR_GZ };
	digest_of(DIGEST_SHA1, x->archive.data, x->archive.len, &x->as.digest);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	r = feed(u, &x->archive, 0, x->archive.len, &e);
	if (r < 0)
		unpack_abort(u);
	else
		r = unpack_finish(u, &e);
	assert_true(r < 0 && e.kind == ERR_INTEGRITY);
	if (!strstr(e.msg, "entry 'd/' refused: the archive has more entries than allowed"))
		fail_msg("%s", e.msg);
	must_be_empty(x);
}

/* The child's reason, whenever who feeds hears of it. */
static void test_refused_while_fed(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct err e;
	int r;

	tar_add(&x->archive, &(struct tar_entry){ .name = "good", .type = '0', .data = "x" });
	tar_add(&x->archive, &(struct tar_entry){ .name = "../evil", .type = '0', .data = "x" });
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "big", .type = '0', .data = noise(x, 3000000) });
	end_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	r = feed(u, &x->archive, 0, x->archive.len, &e);
	if (r < 0)
		unpack_abort(u);
	else
		r = unpack_finish(u, &e);
	assert_true(r < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	if (!strstr(e.msg, "entry '../evil' refused: '..' in the name"))
		fail_msg("%s", e.msg);
	must_be_empty(x);
}

/* Half an archive is refused as such when no more comes. */
static void test_truncated(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct err e;

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	assert_int_equal(feed(u, &x->archive, 0, x->archive.len / 2, &e), 0);
	assert_true(unpack_finish(u, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	must_be_empty(x);
}

/* Somebody kills the child: an error that may be tried again, no hang, nothing left. */
static void test_killed_child(void **state)
{
	static const struct extract_limits limits = { 1000, 1 << 24, NULL };
	struct box *x = *state;
	autoclose int dir = -1;
	struct extract *ex;
	char name[CACHE_NAME_MAX];
	struct err e = { 0 };
	int r = 0;

	good_archive(x);
	assert_int_equal(cache_make_tmp(x->c, true, name, &dir, &e), 0);
	assert_int_equal(extract_start("a.tar", -1, dir, &limits, &ex, &e), 0);
	assert_int_equal(kill(extract_pid(ex), SIGKILL), 0);
	while (r == 0)
		r = extract_feed(
			ex, &(struct extract_piece){ x->archive.data, x->archive.len, -1, 0 }, &e);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "'a.tar': the unpacker was killed: Killed"));
	assert_true(err_is_transient(&e));
	extract_abort(ex);
	assert_int_equal(walk_remove(AT_FDCWD, path_of(x, name)), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_streamed),
		TEST(test_without_record),
		TEST(test_recorded_when_flushed),
		TEST(test_changed_before_it_is_flushed),
		TEST(test_lost_when_flushed),
		TEST(test_wrong_in_a_read_only_cache),
		TEST(test_modes),
		TEST(test_no_record_for_an_open_tree),
		TEST(test_nothing_before_the_verdict),
		TEST(test_refused_while_fed),
		TEST(test_truncated),
		TEST(test_killed_child),
		TEST(test_nobody_else_gets_there),
		TEST(test_evil),
		TEST(test_members),
		TEST(test_members_grow),
		TEST(test_member_is_a_link_to_another),
		TEST(test_members_are_compared),
		TEST(test_members_are_exchanged),
		TEST(test_name_of_4096_bytes),
		TEST(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
