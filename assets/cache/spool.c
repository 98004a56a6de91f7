#include "assets/cache/spool.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/entry.h"
#include "nodeup/base/walk.h"

static bool is_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static struct cache *open_spool(const struct cache *c)
{
	struct cache *spool;
	struct err ignored;

	if (cache_new(c->spool_root_fd, c->spool_dir, c->writable, &spool, &ignored) < 0)
		return NULL;
	spool->in_memory = spool->dir_fd >= 0 && is_in_memory(spool->dir_fd);
	if (spool->in_memory)
		return spool;
	cache_free(spool);
	return NULL;
}

void cache_spool_at(struct cache *c, int root_fd, const char *dir, bool fills)
{
	autoclose int there = -1;
	struct err ignored;

	c->spool_root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	if (c->spool_root_fd < 0)
		return;
	c->spool_dir = xstrdup(dir);
	c->spool_fills = fills && c->writable;
	if (io_open(root_fd, dir, O_RDONLY | O_DIRECTORY, &there, &ignored) >= 0)
		c->spool = open_spool(c);
}

/* What is there of the directory's path; *ret_name is the rest. -1: nothing is. */
static int open_above(const struct cache *c, char *path, const char **ret_name)
{
	struct err ignored;
	char *slash;
	int fd;

	while ((slash = strrchr(path, '/')) && slash > path) {
		*slash = '\0';
		*ret_name = slash + 1;
		if (io_open(c->spool_root_fd, path, O_RDONLY | O_DIRECTORY, &fd, &ignored) >= 0)
			return fd;
	}
	return -1;
}

static bool would_be_in_memory(const struct cache *c)
{
	autofree char *path = xstrdup(c->spool_dir);
	const char *name;
	autoclose int fd = open_above(c, path, &name);

	return fd >= 0 && is_in_memory(fd);
}

struct cache *cache_spool_to_fill(struct cache *c)
{
	if (!c->spool_fills)
		return NULL;
	(void)pthread_mutex_lock(&c->trees_lock);
	if (!c->spool && would_be_in_memory(c))
		__atomic_store_n(&c->spool, open_spool(c), __ATOMIC_RELEASE);
	(void)pthread_mutex_unlock(&c->trees_lock);
	return cache_spool_of(c);
}

/* What cannot be read is not. */
static bool is_empty_folder(const struct cache *spool, const char *folder)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = io_open_at(spool->dir_fd, folder, O_DIRECTORY);
	struct strv names = { 0 };

	return fd >= 0 && walk_names(a, fd, &names) == 0 && names.n == 0;
}

static bool is_empty(const struct cache *spool)
{
	bool empty = is_empty_folder(spool, "partial");

	for (enum digest_algo algo = 0; algo < DIGEST_ALGO_MAX; algo++)
		empty = empty && is_empty_folder(spool, digest_algo_name(algo));
	return empty;
}

void cache_spool_end(struct cache *c)
{
	autofree char *path = c->spool_dir ? xstrdup(c->spool_dir) : NULL;
	autoclose int above = -1;
	const char *name;

	if (!c->spool || !c->writable || !is_empty(c->spool))
		return;
	cache_free(TAKE(c->spool));
	above = open_above(c, path, &name);
	if (above >= 0)
		(void)walk_remove(above, name);
}

struct cache_spooled cache_spooled(const struct cache *c, struct arena *a)
{
	const struct cache *spool = cache_spool_of(c);
	struct cache_spooled all = { 0 };

	if (spool)
		all.n = cache_list(spool, a, false, &all.v);
	return all;
}

int cache_unspool(struct cache *c, const struct digest *d, struct err *e)
{
	struct cache *spool = cache_spool_of(c);
	autoclose int fd = -1;
	int r = cache_open(spool, d, &fd, e);

	if (r >= 0)
		r = cache_copy_in(c, d, fd, e);
	cache_entry_drop(spool, d);
	return r;
}
