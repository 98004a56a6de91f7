#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/watch.h"
#include "tests/unit/lib/scratch.h"

/* Far beyond what any of these waits takes; one that sees nothing lasts so long. */
#define FAR_NS (300 * DUR_SEC)

static void ends_soon(int fd, int pid)
{
	const int64_t begun = dur_now();

	watch_sleep(fd, pid, begun + FAR_NS);
	assert_true(dur_now() - begun < FAR_NS);
}

static void a_wait_ends_with_the_first_status(void **state)
{
	autoclose int fd = -1;
	struct scratch root;

	(void)state;
	scratch_new(&root);
	/* the folder of status.json is not there yet */
	scratch_write(&root, "/run/other", "");
	fd = watch_open(root.fd);
	assert_true(fd >= 0);
	scratch_write(&root, OWN_STATUS, "{}");
	ends_soon(fd, 0);
	scratch_done(&root);
}

static void a_wait_ends_with_another_status(void **state)
{
	autoclose int fd = -1;
	struct scratch root;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, OWN_RUN "/lock", "");
	fd = watch_open(root.fd);
	assert_true(fd >= 0);
	/* what came before the sleep is not missed */
	scratch_write(&root, OWN_STATUS, "{}");
	ends_soon(fd, 0);
	scratch_done(&root);
}

static void a_wait_ends_with_a_status_that_had_no_room_in_run(void **state)
{
	autoclose int fd = -1;
	struct scratch root;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, OWN_RUN "/lock", "");
	scratch_write(&root, OWN_STATE, "");
	fd = watch_open(root.fd);
	assert_true(fd >= 0);
	scratch_write(&root, OWN_STATUS_SPARE, "{}");
	ends_soon(fd, 0);
	scratch_done(&root);
}

static void a_wait_ends_with_the_process(void **state)
{
	autoclose int fd = -1;
	struct scratch root;
	pid_t pid;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, OWN_STATUS, "{}");
	fd = watch_open(root.fd);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	ends_soon(fd, pid);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	scratch_done(&root);
}

static void a_wait_ends_at_its_time_and_not_before(void **state)
{
	autoclose int fd = -1;
	struct scratch root;
	int64_t end;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, OWN_STATUS, "{}");
	fd = watch_open(root.fd);
	end = dur_now() + 50 * DUR_MS;
	watch_sleep(fd, 0, end);
	assert_true(dur_now() >= end);
	/* a time that is over */
	watch_sleep(fd, 0, end);
	scratch_done(&root);
}

/* It cannot know what it misses, and looks again by itself. */
static void a_wait_that_sees_nothing_is_short(void **state)
{
	struct scratch root;

	(void)state;
	scratch_new(&root);
	assert_int_equal(watch_open(root.fd), -1);
	ends_soon(-1, 0);
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_ends_with_the_first_status),
		cmocka_unit_test(a_wait_ends_with_another_status),
		cmocka_unit_test(a_wait_ends_with_a_status_that_had_no_room_in_run),
		cmocka_unit_test(a_wait_ends_with_the_process),
		cmocka_unit_test(a_wait_ends_at_its_time_and_not_before),
		cmocka_unit_test(a_wait_that_sees_nothing_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
