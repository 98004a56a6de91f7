#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/lib/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "tests/unit/lib/dir.h"

void scratch_new(struct scratch *s)
{
	struct err e;

	*s = (struct scratch){ .path = "/tmp/nodeup-test-XXXXXX" };
	assert_non_null(mkdtemp(s->path));
	if (io_open_root(s->path, &s->fd, &e) < 0)
		fail_msg("%s", e.msg);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void scratch_done(struct scratch *s)
{
	if (s->path_before)
		setenv("PATH", s->path_before, 1);
	free(s->path_before);
	(void)close(s->fd);
	assert_int_equal(nftw(s->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void scratch_write(const struct scratch *s, const char *path, const char *text)
{
	static const struct io_attr attr = { .mode = 0644 };
	autofree char *dir = xstrdup(path);
	struct err e;

	*strrchr(dir, '/') = '\0';
	if ((*dir && io_mkdirs(s->fd, dir, 0755, &e) < 0) ||
	    io_replace(s->fd, path, text, strlen(text), &attr, &e) < 0)
		fail_msg("%s", e.msg);
}

void scratch_program(const struct scratch *s, const char *path, const char *script)
{
	scratch_write(s, path, script);
	assert_int_equal(fchmodat(s->fd, path + 1, 0755, 0), 0);
}

void scratch_find_programs(struct scratch *s, const char *folder)
{
	autofree char *path = NULL;

	s->path_before = xstrdup(getenv("PATH"));
	path = xasprintf("%s%s:%s", s->path, folder, s->path_before);
	setenv("PATH", path, 1);
	setenv("SCRATCH", s->path, 1);
}

char *scratch_read(const struct scratch *s, const char *path)
{
	autobuf struct buf b = BUF_INIT(1 << 20);
	struct err e;

	return io_read(s->fd, path, &b, &e) < 0 ? NULL : buf_take(&b);
}

bool scratch_stat(const struct scratch *s, const char *path, struct stat *st)
{
	struct err e;

	return io_stat(s->fd, path, st, &e) == 0;
}

int scratch_count(const struct scratch *s, const char *path)
{
	autodir DIR *d = NULL;
	const struct dirent *de;
	struct err e;
	int fd, n = 0;

	if (io_open(s->fd, path, O_RDONLY | O_DIRECTORY, &fd, &e) < 0)
		return 0;
	d = fdopendir(fd);
	while (d && (de = readdir(d)))
		n += strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0;
	return n;
}
