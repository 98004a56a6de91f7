/* eval.h - what a parsed template says, with the values that are handed in
 * Recursion is as deep as the nodes are nested, which the parser bounds.
 * Owner: the arena. Errors: CONFIG with the place.
 * Tests: test_refusals.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/template/parse.h"

struct scope {
	struct work *w;
	const struct tree *context;
	const struct strv *names; /* of variables, by their number */
	struct value *set;        /* by the template, by number */
	struct value *given;      /* of the context, by number; V_UNSET until it is asked for */
	struct buf *out;
};

/* Write what the block says to out. */
int eval_block(struct scope *s, const struct node *block) must_check;
