/* unit_world.h - x.service and the one file that it is started with, on a scratch root
 * Owner: world_new/world_done, as a test's setup and teardown. Errors: the test fails. Threads: one. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include "nodeup/base/dur.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/started.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

static const char file_path[] = "/etc/sysconfig/x";
static const char record_path[] = "/run/nodeup/started/x.service";

/* x.service and the one file it is started with; nothing of it is on the machine yet. */
struct world {
	struct scratch root;
	struct bus bus;
	struct task file, unit;
	const struct task *needs[1], *users[1];
	bool changed[2], kept[2];
	struct task_ctx ctx;
	struct task_diff diff;
	struct task_run run;
	struct err e;
};

static inline int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	static const char *const inputs[] = { file_path };

	scratch_new(&w->root);
	w->file = (struct task){
		.kind = TASK_FILE,
		.ops = &task_file_ops,
		.name = file_path,
		.origin = "test",
		.file = { .content = "A=1\n", .len = 4 },
	};
	w->needs[0] = &w->file;
	w->users[0] = &w->unit;
	w->file.users = w->users;
	w->file.n_users = 1;
	w->unit = (struct task){
		.kind = TASK_UNIT,
		.ops = &task_unit_ops,
		.name = "x.service",
		.index = 1,
		.needs = w->needs,
		.n_needs = 1,
		.unit = { .enable = true, .inputs = { (const char **)(uintptr_t)inputs, 1 } },
	};
	w->ctx = (struct task_ctx){
		.root_fd = w->root.fd,
		.bus = &w->bus,
		.changed = w->changed,
		.kept = w->kept,
	};
	*state = w;
	return 0;
}

static inline int world_done(void **state)
{
	struct world *w = *state;

	scratch_done(&w->root);
	free(w);
	return 0;
}

static inline uint64_t now_us(void)
{
	return (uint64_t)dur_now() / 1000;
}

/* x.service as an earlier run left it: started by us, its file older than the process. */
static inline struct fake_unit *converged(struct world *w)
{
	struct fake_unit *u;

	scratch_write(&w->root, file_path, "A=1\n");
	u = fake_bus_add(&w->bus, "x.service", now_us() + 1);
	w->changed[0] = true;
	if (w->unit.ops->apply(&w->unit, &w->ctx, &w->run, &w->e) != TASK_DONE)
		fail_msg("%s", w->e.msg);
	w->changed[0] = false;
	w->bus.calls[0] = '\0';
	w->run = (struct task_run){ 0 };
	return u;
}

static inline void expect(struct world *w, const char *why)
{
	int r;

	w->diff.why[0] = '\0';
	r = w->unit.ops->check(&w->unit, &w->ctx, &w->diff, &w->e);
	if (r < 0)
		fail_msg("%s", w->e.msg);
	assert_string_equal(w->diff.why, why);
	assert_int_equal(r, *why ? TASK_DIFFERS : TASK_EQUAL);
	/* a check is a look */
	assert_string_equal(w->bus.calls, "");
}

static inline int apply(struct world *w)
{
	return w->unit.ops->apply(&w->unit, &w->ctx, &w->run, &w->e);
}
