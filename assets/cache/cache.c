#include "assets/cache/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/guard.h"

const struct cache_folder cache_folders[CACHE_FOLDERS] = {
	{ "sha1", 0755 },
	{ "sha256", 0755 },
	{ "sha512", 0755 },
	{ "partial", 0700 },
	{ "verified", 0755 },
	{ "unpacked", 0755 },
	{ "signed", 0755 },
	{ "wrong", 0755 },
	/* what is below it belongs for a while to a user that others may be, too */
	{ "tmp", 0700 },
};

static int make_folders(int root_fd, const char *dir, struct err *e)
{
	for (size_t i = 0; i < CACHE_FOLDERS; i++) {
		autofree char *path = xasprintf("%s/%s", dir, cache_folders[i].name);
		int r = io_mkdirs(root_fd, path, cache_folders[i].mode, e);

		if (r < 0)
			return r;
	}
	return 0;
}

static int open_cache(int root_fd, const char *dir, struct cache *c, bool own, struct err *e)
{
	int r = c->writable ? io_mkdirs(root_fd, dir, 0755, e) : 0;

	if (r >= 0)
		r = io_open(root_fd, dir, O_RDONLY | O_DIRECTORY, &c->dir_fd, e);
	if (r < 0 && (c->writable || r != -ENOENT))
		return err_wrap(e, "asset cache");
	r = cache_guard(c, own, e);
	if (r < 0 || !c->writable)
		return r;
	r = make_folders(root_fd, dir, e);
	if (r < 0)
		return err_wrap(e, "asset cache");
	cache_clean_tmp(c);
	return 0;
}

static int new_cache(int root_fd, const char *dir, bool create, bool own, struct cache **ret,
		     struct err *e)
{
	struct cache *c = xcalloc(1, sizeof(*c));
	int r;

	*c = (struct cache){ .dir_fd = -1, .writable = create, .dir = xstrdup(dir) };
	(void)pthread_mutex_init(&c->trees_lock, NULL);
	r = open_cache(root_fd, dir, c, own, e);
	if (r < 0)
		cache_free(c);
	else
		*ret = c;
	return r;
}

int cache_new(int root_fd, const char *dir, bool create, struct cache **ret, struct err *e)
{
	return new_cache(root_fd, dir, create, false, ret, e);
}

int cache_new_own(int root_fd, const char *dir, bool create, struct cache **ret, struct err *e)
{
	return new_cache(root_fd, dir, create, true, ret, e);
}

const char *cache_remark(const struct cache *c)
{
	return c->remark;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cleanup_closep(&c->dir_fd);
	free(c->dir);
	free(c->remark);
	free(c->trees);
	(void)pthread_mutex_destroy(&c->trees_lock);
	free(c);
}

enum { COPY_CHUNK = 256 * 1024 };

static int absent(const struct cache *c, const struct digest *d, struct err *e)
{
	char name[CACHE_NAME_MAX];

	return err_fail(e, ERR_SYSTEM, ENOENT, "'%s/%s' is not in the cache", c->dir,
			cache_entry_name(d, name));
}

/* An entry that is asked for. */
struct ask {
	const struct digest *digest;
	bool damaged; /* an entry was there, and its bytes have changed */
	bool aside;   /* it is set aside then: it may be all that there is */
};

static int damaged(struct cache *c, struct ask *ask, const struct stat *st, int errnum,
		   struct err *e)
{
	const struct digest *d = ask->digest;
	char name[CACHE_NAME_MAX];

	ask->damaged = true;
	if (c->writable && ask->aside && cache_set_aside(c, d, st))
		return err_fail(e, ERR_SYSTEM, ENOENT,
				"'%s/%s' is damaged%s%s; it was moved to the cache's damaged/",
				c->dir, cache_entry_name(d, name), errnum ? ": " : "",
				errnum ? strerror(errnum) : "");
	if (c->writable)
		cache_throw_away(c, d, st);
	return err_fail(e, ERR_SYSTEM, ENOENT, "'%s/%s' is damaged%s%s%s", c->dir,
			cache_entry_name(d, name), errnum ? ": " : "",
			errnum ? strerror(errnum) : "", c->writable ? "; it was thrown away" : "");
}

