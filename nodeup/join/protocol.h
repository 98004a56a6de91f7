/* protocol.h - the messages between a node and kops-controller, as texts
 * The first request asks for the node's configuration, the second for its certificates. Neither holds a certificate
 * request: the public keys themselves are sent, by name.
 * Invariant: pure. Owner: the arena. Errors: INTEGRITY for an invalid answer. Threads: all functions.
 * Source: kops pkg/apis/nodeup/bootstrap.go, v1alpha1.
 * Tests: test_protocol.c. */
#pragma once

#include "nodeup/base/str.h"

/* Writes a request. For the first one, which asks for the configuration, both are NULL. For the second, keys has
 * public keys by the names of certificates, and pair_ids the ids of the key pairs that are to sign; both are sorted
 * by name. */
const char *protocol_request(struct arena *a, const struct strmap *keys,
			     const struct strmap *pair_ids);

/* An answer; a missing part is NULL or empty. */
struct protocol_answer {
	struct strmap certificates;
	const char *config;    /* nodeupconfig.yaml */
	struct strmap secrets; /* decoded from base64 */
};

/* Reads an answer and ignores other keys in it. */
int protocol_read(struct arena *a, const char *text, size_t n, struct protocol_answer *ret,
		  struct err *e) must_check;
