/* The names of a directory, and walks of one and of two trees. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/walk.h"
#include "tests/unit/lib/scratch.h"

struct world {
	struct scratch root;
	struct arena *arena;
	struct buf seen;
	struct err e;
};

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->arena = arena_new_empty();
	w->seen = BUF_INIT(4096);
	scratch_write(&w->root, "/t/b/two", "2");
	scratch_write(&w->root, "/t/b/c/three", "3");
	scratch_write(&w->root, "/t/a", "1");
	scratch_write(&w->root, "/other/four", "4");
	assert_int_equal(symlinkat("../other", w->root.fd, "t/link"), 0);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	arena_free(w->arena);
	buf_done(&w->seen);
	free(w);
	return 0;
}

static int open_dir(struct world *w, const char *path)
{
	int fd = openat(w->root.fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void see(struct world *w, const struct walk_at *at, const char *mark)
{
	assert_int_equal(buf_addf(&w->seen, "%s%s/%s\n", mark, at->path, at->name), 0);
}

static int note_entry(void *arg, const struct walk_at *at, struct err *e)
{
	(void)e;
	assert_int_equal(at->fd, -1);
	see(arg, at, "");
	return strcmp(at->name, "c") != 0;
}

static int note_end(void *arg, const struct walk_at *at, struct err *e)
{
	(void)e;
	assert_true(at->fd >= 0);
	see(arg, at, "end ");
	return 0;
}

static void names_are_sorted_and_without_dots(void **state)
{
	struct world *w = *state;
	autoclose int dir = open_dir(w, "t"),
		      file = openat(w->root.fd, "t/a", O_RDONLY | O_CLOEXEC);
	struct strv names;

	assert_int_equal(walk_names(w->arena, dir, &names), 0);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.v[0], "a");
	assert_string_equal(names.v[1], "b");
	assert_string_equal(names.v[2], "link");
	/* what cannot be read is not empty */
	assert_int_equal(walk_names(w->arena, file, &names), -ENOTDIR);
	assert_int_equal(walk_names_at(w->arena, w->root.fd, "/none", &names, &w->e), -ENOENT);
	assert_int_equal(walk_names_at(w->arena, w->root.fd, "/t/b", &names, &w->e), 0);
	assert_int_equal(names.n, 2);
}

/* More than the kernel gives at once. */
static void a_large_directory_is_read_to_its_end(void **state)
{
	struct world *w = *state;
	struct strv names;

	for (int i = 0; i < 1000; i++)
		scratch_write(&w->root, arena_printf(w->arena, "/many/%0100d", i), "");
	assert_int_equal(walk_names_at(w->arena, w->root.fd, "/many", &names, &w->e), 0);
	assert_int_equal(names.n, 1000);
	assert_string_equal(names.v[999], arena_printf(w->arena, "%0100d", 999));
}

static void all_below_is_visited_in_order(void **state)
{
	struct world *w = *state;
	const struct walk walk = { .enter = note_entry, .leave = note_end, .arg = w };
	autoclose int dir = open_dir(w, "t");

	/* the second time as well, although both share a descriptor */
	for (int i = 0; i < 2; i++) {
		buf_done(&w->seen);
		assert_int_equal(walk_below(dir, &walk, &w->e), 0);
		/* a link is not followed, and what enter passes over has no end */
		assert_string_equal(buf_str(&w->seen), "/a\n/b\n/b/c\n/b/two\nend /b\n/link\n");
	}
}

static int refuse(void *arg, const struct walk_at *at, struct err *e)
{
	(void)arg;
	return strcmp(at->name, "two") == 0
		       ? err_fail(e, ERR_SYSTEM, EIO, "%s/%s", at->path, at->name)
		       : 1;
}

static void a_negative_result_ends_it(void **state)
{
	struct world *w = *state;
	const struct walk walk = { .enter = refuse, .leave = note_end, .arg = w };
	autoclose int dir = open_dir(w, "t");

	assert_int_equal(walk_below(dir, &walk, &w->e), -EIO);
	assert_string_equal(w->e.msg, "/b/two");
	assert_string_equal(buf_str(&w->seen), "end /b/c\n");
}

