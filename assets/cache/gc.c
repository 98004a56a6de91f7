#include "assets/cache/gc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/tree.h"
#include "nodeup/base/walk.h"

/* Runs touch the entries they need when they start. Keep anything touched within the last hour: it may be
 * in use. */
enum { RECENT_S = 3600, RENEW_S = RECENT_S / 2 };

struct folder;

struct used {
	struct digest digest;
	const struct folder *in;
	uint64_t bytes; /* entry and tree */
	time_t last;
};

struct usage {
	struct used *v;
	size_t n;
	uint64_t bytes;
};

static int add_blocks(void *arg, const struct walk_at *at, struct err *e)
{
	uint64_t *sum = arg;

	(void)e;
	*sum += (uint64_t)at->st.st_blocks * 512;
	return 1;
}

static uint64_t tree_bytes(int dir_fd, const char *name)
{
	uint64_t sum = 0;
	const struct walk walk = { .enter = add_blocks, .arg = &sum, .live = true };
	autoclose int fd = -1;
	struct err ignored;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	fd = S_ISDIR(st.st_mode) ? io_open_at(dir_fd, name, O_DIRECTORY | O_NOFOLLOW) : -1;
	/* what cannot be read is not counted */
	if (fd >= 0 && walk_below(fd, &walk, &ignored) < 0)
		return sum;
	return sum + (uint64_t)st.st_blocks * 512;
}

static bool look_at(const struct cache *c, const struct digest *d, struct used *ret)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	ret->bytes = tree_bytes(c->dir_fd, cache_entry_name(d, name));
	if (fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		ret->last = st.st_ctime;
	ret->bytes += tree_bytes(c->dir_fd, cache_side_name("unpacked", d, name));
	/* without a record: since it came */
	if (fstatat(c->dir_fd, cache_side_name("verified", d, name), &st, AT_SYMLINK_NOFOLLOW) == 0)
		ret->last = st.st_mtime;
	return true;
}

