#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/accepts.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/yaml.h"

/* Of it nothing but keys and kinds counts. */
struct sample {
	const char *mode, *plugins, *number, *word;
	int64_t files;
	struct opt_int pods, priority;
	struct opt_dur period;
	struct strv taints;
	struct strmap gates, labels;
	const char *pair, *level, *path;
	struct sample_part {
		struct opt_int depth;
	} part;
	struct {
		struct sample_part *v;
		size_t n;
	} parts;
	const struct tree *any;
};

static bool is_lower(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyz") == strlen(s);
}

static const struct field_accepts mode_of_new = { .oneof = "on|off|auto", .since = 30 },
				  mode = { .oneof = "on|off", .until = 29, .next = &mode_of_new };
static const struct field_accepts pods = { ACCEPTS_FROM_TO(1, 500) },
				  files = { ACCEPTS_OR_MORE(2) },
				  priority = { .wanted = "an integer of -1 or less",
					       .min = INT64_MIN,
					       .max = -1 },
				  period = { .wanted = "a duration from 1s to 1m0s",
					     .min = DUR_SEC,
					     .max = 60 * DUR_SEC },
				  depth = { ACCEPTS_FROM_TO(1, 3) };
static const struct field_accepts lower = { .wanted = "small letters", .is_valid = is_lower },
				  plugins = { .oneof = "Alpha|Beta", .commas = true },
				  gates = { .wanted = "a gate of this version",
					    .oneof = "GateOne|GateTwo",
					    .keys = true,
					    .names = true };
static const struct field_accepts pair = { .wanted = "a pair", .pattern = "^[a-z]+=[0-9]+$" },
				  level = { .wanted = "a level", .pattern = "(?i)^(low|high)$" };
static const struct field_accepts short_path = { .wanted = "at most 3 letters before '/'",
						 .longest = 3,
						 .prefix = true },
				  path = { .wanted = "at most 6 letters",
					   .longest = 6,
					   .next = &short_path };
static const struct field_accepts label_keys = { .wanted = "a key of small letters",
						 .is_valid = is_lower,
						 .keys = true,
						 .next = &lower };

/* clang-format off */
#define P(m, ...) FIELD(struct sample_part, m, .doc = "d", __VA_ARGS__)
static const struct field part_fields[] = {
	P(depth, .key = "depth", .accepts = &depth),
};
static const struct schema part_schema = SCHEMA(struct sample_part, "Part", part_fields);
#define F(m, ...) FIELD(struct sample, m, .doc = "d", __VA_ARGS__)
static const struct field fields[] = {
	F(mode, .key = "mode", .accepts = &mode),
	F(plugins, .key = "plugins", .accepts = &plugins),
	F(number, .key = "number", .accepts = &pods),
	F(word, .key = "word", .secret = true, .accepts = &plugins),
	F(files, .key = "files", .flag_empty = "0", .accepts = &files),
	F(pods, .key = "maxPods", .accepts = &pods),
	F(priority, .key = "priority", .accepts = &priority),
	F(period, .key = "period", .flag_empty = "0s", .accepts = &period),
	F(taints, .key = "taints", .accepts = &lower),
	F(gates, .key = "gates", .accepts = &gates),
	F(labels, .key = "labels", .accepts = &label_keys),
	FIELD_NESTED(struct sample, part, &part_schema, .key = "part", .doc = "d"),
	FIELD_LIST_OF(struct sample, parts, &part_schema, .key = "parts", .secret = true, .doc = "d"),
	F(pair, .key = "pair", .accepts = &pair),
	F(level, .key = "level", .accepts = &level),
	F(path, .key = "path", .accepts = &path),
	F(any, .key = "any", .accepts = &lower),
};
static const struct schema schema = SCHEMA(struct sample, "Sample", fields);
/* clang-format on */

static struct accepts_findings check(struct arena *a, int minor, const char *text)
{
	const struct accepts_opts o = { .minor = minor, .path = "Top" };
	struct accepts_findings found = { 0 };
	struct tree *t = NULL;
	struct err e;

