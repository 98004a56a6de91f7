#include "assets/cache/tree.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/unpack/extract.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"
#include "nodeup/base/walk.h"

enum { SYNCS_MAX = 1000, TARGET_MAX = 4096, RECORD_MAX = 64 * 1024 };

struct sum {
	struct digest_ctx *ctx;
	bool of_times; /* inode, size and times stand for the bytes */
};

/* Names the kinds of records: of a tree by its bytes, and by its stamp. */
static const char by_content[] = "tree", by_stamp[] = "seen";

/* Type, owner, length and name of an entry. The name's NUL keeps it apart from what follows. */
static void add_head(struct sum *s, const char *name, const struct stat *st)
{
	char head[64];
	int n = print_to(head, sizeof(head), "%o %u %u %lld ", st->st_mode, st->st_uid, st->st_gid,
			 S_ISDIR(st->st_mode) ? 0 : (long long)st->st_size);

	digest_update(s->ctx, head, (size_t)n);
	digest_update(s->ctx, name, strlen(name) + 1);
	if (s->of_times) {
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
	if (s->of_times || S_ISDIR(at->st.st_mode))
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

static int digest_tree(int fd, bool of_times, struct digest *ret)
{
	autodigest struct digest_ctx *ctx = digest_new(DIGEST_SHA256);
	struct sum s = { .ctx = ctx, .of_times = of_times };
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
	return digest_tree(fd, true, ret);
}

int cache_tree_digest(int fd, struct digest *ret)
{
	return digest_tree(fd, false, ret);
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

	(void)print_to(out, CACHE_NAME_MAX, "%.*s.%s", CACHE_NAME_MAX - 7,
		       cache_side_name("verified", archive, name), what);
	return out;
}

char *cache_tree_members(struct arena *a, const struct asset *as)
{
	struct strv sorted = { 0 };

	if (!as->members)
		return NULL;
	for (size_t i = 0; i < as->members->n; i++)
		strv_add(a, &sorted, as->members->v[i]);
	strv_sort(&sorted);
	return strv_join(a, &sorted, "\n");
}

/* Whether a tree with these members has all that the asset's is to have. */
static bool has_members(const char *members, const struct asset *as)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv have;

	have = strv_split(a, members ? members : "", '\n');
	return asset_has_members(&(struct asset){ .members = members ? &have : NULL }, as);
}

/* What is on record, of the tree of this digest; NULL: of whatever tree. The version stands for what a record
 * promises, not only for its form: see tree.h. */
static bool find_record(const struct cache *c, struct arena *a, const struct digest *archive,
			const char *what, const struct digest *tree, const char **ret_members)
{
	autobuf struct buf b = BUF_INIT(RECORD_MAX);
	char name[CACHE_NAME_MAX], hex[DIGEST_TEXT_MAX];
	const char *text, *end;

	if (!cache_read(c, record_name(archive, what, name), &b))
		return false;
	text = buf_str(&b);
	end = text + strcspn(text, "\n");
	if (strlen(text) != b.len ||
	    (strncmp(text, "v2 ", 3) != 0 || *end) == (strncmp(text, "v3 ", 3) != 0 || !*end))
		return false;
	*ret_members = *end ? arena_str(a, end + 1) : NULL;
	return !tree || (strlen(digest_hex(tree, hex)) == (size_t)(end - text - 3) &&
			 memcmp(text + 3, hex, strlen(hex)) == 0);
}

static bool is_recorded(const struct cache *c, const struct asset *as, const char *what,
			const struct digest *tree)
{
	autoarena struct arena *a = arena_new_empty();
	const char *members;

	return find_record(c, a, &as->digest, what, tree, &members) && has_members(members, as);
}

static void write_record(struct cache *c, const struct digest *archive, const char *what,
			 const struct digest *tree, const char *members)
{
	char name[CACHE_NAME_MAX], hex[DIGEST_TEXT_MAX];
	autofree char *text = xasprintf("v%d %s%s%s", members ? 3 : 2, digest_hex(tree, hex),
					members ? "\n" : "", members ? members : "");

	/* without a record the next run compares the tree with its archive: no reason to fail */
	(void)cache_put(c, record_name(archive, what, name), text, strlen(text), NULL);
}

int cache_tree_open(const struct cache *c, const struct digest *archive)
{
	char name[CACHE_NAME_MAX];

	return c->dir_fd < 0 ? -1
			     : io_open_at(c->dir_fd, cache_side_name("unpacked", archive, name),
					  O_DIRECTORY | O_NOFOLLOW);
}

/* The stamp of the tree that has the archive's name now. */
static int stamp_published(const struct cache *c, const struct digest *archive, struct digest *ret)
{
	autoclose int fd = cache_tree_open(c, archive);

	return fd < 0 ? -ENOENT : cache_tree_stamp(fd, ret);
}

/* The caller has the lock. */
static void add_known(struct cache *c, const struct cache_known_tree *known)
{
	c->trees = xrealloc(c->trees, (c->n_trees + 1) * sizeof(*c->trees));
	c->trees[c->n_trees++] = *known;
}

static void know_tree(struct cache *c, const struct cache_known_tree *known)
{
	(void)pthread_mutex_lock(&c->trees_lock);
	add_known(c, known);
	(void)pthread_mutex_unlock(&c->trees_lock);
}

/* What was last learned of the archive's tree; NULL when this process has not looked at it. The caller has the lock. */
static struct cache_known_tree *last_known(struct cache *c, const struct digest *archive)
{
	for (size_t i = c->n_trees; i > 0; i--)
		if (digest_eq(&c->trees[i - 1].archive, archive))
			return &c->trees[i - 1];
	return NULL;
}

static bool find_known(struct cache *c, const struct digest *archive, struct cache_known_tree *ret)
{
	const struct cache_known_tree *last;

	(void)pthread_mutex_lock(&c->trees_lock);
	last = last_known(c, archive);
	if (last)
		*ret = *last;
	(void)pthread_mutex_unlock(&c->trees_lock);
	return last != NULL;
}

/* Of a tree that was changed or replaced since, nothing is said: it is compared before it is used. */
static bool is_still(const struct cache *c, const struct cache_known_tree *tree)
{
	struct digest now;

	return stamp_published(c, &tree->archive, &now) == 0 && digest_eq(&now, &tree->stamp);
}

/* Returns what this process knows of the tree, if it is still that one. */
static bool find_still(struct cache *c, const struct digest *archive, struct cache_known_tree *ret)
{
	return find_known(c, archive, ret) && !ret->wrong && is_still(c, ret);
}

bool cache_had_tree(struct cache *c, const struct digest *archive)
{
	struct cache_known_tree known;

	return find_known(c, archive, &known) && !known.wrong;
}

bool cache_tree_noted(struct cache *c, struct arena *a, const struct digest *archive,
		      const char **ret_members)
{
	struct cache_known_tree known;

	/* what is known of a tree that another process has replaced is not true of the new one */
	if (!find_still(c, archive, &known))
		return find_record(c, a, archive, by_stamp, NULL, ret_members);
	*ret_members = known.members ? arena_str(a, known.members) : NULL;
	return true;
}

/* Whether the published tree is the one on record, with these members or more. */
static bool is_on_record(const struct cache *c, const struct asset *as)
{
	struct digest now;

	return stamp_published(c, &as->digest, &now) == 0 && is_recorded(c, as, by_stamp, &now);
}

/* Whether the tree at fd has the archive's name now. */
static bool is_published(const struct cache *c, const struct digest *archive, int tree)
{
	autoclose int now = cache_tree_open(c, archive);
	struct stat a, b;

	return now >= 0 && fstat(now, &a) == 0 && fstat(tree, &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

/* Whether its bytes are those that were last found right, whatever happened to its names and times: a file that shares
 * them was replaced, or restored from a backup. It is looked at once: else it is as good as absent until it is
 * compared with its archive. */
static bool has_same_bytes(struct cache *c, const struct asset *as)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int tree = cache_tree_open(c, &as->digest);
	struct digest stamp, have;
	const char *members;

	if (tree < 0 || !find_record(c, a, &as->digest, by_content, NULL, &members) ||
	    !has_members(members, as))
		return false;
	if (cache_tree_stamp(tree, &stamp) < 0 || cache_tree_digest(tree, &have) < 0 ||
	    !find_record(c, a, &as->digest, by_content, &have, &members) ||
	    (c->writable && cache_tree_sync(tree) < 0)) {
		/* of one that another process has replaced meanwhile nothing is known */
		if (is_published(c, &as->digest, tree))
			know_tree(c, &(struct cache_known_tree){ .archive = as->digest,
								 .wrong = true });
		return false;
	}
	cache_tree_believe(c, &as->digest, &stamp, members, false);
	return true;
}

static bool is_known(struct cache *c, const struct asset *as)
{
	struct cache_known_tree known;

	return find_still(c, &as->digest, &known) && has_members(known.members, as);
}

/* By its stamp, without reading it. */
static bool is_believed(struct cache *c, const struct asset *as, bool *ret_wrong)
{
	struct cache_known_tree known;

	*ret_wrong = find_known(c, &as->digest, &known) && known.wrong;
	return !*ret_wrong && (is_known(c, as) || is_on_record(c, as));
}

bool cache_has_tree(struct cache *c, const struct asset *as)
{
	bool is_wrong;

	return is_believed(c, as, &is_wrong) || (!is_wrong && has_same_bytes(c, as));
}

void cache_tree_believe(struct cache *c, const struct digest *archive, const struct digest *stamp,
			const char *members, bool waits)
{
	autoarena struct arena *a = arena_new_empty();
	const char *noted;

	know_tree(c, &(struct cache_known_tree){ .archive = *archive,
						 .stamp = *stamp,
						 .members = members ? xstrdup(members) : NULL,
						 .waits = waits });
	if (!waits && c->writable && !find_record(c, a, archive, by_stamp, stamp, &noted))
		write_record(c, archive, by_stamp, stamp, members);
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
				(void)cache_tree_drop(c, &trees[i].archive, -1);
			else
				write_record(c, &trees[i].archive, by_stamp, &trees[i].stamp,
					     trees[i].members);
		}
	return r;
}

/* It is moved to tmp/ first: half a tree must not have a tree's name, wherever we are killed. */
bool cache_tree_drop(struct cache *c, const struct digest *archive, int judged)
{
	char name[CACHE_NAME_MAX], tmp[CACHE_NAME_MAX];
	autoclose int lock = cache_lock(c, true);

	if (judged >= 0 && !is_published(c, archive, judged))
		return true;
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
static bool is_as_archive(struct cache *c, const struct asset *as, int tree, const char *members)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv names = strv_split(a, members ? members : "", '\n');
	/* as for the first time: what did not fit then has no tree */
	const struct extract_limits limits = { .entries = UINT64_MAX,
					       .bytes = UINT64_MAX,
					       .members = members ? &names : NULL };
	autoclose int archive = -1;
	struct err e;

	return cache_inspect(c, &as->digest, CACHE_BY_BYTES, &e).state == CACHE_RIGHT &&
	       cache_open(c, &as->digest, &archive, &e) >= 0 &&
	       extract_compare(archive, as->name, tree, &limits, &e) >= 0;
}

/* Whether it is what its archive holds of the members that are noted for it. What is noted may be of a tree that another
 * process has replaced since, and has noted nothing of: that one has what is wanted here, or all. */
static bool has_its_members(struct cache *c, const struct asset *as, int tree, struct arena *a,
			    const char **ret_members)
{
	const char *noted = NULL, *const wanted = cache_tree_members(a, as);
	const bool is_noted = cache_tree_noted(c, a, &as->digest, &noted);

	*ret_members = noted;
	if (is_noted && is_as_archive(c, as, tree, noted))
		return true;
	*ret_members = wanted;
	if (!(is_noted && str_eq(noted, wanted)) && is_as_archive(c, as, tree, wanted))
		return true;
	*ret_members = NULL;
	return wanted && !(is_noted && !noted) && is_as_archive(c, as, tree, NULL);
}

/* Whether the tree is right, with the members that are noted for it. Its stamp is taken before it is read. */
static bool is_right(struct cache *c, const struct asset *as, int tree, struct digest *ret_stamp,
		     struct arena *a, const char **ret_members)
{
	struct digest have, after;

	/* an entry that others can write to is wrong by that alone */
	if (cache_tree_stamp(tree, ret_stamp) < 0 || cache_tree_digest(tree, &have) < 0)
		return false;
	if (find_record(c, a, &as->digest, by_content, &have, ret_members))
		return true;
	if (!has_its_members(c, as, tree, a, ret_members))
		return false;
	/* what was hashed is what was compared */
	if (c->writable && cache_tree_stamp(tree, &after) == 0 && digest_eq(ret_stamp, &after))
		write_record(c, &as->digest, by_content, &have, *ret_members);
	return true;
}

/* Remove the tree; in a cache open for reading only, remember that it is wrong. */
static bool give_up_tree(struct cache *c, const struct digest *archive, int tree)
{
	if (c->writable)
		return cache_tree_drop(c, archive, tree);
	know_tree(c, &(struct cache_known_tree){ .archive = *archive, .wrong = true });
	return true;
}

bool cache_tree_is_wrong(struct cache *c, const struct asset *as)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int tree = -1;
	const char *members;
	struct digest stamp;
	bool was_wrong;

	if (c->dir_fd < 0)
		return false;
	tree = cache_tree_open(c, &as->digest);
	if (tree < 0 && errno == ENOENT)
		return false;
	if (tree < 0 || !is_right(c, as, tree, &stamp, a, &members))
		return give_up_tree(c, &as->digest, tree);
	if (!c->writable)
		return false;
	if (!is_believed(c, as, &was_wrong) && cache_tree_sync(tree) < 0)
		return cache_tree_drop(c, &as->digest, tree);
	cache_tree_believe(c, &as->digest, &stamp, members, false);
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
