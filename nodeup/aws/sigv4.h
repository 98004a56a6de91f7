/* sigv4.h - AWS Signature Version 4 in the Authorization header, for S3
 * Pure: asks nothing, reads no clock. Path and query come percent-encoded as they are sent (enc_url); S3 signs the
 * path unchanged, neither encoded again nor normalised. The result holds secrets and is for headers only: keep it in
 * a short-lived arena.
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
	const char *token; /* session token; NULL: none */
};

struct sigv4_req {
	const char *method;
	const char *host;    /* host, with the port if the URL has one */
	const char *path;    /* path from '/' on, without the query */
	const char *query;   /* query without '?'; NULL: none */
	struct strv headers; /* "Name: value"; all are signed */
	const char *payload; /* sha256 in hex, or UNSIGNED-PAYLOAD */
	const char *region, *service;
	int64_t time;
};

/* Fills host, path and query from the URL. */
void sigv4_set_url(struct arena *a, struct sigv4_req *req, const char *url);
/* Returns the canonical request, whose hash is signed. Includes the headers that sigv4_sign adds. */
char *sigv4_canonical(struct arena *a, const struct sigv4_req *req, const char *token);
/* Returns the headers to add: X-Amz-Date, X-Amz-Content-Sha256 (s3 only), X-Amz-Security-Token (if any),
 * Authorization. */
struct strv sigv4_sign(struct arena *a, const struct sigv4_req *req, const struct sigv4_key *key);
