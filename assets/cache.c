#include "assets/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache_dir.h"

static const char *const folders[] = { "sha1",    "sha256",   "sha512",   "tmp",
				       "partial", "verified", "unpacked", "signed" };

static int make_folders(int root_fd, const char *dir, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		autofree char *path = xasprintf("%s/%s", dir, folders[i]);
		int r = io_mkdirs(root_fd, path, 0755, e);

		if (r < 0)
			return r;
	}
	return 0;
}

int cache_new(int root_fd, const char *dir, bool create, struct cache **ret, struct err *e)
{
	struct cache *c;
	int fd = -1, r;

	r = create ? make_folders(root_fd, dir, e) : 0;
	if (r < 0)
		return err_wrap(e, "asset cache");
	r = io_open(root_fd, dir, O_RDONLY | O_DIRECTORY, &fd, e);
	if (r < 0 && (create || r != -ENOENT))
		return err_wrap(e, "asset cache");
	c = xcalloc(1, sizeof(*c));
	c->dir_fd = fd;
	c->writable = create;
	c->dir = xstrdup(dir);
	if (create)
		cache_clean_tmp(c);
	*ret = c;
	return 0;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	cleanup_closep(&c->dir_fd);
	free(c->dir);
	free(c);
}

static int absent(const struct cache *c, const struct digest *d, struct err *e)
{
	char name[CACHE_NAME_MAX];

	return err_fail(e, ERR_SYSTEM, ENOENT, "'%s/%s' is not in the cache", c->dir,
			cache_entry_name(d, name));
}

/* Remove an entry that is wrong, unless somebody has put another in its place since. */
static void remove_wrong(struct cache *c, const struct digest *d, const struct stat *wrong)
{
	char name[CACHE_NAME_MAX], record[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);
	struct stat st;

	cache_entry_name(d, name);
	if (fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ino != wrong->st_ino)
		return;
	(void)unlinkat(c->dir_fd, cache_side_name("verified", d, record), 0);
	(void)cache_remove(c->dir_fd, name);
}

/* Hash an entry that has no record: 0 and a record, or -ENOENT. */
static int verify(struct cache *c, const struct digest *d, int fd, struct err *e)
{
	char name[CACHE_NAME_MAX];
	struct digest got;
	struct stat before, after;
	int r;

	if (fstat(fd, &before) < 0)
		return err_sys(e, "look at '%s/%s'", c->dir, cache_entry_name(d, name));
	r = S_ISREG(before.st_mode) ? digest_of_fd(d->algo, fd, cache_entry_name(d, name), &got, e)
				    : 0;
	if (r < 0)
		return r;
	if (!S_ISREG(before.st_mode) || !digest_eq(&got, d)) {
		if (c->writable)
			remove_wrong(c, d, &before);
		return absent(c, d, e);
	}
	/* the record says "and durable"; of a file that changed meanwhile it would say nothing true */
	if (c->writable && fsync(fd) == 0 && fstat(fd, &after) == 0 &&
	    after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
	    after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
		cache_record(c, d, &after);
	return 0;
}

int cache_open(struct cache *c, const struct digest *d, int *ret_fd, struct err *e)
{
	char name[CACHE_NAME_MAX];
	autoclose int fd = -1;
	struct stat st;
	int r;

	if (c->dir_fd < 0)
		return absent(c, d, e);
	fd = openat(c->dir_fd, cache_entry_name(d, name),
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP) {
		/* a link where an entry belongs */
		if (c->writable)
			(void)unlinkat(c->dir_fd, name, 0);
		return absent(c, d, e);
	}
	if (fd < 0 && errno == ENOENT)
		return absent(c, d, e);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open '%s/%s'", c->dir, name);
	if (!S_ISREG(st.st_mode) || !cache_is_recorded(c, d, &st)) {
		r = verify(c, d, fd, e);
		if (r < 0)
			return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

bool cache_has(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	return c->dir_fd >= 0 &&
	       fstatat(c->dir_fd, cache_entry_name(d, name), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && cache_is_recorded(c, d, &st);
}
