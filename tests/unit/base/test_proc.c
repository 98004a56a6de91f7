#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/proc.h"

static int sh(const char *script, struct proc_req req, struct buf *out, struct err *e)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	req.argv = argv;
	return proc_run(&req, out, e);
}

static void output_of_both_streams(void **state)
{
	autobuf struct buf out = BUF_INIT(4096);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sh("echo one; echo two >&2; cat", (struct proc_req){ .stdin_fd = -1 },
			    &out, &e),
			 0);
	assert_string_equal(buf_str(&out), "one\ntwo\n");
}

static void status_and_last_line(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_true(sh("echo first; echo 'the cause' >&2; echo; exit 3",
		       (struct proc_req){ .stdin_fd = -1 }, NULL, &e) < 0);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_string_equal(e.msg, "sh exited with status 3: the cause");
	assert_true(sh("kill -9 $$", (struct proc_req){ .stdin_fd = -1 }, NULL, &e) < 0);
	assert_string_equal(e.msg, "sh was killed by signal 9 (Killed)");
}

static void what_is_not_there(void **state)
{
	const char *const argv[] = { "/no/such/program", NULL };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(proc_run(&(struct proc_req){ .argv = argv, .stdin_fd = -1 }, NULL, &e),
			 -ENOENT);
	assert_string_equal(e.msg, "run /no/such/program: No such file or directory");
}

static void environment_and_stdin(void **state)
{
	static const char *const env[] = { "NODEUP_TEST=new", "OTHER=1", NULL };
	autobuf struct buf out = BUF_INIT(4096);
	autoclose int fd = memfd_create("in", MFD_CLOEXEC);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(setenv("NODEUP_TEST", "old", 1), 0);
	assert_int_equal(setenv("NODEUP_TESTS", "kept", 1), 0);
	assert_int_equal(io_write_fd(fd, "memfd", "input", 5, &e), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(
		sh("echo $NODEUP_TEST $NODEUP_TESTS $OTHER; env | grep -c ^NODEUP_TEST=; cat",
		   (struct proc_req){ .stdin_fd = fd, .extra_env = env }, &out, &e),
		0);
	assert_string_equal(buf_str(&out), "new kept 1\n1\ninput");
}

/* Neither our descriptors nor our signal mask reach the child. */
static void nothing_leaks(void **state)
{
	autobuf struct buf out = BUF_INIT(4096);
	struct err e = { 0 };
	sigset_t set, old;
	int fd = open("/dev/null", O_RDONLY); /* not close-on-exec: on purpose */

	(void)state;
	assert_true(fd > 2);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	assert_int_equal(sh("ls /proc/self/fd | wc -w; grep SigBlk /proc/self/status",
			    (struct proc_req){ .stdin_fd = -1 }, &out, &e),
			 0);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(fd);
	assert_string_equal(buf_str(&out), "4\nSigBlk:\t0000000000000000\n");
}

/* The whole group goes: what the child had started is killed with it. */
static void timeout_kills_the_group(void **state)
{
	autobuf struct buf out = BUF_INIT(4096);
	struct err e = { 0 };
	int status = 0;
	pid_t grandchild;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(sh("sleep 5 & echo $!; echo waiting; wait",
			    (struct proc_req){ .stdin_fd = -1, .timeout_ns = 200 * DUR_MS }, &out,
			    &e),
			 -ETIMEDOUT);
	assert_string_equal(e.msg, "sh did not end within 200 ms and was killed");
	assert_int_equal(e.nnotes, 1);
	assert_string_equal(e.notes[0].text, "waiting");
	grandchild = (pid_t)strtol(buf_str(&out), NULL, 10);
	assert_int_equal(waitpid(grandchild, &status, 0), grandchild);
	assert_true(WIFSIGNALED(status));
}

static void endless_output_does_not_hold_the_clock(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sh("yes", (struct proc_req){ .stdin_fd = -1, .timeout_ns = 100 * DUR_MS },
			    NULL, &e),
			 -ETIMEDOUT);
}

static void a_daemon_left_behind_is_not_awaited(void **state)
{
	autobuf struct buf out = BUF_INIT(4096);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sh("sleep 1000 & echo $!", (struct proc_req){ .stdin_fd = -1 }, &out, &e),
			 0);
	assert_int_equal(kill((pid_t)strtol(buf_str(&out), NULL, 10), SIGKILL), 0);
}

static void much_output_is_drained(void **state)
{
	autobuf struct buf out = BUF_INIT(1000);
	struct err e = { 0 };

	(void)state;
	assert_true(sh("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end; false",
		       (struct proc_req){ .stdin_fd = -1 }, &out, &e) < 0);
	assert_string_equal(e.msg, "sh exited with status 1: end");
	assert_true(out.overflow);
	assert_int_equal(buf_check(&out, "output", &e), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_of_both_streams),
		cmocka_unit_test(status_and_last_line),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(environment_and_stdin),
		cmocka_unit_test(nothing_leaks),
		cmocka_unit_test(timeout_kills_the_group),
		cmocka_unit_test(endless_output_does_not_hold_the_clock),
		cmocka_unit_test(a_daemon_left_behind_is_not_awaited),
		cmocka_unit_test(much_output_is_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
