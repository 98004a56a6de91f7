/* builders.h - how an era lists its builders, and the builders that every era can have
 * A builder reads plan->req and appends tasks (tasklist.h); it never looks at the machine. A builder asks the model
 * what is wanted, and reports errors by plan_error(). Each era has its whole list in its own builders.h.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/questions.h"
#include "nodeup/plan/tasklist.h"

/* Appends the tasks of the builder. */
typedef void plan_build_fn(struct plan *p);
/* Returns the packages of the distribution that the builder needs, separated by blanks; NULL: none. */
typedef const char *plan_needs_fn(struct plan *p);

struct builder {
	const char *name;
	plan_build_fn *build;
	plan_needs_fn *packages; /* NULL: none */
	bool master_only;
	bool explicit_only; /* the builder runs only when plan_req.only names it */
};

/* Makes one row of an era's list of builders. */
#define PLAN_BUILDER(row_name, function, ...) \
	{ .name = (row_name), .build = (function), __VA_ARGS__ },

extern plan_build_fn build_volumes, build_documents, build_assets, build_containeros,
	build_egress_proxy, build_packages, build_ntp, build_bootstrap, build_guard,
	build_file_assets, build_bake;
/* Return the packages that install updates, and the packages that keep the time, on the releases that kops 1.8 knew. */
extern plan_needs_fn plan_needs_upgrades, plan_needs_ntp;
