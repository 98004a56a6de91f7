/* autoscaling.h - completes a lifecycle hook, so that an instance of an Auto Scaling group may go on
 * Uses query.h, which alone has time limits and retries.
 * Owner: nothing is kept. Errors: query.h's. Threads: all functions.
 * Source: Amazon EC2 Auto Scaling API reference, 2011-01-01.
 * Tests: test_granted.c. */
#pragma once

#include "assets/http/http.h"
#include "nodeup/aws/imds.h"

struct autoscaling_hook {
	const char *group, *name, *instance;
	const char *region; /* NULL: AWS_REGION, then IMDS */
};

/* Completes the instance's lifecycle hook. Returns 1 if the hook is completed; 0 if the group has no such hook, or
 * if the instance does not wait for the hook. */
int autoscaling_go_on(struct http *http, struct imds *imds, const struct autoscaling_hook *hook,
		      struct err *e) must_check;
