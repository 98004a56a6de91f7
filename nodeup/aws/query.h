/* query.h - AWS services with the Query protocol: a signed form goes out, XML comes back
 * Requests are signed with the keys of creds.h. A request takes at most 10 s and never passes the deadline. A
 * refused request is repeated once, with new credentials or with the server's time; all other retries are the
 * caller's. Without credentials nothing is sent.
 * Owner: query_new/query_free; answers are the caller's. Errors: query_errors.h; NET with ETIMEDOUT and the like for
 * a server that does not answer, EKEYEXPIRED without credentials. Units: nanoseconds. Threads: one. Source: AWS,
 * "Making query requests" of EC2 and of Auto Scaling.
 * Tests: test_ec2.c. */
#pragma once

#include "assets/http/http.h"
#include "nodeup/aws/endpoint.h"
#include "nodeup/aws/imds.h"
#include "nodeup/aws/xml.h"

struct query_req {
	enum endpoint_service service;
	struct http *http;
	struct imds *imds;  /* NULL: only the environment's credentials */
	const char *region; /* NULL: AWS_REGION, then IMDS */
};

struct query;

/* Makes a client; asks nothing yet. */
struct query *query_new(const struct query_req *req) must_check;
/* Releases the client; NULL is fine. */
void query_free(struct query *q);
/* Sets the monotonic time after which no request goes on; 0: none. */
void query_set_deadline(struct query *q, int64_t deadline_ns);
/* Asks for an action with these parameters, in this order. *ret (may be NULL) gets the answer's root element, named
 * after the action ("DescribeVolumesResponse"), in the arena. */
int query_ask(struct query *q, struct arena *a, const char *action, const struct strmap *parameters,
	      const struct xml **ret, struct err *e) must_check;
