/* session_cache.h - what of the cache a run's documents name
 * An entry that is named is not evicted by this run, nor by another for an hour after this one began to
 * use it or ended.
 * Owner: none. Errors: of the cache; one that cannot be written is left as it is. Threads: the session's.
 * Tests: test_cache_max.py, test_cache_shared.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* The asset cache of this command, as the host sees it. */
const char *session_cache_dir(const struct cli *cli);
/* Open the session's, unless it is open. */
int session_open_cache(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Begin to hash what lies in it without a record, beside whatever this thread does, until session_end_ahead. */
void session_read_ahead(struct session *s, const struct session_req *req);
/* End that after the entry at hand; nothing to do if it never began. */
void session_end_ahead(struct session *s);

/* How many bytes of unfinished downloads the cache of this command line has. Any thread. */
uint64_t session_kept_bytes(const struct cli *cli);

/* Have other processes leave alone what this run is about to use. */
void session_note_use(struct session *s);
/* Evicts entries that no document names, the least recently used first, until max bytes are left. 0: 8 GiB; below 0: no limit. */
void session_trim_cache(struct session *s, int64_t max);
