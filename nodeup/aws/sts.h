/* sts.h - proves this instance's identity to a server that does not know its keys
 * Signs a request to STS, but does not send it. The server that gets the request's headers sends the request, and
 * STS then names the signer to that server. The body never changes, so the headers suffice; one header ties the
 * proof to the request that carries it. The result holds a secret that lives for a quarter of an hour: it is for one
 * header only.
 * Owner: the arena. Errors: none. Units: seconds since 1970. Threads: all functions.
 * Source: kops pkg/bootstrap/awsbootstrap (v1 tokens), AWS, GetCallerIdentity.
 * Tests: test_sts.c. */
#pragma once

#include "nodeup/aws/sigv4.h"

struct sts_proof {
	const char *region;
	const char *host; /* host of STS; NULL: the host of the region, see sts_host */
	struct sigv4_key key;
	int64_t time;
	const void *body; /* body of the request that carries the proof */
	size_t n;
};

/* Returns the host of STS in a region. */
char *sts_host(struct arena *a, const char *region);
/* Returns the value of the Authorization header for the request with that body: "x-aws-sts BASE64". */
char *sts_authorization(struct arena *a, const struct sts_proof *p);
