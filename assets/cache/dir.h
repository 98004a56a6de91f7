/* dir.h - the directory under a cache: names, locks, records, temporary files
 * A reader takes no lock. A process that makes or removes a name in tmp/, or removes an entry, has a flock on
 * DIR for that moment. The maker of a temporary file has a flock on it as long as it lives. So what
 * another process can lock in tmp/ was left by a crash, and is removed.
 * Bodies: give.c.
 * Owner: the caller's fds. Errors: SYSTEM. Threads: all functions; processes too.
 * Tests: test_cache.c, test_give.c. */
#pragma once

#include <pthread.h>
#include "assets/cache/cache.h"

enum { CACHE_NAME_MAX = 160, CACHE_RECORD_MAX = 160 };

struct cache {
	int dir_fd; /* -1: read-only and absent, an empty cache */
	bool writable;
	bool doubted;      /* others could write to it (cache.c); read-only: no record counts */
	bool lacks_folder; /* one of its own was not there when it was opened */
	char *dir;         /* as the node sees it */
	char *remark;      /* its fault when it was opened; NULL none */
	bool names_wait;   /* atomic, for cache_settle: folders have names that were not flushed */
	pthread_mutex_t lock; /* of fates */
	struct cache_fates *fates;
};

/* "sha256/<hex>", and "<folder>/sha256-<hex>". */
const char *cache_entry_name(const struct digest *d, char out[static CACHE_NAME_MAX]);
const char *cache_side_name(const char *folder, const struct digest *d,
			    char out[static CACHE_NAME_MAX]);

/* Names the record of what an archive has: "verified/<algo>-<hex>.members". */
const char *cache_members_name(const struct digest *d, char out[static CACHE_NAME_MAX]);

/* Hold the cache's lock, shared or exclusive, until the fd is closed; -1 where locks are unsupported. */
int cache_lock(const struct cache *c, bool exclusive);
/* Make and lock a file in tmp/. */
int cache_make_tmp(struct cache *c, char ret_name[static CACHE_NAME_MAX], int *ret_fd,
		   struct err *e) must_check;
/* Lock a file, exclusively, without waiting. 0 or < 0. */
int cache_try_lock(int fd);
/* Give a file of tmp/ its name, whatever has that now. 0 or -errno, and errno. */
int cache_take_name(const struct cache *c, const char *tmp, const char *name);
/* Notes that a folder has a new name: cache_settle makes it durable. If that cannot, it is made so now. */
int cache_note_name(struct cache *c, const char *folder, struct err *e) must_check;
/* Write a small file in tmp/ and give it its name; a reader sees all of it or what was there before. It stays
 * open as *ret_fd, which may be NULL. 0 or -errno. */
int cache_put(struct cache *c, const char *name, const char *text, size_t n, int *ret_fd);
/* Read a record of at most b->max bytes; false: there is none that can be read, or that counts. */
bool cache_read(const struct cache *c, const char *name, struct buf *b);
/* The next line of a record, without its end, into out; *p goes behind it. False: there is none, or it is too long. */
bool cache_take_line(const char **p, char *out, size_t size);
/* Lists the digests in a folder's names: those of entries ("sha256"), or dashed those beside them ("lent"). Returns
 * how many; a folder that cannot be listed has none. */
size_t cache_digests_in(const struct cache *c, struct arena *a, const char *folder, bool dashed,
			struct digest **ret);
/* Remove what crashed makers left in tmp/, and what of partial/ and wrong/ was not written to for a week. */
void cache_clean_tmp(struct cache *c);

/* Returns whether only root and this process's own user can have written to it. */
bool cache_is_closed(const struct stat *st);
/* Returns whether a read failed because the disk's content is damaged. */
bool cache_is_damage(int errnum);
/* Note that the entry with this stat has been verified and is durable. */
void cache_record(struct cache *c, const struct digest *d, const struct stat *st);
/* Returns whether the entry with this stat is the one that was noted, and no other user can have written to it. */
bool cache_is_recorded(const struct cache *c, const struct digest *d, const struct stat *st);

/* The fate of an entry in this process, for cache_give_away: only what was not here before, and nobody else asks for, is given. */
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
/* The entry goes, with its record. */
void cache_drop(struct cache *c, const struct digest *d);
