#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/log.h"
#include "nodeup/base/mem.h"

/* Run fn with stderr in a pipe and give what came. */
static char *stderr_of(void (*fn)(void))
{
	char *text = xcalloc(1, 16384);
	const int saved = dup(STDERR_FILENO);
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	(void)close(fds[1]);
	fn();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(saved);
	assert_true(read(fds[0], text, 16383) >= 0);
	(void)close(fds[0]);
	return text;
}

static void say_three(void)
{
	log_error("broken: %d", 7);
	log_info("fine\033[31m");
	log_debug("hidden");
}

static void lines_have_time_and_level(void **state)
{
	autofree char *text = NULL;

	(void)state;
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
	log_set_level(LOG_INFO);
	text = stderr_of(say_three);
	assert_int_equal(text[2], ':');
	assert_int_equal(text[8], '.');
	assert_memory_equal(text + 12, " error   broken: 7\n", 19);
	assert_string_equal(text + 31 + 12, " info    fine?[31m\n");
}

static void name_stderr_as_journal(void)
{
	autofree char *stream = NULL;
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	stream = xasprintf("%llu:%llu", (unsigned long long)st.st_dev,
			   (unsigned long long)st.st_ino);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	say_three();
}

static void plain_on_a_journal(void **state)
{
	autofree char *text = stderr_of(name_stderr_as_journal), *elsewhere = NULL;

	(void)state;
	assert_string_equal(text, "<3>broken: 7\n<6>fine?[31m\n");
	/* the variable is inherited, but stderr is another pipe now */
	elsewhere = stderr_of(say_three);
	assert_int_equal(elsewhere[2], ':');
	assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
}

static char seen[256];
static int answer;

static int writer(enum log_level level, const char *message, const struct log_field *fields,
		  size_t n)
{
	(void)snprintf(seen, sizeof(seen), "%d %s %s=%s", (int)level, message,
		       n ? fields[0].key : "", n ? fields[0].value : "");
	return answer;
}

static void say_with_field(void)
{
	const struct log_field f = { "TASK", "kubelet" };

	log_line(LOG_WARNING, &f, 1, "late by %d", 3);
}

static void a_writer_gets_fields_and_may_fail(void **state)
{
	autofree char *quiet = NULL, *loud = NULL;

	(void)state;
	log_set_writer(writer);
	answer = 0;
	quiet = stderr_of(say_with_field);
	answer = -1;
	loud = stderr_of(say_with_field);
	log_set_writer(NULL);
	assert_string_equal(seen, "1 late by 3 TASK=kubelet");
	assert_string_equal(quiet, "");
	assert_non_null(strstr(loud, " warning late by 3\n"));
}

static void say_too_much(void)
{
	char text[9000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_error("%s", text);
}

static void long_lines_are_cut_and_end(void **state)
{
	autofree char *text = stderr_of(say_too_much);
	const size_t n = strlen(text);

	(void)state;
	assert_true(n > 4000 && n <= 4096);
	assert_int_equal(text[n - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_time_and_level),
		cmocka_unit_test(plain_on_a_journal),
		cmocka_unit_test(a_writer_gets_fields_and_may_fail),
		cmocka_unit_test(long_lines_are_cut_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
