#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/values.h"

/* Of it nothing but keys and kinds counts. */
struct sample {
	struct opt_int low, high;
	struct strmap gates;
};

static const struct field_accepts low = { ACCEPTS_FROM_TO(0, 10) },
				  high = { ACCEPTS_FROM_TO(0, 20) },
				  gates = { .oneof = "GateOne|GateTwo",
					    .keys = true,
					    .names = true };

/* clang-format off */
#define F(m, ...) FIELD(struct sample, m, .doc = "d", __VA_ARGS__)
static const struct field fields[] = {
	F(low, .key = "low", .accepts = &low),
	F(high, .key = "high", .accepts = &high),
	F(gates, .key = "gates", .accepts = &gates),
};
/* clang-format on */
static const struct schema schema = SCHEMA(struct sample, "Sample", fields);

static const struct field_rule rows[] = {
	{ .keys = "low|high", .when = "high:8<=low:5", .text = "expected low below high" },
	{ .keys = "gates", .since = 32, .when = "!none", .text = "expected no gates" },
	{ .keys = "gates", .until = 30, .when = "!none", .text = "expected no gates yet" },
};
static const struct field_rules rules = { rows, ARRAY_LEN(rows) };

struct world {
	struct arena *a;
	struct dialect_opts opts;
	struct errs errors;
	struct strv warnings, tolerated, accept;
	struct tree *t;
	struct err e;
	int minor, asked;
	bool applied;
};

static bool was_applied(void *records, const struct vintage *v)
{
	struct world *w = records;

	assert_null(v);
	w->asked++;
	return w->applied;
}

static struct tree *parse(struct arena *a, const char *text)
{
	struct tree *t = NULL;
	struct err e;

	assert_int_equal(yaml_parse(a, "f", text, strlen(text), &t, &e), 0);
	return t;
}

static struct world *world_of(struct arena *a, const char *text)
{
	struct world *w = arena_new(a, struct world);

	*w = (struct world){ .a = a, .errors.arena = a, .minor = 31, .t = parse(a, text) };
	w->opts = (struct dialect_opts){ .warnings = &w->warnings,
					 .tolerated = &w->tolerated,
					 .accept_values = &w->accept,
					 .was_applied = was_applied,
					 .records = w };
	return w;
}

static int judge(struct world *w)
{
	const struct rule_section section = { .map = w->t };
	struct values v = { .arena = w->a,
			    .opts = &w->opts,
			    .minor = w->minor,
			    .accept = tree_lookup(w->t, "accept") };

	values_find(&v, &schema, w->t);
	values_find_across(&v, &rules, &section, 1);
	return values_judge(&v, &w->e);
}

static void one_beyond_is_an_error_with_a_way_out(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world *w = world_of(a, "low: 10\nhigh: 20\n");

	(void)state;
	assert_int_equal(judge(w), 0);
	assert_int_equal(w->warnings.n + w->asked, 0);
	w = world_of(a, "low: 11\nhigh: 21\n");
	assert_true(judge(w) < 0);
	assert_int_equal(w->e.kind, ERR_CONFIG);
	assert_string_equal(w->e.msg, "f:1:6: low: expected an integer from 0 to 10, found '11'");
	assert_string_equal(w->e.notes[0].text,
			    "if its program takes it, say accept: [low] in the settings");
	assert_string_equal(w->e.notes[1].label, "also");
	assert_string_equal(w->e.notes[1].text,
			    "f:2:7: high: expected an integer from 0 to 20, found '21'");
}

static void all_are_kept_where_errors_are(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world *w = world_of(a, "low: 11\nhigh: 21\n");

	(void)state;
	w->opts.errors = &w->errors;
	assert_int_equal(judge(w), 0);
	assert_int_equal(w->errors.n, 2);
	/* the rest is looked at all the same */
	assert_false(errs_any(&w->errors));
}

static void a_name_is_a_warning_but_for_strict(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world *w = world_of(a, "gates: {GateTow: true}\n");

	(void)state;
	assert_int_equal(judge(w), 0);
	assert_int_equal(w->warnings.n, 1);
	assert_string_equal(w->warnings.v[0], "f:1:9: gates.GateTow: expected one of "
					      "GateOne|GateTwo, found 'GateTow'; did you mean "
					      "'GateTwo'?");
	assert_int_equal(w->tolerated.n, 0);
	w->opts.strict = true;
	assert_true(judge(w) < 0);
	assert_string_equal(w->e.notes[0].text, "did you mean GateTwo?");
}

