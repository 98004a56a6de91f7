/* follow.h - the reader behind the bytes of a job: hashes and unpacks them, and has the last word
 * It reads back what was stored, in pieces, on the fetcher's workers: so the order in which parts come,
 * and how far it is behind, cost no memory. While an errand is under way (`errand`), the entry is
 * the errand's, and `done` is called on the net thread when it ends, with its error in errs->follow.
 * Owner: the fetcher. Errors: SYSTEM, INTEGRITY. Units: bytes. Threads: called on the net thread.
 * Tests: test_fetch_queue.c. */
#pragma once

#include "assets/fetch/job.h"

typedef void fetch_follow_fn(struct fetch_job *j);

/* Read on up to `end`. A reader that is under way goes on up to there; 0 makes it stop soon. */
void fetch_follow(struct fetch_job *j, uint64_t end, fetch_follow_fn *done);
/* Compare, and publish the entry or not; then its members are taken. The entry is gone in any case. */
void fetch_follow_commit(struct fetch_job *j, fetch_follow_fn *done);
/* Do with the entry, if there is one, what j->settle says. */
void fetch_follow_settle(struct fetch_job *j, fetch_follow_fn *done);
/* Tell what the cache has of it: errs->follow ENOENT nothing, then the entry is there to go on with; EBUSY
 * that another process has it, which `found` names. */
void fetch_follow_look_up(struct fetch_job *j, fetch_follow_fn *done);
