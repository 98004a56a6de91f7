/* Whether one tree is a copy of another. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "nodeup/move/same_tree.h"
#include "tests/unit/lib/scratch.h"

/* Two trees, as a copy and one thing that differs. */
static void trees_are_compared(void **state)
{
	static const struct {
		const char *change, *differs;
	} cases[] = {
		{ "true", NULL },
		{ "touch -d 2001-01-01 y/b/two", "'/b/two' differs: time" },
		{ "printf 5 >y/b/two && touch -r t/b/two y/b/two", "'/b/two' differs: content" },
		{ "printf 55 >y/b/two", "'/b/two' differs: size" },
		{ "chmod 600 y/b/c/three", "'/b/c/three' differs: type or mode" },
		{ "chown 7 y/b", "'/b' differs: owner" },
		{ "chmod 700 y", "'/.' differs: type or mode" },
		{ "ln -sfn eisewhere y/link", "'/link' differs: " },
		{ "ln -sfn ../athor y/link", "'/link' differs: target" },
		{ "rm y/b/c/three", "'/b/c/three' differs: one has it, one has not" },
		{ "touch y/b/c/a", "'/b/c/a' differs: one has it, one has not" },
		{ "touch y/b/c/more", "'/b/c/more' differs: one has it, one has not" },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, "/t/b/two", "2");
	scratch_write(&root, "/t/b/c/three", "3");
	assert_int_equal(symlinkat("../other", root.fd, "t/link"), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *cmd = arena_printf(a, "cd %s && rm -rf y && cp -a t y && %s", root.path,
					       cases[i].change);
		const char *want = cases[i].differs;
		autoclose int x = -1, y = -1;
		int r;

		assert_int_equal(system(cmd), 0);
		x = openat(root.fd, "t", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		y = openat(root.fd, "y", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(x >= 0 && y >= 0);
		r = same_tree(x, y, &e);
		if (want ? r == 0 || !strstr(e.msg, want) : r != 0)
			fail_msg("%s: %d %s", cases[i].change, r, r ? e.msg : "");
	}
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
