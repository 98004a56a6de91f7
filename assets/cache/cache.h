/* cache.h - content-addressed store of verified bytes: DIR/<algo>/<hex>
 * An entry is visible under its name iff its bytes matched it: files are written to DIR/tmp/, hashed
 * on the way, fsync'ed, renamed. A record DIR/verified/<algo>-<hex> holds the entry's stamp and is
 * written after the fsync; an entry without a matching record is hashed again before it is used.
 * Unpacked archives live in DIR/unpacked/<algo>-<hex>/, published by rename of a whole tree.
 * Bodies: entry.c, tree.c, unpack.c.
 * Owner: returned fds are the caller's. Errors: SYSTEM, INTEGRITY. Units: bytes.
 * Threads: all functions; processes may share it. Source: kops assetstore, apk cache. */
#pragma once

#include "assets/asset.h"
#include "nodeup/base/io.h"

struct cache;

/* Open (when create: make) the store in directory `dir` below root_fd. A read-only cache that does
 * not exist is an empty one. */
int cache_new(int root_fd, const char *dir, bool create, struct cache **ret,
	      struct err *e) must_check;
/* The same for a directory that is nodeup's by its name: one that other users can write to is closed to
 * them, and what is noted of it not believed. cache_new refuses such a one (CONFIG). */
int cache_new_own(int root_fd, const char *dir, bool create, struct cache **ret,
		  struct err *e) must_check;
/* What was wrong with it when it was opened, for the report; NULL nothing. */
const char *cache_remark(const struct cache *c);
/* Release; NULL is fine. */
void cache_free(struct cache *c);

/* Open a verified entry read-only. -ENOENT if absent. An entry without a valid record is hashed; one
 * that is wrong, or cannot be read any more, is removed (never by a cache opened read-only) and reported
 * as absent, with a text that says so. */
int cache_open(struct cache *c, const struct digest *d, int *ret_fd, struct err *e) must_check;
/* As cache_open, for callers that need no descriptor: 0, or < 0; then *ret_damaged says whether there
 * was one that is wrong or unreadable, and *e what became of it: it is moved aside, not removed. */
int cache_look(struct cache *c, const struct digest *d, bool *ret_damaged,
	       struct err *e) must_check;
/* Whether a verified entry is there, by record alone: nothing is read but its metadata. */
bool cache_has(struct cache *c, const struct digest *d);
/* Whether there is an entry without a record, which cache_open takes its time for; *ret_bytes of it. */
bool cache_must_hash(struct cache *c, const struct digest *d, uint64_t *ret_bytes);

/* A new entry being written. */
struct cache_entry;
/* Begin an entry; cache_write adds to its end and hashes. */
int cache_begin(struct cache *c, const struct digest *d, struct cache_entry **ret,
		struct err *e) must_check;
int cache_write(struct cache_entry *en, const void *p, size_t n, struct err *e) must_check;
/* Compare, fsync, publish, record. On a mismatch INTEGRITY with notes want/got/size; the bytes are
 * gone, as they are on any other failure but a full disk. Frees en in every case. */
int cache_commit(struct cache_entry *en, struct err *e) must_check;
/* Drop it; NULL is fine. */
void cache_abort(struct cache_entry *en);

/* Path (below root) of the unpacked tree of an archive, published or not. */
const char *cache_unpacked_path(struct cache *c, struct arena *a, const struct digest *d);
/* Whether the tree is there, and was not changed since it was published or found right. */
bool cache_has_tree(struct cache *c, const struct digest *d);
/* Say of a tree that it was looked at and is wrong, in a cache open for reading only: it is as good as
 * absent. Before others ask for it. */
void cache_distrust_tree(struct cache *c, const struct digest *d);
/* Unpack the verified entry into staging and publish the tree; nothing to do if it is there. One that is
 * there without being known is compared with its archive first, and dropped when it is another. */
int cache_unpack(struct cache *c, const struct asset *as, struct err *e) must_check;
