/* entry.h - entries being written that survive: a dropped connection, a kill, a reboot
 * DIR/partial/<algo>-<hex> keeps the bytes that arrived, in any order, and DIR/partial/<algo>-<hex>.from
 * (map.h) says which bytes of which object these are. Neither is trusted: the bytes are read back in order and
 * hashed, and the hash at the end decides. Bytes that were put together wrongly are dropped. A byte that is
 * there is never written again. The writer has a flock on the file. A second process is told so, or gets a file
 * of its own in tmp/, which is not kept. An entry of cache_begin is not kept either.
 * Owner: the caller frees the entry by cache_commit, cache_abort or cache_suspend. Errors: SYSTEM;
 * ENOSPC and EDQUOT say how much is wanted and free. Units: bytes. Threads: an entry has one user at
 * a time, but for cache_follow: one other thread, behind what was stored before it was told so.
 * Tests: test_cache.c. */
#pragma once

#include "assets/cache/cache.h"
#include "assets/cache/spans.h"
#include "assets/unpack/extract.h"
#include "assets/url.h"

enum { CACHE_ETAG_MAX = 256, CACHE_MODIFIED_MAX = 64, CACHE_MARKS = 4 };

/* A mirror's names of the object; "" where it did not say. */
struct cache_mark {
	char url[URL_PUBLIC_MAX], etag[CACHE_ETAG_MAX], modified[CACHE_MODIFIED_MAX];
};

/* The object that the bytes are a part of. */
struct cache_origin {
	int64_t total;                        /* -1 unknown */
	struct cache_mark marks[CACHE_MARKS]; /* url "" where there are fewer */
};

/* The process that writes the part of an entry, by the lock that it holds. Unknown members stay empty. */
struct cache_writer {
	int pid;       /* 0 unknown: it is in another PID namespace, say */
	char name[32]; /* of its program; "" unknown */
	int64_t bytes; /* that it has written, or reserved */
	int asks; /* the caller's: while it is open, that process does not give the entry away */
};

/* Make an entry of what can be read from a file (`name` is for messages); hashed on the way, so what differs never becomes one (INTEGRITY). */
int cache_copy_in(struct cache *c, const struct digest *d, int fd, const char *name,
		  struct err *e) must_check;
/* Begin an entry with what is left of it from before. While another process writes it: -EBUSY, and `other` names
 * it; with `other` NULL an entry beside it, which is not kept. */
int cache_resume(struct cache *c, const struct digest *d, struct cache_writer *other,
		 struct cache_entry **ret, struct err *e) must_check;
/* Return the bytes that it has, and the object they are of; valid until the next call that changes it. */
const struct spans *cache_spans(const struct cache_entry *en);
const struct cache_origin *cache_origin_of(const struct cache_entry *en);
/* Note which object the bytes are of. If that cannot be written down, a restart downloads them
 * again. */
void cache_set_origin(struct cache_entry *en, const struct cache_origin *origin);
/* Fails if the disk has no room for the missing bytes. */
int cache_check_room(const struct cache_entry *en, struct err *e) must_check;
/* Returns whether an object of unknown length takes so much that the disk has too little left for others; then
 * *ret_free is what is left. A body without an end must not take all of it. */
bool cache_is_greedy(const struct cache_entry *en, uint64_t *ret_free);
/* As cache_check_room, and reserve some: only a write shows how much a quota leaves. */
int cache_try_room(struct cache_entry *en, struct err *e) must_check;
/* Store bytes from `at` on; those that are there already are left as they are. Bytes that a full disk took are
 * there. */
int cache_write_at(struct cache_entry *en, uint64_t at, const void *p, size_t n,
		   struct err *e) must_check;
/* Read up to n of the bytes behind cache_followed into p and hash them, all of which must be there.
 * *ret is them and where they lie, until the entry ends. */
int cache_follow(struct cache_entry *en, void *p, size_t n, struct extract_piece *ret,
		 struct err *e) must_check;
uint64_t cache_followed(const struct cache_entry *en);
/* Drop the bytes and go on with none. */
int cache_restart(struct cache_entry *en, struct err *e) must_check;
/* Leave it for the next cache_resume; frees en. NULL is fine. */
void cache_suspend(struct cache_entry *en);
