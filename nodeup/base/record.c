#include "nodeup/base/record.h"

#include <string.h>

enum { DIR_MODE = 0755 };

bool record_read(int root_fd, const char *path, struct buf *b)
{
	struct err ignored;

	return io_read(root_fd, path, b, &ignored) >= 0;
}

int record_write(int root_fd, const char *path, mode_t mode, const char *text, struct err *e)
{
	const struct io_attr attr = { .mode = mode };
	autofree char *dir = xasprintf("%.*s", (int)(strrchr(path, '/') - path), path);
	int r = io_replace(root_fd, path, text, strlen(text), &attr, e);

	/* in most cases the record's directory exists already */
	if (r != -ENOENT)
		return r;
	r = io_mkdirs(root_fd, dir, DIR_MODE, e);
	return r < 0 ? r : io_replace(root_fd, path, text, strlen(text), &attr, e);
}

int record_keep(int root_fd, const char *path, mode_t mode, const char *text, struct err *e)
{
	autobuf struct buf old = BUF_INIT(strlen(text) + 1);

	if (record_read(root_fd, path, &old) && strcmp(buf_str(&old), text) == 0)
		return 0;
	return record_write(root_fd, path, mode, text, e);
}
