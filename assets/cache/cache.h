/* cache.h - content-addressed store of verified bytes: DIR/<algo>/<hex>
 * An entry is visible under its name iff its bytes matched it: files are written to DIR/tmp/, hashed
 * on the way, fsync'ed, renamed. A record DIR/verified/<algo>-<hex> holds the entry's stamp and is
 * written after the fsync; an entry without a matching record is hashed again before it is used.
 * Bodies: entry.c, gc.c, give.c, older.c, verify.c.
 * Owner: returned fds are the caller's. Errors: SYSTEM, INTEGRITY. Units: bytes.
 * Threads: all functions; processes may share it. Source: kops assetstore, apk cache.
 * Tests: test_cache.c, test_older.c, test_give.c, test_cache_max.py. */
#pragma once

#include "assets/asset.h"
#include "nodeup/base/io.h"

struct cache;

/* Open the cache in directory `dir` below root_fd, and make it with `create`; without, it is
 * open for reading only, and one that does not exist is empty. */
int cache_new(int root_fd, const char *dir, bool create, struct cache **ret,
	      struct err *e) must_check;
/* The same for the default directory, which is nodeup's by its name. If other users can write to
 * it, it is closed to them and its records are forgotten. cache_new refuses such a directory
 * (CONFIG). */
int cache_new_own(int root_fd, const char *dir, bool create, struct cache **ret,
		  struct err *e) must_check;
/* Returns what was wrong with the cache when it was opened, for the report; NULL nothing. */
const char *cache_remark(const struct cache *c);
/* Make the names durable that entries and folders got since the last time, by one flush: SYSTEM. */
int cache_settle(struct cache *c, struct err *e) must_check;
/* Settle and release; NULL is fine. */
void cache_free(struct cache *c);

/* Take over the files of a kops that ran here before, but for what the cache has already; how many. kops 1.8
 * keeps DIR/<algo>:<hex>_<URL with odd characters made '_'>. Such a file becomes the entry of its digest by
 * rename; it has no record, so it is hashed before it is used. Source: kops 1.8.1 upup/pkg/fi/assetstore.go,
 * upup/pkg/fi/http.go. */
size_t cache_adopt_kops(struct cache *c);
/* Take over what earlier versions left: archives that wait in a cache below root_fd, in memory (spool_dir NULL: none do),
 * and entries that share their bytes with installed files. Unpacked archives are removed. */
void cache_adopt_older(struct cache *c, int root_fd, const char *spool_dir);

/* The bytes that are read to tell whether an entry is right. */
enum cache_effort {
	CACHE_BY_RECORD, /* nothing but metadata */
	CACHE_BY_NEED,   /* an entry without a valid record, which gets one */
	CACHE_BY_BYTES, /* all of it, whatever is on record: it may have been damaged on the disk since */
};

enum cache_state {
	CACHE_RIGHT,
	CACHE_ABSENT,
	CACHE_UNREAD,  /* of CACHE_BY_RECORD alone: it is there and has no record that counts */
	CACHE_DAMAGED, /* it is wrong, or cannot be read any more: as good as absent */
	CACHE_FAILED,  /* it cannot be told */
};

struct cache_answer {
	enum cache_state state;
	uint64_t bytes; /* of CACHE_BY_RECORD alone */
};

/* Returns whether there is an entry and whether it is right. Unless the record alone is asked, *e says what is
 * wrong with one that is not, and a damaged one is moved to DIR/damaged/<algo>-<hex>. It may be all that there is,
 * so it stays there until its digest is an entry again, and CACHE_BY_BYTES tells of it again. A cache open for
 * reading only is not changed. */
struct cache_answer cache_inspect(struct cache *c, const struct digest *d, enum cache_effort effort,
				  struct err *e);
/* Its entries; or those alone that have no record that counts, which would be hashed when they are used. */
size_t cache_list(const struct cache *c, struct arena *a, bool unread_alone, struct digest **ret);
/* Returns whether a verified entry is there, by its record. */
bool cache_has(const struct cache *c, const struct digest *d);
/* Open an entry that is right, by need, read-only. -ENOENT if it is absent; if it is damaged, too, with a text
 * that says so, and it is removed (never by a cache opened read-only). BUSY if a process is giving it away. While it is
 * open it is not given away. */
int cache_open(struct cache *c, const struct digest *d, int *ret_fd, struct err *e) must_check;
/* Stage the entry itself in the place of an empty staging file, whose label it gets. It stays in the cache until it is
 * named, and is locked. False: it is to be copied, as the cache had it before, another process has asked for it, or a
 * rename does not get there. */
bool cache_give_away(struct cache *c, const struct digest *d, struct io_stage *s);
/* Remove an entry that was copied to another file system, where cache_give_away would have given it away. */
void cache_let_go(struct cache *c, const struct digest *d);
/* Inspects the entry of an asset whose use has failed with *e, where the disk may not give it back any more. Returns true
 * where it was damaged: it is taken away, and *e says so. */
bool cache_heal(struct cache *c, const struct asset *as, struct err *e);

/* Returns whether the asset needs no signature, or its entry is known to have each that it or a twin names. */
bool cache_is_signed(const struct cache *c, const struct asset *as);
/* Read the entry and check the signatures that the asset and its twins name, and note that all are
 * right. */
int cache_check_signature(struct cache *c, const struct asset *as, struct err *e) must_check;

/* Mark these as about to be used: no process trims them for an hour. The mtime of its record says when an entry was used last; it
 * is renewed at most each half hour. */
void cache_note_use(struct cache *c, const struct digest *used, size_t n);
/* Renew what is kept, remove others, least recently used first, while all of it has more than max bytes on the disk. Returns how
 * many entries went. Unfinished downloads are removed like entries unless a process writes them. Files in tmp/ count, and only
 * their maker removes them. Threads: one. */
size_t cache_trim(struct cache *c, const struct digest *keep, size_t n_keep, uint64_t max);

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
