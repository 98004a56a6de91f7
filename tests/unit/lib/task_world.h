/* task_world.h - a scratch root with a state and a cache, for tasks that need nothing else
 * Owner: world_new/world_done, as a test's setup and teardown. Errors: the test fails. Threads: one. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include "assets/cache/cache.h"
#include "nodeup/tasks/state.h"
#include "nodeup/tasks/task.h"
#include "tests/unit/lib/scratch.h"

struct world {
	struct scratch root;
	struct task_ctx ctx;
	struct task_diff diff;
	struct err e;
};

static inline int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	w->ctx = (struct task_ctx){
		.root_fd = w->root.fd,
		.cache_root_fd = w->root.fd,
	};
	if (state_open(w->root.fd, &w->ctx.state, &w->e) < 0 ||
	    cache_new(w->root.fd, "/cache", true, &w->ctx.cache, &w->e) < 0)
		fail_msg("%s", w->e.msg);
	*state = w;
	return 0;
}

static inline int world_done(void **state)
{
	struct world *w = *state;

	cache_free(w->ctx.cache);
	state_close(w->ctx.state);
	scratch_done(&w->root);
	free(w);
	return 0;
}

static inline int check(struct world *w, const struct task *t)
{
	int r;

	w->diff.why[0] = '\0';
	r = t->ops->check(t, &w->ctx, &w->diff, &w->e);
	if (r == TASK_DIFFERS)
		assert_string_not_equal(w->diff.why, "");
	return r;
}

static inline void apply(struct world *w, const struct task *t)
{
	struct task_run run = { 0 };

	if (t->ops->apply(t, &w->ctx, &run, &w->e) != TASK_DONE)
		fail_msg("%s", w->e.msg);
}
