/* cache.h - content-addressed store of verified bytes: DIR/<algo>/<hex>
 * An entry gets its name only if its bytes match the hash: files are written to DIR/tmp/, hashed on the way,
 * fsync'ed, renamed. A record DIR/verified/<algo>-<hex> holds the entry's stamp and is written after the fsync; an
 * entry without a matching record is hashed again before it is used.
 * Bodies: entry.c, gc.c, give.c, older.c, verify.c.
 * Owner: returned fds are the caller's. Errors: SYSTEM, INTEGRITY. Units: bytes.
 * Threads: all functions; processes may share a cache. Source: kops assetstore, apk cache.
 * Tests: test_cache.c, test_older.c, test_give.c, test_cache_max.py. */
#pragma once

#include "assets/asset.h"
#include "nodeup/base/io.h"

struct cache;

/* Opens the cache in directory `dir` below root_fd; with `create`, makes the directory if needed. Without `create`,
 * the cache is read-only, and a missing directory counts as an empty cache. */
int cache_new(int root_fd, const char *dir, bool create, struct cache **ret,
	      struct err *e) must_check;
/* Opens the default directory, which belongs to nodeup. If other users can write to it, closes it to them and drops
 * its records; cache_new refuses such a directory (CONFIG). */
int cache_new_own(int root_fd, const char *dir, bool create, struct cache **ret,
		  struct err *e) must_check;
/* Returns the fault that the cache had when it was opened, for the report; NULL: none. */
const char *cache_remark(const struct cache *c);
/* Makes the new names of entries and folders durable, by one flush. SYSTEM if the flush fails. */
int cache_settle(struct cache *c, struct err *e) must_check;
/* Settles and releases the cache; NULL is fine. */
void cache_free(struct cache *c);

/* Takes over the files that kops cached here, unless the cache has them already; returns their number. kops 1.8
 * names them DIR/<algo>:<hex>_<URL with odd characters made '_'>. Such a file becomes an entry by rename. The entry
 * has no record, so it is hashed before it is used. Source: kops 1.8.1 upup/pkg/fi/assetstore.go,
 * upup/pkg/fi/http.go. */
size_t cache_adopt_kops(struct cache *c);
/* Takes over leftovers of earlier versions: archives in a cache in memory (spool_dir, below root_fd; NULL: there was
 * no such cache), and entries that share their bytes with installed files. Removes unpacked archives. */
void cache_adopt_older(struct cache *c, int root_fd, const char *spool_dir);

/* Number of bytes of an entry that are read to judge it. */
enum cache_effort {
	CACHE_BY_RECORD, /* none: only metadata counts */
	CACHE_BY_NEED, /* all, if the entry has no valid record; a right entry then gets a record */
	CACHE_BY_BYTES, /* all bytes, even with a valid record: the disk may have damaged them since */
};

enum cache_state {
	CACHE_RIGHT,
	CACHE_ABSENT,
	CACHE_UNREAD,  /* only with CACHE_BY_RECORD: the entry has no valid record */
	CACHE_DAMAGED, /* the entry is wrong or cannot be read, and counts as absent */
	CACHE_FAILED,  /* the entry's state cannot be found out */
};

struct cache_answer {
	enum cache_state state;
	uint64_t bytes; /* bytes of the entry; only with CACHE_BY_RECORD */
};

/* Judges an entry. If effort is not CACHE_BY_RECORD, *e says what is wrong with the entry, and a damaged entry is
 * moved to DIR/damaged/<algo>-<hex>. The damaged entry may be the only copy, so it stays there until the cache has a
 * right entry again; until then CACHE_BY_BYTES reports it each time. A read-only cache is not changed. */
struct cache_answer cache_inspect(struct cache *c, const struct digest *d, enum cache_effort effort,
				  struct err *e);
/* Lists the cache's entries. unread_alone: lists only entries without a valid record, which are hashed when they are
 * used. */
size_t cache_list(const struct cache *c, struct arena *a, bool unread_alone, struct digest **ret);
/* Returns whether a verified entry exists, according to its record. */
bool cache_has(const struct cache *c, const struct digest *d);
/* Opens an entry read-only, after CACHE_BY_NEED. -ENOENT: the entry is absent or damaged (the text says so); a
 * damaged entry is removed, unless the cache is read-only. BUSY: a process is giving the entry away. While the entry
 * is open, no process gives it away. */
int cache_open(struct cache *c, const struct digest *d, int *ret_fd, struct err *e) must_check;
/* Moves the entry itself to the place of an empty staging file, and gives it that file's label. Until the stage gets
 * its name, the entry stays in the cache, locked. False if the cache had the entry before this run, if another
 * process uses it, or if a rename cannot reach the place: then the caller must copy it. */
bool cache_give_away(struct cache *c, const struct digest *d, struct io_stage *s);
/* Removes an entry that was copied only because a rename cannot reach another file system. An entry that stays for
 * another reason is not removed. */
void cache_let_go(struct cache *c, const struct digest *d);
/* Checks the entry of an asset whose use failed with *e, as the disk may have damaged the entry. If the entry is
 * damaged, removes it, says so in *e, and returns true. */
bool cache_heal(struct cache *c, const struct asset *as, struct err *e);

/* Returns true if the asset needs no signature, or if a record says that all signatures of it and its twins were
 * right. */
bool cache_is_signed(const struct cache *c, const struct asset *as);
/* Reads the entry, checks the signatures of the asset and its twins, and records that all signatures are right. */
int cache_check_signature(struct cache *c, const struct asset *as, struct err *e) must_check;

/* Marks these entries as about to be used: no process trims them for an hour. The mtime of an entry's record shows
 * its last use; the mtime is renewed at most once in half an hour. */
void cache_note_use(struct cache *c, const struct digest *used, size_t n);
/* Renews the entries in `keep`. While the cache uses more than max bytes of the disk, removes other entries, the
 * least recently used first. Returns how many entries went. Unfinished downloads are removed like entries unless a
 * process writes them. Files in tmp/ count toward max, but only their maker removes them. Threads: one. */
size_t cache_trim(struct cache *c, const struct digest *keep, size_t n_keep, uint64_t max);

/* A new entry that is being written. */
struct cache_entry;
/* Begins an entry. cache_write appends bytes and hashes them. */
int cache_begin(struct cache *c, const struct digest *d, struct cache_entry **ret,
		struct err *e) must_check;
int cache_write(struct cache_entry *en, const void *p, size_t n, struct err *e) must_check;
/* Compares the hash, then flushes, names and records the entry. On a mismatch fails with INTEGRITY and the notes
 * want/got/size. Removes the bytes after every failure except a full disk. Always frees en. */
int cache_commit(struct cache_entry *en, struct err *e) must_check;
/* Drops the entry; NULL is fine. */
void cache_abort(struct cache_entry *en);
