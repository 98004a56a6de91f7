/* sts.h - a proof of who this instance is, for a server that does not know its keys
 * A request to STS is signed and not sent: the server that gets its headers sends it, and STS tells it whose
 * signature that is. Its body is always the same, so that the headers alone are enough; one of them binds it to the
 * request that it goes with.
 * The result holds a secret for a quarter of an hour: it is for one header only.
 * Owner: the arena. Errors: none. Units: seconds since 1970. Threads: all functions.
 * Source: kops pkg/bootstrap/awsbootstrap (v1 tokens), AWS, GetCallerIdentity.
 * Tests: test_sts.c. */
#pragma once

#include "nodeup/aws/sigv4.h"

struct sts_proof {
	const char *region;
	const char *host; /* of STS; NULL: that of the region, see sts_host */
	struct sigv4_key key;
	int64_t time;
	const void *body; /* of the request that the proof goes with */
	size_t n;
};

/* The host of STS in a region. */
char *sts_host(struct arena *a, const char *region);
/* The value of that request's Authorization header: "x-aws-sts BASE64". */
char *sts_authorization(struct arena *a, const struct sts_proof *p);
