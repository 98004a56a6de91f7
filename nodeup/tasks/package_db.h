/* package_db.h - what the distribution's package manager has installed
 * dpkg's database is read as it stands, below any root; rpm's has many formats and is asked by rpm.
 * Owner: the arena. Errors: SYSTEM (no such manager, no answer). Threads: all functions.
 * Source: deb-control(5), dpkg-query(1), rpm(8).
 * Tests: test_packages.c. */
#pragma once

#include "nodeup/tasks/task.h"

struct package_state {
	struct strv missing; /* of those asked for */
	bool interrupted; /* dpkg was killed half way: it has to finish before it takes anything */
};

/* Look for all packages of a task. */
int package_db_look(const struct task_package *p, struct task_ctx *ctx, struct arena *a,
		    struct package_state *ret, struct err *e) must_check;
