#include "nodeup/tasks/member.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

enum { FIND_DEPTH = 8 };

/* Some file systems leave the type to be asked for. */
static unsigned char type_of(int dir_fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

/* One directory: whether the file is in it, and what directories are. */
static int look_into(int root_fd, struct arena *a, const char *dir, const char *name,
		     unsigned char *ret_type, struct strv *subdirs, struct err *e)
{
	autodir DIR *d = NULL;
	const struct dirent *entry;
	int fd, r = io_open(root_fd, dir, O_RDONLY | O_DIRECTORY, &fd, e);

	if (r < 0)
		return r;
	d = fdopendir(fd);
	if (!d) {
		r = err_sys(e, "read '%s'", dir);
		(void)close(fd);
		return r;
	}
	for (errno = 0; (entry = readdir(d)); errno = 0) {
		const unsigned char type = type_of(fd, entry);

		if ((type == DT_REG || type == DT_LNK) && strcmp(entry->d_name, name) == 0)
			*ret_type = type;
		if (type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			strv_add(a, subdirs, arena_printf(a, "%s/%s", dir, entry->d_name));
	}
	return errno ? err_sys(e, "read '%s'", dir) : 0;
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
			unsigned char type = DT_UNKNOWN;
			int r = look_into(root_fd, a, level.v[i], name, &type, &below, e);

			if (r < 0)
				return r;
			if (type == DT_LNK && !*ret_link)
				*ret_link = arena_printf(a, "%s/%s", level.v[i], name);
			if (type == DT_REG) {
				*ret = arena_printf(a, "%s/%s", level.v[i], name);
				return 0;
			}
		}
		strv_sort(&below);
		level = below;
	}
	return 0;
}
