#include "assets/cache.h"

#include <fcntl.h>
#include <unistd.h>
#include "assets/cache_dir.h"
#include "assets/extract.h"

/* The largest real archive, a set of container images, has 10 GB and few files. */
static const struct extract_limits limits = {
	.entries = 200 * 1000,
	.bytes = UINT64_C(32) << 30,
};

const char *cache_unpacked_path(struct cache *c, struct arena *a, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	return arena_printf(a, "%s/%s", c->dir, cache_side_name("unpacked", d, name));
}

static bool is_unpacked(const struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	return c->dir_fd >= 0 &&
	       fstatat(c->dir_fd, cache_side_name("unpacked", d, name), &st, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       S_ISDIR(st.st_mode);
}

/* Give the complete tree its name: durable first, a name is a promise. */
static int publish(struct cache *c, const struct digest *d, const char *tmp, int tree_fd,
		   struct err *e)
{
	char name[CACHE_NAME_MAX];
	autoclose int folder = openat(c->dir_fd, "unpacked", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fchmod(tree_fd, 0755) < 0 || syncfs(tree_fd) < 0)
		return err_sys(e, "sync '%s/%s'", c->dir, tmp);
	cache_side_name("unpacked", d, name);
	/* another process may have been faster: its tree is as good */
	if (renameat(c->dir_fd, tmp, c->dir_fd, name) < 0 && errno != ENOTEMPTY && errno != EEXIST)
		return err_sys(e, "rename into '%s/%s'", c->dir, name);
	if (folder < 0 || fsync(folder) < 0)
		return err_sys(e, "sync '%s/unpacked'", c->dir);
	return 0;
}

int cache_unpack(struct cache *c, const struct asset *as, struct err *e)
{
	autoclose int archive = -1, tree = -1;
	char tmp[CACHE_NAME_MAX];
	int r;

	if (is_unpacked(c, &as->digest))
		return 0;
	if (!asset_is_archive(as))
		return err_fail(e, ERR_INTEGRITY, EINVAL, "asset '%s' is no archive", as->name);
	if (!c->writable)
		return err_fail(e, ERR_SYSTEM, EROFS, "the cache '%s' is open for reading only",
				c->dir);
	r = cache_open(c, &as->digest, &archive, e);
	if (r < 0)
		return err_wrap(e, "unpack '%s'", as->name);
	r = cache_make_tmp(c, true, tmp, &tree, e);
	if (r < 0)
		return r;
	r = extract_tar(archive, as->name, tree, &limits, e);
	if (r >= 0)
		r = publish(c, &as->digest, tmp, tree, e);
	/* ours, or nothing if it has its name now */
	(void)cache_remove(c->dir_fd, tmp);
	return r;
}
