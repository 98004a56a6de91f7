#include "nodeup/move/move.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/walk.h"

struct sum {
	dev_t dev;
	struct tree_stamp found;
};

static void add_entry(struct sum *s, const struct stat *st)
{
	const int64_t changed = st->st_ctim.tv_sec * DUR_SEC + st->st_ctim.tv_nsec;

	s->found.files++;
	s->found.bytes += (uint64_t)st->st_size;
	if (changed > s->found.newest_ns)
		s->found.newest_ns = changed;
}

/* Adds the least space that a copy of a file takes. Holes may stay holes. A file with several names counts once, as
 * all the names may be in the tree. */
static void take_room(struct sum *s, const struct stat *st)
{
	const uint64_t on_disk = (uint64_t)st->st_blocks * 512, size = (uint64_t)st->st_size;

	if (S_ISREG(st->st_mode))
		s->found.disk_bytes += (on_disk < size ? on_disk : size) / st->st_nlink;
	s->found.inodes += S_ISDIR(st->st_mode) || st->st_nlink == 1;
}

static int take_entry(void *arg, const struct walk_at *at, struct err *e)
{
	struct sum *s = arg;

	(void)e;
	if (S_ISREG(at->st.st_mode) || S_ISLNK(at->st.st_mode))
		add_entry(s, &at->st);
	take_room(s, &at->st);
	/* a mount belongs to another file system */
	return at->st.st_dev == s->dev;
}

int tree_stamp_at(int root_fd, const char *path, struct tree_stamp *ret, struct err *e)
{
	struct sum s = { 0 };
	const struct walk walk = { .enter = take_entry, .arg = &s, .live = true };
	autoclose int fd = -1;
	struct stat st;
	int r = io_open_dir(root_fd, path, &fd, e);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "look at a directory");
	s.dev = st.st_dev;
	r = walk_below(fd, &walk, e);
	if (r == 0)
		*ret = s.found;
	return r;
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
