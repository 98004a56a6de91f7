#include "assets/cache/lend.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "assets/cache/entry.h"
#include "assets/cache/tree.h"
#include "nodeup/base/print.h"

enum { PATH_LEN_MAX = 4096, LABEL_MAX = 256 };

static const char folder[] = "lent";

static bool have_same(int a, int b, const char *attribute)
{
	char value_a[LABEL_MAX], value_b[LABEL_MAX];
	const ssize_t na = fgetxattr(a, attribute, value_a, sizeof(value_a));
	const ssize_t nb = fgetxattr(b, attribute, value_b, sizeof(value_b));

	return na == nb && (na <= 0 || memcmp(value_a, value_b, (size_t)na) == 0);
}

/* A file keeps its label and its capabilities when it is renamed. A service may not execute what is labelled as a cache,
 * and a copy has no capabilities. */
static bool have_same_label(int a, int b)
{
	return have_same(a, b, "security.selinux") && have_same(a, b, "security.capability");
}

/* Of an entry that can be lent. */
static int open_alone(const struct cache *c, const char *name, int stage)
{
	autoclose int fd = io_open_at(c->dir_fd, name, O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || !cache_is_closed(&st) ||
	    !have_same_label(fd, stage))
		return -EPERM;
	return TAKE_FD(fd);
}

/* A second name for this file of the directory, or where name is "" for what is open itself, in the place of the empty
 * staging file. */
static int take_stage(int dir_fd, const char *name, const struct io_stage *s)
{
	char beside[sizeof(s->name) + 1];

	/* it begins as all staging files do, so that a sweep finds it */
	(void)print_to(beside, sizeof(beside), "%s+", s->name);
	if (linkat(dir_fd, name, s->dir_fd, beside, *name ? 0 : AT_EMPTY_PATH) < 0)
		return -errno;
	if (renameat(s->dir_fd, beside, s->dir_fd, s->name) < 0) {
		const int r = -errno;

		(void)unlinkat(s->dir_fd, beside, 0);
		return r;
	}
	return 0;
}

/* Locked as a staging file is, for those that sweep. */
static void hold_stage(struct io_stage *s, int fd)
{
	(void)flock(fd, LOCK_SH);
	(void)close(s->fd);
	s->fd = fd;
}

int cache_lend(struct cache *c, const struct digest *d, const char *path, struct io_stage *s)
{
	char entry[CACHE_NAME_MAX], note[CACHE_NAME_MAX];
	autoclose int fd = -1;
	int r;

	if (!c->writable)
		return -EROFS;
	fd = open_alone(c, cache_entry_name(d, entry), s->fd);
	if (fd < 0)
		return fd;
	cache_side_name(folder, d, note);
	r = cache_put(c, note, path, strlen(path), NULL);
	if (r < 0)
		return r;
	r = take_stage(c->dir_fd, entry, s);
	if (r < 0) {
		(void)unlinkat(c->dir_fd, note, 0);
		return r;
	}
	hold_stage(s, TAKE_FD(fd));
	return 0;
}

int cache_share_member(struct cache *c, const struct asset *archive, int member_fd,
		       const struct io_attr *attr, struct io_stage *s)
{
	autoclose int fd = fcntl(member_fd, F_DUPFD_CLOEXEC, 0);
	struct stat st;
	int r;

	if (!c->writable)
		return -EROFS;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (st.st_mode & 07777) != attr->mode || st.st_uid != attr->uid ||
	    st.st_gid != attr->gid || !have_same_label(fd, s->fd) || !cache_tree_share(c, archive))
		return -EPERM;
	/* of two that want it one gets it */
	(void)pthread_mutex_lock(&c->trees_lock);
	r = fstat(fd, &st) == 0 && st.st_nlink == 1 ? take_stage(fd, "", s) : -EMLINK;
	(void)pthread_mutex_unlock(&c->trees_lock);
	if (r < 0)
		return r;
	hold_stage(s, TAKE_FD(fd));
	return 0;
}

bool cache_is_lent(const struct cache *c, const struct digest *d)
{
	char note[CACHE_NAME_MAX];

	return faccessat(c->dir_fd, cache_side_name(folder, d, note), F_OK, AT_SYMLINK_NOFOLLOW) ==
	       0;
}

void cache_lent(struct cache *c, const struct digest *d)
{
	cache_entry_drop(c, d);
}

struct cache_loans cache_loans(const struct cache *c, struct arena *a)
{
	struct cache_loans loans = { 0 };
	struct digest *all;
	const size_t n = cache_digests_in(c, a, folder, true, &all);

	for (size_t i = 0; i < n; i++) {
		autobuf struct buf path = BUF_INIT(PATH_LEN_MAX);
		struct cache_loan loan = { .digest = all[i] };
		char note[CACHE_NAME_MAX];

		if (!cache_read(c, cache_side_name(folder, &loan.digest, note), &path))
			continue;
		loan.path = arena_str(a, buf_str(&path));
		arena_push(a, loans.v, loans.n, loan);
	}
	return loans;
}

static bool is_alone(const struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	struct stat st;

	return fstatat(c->dir_fd, cache_entry_name(d, name), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_nlink == 1;
}

int cache_take_back(struct cache *c, int root_fd, const struct cache_loan *loan, struct err *e)
{
	char note[CACHE_NAME_MAX];
	autoclose int fd = -1;
	int r = 0;

	if (!is_alone(c, &loan->digest)) {
		r = io_open_file(root_fd, loan->path, &fd, e);
		if (r >= 0)
			r = cache_copy_in(c, &loan->digest, fd, loan->path, e);
	}
	/* what is not there any more, or is another file, never comes back by itself */
	if (r < 0 && fd >= 0 && e->kind != ERR_INTEGRITY)
		return r;
	(void)unlinkat(c->dir_fd, cache_side_name(folder, &loan->digest, note), 0);
	return r;
}
