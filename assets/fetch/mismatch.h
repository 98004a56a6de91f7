/* mismatch.h - the wrong file that a mirror is known to have
 * What a mirror sent instead of the object is on record in the cache (mismatch.h there). It is asked with
 * If-None-Match or If-Modified-Since of that record. A 304 ends the request, and so does an answer of a
 * server that does not know conditions, if it names the same file: its bytes are not taken.
 * Owner: the fetcher. Errors: INTEGRITY with errnum FETCH_MISMATCH. Units: bytes. Threads: as said, without the
 * fetcher's lock.
 * Tests: test_fetch_rounds.c. */
#pragma once

#include "assets/fetch/job.h"

/* Read what is on record; on a worker that has the entry alone. */
void fetch_mismatch_load(struct fetch_job *j);
/* Returns the names that the mirror of the last answer has for the object. Call it before cache_commit frees the
 * entry. */
struct cache_mismatch fetch_mismatch_name(const struct fetch_job *j);
/* Record that the mirror sent wrong bytes, with the digest that they have (NULL: not known).
 * Bytes of several answers are not recorded. By the same worker. */
void fetch_mismatch_note(struct fetch_job *j, const struct cache_mismatch *name,
			 const struct err_note *got);
/* Add the headers that ask for another file only. On the net thread, as the three below. */
void fetch_mismatch_ask(const struct fetch_job *j, size_t mirror, struct arena *a,
			struct strv *headers);
/* Returns whether this mirror is known to have had a wrong file. */
bool fetch_mismatch_is(const struct fetch_job *j, size_t mirror);
/* Returns whether the mirror names its object as it named the wrong one. */
bool fetch_mismatch_is_same(const struct fetch_job *j, size_t mirror,
			    const struct cache_origin *now);
/* Fill in the error of a mirror that still has the wrong file. */
int fetch_mismatch_fail(const struct fetch_job *j, size_t mirror, struct err *e);
/* "ETag "abc"" of a mirror that still has it, into out. */
const char *fetch_mismatch_mark(const struct fetch_job *j, size_t mirror,
				char out[static ERR_NOTE_MAX]);
