#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field.h"
#include "nodeup/base/yaml.h"

struct part {
	struct opt_bool lead;
	int64_t weight;
};

struct parts {
	struct part *v;
	size_t n;
};

struct sample {
	const char *name, *ptr, *always, *mode, *rate;
	bool flag;
	int64_t count, quiet;
	struct opt_bool maybe;
	struct opt_int level, pids;
	struct opt_dur wait;
	struct strv joined, repeated;
	struct strmap labels, pairs;
	struct part part;
	bool has_part;
	struct parts parts;
	const struct tree *rest;
};

/* clang-format off */
static const struct field part_fields[] = {
	FIELD(struct part, lead, .key = "leaderElect", .flag = "leader-elect", .doc = "d"),
	FIELD(struct part, weight, .key = "weight", .flag = "weight", .doc = "d"),
};
static const struct schema part_schema = SCHEMA(struct part, "Part", part_fields);

#define F(m, ...) FIELD(struct sample, m, .doc = "what it is", __VA_ARGS__)
static const struct field sample_fields[] = {
	F(name, .key = "clusterName", .flag = "name", .usual = "here"),
	F(ptr, .key = "ptr", .flag = "ptr", .pointer = true),
	F(always, .key = "resolvConf", .flag = "resolv-conf", .include_empty = true, .pointer = true),
	F(mode, .key = "mode", .flag = "mode", .oneof = "on|half|", .flag_empty = "half"),
	F(flag, .key = "flag", .flag = "flag"),
	F(count, .key = "count", .flag = "count"),
	F(quiet, .key = "quiet", .flag = "quiet", .flag_empty = "0"),
	F(maybe, .key = "maybe", .flag = "maybe"),
	F(level, .key = "logLevel", .flag = "v", .flag_empty = "0"),
	F(pids, .key = "pids", .flag = "pids", .wide = true),
	F(wait, .key = "wait", .flag = "wait", .flag_empty = "0s"),
	F(joined, .key = "joined", .flag = "joined"),
	F(repeated, .key = "repeated", .flag = "repeated", .repeat = true),
	F(labels, .key = "labels", .flag = "labels"),
	F(pairs, .key = "pairs", .flag = "pair", .repeat = true),
	F(rate, .key = "rate", .flag = "rate", .format = &format_quantity),
	FIELD_NESTED_IF(struct sample, part, has_part, &part_schema, .key = "part", .doc = "d"),
	FIELD_LIST_OF(struct sample, parts, &part_schema, .key = "parts", .doc = "d"),
	F(rest, .key = "rest"),
};
static const struct schema sample_schema = SCHEMA(struct sample, "Sample", sample_fields);
/* clang-format on */

static int parse_with(struct arena *a, const char *text, const struct field_opts *o,
		      struct sample *s, struct err *e)
{
	struct tree *t = NULL;

	assert_int_equal(yaml_parse(a, "f.yaml", text, strlen(text), &t, e), 0);
	return field_parse(a, &sample_schema, t, s, o, e);
}

static struct sample good(struct arena *a, const char *text)
{
	struct sample s = { 0 };
	struct err e = { 0 };

