#include "assets/cache/unpack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/tree.h"
#include "nodeup/base/walk.h"

/* The largest real archive, a set of container images, has 10 GB and few files. */
#define ENTRIES_MAX (200 * 1000)
#define BYTES_MAX (UINT64_C(32) << 30)

struct unpack {
	struct cache *cache;
	struct arena *arena;
	struct asset *as;         /* ours; its members are those that the tree will have */
	char tmp[CACHE_NAME_MAX]; /* the tree's, until it is published */
	int tree_fd;
	struct extract *extract; /* NULL when the child is done */
};

const char *cache_unpacked_path(struct cache *c, struct arena *a, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	return arena_printf(a, "%s/%s", c->dir, cache_side_name("unpacked", d, name));
}

/* Whether the tree is there; what lies there may be of before there were records, a copy, or planted. */
static bool has_tree_now(struct cache *c, const struct asset *as)
{
	return cache_has_tree(c, as) || (!cache_tree_is_wrong(c, as) && cache_has_tree(c, as));
}

/* Give the complete tree its name. It is believed by its record alone, so what has to be durable first is
 * the tree before its record: cache_settle sees to that, and flushes it with all that was unpacked. */
static int publish_tree(struct unpack *u, struct err *e)
{
	struct cache *c = u->cache;
	char name[CACHE_NAME_MAX];
	const bool settles = cache_settles(c);
	const char *members = cache_tree_members(u->arena, u->as);
	struct digest stamp;
	bool ours;
	int r;

	if (fchmod(u->tree_fd, 0755) < 0)
		return err_sys(e, "set the mode of '%s/%s'", c->dir, u->tmp);
	r = settles ? 0 : cache_tree_sync(u->tree_fd);
	if (r < 0)
		return err_fail(e, ERR_SYSTEM, -r, "sync '%s/%s': %s", c->dir, u->tmp,
				strerror(-r));
	/* while it is below tmp/, where no other user gets: it is of what was verified. The name that the
	 * tree gets changes nothing that the stamp is made of */
	r = cache_tree_stamp(u->tree_fd, &stamp);
	if (r < 0)
		return err_fail(e, ERR_SYSTEM, -r, "look at '%s/%s': %s", c->dir, u->tmp,
				strerror(-r));
	cache_side_name("unpacked", &u->as->digest, name);
	/* another process may have been faster: its tree is as good, if it is what it should be. One that lacks
	 * members was in use until now */
	for (int tries = 2;;) {
		autoclose int other = -1;

		ours = renameat(c->dir_fd, u->tmp, c->dir_fd, name) == 0;
		if (!ours && errno != ENOTEMPTY && errno != EEXIST)
			return err_sys(e, "rename into '%s/%s'", c->dir, name);
		other = ours ? -1 : cache_tree_open(c, &u->as->digest);
		if (ours || has_tree_now(c, u->as))
			break;
		if (--tries == 0)
			return err_fail(e, ERR_SYSTEM, EAGAIN, "'%s/%s' was not what it should be",
					c->dir, name);
		if (other >= 0)
			(void)cache_tree_drop(c, &u->as->digest, other);
	}
	r = cache_note_name(c, "unpacked", e);
	if (r < 0)
		return r;
	if (ours)
		cache_tree_believe(c, &u->as->digest, &stamp, members, settles);
	return 0;
}

/* 0, or -EALREADY when there is nothing to do. */
static int check_needed(struct cache *c, const struct asset *as, struct err *e)
{
	if (has_tree_now(c, as))
		return -EALREADY;
	if (!asset_is_archive(as))
		return err_fail(e, ERR_INTEGRITY, EINVAL, "asset '%s' is not an archive", as->name);
	if (!c->writable)
		return err_fail(e, ERR_SYSTEM, EROFS, "the cache '%s' is open for reading only",
				c->dir);
	return 0;
}

/* What the tree has by now it is to have again: others may want that of it. */
static void keep_members(struct unpack *u)
{
	const char *members;
	struct strv *all, had;

	if (!u->as->members || !cache_tree_noted(u->cache, u->arena, &u->as->digest, &members))
		return;
	all = arena_new(u->arena, struct strv);
	*all = *u->as->members;
	had = strv_split(u->arena, members ? members : "", '\n');
	for (size_t i = 0; i < had.n; i++)
		strv_add_once(u->arena, all, had.v[i]);
	u->as->members = members ? all : NULL;
}

