#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/base/tree.h"

/* Every word and number form of YAML 1.1 as yaml.v2 resolves it. */
static void scalar_types(void **state)
{
	static const struct {
		const char *text;
		enum tree_type type;
	} rows[] = {
		{ "", TREE_IS_NULL },       { "~", TREE_IS_NULL },       { "Null", TREE_IS_NULL },
		{ "nULL", TREE_IS_STRING }, { "y", TREE_IS_BOOL },       { "No", TREE_IS_BOOL },
		{ "oFF", TREE_IS_STRING },  { "on", TREE_IS_BOOL },      { "TRUE", TREE_IS_BOOL },
		{ "0", TREE_IS_INT },       { "-12", TREE_IS_INT },      { "+3", TREE_IS_INT },
		{ "0x1F", TREE_IS_INT },    { "0b101", TREE_IS_INT },    { "0755", TREE_IS_INT },
		{ "1_000", TREE_IS_INT },   { "_1", TREE_IS_STRING },    { "0x", TREE_IS_STRING },
		{ "09", TREE_IS_FLOAT },    { "1.5", TREE_IS_FLOAT },    { ".5", TREE_IS_FLOAT },
		{ "1e3", TREE_IS_FLOAT },   { "1e", TREE_IS_STRING },    { ".", TREE_IS_STRING },
		{ ".inf", TREE_IS_FLOAT },  { "1.8.7", TREE_IS_STRING }, { "-", TREE_IS_STRING },
		{ "100m", TREE_IS_STRING }, { "10:20", TREE_IS_STRING }, { "1m0s", TREE_IS_STRING },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (tree_type_of(rows[i].text) != rows[i].type)
			fail_msg("'%s' is of type %d", rows[i].text, tree_type_of(rows[i].text));
	assert_true(tree_is_true("Yes"));
	assert_false(tree_is_true("off"));
}

static void set_replaces_and_get_is_exact(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct tree *m = tree_map(a);

	(void)state;
	(void)tree_set(a, m, "a", tree_string(a, "1"));
	(void)tree_set(a, m, "b", tree_string(a, "2"));
	(void)tree_set(a, m, "a", tree_string(a, "3"));
	assert_int_equal(m->n, 2);
	assert_string_equal(tree_get(m, "a")->scalar, "3");
	assert_null(tree_get(m, "A"));
	assert_null(tree_get(tree_seq(a), "a"));
	assert_null(tree_get(NULL, "a"));
}

static struct tree *pair(struct arena *a, const char *first, const char *second)
{
	struct tree *m = tree_map(a);

	(void)tree_set(a, m, first, tree_plain(a, "1"));
	return tree_set(a, m, second, tree_seq(a));
}

static void equality(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct tree *s1 = tree_seq(a), *s2 = tree_seq(a);

	(void)state;
	assert_true(tree_eq(tree_string(a, "x"), tree_plain(a, "x")));
	assert_false(tree_eq(tree_string(a, "1"), tree_plain(a, "1")));
	assert_false(tree_eq(tree_null(a), tree_string(a, "")));
	assert_false(tree_eq(pair(a, "x", "y"), pair(a, "y", "x")));
	assert_true(tree_eq(tree_set(a, tree_set(a, tree_map(a), "p", tree_null(a)), "q", s1),
			    tree_set(a, tree_set(a, tree_map(a), "q", s2), "p", tree_null(a))));
	(void)tree_add(a, tree_add(a, s1, tree_plain(a, "1")), tree_plain(a, "2"));
	(void)tree_add(a, tree_add(a, s2, tree_plain(a, "2")), tree_plain(a, "1"));
	assert_false(tree_eq(s1, s2));
}

static void where(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(tree_where(a, &(struct tree_pos){ "f", 3, 4 }), "f:3:4");
	assert_string_equal(tree_where(a, &(struct tree_pos){ .file = "f" }), "f");
	assert_string_equal(tree_where(a, &(struct tree_pos){ 0 }), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalar_types),
		cmocka_unit_test(set_replaces_and_get_is_exact),
		cmocka_unit_test(equality),
		cmocka_unit_test(where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
