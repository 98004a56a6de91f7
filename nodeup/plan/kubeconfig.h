/* kubeconfig.h - the login of a component at the API server
 * Owner: the arena of the plan. Errors: CONFIG. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/{context,kubectl}.go. */
#pragma once

#include "nodeup/plan/plan.h"

/* A kubeconfig (0400) by which user, a key pair of the store, reaches the API server. */
int plan_kubeconfig(struct plan *p, const char *path, const char *user, struct err *e) must_check;