static int start_unpack(struct cache *c, const struct asset *as, int in_fd, struct unpack **ret,
			struct err *e)
{
	struct unpack *u = xcalloc(1, sizeof(*u));
	struct extract_limits limits = { .entries = ENTRIES_MAX, .bytes = BYTES_MAX };
	int r;

	*u = (struct unpack){ .cache = c, .arena = arena_new_empty(), .tree_fd = -1 };
	u->as = asset_copy_archive(u->arena, as);
	keep_members(u);
	limits.members = u->as->members;
	r = cache_make_tmp(c, true, u->tmp, &u->tree_fd, e);
	if (r < 0)
		u->tmp[0] = '\0';
	else
		r = extract_start(u->as->name, in_fd, u->tree_fd, &limits, &u->extract, e);
	if (r < 0)
		unpack_abort(u);
	else
		*ret = u;
	return r;
}

int unpack_start(struct cache *c, const struct asset *as, struct unpack **ret, struct err *e)
{
	int r = check_needed(c, as, e);

	*ret = NULL;
	return r < 0 ? r : start_unpack(c, as, -1, ret, e);
}

/* Say where there is no room, and how much there is: the child cannot tell. */
static int explain_room(const struct unpack *u, struct err *e)
{
	if (!io_is_full(e->errnum))
		return err_code(e);
	(void)err_wrap(e, "asset cache '%s'", u->cache->dir);
	return io_say_room(u->tree_fd, e->room.wanted, e);
}

int unpack_feed(struct unpack *u, const struct extract_piece *piece, struct err *e)
{
	return extract_feed(u->extract, piece, e);
}

int unpack_finish(struct unpack *u, struct err *e)
{
	int r = extract_finish(u->extract, e);

	u->extract = NULL;
	if (r >= 0)
		r = publish_tree(u, e);
	if (r < 0)
		r = explain_room(u, e);
	unpack_abort(u);
	return r;
}

void unpack_abort(struct unpack *u)
{
	if (!u)
		return;
	extract_abort(u->extract);
	/* ours, or nothing if it has its name now */
	if (u->tmp[0])
		(void)walk_remove(u->cache->dir_fd, u->tmp);
	cleanup_closep(&u->tree_fd);
	arena_free(u->arena);
	free(u);
}

int cache_unpack(struct cache *c, const struct asset *as, struct err *e)
{
	autoclose int archive = -1;
	struct asset whole = *as;
	struct unpack *u;
	int r = check_needed(c, as, e);

	if (r < 0)
		return r == -EALREADY ? 0 : r;
	r = cache_open(c, &as->digest, &archive, e);
	if (r < 0)
		return err_wrap(e, "unpack '%s'", as->name);
	r = start_unpack(c, as, archive, &u, e);
	r = r < 0 ? r : unpack_finish(u, e);
	/* a member is another name of a file that is not one */
	whole.members = NULL;
	return r == -EMLINK && as->members ? cache_unpack(c, &whole, e) : r;
}

static const struct extract_limits usual_limits = { .entries = ENTRIES_MAX, .bytes = BYTES_MAX };

static int open_signed(struct cache *c, const struct asset *as, int *ret_fd, struct err *e)
{
	int r;

	if (!cache_is_signed(c, as))
		return err_fail(e, ERR_SYSTEM, EAGAIN, "asset %s: its signature is not checked yet",
				as->name);
	r = cache_open(c, &as->digest, ret_fd, e);
	return r < 0 ? err_wrap(e, "read '%s'", as->name) : 0;
}

int cache_take(struct cache *c, struct arena *a, const struct asset *as, struct extract_take *takes,
	       size_t n, struct err *e)
{
	autoclose int fd = -1;
	int r = open_signed(c, as, &fd, e);

	return r < 0 ? r : extract_take(a, fd, as->name, &usual_limits, takes, n, e);
}

int cache_give(struct cache *c, struct arena *a, const struct asset *as, uint64_t entry,
	       int *ret_fd, struct extract **ret, struct err *e)
{
	struct extract_take *take = arena_new(a, struct extract_take);
	autoclose int fd = -1, from = -1, to = -1;
	int fds[2], r = open_signed(c, as, &fd, e);

	if (r < 0)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	from = fds[0];
	to = fds[1];
	*take = (struct extract_take){ .member = "", .fd = to, .entry = entry };
	r = extract_take_start(a, fd, as->name, &usual_limits, take, 1, ret, e);
	if (r >= 0)
		*ret_fd = TAKE_FD(from);
	return r;
}
