/* cache_entry.h - entries being written that survive: a dropped connection, a kill, a reboot
 * What arrived of a digest is kept in DIR/partial/<algo>-<hex>, a file that only grows at its end, so
 * that its size says how much of it is good; DIR/partial/<algo>-<hex>.from says of which object the
 * bytes are a part. Neither is trusted: the hash at the end decides, and what was put together
 * wrongly is dropped. The file is flock'ed by who writes it; who comes second gets a file of its own
 * in tmp/, which is not kept. An entry of cache_begin is never kept either.
 * Owner: the caller frees the entry by cache_commit, cache_abort or cache_suspend. Errors: SYSTEM.
 * Units: bytes. Threads: an entry has one user at a time. */
#pragma once

#include "assets/cache.h"
#include "assets/url.h"

enum { CACHE_ETAG_MAX = 256, CACHE_MODIFIED_MAX = 64 };

/* The object that the bytes are a part of; "" and -1 where the server did not say. */
struct cache_origin {
	char url[URL_PUBLIC_MAX]; /* of the mirror that was asked last */
	char etag[CACHE_ETAG_MAX], modified[CACHE_MODIFIED_MAX];
	int64_t total;
};

/* Begin an entry with what is left of it from before, which is read and hashed once. */
int cache_resume(struct cache *c, const struct digest *d, struct cache_entry **ret,
		 struct err *e) must_check;
/* How many bytes it has, and of what; valid until the next cache_set_origin or cache_restart. */
uint64_t cache_size(const struct cache_entry *en);
const struct cache_origin *cache_origin_of(const struct cache_entry *en);
/* Note of what the bytes are; failing to write it down costs a download after a restart, no more. */
void cache_set_origin(struct cache_entry *en, const struct cache_origin *origin);
/* Drop the bytes and go on with none. */
int cache_restart(struct cache_entry *en, struct err *e) must_check;
/* Leave it for the next cache_resume; frees en. NULL is fine. */
void cache_suspend(struct cache_entry *en);
