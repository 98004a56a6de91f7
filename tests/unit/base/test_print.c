#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <cmocka.h>

#include "nodeup/base/buf.h"
#include "nodeup/base/print.h"

/* The compiler must not know that it is one. */
static const char *volatile absent = NULL;

/* Each directive that the program has, printed as the library prints it. */
static void the_same_as_the_library(void **state)
{
	char ours[256], theirs[256];

	(void)state;
#define SAME(...)                                                                \
	do {                                                                     \
		const int n_ = snprintf(theirs, sizeof(theirs), __VA_ARGS__);    \
		memset(ours, 'x', sizeof(ours));                                 \
		assert_int_equal(print_to(ours, sizeof(ours), __VA_ARGS__), n_); \
		assert_string_equal(ours, theirs);                               \
		assert_int_equal(print_to(NULL, 0, __VA_ARGS__), n_);            \
		assert_int_equal(print_to(ours, 4, __VA_ARGS__), n_);            \
		theirs[3] = '\0';                                                \
		assert_string_equal(ours, theirs);                               \
	} while (0)
	SAME("%s", "");
	SAME("a%s%%b%-7s|%7s|%.2s|%.*s|%*s|%-*.*s|%5c%c", "x", "yy", "zz", "abc", 2, "def", 4, "g",
	     -6, 1, "hij", 'k', 'l');
	SAME("%d %i %5d %-5d| %05d %+d %ld %lld %" PRId64 " %zd %jd", 1, -2, 3, 4, 5, 6, LONG_MIN,
	     LLONG_MAX, INT64_MIN, (ssize_t)-7, (intmax_t)8);
	SAME("%u %x %X %#x %o %03o %02X %016llx %016" PRIx64 " %lu %zu %ju %*u", 1u, 0xau, 0xbu,
	     0xcu, 8u, 7u, 6u, 0xdULL, UINT64_MAX, ULONG_MAX, SIZE_MAX, UINTMAX_MAX, 9, 5u);
	SAME("%f %.1f %8.3f %g %.12g %.*g %.0f", 1.5, 2.25, -3.0, 1e20, 0.1, 3, 1.0 / 3, 2.5);
	SAME("%2$s, %1$s, %2$s%%", "x", "y");
	SAME("%p %e %-*.3lld|%hhu|%hd", (void *)ours, 1.5, 9, 5LL, (unsigned char)200, (short)-3);
#undef SAME
}

static void a_text_that_is_not_there(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(64);
	char text[64];
	struct err e;

	(void)state;
	(void)print_to(text, sizeof(text), "%s %-8s| %.3s %.*s", absent, absent, absent, 0, absent);
	assert_string_equal(text, "(none) (none)  | (no ");
	assert_string_equal(arena_printf(a, "no %s here", absent), "no (none) here");
	(void)buf_addf(&b, "%s", absent);
	assert_string_equal(buf_str(&b), "(none)");
	(void)err_config(&e, "want %s", absent);
	(void)err_wrap(&e, "%s", absent);
	err_add(&e, "%s", absent);
	err_note(&e, "got", "%s", absent);
	err_cause(&e, "%s", absent);
	assert_string_equal(e.msg, "(none): want (none), (none)");
	assert_string_equal(e.notes[0].text, "(none)");
	assert_string_equal(e.cause, "(none)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_as_the_library),
		cmocka_unit_test(a_text_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
