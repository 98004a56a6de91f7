#include "nodeup/move/same_tree.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "nodeup/base/walk.h"

enum { CHUNK = 128 * 1024, LINK_MAX = 4096, XATTRS_MAX = 64 * 1024 };

/* A label that a kernel may write by itself, or that only one of the two file systems supports. */
static const char own_label[] = "security.selinux";

static int differ(struct err *e, const struct walk_at *at, const char *what)
{
	return err_fail(e, ERR_SYSTEM, EIO, "the copy of '%s/%s' differs: %s", at->path, at->name,
			what);
}

/* Names the difference that stat shows; NULL if there is none. */
static const char *stat_differs(const struct stat *x, const struct stat *y)
{
	if (x->st_mode != y->st_mode)
		return "type or mode";
	if (x->st_uid != y->st_uid || x->st_gid != y->st_gid)
		return "owner";
	if (x->st_rdev != y->st_rdev)
		return "number of the device";
	if (S_ISDIR(x->st_mode))
		return NULL;
	/* links from outside the tree do not count, so the source may have more */
	if (x->st_nlink < y->st_nlink)
		return "number of hard links";
	if (x->st_size != y->st_size)
		return "size";
	if (S_ISREG(x->st_mode) && x->st_mtim.tv_sec != y->st_mtim.tv_sec)
		return "time";
	return NULL;
}

static int compare_bytes(const struct walk_at *at, struct err *e)
{
	autoclose int a = io_open_at(at->dir, at->name, O_NOFOLLOW);
	autoclose int b = io_open_at(at->twin, at->name, O_NOFOLLOW);
	autofree char *x = xcalloc(2, CHUNK);
	char *y = x + CHUNK;
	off_t from = 0;

	if (a < 0 || b < 0)
		return err_sys(e, "open '%s/%s'", at->path, at->name);
	for (;;) {
		const ssize_t n = pread(a, x, CHUNK, from), m = pread(b, y, CHUNK, from);

		if (n < 0 || m < 0)
			return err_sys(e, "read '%s/%s'", at->path, at->name);
		if (n != m || memcmp(x, y, (size_t)n) != 0)
			return differ(e, at, "content");
		if (n == 0)
			return 0;
		from += n;
	}
}

static int compare_links(const struct walk_at *at, struct err *e)
{
	char x[LINK_MAX], y[LINK_MAX];
	const ssize_t n = readlinkat(at->dir, at->name, x, sizeof(x));
	const ssize_t m = readlinkat(at->twin, at->name, y, sizeof(y));

	if (n < 0 || m < 0)
		return err_sys(e, "read the link '%s/%s'", at->path, at->name);
	return n == m && memcmp(x, y, (size_t)n) == 0 ? 0 : differ(e, at, "target");
}

/* "name=hex value" for each extended attribute, sorted. */
static int xattrs_of(struct arena *a, int dir, const char *name, struct strv *ret, struct err *e)
{
	const char *path = arena_printf(a, "/proc/self/fd/%d/%s", dir, name);
	char *names = arena_alloc(a, XATTRS_MAX), *value = arena_alloc(a, XATTRS_MAX);
	ssize_t n = llistxattr(path, names, XATTRS_MAX);
	struct strv list = { 0 };

	if (n < 0 && errno != ENOTSUP)
		return err_sys(e, "list the attributes of '%s'", name);
	for (const char *p = names; p < names + n; p += strlen(p) + 1) {
		ssize_t len;

		if (strcmp(p, own_label) == 0)
			continue;
		len = lgetxattr(path, p, value, XATTRS_MAX);
		if (len < 0)
			return err_sys(e, "read attribute %s of '%s'", p, name);
		strv_addf(a, &list, "%s=%zd", p, len);
		for (ssize_t i = 0; i < len; i++)
			strv_addf(a, &list, "%s@%zd=%02x", p, i, (unsigned char)value[i]);
	}
	strv_sort(&list);
	*ret = list;
	return 0;
}

static int compare_xattrs(const struct walk_at *at, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv x, y;
	int r = xattrs_of(a, at->dir, at->name, &x, e);

	if (r == 0)
		r = xattrs_of(a, at->twin, at->name, &y, e);
	if (r < 0)
		return r;
	if (x.n != y.n)
		return differ(e, at, "extended attributes");
	for (size_t i = 0; i < x.n; i++)
		if (strcmp(x.v[i], y.v[i]) != 0)
			return differ(e, at, "extended attributes");
	return 0;
}

static int compare_entry(void *arg, const struct walk_at *at, struct err *e)
{
	const char *what;
	struct stat twin;
	int r;

	(void)arg;
	if (fstatat(at->twin, at->name, &twin, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "look at '%s/%s'", at->path, at->name);
	what = stat_differs(&at->st, &twin);
	if (what)
		return differ(e, at, what);
	r = compare_xattrs(at, e);
	if (r < 0)
		return r;
	if (S_ISREG(at->st.st_mode))
		return compare_bytes(at, e);
	return S_ISLNK(at->st.st_mode) ? compare_links(at, e) : 1;
}

int same_tree(int fd_a, int fd_b, struct err *e)
{
	const struct walk walk = { .enter = compare_entry };
	const struct walk_at top = { .path = "", .name = "." };
	struct stat x, y;

	if (fstat(fd_a, &x) < 0 || fstat(fd_b, &y) < 0)
		return err_sys(e, "look at a directory");
	if (stat_differs(&x, &y))
		return differ(e, &top, stat_differs(&x, &y));
	return walk_both(fd_a, fd_b, &walk, e);
}
