#include "assets/cache/dir.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "nodeup/base/flush.h"
#include "nodeup/base/print.h"
#include "nodeup/base/walk.h"

enum {
	TRIES = 16,
	STALE_S = 24 * 3600,
	PARTIAL_S = 7 * 24 * 3600,
	WRONG_S = PARTIAL_S,
};

const char *cache_entry_name(const struct digest *d, char out[static CACHE_NAME_MAX])
{
	char hex[DIGEST_TEXT_MAX];

	(void)print_to(out, CACHE_NAME_MAX, "%s/%s", digest_algo_name(d->algo), digest_hex(d, hex));
	return out;
}

const char *cache_side_name(const char *folder, const struct digest *d,
			    char out[static CACHE_NAME_MAX])
{
	char hex[DIGEST_TEXT_MAX];

	(void)print_to(out, CACHE_NAME_MAX, "%s/%s-%s", folder, digest_algo_name(d->algo),
		       digest_hex(d, hex));
	return out;
}

const char *cache_members_name(const struct digest *d, char out[static CACHE_NAME_MAX])
{
	char hex[DIGEST_TEXT_MAX];

	(void)print_to(out, CACHE_NAME_MAX, "verified/%s-%s.members", digest_algo_name(d->algo),
		       digest_hex(d, hex));
	return out;
}

