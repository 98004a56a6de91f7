#include "nodeup/tasks/tree_stamp.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"

enum { DEPTH_MAX = 256 };

struct walk {
	dev_t dev;
	struct tree_stamp found;
	int depth;
};

static void take(struct walk *w, const struct stat *st)
{
	const int64_t changed = st->st_ctim.tv_sec * DUR_SEC + st->st_ctim.tv_nsec;

	w->found.files++;
	w->found.bytes += (uint64_t)st->st_size;
	if (changed > w->found.newest_ns)
		w->found.newest_ns = changed;
}

/* Holes may stay holes, and a file of several names is one: by all that is known it is within the tree. */
static void take_room(struct walk *w, const struct stat *st)
{
	const uint64_t on_disk = (uint64_t)st->st_blocks * 512, size = (uint64_t)st->st_size;

	if (S_ISREG(st->st_mode))
		w->found.disk_bytes += (on_disk < size ? on_disk : size) / st->st_nlink;
	w->found.inodes += S_ISDIR(st->st_mode) || st->st_nlink == 1;
}

static int walk(struct walk *w, int parent, const char *name, struct err *e);

static int visit(struct walk *w, int dir, const char *name, struct err *e)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "look at '%s'", name);
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		take(w, &st);
	take_room(w, &st);
	/* a mount is another file system's */
	return S_ISDIR(st.st_mode) && st.st_dev == w->dev ? walk(w, dir, name, e) : 0;
}

static int walk(struct walk *w, int parent, const char *name, struct err *e)
{
	autoclose int fd = io_open_at(parent, name, O_DIRECTORY | O_NOFOLLOW);
	autodir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const char *entry;
	int r = 0, more = 0;

	if (!dir)
		return errno == ENOENT ? 0 : err_sys(e, "read the directory '%s'", name);
	(void)TAKE_FD(fd);
	if (++w->depth > DEPTH_MAX)
		return err_fail(e, ERR_SYSTEM, ELOOP, "'%s' is too deep", name);
	while (r == 0 && (more = io_next_name(dir, &entry)) > 0)
		r = visit(w, dirfd(dir), entry, e);
	w->depth--;
	if (r < 0 || more == 0)
		return r;
	return err_sys(e, "read the directory '%s'", name);
}

int tree_stamp(int fd, struct tree_stamp *ret, struct err *e)
{
	struct walk w = { 0 };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "look at a directory");
	w.dev = st.st_dev;
	r = walk(&w, fd, ".", e);
	if (r == 0)
		*ret = w.found;
	return r;
}

int tree_stamp_at(int root_fd, const char *path, struct tree_stamp *ret, struct err *e)
{
	autoclose int fd = -1;
	int r = io_open(root_fd, path, O_RDONLY | O_DIRECTORY, &fd, e);

	return r < 0 ? r : tree_stamp(fd, ret, e);
}

bool tree_stamp_eq(const struct tree_stamp *a, const struct tree_stamp *b)
{
	return a->files == b->files && a->bytes == b->bytes && a->newest_ns == b->newest_ns;
}

char *tree_stamp_text(struct arena *a, const struct tree_stamp *s)
{
	return arena_printf(a, "files %" PRIu64 " bytes %" PRIu64 " newest %" PRId64, s->files,
			    s->bytes, s->newest_ns);
}