/* Hash an entry that has no record: 0 and a record, or -ENOENT. */
static int verify(struct cache *c, struct ask *ask, int fd, struct err *e)
{
	const struct digest *d = ask->digest;
	char name[CACHE_NAME_MAX];
	struct digest got;
	struct stat before, after;
	int r;

	if (fstat(fd, &before) < 0)
		return err_sys(e, "look at '%s/%s'", c->dir, cache_entry_name(d, name));
	r = S_ISREG(before.st_mode) ? digest_of_fd(d->algo, fd, cache_entry_name(d, name), &got, e)
				    : 0;
	if (r < 0)
		return cache_is_damage(e->errnum) ? damaged(c, ask, &before, e->errnum, e) : r;
	if (!S_ISREG(before.st_mode) || !digest_eq(&got, d))
		return damaged(c, ask, &before, 0, e);
	/* what reads as right may be in memory alone, and the kernel says so once */
	if (c->writable && fsync(fd) < 0)
		return damaged(c, ask, &before, errno, e);
	/* the record says "and durable"; of a file that changed meanwhile it would say nothing true */
	if (c->writable && fstat(fd, &after) == 0 &&
	    after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
	    after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
		cache_record(c, d, &after);
	return 0;
}

/* Another user may still have the file open for writing, and change it after it is hashed. So a copy
 * becomes the entry, and is hashed on its way. */
static int take_over(struct cache *c, struct ask *ask, const struct stat *st, int *fd,
		     struct err *e)
{
	autofree char *chunk = xrealloc(NULL, COPY_CHUNK);
	char name[CACHE_NAME_MAX];
	struct cache_entry *en;
	ssize_t n = 0;
	int r = cache_begin(c, ask->digest, &en, e);

	if (r < 0)
		return r;
	while (r >= 0 && (n = read(*fd, chunk, COPY_CHUNK)) > 0)
		r = cache_write(en, chunk, (size_t)n, e);
	if (r >= 0 && n < 0)
		r = err_sys(e, "read '%s/%s'", c->dir, cache_entry_name(ask->digest, name));
	if (r < 0) {
		cache_abort(en);
		return r;
	}
	r = cache_commit(en, e);
	if (r < 0)
		return e->kind == ERR_INTEGRITY ? damaged(c, ask, st, 0, e) : r;
	(void)close(*fd);
	*fd = io_open_at(c->dir_fd, cache_entry_name(ask->digest, name), O_NOFOLLOW);
	return *fd < 0 ? err_sys(e, "open '%s/%s'", c->dir, name) : 0;
}

static int open_entry(struct cache *c, struct ask *ask, int *ret_fd, struct err *e)
{
	const struct digest *d = ask->digest;
	char name[CACHE_NAME_MAX];
	autoclose int fd = -1;
	struct stat st;
	int r;

	if (c->dir_fd < 0)
		return absent(c, d, e);
	fd = io_open_at(c->dir_fd, cache_entry_name(d, name), O_NOFOLLOW);
	if (fd < 0 && errno == ELOOP) {
		/* a link where an entry belongs */
		if (c->writable)
			(void)unlinkat(c->dir_fd, name, 0);
		return absent(c, d, e);
	}
	if (fd < 0 && errno == ENOENT)
		return absent(c, d, e);
	/* its directory can still be read: the file's own place cannot */
	if (fd < 0 && cache_is_damage(errno) &&
	    fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return damaged(c, ask, &st, EIO, e);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open '%s/%s'", c->dir, name);
	if (c->writable && S_ISREG(st.st_mode) && !cache_is_closed(&st))
		r = take_over(c, ask, &st, &fd, e);
	else if (!S_ISREG(st.st_mode) || !cache_is_recorded(c, d, &st))
		r = verify(c, ask, fd, e);
	else
		r = 0;
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int cache_open(struct cache *c, const struct digest *d, int *ret_fd, struct err *e)
{
	return open_entry(c, &(struct ask){ .digest = d }, ret_fd, e);
}

int cache_look(struct cache *c, const struct digest *d, bool *ret_damaged, struct err *e)
{
	struct ask ask = { .digest = d, .aside = true };
	autoclose int fd = -1;
	int r = open_entry(c, &ask, &fd, e);

	*ret_damaged = ask.damaged;
	return r;
}

bool cache_must_hash(struct cache *c, const struct digest *d, uint64_t *ret_bytes)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	if (c->dir_fd < 0 ||
	    fstatat(c->dir_fd, cache_entry_name(d, name), &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || cache_is_recorded(c, d, &st))
		return false;
	*ret_bytes = (uint64_t)st.st_size;
	return true;
}

bool cache_has(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	return c->dir_fd >= 0 &&
	       fstatat(c->dir_fd, cache_entry_name(d, name), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && cache_is_recorded(c, d, &st);
}
