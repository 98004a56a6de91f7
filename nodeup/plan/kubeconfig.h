/* kubeconfig.h - key pairs of the store, and the kubeconfigs by which components log in at the API server
 * Owner: the arena of the plan.
 * Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/{context,kubectl}.go.
 * Tests: test_kops_pki.py. */
#pragma once

#include "nodeup/plan/plan.h"

/* Returns the key pair of that name, which has a certificate (and with `key` a key). If it has none, the plan fails
 * and the pair is empty. */
const struct node_keypair *plan_keypair(struct plan *p, const char *name, bool key);
/* Notes on the file why its key pair was issued, or will be. Returns the file. */
struct task *plan_issued(struct task *file, const struct node_keypair *pair);
/* Writes a kubeconfig (0400) for `user`, a key pair of the node. ca (PEM) signed the server's certificate. */
struct task *plan_kubeconfig_of(struct plan *p, const char *path, const char *user, const char *ca,
				const char *server);
