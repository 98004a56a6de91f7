#include "nodeup/tasks/member.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/walk.h"

enum { FIND_DEPTH = 8 };

/* One directory: the type of the file of this name, if it is there, and what directories are. */
static int look_into(int root_fd, struct arena *a, const char *dir, const char *name,
		     mode_t *ret_type, struct strv *subdirs, struct err *e)
{
	autoclose int fd = -1;
	struct strv names;
	int r = io_open(root_fd, dir, O_RDONLY | O_DIRECTORY, &fd, e);

	if (r < 0)
		return r;
	if (walk_names(a, fd, &names) < 0)
		return err_sys(e, "read '%s'", dir);
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;

		if (fstatat(fd, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			return err_sys(e, "look at '%s/%s'", dir, names.v[i]);
		if (S_ISDIR(st.st_mode))
			strv_addf(a, subdirs, "%s/%s", dir, names.v[i]);
		else if (strcmp(names.v[i], name) == 0)
			*ret_type = st.st_mode & S_IFMT;
	}
	return 0;
}

int member_find(int root_fd, struct arena *a, const char *dir, const char *name, const char **ret,
		const char **ret_link, struct err *e)
{
	struct strv level = { 0 };

	*ret = *ret_link = NULL;
	strv_add(a, &level, arena_str(a, dir));
	for (int depth = 0; depth < FIND_DEPTH && level.n > 0; depth++) {
		struct strv below = { 0 };

		for (size_t i = 0; i < level.n; i++) {
			mode_t type = 0;
			int r = look_into(root_fd, a, level.v[i], name, &type, &below, e);

			if (r < 0)
				return r;
			if (type == S_IFLNK && !*ret_link)
				*ret_link = arena_printf(a, "%s/%s", level.v[i], name);
			if (type == S_IFREG) {
				*ret = arena_printf(a, "%s/%s", level.v[i], name);
				return 0;
			}
		}
		strv_sort(&below);
		level = below;
	}
	return 0;
}