static int take_away(void *arg, const struct walk_at *at, struct err *e)
{
	const struct world *w = arg;

	(void)at;
	(void)e;
	(void)unlinkat(w->root.fd, "t/link", 0);
	return 1;
}

static void what_goes_meanwhile_is_an_error_unless_it_may(void **state)
{
	struct world *w = *state;
	struct walk walk = { .enter = take_away, .arg = w };
	autoclose int dir = open_dir(w, "t");

	assert_int_equal(walk_below(dir, &walk, &w->e), -ENOENT);
	assert_string_equal(w->e.msg, "look at '/link': No such file or directory");
	assert_int_equal(symlinkat("../other", w->root.fd, "t/link"), 0);
	walk.live = true;
	assert_int_equal(walk_below(dir, &walk, &w->e), 0);
}

/* The directory that holds `depth` more, each in the one before. */
static void nest(struct world *w, const char *top, int depth)
{
	autoclose int fd = -1;

	assert_int_equal(mkdirat(w->root.fd, top, 0755), 0);
	fd = open_dir(w, top);
	for (int i = 0; i < depth; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0755), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(fd);
		fd = next;
	}
}

static void a_tree_too_deep_is_refused(void **state)
{
	struct world *w = *state;
	const struct walk walk = { .enter = take_away, .arg = w };
	autoclose int fits = -1, deep = -1;

	nest(w, "fits", WALK_DEPTH_MAX - 1);
	fits = open_dir(w, "fits");
	assert_int_equal(walk_below(fits, &walk, &w->e), 0);
	nest(w, "deep", WALK_DEPTH_MAX);
	deep = open_dir(w, "deep");
	assert_int_equal(walk_below(deep, &walk, &w->e), -ELOOP);
	assert_non_null(strstr(w->e.msg, "is too deep"));
}

static void removing_spares_what_links_point_to(void **state)
{
	struct world *w = *state;

	assert_int_equal(walk_remove(w->root.fd, "t"), 0);
	assert_int_equal(scratch_count(&w->root, "/t"), 0);
	assert_int_equal(scratch_count(&w->root, "/other"), 1);
	assert_int_equal(walk_remove(w->root.fd, "t"), 0);
	assert_int_equal(walk_remove(w->root.fd, "other/four"), 0);
	assert_int_equal(scratch_count(&w->root, "/other"), 0);
	assert_int_equal(symlinkat("other", w->root.fd, "to-other"), 0);
	assert_int_equal(walk_remove(w->root.fd, "to-other"), 0);
	assert_int_equal(faccessat(w->root.fd, "other", F_OK, 0), 0);
	assert_int_equal(walk_remove(w->root.fd, "no/such"), 0);
}

static int note_twin(void *arg, const struct walk_at *at, struct err *e)
{
	assert_int_equal(faccessat(at->twin, at->name, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	return note_entry(arg, at, e);
}

/* Names are the walk's, all else is the visitor's. */
static void two_trees_are_visited_at_once(void **state)
{
	struct world *w = *state;
	const struct walk walk = { .enter = note_twin, .arg = w };
	autoclose int x = open_dir(w, "t"), y = -1;

	scratch_write(&w->root, "/y/b/two", "other");
	scratch_write(&w->root, "/y/b/c/not-looked-at", "");
	scratch_write(&w->root, "/y/a", "");
	scratch_write(&w->root, "/y/link", "");
	y = open_dir(w, "y");
	assert_int_equal(walk_both(x, y, &walk, &w->e), 0);
	assert_string_equal(buf_str(&w->seen), "/a\n/b\n/b/c\n/b/two\n/link\n");
	scratch_write(&w->root, "/y/b/more", "");
	assert_int_equal(walk_both(x, y, &walk, &w->e), -EXDEV);
	assert_string_equal(w->e.msg, "the copy of '/b/more' differs: one has it, one has not");
}

#define in_world(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_world(names_are_sorted_and_without_dots),
		in_world(a_large_directory_is_read_to_its_end),
		in_world(all_below_is_visited_in_order),
		in_world(a_negative_result_ends_it),
		in_world(what_goes_meanwhile_is_an_error_unless_it_may),
		in_world(a_tree_too_deep_is_refused),
		in_world(removing_spares_what_links_point_to),
		in_world(two_trees_are_visited_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
