/* hooks.h - units that the user adds, whatever runtime runs their containers
 * Owner: the arena of the plan.
 * Errors: the plan's. Threads: one.
 * Source: kops nodeup/pkg/model/hooks.go.
 * Tests: test_build_extras.c. */
#pragma once

#include "nodeup/plan/tasklist.h"

/* Describes the unit that a hook becomes. */
struct plan_hook {
	const char *name;    /* "kops-hook-0.service" */
	const char *text;    /* the unit's text, never shown: it may hold a password */
	const char *runtime; /* the unit of the runtime that runs the hook's container */
	const char *input;   /* a file that the unit reads when it starts; NULL: none */
};

/* Holds the environment of a hook's container. A variable may be a password, and every user can read units and
 * command lines. */
struct plan_hook_env {
	/* holds every variable that the file's format allows; NULL: there is none */
	const char *file;
	struct strv words; /* "KEY=VALUE" of the other variables */
};

/* Returns the value in the form of a file that the runtime reads line by line. NULL: the runtime would read another
 * value from such a file. */
typedef const char *plan_hook_value(struct plan *p, const struct strmap_item *item);

/* Appends the file, and returns the variables that do not fit in it. A disabled hook has no file. */
struct plan_hook_env plan_hook_environment(struct plan *p, const struct node_hook *h,
					   plan_hook_value *value);
/* Returns the first lines of a hook's unit, with the units that it starts after and before. */
char *plan_hook_head(const struct plan *p, const struct node_hook *h);
/* Appends the unit, or for a disabled hook the task that stops and disables it. If the unit fails, the run fails,
 * but other units still start. */
void plan_add_hook(struct plan *p, const struct node_hook *h, const struct plan_hook *unit);
