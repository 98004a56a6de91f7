#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/accepts.h"
#include "nodeup/base/label.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/str.h"

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define A63 A60 "aaa"
#define PREFIX253 A63 "." A63 "." A63 "." A60 "a"

static const struct {
	const char *text;
	bool name, value, pair;
} words[] = {
	{ "", false, true, true },
	{ "a", true, true, true },
	{ "A-b_c.9", true, true, true },
	{ "9", true, true, true },
	{ A63, true, true, true },
	{ A63 "a", false, false, false },
	{ "-a", false, false, false },
	{ "a-", false, false, false },
	{ ".a", false, false, false },
	{ "a_", false, false, false },
	{ "a b", false, false, false },
	{ "a,b", false, false, false },
	{ "\xc3\xa4", false, false, false },
	{ "a/b", true, false, true },
	{ "example.com/" A63, true, false, true },
	{ "example.com/" A63 "a", false, false, false },
	{ PREFIX253 "/a", true, false, true },
	{ PREFIX253 "a/a", false, false, false },
	{ "/a", false, false, false },
	{ "a/", false, false, false },
	{ "a/b/c", false, false, false },
	{ "Example.com/a", false, false, false },
	{ "a..b/c", false, false, false },
	{ "a_b/c", false, false, false },
	{ "a-/c", false, false, false },
	{ "a=b", false, false, true },
	{ "a=", false, false, true },
	{ "=b", false, false, false },
	{ "a=b=c", false, false, false },
	{ "a= b", false, false, false },
	{ "example.com/a=" A63, false, false, true },
	{ "example.com/a=" A63 "a", false, false, false },
};

#define TAINT "^" LABEL_PAIR ":(NoSchedule|PreferNoSchedule|NoExecute)$"

static bool is(const char *pattern, const char *s)
{
	return accepts_matches(pattern, s) && strcspn(s, "/") <= LABEL_PREFIX_MAX;
}

static void words_are_those_of_the_api_server(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *s = words[i].text;

		if (is("^" LABEL_NAME "$", s) != words[i].name ||
		    is("^" LABEL_VALUE "$", s) != words[i].value ||
		    is("^(" LABEL_PAIR ")?$", s) != words[i].pair ||
		    label_is_name(s) != accepts_matches("^" LABEL_NAME "$", s) ||
		    label_is_value(s) != words[i].value)
			fail_msg("'%s'", s);
	}
}

static void taints_have_a_name_and_an_effect(void **state)
{
	static const char *const good[] = { "a=b:NoSchedule", "a=:PreferNoSchedule", "a:NoExecute",
					    "node-role.kubernetes.io/control-plane=:NoSchedule",
					    (A63 "=" A63 ":NoSchedule") };
	static const char *const bad[] = { "",
					   "a",
					   "a=b",
					   ":NoSchedule",
					   "=b:NoSchedule",
					   "a=b:",
					   "a=b:Never",
					   "a=b:noSchedule",
					   "a=b:NoSchedule:NoExecute",
					   "a=x y:NoSchedule",
					   "a=b,c:NoSchedule",
					   "a=b/c:NoSchedule",
					   "A.b/c=d:NoSchedule",
					   "a=b=c:NoSchedule",
					   (A63 "a=:NoSchedule"),
					   ("a=" A63 "a:NoSchedule") };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!is(TAINT, good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (is(TAINT, bad[i]))
			fail_msg("%s", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_those_of_the_api_server),
		cmocka_unit_test(taints_have_a_name_and_an_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
