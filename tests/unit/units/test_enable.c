#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "tests/unit/lib/scratch.h"
#include "units/enable.h"

static const char unit_text[] =
	"[Unit]\nWantedBy=not-this.target\n[Service]\nExecStart=/bin/true\n"
	"[Install]\nWantedBy=multi-user.target  graphical.target\nAlias=a.service\n";

static void links_four_ways(void **state)
{
	static const char link[] = "etc/systemd/system/multi-user.target.wants/x.service";
	struct scratch root;
	struct stat st;
	struct err e;
	bool enabled;

	(void)state;
	scratch_new(&root);
	assert_true(enable_check(root.fd, "x.service", &enabled, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);

	scratch_write(&root, "/usr/lib/systemd/system/x.service", unit_text);
	assert_int_equal(enable_check(root.fd, "x.service", &enabled, &e), 0);
	assert_false(enabled);
	assert_int_equal(enable_apply(root.fd, "x.service", NULL, &e), 0);
	assert_int_equal(enable_apply(root.fd, "x.service", NULL, &e), 0);
	assert_int_equal(enable_check(root.fd, "x.service", &enabled, &e), 0);
	assert_true(enabled);
	assert_int_equal(scratch_count(&root, "/etc/systemd/system"), 3);
	assert_true(scratch_stat(&root, "/etc/systemd/system/a.service", &st));
	assert_false(scratch_stat(&root, "/etc/systemd/system/not-this.target.wants", &st));

	assert_int_equal(unlinkat(root.fd, link, 0), 0);
	assert_int_equal(symlinkat("/elsewhere/y.service", root.fd, link), 0);
	assert_int_equal(enable_check(root.fd, "x.service", &enabled, &e), 0);
	assert_false(enabled);
	scratch_done(&root);
}

/* As systemd does: what is not a link is somebody's file. */
static void a_file_in_the_way_stays(void **state)
{
	struct scratch root;
	struct stat st;
	struct err e;
	autofree char *text = NULL;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, "/usr/lib/systemd/system/x.service", unit_text);
	scratch_write(&root, "/etc/systemd/system/a.service", "an admin's");
	assert_int_equal(enable_apply(root.fd, "x.service", NULL, &e), -EEXIST);
	assert_int_equal(e.kind, ERR_SYSTEM);
	text = scratch_read(&root, "/etc/systemd/system/a.service");
	assert_string_equal(text, "an admin's");

	/* its own name is not an alias */
	scratch_write(&root, "/etc/systemd/system/y.service", "[Install]\nAlias=y.service\n");
	assert_int_equal(enable_apply(root.fd, "y.service", NULL, &e), 0);
	assert_true(scratch_stat(&root, "/etc/systemd/system/y.service", &st));
	assert_true(S_ISREG(st.st_mode));
	scratch_done(&root);
}

static void a_masked_unit_is_not_enabled(void **state)
{
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, "/usr/lib/systemd/system/x.service", unit_text);
	scratch_write(&root, "/etc/systemd/system/y.service", "");
	assert_int_equal(symlinkat("/dev/null", root.fd, "etc/systemd/system/x.service"), 0);
	assert_int_equal(enable_apply(root.fd, "x.service", NULL, &e), -EPERM);
	assert_non_null(strstr(e.msg, "masked"));
	assert_int_equal(scratch_count(&root, "/etc/systemd/system"), 2);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_four_ways),
		cmocka_unit_test(a_file_in_the_way_stays),
		cmocka_unit_test(a_masked_unit_is_not_enabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
