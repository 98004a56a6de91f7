#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/base/paths.h"
#include "nodeup/host/names.h"
#include "tests/unit/lib/scratch.h"

#define KERNEL "/proc/sys/kernel/hostname"

static void note(const struct scratch *root)
{
	struct err e;

	if (names_note(root->fd, &e) < 0)
		fail_msg("%s", e.msg);
}

static const char *lines(struct arena *a, const struct scratch *root)
{
	const struct strv v = names_lines(a, root->fd);

	return strv_join(a, &v, "\n");
}

static void a_host_name_of_later_is_told(void **state)
{
	static const char told[] =
		"host name other.example: it was node-1 at the first run of this boot, and what was started "
		"then has that; left alone: hostnamectl set-hostname node-1, or reboot if it is meant";
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, "/etc/hosts", "127.0.0.1 localhost\n");
	/* nobody has noted one yet, or there is none */
	note(&root);
	scratch_write(&root, KERNEL, "node-1\n");
	assert_string_equal(lines(a, &root), "");
	note(&root);
	assert_string_equal(lines(a, &root), "");
	scratch_write(&root, KERNEL, "other.example\n");
	assert_string_equal(lines(a, &root), told);
	/* not forgotten by the next run */
	note(&root);
	assert_string_equal(lines(a, &root), told);
	/* what is no name was not noted by us */
	scratch_write(&root, OWN_HOST_NAME, "\x7f\x01{}");
	assert_string_equal(lines(a, &root), "");
	note(&root);
	assert_string_equal(lines(a, &root), "");
	scratch_write(&root, KERNEL, "node-1\n");
	assert_string_not_equal(lines(a, &root), "");
	scratch_done(&root);
}

static void a_file_without_localhost_is_told(void **state)
{
	static const struct {
		const char *text;
		bool is_right;
	} rows[] = {
		{ "127.0.0.1 localhost\n", true },
		{ "::1\tip6-localhost localhost# x", true },
		{ "\n  127.0.0.1 \t a localhost", true },
		{ "", false },
		{ "# 127.0.0.1 localhost\n", false },
		{ "127.0.0.1 localhost.localdomain ip6-localhost\n", false },
		{ "localhost 127.0.0.1\n", false },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;

	(void)state;
	scratch_new(&root);
	assert_string_equal(lines(a, &root),
			    "/etc/hosts: it is gone, or has no localhost; left alone: add the line "
			    "127.0.0.1 localhost");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		scratch_write(&root, "/etc/hosts", rows[i].text);
		if ((*lines(a, &root) == '\0') != rows[i].is_right)
			fail_msg("%s", rows[i].text);
	}
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_name_of_later_is_told),
		cmocka_unit_test(a_file_without_localhost_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
