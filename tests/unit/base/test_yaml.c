#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/yaml.h"

static int parse(struct arena *a, const char *text, struct tree **t, struct err *e)
{
	return yaml_parse(a, "f.yaml", text, strlen(text), t, e);
}

static struct tree *good(struct arena *a, const char *text)
{
	struct err e = { 0 };
	struct tree *t = NULL;

	if (parse(a, text, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

static void positions_and_kinds(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *t = good(a, "a: 1\nb:\n- x\n-   'y'\nc: {d: ~, e: \"\"}\n");
	const struct tree *b = tree_get(t, "b"), *c = tree_get(t, "c");

	(void)state;
	assert_int_equal(t->kind, TREE_MAP);
	assert_int_equal(t->n, 3);
	assert_string_equal(tree_where(a, &t->items[1].key_pos), "f.yaml:2:1");
	assert_string_equal(tree_where(a, &b->items[1].value->pos), "f.yaml:4:5");
	assert_false(b->items[0].value->quoted);
	assert_true(b->items[1].value->quoted);
	assert_int_equal(tree_get(c, "d")->kind, TREE_NULL);
	assert_int_equal(tree_get(c, "e")->kind, TREE_SCALAR);
	assert_string_equal(tree_get(c, "e")->scalar, "");
}

static void odd_but_good(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_int_equal(good(a, "")->kind, TREE_NULL);
	assert_int_equal(good(a, "# nothing\n")->kind, TREE_NULL);
	assert_string_equal(tree_get(good(a, "\xef\xbb\xbf"
					     "a: x\r\nb: y\r\n"),
				     "b")
				    ->scalar,
			    "y");
	assert_string_equal(tree_get(good(a, "---\na: |\n  l1\n  l2\n...\n"), "a")->scalar,
			    "l1\nl2\n");
	assert_true(tree_get(good(a, "a: !!str 5"), "a")->quoted);
	assert_false(tree_get(good(a, "a: !!int 5"), "a")->quoted);
	assert_non_null(tree_get(good(a, "'<<': {x: 1}"), "<<"));
}

static void aliases(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *t = good(a, "a: &x {k: [1, 2]}\nb: *x\nc: &x two\nd: *x\n");

	(void)state;
	assert_true(tree_eq(tree_get(t, "a"), tree_get(t, "b")));
	assert_string_equal(tree_get(t, "d")->scalar, "two");
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "a: 1\nb: 2\na: 3\n", "f.yaml:3:1: duplicate key 'a', first on line 1" },
		{ "x: {k: 1, j: 2, k: 3, k: 4}",
		  "f.yaml:1:17: duplicate key 'k', first on line 1" },
		{ "<<: {a: 1}\n", "f.yaml:1:1: merge keys ('<<') are not supported" },
		{ "a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document; only one is expected" },
		{ "? [a]\n: 1\n", "f.yaml:1:3: a key that is not plain text" },
		{ "~: 1\n", "f.yaml:1:1: an empty key" },
		{ "a: !!binary eA==\n",
		  "f.yaml:1:4: unknown tag: text that begins with ! needs quotes" },
		{ "a: !foo x\n", "f.yaml:1:4: unknown tag: text that begins with ! needs quotes" },
		{ "a: !!map x\n", "f.yaml:1:4: unknown tag: text that begins with ! needs quotes" },
		{ "a: *nope\n", "f.yaml:1:4: unknown alias: text that begins with * needs quotes" },
		{ "a: &x [*x]\n", "f.yaml:1:8: an alias inside the value it stands for" },
		{ "a: \"x\\0y\"\n", "f.yaml:1:4: a NUL character in a string" },
		{ "a:\n\t- b\n",
		  "f.yaml:2:1: found character that cannot start any token (while scanning for the "
		  "next token from line 2); a tab: YAML is indented with spaces" },
		{ "a: \xc3\x28\n", "f.yaml:1:5: invalid trailing UTF-8 octet (byte 0x28)" },
		{ "a: ok\nb: \xff\n", "f.yaml:2:4: invalid leading UTF-8 octet (byte 0xff)" },
		{ "a: [1\nb: 2\n", "f.yaml:2:2: did not find expected ',' or ']' (while parsing a "
				   "flow sequence from line 1)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct err e = { 0 };
		struct tree *t = NULL;

		assert_true(parse(a, rows[i].text, &t, &e) < 0);
		assert_null(t);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, rows[i].message);
	}
}

/* The text, n times over. */
static char *times(const char *text, size_t n)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);

	for (size_t i = 0; i < n; i++)
		(void)buf_adds(&b, text);
	return buf_take(&b);
}

