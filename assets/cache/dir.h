/* dir.h - the directory under a cache: names, locks, records, temporary files
 * A reader takes no lock. A process that makes or removes a name in tmp/, or removes an entry, has a flock on DIR
 * for that moment. The maker of a temporary file has a flock on it as long as it lives. So if a file in tmp/ can be
 * locked, a crash has left it, and it is removed.
 * Bodies: give.c.
 * Owner: the caller's fds. Errors: SYSTEM. Threads: all functions; processes too.
 * Tests: test_cache.c, test_give.c. */
#pragma once

#include <pthread.h>
#include "assets/cache/cache.h"

enum { CACHE_NAME_MAX = 160, CACHE_RECORD_MAX = 160 };

struct cache {
	int dir_fd; /* -1: the directory is missing, and the read-only cache counts as empty */
	bool writable;
	bool doubted; /* other users could write to the cache (see cache.c); if the cache is read-only, no record
		       * counts then */
	bool lacks_folder;    /* a folder was missing when the cache was opened */
	char *dir;            /* the directory's path as the node sees it */
	char *remark;         /* the cache's fault when it was opened; NULL: none */
	bool names_wait;      /* atomic: folders have new names that cache_settle must flush */
	pthread_mutex_t lock; /* guards `fates` */
	struct cache_fates *fates;
};

/* Name an entry ("sha256/<hex>"), and its file in another folder ("<folder>/sha256-<hex>"). */
const char *cache_entry_name(const struct digest *d, char out[static CACHE_NAME_MAX]);
const char *cache_side_name(const char *folder, const struct digest *d,
			    char out[static CACHE_NAME_MAX]);

/* Names the record of an archive's members: "verified/<algo>-<hex>.members". */
const char *cache_members_name(const struct digest *d, char out[static CACHE_NAME_MAX]);

/* Takes the cache's lock, shared or exclusive, until the fd is closed. -1: the file system has no locks. */
int cache_lock(const struct cache *c, bool exclusive);
/* Makes and locks a file in tmp/. */
int cache_make_tmp(struct cache *c, char ret_name[static CACHE_NAME_MAX], int *ret_fd,
		   struct err *e) must_check;
/* Locks a file exclusively, without waiting. Returns 0, or < 0 if it cannot be locked. */
int cache_try_lock(int fd);
/* Renames a file of tmp/; replaces a file that has the name. Returns 0 or -errno, and sets errno. */
int cache_take_name(const struct cache *c, const char *tmp, const char *name);
/* Notes a folder's new name, which cache_settle makes durable. If cache_settle cannot do that, flushes the name now. */
int cache_note_name(struct cache *c, const char *folder, struct err *e) must_check;
/* Writes a small file in tmp/ and renames it: readers see either the old file or all of the new file. The new file
 * stays open as *ret_fd, if ret_fd is not NULL. Returns 0 or -errno. */
int cache_put(struct cache *c, const char *name, const char *text, size_t n, int *ret_fd);
/* Reads a record of at most b->max bytes; false: the record cannot be read, or records do not count. */
bool cache_read(const struct cache *c, const char *name, struct buf *b);
/* Copies the next line of a record to out, without its end, and moves *p behind the line. False: there is no line,
 * or the line is too long. */
bool cache_take_line(const char **p, char *out, size_t size);
/* Lists the digests in the names of a folder's files. `dashed` false: the folder has entries, as "sha256" has; true:
 * it has files beside entries, as "lent" has. Returns the number of digests; 0 if the folder cannot be listed. */
size_t cache_digests_in(const struct cache *c, struct arena *a, const char *folder, bool dashed,
			struct digest **ret);
/* Removes leftovers of crashed processes in tmp/, and files of partial/ and wrong/ that were not written to for a
 * week. */
void cache_clean_tmp(struct cache *c);

/* Returns whether only root and this process's user can write to the file with this stat. */
bool cache_is_closed(const struct stat *st);
/* Returns whether a read failed because the disk's content is damaged. */
bool cache_is_damage(int errnum);
/* Records that the entry with this stat is verified and durable. */
void cache_record(struct cache *c, const struct digest *d, const struct stat *st);
/* Returns whether the entry with this stat is the recorded one, and no other user can write to it. */
bool cache_is_recorded(const struct cache *c, const struct digest *d, const struct stat *st);

/* The fate of an entry in this process. cache_give_away gives away only an entry that this process made and that no
 * other process asks for. */
enum cache_fate {
	CACHE_MADE = 1, /* this process made the entry */
	CACHE_KEPT      /* the entry existed before, or another process has asked for it */
};

/* Notes the fate of an entry. CACHE_KEPT never changes again. */
void cache_note_fate(struct cache *c, const struct digest *d, enum cache_fate fate);
/* Releases the notes of fates. */
void cache_fates_free(struct cache *c);
/* Asks that the open entry not be given away while it is open. False: a process is giving it away right now. */
bool cache_ask(int fd);
/* Removes the entry and its record. */
void cache_drop(struct cache *c, const struct digest *d);
