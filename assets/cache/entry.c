#include "assets/cache/entry.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/map.h"
#include "assets/cache/mismatch.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"
#include "nodeup/base/walk.h"

enum {
	WRITE_BEHIND = 8 * 1024 * 1024,
	COPY_CHUNK = 256 * 1024,
	TRIES = 4,
	ROOM_KNOWN = 256 * 1024,
	ROOM_UNKNOWN = 4096,
	RESERVE_LEAST = 64 * 1024 * 1024,
	RESERVE_PART = 20, /* a 20th part of the whole file system */
};

struct cache_entry {
	struct cache *cache;
	struct digest want;
	struct digest_ctx *sum;
	char tmp[CACHE_NAME_MAX]; /* name of the file until it gets its final name; then "" */
	int fd;
	struct cache_origin origin;
	struct cache_map map;
	struct spans have;
	uint64_t followed, behind; /* bytes hashed, and bytes of these handed to the disk */
	bool lost; /* the part's fsync failed: bytes that read right may be missing on the disk */
};

static const struct cache_origin no_origin = { .total = -1 };

static struct cache_entry *new_entry(struct cache *c, const struct digest *d, const char *name,
				     int fd)
{
	struct cache_entry *en = xcalloc(1, sizeof(*en));

	en->cache = c;
	en->want = *d;
	en->sum = digest_new(d->algo);
	en->fd = fd;
	en->origin = no_origin;
	en->map.fd = -1;
	(void)print_to(en->tmp, sizeof(en->tmp), "%s", name);
	return en;
}

int cache_begin(struct cache *c, const struct digest *d, struct cache_entry **ret, struct err *e)
{
	char tmp[CACHE_NAME_MAX];
	int fd, r;

	if (!c->writable)
		return err_fail(e, ERR_SYSTEM, EROFS, "the cache '%s' is open for reading only",
				c->dir);
	r = cache_make_tmp(c, tmp, &fd, e);
	if (r < 0)
		return r;
	*ret = new_entry(c, d, tmp, fd);
	return 0;
}

/* Reads the process id out of a line like "1: FLOCK  ADVISORY  WRITE 1234 08:01:131 0 EOF". Compares only the inode,
 * as some file systems report another device here. Returns 0 if the line is about another file. */
static int pid_of_line(char *line, uint64_t ino)
{
	char *words[8] = { 0 }, *rest = line, *end;
	size_t n = 0;

	while (n < ARRAY_LEN(words) && (words[n] = strtok_r(n ? NULL : line, " ", &rest)))
		n++;
	if (n < 6 || !str_eq(words[1], "FLOCK") || !str_eq(words[3], "WRITE"))
		return 0;
	end = strrchr(words[5], ':');
	return end && strtoull(end + 1, NULL, 10) == ino ? (int)strtol(words[4], NULL, 10) : 0;
}

static int find_lock_holder(uint64_t ino)
{
	autofile FILE *f = fopen("/proc/locks", "re");
	char line[256];
	int pid = 0;

	while (f && pid <= 0 && fgets(line, sizeof(line), f))
		pid = pid_of_line(line, ino);
	return pid > 0 ? pid : 0;
}

static void find_program(struct cache_writer *w)
{
	autofree char *path = xasprintf("/proc/%d/comm", w->pid);
	autofile FILE *f = fopen(path, "re");

	if (!f || !fgets(w->name, sizeof(w->name), f))
		w->name[0] = '\0';
	w->name[strcspn(w->name, "\n")] = '\0';
}

/* Finds the process that holds this file's lock. Source: proc_locks(5). */
static struct cache_writer writer_of(int fd)
{
	struct cache_writer w = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return w;
	w.bytes = (int64_t)st.st_blocks * 512;
	if (w.bytes > st.st_size)
		w.bytes = st.st_size;
	w.pid = find_lock_holder(st.st_ino);
	if (w.pid)
		find_program(&w);
	return w;
}