/* A tree whose archive is gone; others are seen with theirs. */
static bool look_at_orphan(const struct cache *c, const struct digest *d, struct used *ret)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	if (fstatat(c->dir_fd, cache_entry_name(d, name), &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	    fstatat(c->dir_fd, cache_side_name("unpacked", d, name), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	ret->bytes = tree_bytes(c->dir_fd, name);
	ret->last = st.st_mtime;
	return true;
}

/* An unfinished download, without the little that is written down of it. */
static bool look_at_partial(const struct cache *c, const struct digest *d, struct used *ret)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	if (fstatat(c->dir_fd, cache_side_name("partial", d, name), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	ret->bytes = (uint64_t)st.st_blocks * 512;
	ret->last = st.st_mtime;
	return true;
}

/* What was found damaged, for a person to look at. */
static bool look_at_damaged(const struct cache *c, const struct digest *d, struct used *ret)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	if (fstatat(c->dir_fd, cache_side_name("damaged", d, name), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	ret->bytes = tree_bytes(c->dir_fd, name);
	ret->last = st.st_ctime;
	return true;
}

static bool evict_damaged(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	return walk_remove(c->dir_fd, cache_side_name("damaged", d, name)) == 0;
}

/* Unless another process uses it. */
static bool evict_partial(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX], map[CACHE_NAME_MAX];
	autoclose int fd = io_open_at(c->dir_fd, cache_side_name("partial", d, name), O_NOFOLLOW);

	if (fd < 0 || cache_try_lock(fd) < 0)
		return false;
	(void)snprintf(map, sizeof(map), "%.*s.from", CACHE_NAME_MAX - 6, name);
	(void)unlinkat(c->dir_fd, map, 0);
	return unlinkat(c->dir_fd, name, 0) == 0;
}

static bool evict(struct cache *c, const struct digest *d)
{
	const bool had_tree = cache_tree_drop(c, d);
	char name[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);

	(void)unlinkat(c->dir_fd, cache_side_name("verified", d, name), 0);
	(void)unlinkat(c->dir_fd, cache_side_name("signed", d, name), 0);
	return walk_remove(c->dir_fd, cache_entry_name(d, name)) == 0 || had_tree;
}

static const struct folder {
	const char *name;
	bool dashed; /* "sha1-<hex>" is in it; otherwise it is the algorithm */
	bool (*look)(const struct cache *c, const struct digest *d, struct used *ret);
	bool (*evict)(struct cache *c, const struct digest *d);
} folders[] = {
	{ "sha1", false, look_at, evict },
	{ "sha256", false, look_at, evict },
	{ "sha512", false, look_at, evict },
	{ "unpacked", true, look_at_orphan, evict },
	{ "partial", true, look_at_partial, evict_partial },
	{ "damaged", true, look_at_damaged, evict_damaged },
};

/* The digest of a name, if it is one of this folder's. */
static bool parse_name(const struct folder *f, const char *name, struct digest *ret)
{
	char text[CACHE_NAME_MAX];
	char *dash;
	struct err ignored;

	(void)snprintf(text, sizeof(text), "%s", name);
	dash = f->dashed ? strchr(text, '-') : NULL;
	if (dash)
		*dash = ':'; /* as documents name an algorithm */
	return (!f->dashed || dash) && digest_parse(text, strlen(text), ret, &ignored) == 0 &&
	       (f->dashed || strcmp(digest_algo_name(ret->algo), f->name) == 0);
}

static void measure_folder(struct arena *a, const struct cache *c, const struct folder *f,
			   struct usage *u)
{
	autoclose int fd = io_open_at(c->dir_fd, f->name, O_DIRECTORY);
	struct strv names = { 0 };

	/* what cannot be listed is not counted */
	if (fd >= 0 && walk_names(a, fd, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		struct used one = { .in = f };

		if (!parse_name(f, names.v[i], &one.digest) || !f->look(c, &one.digest, &one))
			continue;
		u->bytes += one.bytes;
		arena_push(a, u->v, u->n, one);
	}
}

static struct usage measure(struct arena *a, const struct cache *c)
{
	struct usage u = { .bytes = tree_bytes(c->dir_fd, "tmp") };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		measure_folder(a, c, &folders[i], &u);
	return u;
}

static int by_last(const void *a, const void *b)
{
	const struct used *x = a, *y = b;

	return (x->last > y->last) - (x->last < y->last);
}

static bool is_kept(const struct digest *d, const struct digest *keep, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (digest_eq(d, &keep[i]))
			return true;
	return false;
}

void cache_note_use(struct cache *c, const struct digest *used, size_t n)
{
	const time_t now = time(NULL);

	for (size_t i = 0; i < n && c->writable; i++) {
		char name[CACHE_NAME_MAX];
		struct stat st;

		cache_side_name("verified", &used[i], name);
		if (fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_mtime < now - RENEW_S)
			(void)utimensat(c->dir_fd, name, NULL, AT_SYMLINK_NOFOLLOW);
	}
}

size_t cache_trim(struct cache *c, const struct digest *keep, size_t n_keep, uint64_t max)
{
	autoarena struct arena *a = arena_new_empty();
	const time_t now = time(NULL);
	struct usage u;
	size_t gone = 0;

	if (!c->writable)
		return 0;
	cache_note_use(c, keep, n_keep);
	u = measure(a, c);
	if (u.n)
		qsort(u.v, u.n, sizeof(*u.v), by_last);
	for (size_t i = 0; i < u.n && u.bytes > max && u.v[i].last < now - RECENT_S; i++) {
		if (is_kept(&u.v[i].digest, keep, n_keep) || !u.v[i].in->evict(c, &u.v[i].digest))
			continue;
		u.bytes -= u.v[i].bytes;
		gone++;
	}
	return gone;
}
