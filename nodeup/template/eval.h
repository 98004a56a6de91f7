/* eval.h - evaluates a parsed template with the values that the caller gives
 * Recursion is as deep as the nodes are nested, which the parser bounds.
 * Owner: the arena. Errors: CONFIG with the place.
 * Tests: test_refusals.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/template/parse.h"

struct scope {
	struct work *w;
	const struct tree *context;
	const struct strv *names; /* the variables' names, by number */
	struct value *set;        /* values that the template sets, by number */
	struct value *given;      /* values of the context, by number; V_UNSET: not looked up yet */
	struct buf *out;
};

/* Evaluates the block and writes its text to out. */
int eval_block(struct scope *s, const struct syntax *block) must_check;
