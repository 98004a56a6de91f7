#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/template/template.h"

struct row {
	const char *context; /* YAML; NULL for none */
	const char *text, *want;
};

/* From a copy without a NUL behind it, so that a sanitizer sees what is read beyond the end. */
static int render(struct arena *a, const char *context, const char *text, size_t n,
		  const char **out, struct err *e)
{
	autofree char *copy = xcalloc(1, n);
	struct template_req t = { .file = "f", .text = copy, .n = n };
	struct tree *tree = tree_map(a);

	memcpy(copy, text, n);
	if (context && yaml_parse(a, "c", context, strlen(context), &tree, e) < 0)
		fail_msg("%s", e->msg);
	t.context = tree;
	return template_render(a, &t, out, e);
}

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		autoarena struct arena *a = arena_new_empty();
		const char *out = NULL;
		struct err e = { 0 };

		if (render(a, rows[i].context, rows[i].text, strlen(rows[i].text), &out, &e) >= 0)
			fail_msg("%s\ngives '%s'", rows[i].text, out);
		if (strcmp(e.msg, rows[i].want) != 0)
			fail_msg("%s\nsays   '%s'\nwanted '%s'", rows[i].text, e.msg, rows[i].want);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_null(out);
	}
}

static void names_and_parts(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{{ x }}", "f:1:4: 'x' is not defined" },
		{ "{d: {}}", "a\n é{{ d.x }}", "f:2:8: 'x' is not defined" },
		{ "{d: {}}", "{{ d.x.y }}", "f:1:6: 'x' is not defined" },
		{ "{d: {}}", "{{ d[\"x\"] }}", "f:1:5: 'x' is not defined" },
		{ NULL, "{{ x.y is defined }}", "f:1:4: 'x' is not defined" },
		{ "{l: [1]}", "{{ l[3] }}", "f:1:5: 'element' is not defined" },
		{ "{l: [1]}", "{{ l[-2] }}", "f:1:5: 'element' is not defined" },
		{ "{l: [1]}", "{{ l.a }}", "f:1:6: '.a' of a list is not in the grammar" },
		{ NULL, "{{ 'a'.b }}", "f:1:8: '.b' of a text is not in the grammar" },
		{ "{l: [1]}", "{{ l['a'] }}",
		  "f:1:5: a text as an index of a list is not in the grammar" },
		{ "{d: {items: 1}}", "{{ d.items }}", "f:1:6: the method 'items' is not called" },
		{ "{d: {}}", "{{ d['items'] }}", "f:1:5: a method is not in the grammar here" },
		{ "{d: {}}", "{{ d.__class__ }}", "f:1:6: the method '__class__' is not called" },
		{ NULL, "{{ a.0 }}", "f:1:6: a name is wanted, '0' is not in the grammar here" },
		{ NULL, "{{ a[1:2] }}", "f:1:7: ']' is wanted, ':' is not in the grammar here" },
		{ NULL, "{{ a[:2] }}", "f:1:6: a value is wanted, ':' is not in the grammar here" },
		{ NULL, "{{ a[1, 2] }}", "f:1:7: ']' is wanted, ',' is not in the grammar here" },
		{ NULL, "{{ a[] }}", "f:1:6: a value is wanted, ']' is not in the grammar here" },
		{ NULL, "{{ range }}", "f:1:4: 'range' is not handed in" },
		{ NULL, "{{ loop }}",
		  "f:1:4: a name is wanted, 'loop' is not in the grammar here" },
		{ NULL, "{{ self }}",
		  "f:1:4: a name is wanted, 'self' is not in the grammar here" },
		{ NULL, "{{ dict }}", "f:1:4: 'dict' is not handed in" },
		{ NULL, "{{ source }}", "f:1:4: 'source' is not handed in" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static const struct row operator_rows[] = {
	{ NULL, "{{ 1 + 'a' }}", "f:1:8: a number and a text cannot be added" },
	{ NULL, "{{ 'a' + 1 }}", "f:1:10: a text and a number cannot be added" },
	{ NULL, "{{ 'a' + none }}", "f:1:10: a text and None cannot be added" },
	{ "{n: \"3\"}", "{{ 200 + n * 4 }}", "f:1:10: a number and a text cannot be added" },
	{ NULL, "{{ 'a' * 'b' }}", "f:1:10: a text and a text cannot be multiplied" },
	{ NULL, "{{ 'a' * 1.5 }}", "f:1:10: a text and a number cannot be multiplied" },
	{ NULL, "{{ {} + {} }}", "f:1:9: a dictionary and a dictionary cannot be added" },
	{ NULL, "{{ -'a' }}", "f:1:5: a text cannot be negated" },
	{ NULL, "{{ {} >= {} }}", "f:1:4: dictionaries have no order" },
	{ NULL, "{{ 1 in 'a' }}", "f:1:4: a number cannot be in a text" },
	{ NULL, "{{ 'a' in 1 }}", "f:1:4: a text cannot be in a number" },
	{ NULL, "{{ [] in {} }}", "f:1:4: a list cannot be in a dictionary" },
	{ NULL, "{{ x + 'a' }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x ~ 'a' }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x * 2 }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ -x }}", "f:1:5: 'x' is not defined" },
	{ NULL, "{{ x == 1 }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ 1 != x }}", "f:1:9: 'x' is not defined" },
	{ NULL, "{{ x >= 1 }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x in [1] }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ not x }}", "f:1:8: 'x' is not defined" },
	{ NULL, "{{ x and 1 }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x or 1 }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x|int }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x|string }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x[0] }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ x.get('a') }}", "f:1:4: 'x' is not defined" },
	{ NULL, "{{ 9223372036854775807 + 1 }}", "f:1:26: a number is too large" },
	{ NULL, "{{ 9223372036854775807 * 2 }}", "f:1:26: a number is too large" },
	{ NULL, "{{ 9223372036854775808 }}", "f:1:4: this number is too large" },
	{ NULL, "{{ 0.1 + 0.2 }}",
	  "f:1:10: the number 0.30000000000000004: with a fraction, at most 12 digits and below 100000000000" },
	{ NULL, "{{ 100000000000.5 }}",
	  "f:1:4: the number 100000000000.5: with a fraction, at most 12 digits and below 100000000000" },
	{ NULL, "{{ 0.00001 }}",
	  "f:1:4: the number 1.0000000000000001e-05: with a fraction, at most 12 digits and below 100000000000" },
	{ NULL, "{{ 1 - 2 }}",
	  "f:1:6: the end of the tag is wanted, '-' is not in the grammar here" },
	{ NULL, "{{ 1 / 2 }}",
	  "f:1:6: the end of the tag is wanted, '/' is not in the grammar here" },
	{ NULL, "{{ 1 % 2 }}",
	  "f:1:6: the end of the tag is wanted, '%' is not in the grammar here" },
	{ NULL, "{{ 1 // 2 }}",
	  "f:1:6: the end of the tag is wanted, '//' is not in the grammar here" },
	{ NULL, "{{ 1 ** 2 }}",
	  "f:1:6: the end of the tag is wanted, '**' is not in the grammar here" },
	{ NULL, "{{ 1 < 2 }}",
	  "f:1:6: the end of the tag is wanted, '<' is not in the grammar here" },
	{ NULL, "{{ 1 <= 2 }}",
	  "f:1:6: the end of the tag is wanted, '<=' is not in the grammar here" },
	{ NULL, "{{ 1 > 2 }}",
	  "f:1:6: the end of the tag is wanted, '>' is not in the grammar here" },
	{ NULL, "{{ +1 }}", "f:1:4: a value is wanted, '+' is not in the grammar here" },
	{ NULL, "{{ 1 + }}", "f:1:8: a value is wanted, the tag ends" },
	{ NULL, "{{ }}", "f:1:4: a value is wanted, the tag ends" },
	{ NULL, "{{ 1 == 1 == 1 }}",
	  "f:1:11: the end of the tag is wanted, '==' is not in the grammar here" },
	{ NULL, "{{ (1 == 2) + 1 }}",
	  "f:1:5: a comparison as a part of this is not in the grammar" },
	{ NULL, "{{ (1 == 2) == 1 }}",
	  "f:1:5: a comparison as a part of this is not in the grammar" },
	{ NULL, "{{ 1 == (1 in [1]) }}",
	  "f:1:10: a comparison as a part of this is not in the grammar" },
	{ NULL, "{{ 2 * (1 == 2) }}",
	  "f:1:9: a comparison as a part of this is not in the grammar" },
	{ NULL, "{{ -(1 == 2) }}", "f:1:6: a comparison as a part of this is not in the grammar" },
	{ NULL, "{{ 1 if 2 else 3 }}",
	  "f:1:6: the end of the tag is wanted, 'if' is not in the grammar here" },
	{ NULL, "{{ 1, 2 }}",
	  "f:1:5: the end of the tag is wanted, ',' is not in the grammar here" },
	{ NULL, "{{ () }}", "f:1:5: a value is wanted, ')' is not in the grammar here" },
	{ NULL, "{{ (1,) }}", "f:1:6: ')' is wanted, ',' is not in the grammar here" },
	{ NULL, "{{ 'a' 'b' }}", "f:1:8: the end of the tag is wanted, not a text" },
	{ NULL, "{{ 1 not 2 }}", "f:1:10: 'in' is wanted, '2' is not in the grammar here" },
	{ NULL, "{{ 1 + not 2 }}", "f:1:8: a name is wanted, 'not' is not in the grammar here" },
	{ NULL, "{{ 1 = 1 }}",
	  "f:1:6: the end of the tag is wanted, '=' is not in the grammar here" },
};

static void operators(void **state)
{
	(void)state;
	check(operator_rows, ARRAY_LEN(operator_rows));
}

static void tests_and_filters(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{{ x is none }}",
		  "f:1:9: 'defined' is wanted, 'none' is not in the grammar here" },
		{ NULL, "{{ x is not string }}",
		  "f:1:13: 'defined' is wanted, 'string' is not in the grammar here" },
		{ NULL, "{{ x is defined(1) }}",
		  "f:1:16: the end of the tag is wanted, '(' is not in the grammar here" },
		{ NULL, "{{ x is defined y }}",
		  "f:1:17: the end of the test is wanted, 'y' is not in the grammar here" },
		{ NULL, "{{ x is defined in [1] }}",
		  "f:1:17: the end of the test is wanted, 'in' is not in the grammar here" },
		{ NULL, "{{ x is defined is defined }}",
		  "f:1:17: the end of the test is wanted, 'is' is not in the grammar here" },
		{ NULL, "{{ 'inf'|float }}", "f:1:4: 'inf' is not a number in the grammar" },
		{ NULL, "{{ '-NaN'|int }}", "f:1:4: '-NaN' is not a number in the grammar" },
		{ NULL, "{{ '99999999999999999999'|int }}", "f:1:4: a number is too large" },
		{ NULL, "{{ '1e30'|int }}", "f:1:4: a number is too large" },
		{ NULL, "{{ '1e30'|float }}",
		  "f:1:4: the number 1e+30: with a fraction, at most 12 digits and below 100000000000" },
		{ NULL, "{{ 'é'|int }}", "f:1:4: a text that is not ASCII" },
		{ NULL, "{{ 1|default(1) }}", "f:1:6: the filter 'default' is not in the grammar" },
		{ NULL, "{{ 1|upper }}", "f:1:6: the filter 'upper' is not in the grammar" },
		{ NULL, "{{ 1|length }}", "f:1:6: the filter 'length' is not in the grammar" },
		{ NULL, "{{ 1|int() }}",
		  "f:1:9: the end of the filter is wanted, '(' is not in the grammar here" },
		{ NULL, "{{ 1|int(1) }}",
		  "f:1:9: the end of the filter is wanted, '(' is not in the grammar here" },
		{ NULL, "{{ 1|string.x }}",
		  "f:1:12: the end of the filter is wanted, '.' is not in the grammar here" },
		{ NULL, "{{ 1| }}", "f:1:7: a filter is wanted, the tag ends" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void calls(void **state)
{
	static const struct row rows[] = {
		{ "{grains: {}}", "{{ salt['mine.get']('a', 'b', 'c').values() }}",
		  "f:1:4: salt['mine.get'] asks other machines" },
		{ NULL, "{{ salt['network.ip_addrs']('eth0') }}",
		  "f:1:9: this function of Salt is not in the grammar" },
		{ NULL, "{{ salt['grains.get'] }}", "f:1:23: '(' is wanted, the tag ends" },
		{ NULL, "{{ salt.grains }}",
		  "f:1:8: '[' is wanted, '.' is not in the grammar here" },
		{ NULL, "{{ salt }}", "f:1:9: '[' is wanted, the tag ends" },
		{ "{grains: {}}", "{{ salt['grains.get']('a:b') }}",
		  "f:1:4: this name of a grain is not in the grammar" },
		{ NULL, "{{ salt['grains.get']('a') }}", "f:1:4: grains are not handed in" },
		{ NULL, "{{ salt['grains.get']() }}",
		  "f:1:4: 0 arguments are not in the grammar here" },
		{ NULL, "{{ salt['mine.get']('a', expr_form='grain') }}",
		  "f:1:35: ',' is wanted, '=' is not in the grammar here" },
		{ NULL, "{{ d.get() }}", "f:1:6: 0 arguments are not in the grammar here" },
		{ NULL, "{{ d.get(1, 2, 3) }}", "f:1:6: 3 arguments are not in the grammar here" },
		{ NULL, "{{ 'a'.split() }}", "f:1:8: 0 arguments are not in the grammar here" },
		{ NULL, "{{ 'a'.split('') }}",
		  "f:1:8: only a text that is not empty splits another" },
		{ NULL, "{{ 'a'.split(1) }}",
		  "f:1:8: only a text that is not empty splits another" },
		{ NULL, "{{ 'a'.lower(1) }}", "f:1:8: 1 arguments are not in the grammar here" },
		{ NULL, "{{ 'É'.lower() }}", "f:1:8: a text that is not ASCII" },
		{ NULL, "{{ 1.lower() }}", "f:1:6: a number has no method '.lower'" },
		{ NULL, "{{ 'a'.get('b') }}", "f:1:8: a text has no method '.get'" },
		{ "{d: {}}", "{{ d.lower() }}", "f:1:6: a dictionary has no method '.lower'" },
		{ "{d: {}}", "{{ d.get([]) }}", "f:1:6: a list cannot be a key" },
		{ "{d: {}}", "{{ d.get(x) }}", "f:1:6: 'x' is not defined" },
		{ "{d: {a: 1, b: 2}}", "{{ d.values() }}",
		  "f:1:6: the values of 2 keys, whose order is not defined" },
		{ "{d: {a: 1, b: 2}}", "{{ d }}",
		  "f:1:4: a dictionary of 2 keys, whose order is not defined" },
		{ NULL, "{{ ['é'] }}", "f:1:4: a text that is not ASCII" },
		{ NULL, "{{ 'é'[0] }}", "f:1:7: a text that is not ASCII" },
		{ "{d: {}}", "{% do d.update({'a': 1}) %}",
		  "f:1:9: what is handed in is not updated" },
		{ NULL, "{% do {}.update([]) %}", "f:1:10: only a dictionary updates another" },
		{ NULL, "{{ {1: 2} }}", "f:1:5: a key that is not a text is not in the grammar" },
		{ "{d: {}}", "{{ d.items() }}", "f:1:6: the method 'items' is not in the grammar" },
		{ "{d: {}}", "{{ d.keys() }}", "f:1:6: the method 'keys' is not in the grammar" },
		{ "{d: {}}", "{{ d.upper() }}", "f:1:6: the method 'upper' is not in the grammar" },
		{ "{d: {}}", "{{ d.append() }}",
		  "f:1:6: the method 'append' is not in the grammar" },
		{ "{d: {}}", "{{ d.format() }}",
		  "f:1:6: the method 'format' is not in the grammar" },
		{ "{d: {}}", "{{ d.replace() }}",
		  "f:1:6: the method 'replace' is not in the grammar" },
		{ NULL, "{{ f(1) }}", "f:1:5: a call of this is not in the grammar" },
		{ NULL, "{{ range(3) }}", "f:1:9: a call of this is not in the grammar" },
		{ "{d: {}}", "{{ d['get']('a') }}",
		  "f:1:12: a call of this is not in the grammar" },
		{ "{d: {}}", "{{ d.get('a')() }}", "f:1:14: a call of this is not in the grammar" },
		{ "{d: {}}", "{{ d.get(*a) }}",
		  "f:1:10: a value is wanted, '*' is not in the grammar here" },
		{ "{d: {}}", "{{ d.get('a' 'b') }}", "f:1:14: ',' is wanted, not a text" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void statements(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{% for i in [1] %}{% for j in [1] %}{% endfor %}{% endfor %}",
		  "f:1:19: a loop in a loop is not in the grammar" },
		{ NULL, "{% for i in 'ab' %}{% endfor %}",
		  "f:1:13: a loop over a text is not in the grammar" },
		{ NULL, "{% for i in {} %}{% endfor %}",
		  "f:1:13: a loop over a dictionary is not in the grammar" },
		{ NULL, "{% for i in none %}{% endfor %}",
		  "f:1:13: a loop over None is not in the grammar" },
		{ NULL, "{% for i in x %}{% endfor %}", "f:1:13: 'x' is not defined" },
		{ NULL, "{% for a, b in [] %}{% endfor %}",
		  "f:1:9: 'in' is wanted, ',' is not in the grammar here" },
		{ NULL, "{% for i in [] recursive %}{% endfor %}",
		  "f:1:16: the end of the tag is wanted, 'recursive' is not in the grammar here" },
		{ NULL, "{% for i in [1] if i %}{% endfor %}",
		  "f:1:17: the end of the tag is wanted, 'if' is not in the grammar here" },
		{ NULL, "{% for i in [] %}{% else %}{% endfor %}",
		  "f:1:21: a statement is wanted, 'else' is not in the grammar here" },
		{ NULL, "{% for i in [1] %}{{ loop.index }}{% endfor %}",
		  "f:1:22: a name is wanted, 'loop' is not in the grammar here" },
		{ NULL, "{% for i in [1] %}", "f:1:1: this 'for' has no 'endfor'" },
		{ NULL, "a\n{% for i in [1] %}{% endif %}",
		  "f:2:22: a statement is wanted, 'endif' is not in the grammar here" },
		{ NULL, "{% for i.a in [1] %}{% endfor %}",
		  "f:1:9: 'in' is wanted, '.' is not in the grammar here" },
		{ NULL, "{% for none in [1] %}{% endfor %}",
		  "f:1:8: a name is wanted, 'none' is not in the grammar here" },
		{ NULL, "a\n  {% if 1 %}", "f:2:3: this 'if' has no 'endif'" },
		{ NULL, "{% if 1 %}{% else %}", "f:1:1: this 'if' has no 'endif'" },
		{ NULL, "{% if 1 %}{% else %}{% else %}{% endif %}",
		  "f:1:24: a statement is wanted, 'else' is not in the grammar here" },
		{ NULL, "{% if 1 %}{% else %}{% elif 1 %}{% endif %}",
		  "f:1:24: a statement is wanted, 'elif' is not in the grammar here" },
		{ NULL, "{% if 1 %}{% else if 1 %}{% endif %}",
		  "f:1:19: the end of the tag is wanted, 'if' is not in the grammar here" },
		{ NULL, "{% if 1: %}{% endif %}",
		  "f:1:8: the end of the tag is wanted, ':' is not in the grammar here" },
		{ NULL, "{% if %}{% endif %}", "f:1:7: a value is wanted, the tag ends" },
		{ NULL, "{% if x %}{% endif %}", "f:1:7: 'x' is not defined" },
		{ NULL, "{% if 1 %}{% endif 1 %}",
		  "f:1:20: the end of the tag is wanted, '1' is not in the grammar here" },
		{ NULL, "{% endif %}",
		  "f:1:4: a statement is wanted, 'endif' is not in the grammar here" },
		{ NULL, "{% elif 1 %}",
		  "f:1:4: a statement is wanted, 'elif' is not in the grammar here" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void other_statements(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{% set a %}{% endset %}", "f:1:10: '=' is wanted, the tag ends" },
		{ NULL, "{% set a, b = 1 %}",
		  "f:1:9: '=' is wanted, ',' is not in the grammar here" },
		{ NULL, "{% set a.b = 1 %}",
		  "f:1:9: '=' is wanted, '.' is not in the grammar here" },
		{ NULL, "{% set a = 1, 2 %}",
		  "f:1:13: the end of the tag is wanted, ',' is not in the grammar here" },
		{ NULL, "{% set true = 1 %}",
		  "f:1:8: a name is wanted, 'true' is not in the grammar here" },
		{ NULL, "{% set loop = 1 %}",
		  "f:1:8: a name is wanted, 'loop' is not in the grammar here" },
		{ NULL, "{% set salt = 1 %}",
		  "f:1:8: a name is wanted, 'salt' is not in the grammar here" },
		{ NULL, "{% set 'a' = 1 %}", "f:1:8: a name is wanted, not a text" },
		{ NULL, "{% do %}", "f:1:7: a value is wanted, the tag ends" },
		{ NULL, "{% %}", "f:1:4: a statement is wanted, the tag ends" },
		{ NULL, "{% 'a' %}", "f:1:4: a statement is wanted, not a text" },
		{ NULL, "{% macro m() %}",
		  "f:1:4: a statement is wanted, 'macro' is not in the grammar here" },
		{ NULL, "{% include \"x\" %}",
		  "f:1:4: a statement is wanted, 'include' is not in the grammar here" },
		{ NULL, "{% import \"x\" as y %}",
		  "f:1:4: a statement is wanted, 'import' is not in the grammar here" },
		{ NULL, "{% from \"x\" import y %}",
		  "f:1:4: a statement is wanted, 'from' is not in the grammar here" },
		{ NULL, "{% extends \"x\" %}",
		  "f:1:4: a statement is wanted, 'extends' is not in the grammar here" },
		{ NULL, "{% block b %}",
		  "f:1:4: a statement is wanted, 'block' is not in the grammar here" },
		{ NULL, "{% call m() %}",
		  "f:1:4: a statement is wanted, 'call' is not in the grammar here" },
		{ NULL, "{% filter upper %}",
		  "f:1:4: a statement is wanted, 'filter' is not in the grammar here" },
		{ NULL, "{% raw %}",
		  "f:1:4: a statement is wanted, 'raw' is not in the grammar here" },
		{ NULL, "{% with %}",
		  "f:1:4: a statement is wanted, 'with' is not in the grammar here" },
		{ NULL, "{% print 1 %}",
		  "f:1:4: a statement is wanted, 'print' is not in the grammar here" },
		{ NULL, "{% break %}",
		  "f:1:4: a statement is wanted, 'break' is not in the grammar here" },
		{ NULL, "{% continue %}",
		  "f:1:4: a statement is wanted, 'continue' is not in the grammar here" },
		{ NULL, "{% autoescape true %}",
		  "f:1:4: a statement is wanted, 'autoescape' is not in the grammar here" },
		{ NULL, "{% endset %}",
		  "f:1:4: a statement is wanted, 'endset' is not in the grammar here" },
		{ NULL, "{% import_yaml \"x\" %}",
		  "f:1:4: a statement is wanted, 'import_yaml' is not in the grammar here" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void tokens(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{{ 1", "f:1:1: this tag has no end" },
		{ NULL, "a {% if", "f:1:3: this tag has no end" },
		{ NULL, "{{ 1 %}",
		  "f:1:6: the end of the tag is wanted, '%' is not in the grammar here" },
		{ NULL, "{% if 1 }}", "f:1:9: '}' closes nothing" },
		{ NULL, "{{ (1 }}", "f:1:7: ')' is wanted, '}' is not in the grammar here" },
		{ NULL, "{{ (1 ]}}", "f:1:7: ')' is wanted, ']' is not in the grammar here" },
		{ NULL, "{{ 1) }}", "f:1:5: ')' closes nothing" },
		{ NULL, "{# a", "f:1:1: this comment has no end" },
		{ NULL, "{#", "f:1:1: this comment has no end" },
		{ NULL, "{{ \"a }}", "f:1:4: this text has no end" },
		{ NULL, "{{ 'a\\' }}", "f:1:4: this text has no end" },
		{ NULL, "{{ 'a\\", "f:1:4: this text has no end" },
		{ NULL, "{{ a ! b }}", "f:1:6: a character that means nothing here" },
		{ NULL, "{{ a ? b }}", "f:1:6: a character that means nothing here" },
		{ NULL, "{{ a & b }}", "f:1:6: a character that means nothing here" },
		{ NULL, "{{ é }}", "f:1:4: a character that means nothing here" },
		{ NULL, "{{ 1a }}", "f:1:5: 'a' after a number" },
		{ NULL, "{{ 1e3 }}", "f:1:5: 'e' after a number" },
		{ NULL, "{{ 0x1f }}", "f:1:5: 'x' after a number" },
		{ NULL, "{{ 1_0 }}", "f:1:5: '_' after a number" },
		{ NULL, "{{ 1.5x }}", "f:1:7: 'x' after a number" },
		{ NULL, "{{ .5 }}", "f:1:4: a value is wanted, '.' is not in the grammar here" },
		{ NULL, "{{ 1. }}", "f:1:7: a name is wanted, the tag ends" },
		{ NULL, "{{ '\\N{BULLET}' }}", "f:1:5: this escape is not in the grammar" },
		{ NULL, "{{ '\\é' }}", "f:1:5: this escape is not in the grammar" },
		{ NULL, "{{ '\\x4' }}", "f:1:5: this escape is not a character" },
		{ NULL, "{{ '\\0' }}", "f:1:5: this escape is not a character" },
		{ NULL, "{{ '\\ud800' }}", "f:1:5: this escape is not a character" },
		{ NULL, "{{ '\\U00110000' }}", "f:1:5: this escape is not a character" },
		{ NULL, "a\015\nb", "f:1:2: a control character (U+000D)" },
		{ NULL, "a\n\013", "f:2:1: a control character (U+000B)" },
		{ NULL, "{{ \"\177\" }}", "f:1:5: a control character (U+007F)" },
		{ NULL, "é\302\205", "f:1:2: a control character (U+0085)" },
		{ NULL, "\342\200\250", "f:1:1: a control character (U+2028)" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void handed_in(void **state)
{
	static const struct row rows[] = {
		{ "{a: 0x10}", "{{ a }}",
		  "c:1:5: a number that is not decimal, or too large, is handed in to template 'f'" },
		{ "{a: 010}", "{{ a }}",
		  "c:1:5: a number that is not decimal, or too large, is handed in to template 'f'" },
		{ "{a: 9223372036854775808}", "{{ a }}",
		  "c:1:5: a number that is not decimal, or too large, is handed in to template 'f'" },
		{ "{a: 1.2345678901234}", "{{ a }}",
		  "c:1:5: a number of more than 12 digits is handed in to template 'f'" },
		{ "{a: .inf}", "{{ a }}",
		  "c:1:5: a number of more than 12 digits is handed in to template 'f'" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_parts),
		cmocka_unit_test(operators),
		cmocka_unit_test(tests_and_filters),
		cmocka_unit_test(calls),
		cmocka_unit_test(statements),
		cmocka_unit_test(other_statements),
		cmocka_unit_test(tokens),
		cmocka_unit_test(handed_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