static void limits(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autofree char *deep = times("[", 64), *deeper = times("[", 65);
	autofree char *close = times("]", 65), *many = times("- 1\n", 19999);
	autofree char *ok = xasprintf("%s%s", deep, close + 1),
		      *no = xasprintf("%s%s", deeper, close);
	autofree char *too_many = xasprintf("%s- 1\n", many);
	autofree char *anchors = times("- &a 1\n", 1001);
	struct err e = { 0 };
	struct tree *t = NULL;

	(void)state;
	assert_int_equal(good(a, ok)->kind, TREE_SEQ);
	assert_true(parse(a, no, &t, &e) < 0);
	assert_string_equal(e.msg, "f.yaml:1:65: nested deeper than 64 levels");
	assert_int_equal(good(a, many)->n, 19999);
	assert_true(parse(a, too_many, &t, &e) < 0);
	assert_string_equal(e.msg, "f.yaml:20000:3: more than 20000 values, aliases expanded");
	assert_true(parse(a, anchors, &t, &e) < 0);
	assert_string_equal(e.msg, "f.yaml:1001:3: more than 1000 anchors");
}

/* Ten aliases of ten aliases of ...: a few bytes that would be billions of nodes. */
static void alias_bomb(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(65536);
	struct err e = { 0 };
	struct tree *t = NULL;

	(void)state;
	(void)buf_adds(&b, "a0: &a0 x\n");
	for (int i = 1; i < 12; i++) {
		(void)buf_addf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			(void)buf_addf(&b, "%s*a%d", k ? ", " : "", i - 1);
		(void)buf_adds(&b, "]\n");
	}
	assert_true(parse(a, buf_str(&b), &t, &e) < 0);
	assert_non_null(strstr(e.msg, "aliases expanded"));
}

/* Aliases may not nest what is written flat deeper than allowed either. */
static void alias_depth(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(65536);
	struct err e = { 0 };
	struct tree *t = NULL;

	(void)state;
	(void)buf_adds(&b, "- &a0 x\n");
	for (int i = 1; i < 70; i++)
		(void)buf_addf(&b, "- &a%d [*a%d]\n", i, i - 1);
	assert_true(parse(a, buf_str(&b), &t, &e) < 0);
	assert_string_equal(e.msg, "f.yaml:64:9: nested deeper than 64 levels");
}

static void writes_what_go_writes(void **state)
{
	static const char text[] = "annotations:\n"
				   "  critical: \"\"\n"
				   "args:\n"
				   "- --a=b c\n"
				   "- '@aws'\n"
				   "- \"1\"\n"
				   "- \"yes\"\n"
				   "- \"null\"\n"
				   "- 1\n"
				   "- true\n"
				   "- null\n"
				   "- -x\n"
				   "- 'a: b'\n"
				   "- ü\n"
				   "empty: {}\n"
				   "list: []\n"
				   "\"on\": 1.8.7\n"
				   "script: |\n"
				   "  one\n"
				   "  two\n";
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(65536);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(yaml_render(good(a, text), &b, &e), 0);
	assert_string_equal(buf_str(&b), text);
}

/* As Go's yaml does, for readers that know dates and base 60. */
static void times_are_quoted(void **state)
{
	static const struct {
		const char *text;
		bool quoted;
	} cases[] = {
		{ "2001-01-01", true },
		{ "2001-1-2T15:04:05Z", true },
		{ "2001-1-2 15:04:05", true },
		{ "12:30", true },
		{ "-1:59:00.5", true },
		{ "06:11:22:33:44:55", true },
		{ "2001-01", false },
		{ "2001-001-01", false },
		{ "2001-01-01x", false },
		{ "20010-01-01", false },
		{ "12:60", false },
		{ "12:300", false },
		{ "a:30", false },
		{ "1:2.x", false },
		{ "10.0.0.1:80", false },
		{ "fd00::1", false },
	};
	autoarena struct arena *a = arena_new_empty();
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autobuf struct buf b = BUF_INIT(100);

		assert_int_equal(yaml_render(tree_string(a, cases[i].text), &b, &e), 0);
		assert_string_equal(buf_str(&b),
				    arena_printf(a, cases[i].quoted ? "\"%s\"\n" : "%s\n",
						 cases[i].text));
	}
}

static void round_trips(void **state)
{
	static const char *const strings[] = { "",   " x", "x ",     "a\nb", "a\nb\n\n", "\n",
					       "\t", "#x", "x #y",   "x: y", "- x",      "'",
					       "\"", "\\", "%",      "!",    "&a",       "*a",
					       "|",  ">",  "{",      "0x1",  "1e3",      ".5",
					       "<<", "=",  "\x01",   "é",    "---",      "...",
					       "~",  "?",  "a\r\nb", " \n ", "x\n y",    "@" };
	autoarena struct arena *a = arena_new_empty();
	struct tree *t = tree_map(a), *back = NULL;
	autofree char *wide = times("word ", 100);
	autobuf struct buf b = BUF_INIT(65536);
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		(void)tree_set(a, t, arena_printf(a, "k%s", strings[i]),
			       tree_string(a, strings[i]));
	(void)tree_set(a, t, "wide", tree_string(a, wide));
	assert_int_equal(yaml_render(t, &b, &e), 0);
	assert_non_null(strstr(buf_str(&b), wide));
	assert_int_equal(yaml_parse(a, "x", b.data, b.len, &back, &e), 0);
	assert_true(tree_eq(t, back));
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		assert_true(back->items[i].value->kind == TREE_SCALAR);
}

