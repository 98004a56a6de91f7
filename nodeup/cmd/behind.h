/* behind.h - what only the cache wants, written when nothing waits for it any more
 * While a node is made, an asset is written once: its entry becomes the installed file (assets/cache/lend.h), and an
 * archive that is unpacked waits in memory (assets/cache/spool.h). Once all is started, the archives get to the disk,
 * the cache gets bytes of its own again, and what it shares with installed files is hashed. A thread does that at idle
 * priority; the run's success does not wait for it, and the process does. What a kill leaves to be copied the next run
 * copies: the installed files' bytes first of all, the archives at its end.
 * Owner: the caller. Errors: none; what cannot be copied is a warning. Threads: the caller's. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include "assets/cache/lend.h"
#include "assets/cache/spool.h"
#include "nodeup/cmd/session_cache.h"

struct behind {
	bool runs; /* the thread is to be joined */
	pthread_t thread;
	struct cache *cache; /* its own, as the session may be closed before it is done */
	int root_fd;
	struct arena *arena;          /* has the loans */
	struct cache_spooled spooled; /* of the run, all of them */
	struct cache_loans loans;
	struct cache_shared_trees shared;
	size_t done; /* of what is copied; atomic */
};

/* Before anything is checked: what a run that was killed left of it. */
void behind_catch_up(struct session *s);
/* Begin to move what waits in memory, to copy what the run has lent, and to hash what it shares; nothing to do if that is
 * nothing. One at a time. */
void behind_begin(struct behind *b, const struct session *s, const struct session_req *req);
/* How many assets are not copied yet. */
size_t behind_pending(const struct behind *b);
/* Wait until all is copied. With `made` the node is: what is left of downloads in memory goes. */
void behind_end(struct behind *b, bool made);
