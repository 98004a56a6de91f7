#include "assets/cache/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/map.h"
#include "nodeup/base/walk.h"

/* At its start a run touches the entries that it needs. Entries touched within the last hour stay: they may be in
 * use. */
enum { RECENT_S = 3600, RENEW_S = RECENT_S / 2 };

struct folder;

struct used {
	struct digest digest;
	const struct folder *in;
	uint64_t bytes;
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

/* Returns the bytes of the file with this name and this stat. */
static uint64_t bytes_of(int dir_fd, const char *name, const struct stat *st)
{
	uint64_t sum = 0;
	const struct walk walk = { .enter = add_blocks, .arg = &sum, .live = true };
	autoclose int fd = S_ISDIR(st->st_mode) ? io_open_at(dir_fd, name, O_DIRECTORY | O_NOFOLLOW)
						: -1;
	struct err ignored;

	/* a folder that cannot be read counts as empty */
	if (fd >= 0 && walk_below(fd, &walk, &ignored) < 0)
		return sum;
	return sum + (uint64_t)st->st_blocks * 512;
}

static bool evict_damaged(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	return walk_remove(c->dir_fd, cache_side_name("damaged", d, name)) == 0;
}

/* Removes the partial file, unless another process uses it. */
static bool evict_partial(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX], map[CACHE_NAME_MAX];
	autoclose int fd = io_open_at(c->dir_fd, cache_side_name("partial", d, name), O_NOFOLLOW);

	if (fd < 0 || cache_try_lock(fd) < 0)
		return false;
	(void)unlinkat(c->dir_fd, cache_map_name(d, map), 0);
	return unlinkat(c->dir_fd, name, 0) == 0;
}

static bool evict_entry(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);

	(void)unlinkat(c->dir_fd, cache_side_name("verified", d, name), 0);
	(void)unlinkat(c->dir_fd, cache_side_name("signed", d, name), 0);
	(void)unlinkat(c->dir_fd, cache_members_name(d, name), 0);
	return walk_remove(c->dir_fd, cache_entry_name(d, name)) == 0;
}

static const struct folder {
	const char *name; /* NULL: one folder for each algorithm */
	bool dashed;      /* true: its files are called "sha1-<hex>"; false: "<hex>" */
	bool by_arrival;  /* true: the ctime of a file is its last use; false: the mtime is */
	bool (*evict)(struct cache *c, const struct digest *d);
} folders[] = {
	{ NULL, false, true, evict_entry },
	/* unfinished downloads; their small maps do not count */
	{ "partial", true, false, evict_partial },
	/* kept for a person to look at */
	{ "damaged", true, true, evict_damaged },
};

/* Returns false if the file is gone. */
static bool measure_one(const struct cache *c, const struct folder *f, struct used *u)
{
	const struct digest *d = &u->digest;
	char name[CACHE_NAME_MAX];
	struct stat st;

	if (f->dashed)
		cache_side_name(f->name, d, name);
	else
		cache_entry_name(d, name);
	if (fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	u->bytes = bytes_of(c->dir_fd, name, &st);
	u->last = f->by_arrival ? st.st_ctime : st.st_mtime;
	if (f->dashed)
		return true;
	/* an entry without a record counts as used last when it came */
	if (fstatat(c->dir_fd, cache_side_name("verified", d, name), &st, AT_SYMLINK_NOFOLLOW) == 0)
		u->last = st.st_mtime;
	return true;
}

static void measure_folder(struct arena *a, const struct cache *c, const struct folder *f,
			   const char *name, struct usage *u)
{
	struct digest *all;
	const size_t n = cache_digests_in(c, a, name, f->dashed, &all);

	for (size_t i = 0; i < n; i++) {
		struct used one = { .digest = all[i], .in = f };

		if (!measure_one(c, f, &one))
			continue;
		u->bytes += one.bytes;
		arena_push(a, u->v, u->n, one);
	}
}

static struct usage measure_folders(struct arena *a, const struct cache *c)
{
	struct stat st;
	struct usage u = { 0 };

	if (fstatat(c->dir_fd, "tmp", &st, AT_SYMLINK_NOFOLLOW) == 0)
		u.bytes = bytes_of(c->dir_fd, "tmp", &st);

	for (const struct folder *f = folders; f < folders + ARRAY_LEN(folders); f++)
		if (f->name)
			measure_folder(a, c, f, f->name, &u);
		else
			for (enum digest_algo algo = 0; algo < DIGEST_ALGO_MAX; algo++)
				measure_folder(a, c, f, digest_algo_name(algo), &u);
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
	u = measure_folders(a, c);
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
