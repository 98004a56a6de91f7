/* wants.h - what a node of today's kops is known by, and what it takes from the state store
 * One row a certificate: who signs it, for whom, under which names, and where the node has it.
 * Owner: static tables, the arena. Errors: none. Threads: all functions. Body: wants.c.
 * Source: kops 1.37 nodeup/pkg/model (IssueCert, GetBootstrapCert, FindKeyset), cmd/kops-controller/pkg/server issueCert.
 * Tests: test_kops_changes.c, test_kops_changes_written.c. */
#pragma once

#include "nodeup/config/kops/model.h"

/* When a node has something: each condition must hold. */
enum kops_condition {
	KOPS_ANY_NODE = 0,
	KOPS_API = 1 << 0,           /* an API server runs here */
	KOPS_CONTROL_PLANE = 1 << 1, /* and the controllers */
	KOPS_KUBE_PROXY = 1 << 2,
	KOPS_KUBE_ROUTER = 1 << 3,
	KOPS_CILIUM_ETCD = 1 << 4,
	KOPS_HEALTHCHECK = 1 << 5,
	KOPS_AWS_LOGIN = 1 << 6, /* users are known by aws-iam-authenticator */
	KOPS_KCM_TLS = 1 << 7,   /* the documents name no certificate of their own */
	KOPS_SCHEDULER_TLS = 1 << 8,
	KOPS_SIGNS_TOKENS = 1 << 9,    /* with the key of the cluster */
	KOPS_CHANNELS_POD = 1 << 10,   /* a pod applies addons */
	KOPS_PROTOKUBE_UNIT = 1 << 11, /* protokube does */
};

/* Those that hold for the node. */
unsigned int kops_conditions(const struct kops_node *n);

/* A worker is given those that do not ask for an API server by kops-controller; where an API server runs the node issues all
 * of them itself. */
struct kops_certificate {
	const char *name, *signer;
	/* subject NULL: the node's name, behind "system:node:" if it is a client's */
	const char *subject, *organization;
	struct strv (*names)(struct arena *a,
			     const struct kops_node *n); /* NULL: it is a client's */
	unsigned int conditions;
	/* where it is: a kubeconfig, or two files */
	const char *login, *cert_at, *key_at;
	const char *user; /* whose these are; NULL: root */
	const char *pod;  /* the static pod that reads it only when it starts; NULL: none */
	bool pod_stays;   /* its manifest is not made here */
};

/* The node's, in the order of their names; NULL: no more of them. `at` begins with 0. */
const struct kops_certificate *kops_certificate(const struct kops_node *n, size_t *at);
/* The CA of the clients of an etcd cluster. */
const char *kops_etcd_clients_ca(struct arena *a, const struct kops_config *c, const char *cluster);
/* The users of the state store that have a token, sorted; NULL ends them. */
extern const char *const kops_tokens[];
