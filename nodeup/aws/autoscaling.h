/* autoscaling.h - what an instance says to the group that it is of
 * By query.h, whose patience and retries are all there are.
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

/* Let the instance go on if it waits for the hook: 1; 0: the group has no such hook, or nothing waits for it. */
int autoscaling_go_on(struct http *http, struct imds *imds, const struct autoscaling_hook *hook,
		      struct err *e) must_check;
