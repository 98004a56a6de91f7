#include "nodeup/tasks/same_tree.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

enum { CHUNK = 128 * 1024, LINK_MAX = 4096, XATTRS_MAX = 64 * 1024, DEPTH_MAX = 256 };

/* What a kernel writes by itself, or only one of two file systems may have. */
static const char own_label[] = "security.selinux";

struct pair {
	int a, b;         /* directories */
	const char *path; /* of both, for messages: "" at the top */
	int depth;
};

static int differ(struct err *e, const struct pair *p, const char *name, const char *what)
{
	return err_fail(e, ERR_SYSTEM, EIO, "the copy of '%s/%s' differs: %s", p->path, name, what);
}

static int names_of(struct arena *a, int dir_fd, struct strv *ret, struct err *e)
{
	autoclose int fd = io_open_at(dir_fd, ".", O_DIRECTORY);
	autodir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct strv names = { 0 };
	const char *name;
	int r;

	if (!dir)
		return err_sys(e, "read a directory");
	(void)TAKE_FD(fd);
	while ((r = io_next_name(dir, &name)) > 0)
		strv_add(a, &names, arena_str(a, name));
	if (r < 0)
		return err_sys(e, "read a directory");
	strv_sort(&names);
	*ret = names;
	return 0;
}

/* How stat says they differ; NULL if they do not. */
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
	/* links from outside the tree stay outside */
	if (x->st_nlink < y->st_nlink)
		return "number of hard links";
	if (x->st_size != y->st_size)
		return "size";
	if (S_ISREG(x->st_mode) && x->st_mtim.tv_sec != y->st_mtim.tv_sec)
		return "time";
	return NULL;
}

static int compare_bytes(const struct pair *p, const char *name, struct err *e)
{
	autoclose int a = io_open_at(p->a, name, O_NOFOLLOW);
	autoclose int b = io_open_at(p->b, name, O_NOFOLLOW);
	autofree char *x = xcalloc(2, CHUNK);
	char *y = x + CHUNK;
	off_t at = 0;

	if (a < 0 || b < 0)
		return err_sys(e, "open '%s/%s'", p->path, name);
	for (;;) {
		const ssize_t n = pread(a, x, CHUNK, at), m = pread(b, y, CHUNK, at);

		if (n < 0 || m < 0)
			return err_sys(e, "read '%s/%s'", p->path, name);
		if (n != m || memcmp(x, y, (size_t)n) != 0)
			return differ(e, p, name, "content");
		if (n == 0)
			return 0;
		at += n;
	}
}

static int compare_links(const struct pair *p, const char *name, struct err *e)
{
	char x[LINK_MAX], y[LINK_MAX];
	const ssize_t n = readlinkat(p->a, name, x, sizeof(x));
	const ssize_t m = readlinkat(p->b, name, y, sizeof(y));

	if (n < 0 || m < 0)
		return err_sys(e, "read the link '%s/%s'", p->path, name);
	return n == m && memcmp(x, y, (size_t)n) == 0 ? 0 : differ(e, p, name, "target");
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
		strv_add(a, &list, arena_printf(a, "%s=%zd", p, len));
		for (ssize_t i = 0; i < len; i++)
			strv_add(a, &list,
				 arena_printf(a, "%s@%zd=%02x", p, i, (unsigned char)value[i]));
	}
	strv_sort(&list);
	*ret = list;
	return 0;
}

static int compare_xattrs(const struct pair *p, const char *name, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv x, y;
	int r = xattrs_of(a, p->a, name, &x, e);

	if (r == 0)
		r = xattrs_of(a, p->b, name, &y, e);
	if (r < 0)
		return r;
	if (x.n != y.n)
		return differ(e, p, name, "extended attributes");
	for (size_t i = 0; i < x.n; i++)
		if (strcmp(x.v[i], y.v[i]) != 0)
			return differ(e, p, name, "extended attributes");
	return 0;
}

static int compare_dirs(const struct pair *p, struct err *e);

static int descend(const struct pair *p, const char *name, struct err *e)
{
	autoarena struct arena *text = arena_new_empty();
	autoclose int a = io_open_at(p->a, name, O_DIRECTORY | O_NOFOLLOW);
	autoclose int b = io_open_at(p->b, name, O_DIRECTORY | O_NOFOLLOW);
	const struct pair sub = {
		.a = a,
		.b = b,
		.path = arena_printf(text, "%s/%s", p->path, name),
		.depth = p->depth + 1,
	};

	if (a < 0 || b < 0)
		return err_sys(e, "open '%s'", sub.path);
	if (sub.depth > DEPTH_MAX)
		return err_fail(e, ERR_SYSTEM, ELOOP, "'%s' is too deep", sub.path);
	return compare_dirs(&sub, e);
}

static int compare_entry(const struct pair *p, const char *name, struct err *e)
{
	struct stat x, y;
	const char *what;
	int r;

	if (fstatat(p->a, name, &x, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fstatat(p->b, name, &y, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "look at '%s/%s'", p->path, name);
	what = stat_differs(&x, &y);
	if (what)
		return differ(e, p, name, what);
	r = compare_xattrs(p, name, e);
	if (r < 0)
		return r;
	if (S_ISREG(x.st_mode))
		return compare_bytes(p, name, e);
	if (S_ISLNK(x.st_mode))
		return compare_links(p, name, e);
	return S_ISDIR(x.st_mode) ? descend(p, name, e) : 0;
}

static int compare_dirs(const struct pair *p, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv x, y;
	int r = names_of(a, p->a, &x, e);

	if (r == 0)
		r = names_of(a, p->b, &y, e);
	for (size_t i = 0; r == 0 && (i < x.n || i < y.n); i++) {
		if (i >= x.n || i >= y.n || strcmp(x.v[i], y.v[i]) != 0)
			return differ(e, p, i < x.n ? x.v[i] : y.v[i], "one has it, one has not");
		r = compare_entry(p, x.v[i], e);
	}
	return r;
}

int same_tree(int fd_a, int fd_b, struct err *e)
{
	const struct pair top = { .a = fd_a, .b = fd_b, .path = "" };
	struct stat x, y;

	if (fstat(fd_a, &x) < 0 || fstat(fd_b, &y) < 0)
		return err_sys(e, "look at a directory");
	if (stat_differs(&x, &y))
		return differ(e, &top, ".", stat_differs(&x, &y));
	return compare_dirs(&top, e);
}
