/* blame.h - what a mirror, and its host, have failed with
 * Owner: the fetcher. Errors: none. Units: ns. Threads: the net thread, without the fetcher's lock. */
#pragma once

#include "assets/fetch/job.h"

/* A mirror failed, for this round; `res` (may be NULL) says whether it wants to be left alone for a
 * while. If its other connections still make progress, lower the mirror's connection limit instead of
 * failing it (when it throttled us or is the last mirror). */
void fetch_blame_mirror(struct fetch_job *j, size_t mirror, const struct err *e,
			const struct http_result *res);
/* A part of it came well: after as many as there may be at a time there may be one more. */
void fetch_blame_less(struct fetch_job *j, size_t mirror);
/* Hold a failure against the host, unless it only says no (403, 404): of other assets it may have
 * more. */
void fetch_blame_host(struct fetch_job *j, size_t mirror, int status);
