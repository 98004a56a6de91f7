/* plan.h - print what a plan's walk found; shared by plan, diff and why
 * Owner: the session's arena. Errors: SYSTEM, CONFIG. Threads: one.
 * Tests: test_plan.py, test_plan_flags.c. */
#pragma once

#include "nodeup/cmd/cli.h"
#include "nodeup/cmd/session.h"

/* The exit status when something would change. */
enum { PLAN_PENDING = 2 };

/* A diff's side: where the documents before were, and the titles of what only they name. */
struct plan_before {
	const char *conf;
	struct strv left;
};

/* Fail if what nodeup keeps for itself cannot be read: without it, what is right would seem to differ. */
int cmd_plan_may_look(const struct cli *cli, struct err *e) must_check;
/* *why, and for an ordinary user who may not read something, what to do. May be e itself. */
int cmd_plan_say_root(const struct err *why, struct err *e) must_check;
/* Walk the plan of a session that is open, and print it; PLAN_PENDING when a task would change something, else 0.
 * before: NULL for a plan. */
int cmd_plan_walk(struct cli *cli, struct session *s, const struct plan_before *before,
		  struct err *e) must_check;

/* "- --v=2" for each flag that goes and "+ --v=4" for each that comes, in the order of their names. None when
 * neither text has a line of several flags, and when both have the same flags in another order. */
struct strv cmd_plan_flags(struct arena *a, const char *was, const char *want);
/* Append text, without the values that may hold a password. */
void cmd_plan_mask(struct buf *b, const char *text);
