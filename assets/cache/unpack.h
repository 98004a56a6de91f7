/* unpack.h - members of archives: taken while the bytes arrive, or from the entry
 * Nothing of an archive is kept here but the archive. Its members go to descriptors of the caller's (extract.h), who may
 * give them names only when the whole archive had the right hash and its signatures were right.
 * Owner: the caller's descriptors. Errors: INTEGRITY for an evil or broken archive, with the entry's name and the
 * reason; SYSTEM. Units: bytes. Threads: all functions.
 * Tests: test_unpack.c. */
#pragma once

#include "assets/cache/cache.h"
#include "assets/unpack/extract.h"

/* Begin to take members of an archive that arrives: extract_feed gives its bytes, extract_finish ends it. */
int cache_take_start(struct arena *a, const struct asset *as, struct extract_take *takes, size_t n,
		     struct extract **ret, struct err *e) must_check;
/* Take members of a verified and signed entry, as extract_take does. */
int cache_take(struct cache *c, struct arena *a, const struct asset *as, struct extract_take *takes,
	       size_t n, struct err *e) must_check;
/* Begin to give entries of such an archive, by their numbers: the first to the reader of a pipe, *ret_fd, the caller's. It
 * has all bytes when extract_finish says so. */
int cache_give(struct cache *c, struct arena *a, const struct asset *as,
	       struct extract_take *entries, size_t n, int *ret_fd, struct extract **ret,
	       struct err *e) must_check;

/* Returns the record of an archive that was read to its end and not refused: lines of the caller's. NULL: there is none. */
const char *cache_members_read(const struct cache *c, struct arena *a, const struct digest *d);
/* Record it; where that cannot be, the archive is read again another time. */
void cache_members_write(struct cache *c, const struct digest *d, const char *text);
