/* signal.h - one request to a service that waits for word of this instance
 * Uses query.h. Owner: nothing is kept. Errors: query.h's. Units: ns. Threads: all functions.
 * Source: API references of EC2, Amazon EC2 Auto Scaling and AWS CloudFormation.
 * Tests: test_signal.c. */
#pragma once

#include "nodeup/aws/query.h"

struct signal_req {
	struct http *http;
	struct imds *imds;
	const char *region;           /* NULL: AWS_REGION, then IMDS */
	const char *service, *action; /* the service's name in signatures: "ec2" */
	struct strmap parameters;
	int64_t timeout_ns; /* 0: query.h's own limit */
};

/* Returns 1 if the service took it; 0 if it waits for nothing any more. */
int signal_send(const struct signal_req *req, struct err *e) must_check;
