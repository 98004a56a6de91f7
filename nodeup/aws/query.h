/* query.h - services of AWS that speak the Query protocol: a form that is posted and signed, XML that is answered
 * Signed as the role of the instance (creds.h). A request takes at most 10 s and never passes the deadline. It is
 * repeated once, with new credentials or with the server's time; every other retry is the caller's. Without
 * credentials nothing is sent.
 * Owner: query_new/query_free; answers are the caller's. Errors: query_errors.h; NET with ETIMEDOUT and the like for
 * a server that does not answer, EKEYEXPIRED without credentials.
 * Units: nanoseconds. Threads: one. Source: AWS, "Making query requests" of EC2 and of Auto Scaling.
 * Tests: test_ec2.c. */
#pragma once

#include "assets/http/http.h"
#include "nodeup/aws/endpoint.h"
#include "nodeup/aws/imds.h"
#include "nodeup/aws/xml.h"

struct query_service {
	const char *name; /* what people call it */
	enum endpoint_service endpoint;
	const char *version; /* of its API */
};

struct query_req {
	const struct query_service *service;
	struct http *http;
	struct imds *imds;  /* NULL: credentials of the environment alone */
	const char *region; /* NULL: AWS_REGION, then IMDS */
};

struct query;

/* Asks nothing yet. */
struct query *query_new(const struct query_req *req) must_check;
/* Release; NULL is fine. */
void query_free(struct query *q);
/* No question goes on beyond this monotonic time; 0: none. */
void query_set_deadline(struct query *q, int64_t deadline_ns);
/* Ask for an action with these parameters, in this order. *ret, if it is wanted, gets the root of the answer, named
 * after the action ("DescribeVolumesResponse"), and is the arena's. */
int query_ask(struct query *q, struct arena *a, const char *action, const struct strmap *parameters,
	      const struct xml **ret, struct err *e) must_check;
