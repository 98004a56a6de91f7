#include "assets/cache/verify.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/tree.h"
#include "assets/unpack/extract.h"
#include "nodeup/base/walk.h"

/* as for the first time: what did not fit then has no tree */
static const struct extract_limits limits = { .entries = UINT64_MAX, .bytes = UINT64_MAX };

static int open_entry(const struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	if (c->dir_fd < 0) {
		errno = ENOENT;
		return -1;
	}
	return io_open_at(c->dir_fd, cache_entry_name(d, name), O_NOFOLLOW);
}

/* Say what is wrong with an entry, and set it aside. */
static int damaged(struct cache *c, const struct digest *d, const struct stat *st, const char *why,
		   struct err *e)
{
	char name[CACHE_NAME_MAX];

	cache_entry_name(d, name);
	if (c->writable && cache_set_aside(c, d, st))
		return err_fail(e, ERR_INTEGRITY, EBADMSG,
				"'%s/%s' is damaged%s; it was moved to the cache's damaged/",
				c->dir, name, why);
	return err_fail(e, ERR_INTEGRITY, EBADMSG, "'%s/%s' is damaged%s", c->dir, name, why);
}

/* What was found damaged before, in this run or an earlier one, and did not come back since. */
static int absent(const struct cache *c, const struct digest *d, struct err *e)
{
	char name[CACHE_NAME_MAX], aside[CACHE_NAME_MAX];
	struct stat st;

	if (c->dir_fd < 0 ||
	    fstatat(c->dir_fd, cache_side_name("damaged", d, aside), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -ENOENT;
	return err_fail(e, ERR_INTEGRITY, EBADMSG,
			"'%s/%s' is damaged; it was moved to the cache's damaged/", c->dir,
			cache_entry_name(d, name));
}

int cache_recheck(struct cache *c, const struct digest *d, struct err *e)
{
	char name[CACHE_NAME_MAX], why[64] = "";
	autoclose int fd = open_entry(c, d);
	struct digest got;
	struct stat st;
	int r;

	cache_entry_name(d, name);
	if (fd < 0 && errno == ENOENT)
		return absent(c, d, e);
	if (fstatat(c->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "look at '%s/%s'", c->dir, name);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		r = digest_of_fd(d->algo, fd, name, &got, e);
		if (r < 0 && !cache_is_damage(e->errnum))
			return r;
		if (r >= 0 && digest_eq(&got, d))
			return 0;
		if (r < 0)
			(void)snprintf(why, sizeof(why), ": %s", strerror(e->errnum));
	}
	return damaged(c, d, &st, why, e);
}

/* Whether the published tree is what its archive holds. */
static bool is_right(struct cache *c, const struct asset *as, int tree)
{
	autoclose int archive = -1;
	struct err e;

	return cache_recheck(c, &as->digest, &e) >= 0 &&
	       cache_open(c, &as->digest, &archive, &e) >= 0 &&
	       extract_compare(archive, as->name, tree, &limits, &e) >= 0;
}

/* Aside first: half a tree must not have a tree's name, wherever we are killed. */
static bool drop_tree(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX], aside[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);

	cache_tree_forget(c, d);
	cache_side_name("unpacked", d, name);
	cache_side_name("tmp", d, aside);
	(void)walk_remove(c->dir_fd, aside);
	if (renameat(c->dir_fd, name, c->dir_fd, aside) < 0)
		return false;
	(void)walk_remove(c->dir_fd, aside);
	return true;
}

/* Whether the tree is what its archive holds, and its stamp of before that was looked at. */
static bool judge(struct cache *c, const struct asset *as, int tree, struct digest *ret_stamp)
{
	struct digest have, after;

	/* an entry that others can write to is wrong by that alone */
	if (cache_tree_stamp(tree, ret_stamp) < 0 || cache_tree_digest(tree, &have) < 0)
		return false;
	if (cache_tree_is_recorded(c, &as->digest, &have))
		return true;
	if (!is_right(c, as, tree))
		return false;
	/* what was hashed is what was compared */
	if (c->writable && cache_tree_stamp(tree, &after) == 0 && digest_eq(ret_stamp, &after))
		cache_tree_record(c, &as->digest, &have);
	return true;
}

bool cache_recheck_tree(struct cache *c, const struct asset *as)
{
	char name[CACHE_NAME_MAX];
	autoclose int tree = -1;
	struct digest stamp;

	if (c->dir_fd < 0)
		return false;
	cache_side_name("unpacked", &as->digest, name);
	tree = io_open_at(c->dir_fd, name, O_DIRECTORY | O_NOFOLLOW);
	if (tree < 0 && errno == ENOENT)
		return false;
	if (tree < 0 || !judge(c, as, tree, &stamp))
		return c->writable ? drop_tree(c, &as->digest) : true;
	if (!c->writable)
		return false;
	if (!cache_has_tree(c, &as->digest) && cache_tree_sync(tree) < 0)
		return drop_tree(c, &as->digest);
	cache_tree_believe(c, &as->digest, &stamp);
	return false;
}

bool cache_doubt(struct cache *c, const struct asset *as, bool tree, struct err *e)
{
	struct err why;

	if (!cache_is_damage(e->errnum) || !c->writable)
		return false;
	if (tree ? !cache_recheck_tree(c, as) : cache_recheck(c, &as->digest, &why) != -EBADMSG)
		return false;
	err_note(e, "next", "what the cache had of %s is damaged and was thrown away: %s again",
		 as->name, tree ? "it is unpacked" : "it is fetched");
	return true;
}
