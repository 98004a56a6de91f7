/* protocol.h - the messages between a node and kops-controller, as texts
 * The first request asks for the node's configuration, the second for its certificates. Neither request holds a CSR
 * (PKCS #10): the public keys themselves are sent, by name.
 * Invariant: pure. Owner: the arena. Errors: INTEGRITY for an invalid answer. Threads: all functions.
 * Source: kops pkg/apis/nodeup/bootstrap.go, v1alpha1.
 * Tests: test_protocol.c. */
#pragma once

#include "nodeup/base/str.h"

/* Writes a request. For the first request (for the configuration) keys and pair_ids are NULL. For the second
 * request, keys has the public keys by the names of their certificates, and pair_ids the ids of the key pairs that
 * are to sign. Both maps are sorted by name. */
const char *protocol_request(struct arena *a, const struct strmap *keys,
			     const struct strmap *pair_ids);

/* An answer; a missing part is NULL or empty. */
struct protocol_answer {
	struct strmap certificates;
	const char *config;    /* nodeupconfig.yaml */
	struct strmap secrets; /* decoded from base64 */
};

/* Reads an answer and ignores keys that are unknown here. */
int protocol_read(struct arena *a, const char *text, size_t n, struct protocol_answer *ret,
		  struct err *e) must_check;
