#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "nodeup/base/mem.h"
#include "units/job.h"
#include "units/unit.h"

struct pair {
	const char *in, *out;
};

static void test_quote(void **state)
{
	static const struct pair cases[] = {
		{ "--v=8", "--v=8" },
		{ "/opt/a,b;c", "/opt/a,b;c" },
		{ "", "\"\"" },
		{ ";", "\";\"" },
		{ "two words", "\"two words\"" },
		{ "$HOME 100%", "\"$$HOME 100%%\"" },
		{ "${X}%n", "$${X}%%n" },
		{ "it's \"so\"", "\"it\\'s \\\"so\\\"\"" },
		{ "a\\b", "a\\\\b" },
		{ "tab\tnl\n", "tab\\x09nl\\x0a" },
		{ "\xc3\xa9", "\\xc3\\xa9" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(unit_quote(a, cases[i].in), cases[i].out);
}

/* The right column is what systemd-escape --path prints. */
static void test_escape_path(void **state)
{
	static const struct pair cases[] = {
		{ "/var/lib/x", "var-lib-x" },
		{ "/", "-" },
		{ "", "-" },
		{ "//var///lib/", "var-lib" },
		{ "/var/./lib/.", "var-lib" },
		{ "/mnt/disk-1", "mnt-disk\\x2d1" },
		{ "/.hidden/.b", "\\x2ehidden-.b" },
		{ "/a b/c:d_e", "a\\x20b-c:d_e" },
		{ "/\xc3\xa9", "\\xc3\\xa9" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(unit_escape_path(a, cases[i].in), cases[i].out);
}

static void test_env_line(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(unit_env_line(a, "DAEMON_ARGS", "--a=b --v=2"),
			    "DAEMON_ARGS=\"--a=b --v=2\"\n");
	assert_string_equal(unit_env_line(a, "X", "\"q\" $v `c` b\\s\nnext #h 'a'"),
			    "X=\"\\\"q\\\" \\$v \\`c\\` b\\\\s\nnext #h 'a'\"\n");
	assert_string_equal(unit_env_line(a, "E", ""), "E=\"\"\n");
}

static void test_job_first_result_stands(void **state)
{
	struct jobs jobs = { 0 };

	(void)state;
	jobs_add(&jobs, 7, "kubelet.service", false);
	jobs_add(&jobs, 9, "docker.service", false);
	jobs_add(&jobs, 7, "kubelet.service", false);
	assert_int_equal(jobs.n, 2);
	assert_null(jobs_find(&jobs, 8));
	assert_int_equal(jobs_find(&jobs, 7)->state, BUS_JOB_WAITING);
	job_finish(jobs_find(&jobs, 7), "timeout");
	job_finish(jobs_find(&jobs, 7), "done");
	assert_int_equal(jobs_find(&jobs, 7)->state, BUS_JOB_FAILED);
	assert_string_equal(jobs_find(&jobs, 7)->result, "timeout");
	job_finish(jobs_find(&jobs, 9), "skipped");
	assert_int_equal(jobs_find(&jobs, 9)->state, BUS_JOB_DONE);
	jobs_done(&jobs);
}

static void test_job_judged_by_unit(void **state)
{
	static const struct {
		bool stops;
		const char *active, *sub, *result, *verdict;
	} cases[] = {
		{ false, "active", "running", "success", "done" },
		{ false, "reloading", "reload", "success", "done" },
		{ false, "inactive", "dead", "success", "done" },
		{ false, "inactive", "dead", "", "done" },
		{ false, "inactive", "dead", "exit-code", "failed" },
		{ false, "failed", "failed", "exit-code", "failed" },
		{ false, "activating", "auto-restart", "exit-code", "failed" },
		{ false, "activating", "start", "success", "canceled" },
		{ false, "deactivating", "stop-sigterm", "success", "canceled" },
		{ true, "inactive", "dead", "success", "done" },
		{ true, "failed", "failed", "timeout", "done" },
		{ true, "active", "running", "success", "canceled" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct job j = { .stops = cases[i].stops };
		const struct bus_unit u = { .active_state = cases[i].active,
					    .sub_state = cases[i].sub,
					    .result = cases[i].result };

		assert_string_equal(job_judge(&j, &u), cases[i].verdict);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_escape_path),
		cmocka_unit_test(test_env_line),
		cmocka_unit_test(test_job_first_result_stands),
		cmocka_unit_test(test_job_judged_by_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
