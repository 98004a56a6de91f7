/* give.h - which entries may be given away (cache_give_away): those that were not here before, and that nobody else asks for
 * Owner: the cache. Errors: none; what cannot be told stays. Threads: all functions; processes too.
 * Tests: test_give.c. */
#pragma once

#include "assets/cache/dir.h"

/* The fate of an entry in this process. */
enum cache_fate {
	CACHE_MADE = 1, /* it was not here before */
	CACHE_KEPT      /* it was, or another process has asked for it */
};

/* Note what became of an entry; what is KEPT stays so. */
void cache_note_fate(struct cache *c, const struct digest *d, enum cache_fate fate);
/* Release what was noted. */
void cache_fates_free(struct cache *c);
/* Ask that the file which is open be not given away while it is; false: it is just given away. */
bool cache_ask(int fd);
