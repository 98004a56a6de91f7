#include "assets/cache/tree.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/unpack/extract.h"
#include "nodeup/base/str.h"
#include "nodeup/base/walk.h"

enum { SYNCS_MAX = 1000, TARGET_MAX = 4096 };

struct sum {
	struct digest_ctx *ctx;
	bool reads; /* it hashes the contents, else when they were written */
};

static const char by_content[] = "tree", by_stamp[] = "seen";

/* Type, owner, length and name of an entry. The name's NUL keeps it apart from what follows. */
static void add_head(struct sum *s, const char *name, const struct stat *st)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "%o %u %u %lld ", st->st_mode, st->st_uid, st->st_gid,
			 S_ISDIR(st->st_mode) ? 0 : (long long)st->st_size);

	digest_update(s->ctx, head, (size_t)n);
	digest_update(s->ctx, name, strlen(name) + 1);
	if (!s->reads) {
		const struct io_stamp stamp = io_stamp_of(st);

		digest_update(s->ctx, &stamp.ino, sizeof(stamp.ino));
		digest_update(s->ctx, &stamp.mtime_ns, sizeof(stamp.mtime_ns));
		digest_update(s->ctx, &stamp.ctime_ns, sizeof(stamp.ctime_ns));
	}
}

static int add_entry(void *arg, const struct walk_at *at, struct err *e)
{
	struct sum *s = arg;
	char target[TARGET_MAX];
	autoclose int fd = -1;
	ssize_t n;

	if (!cache_is_closed(&at->st))
		return err_fail(e, ERR_SYSTEM, EPERM, "others can write to '%s/%s'", at->path,
				at->name);
	add_head(s, at->name, &at->st);
	if (S_ISLNK(at->st.st_mode)) {
		n = readlinkat(at->dir, at->name, target, sizeof(target));
		if (n < 0)
			return err_sys(e, "read the link '%s/%s'", at->path, at->name);
		digest_update(s->ctx, target, (size_t)n);
		return 0;
	}
	if (!s->reads || S_ISDIR(at->st.st_mode))
		return 1;
	fd = io_open_at(at->dir, at->name, O_NOFOLLOW);
	return fd < 0 || digest_update_fd(s->ctx, fd) < 0
		       ? err_sys(e, "read '%s/%s'", at->path, at->name)
		       : 0;
}

/* End a directory. No entry has an empty head, so what follows the directory cannot be taken for
 * a part of it. */
static int add_end(void *arg, const struct walk_at *at, struct err *e)
{
	const struct sum *s = arg;

	(void)at;
	(void)e;
	digest_update(s->ctx, "", 1);
	return 0;
}

static int digest_tree(int fd, bool reads, struct digest *ret)
{
	autodigest struct digest_ctx *ctx = digest_new(DIGEST_SHA256);
	struct sum s = { .ctx = ctx, .reads = reads };
	const struct walk walk = { .enter = add_entry, .leave = add_end, .arg = &s };
	struct stat st;
	struct err e;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!cache_is_closed(&st))
		return -EPERM;
	if (walk_below(fd, &walk, &e) < 0)
		return -e.errnum;
	digest_update(ctx, "", 1);
	digest_final(ctx, ret);
	return 0;
}

int cache_tree_stamp(int fd, struct digest *ret)
{
	return digest_tree(fd, false, ret);
}

int cache_tree_digest(int fd, struct digest *ret)
{
	return digest_tree(fd, true, ret);
}

static int sync_entry(void *arg, const struct walk_at *at, struct err *e)
{
	autoclose int fd = -1;
	size_t *left = arg;

	/* a link is part of its directory */
	if (S_ISLNK(at->st.st_mode))
		return 0;
	if ((*left)-- == 0)
		return err_fail(e, ERR_SYSTEM, E2BIG, "more than %d entries", SYNCS_MAX);
	if (S_ISDIR(at->st.st_mode))
		return 1;
	fd = io_open_at(at->dir, at->name, O_NOFOLLOW);
	return fd < 0 || fsync(fd) < 0 ? err_sys(e, "flush '%s/%s'", at->path, at->name) : 0;
}

static int sync_dir(void *arg, const struct walk_at *at, struct err *e)
{
	(void)arg;
	return fsync(at->fd) < 0 ? err_sys(e, "flush '%s/%s'", at->path, at->name) : 0;
}

/* fsync fd and all below it. Not syncfs: that would wait for what others write, too. The extractor has set
 * all of it going, so that the first of the many waits for the journal and the others find their work done.
 * But each may wait for the journal, so that very many of them take longer than all that others write. */
