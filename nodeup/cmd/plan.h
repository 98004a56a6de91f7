/* plan.h - print what a plan's walk found; shared by plan, diff and why
 * Owner: the session's arena. Errors: SYSTEM, CONFIG. Threads: one.
 * Tests: test_plan.py, test_plan_flags.c. */
#pragma once

#include "nodeup/cmd/cli.h"
#include "nodeup/cmd/session.h"

/* The exit status if something would change. */
enum { PLAN_PENDING = 2 };

/* For diff: the earlier documents' place, and the titles of objects that only the earlier documents name. */
struct plan_before {
	const char *conf;
	struct strv left;
};

/* Fails if nodeup's own records cannot be read: without them, right objects would seem to differ. */
int cmd_plan_may_look(const struct cli *cli, struct err *e) must_check;
/* Fails with *why, and tells an ordinary user who may not read something what to do. why may be e itself. */
int cmd_plan_say_root(const struct err *why, struct err *e) must_check;
/* Walks the plan of an open session, and prints it. Returns PLAN_PENDING if a task would change something, otherwise
 * 0. before: the earlier documents of a diff; NULL for a plan. */
int cmd_plan_walk(struct cli *cli, struct session *s, const struct plan_before *before,
		  struct err *e) must_check;

/* Words what the walk found of a task's object: "right", "differs: absent". */
const char *cmd_plan_found(struct arena *a, const struct run_outcome *o);

/* Returns "- --v=2" for each removed flag and "+ --v=4" for each added one, sorted by name. Empty if neither text
 * has a line of several flags, or both have the same flags in another order. */
struct strv cmd_plan_flags(struct arena *a, const char *was, const char *want);
/* Appends text without values that may hold a password. */
void cmd_plan_mask(struct buf *b, const char *text);
