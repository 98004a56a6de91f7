#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/cmd/plan.h"

static const struct {
	const char *what, *was, *want, *lines;
} cases[] = {
	{ "one value", "ARGS=\"--a=1 --b=2 --c=3\"\n", "ARGS=\"--a=1 --b=4 --c=3\"\n",
	  "- --b=2\n+ --b=4" },
	{ "another order", "ARGS=\"--a=1 --b=2 --c=3\"\n", "ARGS=\"--c=3 --b=2 --a=1\"\n", "" },
	{ "one comes and one goes", "--a=1 --b --c=3", "--b --c=3 --d", "- --a=1\n+ --d" },
	{ "one of two of a name", "--l=a --l=b --x", "--l=b --x --l=b", "- --l=a\n+ --l=b" },
	{ "a manifest's command", "- /bin/kube-apiserver --a=1 --b=2 --c=3 2>&1 | tee\n",
	  "- /bin/kube-apiserver --a=1 --b=2 2>&1 | tee\n", "- --c=3" },
	{ "a name that is the beginning of another", "--a=1 --ab=1 --c", "--a=1 --ab=2 --c",
	  "- --ab=1\n+ --ab=2" },
	{ "a quoted value", "--a=\"x y\" --b --c", "--a=\"x z\" --b --c",
	  "- --a=\"x y\"\n+ --a=\"x z\"" },
	{ "few flags are an ordinary command", "mount --bind a b\n", "mount --rbind a b\n", "" },
	{ "no flags", "a--b=1\n---\n-- x\n", "a--b=2 c--d=3 e--f=1\n", "" },
	{ "a secret", "--a --b --registry-mirror=https://u:old word@x --c",
	  "--a --b --registry-mirror=https://u:new word@x --c",
	  "- --registry-mirror=(not shown)\n+ --registry-mirror=(not shown)" },
	{ "a secret's later words", "--a --b --log-opt=splunk-token=x old\n",
	  "--a --b --log-opt=splunk-token=x new\n",
	  "- --log-opt=(not shown)\n+ --log-opt=(not shown)" },
	{ "nothing was there", "", "--a --b --c", "+ --a\n+ --b\n+ --c" },
};

static void test_flags(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct strv lines = cmd_plan_flags(a, cases[i].was, cases[i].want);

		print_message("%s\n", cases[i].what);
		assert_string_equal(strv_join(a, &lines, "\n"), cases[i].lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
