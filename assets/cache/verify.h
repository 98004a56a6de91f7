/* verify.h - look at a cache without believing its records
 * For repair: what was right when it was written may have been damaged on the disk since. A cache
 * that is open for reading only is looked at and not changed.
 * Owner: none. Errors: SYSTEM, INTEGRITY. Threads: all functions. */
#pragma once

#include "assets/cache/cache.h"

/* Hash an entry: 0 right, -ENOENT absent, -EBADMSG (INTEGRITY) damaged, and then moved to DIR/damaged/, where
 * it stays, and is told of again, until its digest is an entry again. */
int cache_recheck(struct cache *c, const struct digest *d, struct err *e) must_check;
/* Whether a published tree is what its archive holds: by the digest that it had when that was last looked
 * at, else by reading the archive once more, without a byte written. True: it
 * differs, or can be compared with nothing; it is removed, but for a cache open for reading only. */
bool cache_recheck_tree(struct cache *c, const struct asset *as);
/* What uses the entry of an asset, or its tree, has failed with *e. When that may be because the disk
 * cannot give it back any more, look; what is damaged is removed, and *e says so: true. */
bool cache_doubt(struct cache *c, const struct asset *as, bool tree, struct err *e);
