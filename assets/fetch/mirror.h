/* mirror.h - what a mirror, and its host, have failed with, and the wrong file it is known to have
 * What a mirror sent instead of the object is on record in the cache (wrong.h). It is asked with
 * If-None-Match or If-Modified-Since of that record. A 304 ends the request, and so does an answer of a
 * server that does not know conditions, if it names the same file: its bytes are not taken.
 * Owner: the fetcher. Errors: INTEGRITY with errnum FETCH_KNOWN. Units: bytes, ns. Threads: as said; the
 * first three on the net thread, without the fetcher's lock. */
#pragma once

#include "assets/fetch/job.h"

/* A mirror failed, for this round; `res` (may be NULL) says whether it wants to be left alone for a
 * while. If its other connections still make progress, lower the mirror's connection limit instead of
 * failing it (when it throttled us or is the last mirror). */
void fetch_mirror_failed(struct fetch_job *j, size_t mirror, const struct err *e,
			 const struct http_result *res);
/* A part of it came well: after as many as there may be at a time there may be one more. */
void fetch_mirror_came(struct fetch_job *j, size_t mirror);
/* Hold a failure against the host, unless it only says no (403, 404): of other assets it may have
 * more. */
void fetch_mirror_failed_host(struct fetch_job *j, size_t mirror, int status);

/* Read what is on record; on a worker that has the entry alone. */
void fetch_mirror_known_load(struct fetch_job *j);
/* What the mirror of the entry's last answer calls it, before the entry is gone. */
struct cache_wrong fetch_mirror_known_name(const struct fetch_job *j);
/* Note that these were wrong bytes (*e), unless they are of several answers; the same worker. */
void fetch_mirror_known_note(struct fetch_job *j, const struct cache_wrong *name,
			     const struct err *e);
/* Add the headers that ask for another file only. On the net thread, as what is below. */
void fetch_mirror_known_ask(const struct fetch_job *j, size_t mirror, struct arena *a,
			    struct strv *headers);
/* Whether this mirror is known to have had a wrong file. */
bool fetch_mirror_known_is(const struct fetch_job *j, size_t mirror);
/* Whether what the mirror says of its object is what it said of the wrong one. */
bool fetch_mirror_known_is_same(const struct fetch_job *j, size_t mirror,
				const struct cache_origin *now);
/* The error of a mirror that still has it. */
int fetch_mirror_known_fail(const struct fetch_job *j, size_t mirror, struct err *e);
/* "ETag "abc"" of a mirror that still has it, into out. */
const char *fetch_mirror_known_mark(const struct fetch_job *j, size_t mirror,
				    char out[static ERR_NOTE_MAX]);