/* Returns whether the opened and locked file still has this name, and no other. */
static bool is_ours(const struct cache *c, const char *name, int fd)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_nlink == 1 &&
	       cache_is_closed(&opened) &&
	       fstatat(c->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

/* Asks for the entry that another process makes of this file: while the descriptor is open, that process does not
 * give the entry away. */
static int keep_asking(int *fd)
{
	(void)cache_ask(*fd);
	return TAKE_FD(*fd);
}

/* Opens and locks the partial file of this name. -EWOULDBLOCK: another process has locked the file; another value <
 * 0: the file cannot be opened. */
static int open_partial(struct cache *c, const char *name, struct cache_writer *other)
{
	for (int i = 0; i < TRIES; i++) {
		autoclose int fd = openat(c->dir_fd, name,
					  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
					  0600);

		int locked = fd >= 0 ? cache_try_lock(fd) : 0;

		if (locked == -EWOULDBLOCK && other) {
			*other = writer_of(fd);
			other->asks = keep_asking(&fd);
		}
		if (locked < 0)
			return locked;
		if (fd >= 0 && is_ours(c, name, fd))
			return TAKE_FD(fd);
		/* the file was published or removed between opening and locking; or it is a link, which nodeup never
		 * makes here */
		if (fd < 0 && errno != ELOOP && errno != EISDIR && errno != ENXIO)
			return -errno;
		if (fd < 0 && walk_remove(c->dir_fd, name) < 0)
			return -EIO;
	}
	return -EBUSY;
}

int cache_resume(struct cache *c, const struct digest *d, struct cache_writer *other,
		 struct cache_entry **ret, struct err *e)
{
	char name[CACHE_NAME_MAX];
	struct cache_entry *en;
	int fd, r = 0;

	cache_side_name("partial", d, name);
	fd = c->writable ? open_partial(c, name, other) : -EROFS;
	if (fd == -EWOULDBLOCK && other)
		return err_fail(e, ERR_BUSY, EBUSY, "another process writes '%s/%s'", c->dir, name);
	if (fd < 0)
		return cache_begin(c, d, ret, e);
	en = new_entry(c, d, name, fd);
	(void)cache_map_name(d, en->map.name);
	if (cache_map_load(c, &en->map, fd, &en->origin, &en->have))
		cache_map_save(c, &en->map, &en->origin);
	else
		r = cache_restart(en, e);
	if (r < 0) {
		cache_abort(en);
		return r;
	}
	*ret = en;
	return 0;
}

const struct spans *cache_spans(const struct cache_entry *en)
{
	return &en->have;
}

const struct cache_origin *cache_origin_of(const struct cache_entry *en)
{
	return &en->origin;
}

void cache_set_origin(struct cache_entry *en, const struct cache_origin *origin)
{
	if (en->map.fd >= 0 && memcmp(&en->origin, origin, sizeof(*origin)) == 0)
		return;
	en->origin = *origin;
	cache_map_save(en->cache, &en->map, origin);
}

int cache_restart(struct cache_entry *en, struct err *e)
{
	struct stat st;

	cache_map_clear(en->cache, &en->map);
	/* empties only a file with bytes: closing an emptied file waits until its new bytes are on the disk */
	if (fstat(en->fd, &st) < 0 || (st.st_size > 0 && ftruncate(en->fd, 0) < 0))
		return err_sys(e, "empty '%s/%s'", en->cache->dir, en->tmp);
	spans_done(&en->have);
	digest_free(en->sum);
	en->sum = digest_new(en->want.algo);
	en->followed = en->behind = 0;
	en->origin = no_origin;
	return 0;
}

/* Returns the bytes for which the disk has set room aside, whether they are written or not. */
static uint64_t placed_bytes(const struct cache_entry *en)
{
	struct stat st;
	uint64_t bytes = fstat(en->fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;

	if (bytes > (uint64_t)en->origin.total)
		bytes = (uint64_t)en->origin.total;
	return bytes > en->have.sum ? bytes : en->have.sum;
}

int cache_check_room(const struct cache_entry *en, struct err *e)
{
	struct statvfs fs;
	uint64_t wanted;

	if (en->origin.total < 0 || fstatvfs(en->fd, &fs) < 0)
		return 0;
	wanted = (uint64_t)en->origin.total - placed_bytes(en);
	if ((uint64_t)fs.f_bavail * fs.f_frsize >= wanted)
		return 0;
	errno = ENOSPC;
	(void)io_write_failed(en->fd, en->tmp, wanted, e);
	return err_wrap(e, "asset cache '%s'", en->cache->dir);
}

bool cache_is_greedy(const struct cache_entry *en, uint64_t *ret_free)
{
	uint64_t reserve;
	struct statvfs fs;

	/* a small asset may take the last room of a disk; if the disk is full, the asset's write fails */
	if (en->origin.total >= 0 || en->have.sum < RESERVE_LEAST || fstatvfs(en->fd, &fs) < 0)
		return false;
	reserve = (uint64_t)fs.f_blocks * fs.f_frsize / RESERVE_PART;
	if (reserve < RESERVE_LEAST)
		reserve = RESERVE_LEAST;
	*ret_free = (uint64_t)fs.f_bavail * fs.f_frsize;
	return *ret_free < reserve;
}

static int write_failed(const struct cache_entry *en, uint64_t n, struct err *e)
{
	uint64_t total = en->origin.total < 0 ? 0 : (uint64_t)en->origin.total;

	(void)io_write_failed(en->fd, en->tmp, total > en->have.sum ? total - en->have.sum : n, e);
	return err_wrap(e, "asset cache '%s'", en->cache->dir);
}

int cache_try_room(struct cache_entry *en, struct err *e)
{
	const uint64_t at = spans_missing(&en->have, 0), gap = spans_present(&en->have, at) - at;
	uint64_t n = en->origin.total < 0 ? ROOM_UNKNOWN : ROOM_KNOWN;
	int r = cache_check_room(en, e);

	if (r < 0)
		return r;
	if (n > gap)
		n = gap;
	if (en->origin.total >= 0 && n > (uint64_t)en->origin.total - at)
		n = (uint64_t)en->origin.total - at;
	if (n == 0 || fallocate(en->fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n) == 0 ||
	    !io_is_full(errno))
		return 0;
	return write_failed(en, n, e);
}

int cache_write_at(struct cache_entry *en, uint64_t at, const void *p, size_t n, struct err *e)
{
	const uint64_t begin = at, end = at + n;

	/* bytes that were read back and hashed must never change again */
	for (at = spans_missing(&en->have, at); at < end; at = spans_missing(&en->have, at)) {
		uint64_t stop = spans_present(&en->have, at);
		off_t done = (off_t)at;
		size_t run;
		int r = cache_map_run(&en->map, at, &run);

		if (r < 0) {
			errno = -r;
			return write_failed(en, end - at, e);
		}
		if (stop > end)
			stop = end;
		r = io_write_at(en->fd, (const char *)p + (at - begin), stop - at, &done);
		if (r < 0)
			(void)write_failed(en, stop - (uint64_t)done, e);
		cache_map_grow(&en->map, run, (uint64_t)done);
		spans_add(&en->have, at, (uint64_t)done);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Begins to write early, so that the final fsync has little to wait for. */
static void write_behind(struct cache_entry *en)
{
	if (en->followed - en->behind < WRITE_BEHIND)
		return;
	(void)sync_file_range(en->fd, (off_t)en->behind, (off_t)(en->followed - en->behind),
			      SYNC_FILE_RANGE_WRITE);
	en->behind = en->followed;
}

static void take_in(struct cache_entry *en, const void *p, size_t n)
{
	digest_update(en->sum, p, n);
	en->followed += n;
	write_behind(en);
}

int cache_write(struct cache_entry *en, const void *p, size_t n, struct err *e)
{
	int r = cache_write_at(en, en->followed, p, n, e);

	if (r >= 0)
		take_in(en, p, n);
	return r;
}

uint64_t cache_followed(const struct cache_entry *en)
{
	return en->followed;
}

int cache_follow(struct cache_entry *en, void *p, size_t n, struct extract_piece *ret,
		 struct err *e)
{
	ssize_t got;

	do
		got = pread(en->fd, p, n, (off_t)en->followed);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		errno = EIO; /* bytes that were stored are missing from the file */
	if (got <= 0)
		return err_sys(e, "read '%s/%s'", en->cache->dir, en->tmp);
	*ret = (struct extract_piece){ p, (size_t)got, en->fd, (off_t)en->followed };
	take_in(en, p, (size_t)got);
	return 0;
}

static int fail_mismatch(const struct cache_entry *en, const struct digest *got, struct err *e)
{
	char want_hex[DIGEST_TEXT_MAX], got_hex[DIGEST_TEXT_MAX];
	const char *algo = digest_algo_name(en->want.algo);
	int r = err_fail(e, ERR_INTEGRITY, EBADMSG, "wrong content: its %s is not the wanted one",
			 algo);

	err_note(e, "want", "%s %s", algo, digest_hex(&en->want, want_hex));
	err_note(e, "got", "%s %s", algo, digest_hex(got, got_hex));
	err_note(e, "size", "%llu bytes", (unsigned long long)en->followed);
	return r;
}

static int take_name(struct cache_entry *en, struct err *e)
{
	struct cache *c = en->cache;
	autoclose int lock = cache_lock(c, false);
	char name[CACHE_NAME_MAX];

	cache_entry_name(&en->want, name);
	if (cache_take_name(c, en->tmp, name) < 0)
		return err_sys(e, "rename into '%s/%s'", c->dir, name);
	return 0;
}

static int publish_entry(struct cache_entry *en, struct err *e)
{
	struct cache *c = en->cache;
	char other[CACHE_NAME_MAX];
	struct stat st;
	int r;

	/* cuts off bytes that were not hashed */
	if (ftruncate(en->fd, (off_t)en->followed) < 0 || fchmod(en->fd, 0444) < 0)
		return err_sys(e, "end '%s/%s'", c->dir, en->tmp);
	en->lost = fsync(en->fd) < 0;
	if (en->lost)
		return err_sys(e, "sync '%s/%s'", c->dir, en->tmp);
	r = take_name(en, e);
	if (r < 0)
		return r;
	en->tmp[0] = '\0';
	r = cache_note_name(c, digest_algo_name(en->want.algo), e);
	if (r < 0)
		return r;
	if (fstat(en->fd, &st) == 0)
		cache_record(c, &en->want, &st);
	cache_side_name("damaged", &en->want, other);
	cache_note_fate(c, &en->want,
			faccessat(c->dir_fd, other, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? CACHE_KEPT
										    : CACHE_MADE);
	(void)walk_remove(c->dir_fd, other);
	cache_mismatches_forget(c, &en->want);
	return 0;
}

static void release_entry(struct cache_entry *en, bool keep)
{
	/* closing the descriptor releases the lock */
	if (en->tmp[0] && !keep)
		(void)unlinkat(en->cache->dir_fd, en->tmp, 0);
	if (!keep)
		cache_map_clear(en->cache, &en->map);
	cache_map_done(&en->map);
	(void)close(en->fd);
	spans_done(&en->have);
	digest_free(en->sum);
	free(en);
}

static bool is_kept(const struct cache_entry *en)
{
	return en->tmp[0] && en->map.name[0] && en->have.sum > 0 && !en->lost;
}

int cache_commit(struct cache_entry *en, struct err *e)
{
	struct digest got;
	int r;

	digest_final(en->sum, &got);
	r = digest_eq(&got, &en->want) ? publish_entry(en, e) : fail_mismatch(en, &got, e);
	release_entry(en, r < 0 && is_kept(en) && io_is_full(e->errnum));
	return r;
}

int cache_copy_in(struct cache *c, const struct digest *d, int fd, const char *name, struct err *e)
{
	autofree char *chunk = xrealloc(NULL, COPY_CHUNK);
	struct cache_entry *en;
	ssize_t n = 0;
	int r = cache_begin(c, d, &en, e);

	if (r < 0)
		return r;
	while (r >= 0 && (n = read(fd, chunk, COPY_CHUNK)) > 0)
		r = cache_write(en, chunk, (size_t)n, e);
	if (r >= 0 && n < 0)
		r = err_sys(e, "read '%s'", name);
	if (r >= 0)
		return cache_commit(en, e);
	cache_abort(en);
	return r;
}

void cache_abort(struct cache_entry *en)
{
	if (en)
		release_entry(en, false);
}

void cache_suspend(struct cache_entry *en)
{
	if (en)
		release_entry(en, is_kept(en));
}
