/* kubeconfig.h - key pairs of the store, and the login of a component at the API server by one
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/{context,kubectl}.go.
 * Tests: test_kops_pki.py. */
#pragma once

#include "nodeup/plan/plan.h"

/* The key pair of that name with certificate (and key). Without one the plan fails, and it is empty. */
const struct node_keypair *plan_keypair(struct plan *p, const char *name, bool key);
/* Say of a file that holds of a key pair why this was made, or will be. Gives the file. */
struct task *plan_issued(struct task *file, const struct node_keypair *pair);
/* A kubeconfig (0400) by which user, a key pair of the node, reaches a server that ca (PEM) vouches for. */
struct task *plan_kubeconfig_of(struct plan *p, const char *path, const char *user, const char *ca,
				const char *server);
