/* status_copy.h - the status of a run, written to S3 as well
 * For those that look at many nodes, and at one that they cannot log in to. The bytes are those of status.json, which holds
 * no secret.
 * Owner: none. Errors: NET, SYSTEM, CONFIG; none of them is worth a failed run. Units: 30 seconds at most. Threads: one. */
#pragma once

#include "nodeup/cmd/session.h"

/* Write what status.json says now to where the settings want it; *ret_url is that place, NULL if they want none. */
int status_copy(const struct session *s, int live_fd, struct arena *a, const char **ret_url,
		struct err *e) must_check;
