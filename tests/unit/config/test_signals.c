#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/config/settings.h"
#include "nodeup/config/signals.h"

static void forms(void **state)
{
	static const struct {
		const char *text, *first, *second;
		bool is_one;
	} rows[] = {
		{ "lifecycleHook=nodes.a:up", "nodes.a", "up", true },
		{ "stackSignal=arn:aws:x:1:stack/s/u:Group", "arn:aws:x:1:stack/s/u", "Group",
		  true },
		{ "stackSignal=stack:Group", "stack", "Group", true },
		{ "tag=node=state", "node=state", NULL, true },
		{ "tag=a:b", "a:b", NULL, true },
		{ "instanceHealth", NULL, NULL, true },
		{ "instanceHealth=x", NULL, NULL, false },
		{ "instanceHealth=", NULL, NULL, false },
		{ "lifecycleHook", NULL, NULL, false },
		{ "lifecycleHook=", NULL, NULL, false },
		{ "lifecycleHook=nodes.a", NULL, NULL, false },
		{ "lifecycleHook=:up", NULL, NULL, false },
		{ "lifecycleHook=nodes.a:", NULL, NULL, false },
		{ "tag=", NULL, NULL, false },
		{ "tag=a\nb", NULL, NULL, false },
		{ "tags=a", NULL, NULL, false },
		{ "", NULL, NULL, false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct signal s;

		if (signal_parse(a, rows[i].text, &s) != rows[i].is_one)
			fail_msg("%s", rows[i].text);
		if (rows[i].is_one &&
		    (!str_eq(s.first, rows[i].first) || !str_eq(s.second, rows[i].second)))
			fail_msg("%s: %s, %s", rows[i].text, s.first, s.second);
	}
	assert_string_equal(signal_forms(a), "lifecycleHook=GROUP:HOOK, instanceHealth, "
					     "stackSignal=STACK:RESOURCE, tag=KEY");
	for (size_t i = 0; i < settings_schema.n; i++)
		if (str_eq(settings_schema.fields[i].key, "signals"))
			assert_non_null(strstr(settings_schema.fields[i].doc, signal_forms(a)));
}

/* Lists the signals that a run may send, as the first letters of lifecycleHook, instanceHealth, stackSignal and tag, and the
 * word that follows if all services hear it, and if one does not. */
static void when(void **state)
{
	static const struct {
		struct signal_moment m;
		const char *sent;
		enum signal_word heard, unheard;
	} rows[] = {
		/* the first success, also by hand, also after its end was asked for */
		{ { false, true, true, SIGNAL_NOTHING }, "lst", SIGNAL_READY, SIGNAL_UNTOLD },
		{ { false, false, false, SIGNAL_NOTHING }, "lst", SIGNAL_READY, SIGNAL_UNTOLD },
		{ { false, true, true, SIGNAL_FAILED }, "lst", SIGNAL_READY, SIGNAL_UNTOLD },
		{ { false, true, true, SIGNAL_UNTOLD }, "lst", SIGNAL_READY, SIGNAL_UNTOLD },
		{ { false, true, true, SIGNAL_READY }, "", SIGNAL_READY, SIGNAL_UNTOLD },
		{ { false, true, false, SIGNAL_LATE }, "t", SIGNAL_READY, SIGNAL_LATE },
		/* a failure at the first boot */
		{ { true, true, true, SIGNAL_NOTHING }, "list", SIGNAL_FAILED, SIGNAL_FAILED },
		/* never twice, by hand, after a reboot, or after it was ready */
		{ { true, true, true, SIGNAL_FAILED }, "t", SIGNAL_FAILED, SIGNAL_FAILED },
		{ { true, false, true, SIGNAL_NOTHING }, "t", SIGNAL_NOTHING, SIGNAL_NOTHING },
		{ { true, true, false, SIGNAL_NOTHING }, "t", SIGNAL_NOTHING, SIGNAL_NOTHING },
		{ { true, true, true, SIGNAL_UNTOLD }, "t", SIGNAL_UNTOLD, SIGNAL_UNTOLD },
		{ { true, true, true, SIGNAL_READY }, "t", SIGNAL_LATE, SIGNAL_LATE },
		{ { true, true, true, SIGNAL_LATE }, "t", SIGNAL_LATE, SIGNAL_LATE },
	};
	static const char *const all[] = { "lifecycleHook=g:h", "instanceHealth", "stackSignal=s:r",
					   "tag=k" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char sent[ARRAY_LEN(all) + 1] = "", *at = sent;

		for (size_t k = 0; k < ARRAY_LEN(all); k++) {
			struct signal s;

			assert_true(signal_parse(a, all[k], &s));
			if (signal_may_be_sent(s.row, &rows[i].m))
				*at++ = *all[k];
		}
		if (!str_eq(sent, rows[i].sent))
			fail_msg("row %zu: %s", i, sent);
		assert_int_equal(signal_after(&rows[i].m, true), rows[i].heard);
		if (*rows[i].sent)
			assert_int_equal(signal_after(&rows[i].m, false), rows[i].unheard);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
