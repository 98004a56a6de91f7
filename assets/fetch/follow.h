/* follow.h - hashes and unpacks a job's stored bytes, and decides whether they are right
 * Workers of the fetcher read the bytes back in pieces. So parts may arrive in any order, and far ahead of the
 * reader, without use of memory. A running errand (see `errand`) owns the entry. When the errand has ended, the net
 * thread calls `done`, and errs->follow has the errand's error.
 * Owner: the fetcher. Errors: SYSTEM, INTEGRITY. Units: bytes. Threads: called on the net thread.
 * Tests: test_fetch_queue.c. */
#pragma once

#include "assets/fetch/job.h"

typedef void fetch_follow_fn(struct fetch_job *j);

/* Reads on up to `end`. A reader that is at work already goes on up to the new `end`; with 0 the reader stops soon. */
void fetch_follow(struct fetch_job *j, uint64_t end, fetch_follow_fn *done);
/* Compares the hash. If the hash is right, publishes the entry and takes its members. The entry is freed whether the
 * hash is right or not. */
void fetch_follow_commit(struct fetch_job *j, fetch_follow_fn *done);
/* Keeps, drops or empties the entry, if there is one, as j->settle says. */
void fetch_follow_settle(struct fetch_job *j, fetch_follow_fn *done);
/* Asks the cache for the asset. errs->follow: ENOENT if the cache lacks the asset, and the entry is ready for more
 * bytes; EBUSY if another process fetches it, which `found_other` names. */
void fetch_follow_look_up(struct fetch_job *j, fetch_follow_fn *done);
