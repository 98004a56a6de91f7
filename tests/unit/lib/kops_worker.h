/* kops_worker.h - a node of today's kops, planned of a few keys of its NodeupConfig
 * Owner: the arena. Errors: the worker's e. Threads: one. */
#pragma once

#include "nodeup/config/kops/model.h"
#include "tests/unit/lib/seed.h"

/* facts, role and manifests may be filled in before it is planned. */
struct kops_worker {
	const char *role; /* NULL: "Node" */
	struct facts facts;
	struct strmap manifests; /* of the state store; none: the plan is of documents alone */
	struct kops_boot boot;
	struct node node;
	struct plan_req req;
	struct plan plan;
	struct err e;
};

/* Plan such a node of these keys of NodeupConfig by one builder; NULL: all. NULL is returned when it cannot be. */
struct plan *kops_try_plan(struct arena *a, struct kops_worker *w, const char *builder,
			   const char *text);
/* The same of a whole NodeupConfig, of cluster a.example. */
struct plan *kops_try_documents(struct arena *a, struct kops_worker *w, const char *builder,
				const char *all);
