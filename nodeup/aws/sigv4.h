/* sigv4.h - AWS Signature Version 4 in the Authorization header, for S3
 * A pure function: nothing is asked, no clock is read. Path and query come percent-encoded as they
 * are sent (enc_url); S3 signs the path as it is, neither encoded again nor normalized.
 * The result holds secrets and is for headers only: keep it in a short-lived arena.
 * Owner: the arena. Errors: none. Units: seconds since 1970. Threads: all functions.
 * Source: AWS, "Create a signed AWS API request"; S3 API, "Authenticating Requests".
 * Tests: test_sigv4.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/str.h"

/* The hash of an empty body. */
extern const char sigv4_empty[];

struct sigv4_key {
	const char *id, *secret;
	const char *token; /* of a session; NULL: none */
};

struct sigv4_req {
	const char *method;
	const char *host;    /* with the port if the URL has one */
	const char *path;    /* from '/', without the query */
	const char *query;   /* without '?'; NULL: none */
	struct strv headers; /* "Name: value"; all are signed */
	const char *payload; /* sha256 in hex, or UNSIGNED-PAYLOAD */
	const char *region, *service;
	int64_t time;
};

/* Fill host, path and query by the URL that is asked. */
void sigv4_set_url(struct arena *a, struct sigv4_req *req, const char *url);
/* The canonical request: what is hashed and signed. Includes the headers that sigv4_sign adds. */
char *sigv4_canonical(struct arena *a, const struct sigv4_req *req, const char *token);
/* The headers to add: X-Amz-Date, X-Amz-Content-Sha256 (s3 only), X-Amz-Security-Token (if any),
 * Authorization. */
struct strv sigv4_sign(struct arena *a, const struct sigv4_req *req, const struct sigv4_key *key);
