/* template.h - renders the templates of a kube-up salt tarball as Salt did
 * A template is text with {{ values }}, {% statements %} and {# comments #}. The grammar has the forms that those
 * templates use and no more (README.md); anything else is an error with file, line and column, not a guess.
 * Rendering is pure: no file, no network, no command, no clock. The caller hands in pillar, grains and Salt's own
 * variables. The result is that of Salt 2014.1 with Jinja 2.7 on Python 2: values are written as True and None, an
 * undefined value is an error wherever it is used, and the template's last newline stays.
 * Owner: the arena. Errors: CONFIG. Units: columns in characters. Source: Jinja 2.7.3, Salt 2014.1.
 * Tests: test_template.c. */
#pragma once

#include "nodeup/base/tree.h"

/* 0 means the default. These limits bound time and memory, whatever the template says. */
struct template_limits {
	size_t steps; /* steps of the evaluation; default a million. An operation on a long value counts as several
		       * steps. */
	size_t bytes; /* bytes of the result; default 1 MiB. All values made on the way may have 16 times as many
		       * bytes. */
	size_t depth; /* nesting of statements, expressions and values; default 64, at most 128 */
};

/* Limits that the caller cannot change. */
enum { TEMPLATE_TEXT_MAX = 64 * 1024, TEMPLATE_DEPTH_MAX = 128, TEMPLATE_NAMES_MAX = 512 };

struct template_req {
	const char *file; /* name of the template in messages */
	const char *text;
	size_t n;
	/* A map: pillar, grains, and the variables that the state gives to this file. A quoted scalar is a string; a
	 * plain scalar is None, a boolean or a decimal number, as YAML has it. A name that the map lacks is
	 * undefined. */
	const struct tree *context;
	struct template_limits limits;
};

/* Renders the template into a text of the arena. */
int template_render(struct arena *a, const struct template_req *t, const char **ret_text,
		    struct err *e) must_check;
