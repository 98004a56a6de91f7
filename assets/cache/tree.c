#include "assets/cache/tree.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/guard.h"
#include "nodeup/base/str.h"

enum { DEPTH_MAX = 256, SYNCS_MAX = 1000, TARGET_MAX = 4096, CHUNK = 256 * 1024, RECORD_MAX = 160 };

struct walk {
	struct digest_ctx *sum;
	char *chunk; /* NULL: contents are not read, but when they were written */
};

static const char by_content[] = "tree", by_stamp[] = "seen";

static int add_tree(struct walk *w, int fd, int depth);

static int add_bytes(struct walk *w, int fd)
{
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, w->chunk, CHUNK, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		digest_update(w->sum, w->chunk, (size_t)n);
		at += n;
	}
	return 0;
}

/* What it is, its length and its name; with its end, so that nothing runs into what follows. */
static void add_head(struct walk *w, const char *name, const struct stat *st)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "%o %u %u %lld ", st->st_mode, st->st_uid, st->st_gid,
			 S_ISDIR(st->st_mode) ? 0 : (long long)st->st_size);

	digest_update(w->sum, head, (size_t)n);
	digest_update(w->sum, name, strlen(name) + 1);
	if (!w->chunk) {
		const struct io_stamp s = io_stamp_of(st);

		digest_update(w->sum, &s.ino, sizeof(s.ino));
		digest_update(w->sum, &s.mtime_ns, sizeof(s.mtime_ns));
		digest_update(w->sum, &s.ctime_ns, sizeof(s.ctime_ns));
	}
}

static int add_entry(struct walk *w, int dir, const char *name, int depth)
{
	char target[TARGET_MAX];
	autoclose int fd = -1;
	struct stat st;
	ssize_t n;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!cache_is_closed(&st))
		return -EPERM;
	add_head(w, name, &st);
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target));
		if (n < 0)
			return -errno;
		digest_update(w->sum, target, (size_t)n);
		return 0;
	}
	if (!w->chunk && !S_ISDIR(st.st_mode))
		return 0;
	fd = io_open_at(dir, name, O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? add_tree(w, fd, depth + 1) : add_bytes(w, fd);
}

static int add_tree(struct walk *w, int fd, int depth)
{
	autoarena struct arena *a = arena_new_empty();
	int own = io_open_at(fd, ".", O_DIRECTORY);
	autodir DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct strv names = { 0 };
	const char *name;
	int r;

	if (!dir || depth == DEPTH_MAX)
		return dir ? -ELOOP : -errno;
	while ((r = io_next_name(dir, &name)) > 0)
		strv_add(a, &names, arena_str(a, name));
	strv_sort(&names);
	for (size_t i = 0; i < names.n && r == 0; i++)
		r = add_entry(w, fd, names.v[i], depth);
	/* no entry has an empty head */
	digest_update(w->sum, "", 1);
	return r;
}

static int walk(int fd, char *chunk, struct digest *ret)
{
	autodigest struct digest_ctx *sum = digest_new(DIGEST_SHA256);
	struct walk w = { .sum = sum, .chunk = chunk };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!cache_is_closed(&st))
		return -EPERM;
	r = add_tree(&w, fd, 0);
	if (r == 0)
		digest_final(sum, ret);
	return r;
}

int cache_tree_stamp(int fd, struct digest *ret)
{
	return walk(fd, NULL, ret);
}

int cache_tree_digest(int fd, struct digest *ret)
{
	autofree char *chunk = xrealloc(NULL, CHUNK);

	return walk(fd, chunk, ret);
}

/* fsync fd and all below it, which extract_tar made at most DEPTH_MAX deep. Not syncfs: that would
 * wait for what others write, too. The extractor has set all of it going, so that the first of the
 * many waits for the journal and the others find their work done. -E2BIG: more than *left of them. */
static int sync_below(int fd, int depth, size_t *left)
{
	autoclose int own = -1;
	autodir DIR *dir = NULL;
	const char *name;
	struct stat st;
	int r;

	if ((*left)-- == 0)
		return -E2BIG;
	if (fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && fsync(fd) < 0))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (depth == DEPTH_MAX)
		return -ELOOP;
	own = io_open_at(fd, ".", O_DIRECTORY);
	dir = own < 0 ? NULL : fdopendir(own);
	if (!dir)
		return -errno;
	own = -1; /* dir's */
	while ((r = io_next_name(dir, &name)) > 0) {
		autoclose int child = io_open_at(fd, name, O_NOFOLLOW);

		if (child >= 0)
			r = sync_below(child, depth + 1, left);
		else if (errno != ELOOP) /* a link is part of its directory */
			r = -errno;
		if (r < 0)
			return r;
	}
	return r < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Each may wait for the journal, so that many of them take longer than all that others write. */
