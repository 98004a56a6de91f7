#include "assets/cache_entry.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache_dir.h"

enum {
	WRITE_BEHIND = 8 * 1024 * 1024,
	CHUNK = 256 * 1024,
	ORIGIN_MAX = 1024,
	TRIES = 4,
};

struct cache_entry {
	struct cache *cache;
	struct digest want;
	struct digest_ctx *sum;
	char tmp[CACHE_NAME_MAX];  /* its name until it is published, "" then */
	char note[CACHE_NAME_MAX]; /* where its origin is written down; "" it is not kept */
	int fd;
	uint64_t bytes, behind; /* written, and handed to the disk */
	struct cache_origin origin;
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
	(void)snprintf(en->tmp, sizeof(en->tmp), "%s", name);
	return en;
}

int cache_begin(struct cache *c, const struct digest *d, struct cache_entry **ret, struct err *e)
{
	char tmp[CACHE_NAME_MAX];
	int fd, r;

	if (!c->writable)
		return err_fail(e, ERR_SYSTEM, EROFS, "the cache '%s' is open for reading only",
				c->dir);
	r = cache_make_tmp(c, false, tmp, &fd, e);
	if (r < 0)
		return r;
	*ret = new_entry(c, d, tmp, fd);
	return 0;
}

/* Whether what was opened under a name and locked since still has that name, and no other. */
static bool is_ours(const struct cache *c, const char *name, int fd)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_nlink == 1 &&
	       fstatat(c->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

/* The partial file of this name, locked; < 0 when another has it or it cannot be had. */
static int open_partial(struct cache *c, const char *name)
{
	for (int i = 0; i < TRIES; i++) {
		autoclose int fd = openat(c->dir_fd, name,
					  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
					  0600);

		if (fd >= 0 && cache_try_lock(fd) < 0)
			return -EBUSY;
		if (fd >= 0 && is_ours(c, name, fd))
			return TAKE_FD(fd);
		/* published or swept between opening and locking; or a link, which is none of ours */
		if (fd < 0 && cache_remove(c->dir_fd, name) < 0)
			return -EIO;
	}
	return -EBUSY;
}

static size_t render_origin(const struct cache_origin *o, char out[static ORIGIN_MAX])
{
	return (size_t)snprintf(out, ORIGIN_MAX, "v1\n%" PRId64 "\n%s\n%s\n%s\nend\n", o->total,
				o->url, o->etag, o->modified);
}

/* The next line of *p into out, if it fits. */
static bool take_line(const char **p, char *out, size_t size)
{
	size_t n = strcspn(*p, "\n");

	if ((*p)[n] != '\n' || n >= size)
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n + 1;
	return true;
}

static bool parse_origin(const char *p, struct cache_origin *ret)
{
	char version[8], total[32], end[8], *stop;

	if (!take_line(&p, version, sizeof(version)) || strcmp(version, "v1") != 0 ||
	    !take_line(&p, total, sizeof(total)) || !take_line(&p, ret->url, sizeof(ret->url)) ||
	    !take_line(&p, ret->etag, sizeof(ret->etag)) ||
	    !take_line(&p, ret->modified, sizeof(ret->modified)) ||
	    !take_line(&p, end, sizeof(end)) || strcmp(end, "end") != 0)
		return false;
	ret->total = strtoll(total, &stop, 10);
	return *total && !*stop;
}

static bool read_origin(struct cache_entry *en)
{
	char text[ORIGIN_MAX];
	struct cache_origin origin;
	autoclose int fd =
		openat(en->cache->dir_fd, en->note, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return false;
	text[n] = '\0';
	if (!parse_origin(text, &origin))
		return false;
	en->origin = origin;
	return true;
}

/* Hash what is there, so that the next byte can be added. */
static bool take_in(struct cache_entry *en)
{
	autofree char *chunk = xrealloc(NULL, CHUNK);
	ssize_t n;

	while ((n = read(en->fd, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		digest_update(en->sum, chunk, (size_t)n);
		en->bytes += (uint64_t)n;
	}
	en->behind = en->bytes;
	return en->origin.total < 0 || en->bytes <= (uint64_t)en->origin.total;
}

int cache_resume(struct cache *c, const struct digest *d, struct cache_entry **ret, struct err *e)
{
	char name[CACHE_NAME_MAX], note[CACHE_NAME_MAX];
	struct cache_entry *en;
	int fd, r = 0;

	fd = c->writable ? open_partial(c, cache_side_name("partial", d, name)) : -EROFS;
	if (fd < 0)
		return cache_begin(c, d, ret, e);
	en = new_entry(c, d, name, fd);
	cache_side_name("partial", d, note);
	(void)snprintf(en->note, sizeof(en->note), "%.*s.from", CACHE_NAME_MAX - 6, note);
	if (!read_origin(en) || !take_in(en))
		r = cache_restart(en, e);
	if (r < 0) {
		cache_abort(en);
		return r;
	}
	*ret = en;
	return 0;
}

uint64_t cache_size(const struct cache_entry *en)
{
	return en->bytes;
}

const struct cache_origin *cache_origin_of(const struct cache_entry *en)
{
	return &en->origin;
}

void cache_set_origin(struct cache_entry *en, const struct cache_origin *origin)
{
	char before[ORIGIN_MAX], text[ORIGIN_MAX];
	size_t n;

	(void)render_origin(&en->origin, before);
	en->origin = *origin;
	n = render_origin(origin, text);
	if (en->note[0] && strcmp(before, text) != 0)
		(void)cache_put(en->cache, en->note, text, n);
}

int cache_restart(struct cache_entry *en, struct err *e)
{
	if (en->note[0])
		(void)unlinkat(en->cache->dir_fd, en->note, 0);
	if (ftruncate(en->fd, 0) < 0 || lseek(en->fd, 0, SEEK_SET) < 0)
		return err_sys(e, "empty '%s/%s'", en->cache->dir, en->tmp);
	digest_free(en->sum);
	en->sum = digest_new(en->want.algo);
	en->bytes = en->behind = 0;
	en->origin = no_origin;
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

static void release(struct cache_entry *en, bool keep)
{
	/* the lock is held until the descriptor is closed */
	if (en->tmp[0] && !keep)
		(void)unlinkat(en->cache->dir_fd, en->tmp, 0);
	if (en->note[0] && !keep)
		(void)unlinkat(en->cache->dir_fd, en->note, 0);
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
	release(en, false);
	return r;
}

void cache_abort(struct cache_entry *en)
{
	if (en)
		release(en, false);
}

void cache_suspend(struct cache_entry *en)
{
	if (en)
		release(en, en->note[0] && en->bytes > 0);
}