static void a_key_that_is_accepted_is_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world *w = world_of(a, "low: 11\naccept: [LOW]\n");
	static const char text[] =
		"f:1:6: low: expected an integer from 0 to 10, found '11'; it goes on, as accept says";

	(void)state;
	assert_int_equal(judge(w), 0);
	assert_string_equal(w->warnings.v[0], text);
	assert_string_equal(w->tolerated.v[0], text);
	w = world_of(a, "low: 11\nhigh: 21\n");
	strv_add(a, &w->accept, "low");
	assert_true(judge(w) < 0);
	assert_string_equal(w->e.msg, "f:2:7: high: expected an integer from 0 to 20, found '21'");
	assert_int_equal(w->tolerated.n, 1);
}

static void what_ran_well_goes_on(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world *w = world_of(a, "low: 11\nhigh: 9\n");

	(void)state;
	w->applied = w->opts.strict = true;
	assert_int_equal(judge(w), 0);
	assert_int_equal(w->tolerated.n, 2);
	assert_string_equal(w->tolerated.v[1],
			    "f:1:6: low: expected low below high; it goes on, as a run with these "
			    "documents ended well on this instance");
	w->applied = false;
	assert_true(judge(w) < 0);
}

static void where_it_is_not_asked_nothing_is_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world *w = world_of(a, "low: 11\n");

	(void)state;
	w->opts.any_value = true;
	assert_int_equal(judge(w), 0);
	assert_int_equal(w->warnings.n, 0);
}

static void a_rule_is_of_keys_and_versions(void **state)
{
	static const struct {
		const char *text;
		int minor;
		const char *want;
	} all[] = {
		{ "{}", 31, "" },
		{ "low: 7", 31, "" },
		{ "low: 8", 31, "f:1:6: low: expected low below high" },
		{ "high: 6", 31, "" },
		{ "high: 5", 31, "f:1:7: high: expected low below high" },
		{ "high: 9\nlow: 9", 31, "f:2:6: low: expected low below high" },
		{ "gates: {}", 31, "" },
		{ "gates: {}", 32, "f:1:8: gates: expected no gates" },
		{ "gates: {}", 30, "f:1:8: gates: expected no gates yet" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world *w = world_of(a, all[i].text);
		int r;

		w->minor = all[i].minor;
		r = judge(w);
		assert_string_equal(r < 0 ? w->e.msg : "", all[i].want);
	}
}

static void the_last_section_has_the_last_word(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct rule_section sections[] = {
		{ .path = "first",
		  .map = parse(a, "{Low: 1, high: 2, wait: 2s, on: true, text: a}") },
		{ .path = "second" },
		{ .path = "third", .map = parse(a, "{low: 3, high: null}") },
	};
	const struct rule_values v = { sections, ARRAY_LEN(sections), 31 };
	struct accepts_findings found = { 0 };

	(void)state;
	assert_true(rules_hold(&v, "low=3&high=2&on=true&text=a&!none"));
	assert_true(rules_hold(&v, "low<=3&3<=low:0&none:7<8&wait<=~2s&2s<=~wait"));
	rules_find(a, &rules, &v, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.v[0].key, "third.low");
	assert_string_equal(found.v[0].text, "f:1:7: third.low: expected low below high");
}

/* The defaults that a key has where it is absent: 80, and 85 or before 1.7 90. */
static void kubelets_thresholds_belong_together(void **state)
{
	static const struct {
		const char *text;
		int minor;
		size_t n;
	} all[] = {
		{ "imageGCLowThresholdPercent: 84", 31, 0 },
		{ "imageGCLowThresholdPercent: 85", 31, 1 },
		{ "imageGCLowThresholdPercent: 85", 8, 0 },
		{ "imageGCLowThresholdPercent: 86", 8, 1 },
		{ "imageGCLowThresholdPercent: 90", 6, 0 },
		{ "imageGCLowThresholdPercent: 91", 6, 1 },
		{ "imageGCHighThresholdPercent: 81", 31, 0 },
		{ "imageGCHighThresholdPercent: 80", 31, 1 },
		{ "imageGCHighThresholdPercent: 80", 9, 0 },
		{ "imageGCHighThresholdPercent: 79", 9, 1 },
		{ "{}", 31, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct rule_section section = { .map = parse(a, all[i].text) };
		const struct rule_values v = { &section, 1, all[i].minor };
		struct accepts_findings found = { 0 };

		rules_find(a, &kubelet_rules, &v, &found);
		assert_int_equal(found.n, all[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_beyond_is_an_error_with_a_way_out),
		cmocka_unit_test(all_are_kept_where_errors_are),
		cmocka_unit_test(a_name_is_a_warning_but_for_strict),
		cmocka_unit_test(a_key_that_is_accepted_is_told),
		cmocka_unit_test(what_ran_well_goes_on),
		cmocka_unit_test(where_it_is_not_asked_nothing_is_told),
		cmocka_unit_test(a_rule_is_of_keys_and_versions),
		cmocka_unit_test(the_last_section_has_the_last_word),
		cmocka_unit_test(kubelets_thresholds_belong_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