int cache_tree_sync(int fd)
{
	size_t left = SYNCS_MAX;
	int r = sync_below(fd, 0, &left);

	if (r == -E2BIG)
		r = syncfs(fd) < 0 ? -errno : 0;
	return r;
}

static const char *record_name(const struct digest *archive, const char *what,
			       char out[static CACHE_NAME_MAX])
{
	char name[CACHE_NAME_MAX];

	(void)snprintf(out, CACHE_NAME_MAX, "%.*s.%s", CACHE_NAME_MAX - 6,
		       cache_side_name("verified", archive, name), what);
	return out;
}

/* The version is that of what a record promises, not only of its form: cache_tree.h. */
static size_t render(const struct digest *tree, char out[static RECORD_MAX])
{
	char hex[DIGEST_TEXT_MAX];

	return (size_t)snprintf(out, RECORD_MAX, "v2 %s", digest_hex(tree, hex));
}

static bool is_recorded(const struct cache *c, const struct digest *archive, const char *what,
			const struct digest *tree)
{
	char name[CACHE_NAME_MAX], text[RECORD_MAX], have[RECORD_MAX];
	autoclose int fd = io_open_at(c->dir_fd, record_name(archive, what, name), O_NOFOLLOW);
	const size_t n = render(tree, text);

	return cache_has_records(c) && fd >= 0 && read(fd, have, sizeof(have)) == (ssize_t)n &&
	       memcmp(text, have, n) == 0;
}

bool cache_tree_is_recorded(const struct cache *c, const struct digest *archive,
			    const struct digest *tree)
{
	return is_recorded(c, archive, by_content, tree);
}

static void record(struct cache *c, const struct digest *archive, const char *what,
		   const struct digest *tree)
{
	char name[CACHE_NAME_MAX], text[RECORD_MAX];
	const size_t n = render(tree, text);

	/* without a record the archive is unpacked once more: no reason to fail */
	(void)cache_put(c, record_name(archive, what, name), text, n);
}

void cache_tree_record(struct cache *c, const struct digest *archive, const struct digest *tree)
{
	record(c, archive, by_content, tree);
}

/* The stamp of the tree that is there. */
static int stamp(const struct cache *c, const struct digest *archive, struct digest *ret)
{
	char name[CACHE_NAME_MAX];
	autoclose int fd = c->dir_fd < 0 ? -1
					 : io_open_at(c->dir_fd,
						      cache_side_name("unpacked", archive, name),
						      O_DIRECTORY | O_NOFOLLOW);

	return fd < 0 ? -ENOENT : walk(fd, NULL, ret);
}

static bool is_distrusted(const struct cache *c, const struct digest *d)
{
	for (size_t i = 0; i < c->n_wrong_trees; i++)
		if (digest_eq(&c->wrong_trees[i], d))
			return true;
	return false;
}

bool cache_has_tree(struct cache *c, const struct digest *d)
{
	struct digest now;

	return !is_distrusted(c, d) && stamp(c, d, &now) == 0 && is_recorded(c, d, by_stamp, &now);
}

void cache_distrust_tree(struct cache *c, const struct digest *d)
{
	c->wrong_trees = xrealloc(c->wrong_trees, (c->n_wrong_trees + 1) * sizeof(*c->wrong_trees));
	c->wrong_trees[c->n_wrong_trees++] = *d;
}

void cache_tree_believe(struct cache *c, const struct digest *archive, const struct digest *stamp)
{
	if (!is_recorded(c, archive, by_stamp, stamp))
		record(c, archive, by_stamp, stamp);
}

void cache_tree_forget(struct cache *c, const struct digest *archive)
{
	char name[CACHE_NAME_MAX];

	(void)unlinkat(c->dir_fd, record_name(archive, by_content, name), 0);
	(void)unlinkat(c->dir_fd, record_name(archive, by_stamp, name), 0);
}
