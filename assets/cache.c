#include "assets/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache_dir.h"

enum { WRITE_BEHIND = 8 * 1024 * 1024 };

struct cache_entry {
	struct cache *cache;
	struct digest want;
	struct digest_ctx *sum;
	char tmp[CACHE_NAME_MAX];
	int fd;
	uint64_t bytes, behind; /* written, and handed to the disk */
};

static const char *const folders[] = { "sha1", "sha256", "sha512", "tmp", "verified", "unpacked" };

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

int cache_begin(struct cache *c, const struct digest *d, struct cache_entry **ret, struct err *e)
{
	struct cache_entry *en;
	char tmp[CACHE_NAME_MAX];
	int fd, r;

	if (!c->writable)
		return err_fail(e, ERR_SYSTEM, EROFS, "the cache '%s' is open for reading only",
				c->dir);
	r = cache_make_tmp(c, false, tmp, &fd, e);
	if (r < 0)
		return r;
	en = xcalloc(1, sizeof(*en));
	en->cache = c;
	en->want = *d;
	en->sum = digest_new(d->algo);
	en->fd = fd;
	(void)snprintf(en->tmp, sizeof(en->tmp), "%s", tmp);
	*ret = en;
	return 0;
}

int cache_write(struct cache_entry *en, const void *p, size_t n, struct err *e)
{
	int r = io_write_fd(en->fd, en->tmp, p, n, e);

	if (r < 0)
		return err_wrap(e, "asset cache '%s'", en->cache->dir);
	digest_update(en->sum, p, n);
	en->bytes += n;
	/* so that little is left to wait for in the fsync of the end */
	if (en->bytes - en->behind >= WRITE_BEHIND) {
		(void)sync_file_range(en->fd, (off_t)en->behind, (off_t)(en->bytes - en->behind),
				      SYNC_FILE_RANGE_WRITE);
		en->behind = en->bytes;
	}
	return 0;
}

static int mismatch(const struct cache_entry *en, const struct digest *got, struct err *e)
{
	char want_hex[DIGEST_TEXT_MAX], got_hex[DIGEST_TEXT_MAX];
	const char *algo = digest_algo_name(en->want.algo);
	int r = err_fail(e, ERR_INTEGRITY, EBADMSG, "wrong content: its %s is not the wanted one",
			 algo);

	err_note(e, "want", "%s %s", algo, digest_hex(&en->want, want_hex));
	err_note(e, "got", "%s %s", algo, digest_hex(got, got_hex));
	err_note(e, "size", "%llu bytes", (unsigned long long)en->bytes);
	return r;
}

static int sync_folder(struct cache *c, const char *folder, struct err *e)
{
	autoclose int fd = openat(c->dir_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return err_sys(e, "sync '%s/%s'", c->dir, folder);
	return 0;
}

static int take_name(struct cache_entry *en, struct err *e)
{
	struct cache *c = en->cache;
	autoclose int lock = cache_lock(c, false);
	char name[CACHE_NAME_MAX];

	cache_entry_name(&en->want, name);
	if (renameat(c->dir_fd, en->tmp, c->dir_fd, name) == 0)
		return 0;
	/* a directory is no entry and has no right to the name */
	if (errno == EISDIR && cache_remove(c->dir_fd, name) == 0 &&
	    renameat(c->dir_fd, en->tmp, c->dir_fd, name) == 0)
		return 0;
	return err_sys(e, "rename into '%s/%s'", c->dir, name);
}

static int publish(struct cache_entry *en, struct err *e)
{
	struct cache *c = en->cache;
	struct stat st;
	int r;

	if (fchmod(en->fd, 0444) < 0 || fsync(en->fd) < 0)
		return err_sys(e, "sync '%s/%s'", c->dir, en->tmp);
	r = take_name(en, e);
	if (r < 0)
		return r;
	en->tmp[0] = '\0';
	r = sync_folder(c, digest_algo_name(en->want.algo), e);
	if (r < 0)
		return r;
	if (fstat(en->fd, &st) == 0)
		cache_record(c, &en->want, &st);
	return 0;
}

static void release(struct cache_entry *en)
{
	if (en->tmp[0])
		(void)unlinkat(en->cache->dir_fd, en->tmp, 0);
	(void)close(en->fd);
	digest_free(en->sum);
	free(en);
}

int cache_commit(struct cache_entry *en, struct err *e)
{
	struct digest got;
	int r;

	digest_final(en->sum, &got);
	r = digest_eq(&got, &en->want) ? publish(en, e) : mismatch(en, &got, e);
	release(en);
	return r;
}

void cache_abort(struct cache_entry *en)
{
	if (en)
		release(en);
}
