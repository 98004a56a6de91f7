/* protocol.h - what a node and kops-controller say to each other, as texts
 * The first request asks for the node's configuration, the second for its certificates. Neither has a certificate
 * request in it: keys go as they are, by name.
 * Invariant: pure. Owner: the arena. Errors: INTEGRITY for an answer that is none. Threads: all functions.
 * Source: kops pkg/apis/nodeup/bootstrap.go, v1alpha1.
 * Tests: test_protocol.c. */
#pragma once

#include "nodeup/base/str.h"

/* The first request, for the configuration: both are NULL. The second: public keys by the names of certificates, and
 * the ids of the key pairs that are to sign, both sorted by name. */
const char *protocol_request(struct arena *a, const struct strmap *keys,
			     const struct strmap *pair_ids);

/* An answer; a part that it lacks is NULL or empty. */
struct protocol_answer {
	struct strmap certificates;
	const char *config;    /* nodeupconfig.yaml */
	struct strmap secrets; /* decoded */
};

/* Reads an answer. Other keys of it are left alone. */
int protocol_read(struct arena *a, const char *text, size_t n, struct protocol_answer *ret,
		  struct err *e) must_check;
