/* entry.h - entries being written, which survive a dropped connection, a kill, a reboot
 * DIR/partial/<algo>-<hex> keeps the bytes that arrived, in any order. DIR/partial/<algo>-<hex>.from (map.h) says
 * which bytes of which object they are. Neither file is trusted: the bytes are read back in order and hashed, and
 * the final hash decides. Wrongly joined bytes are dropped. A stored byte is never written again. The writer holds a
 * flock on the file. A second process gets an error, or a file of its own in tmp/. Such a file is not kept, nor is
 * the file of cache_begin.
 * Owner: the caller frees the entry by cache_commit, cache_abort or cache_suspend. Errors: SYSTEM; ENOSPC and EDQUOT
 * say how much is needed and free. Units: bytes. Threads: one thread at a time uses an entry; a second one may call
 * cache_follow for bytes that are stored already.
 * Tests: test_cache.c. */
#pragma once

#include "assets/cache/cache.h"
#include "assets/cache/spans.h"
#include "assets/unpack/extract.h"
#include "assets/url.h"

enum { CACHE_ETAG_MAX = 256, CACHE_MODIFIED_MAX = 64, CACHE_MARKS = 4 };

/* A mirror's identification of the object; "" if the mirror gave none. */
struct cache_mark {
	char url[URL_PUBLIC_MAX], etag[CACHE_ETAG_MAX], modified[CACHE_MODIFIED_MAX];
};

/* The object that the bytes belong to. */
struct cache_origin {
	int64_t total;                        /* -1 unknown */
	struct cache_mark marks[CACHE_MARKS]; /* a mark that is not used has url "" */
};

/* The process that writes an entry's part, found by its lock. Unknown members stay empty. */
struct cache_writer {
	int pid;       /* 0 unknown, for instance in another PID namespace */
	char name[32]; /* name of the process's program; "" unknown */
	int64_t bytes; /* bytes written or reserved */
	int asks; /* descriptor that the caller must close; while it is open, the process does not give the entry
		   * away */
};

/* Makes an entry of an open file (`name` is for messages). Hashes the bytes on the way; wrong bytes never become an
 * entry (INTEGRITY). */
int cache_copy_in(struct cache *c, const struct digest *d, int fd, const char *name,
		  struct err *e) must_check;
/* Begins an entry with the bytes that earlier tries left. If another process writes the entry: -EBUSY, and `other`
 * names that process. If `other` is NULL, begins a separate entry instead, which is not kept. */
int cache_resume(struct cache *c, const struct digest *d, struct cache_writer *other,
		 struct cache_entry **ret, struct err *e) must_check;
/* Return the entry's bytes, and the object that they belong to. The results stay valid until the next call that
 * changes the entry. */
const struct spans *cache_spans(const struct cache_entry *en);
const struct cache_origin *cache_origin_of(const struct cache_entry *en);
/* Notes the object that the bytes belong to. If the note cannot be written, a restart downloads the bytes again. */
void cache_set_origin(struct cache_entry *en, const struct cache_origin *origin);
/* Fails if the disk has no room for the missing bytes. */
int cache_check_room(const struct cache_entry *en, struct err *e) must_check;
/* Returns whether an object of unknown length would leave other programs too little room on the disk (*ret_free: the
 * free bytes). A body without an end must not fill the disk. */
bool cache_is_greedy(const struct cache_entry *en, uint64_t *ret_free);
/* Checks as cache_check_room does, then reserves some room: only a write shows how much room a quota leaves. */
int cache_try_room(struct cache_entry *en, struct err *e) must_check;
/* Stores bytes from `at` on, except those that are stored already. Bytes written before the disk was full stay. */
int cache_write_at(struct cache_entry *en, uint64_t at, const void *p, size_t n,
		   struct err *e) must_check;
/* Reads up to n stored bytes into p, from where the last call stopped, and hashes them. All bytes that it reads must
 * be stored. *ret, which has the bytes and their place, is valid as long as the entry. */
int cache_follow(struct cache_entry *en, void *p, size_t n, struct extract_piece *ret,
		 struct err *e) must_check;
uint64_t cache_followed(const struct cache_entry *en);
/* Drops all bytes and begins anew. */
int cache_restart(struct cache_entry *en, struct err *e) must_check;
/* Leaves the entry's bytes for the next cache_resume; frees en. NULL is fine. */
void cache_suspend(struct cache_entry *en);
