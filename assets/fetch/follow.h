/* follow.h - hashes and unpacks a job's stored bytes, and decides whether they are right
 * Workers of the fetcher read the bytes back in pieces. So neither the order of parts nor the distance behind them
 * costs memory. While an errand runs (`errand`), it owns the entry. When it ends, the net thread calls `done`, with
 * the errand's error in errs->follow.
 * Owner: the fetcher. Errors: SYSTEM, INTEGRITY. Units: bytes. Threads: called on the net thread.
 * Tests: test_fetch_queue.c. */
#pragma once

#include "assets/fetch/job.h"

typedef void fetch_follow_fn(struct fetch_job *j);

/* Reads on up to `end`. If a reader is at work already, it goes on up to the new `end`; 0 makes it stop soon. */
void fetch_follow(struct fetch_job *j, uint64_t end, fetch_follow_fn *done);
/* Compares the hash. If it is right, publishes the entry and takes its members. The entry is freed in both cases. */
void fetch_follow_commit(struct fetch_job *j, fetch_follow_fn *done);
/* If there is an entry, keeps, drops or empties it, as j->settle says. */
void fetch_follow_settle(struct fetch_job *j, fetch_follow_fn *done);
/* Asks the cache for the asset. errs->follow: ENOENT if the cache lacks the asset, and the entry is ready for more
 * bytes; EBUSY if another process fetches it, which `found_other` names. */
void fetch_follow_look_up(struct fetch_job *j, fetch_follow_fn *done);