int cache_tree_sync(int fd)
{
	size_t left = SYNCS_MAX;
	const struct walk walk = { .enter = sync_entry, .leave = sync_dir, .arg = &left };
	struct err e;

	if (walk_below(fd, &walk, &e) < 0) {
		if (e.errnum != E2BIG)
			return -e.errnum;
		return syncfs(fd) < 0 ? -errno : 0;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static const char *record_name(const struct digest *archive, const char *what,
			       char out[static CACHE_NAME_MAX])
{
	char name[CACHE_NAME_MAX];

	(void)snprintf(out, CACHE_NAME_MAX, "%.*s.%s", CACHE_NAME_MAX - 6,
		       cache_side_name("verified", archive, name), what);
	return out;
}

/* The version stands for what a record promises, not only for its form: see tree.h. */
static size_t render_record(const struct digest *tree, char out[static CACHE_RECORD_MAX])
{
	char hex[DIGEST_TEXT_MAX];

	return (size_t)snprintf(out, CACHE_RECORD_MAX, "v2 %s", digest_hex(tree, hex));
}

static bool is_recorded(const struct cache *c, const struct digest *archive, const char *what,
			const struct digest *tree)
{
	char name[CACHE_NAME_MAX], text[CACHE_RECORD_MAX];
	const size_t n = render_record(tree, text);

	return cache_says(c, record_name(archive, what, name), text, n);
}

static void write_record(struct cache *c, const struct digest *archive, const char *what,
			 const struct digest *tree)
{
	char name[CACHE_NAME_MAX], text[CACHE_RECORD_MAX];
	const size_t n = render_record(tree, text);

	/* without a record the next run compares the tree with its archive: no reason to fail */
	(void)cache_put(c, record_name(archive, what, name), text, n, NULL);
}

/* The stamp of the tree that has the archive's name now. */
static int stamp_published(const struct cache *c, const struct digest *archive, struct digest *ret)
{
	char name[CACHE_NAME_MAX];
	autoclose int fd = c->dir_fd < 0 ? -1
					 : io_open_at(c->dir_fd,
						      cache_side_name("unpacked", archive, name),
						      O_DIRECTORY | O_NOFOLLOW);

	return fd < 0 ? -ENOENT : digest_tree(fd, false, ret);
}

static void know_tree(struct cache *c, const struct cache_known_tree *known)
{
	(void)pthread_mutex_lock(&c->trees_lock);
	c->trees = xrealloc(c->trees, (c->n_trees + 1) * sizeof(*c->trees));
	c->trees[c->n_trees++] = *known;
	(void)pthread_mutex_unlock(&c->trees_lock);
}

/* What was last learned of the archive's tree; false when this process has not looked at it. */
static bool find_known(struct cache *c, const struct digest *archive, struct cache_known_tree *ret)
{
	bool found = false;

	(void)pthread_mutex_lock(&c->trees_lock);
	for (size_t i = 0; i < c->n_trees; i++)
		if (digest_eq(&c->trees[i].archive, archive)) {
			*ret = c->trees[i];
			found = true;
		}
	(void)pthread_mutex_unlock(&c->trees_lock);
	return found;
}

bool cache_has_tree(struct cache *c, const struct digest *d)
{
	struct cache_known_tree known;
	const bool is_known = find_known(c, d, &known);
	struct digest now;

	if ((is_known && known.wrong) || stamp_published(c, d, &now) < 0)
		return false;
	return (is_known && digest_eq(&known.stamp, &now)) || is_recorded(c, d, by_stamp, &now);
}

void cache_tree_believe(struct cache *c, const struct digest *archive, const struct digest *stamp)
{
	know_tree(c, &(struct cache_known_tree){ .archive = *archive, .stamp = *stamp });
	if (!is_recorded(c, archive, by_stamp, stamp))
		write_record(c, archive, by_stamp, stamp);
}

void cache_tree_await(struct cache *c, const struct digest *archive, const struct digest *stamp)
{
	const struct cache_known_tree known = { *archive, *stamp, .waits = true };

	know_tree(c, &known);
}

/* Take what waits to be settled; the caller frees the trees. */
static struct cache_known_tree *take_waiting(struct cache *c, size_t *ret_n, bool *ret_names)
{
	struct cache_known_tree *trees;

	(void)pthread_mutex_lock(&c->trees_lock);
	trees = xcalloc(c->n_trees + 1, sizeof(*trees));
	*ret_n = 0;
	for (size_t i = 0; i < c->n_trees; i++)
		if (c->trees[i].waits) {
			trees[(*ret_n)++] = c->trees[i];
			c->trees[i].waits = false;
		}
	*ret_names = TAKE(c->names_wait);
	(void)pthread_mutex_unlock(&c->trees_lock);
	return trees;
}

/* Of a tree that was changed or replaced since, nothing is said: it is compared before it is used. */
static bool is_still(const struct cache *c, const struct cache_known_tree *tree)
{
	struct digest now;

	return stamp_published(c, &tree->archive, &now) == 0 && digest_eq(&now, &tree->stamp);
}

int cache_settle(struct cache *c, struct err *e)
{
	autofree struct cache_known_tree *trees = NULL;
	bool names;
	size_t n;
	int r = 0;

	trees = take_waiting(c, &n, &names);
	if (!n && !names)
		return 0;
	/* which file was lost is not told, and all of them read as right from memory */
	if (syncfs(c->dir_fd) < 0)
		r = err_sys(e, "sync the asset cache '%s'", c->dir);
	for (size_t i = 0; i < n; i++)
		if (is_still(c, &trees[i])) {
			if (r < 0)
				(void)cache_tree_drop(c, &trees[i].archive);
			else
				write_record(c, &trees[i].archive, by_stamp, &trees[i].stamp);
		}
	return r;
}

/* It is moved to tmp/ first: half a tree must not have a tree's name, wherever we are killed. */
bool cache_tree_drop(struct cache *c, const struct digest *archive)
{
	char name[CACHE_NAME_MAX], tmp[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);

	(void)unlinkat(c->dir_fd, record_name(archive, by_content, name), 0);
	(void)unlinkat(c->dir_fd, record_name(archive, by_stamp, name), 0);
	cache_side_name("unpacked", archive, name);
	cache_side_name("tmp", archive, tmp);
	(void)walk_remove(c->dir_fd, tmp);
	if (renameat(c->dir_fd, name, c->dir_fd, tmp) < 0)
		return false;
	(void)walk_remove(c->dir_fd, tmp);
	return true;
}

/* Whether the tree is what its archive holds; the archive is read for that. */
static bool is_as_archive(struct cache *c, const struct asset *as, int tree)
{
	/* as for the first time: what did not fit then has no tree */
	static const struct extract_limits limits = { .entries = UINT64_MAX, .bytes = UINT64_MAX };
	autoclose int archive = -1;
	struct err e;

	return cache_inspect(c, &as->digest, CACHE_BY_BYTES, &e).state == CACHE_RIGHT &&
	       cache_open(c, &as->digest, &archive, &e) >= 0 &&
	       extract_compare(archive, as->name, tree, &limits, &e) >= 0;
}

/* Whether the tree is right. Its stamp is taken before it is read. */
static bool is_right(struct cache *c, const struct asset *as, int tree, struct digest *ret_stamp)
{
	struct digest have, after;

	/* an entry that others can write to is wrong by that alone */
	if (cache_tree_stamp(tree, ret_stamp) < 0 || cache_tree_digest(tree, &have) < 0)
		return false;
	if (is_recorded(c, &as->digest, by_content, &have))
		return true;
	if (!is_as_archive(c, as, tree))
		return false;
	/* what was hashed is what was compared */
	if (c->writable && cache_tree_stamp(tree, &after) == 0 && digest_eq(ret_stamp, &after))
		write_record(c, &as->digest, by_content, &have);
	return true;
}

/* Remove the tree; in a cache open for reading only, remember that it is wrong. */
static bool give_up_tree(struct cache *c, const struct digest *archive)
{
	if (c->writable)
		return cache_tree_drop(c, archive);
	know_tree(c, &(struct cache_known_tree){ .archive = *archive, .wrong = true });
	return true;
}

bool cache_tree_is_wrong(struct cache *c, const struct asset *as)
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
	if (tree < 0 || !is_right(c, as, tree, &stamp))
		return give_up_tree(c, &as->digest);
	if (!c->writable)
		return false;
	if (!cache_has_tree(c, &as->digest) && cache_tree_sync(tree) < 0)
		return cache_tree_drop(c, &as->digest);
	cache_tree_believe(c, &as->digest, &stamp);
	return false;
}

bool cache_heal(struct cache *c, const struct asset *as, bool tree, struct err *e)
{
	struct err why;

	if (!cache_is_damage(e->errnum) || !c->writable)
		return false;
	if (tree ? !cache_tree_is_wrong(c, as)
		 : cache_inspect(c, &as->digest, CACHE_BY_BYTES, &why).state != CACHE_DAMAGED)
		return false;
	err_note(e, "next", "what the cache had of %s is damaged and was thrown away: %s again",
		 as->name, tree ? "it is unpacked" : "it is fetched");
	return true;
}