	if (parse_with(a, text, NULL, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static char *flags_of(struct arena *a, const struct sample *s)
{
	struct strv out = { 0 };

	field_flags(a, &sample_schema, s, &out);
	return strv_join(a, &out, " ");
}

static void reads_every_kind(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct sample s = good(a, "clustername: 1.10\nptr: yes\nmode: half\nflag: Yes\n"
					"count: 0x10\nquiet: -0b11\nmaybe: off\nLOGLEVEL: 1_0\n"
					"wait: 90s\njoined: [a, 1, ~]\nlabels: {k: true, e: }\n"
					"part: {leaderElect: true}\nparts: [{weight: 3}, ~]\n"
					"rest: {any: [thing]}\n");

	(void)state;
	assert_string_equal(s.name, "1.10");
	assert_string_equal(s.ptr, "true");
	assert_true(s.flag);
	assert_int_equal(s.count, 16);
	assert_int_equal(s.quiet, -3);
	assert_true(s.maybe.set && !s.maybe.v);
	assert_true(s.level.set && s.level.v == 10);
	assert_true(s.wait.set && s.wait.ns == 90 * DUR_SEC);
	assert_string_equal(strv_join(a, &s.joined, ","), "a,1,");
	assert_string_equal(strmap_get(&s.labels, "k"), "true");
	assert_string_equal(strmap_get(&s.labels, "e"), "");
	assert_true(s.has_part && s.part.lead.v);
	assert_int_equal(s.parts.n, 2);
	assert_int_equal(s.parts.v[0].weight, 3);
	assert_non_null(tree_get(s.rest, "any"));
}

static void the_widest_numbers(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sample s = good(a, "count: 2147483647\npids: 9223372036854775807\n");

	(void)state;
	assert_true(s.count == INT32_MAX && s.pids.v == INT64_MAX);
	s = good(a, "count: -2147483648\npids: -9223372036854775808\n");
	assert_true(s.count == INT32_MIN && s.pids.v == INT64_MIN);
}

static void null_is_absent(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct sample s = good(a, "clusterName: ~\npart: null\nmaybe:\nrest: ~\njoined: ~\n");

	(void)state;
	assert_null(s.name);
	assert_false(s.has_part);
	assert_false(s.maybe.set);
	assert_null(s.rest);
	assert_int_equal(s.joined.n, 0);
}

static void wrong_types(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "count: many", "f.yaml:1:8: count: expected an integer, found 'many'" },
		{ "count: '5'", "f.yaml:1:8: count: expected an integer, found '5' in quotes" },
		{ "count: 1.5", "f.yaml:1:8: count: expected an integer, found '1.5'" },
		{ "count: 2147483648",
		  "f.yaml:1:8: count: expected an integer of 32 bits, found '2147483648'" },
		{ "count: -2147483649",
		  "f.yaml:1:8: count: expected an integer of 32 bits, found '-2147483649'" },
		{ "count: 99999999999999999999999999",
		  "f.yaml:1:8: count: expected an integer of 32 bits, found "
		  "'99999999999999999999999999'" },
		{ "pids: 9223372036854775808",
		  "f.yaml:1:7: pids: expected an integer of 64 bits, found '9223372036854775808'" },
		{ "flag: 1", "f.yaml:1:7: flag: expected true or false, found '1'" },
		{ "flag: 'true'",
		  "f.yaml:1:7: flag: expected true or false, found 'true' in quotes" },
		{ "maybe: {}", "f.yaml:1:8: maybe: expected true or false, found a map" },
		{ "clusterName: [a]", "f.yaml:1:14: clusterName: expected a string, found a list" },
		{ "wait: 5", "f.yaml:1:7: wait: expected a duration such as 1m30s, found '5'" },
		{ "joined: a", "f.yaml:1:9: joined: expected a list of strings, found 'a'" },
		{ "joined: [a, {}]", "f.yaml:1:13: joined[1]: expected a string, found a map" },
		{ "labels: {a: [b]}", "f.yaml:1:13: labels.a: expected a string, found a list" },
		{ "part: 3", "f.yaml:1:7: part: expected a map, found '3'" },
		{ "parts: {}", "f.yaml:1:8: parts: expected a list, found a map" },
		{ "parts:\n- {}\n- {weight: x}",
		  "f.yaml:3:12: parts[1].weight: expected an integer, found 'x'" },
		{ "mode: off", "f.yaml:1:7: mode: expected one of on|half, found 'off'" },
		{ "[]", "f.yaml:1:1: expected a map, found a list" },
		{ "count: 1\nCount: 2", "f.yaml:2:1: duplicate key 'Count', on line 1 as 'count'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct sample s = { 0 };
		struct err e = { 0 };

		assert_true(parse_with(a, rows[i].text, NULL, &s, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, rows[i].message);
	}
}

static void note_unknown(void *arg, const struct field_unknown *u)
{
	struct buf *b = arg;

	(void)buf_addf(b, "%u:%u %s%s%s;", u->pos->line, u->pos->column, u->path,
		       u->nearest ? " near " : "", u->nearest ? u->nearest : "");
}

static void unknown_keys_are_told(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(1000);
	const struct field_opts o = { .unknown = note_unknown, .arg = &b, .path = "spec" };
	struct sample s = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(parse_with(a, "x: 1\npart: {y: 2}\nparts:\n- z: 3\n", &o, &s, &e), 0);
	assert_string_equal(buf_str(&b), "1:1 spec.x;2:8 spec.part.y;4:3 spec.parts[0].z;");
}

static void required_keys(void **state)
{
	static const struct field fields[] = {
		FIELD(struct sample, name, .key = "name", .required = true),
	};
	static const struct schema s = SCHEMA(struct sample, "Required", fields);
	autoarena struct arena *a = arena_new_empty();
	struct sample obj = { 0 };
	struct err e = { 0 };
	struct tree *t = NULL;

	(void)state;
	assert_int_equal(yaml_parse(a, "f", "\n{name: ~}", 10, &t, &e), 0);
	assert_true(field_parse(a, &s, t, &obj, NULL, &e) < 0);
	assert_string_equal(e.msg, "f:2:1: 'name' is missing");
}

static void flags_follow_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct sample none = { 0 };
	const struct sample all = good(
		a, "clusterName: c\nptr: ''\nresolvConf: ''\nmode: half\nflag: true\ncount: 7\n"
		   "quiet: 0\nmaybe: false\nlogLevel: 0\nwait: 60s\njoined: [x, w]\n"
		   "repeated: [b, a]\nlabels: {z: 1, a: '', m-n: 2, m: 3}\n"
		   "pairs: {b: 2, a: 'x,y'}\nrate: 500m\n"
		   "part: {leaderElect: true}\nparts: [{weight: 9}]\n");

	(void)state;
	/* a plain bool and int always show, a part that is not there does not */
	assert_string_equal(flags_of(a, &none), "--count=0 --flag=false");
	assert_string_equal(flags_of(a, &all),
			    "--count=7 --flag=true --joined=x,w --labels=a=,m-n=2,m=3,z=1 "
			    "--leader-elect=true --maybe=false --name=c --pair=a=x,y --pair=b=2 "
			    "--rate=0.500 --repeated=a --repeated=b --resolv-conf= --wait=1m0s "
			    "--weight=0");
	assert_string_equal(flags_of(a, &(struct sample){ .mode = "on", .wait = { true, 0 } }),
			    "--count=0 --flag=false --mode=on");
}

static void flags_are_sorted_with_what_was_there(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv out = { 0 };

	(void)state;
	strv_add(a, &out, "--z=1");
	strv_add(a, &out, "--a=1");
	field_flags(a, &part_schema, &(struct part){ 0 }, &out);
	assert_string_equal(strv_join(a, &out, " "), "--a=1 --weight=0 --z=1");
}

static void overlay_follows_gos_json(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct sample base = good(a, "clusterName: c\nptr: p\nflag: true\ncount: 3\n"
					   "joined: [a, b]\nlabels: {x: 1, y: 2}\nmaybe: true\n"
					   "part: {weight: 4}\n");
	struct sample s = base;
	const struct sample over = good(a, "clusterName: ''\nptr: ''\nflag: false\ncount: 0\n"
					   "joined: [z]\nlabels: {y: 3, w: 4}\nmaybe: false\n"
					   "part: {leaderElect: true}\nparts: [{}]\n");

	(void)state;
	field_overlay(a, &sample_schema, &s, &over);
	assert_string_equal(s.name, "c");
	assert_string_equal(s.ptr, "");
	assert_true(s.flag);
	assert_int_equal(s.count, 3);
	assert_string_equal(strv_join(a, &s.joined, ","), "z");
	assert_int_equal(s.labels.n, 3);
	assert_string_equal(strmap_get(&s.labels, "y"), "3");
	assert_true(s.maybe.set && !s.maybe.v);
	assert_int_equal(s.part.weight, 4);
	assert_true(s.part.lead.v);
	assert_int_equal(s.parts.n, 1);
	/* what was laid over stays as it was */
	assert_string_equal(strmap_get(&base.labels, "y"), "2");
	assert_int_equal(base.labels.n, 2);
	assert_int_equal(over.labels.n, 2);
}

static void overlay_of_nothing_changes_nothing(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct sample none = { 0 };
	const struct sample base = good(a, "clusterName: c\npart: {weight: 4}\njoined: [a]\n"
					   "parts: [{}]\nlabels: {a: b}\n");
	struct sample s = base;

	(void)state;
	field_overlay(a, &sample_schema, &s, &none);
	assert_string_equal(flags_of(a, &s), flags_of(a, &base));
	assert_true(s.has_part);
	assert_int_equal(s.parts.n, 1);
}

static void usual_values_fill_what_is_empty(void **state)
{
	struct sample s = { 0 };

	(void)state;
	assert_string_equal(field_usual(&sample_schema, offsetof(struct sample, name)), "here");
	assert_null(field_usual(&sample_schema, offsetof(struct sample, mode)));
	field_fill(&sample_schema, &s);
	assert_string_equal(s.name, "here");
	assert_null(s.mode);
	s.name = "there";
	field_fill(&sample_schema, &s);
	assert_string_equal(s.name, "there");
}

static void docs_list_each_row(void **state)
{
	autobuf struct buf b = BUF_INIT(16384), small = BUF_INIT(10);

	(void)state;
	assert_int_equal(field_docs(&sample_schema, 0, &b), 0);
	assert_non_null(strstr(buf_str(&b), "clusterName "));
	assert_non_null(strstr(buf_str(&b), "\n  leaderElect"));
	assert_non_null(strstr(buf_str(&b), "--resolv-conf"));
	assert_non_null(strstr(buf_str(&b), "what it is (on|half|)\n"));
	assert_int_equal(field_docs(&sample_schema, 0, &small), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_values_fill_what_is_empty),
		cmocka_unit_test(reads_every_kind),
		cmocka_unit_test(the_widest_numbers),
		cmocka_unit_test(null_is_absent),
		cmocka_unit_test(wrong_types),
		cmocka_unit_test(unknown_keys_are_told),
		cmocka_unit_test(required_keys),
		cmocka_unit_test(flags_follow_kops),
		cmocka_unit_test(flags_are_sorted_with_what_was_there),
		cmocka_unit_test(overlay_follows_gos_json),
		cmocka_unit_test(overlay_of_nothing_changes_nothing),
		cmocka_unit_test(docs_list_each_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
