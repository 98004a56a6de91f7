#include "nodeup/base/walk.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int walk_dir(const struct walk *w, const struct walk_at *dir, int depth, struct err *e);

struct names {
	struct arena *arena;
	struct strv *list;
};

static void add_name(void *arg, const char *name)
{
	const struct names *n = arg;

	strv_add(n->arena, n->list, arena_str(n->arena, name));
}

int walk_names(struct arena *a, int dir_fd, struct strv *ret)
{
	struct names n = { a, ret };
	int r;

	*ret = (struct strv){ 0 };
	r = io_each_name(dir_fd, add_name, &n);
	strv_sort(ret);
	return r;
}

int walk_names_at(struct arena *a, int root_fd, const char *path, struct strv *ret, struct err *e)
{
	autoclose int fd = -1;
	int r = io_open_dir(root_fd, path, &fd, e);

	*ret = (struct strv){ 0 };
	if (r < 0)
		return r;
	return walk_names(a, fd, ret) < 0 ? err_sys(e, "read the directory '%s'", path) : 0;
}

struct strv walk_list(struct arena *a, int root_fd, const char *path, const char *suffix)
{
	struct strv all = { 0 }, found = { 0 };
	struct err ignored;

	if (walk_names_at(a, root_fd, path, &all, &ignored) < 0)
		return found;
	for (size_t i = 0; i < all.n; i++)
		if (str_has_suffix(all.v[i], suffix))
			strv_add(a, &found, all.v[i]);
	return found;
}

static int failed(const struct walk *w, const struct walk_at *at, const char *what, struct err *e)
{
	if (w->live && errno == ENOENT)
		return 0;
	return err_sys(e, "%s '%s/%s'", what, at->path, at->name);
}

static int go_into(const struct walk *w, const struct walk_at *at, int depth, struct err *e)
{
	autofree char *path = xasprintf("%s/%s", at->path, at->name);
	autoclose int fd = io_open_at(at->dir, at->name, O_DIRECTORY | O_NOFOLLOW);
	autoclose int twin = at->twin < 0 || fd < 0
				     ? -1
				     : io_open_at(at->twin, at->name, O_DIRECTORY | O_NOFOLLOW);
	const struct walk_at below = { .dir = fd, .twin = twin, .path = path, .fd = -1 };
	struct walk_at left = *at;
	int r;

	if (fd < 0 || (at->twin >= 0 && twin < 0))
		return failed(w, at, "open the directory", e);
	if (depth == WALK_DEPTH_MAX)
		return err_fail(e, ERR_SYSTEM, ELOOP, "'%s' is too deep", path);
	r = walk_dir(w, &below, depth + 1, e);
	if (r < 0 || !w->leave)
		return r;
	left.fd = fd;
	return w->leave(w->arg, &left, e);
}

/* Returns the first name that only one of the two lists has; NULL: both lists have the same names. */
static const char *odd_name(const struct strv *x, const struct strv *y)
{
	for (size_t i = 0; i < x->n && i < y->n; i++) {
		const int order = strcmp(x->v[i], y->v[i]);

		if (order != 0)
			return order < 0 ? x->v[i] : y->v[i];
	}
	if (x->n == y->n)
		return NULL;
	return x->n > y->n ? x->v[y->n] : y->v[x->n];
}

static int walk_dir(const struct walk *w, const struct walk_at *dir, int depth, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct walk_at at = *dir;
	struct strv names, twins;
	int r = 0;

	if (walk_names(a, dir->dir, &names) < 0 ||
	    (dir->twin >= 0 && walk_names(a, dir->twin, &twins) < 0))
		return err_sys(e, "read the directory '%s/'", dir->path);
	at.name = dir->twin < 0 ? NULL : odd_name(&names, &twins);
	if (at.name)
		return err_fail(e, ERR_SYSTEM, EXDEV,
				"the copy of '%s/%s' differs: one has it, one has not", at.path,
				at.name);
	for (size_t i = 0; i < names.n && r >= 0; i++) {
		at.name = names.v[i];
		if (fstatat(at.dir, at.name, &at.st, AT_SYMLINK_NOFOLLOW) < 0)
			r = failed(w, &at, "look at", e);
		else
			r = w->enter(w->arg, &at, e);
		if (r > 0)
			r = S_ISDIR(at.st.st_mode) ? go_into(w, &at, depth, e) : 0;
	}
	return r;
}

int walk_both(int fd, int twin, const struct walk *w, struct err *e)
{
	const struct walk_at top = { .dir = fd, .twin = twin, .path = "", .fd = -1 };

	/* rewinds these two, as the caller may have read them; the walk opens the deeper directories itself */
	if (lseek(fd, 0, SEEK_SET) < 0 || (twin >= 0 && lseek(twin, 0, SEEK_SET) < 0))
		return err_sys(e, "read the directory '/'");
	return walk_dir(w, &top, 1, e);
}

int walk_below(int fd, const struct walk *w, struct err *e)
{
	return walk_both(fd, -1, w, e);
}

static int remove_entry(void *arg, const struct walk_at *at, struct err *e)
{
	(void)arg;
	if (S_ISDIR(at->st.st_mode))
		return 1;
	return unlinkat(at->dir, at->name, 0) == 0 || errno == ENOENT
		       ? 0
		       : err_sys(e, "remove '%s/%s'", at->path, at->name);
}

static int remove_dir(void *arg, const struct walk_at *at, struct err *e)
{
	(void)arg;
	return unlinkat(at->dir, at->name, AT_REMOVEDIR) == 0 || errno == ENOENT
		       ? 0
		       : err_sys(e, "remove '%s/%s'", at->path, at->name);
}

int walk_remove(int dir_fd, const char *name)
{
	static const struct walk remover = { .enter = remove_entry,
					     .leave = remove_dir,
					     .live = true };
	autoclose int fd = -1;
	struct err e;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = io_open_at(dir_fd, name, O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (walk_below(fd, &remover, &e) < 0) {
		errno = e.errnum;
		return -errno;
	}
	return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
