/* gc.h - keep a cache below a size
 * Entries that the documents at hand do not name are removed, least recently used first, until the rest fits.
 * The mtime of its record says when an entry was used last; it is renewed at most each half hour. An entry
 * used within the last hour stays: another process may be about to use it.
 * Unfinished downloads count, and are removed like entries unless a process writes them.
 * Files in tmp/ count, and only their maker removes them.
 * Owner: none. Errors: none; what cannot be removed stays. Units: bytes. Threads: one.
 * Tests: test_cache_max.py. */
#pragma once

#include "assets/cache/cache.h"

/* Mark these as about to be used: no process trims them for an hour. */
void cache_note_use(struct cache *c, const struct digest *used, size_t n);
/* Renew what is kept, remove others while all of it has more than max bytes on the disk. Returns how
 * many entries went. */
size_t cache_trim(struct cache *c, const struct digest *keep, size_t n_keep, uint64_t max);
