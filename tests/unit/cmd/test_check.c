#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/cmd/check.h"
#include "nodeup/tasks/images.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

#define AT(seconds) (INT64_C(seconds) * DUR_SEC)

static void a_clock_from_before_nodeup_is_wrong(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_true(check_clock(AT(0), &e) < 0);
	assert_string_equal(e.msg, "the clock says 1970-01-01 00:00:00 UTC");
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_int_equal(e.errnum, ETIME);
	assert_true(check_clock(AT(1735689599), &e) < 0);
	assert_string_equal(e.msg, "the clock says 2024-12-31 23:59:59 UTC");
	assert_int_equal(e.nnotes, 2);
	assert_non_null(strstr(e.notes[0].text, "2025-01-01 00:00:00 or later"));
	assert_non_null(strstr(e.notes[1].text, "timedatectl set-ntp true"));
}

static void a_clock_of_today_is_right(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(check_clock(AT(1735689600), &e), 0);
	assert_int_equal(check_clock(AT(4102444800), &e), 0);
}

/* As where the run that follows starts it. */
static void what_a_look_saw_of_the_runtime_is_asked_anew(void **state)
{
	static const char ctr[] = "#!/bin/sh\n"
				  "[ ! -e $SCRATCH/down ] || exit 1\n"
				  "echo 'docker.io/library/a:1 x sha256:11 1 KiB - -'\n";
	const struct asset asset = { .name = "a.tar", .digest = { .algo = DIGEST_SHA256 } };
	struct task image = { .kind = TASK_IMAGE,
			      .ops = &task_image_ops,
			      .name = "a:1",
			      .image = { .name = "a:1", .asset = &asset, .in_containerd = true } };
	struct task *tasks[] = { &image };
	struct session s = { .arena = arena_new_empty(), .plan = { .tasks = tasks, .n = 1 } };
	struct run_report rep;
	struct scratch root;
	char id[IMAGE_ID_MAX];
	struct err e;

	(void)state;
	scratch_new(&root);
	scratch_program(&root, "/bin/ctr", ctr);
	scratch_find_programs(&root, "/bin");
	scratch_write(&root, "/down", "");
	s.ctx = (struct task_ctx){ .root_fd = root.fd, .images = images_new() };
	session_look(&s, false, &rep);
	assert_string_equal(rep.outcomes[0].diff.why, "the runtime does not answer");
	assert_int_equal(unlinkat(root.fd, "down", 0), 0);
	assert_int_equal(images_id(&s.ctx, "a:1", id, &e), 0);
	assert_string_equal(id, "sha256:11");
	images_free(s.ctx.images);
	scratch_done(&root);
	arena_free(s.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_from_before_nodeup_is_wrong),
		cmocka_unit_test(a_clock_of_today_is_right),
		cmocka_unit_test(what_a_look_saw_of_the_runtime_is_asked_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
