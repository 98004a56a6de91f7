#include "units/enable.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

enum { UNIT_FILE_MAX = 256 << 10 };

static const char *const unit_dirs[] = {
	"/etc/systemd/system",
	"/usr/lib/systemd/system",
	"/lib/systemd/system",
};

/* Keys of [Install], and the suffix of the folder for their links; NULL: the link is beside the unit. */
static const struct {
	const char *key, *suffix;
} install_keys[] = {
	{ "WantedBy", ".wants" },
	{ "RequiredBy", ".requires" },
	{ "Alias", NULL },
};

struct links {
	struct arena *arena;
	const char *target; /* the file that the links point to */
	struct strv paths;
};

static void add_links(struct links *l, const char *unit, const char *key, char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(install_keys); i++) {
		struct strv names;

		if (strcmp(key, install_keys[i].key) != 0)
			continue;
		names = strv_split(l->arena, value, ' ');
		for (size_t k = 0; k < names.n; k++) {
			const char *dir = unit_dirs[0], *suffix = install_keys[i].suffix;

			/* an alias that is the unit's own name exists already */
			if (*names.v[k] == '\0' || (!suffix && strcmp(names.v[k], unit) == 0))
				continue;
			strv_add(l->arena, &l->paths,
				 suffix ? arena_printf(l->arena, "%s/%s%s/%s", dir, names.v[k],
						       suffix, unit)
					: arena_printf(l->arena, "%s/%s", dir, names.v[k]));
		}
	}
}

static void parse_install(struct links *l, const char *unit, char *text)
{
	bool inside = false;
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		char *trimmed = str_trim(l->arena, line);
		char *value = strchr(trimmed, '=');

		if (*trimmed == '[')
			inside = strcmp(trimmed, "[Install]") == 0;
		if (!inside || !value)
			continue;
		*value++ = '\0';
		add_links(l, unit, str_trim(l->arena, trimmed), value);
	}
}

/* Reads where a path links to; false: it is not a link. */
static bool read_link(int root_fd, const char *path, char target[static PATH_MAX])
{
	autoclose int dir = -1;
	struct err ignored;
	const char *name;
	ssize_t n;

	if (io_open_parent(root_fd, path, &dir, &name, &ignored) < 0)
		return false;
	n = readlinkat(dir, name, target, PATH_MAX - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return true;
}

/* Returns whether the unit is masked: linked to /dev/null, which an image may lack. */
static bool is_masked(int root_fd, const char *path)
{
	char target[PATH_MAX];

	return read_link(root_fd, path, target) && strcmp(target, "/dev/null") == 0;
}

/* Finds the unit's file, or the file that it links to. Fails if the unit is masked. */
static int read_unit(int root_fd, const char *path, struct buf *text, struct err *e)
{
	struct stat st;
	int r = io_read_itself(root_fd, path, text, &st, e);

	if (r != -ELOOP)
		return r;
	if (is_masked(root_fd, path))
		return err_fail(e, ERR_SYSTEM, EPERM, "unit '%s' is masked", str_basename(path));
	return io_read(root_fd, path, text, e);
}

static int find_links(int root_fd, const char *unit, struct links *l, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(unit_dirs); i++) {
		const char *path = arena_printf(l->arena, "%s/%s", unit_dirs[i], unit);
		autobuf struct buf text = BUF_INIT(UNIT_FILE_MAX);
		int r = read_unit(root_fd, path, &text, e);

		if (r == -ENOENT || r == -ENOTDIR)
			continue;
		if (r < 0)
			return r;
		l->target = path;
		if (text.len)
			parse_install(l, unit, text.data);
		return 0;
	}
	return err_config(e, "unit '%s' is nowhere below this root", unit);
}

static bool is_link_to(int root_fd, const char *path, const char *target)
{
	char now[PATH_MAX];

	return read_link(root_fd, path, now) &&
	       strcmp(str_basename(now), str_basename(target)) == 0;
}

const char *enable_other(int root_fd, struct arena *a, const char *unit)
{
	for (size_t i = 1; i < ARRAY_LEN(unit_dirs); i++) {
		const char *path = arena_printf(a, "%s/%s", unit_dirs[i], unit);

		if (io_is_there(root_fd, path))
			return path;
	}
	return NULL;
}

int enable_check(int root_fd, const char *unit, bool *ret_enabled, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct links l = { .arena = a };
	int r = find_links(root_fd, unit, &l, e);

	if (r < 0)
		return r;
	*ret_enabled = true;
	for (size_t i = 0; i < l.paths.n; i++)
		if (!is_link_to(root_fd, l.paths.v[i], l.target))
			*ret_enabled = false;
	return 0;
}

static int make_link(int root_fd, const char *path, const char *target, struct flush *f,
		     struct err *e)
{
	autofree char *dir_path = xstrdup(path);
	autoclose int dir = -1;
	struct stat st;
	const char *name;
	int r;

	*strrchr(dir_path, '/') = '\0';
	r = flush_mkdirs(f, root_fd, dir_path, 0755, e);
	if (r < 0)
		return r;
	r = io_open_parent(root_fd, path, &dir, &name, e);
	if (r < 0)
		return r;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISLNK(st.st_mode))
			return err_fail(e, ERR_SYSTEM, EEXIST, "'%s' is in the way: not a link",
					path);
		if (unlinkat(dir, name, 0) < 0)
			return err_sys(e, "remove '%s'", path);
	}
	if (symlinkat(target, dir, name) < 0)
		return err_sys(e, "link '%s'", path);
	return flush_note(f, dir, e);
}

int enable_apply(int root_fd, const char *unit, struct flush *f, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct links l = { .arena = a };
	int r = find_links(root_fd, unit, &l, e);

	for (size_t i = 0; i < l.paths.n && r == 0; i++)
		if (!is_link_to(root_fd, l.paths.v[i], l.target))
			r = make_link(root_fd, l.paths.v[i], l.target, f, e);
	return r;
}

int enable_remove(int root_fd, const char *unit, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct links l = { .arena = a };
	int r = find_links(root_fd, unit, &l, e);

	for (size_t i = 0; i < l.paths.n && r == 0; i++)
		if (is_link_to(root_fd, l.paths.v[i], l.target))
			r = io_remove(root_fd, l.paths.v[i], e);
	return r;
}
