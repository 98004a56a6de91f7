/* unpack.h - takes members out of archives, while the bytes arrive or from the entry
 * The cache keeps only the archive itself. Members go to the caller's descriptors (extract.h). The caller may give
 * them names only once the whole archive had the right hash and signatures.
 * Owner: the caller's descriptors. Errors: INTEGRITY for an evil or broken archive, with the entry's name and the
 * reason; SYSTEM. Units: bytes. Threads: all functions.
 * Tests: test_unpack.c. */
#pragma once

#include "assets/cache/cache.h"
#include "assets/unpack/extract.h"

/* Begins to take members of an arriving archive. Pass the archive's bytes to extract_feed, and end with
 * extract_finish. */
int cache_take_start(struct arena *a, const struct asset *as, struct extract_take *takes, size_t n,
		     struct extract **ret, struct err *e) must_check;
/* Takes members of a verified and signed entry, as extract_take does. */
int cache_take(struct cache *c, struct arena *a, const struct asset *as, struct extract_take *takes,
	       size_t n, struct err *e) must_check;
/* Begins to write members of a verified and signed archive, given by their numbers, to files. The first member goes
 * to a pipe whose reading end is *ret_fd, which the caller owns. The files are complete once extract_finish has
 * succeeded. */
int cache_give(struct cache *c, struct arena *a, const struct asset *as,
	       struct extract_take *entries, size_t n, int *ret_fd, struct extract **ret,
	       struct err *e) must_check;

/* Returns the record of an archive that was read to its end and accepted: the lines that the caller wrote. NULL:
 * none. */
const char *cache_members_read(const struct cache *c, struct arena *a, const struct digest *d);
/* Writes the record. If the write fails, a later run reads the archive again. */
void cache_members_write(struct cache *c, const struct digest *d, const char *text);