	assert_int_equal(yaml_parse(a, "f", text, strlen(text), &t, &e), 0);
	accepts_check(a, &schema, t, &o, &found);
	return found;
}

/* What is told of a text, a line each. */
static const char *told(struct arena *a, int minor, const char *text)
{
	const struct accepts_findings found = check(a, minor, text);
	const char *all = "";

	for (size_t i = 0; i < found.n; i++)
		all = arena_printf(a, "%s%s%s", all, *all ? "\n" : "", found.v[i].text);
	return all;
}

static void a_number_has_a_smallest_and_a_largest(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "maxPods: 1"), "");
	assert_string_equal(told(a, 30, "maxPods: 500"), "");
	assert_string_equal(told(a, 30, "maxPods: 0"),
			    "f:1:10: Top.maxPods: expected an integer from 1 to 500, found '0'");
	assert_string_equal(
		told(a, 30, "maxPods: 0x1f5"),
		"f:1:10: Top.maxPods: expected an integer from 1 to 500, found '0x1f5'");
	assert_string_equal(told(a, 30, "files: 2"), "");
	assert_string_equal(told(a, 30, "files: 1"),
			    "f:1:8: Top.files: expected an integer of 2 or more, found '1'");
	assert_string_equal(told(a, 30, "priority: -1"), "");
	assert_string_equal(told(a, 30, "priority: 0"),
			    "f:1:11: Top.priority: expected an integer of -1 or less, found '0'");
}

static void a_text_may_be_a_number(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "number: '500'"), "");
	assert_string_equal(told(a, 30, "number: ''"), "");
	assert_string_equal(
		told(a, 30, "number: '501'"),
		"f:1:9: Top.number: expected an integer from 1 to 500, found '501' in quotes");
	assert_string_equal(told(a, 30, "number: 1x"),
			    "f:1:9: Top.number: expected an integer from 1 to 500, found '1x'");
}

static void a_duration_has_a_smallest_and_a_largest(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "period: 1s"), "");
	assert_string_equal(told(a, 30, "period: 1m"), "");
	assert_string_equal(
		told(a, 30, "period: 999ms"),
		"f:1:9: Top.period: expected a duration from 1s to 1m0s, found '999ms'");
	assert_string_equal(
		told(a, 30, "period: 60001ms"),
		"f:1:9: Top.period: expected a duration from 1s to 1m0s, found '60001ms'");
}

static void what_counts_as_not_given_is_not_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "files: 0\nperiod: 0s\nmode: ''\nmaxPods:\n"), "");
	assert_string_equal(told(a, 30, "files: 0x0\nperiod: 0m\n"), "");
}

static void what_cannot_be_read_is_the_readers(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "maxPods: many\nperiod: soon\nunknown: 1\nmode: [x]\n"),
			    "");
	assert_string_equal(told(a, 30, "[1, 2]"), "");
}

static void a_demand_holds_for_its_versions(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 29, "mode: on"), "f:1:7: Top.mode: expected one of on|off, "
						     "found 'on'");
	assert_string_equal(told(a, 29, "mode: 'off'"), "");
	assert_string_equal(told(a, 30, "mode: auto"), "");
	assert_string_equal(told(a, 29, "mode: auto"),
			    "f:1:7: Top.mode: expected one of on|off, found 'auto'");
	assert_string_equal(told(a, 31, "mode: autos"),
			    "f:1:7: Top.mode: expected one of on|off|auto, found 'autos'");
}

