/* mismatch.h - skips a mirror's file that is known to be wrong
 * The cache records wrong files of mirrors (assets/cache/mismatch.h). A request to a mirror with such a file carries
 * If-None-Match or If-Modified-Since with the recorded values. An answer 304 ends the request. A server may ignore
 * such conditions; if its answer names the same file, the request ends too, and the bytes are not read.
 * Owner: the fetcher. Errors: INTEGRITY with errnum FETCH_MISMATCH. Units: bytes. Threads: as each function says,
 * without the fetcher's lock.
 * Tests: test_fetch_rounds.c. */
#pragma once

#include "assets/fetch/job.h"

/* Reads the record, on a worker that owns the entry. */
void fetch_mismatch_load(struct fetch_job *j);
/* Returns how the mirror of the last answer identifies the object. Call it before cache_commit frees the entry. */
struct cache_mismatch fetch_mismatch_name(const struct fetch_job *j);
/* Records that the mirror sent wrong bytes, with their digest (NULL: not known). Does not record bytes of several
 * answers. Call it on the same worker as fetch_mismatch_name. */
void fetch_mismatch_note(struct fetch_job *j, const struct cache_mismatch *name,
			 const struct err_note *got);
/* Adds headers that make the mirror send its file only if the file is not the wrong one any more. Call it and the
 * three functions below on the net thread. */
void fetch_mismatch_ask(const struct fetch_job *j, size_t mirror, struct arena *a,
			struct strv *headers);
/* Returns whether an earlier run got a wrong file from this mirror. */
bool fetch_mismatch_is(const struct fetch_job *j, size_t mirror);
/* Returns whether the mirror identifies its present object exactly as it identified the wrong file. */
bool fetch_mismatch_is_same(const struct fetch_job *j, size_t mirror,
			    const struct cache_origin *now);
/* Fills the error for a mirror that still has the wrong file. */
int fetch_mismatch_fail(const struct fetch_job *j, size_t mirror, struct err *e);
/* Writes how the mirror identifies the wrong file, such as "ETag "abc"", into out. */
const char *fetch_mismatch_mark(const struct fetch_job *j, size_t mirror,
				char out[static ERR_NOTE_MAX]);
