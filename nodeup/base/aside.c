#include "nodeup/base/aside.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/str.h"

enum { NAMES_MAX = 1000 };

static const char suffix[] = ".nodeup-old";

static int link_to(int dir, const char *from, const char *to)
{
	return linkat(dir, from, dir, to, 0);
}

static int move_to(int dir, const char *from, const char *to)
{
	int r = renameat2(dir, from, dir, to, RENAME_NOREPLACE);

	/* if the file system does not know this flag, checks the name first */
	if (r == 0 || (errno != EINVAL && errno != ENOSYS))
		return r;
	if (faccessat(dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(dir, from, dir, to);
}

/* Renames or links under the first free name. */
static int set_aside(struct arena *a, int root_fd, const char *path,
		     int (*give)(int dir, const char *from, const char *to), const char **ret,
		     struct err *e)
{
	autoclose int dir = -1;
	const char *name, *to;
	int r = io_open_parent(root_fd, path, &dir, &name, e);

	*ret = NULL;
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	for (int i = 1; i < NAMES_MAX; i++) {
		to = i == 1 ? arena_printf(a, "%s%s", name, suffix)
			    : arena_printf(a, "%s%s%d", name, suffix, i);
		if (give(dir, name, to) == 0) {
			*ret = arena_printf(a, "%.*s%s", (int)(name - path), path, to);
			return 0;
		}
		if (errno == ENOENT)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return err_sys(e, "set '%s' aside", path);
}

int aside_link(struct arena *a, int root_fd, const char *path, const char **ret, struct err *e)
{
	return set_aside(a, root_fd, path, link_to, ret, e);
}

int aside_move(struct arena *a, int root_fd, const char *path, const char **ret, struct err *e)
{
	return set_aside(a, root_fd, path, move_to, ret, e);
}

bool aside_is(const char *name)
{
	for (const char *at = name; (at = strstr(at, suffix)); at++) {
		const char *end = at + strlen(suffix);

		if (at > name && end[strspn(end, "0123456789")] == '\0')
			return true;
	}
	return false;
}
