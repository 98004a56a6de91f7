#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/base/log.h"
#include "nodeup/base/show.h"
#include "nodeup/base/str.h"

static const struct {
	const char *text, *shown;
} rows[] = {
	{ "plain text, with\ta tab", "plain text, with\ta tab" },
	{ "\033]0;title\a", "?]0;title?" },
	{ "a\nFAILED forged", "a?FAILED forged" },
	{ "a\r\b\177z", "a???z" },
	{ "\302\23331m", "?31m" },              /* CSI of C1, as UTF-8 */
	{ "\23331m", "?31m" },                  /* and as a byte */
	{ "\302\205", "?" },                    /* next line */
	{ "exe.\342\200\256gpj", "exe.?gpj" },  /* right to left from here */
	{ "\342\201\246a\342\201\251", "?a?" }, /* isolates */
	{ "\342\200\250\342\200\251", "??" },   /* line, paragraph */
	{ "\303\274ber \346\227\245\346\234\254 \360\237\230\200",
	  "\303\274ber \346\227\245\346\234\254 \360\237\230\200" },
	{ "\303", "?" },           /* cut in the middle */
	{ "\300\233", "??" },      /* ESC in two bytes is not UTF-8 */
	{ "\355\240\200", "???" }, /* half of a pair */
	{ "\302\240\342\200\224", "\302\240\342\200\224" },
};

static void what_is_shown(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *text = xstrdup(rows[i].text);

		assert_int_equal(show_is_clean(text), strcmp(text, rows[i].shown) == 0);
		assert_string_equal(show_clean(text), rows[i].shown);
	}
}

/* What a function writes to a descriptor. */
static char *captured(int fd, void (*write_it)(const void *arg), const void *arg)
{
	FILE *file = tmpfile();
	int before = dup(fd);
	char *text = xcalloc(1, 4096);

	assert_non_null(file);
	(void)fflush(NULL);
	assert_true(dup2(fileno(file), fd) >= 0);
	write_it(arg);
	(void)fflush(NULL);
	assert_true(dup2(before, fd) >= 0);
	(void)close(before);
	rewind(file);
	assert_true(fread(text, 1, 4095, file) > 0);
	(void)fclose(file);
	return text;
}

static void write_line(const void *arg)
{
	show_line(stdout, "<%s>", (const char *)arg);
}

static void write_text(const void *arg)
{
	show_text(arg, strlen(arg));
}

static void write_log(const void *arg)
{
	log_warning("<%s>", (const char *)arg);
}

/* One line each, whatever is in it; a journal takes each line for an entry, and "<3>" for its level. */
static void lines_and_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autofree char *want = xasprintf("<%s>\n", rows[i].shown);
		autofree char *line = captured(STDOUT_FILENO, write_line, rows[i].text);
		autofree char *logged = captured(STDERR_FILENO, write_log, rows[i].text);
		const char *message = strstr(logged, "warning ");

		assert_string_equal(line, want);
		assert_non_null(message);
		assert_string_equal(message + strlen("warning "), want);
	}
	autofree char *text = captured(STDOUT_FILENO, write_text, "-a\n+\033[31mb\n");

	assert_string_equal(text, "-a\n+?[31mb\n");
}

static void write_late_line(const void *arg)
{
	show_line(stderr, "%s", (const char *)arg);
}

static void write_late_log(const void *arg)
{
	log_warning("%s", (const char *)arg);
}

/* Writes more than a buffer of stdout, then the line, with both streams on one file. */
static char *both_streams(void (*write_it)(const void *arg))
{
	static char whole[16384 + 100];
	FILE *file = tmpfile();
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	char *text = xcalloc(1, sizeof(whole) + 200);

	assert_non_null(file);
	memset(whole, 'x', sizeof(whole));
	(void)fflush(NULL);
	assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	show_text(whole, sizeof(whole) / 2);
	show_text(whole, sizeof(whole) / 2);
	write_it("late");
	(void)fflush(NULL);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	assert_true(dup2(err, STDERR_FILENO) >= 0);
	(void)close(out);
	(void)close(err);
	rewind(file);
	assert_true(fread(text, 1, sizeof(whole) + 199, file) > sizeof(whole));
	(void)fclose(file);
	assert_int_equal(strspn(text, "x"), sizeof(whole));
	return text;
}

static void line_of_the_other_stream_cuts_nothing(void **state)
{
	(void)state;
	autofree char *line = both_streams(write_late_line);
	autofree char *logged = both_streams(write_late_log);

	assert_non_null(strstr(line, "xlate\n"));
	assert_non_null(strstr(logged, "warning late\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_shown),
		cmocka_unit_test(lines_and_text),
		cmocka_unit_test(line_of_the_other_stream_cuts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
