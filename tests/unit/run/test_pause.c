#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/lock.h"
#include "nodeup/run/pause.h"
#include "tests/unit/lib/scratch.h"

/* What sleeps far longer than a test may, and what is over soon. */
#define LONG_NS (600 * DUR_SEC)
#define SHORT_NS (300 * DUR_MS)

static void pauses_double_to_ten_minutes(void **state)
{
	static const int seconds[] = { 30, 60, 120, 240, 480, 600, 600, 600 };
	int64_t pause = PAUSE_FIRST_NS;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
		assert_int_equal(pause, seconds[i] * DUR_SEC);
		pause = pause_after(pause);
	}
}

static void put_status(int root_fd, const char *state, int pid)
{
	static const struct io_attr attr = { .mode = 0644 };
	autofree char *text =
		xasprintf("{\"schema\": 1, \"state\": \"%s\", \"pid\": %d}\n", state, pid);
	struct err e;

	if (io_replace(root_fd, OWN_STATUS, text, strlen(text), &attr, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Another process has the lock for a moment, and says how its run went. */
static pid_t run_aside(int root_fd, const char *state)
{
	pid_t pid = fork();
	struct err e;
	int lock;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)usleep(100 * 1000);
	if (lock_take(root_fd, NULL, &lock, &e) < 0)
		_exit(1);
	put_status(root_fd, state, (int)getpid());
	(void)close(lock);
	_exit(0);
}

static bool sleep_beside(const char *state, int64_t pause_ns)
{
	struct scratch root;
	int lock, status;
	struct err e;
	bool woken;
	pid_t pid;

	scratch_new(&root);
	/* as a run does that fails and goes to sleep */
	assert_int_equal(lock_take(root.fd, "kops-configuration.service", &lock, &e), 0);
	put_status(root.fd, "retrying", (int)getpid());
	assert_int_equal(close(lock), 0);
	pid = run_aside(root.fd, state);
	woken = pause_sleep(root.fd, pause_ns);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	scratch_done(&root);
	return woken;
}

static void a_run_that_succeeds_ends_the_pause(void **state)
{
	const int64_t begun = dur_now();

	(void)state;
	assert_true(sleep_beside("ready", LONG_NS));
	assert_true(sleep_beside("degraded", LONG_NS));
	assert_true(dur_now() - begun < LONG_NS);
}

static void one_that_fails_does_not(void **state)
{
	const int64_t begun = dur_now();

	(void)state;
	assert_false(sleep_beside("failed", 2 * SHORT_NS));
	assert_false(sleep_beside("retrying", 2 * SHORT_NS));
	assert_true(dur_now() - begun >= 4 * SHORT_NS);
}

/* It may be over before this one has begun to look. */
static void one_that_succeeded_meanwhile_ends_it(void **state)
{
	struct scratch root;
	int lock;
	struct err e;

	(void)state;
	scratch_new(&root);
	assert_int_equal(lock_take(root.fd, NULL, &lock, &e), 0);
	assert_int_equal(close(lock), 0);
	put_status(root.fd, "ready", (int)getpid());
	assert_false(pause_sleep(root.fd, SHORT_NS));
	put_status(root.fd, "ready", (int)getppid());
	assert_true(pause_sleep(root.fd, LONG_NS));
	scratch_done(&root);
}

static void an_image_has_no_others(void **state)
{
	const int64_t begun = dur_now();

	(void)state;
	assert_false(pause_sleep(-1, SHORT_NS));
	assert_true(dur_now() - begun >= SHORT_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_double_to_ten_minutes),
		cmocka_unit_test(a_run_that_succeeds_ends_the_pause),
		cmocka_unit_test(one_that_fails_does_not),
		cmocka_unit_test(one_that_succeeded_meanwhile_ends_it),
		cmocka_unit_test(an_image_has_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
