/* deps.h - which task needs which: a table of kind x kind rules, and the edges it gives
 * Invariant: the graph has no cycle; a cycle is reported by the names on it.
 * Owner: edges live in the plan's arena. Errors: CONFIG. Source: kops' GetDependencies.
 * Tests: test_deps.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Fill needs, users and serves of every task. */
int deps_link(struct plan *p, struct err *e) must_check;
/* Take assets and archives out that nothing is made of. */
void deps_drop_unused(struct plan *p);
