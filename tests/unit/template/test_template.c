#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/yaml.h"
#include "nodeup/template/template.h"

struct row {
	const char *context; /* YAML; NULL for none */
	const char *text, *want;
};

/* From a copy without a NUL behind it, so that a sanitizer sees what is read beyond the end. */
static int render(struct arena *a, const char *context, const char *text, size_t n,
		  const struct template_limits *limits, const char **out, struct err *e)
{
	autofree char *copy = xcalloc(1, n);
	struct template_req t = { .file = "f", .text = copy, .n = n };
	struct tree *tree = tree_map(a);

	memcpy(copy, text, n);
	if (limits)
		t.limits = *limits;
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

		if (render(a, rows[i].context, rows[i].text, strlen(rows[i].text), NULL, &out, &e) <
		    0)
			fail_msg("%s\n%s", rows[i].text, e.msg);
		if (strcmp(out, rows[i].want) != 0)
			fail_msg("%s\ngives '%s'\nwanted '%s'", rows[i].text, out, rows[i].want);
	}
}

static void text_and_newlines(void **state)
{
	static const struct row rows[] = {
		{ NULL, "", "" },
		{ NULL, "\n", "\n" },
		{ NULL, "a", "a" },
		{ NULL, "a\n", "a\n" },
		{ NULL, "a\n\n\n", "a\n\n\n" },
		{ NULL, "{ a } % # }} %} #} {", "{ a } % # }} %} #} {" },
		{ NULL, "\té€😀\n", "\té€😀\n" },
		{ NULL, "a{{ 1 }}\n", "a1\n" },
		{ NULL, "{% set a = 1 %}\n", "\n" },
		{ NULL, "{% set a = 1 -%}\n", "\n" },
		{ NULL, "{% set a = 1 -%}\n\n  \n", "\n" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void trimming(void **state)
{
	static const struct row rows[] = {
		{ NULL, " \n {{- 1 -}} \n\t x", "1x" },
		{ NULL, " {{ 1 }} ", " 1 " },
		{ NULL, " {%- set a = 1 %} ", " " },
		{ NULL, " {% set a = 1 -%} ", " " },
		{ NULL, "a {#- c -#} b", "ab" },
		{ NULL, "a {# c #} b", "a  b" },
		{ NULL, "a{##}b{#-#}c{#--#} d", "abcd" },
		{ NULL, "a {# 1 #} {#- 2 #}b", "a b" },
		{ NULL, "a {#-#} b", "a b" },
		{ NULL, "{# {{ x }} {% if %} \" #}a", "a" },
		{ NULL, "{{-1}}", "1" },
		{ NULL, "{{ -1 }}", "-1" },
		{ NULL, "{{- -1 -}}", "-1" },
		{ NULL, "{{ '%}' }}{{ '}}' }}{% set a = '%}' %}{{ a }}", "%}}}%}" },
		{ NULL, "{{ {'a': {'b': 1}}.a.b }}", "1" },
		{ NULL, "{%if 1%}a{%endif%}", "a" },
		{ NULL, "{%\n  if\n1\n==\n1\n%}a{%\nendif\n%}", "a" },
		{ NULL, "{% if 1 -%}\n  a\n{%- endif %}\n", "a\n" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void constants(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{{ 'a' }}{{ \"b\" }}{{ '' }}", "ab" },
		{ NULL, "{{ \"\\\"\" }}{{ '\\'' }}{{ '\\\\' }}", "\"'\\" },
		{ NULL, "{{ 'a\\tb\\nc' }}", "a\tb\nc" },
		{ NULL, "{{ '\\x41\\101\\u00e9\\U0001F600' }}", "AAé😀" },
		{ NULL, "{{ '\\q\\{\\ ' }}", "\\q\\{\\ " },
		{ NULL, "{{ 'a\\\nb\nc' }}", "ab\nc" },
		{ NULL, "{{ '\\7' }}", "\007" },
		{ NULL, "{{ 0 }} {{ 007 }} {{ 9223372036854775807 }}", "0 7 9223372036854775807" },
		{ NULL, "{{ 1.0 }} {{ 0.50 }} {{ 1024.125 }} {{ 0.0001 }}",
		  "1.0 0.5 1024.125 0.0001" },
		{ NULL, "{{ true }} {{ True }} {{ false }} {{ False }} {{ none }} {{ None }}",
		  "True True False False None None" },
		{ NULL, "{{ [] }} {{ [1,] }} {{ [1, 'a', 1.5, None, True, ['b']] }}",
		  "[] [1] [1, 'a', 1.5, None, True, ['b']]" },
		{ NULL, "{{ {} }} {{ {'a': 1,} }} {{ {'a': 1, 'a': 2} }}", "{} {'a': 1} {'a': 2}" },
		{ NULL, "{{ ['it\\'s', 'a\"b\\'c', 'a\\\\b\\n\\x01'] }}",
		  "[\"it's\", 'a\"b\\'c', 'a\\\\b\\n\\x01']" },
		{ "{t: \"x\"}", "{{ ['a' ~ 'b', 'a' + 'b', 1|string, t] }}",
		  "[u'ab', 'ab', u'1', u'x']" },
		{ "{p: {t: \"x\"}}", "{{ [p.t] }}", "['x']" },
		{ NULL, "{{ \"a\" }}{{ (1) }}{{ ((2)) }}", "a12" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void names_and_parts(void **state)
{
	static const struct row rows[] = {
		{ "{a: \"x\", _b1: \"y\"}", "{{ a }}{{ _b1 }}", "xy" },
		{ "{s: \"x\", i: 3, f: 1.5, b: true, n: null, e: \"\"}",
		  "{{ s }} {{ i }} {{ f }} {{ b }} {{ n }} {{ e }}|", "x 3 1.5 True None |" },
		{ "{d: {a: 1, a-b: 2}}", "{{ d.a }} {{ d[\"a\"] }} {{ d[\"a-b\"] }}", "1 1 2" },
		{ "{d: {a: {b: [{c: \"x\"}]}}}", "{{ d.a.b[0].c }}", "x" },
		{ "{l: [\"a\", \"b\", \"c\"], i: 1}",
		  "{{ l[0] }}{{ l[-1] }}{{ l[i] }}{{ l[true] }}", "acbb" },
		{ NULL, "{{ 'abc'[0] }}{{ 'abc'[-1] }}{{ ['x'][0] }}{{ {'k': 'v'}.k }}", "acxv" },
		{ "{d: {\"true\": 1, \"if\": 2, \"for\": 3}}", "{{ d.true }}{{ d.if }}{{ d.for }}",
		  "123" },
		{ NULL, "{% set if_ = 1 %}{{ if_ }}", "1" },
		{ "{d: {items: 1}}", "{{ d['items'] }}", "1" },
		{ "{source: \"x\"}", "{{ source }}", "x" },
		{ NULL, "{% set range = 1 %}{{ range }}", "1" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void operators(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{{ 1 + 2 }} {{ 1 + 2.5 }} {{ true + 1 }} {{ 0.5 + 0.5 }}", "3 3.5 2 1.0" },
		{ NULL, "{{ 'a' + 'b' + 'c' }}{{ '' + '' }}", "abc" },
		{ NULL, "{{ [1] + [2] + [] }}", "[1, 2]" },
		{ NULL,
		  "{{ 2 * 3 }} {{ 2 * 0.5 }} {{ 'ab' * 2 }} {{ 2 * 'ab' }} {{ 'a' * 0 }}{{ 'a' * -1 }}{{ [1] * 2 }} {{ true * 'a' }}",
		  "6 1.0 abab abab [1, 1] a" },
		{ NULL, "{{ 1 ~ 'a' ~ none ~ 1.0 ~ true ~ [1] ~ {} }}", "1aNone1.0True[1]{}" },
		{ NULL,
		  "{{ -2 }} {{ --2 }} {{ -2.5 }} {{ -true }} {{ 3 + -2 }} {{ 2 * -3 }} {{ -0.0 }}",
		  "-2 2 -2.5 -1 1 -6 -0.0" },
		{ NULL, "{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 1 ~ 2 * 3 }} {{ 1 ~ 2 + 3 ~ 4 }}",
		  "7 9 16 1234" },
		{ NULL,
		  "{{ 1 == 1 }} {{ 1 == 1.0 }} {{ 1 == true }} {{ 'a' == 'a' }} {{ [1, ['a']] == [1.0, ['a']] }} {{ {'a': 1} == {'a': 1} }}",
		  "True True True True True True" },
		{ NULL,
		  "{{ 1 == '1' }} {{ none == false }} {{ none == none }} {{ '' == none }} {{ [] == {} }} {{ 1 != 2 }} {{ 'a' != 'b' }}",
		  "False False True False False True True" },
		{ NULL,
		  "{{ 2 >= 2 }} {{ 2 >= 2.5 }} {{ 'b' >= 'a' }} {{ 'a' >= 'ab' }} {{ [1, 2] >= [1, 1, 5] }} {{ true >= false }}",
		  "True False True False True True" },
		{ NULL,
		  "{{ '3' >= 5 }} {{ 5 >= '3' }} {{ none >= 0 }} {{ 0 >= none }} {{ [] >= 'a' }} {{ 'a' >= [] }} {{ {} >= 1 }} {{ [] >= {} }} {{ none >= none }}",
		  "True False False True False True True True True" },
		{ NULL,
		  "{{ 'a' in ['a', 'b'] }} {{ 1 in [1.0] }} {{ 'x' not in ['a'] }} {{ 'bc' in 'abcd' }} {{ '' in '' }} {{ 'k' in {'k': 1} }} {{ 1 in {'k': 1} }}",
		  "True True True True True True False" },
		{ NULL,
		  "{{ 0 or 'a' }} {{ 'a' or x }} {{ 1 and 'b' }} {{ 0 and x }} {{ '' or none or [] }} {{ 1 and 2 and 3 }}",
		  "a a b 0 [] 3" },
		{ NULL,
		  "{{ not 1 }} {{ not '' }} {{ not not 2 }} {{ not 1 == 2 }} {{ not 'a' in 'b' }}",
		  "False True True True True" },
		{ NULL,
		  "{{ 1 or 0 and 0 }} {{ (1 or 0) and 0 }} {{ not 0 and 0 }} {{ 1 == 1 and 2 == 2 }}",
		  "1 0 0 True" },
		{ NULL, "{% if a is defined and a %}y{% else %}n{% endif %}", "n" },
		{ NULL,
		  "{{ (1 == 2) ~ (1 in [1]) }} {{ [1 == 1] }} {{ (1 == 1)|string }} {{ (1 == 1) and (2 != 3) }}",
		  "FalseTrue [True] True True" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void tests_and_filters(void **state)
{
	static const struct row rows[] = {
		{ "{d: {a: null}, l: []}",
		  "{{ x is defined }} {{ x is not defined }} {{ d.x is defined }} {{ d['a'] is defined }} {{ l[9] is defined }} {{ 1 is defined }}",
		  "False True False True False True" },
		{ NULL,
		  "{{ not x is defined }} {{ x is defined or 1 }} {{ x is defined|string }} {{ x is defined == false }}",
		  "True 1 False True" },
		{ NULL,
		  "{{ '12'|int }} {{ ' -7\\n'|int }} {{ '+ 5'|int }} {{ '1.9'|int }} {{ '-1.9'|int }} {{ '1e3'|int }} {{ 'x'|int }} {{ ''|int }} {{ '0x10'|int }} {{ '1_0'|int }} {{ '.'|int }}",
		  "12 -7 5 1 -1 1000 0 0 0 0 0" },
		{ NULL,
		  "{{ 1.9|int }} {{ -1.9|int }} {{ true|int }} {{ none|int }} {{ []|int }} {{ {}|int }} {{ 3|int }}",
		  "1 -1 1 0 0 0 3" },
		{ NULL,
		  "{{ '1.5'|float }} {{ '.5'|float }} {{ '5.'|float }} {{ ' 1e2 '|float }} {{ 'x'|float }} {{ 3|float }} {{ true|float }} {{ none|float }} {{ []|float }} {{ '- 5'|float }}",
		  "1.5 0.5 5.0 100.0 0.0 3.0 1.0 0.0 0.0 0.0" },
		{ NULL,
		  "{{ 1|string + 'Mi' }} {{ none|string + 'a' }} {{ [1]|string + 'a' }} {{ 1.0|string }} {{ 'a'|string }}",
		  "1Mi Nonea [1]a 1.0 a" },
		{ NULL,
		  "{{ -1|string + 'x' }} {{ 1|string|int + 1 }} {{ 0.5|float * 2 }} {{ 1 + '2'|int * 3 }}",
		  "-1x 2 1.0 7" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void calls(void **state)
{
	static const struct row rows[] = {
		{ "{d: {a: 1, n: null}}",
		  "{{ d.get('a') }} {{ d.get('x') }} {{ d.get('x', '') }}| {{ d.get('x', -1) }} {{ d.get('a', y) }} {{ d.get(1) }} {{ d.get('n', 2) }}",
		  "1 None | -1 1 None None" },
		{ "{d: {}}", "{{ 'AbZ1'.lower() }} {{ d.get('x', 'Q').lower() }} {{ ''.lower() }}|",
		  "abz1 q |" },
		{ "{d: {a: [\"x\"]}}", "{{ d.values() }} {{ {}.values() }} {{ d.values()[0][0] }}",
		  "[['x']] [] x" },
		{ NULL,
		  "{{ 'a,b,,c'.split(',') }} {{ ''.split(',') }} {{ 'a'.split(',') }} {{ ',a'.split(',') }} {{ 'axxb'.split('xx') }} {{ 'aaa'.split('aa') }}",
		  "['a', 'b', '', 'c'] [''] ['a'] ['', 'a'] ['a', 'b'] ['', 'a']" },
		{ "{d: {}}", "{{ (d.get('x') or 'a,b').split(',')[1] }}", "b" },
		{ NULL,
		  "{% set v = {'a': 1} %}{% do v.update({'a': 2, 'b': 3}) %}{{ v.a }}{{ v.b }}",
		  "23" },
		{ NULL,
		  "{% set v = {} %}{% set w = v %}{% do w.update({'a': 1}) %}{{ v }}{{ v.update({}) }}{% do v.update(v) %}{{ w }}",
		  "{'a': 1}None{'a': 1}" },
		{ "{grains: {a: 1, l: [\"q\"]}}",
		  "{{ salt['grains.get']('a') }}|{{ salt['grains.get']('x') }}|{{ salt['grains.get']('x', 5) }}|{{ salt[\"grains.get\"]('l')[0] }}",
		  "1||5|q" },
		{ "{grains: {a: 1}}", "{% set grains = {} %}{{ salt['grains.get']('a') }}", "1" },
		{ NULL, "{% if 0 %}{{ salt['mine.get']('a', 'b', 'c').values() }}{% endif %}", "" },
		{ "{d: {a: 1}}", "{{ d.get('a',) }}", "1" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void statements(void **state)
{
	static const struct row rows[] = {
		{ NULL, "{% if 1 %}a{% endif %}{% if 0 %}b{% endif %}", "a" },
		{ NULL, "{% if 0 %}a{% elif 0 %}b{% elif 1 %}c{% else %}d{% endif %}", "c" },
		{ NULL, "{% if 0 %}a{% elif 0 %}b{% else %}d{% endif %}", "d" },
		{ NULL,
		  "{% if '' or none or [] or {} or 0 or 0.0 or false %}a{% else %}b{% endif %}",
		  "b" },
		{ NULL, "{% if 'a' and [0] and {'a': 0} and 0.1 and -1 %}a{% endif %}", "a" },
		{ NULL, "{% if 1 %}{% if 0 %}a{% else %}b{% endif %}{% endif %}", "b" },
		{ NULL, "{% set a = 1 %}{% set a = a + 1 %}{{ a }}", "2" },
		{ NULL,
		  "{% set a = 1 %}{% if 1 %}{% set a = 2 %}{% set b = 3 %}{% endif %}{{ a }}{{ b }}",
		  "23" },
		{ "{b: \"x\"}", "{% if 0 %}{% set a = 2 %}{% endif %}{{ a is defined }} {{ b }}",
		  "False x" },
		{ "{b: \"x\"}", "{{ b }}{% set b = 1 %}{{ b }}", "x1" },
		{ NULL, "{% set a=x %}{{ a is defined }}", "False" },
		{ NULL, "{% for i in ['a', 'b'] %}{{ i }};{% endfor %}", "a;b;" },
		{ NULL, "{% for i in [] %}a{% endfor %}b", "b" },
		{ "{l: [{k: 1}, {k: 2}]}", "{% for i in l %}{{ i.k }}{% endfor %}", "12" },
		{ NULL, "{% for i in [1] %}{% endfor %}{{ i is defined }}", "False" },
		{ NULL, "{% set i = 5 %}{% for i in [1, 2] %}{{ i }}{% endfor %}{{ i }}", "125" },
		{ "{i: \"x\"}", "{% for i in [1, 2] %}{{ i }}{% endfor %}{{ i }}", "12x" },
		{ "{l: [1, 2]}", "{% for l in l %}{{ l }}{% endfor %}{{ l }}", "12[1, 2]" },
		{ NULL,
		  "{% set a = '' %}{% for i in [1, 2, 3] %}{% if a != '' %}{% set a = a ~ ',' %}{% endif %}{% set a = a ~ i %}{{ a }};{% endfor %}{{ a }}.",
		  "1;1,2;1,2,3;." },
		{ NULL,
		  "{% set v = {'a': ''} %}{% for i in 'p,q'.split(',') %}{% do v.update({'a': v.a ~ i}) %}{% endfor %}{{ v.a }}",
		  "pq" },
		{ NULL,
		  "{% for i in [1, 2] %}{% if i == 2 %}{{ a }}{% endif %}{% set a = i %}{% endfor %}",
		  "1" },
		{ "{a: \"x\"}", "{% for i in [1, 2] %}{{ a }}{% set a = i %}{% endfor %}{{ a }}",
		  "x1x" },
		{ NULL,
		  "{% for i in [1] %}{% set a = 2 %}{% endfor %}{% for i in [1] %}{{ a is defined }}{% endfor %}",
		  "False" },
		{ NULL,
		  "{% if 1 %}{% for i in [1, 2] %}{% set b = i %}{% endfor %}{% endif %}{{ b is defined }}",
		  "False" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

static void handed_in(void **state)
{
	static const struct row rows[] = {
		{ "{a: -1, b: \"yes\", c: x}", "{{ a }} {{ b }} {{ c }}", "-1 yes x" },
	};

	(void)state;
	check(rows, ARRAY_LEN(rows));
}

/* A template of a text many times, between two others. */
static char *many(const char *before, const char *text, size_t times, const char *after)
{
	struct buf b = BUF_INIT(16 * 1024 * 1024);

	(void)buf_adds(&b, before);
	while (times--)
		(void)buf_adds(&b, text);
	(void)buf_adds(&b, after);
	return buf_take(&b);
}

/* What it gives, or the error. */
static const char *says(struct arena *a, const char *text, const struct template_limits *limits)
{
	const char *out = "";
	struct err e = { 0 };

	if (render(a, "{l: [1, 2], s: 'aaaa'}", text, strlen(text), limits, &out, &e) < 0)
		return arena_str(a, e.msg);
	return out;
}

static void depth_is_bounded(void **state)
{
	static const struct {
		const char *before, *open, *inside, *close, *after;
	} rows[] = {
		{ "{{ ", "(", "1", ")", " }}" },
		{ "{{ ", "[", "1", "]", " }}" },
		{ "{{ ", "{'k': ", "1", "}", " }}" },
		{ "{{ ", "-", "1", "", " }}" },
		{ "{{ ", "not ", "1", "", " }}" },
		{ "{{ 1", "", "", "|int", " }}" },
		{ "{{ 'a'", "", "", "[0]", " }}" },
		{ "{{ 'a'", "", "", ".lower()", " }}" },
		{ "{{ ", "{}.get('a', ", "1", ")", " }}" },
		{ "{{ 1", " or 0 == (1", "", ")", " }}" },
		{ "", "{% if 1 %}", "1", "{% endif %}", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t times = 20; times <= 2000; times *= 10) {
			autoarena struct arena *a = arena_new_empty();
			autofree char *before =
				many(rows[i].before, rows[i].open, times, rows[i].inside);
			autofree char *text = many(before, rows[i].close, times, rows[i].after);
			const char *const got = says(a, text, NULL);

			if ((strstr(got, "f:1:") && strstr(got, ": nested more than 64 deep")) !=
			    (times > 64))
				fail_msg("%zu times %s%s: %s", times, rows[i].open, rows[i].close,
					 got);
		}
}

static void depth_is_the_callers_up_to_a_limit(void **state)
{
	static const struct {
		size_t depth, nested;
		const char *want;
	} rows[] = {
		{ 8, 6, "1" },
		{ 8, 7, "f:1:11: nested more than 8 deep" },
		{ 128, 126, "1" },
		{ 100000, 126, "1" },
		{ 100000, 127, "f:1:131: nested more than 128 deep" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct template_limits limits = { .depth = rows[i].depth };
		autofree char *before = many("{{ ", "(", rows[i].nested, "1");
		autofree char *text = many(before, ")", rows[i].nested, " }}");

		assert_string_equal(says(a, text, &limits), rows[i].want);
	}
}

static void what_is_strung_together_is_not_deep(void **state)
{
	static const struct {
		const char *before, *text, *after;
		const char *end; /* of what it gives */
	} rows[] = {
		{ "{{ 1", " + 1", " }}", "1001" },
		{ "{{ 1", " * 1", " }}", "1" },
		{ "{{ 1", " ~ 1", " }}", "1111" },
		{ "{{ 'a'", " + 'b'", " }}", "bbbb" },
		{ "{{ 0", " or 0", " }}", "0" },
		{ "{{ 1", " and 2", " }}", "2" },
		{ "{{ [", "1,", "] }}", ", 1, 1]" },
		{ "{% if 0 %}", "{% elif 0 %}", "{% else %}x{% endif %}", "x" },
		{ "", "{{ 1 }}", "2", "1112" },
		{ "", "{# #}", "2", "2" },
		{ "", "{ ", "2", "{ { 2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		autofree char *text = many(rows[i].before, rows[i].text, 1000, rows[i].after);
		const char *const got = says(a, text, NULL);

		if (strncmp(got, "f:", 2) == 0 || !str_has_suffix(got, rows[i].end))
			fail_msg("%s: %s", rows[i].text, got);
	}
}

static void work_is_bounded(void **state)
{
	static const char steps[] = "rendering takes too many steps",
			  values[] = "rendering makes too many values";
	static const struct {
		const char *text, *want; /* the end of the error */
	} rows[] = {
		{ "{% for i in l * 600000 %}{% endfor %}", values },
		{ "{% for i in l * 200000 %}{{ i }}{% endfor %}", steps },
		{ "{% set a = s * 200000 %}{% for i in l * 1000 %}{% if 'b' in a %}{% endif %}{% endfor %}",
		  steps },
		{ "{% set a = s * 200000 %}{% set b = s * 200000 %}{% for i in l * 1000 %}{% if a == b %}"
		  "{% endif %}{% endfor %}",
		  steps },
		{ "{% set a = l * 1000 %}{% for i in a %}{% if a >= a %}{% endif %}{% endfor %}",
		  steps },
		{ "{% set a = s * 100000 %}{% for i in l * 1000 %}{% set b = a[0] %}{% endfor %}",
		  steps },
		{ "{% set a = l * 1000 %}{% for i in a %}{% if 3 in a %}{% endif %}{% endfor %}",
		  steps },
		{ "{% set a = '' %}{% for i in l * 50000 %}{% set a = a ~ s %}{% endfor %}",
		  values },
		{ "{% set a = s %}{% for i in l * 50 %}{% set a = a + a %}{% endfor %}", values },
		{ "{% set a = l %}{% for i in l * 50 %}{% set a = a + a %}{% endfor %}", values },
		{ "{% set a = s * 1000000 %}{% set b = a.split('a') %}", values },
		{ "{{ s * 9223372036854775807 }}", "a number is too large" },
		{ "{{ 'a' * 9223372036854775807 }}", values },
		{ "{{ [1] * 9223372036854775807 }}", values },
		{ "{{ l * 9223372036854775807 }}", values },
		{ "{% set v = {'a': s} %}{% for i in l * 10 %}{% do v.update({'a': [v.a, v.a]}) %}{% endfor %}{{ v.a }}",
		  steps },
		{ "{% set v = {'a': s} %}{% for i in l * 10 %}{% do v.update({'a': [v.a, v.a]}) %}{% endfor %}{{ v.a == v.a }}",
		  steps },
		{ "{% set v = {'a': s} %}{% for i in l * 40 %}{% do v.update({'a': [v.a]}) %}{% endfor %}{{ v.a }}",
		  "values are nested too deep" },
		{ "{% set v = {'a': s} %}{% for i in l * 40 %}{% do v.update({'a': [v.a]}) %}{% endfor %}{{ v.a == v.a }}",
		  "values are nested too deep" },
		{ "{% set d = {} %}{% do d.update({'d': d}) %}{{ d }}",
		  "values are nested too deep" },
		{ "{% set d = {} %}{% do d.update({'d': [d]}) %}{{ d }}",
		  "values are nested too deep" },
		{ "{% set d = {} %}{% do d.update({'d': d}) %}{{ d == d }}",
		  "values are nested too deep" },
		{ "{% for i in l * 20000 %}{{ s * 10 }}{% endfor %}",
		  "the result is larger than 1048576 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		const char *const got = says(a, rows[i].text, NULL);

		if (strncmp(got, "f:1:", 4) != 0 || !str_has_suffix(got, rows[i].want))
			fail_msg("%s: %.200s", rows[i].text, got);
	}
}

static void the_callers_limits(void **state)
{
	static const struct {
		const char *text;
		struct template_limits limits;
		const char *want;
	} rows[] = {
		{ "{{ s }}", { .bytes = 4 }, "aaaa" },
		{ "{{ s }}", { .bytes = 3 }, "f:1:4: the result is larger than 3 bytes" },
		{ "aaaa\n", { .bytes = 5 }, "aaaa\n" },
		{ "aaaa\n", { .bytes = 4 }, "f:1:5: the result is larger than 4 bytes" },
		{ "{{ (s * 4)[0] }}", { .bytes = 1024, .steps = 10 }, "a" },
		{ "{{ (s * 4)[0] }}",
		  { .bytes = 1024, .steps = 7 },
		  "f:1:12: rendering takes too many steps" },
		{ "{% if (s * 16) == s %}{% endif %}", { .bytes = 32 }, "" },
		{ "{% if (s * 1600) == s %}{% endif %}",
		  { .bytes = 32 },
		  "f:1:12: rendering makes too many values" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(says(a, rows[i].text, &rows[i].limits), rows[i].want);
	}
}

static void texts_and_names_are_bounded(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autofree char *largest = many("", "a", TEMPLATE_TEXT_MAX, "");
	autofree char *larger = many("a", "a", TEMPLATE_TEXT_MAX, "");
	struct buf names = BUF_INIT(TEMPLATE_TEXT_MAX);

	(void)state;
	assert_string_equal(says(a, largest, NULL), largest);
	assert_string_equal(says(a, larger, NULL),
			    "f: a template of 65537 bytes, at most 65536 are read");
	for (int i = 0; i < TEMPLATE_NAMES_MAX; i++)
		(void)buf_addf(&names, "{%% set v%d = %d %%}\n", i, i);
	(void)buf_adds(&names, "{{ v511 }}");
	assert_true(str_has_suffix(says(a, buf_str(&names), NULL), "\n511"));
	(void)buf_adds(&names, "{{ x }}");
	assert_string_equal(says(a, buf_str(&names), NULL), "f:513:14: more than 512 names");
	buf_done(&names);
}

static void only_utf8_without_nul(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *want;
	} rows[] = {
		{ "a\xff", 2, "f:1:2: this is not UTF-8" },
		{ "a\n\xc3\xa9\xc3", 5, "f:2:2: this is not UTF-8" },
		{ "\xc0\x80", 2, "f:1:1: this is not UTF-8" },
		{ "\xe0\x80\xaf", 3, "f:1:1: this is not UTF-8" },
		{ "\xed\xa0\x80", 3, "f:1:1: this is not UTF-8" },
		{ "\xf4\x90\x80\x80", 4, "f:1:1: this is not UTF-8" },
		{ "\xf8\x88\x80\x80\x80", 5, "f:1:1: this is not UTF-8" },
		{ "{{ '\x80' }}", 8, "f:1:5: this is not UTF-8" },
		{ "a\0b", 3, "f:1:2: a control character (U+0000)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		const char *out = NULL;
		struct err e = { 0 };

		assert_true(render(a, NULL, rows[i].text, rows[i].n, NULL, &out, &e) < 0);
		assert_string_equal(e.msg, rows[i].want);
	}
}

/* What is handed in stays as it was, and a second rendering finds it so. */
static void nothing_is_kept(void **state)
{
	static const char text[] =
		"{% set a = pillar.l + [3] %}{% set pillar = {} %}{% do pillar.update({'x': a}) %}"
		"{{ pillar.x }}";
	autoarena struct arena *a = arena_new_empty();
	struct tree *context = NULL, *same = NULL;
	const struct template_req t = { .file = "f", .text = text, .n = sizeof(text) - 1 };
	struct template_req with;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(yaml_parse(a, "c", "pillar: {l: [1, '2']}", 21, &context, &e), 0);
	assert_int_equal(yaml_parse(a, "c", "pillar: {l: [1, '2']}", 21, &same, &e), 0);
	with = t;
	with.context = context;
	for (int i = 0; i < 2; i++) {
		const char *out;

		assert_int_equal(template_render(a, &with, &out, &e), 0);
		assert_string_equal(out, "[1, '2', 3]");
		assert_true(tree_eq(context, same));
	}
}

/* Without anything handed in, all names are undefined. */
static void no_context(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct template_req t = { .file = "f", .text = "{{ x is defined }}", .n = 18 };
	const char *out;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(template_render(a, &t, &out, &e), 0);
	assert_string_equal(out, "False");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_newlines),
		cmocka_unit_test(trimming),
		cmocka_unit_test(constants),
		cmocka_unit_test(names_and_parts),
		cmocka_unit_test(operators),
		cmocka_unit_test(tests_and_filters),
		cmocka_unit_test(calls),
		cmocka_unit_test(statements),
		cmocka_unit_test(handed_in),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(depth_is_the_callers_up_to_a_limit),
		cmocka_unit_test(what_is_strung_together_is_not_deep),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(the_callers_limits),
		cmocka_unit_test(texts_and_names_are_bounded),
		cmocka_unit_test(only_utf8_without_nul),
		cmocka_unit_test(nothing_is_kept),
		cmocka_unit_test(no_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
