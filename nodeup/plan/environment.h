/* environment.h - variables that units and programs are started with, the cluster's proxy among them
 * Owner: the arena of the plan. Errors: none. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/protokube.go, pkg/model/bootstrapscript.go.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Lists the variables that kops hands to other programs; ends with NULL. */
extern const char *const plan_kops_variables[];
/* Splits an environment of the request into variables that a unit may show, and credentials that it may not. */
void plan_environment(const struct plan *p, const struct strmap *env, struct strmap *ret_open,
		      struct strmap *ret_secret);
/* Returns the value of an Environment= line, in which '%' is escaped and '$' is not special. */
const char *plan_assignments(struct arena *a, const struct strmap *env);
/* Returns the lines of a file for EnvironmentFile=. */
const char *plan_env_lines(struct arena *a, const struct strmap *env);
/* Returns the cluster's proxy as "NAME=value", for a program to be started; empty without a proxy. */
struct strv plan_proxy_words(const struct plan *p);
/* Lists the units that need the cluster's proxy, as they pull images, ask the cloud or fetch; ends with NULL. */
extern const char *const plan_proxied_units[];
/* Returns whether the unit gets the proxy. If the proxy has a login, the unit reads it from the file below. */
bool plan_is_proxied(const struct plan *p, const char *unit);
extern const char plan_proxy_env_file[];
