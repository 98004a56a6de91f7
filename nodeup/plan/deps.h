/* deps.h - which task needs which: a table of kind x kind rules, and the edges it gives
 * Invariant: the graph has no cycle; a cycle is reported by the names on it.
 * Owner: edges live in the plan's arena. Errors: CONFIG. Source: kops' GetDependencies. */
#pragma once

#include "nodeup/plan/plan.h"

/* Fill needs, users and serves of every task. */
int deps_link(struct plan *p, struct err *e) must_check;
/* Whether t is there only for the sake of user (an asset for what is made of it). */
bool deps_serves(const struct task *t, const struct task *user);
