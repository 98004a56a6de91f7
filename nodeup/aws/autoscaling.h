/* autoscaling.h - asks for the lifecycle hooks of an Auto Scaling group
 * Uses query.h, which alone has time limits and retries.
 * Owner: nothing is kept. Errors: query.h's. Threads: all functions.
 * Source: Amazon EC2 Auto Scaling API reference, 2011-01-01.
 * Tests: test_granted.c. */
#pragma once

#include "assets/http/http.h"
#include "nodeup/aws/imds.h"

struct autoscaling_hook {
	const char *group, *name;
	const char *region; /* NULL: AWS_REGION, then IMDS */
};

/* Returns whether the group has the hook: 1 or 0. */
int autoscaling_has_hook(struct http *http, struct imds *imds, const struct autoscaling_hook *hook,
			 struct err *e) must_check;