static void render_failures(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(8), big = BUF_INIT(100);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(yaml_render(tree_string(a, "longer than that"), &b, &e), -EFBIG);
	assert_true(yaml_render(tree_string(a, "\xff"), &big, &e) < 0);
	assert_string_equal(e.msg, "YAML text: a string is not UTF-8");
}

static char *load(const char *path, size_t *n)
{
	autobuf struct buf b = BUF_INIT(1 << 20);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err e = { 0 };

	assert_true(fd >= 0);
	assert_int_equal(io_read_fd(fd, path, &b, &e), 0);
	*n = b.len;
	return buf_take(&b);
}

/* Every prefix of a real document parses or is refused; a copy of exact size shows over-reads. */
static void truncated(void **state)
{
	static const char *const files[] = {
		"tests/data/seed-cluster/master/kube_env.yaml",
		"tests/data/seed-cluster/state/jdurbin-kops/abc.joshdurbin.net/cluster.spec",
	};

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		size_t n, parsed = 0;
		autofree char *text = load(files[f], &n);

		for (size_t len = 0; len <= n; len += 1 + len / 100) {
			autoarena struct arena *a = arena_new_empty();
			autofree char *exact = xcalloc(1, len);
			struct err e = { 0 };
			struct tree *t = NULL;

			memcpy(exact, text, len);
			if (yaml_parse(a, "x", exact, len, &t, &e) == 0)
				parsed++;
			else
				assert_int_equal(e.kind, ERR_CONFIG);
		}
		assert_true(parsed > 0);
	}
}

/* One flipped byte anywhere: an answer or an error, never a crash. */
static void mutated(void **state)
{
	size_t n;
	autofree char *text = load("tests/data/seed-cluster/master/kube_env.yaml", &n);
	static const char bytes[] = "\0\t:-[{&*!|>'\"%@\xff\n";

	(void)state;
	for (size_t i = 0; i < n; i++) {
		autoarena struct arena *a = arena_new_empty();
		const char was = text[i];
		struct err e = { 0 };
		struct tree *t = NULL;

		text[i] = bytes[i % (sizeof(bytes) - 1)];
		if (yaml_parse(a, "x", text, n, &t, &e) < 0)
			assert_int_equal(strncmp(e.msg, "x:", 2), 0);
		else
			assert_non_null(t);
		text[i] = was;
	}
}

/* As servers answer that have lost a document. */
static void what_says_nothing(void **state)
{
	static const char *const hollow[] = {
		"",
		"\n \n",
		"# c\n",
		"null",
		"~ # c\n",
		"Null",
		"---",
		"---\n...\n",
		"--- !!null",
		"{}",
		"[]",
		"''",
		"{ }\n",
		"spec:",
		"spec: {}",
		"Spec: ~\n",
		"spec: [] # c",
		"metadata: {name: a}",
		"kind: InstanceGroup\nmetadata: {name: a}\nspec: null\n",
		"{\"kind\":\"Keyset\",\"spec\":{}}",
	};
	static const char *const full[] = { "a",          "0",
					    "a:",         "spec: {a: }",
					    "{",          "- ",
					    "role: Node", "-----BEGIN CERTIFICATE-----",
					    "---\n---\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hollow); i++)
		if (!yaml_is_hollow(hollow[i], strlen(hollow[i])))
			fail_msg("'%s' says nothing", hollow[i]);
	for (size_t i = 0; i < ARRAY_LEN(full); i++)
		if (yaml_is_hollow(full[i], strlen(full[i])))
			fail_msg("'%s' says something", full[i]);
}

static void what_is_well_formed_need_not_be_read(void **state)
{
	static const struct {
		const char *text;
		bool is_fine;
		unsigned int line, column; /* where it ends */
	} samples[] = {
		{ "", true, 0, 0 },
		{ "a: 1\n", true, 0, 0 },
		{ "a: 1\na: 2\n", true, 0, 0 },
		{ "a: !x y\nb: *c\n", true, 0, 0 },
		{ "a: 1\n---\nb: [\n", true, 0, 0 },
		{ "\xef\xbb\xbf{a: 1}\n", true, 0, 0 },
		{ "a: [\n", false, 2, 1 },
		{ "a: b: c\n", false, 1, 5 },
		{ "a: 1\n\tb: 2\n", false, 2, 1 },
		{ "a: b\nc: \xff\n", false, 2, 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		const char *text = samples[i].text;
		struct tree_pos stop = { 0 };

		if (yaml_is_well_formed(text, strlen(text), &stop) != samples[i].is_fine ||
		    stop.line != samples[i].line || stop.column != samples[i].column)
			fail_msg("%s: %u:%u", text, stop.line, stop.column);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions_and_kinds),
		cmocka_unit_test(odd_but_good),
		cmocka_unit_test(aliases),
		cmocka_unit_test(refusals),
		cmocka_unit_test(limits),
		cmocka_unit_test(alias_bomb),
		cmocka_unit_test(alias_depth),
		cmocka_unit_test(writes_what_go_writes),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(times_are_quoted),
		cmocka_unit_test(render_failures),
		cmocka_unit_test(truncated),
		cmocka_unit_test(mutated),
		cmocka_unit_test(what_says_nothing),
		cmocka_unit_test(what_is_well_formed_need_not_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
