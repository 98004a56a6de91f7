/* spool.h - where archives wait in memory for their place on the disk
 * What is unpacked is wanted by the cache alone from then on. So such an archive need not get to the disk before
 * services start: where the node has a file system in memory, and much more memory free than that, its entry is
 * made there (cache_resume), and moved to the disk when nothing waits for it (cache_unspool). Until then it is an
 * entry as any other: all questions of cache.h find it. A process that is killed leaves it to the next one; a loss
 * of power takes it away, and what needs it fetches it again. A spool is itself a cache, below the root of the node.
 * Owner: the cache. Errors: SYSTEM; without a spool all goes to the disk. Units: bytes. Threads: all functions, but
 * for cache_spool_at and cache_spool_end, when no other uses the cache. Source: tmpfs(5), proc_meminfo(5). */
#pragma once

#include "assets/cache/cache.h"

/* Use what lies in this directory below root_fd. With `fills` new archives may go there, too, and the directory is
 * made for the first of them. */
void cache_spool_at(struct cache *c, int root_fd, const char *dir, bool fills);
/* The spool, made if new archives may go there; NULL: none. */
struct cache *cache_spool_to_fill(struct cache *c);

/* The archives that wait. */
struct cache_spooled {
	struct digest *v;
	size_t n;
};

/* All of them. */
struct cache_spooled cache_spooled(const struct cache *c, struct arena *a);
/* Move one of them to the disk. After an error it is thrown away all the same, if the spool can be opened: memory is for
 * what runs. */
int cache_unspool(struct cache *c, const struct digest *d, struct err *e) must_check;
/* Whether there is a spool, with something in it or not. */
bool cache_has_spool(const struct cache *c);
/* Remove what no archive needs any more: the directory, and with `parts_too` what is left of downloads that no process is at.
 * What waits stays. */
void cache_spool_end(struct cache *c, bool parts_too);
