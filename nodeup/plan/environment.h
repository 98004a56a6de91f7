/* environment.h - variables that units and programs are started with, the cluster's proxy among them
 * Owner: the arena of the plan. Errors: none. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/protokube.go, pkg/model/bootstrapscript.go.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Variables of kops' own that it hands to other programs. NULL ends it. */
extern const char *const plan_kops_variables[];
/* Split an environment of the request: what may be shown in a unit, and what may not (credentials). */
void plan_environment(const struct plan *p, const struct strmap *env, struct strmap *ret_open,
		      struct strmap *ret_secret);
/* The value of an Environment= line: '%' is a specifier there, '$' is nothing special. */
const char *plan_assignments(struct arena *a, const struct strmap *env);
/* The lines of a file for EnvironmentFile=. */
const char *plan_env_lines(struct arena *a, const struct strmap *env);
/* The cluster's proxy as "NAME=value", for a program that is started; nothing without one. */
struct strv plan_proxy_words(const struct plan *p);
/* The units that may be told of the cluster's proxy: they pull images, ask the cloud, fetch. NULL ends it. */
extern const char *const plan_proxied_units[];
/* Returns whether the unit is told of the proxy. If the proxy has a login, the file below tells it. */
bool plan_is_proxied(const struct plan *p, const char *unit);
extern const char plan_proxy_env_file[];