static int lock_fd(int fd, int operation)
{
	int r;

	do
		r = flock(fd, operation);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

int cache_lock(const struct cache *c, bool exclusive)
{
	/* opens the directory anew: two locks do not exclude each other if their descriptors come from one open file */
	int fd = io_open_at(c->dir_fd, ".", O_DIRECTORY);

	if (fd >= 0 && lock_fd(fd, exclusive ? LOCK_EX : LOCK_SH) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Fails because the disk has no room even for a name. The message cannot say how much room is missing. */
static int no_room(const struct cache *c, int errnum, struct err *e)
{
	(void)err_fail(e, ERR_SYSTEM, errnum, "asset cache '%s': make a temporary file: %s", c->dir,
		       strerror(errnum));
	return io_say_room(c->dir_fd, 0, e);
}

int cache_make_tmp(struct cache *c, char ret_name[static CACHE_NAME_MAX], int *ret_fd,
		   struct err *e)
{
	/* holds the cache's lock: otherwise another process could take the new file for a leftover before the file
	 * is locked */
	autoclose int lock = cache_lock(c, false);

	for (int i = 0; i < TRIES; i++) {
		uint64_t id;
		int fd;

		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			break;
		(void)print_to(ret_name, CACHE_NAME_MAX, "tmp/get-%016" PRIx64, id);
		fd = openat(c->dir_fd, ret_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd >= 0) {
			(void)lock_fd(fd, LOCK_EX | LOCK_NB);
			*ret_fd = fd;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	if (io_is_full(errno))
		return no_room(c, errno, e);
	return err_sys(e, "make a temporary file in '%s/tmp'", c->dir);
}

int cache_try_lock(int fd)
{
	return lock_fd(fd, LOCK_EX | LOCK_NB);
}

/* Returns whether the process that made this file is gone. */
static bool is_stale(int fd)
{
	struct stat st;
	int r = lock_fd(fd, LOCK_EX | LOCK_NB);

	if (r == 0)
		return true;
	/* if this file system has no locks, the file's age decides */
	return r != -EWOULDBLOCK && fstat(fd, &st) == 0 && st.st_mtim.tv_sec < time(NULL) - STALE_S;
}

static bool is_old(int fd, time_t age)
{
	struct stat st;

	return age == 0 || (fstat(fd, &st) == 0 && st.st_mtim.tv_sec < time(NULL) - age);
}

static void clean_name(struct cache *c, int tmp, const char *name, time_t age)
{
	autoclose int fd = io_open_at(tmp, name, O_NOFOLLOW);
	autoclose int lock = -1;
	bool stale;

	if (fd < 0) {
		/* removes a link, which nodeup never makes here */
		if (errno == ELOOP)
			(void)unlinkat(tmp, name, 0);
		return;
	}
	lock = cache_lock(c, true);
	stale = is_old(fd, age) && is_stale(fd);
	cleanup_closep(&lock);
	/* this process holds the file's lock now. Names in tmp/ are never used twice, and a process that opens a
	 * partial file checks its name again once it has the lock */
	if (stale)
		(void)walk_remove(tmp, name);
}

static void clean_folder(struct cache *c, const char *folder, time_t age)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = io_open_at(c->dir_fd, folder, O_DIRECTORY | O_NOFOLLOW);
	struct strv names = { 0 };

	/* a later run cleans the rest */
	if (fd >= 0 && walk_names(a, fd, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		clean_name(c, fd, names.v[i], age);
}

void cache_clean_tmp(struct cache *c)
{
	clean_folder(c, "tmp", 0);
	clean_folder(c, "partial", PARTIAL_S);
	clean_folder(c, "wrong", WRONG_S);
}

bool cache_is_closed(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return false;
	return S_ISLNK(st->st_mode) || !(st->st_mode & (S_IWGRP | S_IWOTH));
}

bool cache_is_damage(int errnum)
{
	/* file systems with checksums report damage by other error numbers */
	return errnum == EIO || errnum == EBADMSG || errnum == EUCLEAN;
}

/* Writes the record of this version of the file. The record leaves out the device, whose number changes from boot to
 * boot. */
static size_t render_record(const struct stat *st, char out[static CACHE_RECORD_MAX])
{
	struct io_stamp s = io_stamp_of(st);

	return (size_t)print_to(out, CACHE_RECORD_MAX,
				"v1 %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n", s.ino,
				s.size, s.mtime_ns, s.ctime_ns);
}

int cache_take_name(const struct cache *c, const char *tmp, const char *name)
{
	if (renameat(c->dir_fd, tmp, c->dir_fd, name) == 0)
		return 0;
	/* neither an entry nor a record is a directory, so a directory of this name is removed */
	if (errno == EISDIR && walk_remove(c->dir_fd, name) == 0 &&
	    renameat(c->dir_fd, tmp, c->dir_fd, name) == 0)
		return 0;
	return -errno;
}

int cache_note_name(struct cache *c, const char *folder, struct err *e)
{
	autoclose int fd = -1;

	if (flush_is_whole(c->dir_fd)) {
		__atomic_store_n(&c->names_wait, true, __ATOMIC_RELAXED);
		return 0;
	}
	fd = io_open_at(c->dir_fd, folder, O_DIRECTORY);
	if (fd < 0 || fsync(fd) < 0)
		return err_sys(e, "sync '%s/%s'", c->dir, folder);
	return 0;
}

int cache_put(struct cache *c, const char *name, const char *text, size_t n, int *ret_fd)
{
	char tmp[CACHE_NAME_MAX];
	autoclose int fd = -1;
	struct err e;
	int r;

	if (cache_make_tmp(c, tmp, &fd, &e) < 0)
		return -e.errnum;
	r = io_write_fd(fd, tmp, text, n, &e) < 0 ? -e.errnum : cache_take_name(c, tmp, name);
	if (r < 0)
		(void)unlinkat(c->dir_fd, tmp, 0);
	else if (ret_fd)
		*ret_fd = TAKE_FD(fd);
	return r;
}

/* Opens a record. Returns -1 if the record cannot be opened, or if the records of this cache do not count. */
static int open_record(const struct cache *c, const char *name)
{
	return c->writable || !c->doubted ? io_open_at(c->dir_fd, name, O_NOFOLLOW) : -1;
}

bool cache_read(const struct cache *c, const char *name, struct buf *b)
{
	autoclose int fd = open_record(c, name);
	struct err ignored;

	return fd >= 0 && io_read_fd(fd, name, b, &ignored) >= 0;
}

/* Returns whether a record holds exactly this text. */
static bool says(const struct cache *c, const char *name, const char *text, size_t n)
{
	autoclose int fd = open_record(c, name);
	char have[CACHE_RECORD_MAX];

	return fd >= 0 && read(fd, have, sizeof(have)) == (ssize_t)n && memcmp(text, have, n) == 0;
}

bool cache_take_line(const char **p, char *out, size_t size)
{
	size_t n = strcspn(*p, "\n");

	if ((*p)[n] != '\n' || n >= size)
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n + 1;
	return true;
}

static bool parse_name(const char *folder, bool dashed, const char *name, struct digest *ret)
{
	const char *dash = dashed ? strrchr(name, '-') : NULL;
	const char *algo = dashed ? name : folder, *hex = dash ? dash + 1 : name;
	char text[CACHE_NAME_MAX];
	struct err ignored;

	if (dashed && !dash)
		return false;
	/* a digest as documents write it: "sha256:<hex>" */
	(void)print_to(text, sizeof(text), "%.*s:%s", (int)(dash ? dash - name : INT_MAX), algo,
		       hex);
	return digest_parse(text, strlen(text), ret, &ignored) == 0;
}

size_t cache_digests_in(const struct cache *c, struct arena *a, const char *folder, bool dashed,
			struct digest **ret)
{
	autoclose int fd = io_open_at(c->dir_fd, folder, O_DIRECTORY);
	struct strv names = { 0 };
	struct digest d;
	size_t n = 0;

	*ret = NULL;
	if (fd < 0 || walk_names(a, fd, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.n; i++)
		if (parse_name(folder, dashed, names.v[i], &d))
			arena_push(a, *ret, n, d);
	return n;
}

void cache_record(struct cache *c, const struct digest *d, const struct stat *st)
{
	char name[CACHE_NAME_MAX], text[CACHE_RECORD_MAX];
	size_t n = render_record(st, text);

	/* without a record the entry is hashed once more; that is no failure */
	(void)cache_put(c, cache_side_name("verified", d, name), text, n, NULL);
}

bool cache_is_recorded(const struct cache *c, const struct digest *d, const struct stat *st)
{
	char name[CACHE_NAME_MAX], text[CACHE_RECORD_MAX];
	const size_t n = render_record(st, text);

	return cache_is_closed(st) && says(c, cache_side_name("verified", d, name), text, n);
}

void cache_drop(struct cache *c, const struct digest *d)
{
	autoclose int lock = cache_lock(c, true);
	char name[CACHE_NAME_MAX];

	(void)unlinkat(c->dir_fd, cache_side_name("verified", d, name), 0);
	(void)unlinkat(c->dir_fd, cache_entry_name(d, name), 0);
}
