#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/tasks/member.h"
#include "tests/unit/lib/scratch.h"

static const char *find(const struct scratch *s, struct arena *a, const char *name)
{
	const char *path, *link;
	struct err e;

	assert_int_equal(member_find(s->fd, a, "/tree", name, &path, &link, &e), 0);
	return path;
}

static void the_shallowest_is_found(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch s;

	(void)state;
	scratch_new(&s);
	scratch_write(&s, "/tree/a/x/bridge", "deep");
	scratch_write(&s, "/tree/z/bridge", "shallow");
	scratch_write(&s, "/tree/y/bridge", "shallow, and first by name");
	assert_string_equal(find(&s, a, "bridge"), "/tree/y/bridge");
	scratch_write(&s, "/tree/bridge", "on top");
	assert_string_equal(find(&s, a, "bridge"), "/tree/bridge");
	scratch_done(&s);
}

static void links_and_directories_are_none(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *path, *link;
	struct scratch s;
	struct err e;

	(void)state;
	scratch_new(&s);
	scratch_write(&s, "/tree/bridge/portmap", "below a directory of that name");
	assert_int_equal(symlinkat("bridge/portmap", s.fd, "tree/loopback"), 0);
	assert_null(find(&s, a, "bridge"));
	assert_null(find(&s, a, "loopback"));
	assert_int_equal(member_find(s.fd, a, "/tree", "loopback", &path, &link, &e), 0);
	assert_string_equal(link, "/tree/loopback");
	assert_int_equal(member_find(s.fd, a, "/tree", "bridge", &path, &link, &e), 0);
	assert_null(link);
	assert_string_equal(find(&s, a, "portmap"), "/tree/bridge/portmap");
	scratch_done(&s);
}

static void what_cannot_be_read_is_no_answer(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *path, *link;
	struct scratch s;
	struct err e;

	(void)state;
	scratch_new(&s);
	scratch_write(&s, "/tree", "a file");
	assert_int_equal(member_find(s.fd, a, "/tree", "bridge", &path, &link, &e), -ENOTDIR);
	assert_int_equal(e.kind, ERR_SYSTEM);
	scratch_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shallowest_is_found),
		cmocka_unit_test(links_and_directories_are_none),
		cmocka_unit_test(what_cannot_be_read_is_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
