/* What earlier versions left. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/entry.h"
#include "tests/unit/lib/cache_box.h"

#define SPOOL "/run/nodeup/spool"

static const char bytes[] = "hello";

static struct digest hello(void)
{
	struct digest d;

	digest_of(DIGEST_SHA256, bytes, strlen(bytes), &d);
	return d;
}

static const char *path_of(struct cache_box *b, const char *name)
{
	return arena_printf(b->a, "%s/var/cache/nodeup/%s", b->root.path, name);
}

static void adopt(struct cache_box *b)
{
	cache_free(b->cache);
	b->cache = cache_box_open(b);
	cache_adopt_older(b->cache, b->root.fd, SPOOL);
}

/* An entry that an installed file is a name of, with its note; the installed file. */
static const char *lend(struct cache_box *b, const struct digest *d)
{
	const char *installed = arena_printf(b->a, "%s/kubelet", b->root.path);
	char name[CACHE_NAME_MAX];

	cache_box_put(b, d, bytes, strlen(bytes));
	assert_int_equal(link(path_of(b, cache_entry_name(d, name)), installed), 0);
	assert_int_equal(mkdir(path_of(b, "lent"), 0755), 0);
	assert_int_equal(cache_put(b->cache, cache_side_name("lent", d, name), "/kubelet", 8, NULL),
			 0);
	return installed;
}

static void must_be_alone(struct cache_box *b, const char *installed)
{
	struct stat st;

	assert_int_equal(stat(installed, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(access(path_of(b, "lent"), F_OK), -1);
}

static void a_lent_entry_gets_its_own_bytes(void **state)
{
	struct cache_box *b = *state;
	const struct digest d = hello();
	const char *installed = lend(b, &d);

	adopt(b);
	must_be_alone(b, installed);
	assert_true(cache_has(b->cache, &d));
}

static void what_was_written_to_is_no_entry(void **state)
{
	struct cache_box *b = *state;
	const struct digest d = hello();
	const char *installed = lend(b, &d);
	FILE *f;

	assert_int_equal(chmod(installed, 0644), 0);
	f = fopen(installed, "r+");
	assert_non_null(f);
	assert_int_equal(fputs("evil!", f), 1);
	assert_int_equal(fclose(f), 0);
	adopt(b);
	must_be_alone(b, installed);
	assert_false(cache_has(b->cache, &d));
}

/* It was taken back already, or its entry had gone. */
static void a_note_alone_goes(void **state)
{
	struct cache_box *b = *state;
	const struct digest d = hello();
	const char *installed = lend(b, &d);

	cache_drop(b->cache, &d);
	adopt(b);
	must_be_alone(b, installed);
	assert_false(cache_has(b->cache, &d));
}

static void an_archive_in_memory_is_moved(void **state)
{
	struct cache_box *b = *state;
	const struct digest d = hello();
	struct cache *own = b->cache;

	assert_int_equal(cache_new(b->root.fd, SPOOL, true, &b->cache, &b->e), 0);
	cache_box_put(b, &d, bytes, strlen(bytes));
	cache_free(b->cache);
	b->cache = own;
	adopt(b);
	assert_true(cache_has(b->cache, &d));
	assert_int_equal(access(arena_printf(b->a, "%s" SPOOL, b->root.path), F_OK), -1);
	/* a second run has nothing to do */
	adopt(b);
	assert_true(cache_has(b->cache, &d));
}

/* An installed file that is another name of a tree's keeps its inode. */
static void trees_go(void **state)
{
	static const char *const files[] = { "unpacked/sha256-ab/bridge", "verified/sha256-ab.tree",
					     "verified/sha256-ab.seen",
					     "verified/sha256-ab.files" };
	struct cache_box *b = *state;
	const char *installed = arena_printf(b->a, "%s/bridge", b->root.path);

	assert_int_equal(mkdir(path_of(b, "unpacked"), 0755), 0);
	assert_int_equal(mkdir(path_of(b, "unpacked/sha256-ab"), 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		FILE *f = fopen(path_of(b, files[i]), "w");

		assert_non_null(f);
		assert_int_equal(fclose(f), 0);
	}
	assert_int_equal(link(path_of(b, files[0]), installed), 0);
	adopt(b);
	must_be_alone(b, installed);
	assert_int_equal(access(path_of(b, "unpacked"), F_OK), -1);
	for (size_t i = 1; i < ARRAY_LEN(files); i++)
		assert_int_equal(access(path_of(b, files[i]), F_OK), -1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, cache_box_setup, cache_box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_lent_entry_gets_its_own_bytes),
		T(what_was_written_to_is_no_entry),
		T(a_note_alone_goes),
		T(an_archive_in_memory_is_moved),
		T(trees_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