static void each_word_and_item_is_looked_at(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct accepts_findings found = check(a, 30, "plugins: Alpha,Betta,Beta");

	(void)state;
	assert_int_equal(found.n, 1);
	assert_string_equal(found.v[0].text,
			    "f:1:10: Top.plugins: expected one of Alpha|Beta, found 'Betta'");
	assert_string_equal(found.v[0].nearest, "Beta");
	assert_false(found.v[0].names);
	found = check(a, 30, "taints: [abc, aBc, '']\nany: {x: Q, z: z}\n");
	assert_int_equal(found.n, 2);
	assert_string_equal(found.v[0].key, "Top.taints");
	assert_string_equal(found.v[0].text,
			    "f:1:15: Top.taints[1]: expected small letters, found 'aBc'");
	assert_string_equal(found.v[1].text,
			    "f:2:10: Top.any.x: expected small letters, found 'Q'");
}

static void keys_of_a_map_have_demands_of_their_own(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct accepts_findings found = check(a, 30, "gates: {GateOne: true, GateTow: Maybe}");

	(void)state;
	assert_int_equal(found.n, 1);
	assert_true(found.v[0].names);
	assert_string_equal(found.v[0].nearest, "GateTwo");
	assert_string_equal(found.v[0].key, "Top.gates");
	assert_string_equal(
		found.v[0].text,
		"f:1:24: Top.gates.GateTow: expected a gate of this version, found 'GateTow'");
	assert_string_equal(told(a, 30, "labels: {A: b, c: D}"),
			    "f:1:10: Top.labels.A: expected a key of small letters, found 'A'\n"
			    "f:1:19: Top.labels.c: expected small letters, found 'D'");
}

static void a_text_has_a_pattern(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "pair: a=1"), "");
	assert_string_equal(told(a, 30, "pair: A=1"),
			    "f:1:7: Top.pair: expected a pair, found 'A=1'");
	assert_string_equal(told(a, 30, "level: High"), "");
	assert_string_equal(told(a, 30, "level: higher"),
			    "f:1:8: Top.level: expected a level, found 'higher'");
}

static void a_text_has_a_length(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(told(a, 30, "path: abc/de"), "");
	assert_string_equal(told(a, 30, "path: abc"), "");
	assert_string_equal(told(a, 30, "path: abc/def"),
			    "f:1:7: Top.path: expected at most 6 letters, found 'abc/def'");
	assert_string_equal(
		told(a, 30, "path: abcd/"),
		"f:1:7: Top.path: expected at most 3 letters before '/', found 'abcd/'");
	assert_string_equal(told(a, 30, "path: abcd"),
			    "f:1:7: Top.path: expected at most 3 letters before '/', found 'abcd'");
}

static void sections_and_lists_are_walked(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct accepts_findings found = check(a, 30, "parts: [{depth: 3}, {depth: 4}]");

	(void)state;
	assert_string_equal(told(a, 30, "PART: {depth: 0}"),
			    "f:1:15: Top.PART.depth: expected an integer from 1 to 3, found '0'");
	assert_int_equal(found.n, 1);
	assert_string_equal(found.v[0].key, "Top.parts[1].depth");
}

static void no_secret_is_shown(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct accepts_findings found = check(a, 30, "word: Betta");

	(void)state;
	assert_string_equal(found.v[0].text,
			    "f:1:7: Top.word: expected one of Alpha|Beta, found a text");
	assert_null(found.v[0].nearest);
	assert_string_equal(
		told(a, 30, "parts: [{depth: 9}]"),
		"f:1:17: Top.parts[0].depth: expected an integer from 1 to 3, found a text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_has_a_smallest_and_a_largest),
		cmocka_unit_test(a_text_may_be_a_number),
		cmocka_unit_test(a_duration_has_a_smallest_and_a_largest),
		cmocka_unit_test(what_counts_as_not_given_is_not_told),
		cmocka_unit_test(what_cannot_be_read_is_the_readers),
		cmocka_unit_test(a_demand_holds_for_its_versions),
		cmocka_unit_test(each_word_and_item_is_looked_at),
		cmocka_unit_test(keys_of_a_map_have_demands_of_their_own),
		cmocka_unit_test(a_text_has_a_pattern),
		cmocka_unit_test(a_text_has_a_length),
		cmocka_unit_test(sections_and_lists_are_walked),
		cmocka_unit_test(no_secret_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
