#include "assets/cache/spool.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/entry.h"
#include "assets/cache/gc.h"
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

bool cache_has_spool(const struct cache *c)
{
	return cache_spool_of(c) != NULL;
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
	if (io_open_dir(root_fd, dir, &there, &ignored) >= 0 && is_in_memory(there))
		c->spool = open_spool(c);
}

/* By what is there of the directory's path. */
static bool would_be_in_memory(const struct cache *c)
{
	autofree char *path = xstrdup(c->spool_dir);
	struct err ignored;

	for (char *end = path + strlen(path); end && end > path; end = strrchr(path, '/')) {
		autoclose int fd = -1;

		*end = '\0';
		if (io_open_dir(c->spool_root_fd, path, &fd, &ignored) >= 0)
			return is_in_memory(fd);
	}
	return false;
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

/* Folder by folder, as long as they are empty: another process may just have begun to use it, which begins in partial/.
 * Without that a process makes its entries on the disk. */
static void remove_folders(const struct cache *spool)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names = { 0 };

	if (unlinkat(spool->dir_fd, "partial", AT_REMOVEDIR) < 0 ||
	    walk_names(a, spool->dir_fd, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		(void)unlinkat(spool->dir_fd, names.v[i], AT_REMOVEDIR);
}

void cache_spool_end(struct cache *c, bool parts_too)
{
	autoclose int parent = -1;
	const char *name;
	struct err ignored;

	if (!c->spool || !c->writable)
		return;
	if (parts_too)
		cache_drop_parts(c->spool);
	remove_folders(c->spool);
	cache_free(TAKE(c->spool));
	if (io_open_parent(c->spool_root_fd, c->spool_dir, &parent, &name, &ignored) >= 0)
		(void)unlinkat(parent, name, AT_REMOVEDIR);
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
	int r = 0;

	if (!spool)
		return err_fail(e, ERR_SYSTEM, ENOENT, "'%s' cannot be opened", c->spool_dir);
	if (!cache_has_own(c, d)) {
		r = cache_open(spool, d, &fd, e);
		if (r >= 0)
			r = cache_copy_in(c, d, fd, c->spool_dir, e);
	}
	cache_entry_drop(spool, d);
	return r;
}
