/* hooks.h - units of the user's own, whatever runs their containers
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops nodeup/pkg/model/hooks.go.
 * Tests: test_build_extras.c. */
#pragma once

#include "nodeup/plan/tasklist.h"

/* The unit that a hook becomes. */
struct plan_hook {
	const char *name;    /* "kops-hook-0.service" */
	const char *text;    /* never shown: it may hold a password */
	const char *runtime; /* the unit that runs its container */
	const char *input;   /* a file that it starts with; NULL: none */
};

/* The environment of a hook's container. A variable may be a password, and every user can read units and command lines. */
struct plan_hook_env {
	const char *file;  /* in which it has what fits there; NULL: nothing does */
	struct strv words; /* "KEY=VALUE" of the rest */
};

/* A variable's value as a file has it that its runtime reads line by line; NULL: it would be read as something else. */
typedef const char *plan_hook_value(struct plan *p, const struct strmap_item *item);

/* Append the file, and say what is left. A hook that is disabled has no file. */
struct plan_hook_env plan_hook_environment(struct plan *p, const struct node_hook *h,
					   plan_hook_value *value);
/* Returns the beginning of such a unit's text, with the units that it starts after and before. */
char *plan_hook_head(const struct plan *p, const struct node_hook *h);
/* Append the unit, or what stops and disables it. Its failure fails the run, and keeps no other from starting. */
void plan_add_hook(struct plan *p, const struct node_hook *h, const struct plan_hook *unit);
