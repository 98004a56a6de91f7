#include "assets/unpack/take.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/print.h"

enum { DEEPEST = 8, WRITE_BEHIND = 4 * 1024 * 1024 };

struct takes takes_parse(char *const *words)
{
	struct takes t = { 0 };

	while (words[t.n])
		t.n++;
	t.v = xcalloc(t.n + 1, sizeof(*t.v));
	for (size_t i = 0; i < t.n; i++) {
		char *at;

		t.v[i].fd = (int)strtol(words[i], &at, 10);
		t.v[i].max = strtoull(at + (*at == ','), &at, 10);
		t.v[i].entry = strtoull(at + (*at == ','), &at, 10);
		t.v[i].member = at + (*at == ',');
	}
	return t;
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* Compares the directories of two paths whose last parts are equal. */
static int compare_dirs(const char *a, const char *b)
{
	const size_t na = (size_t)(str_basename(a) - a), nb = (size_t)(str_basename(b) - b);
	const size_t n = na < nb ? na : nb;
	const int r = memcmp(a, b, n ? n - 1 : 0);

	return r ? r : (na > nb) - (na < nb);
}

/* Returns whether the path is better than the one found before, or equal to it. */
static bool is_better(const char *path, const char *found)
{
	const size_t depth = depth_of(path);

	if (depth >= DEEPEST)
		return false;
	if (!found)
		return true;
	if (depth != depth_of(found))
		return depth < depth_of(found);
	return compare_dirs(path, found) <= 0;
}

static bool is_named(const struct take *t, const char *path)
{
	return !t->entry && str_eq(t->member, str_basename(path));
}

static void set(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

const char *takes_begin(struct takes *t, const char *path, uint64_t number, uint64_t size)
{
	for (size_t i = 0; i < t->n; i++) {
		struct take *one = &t->v[i];

		one->on = one->entry ? one->entry == number
				     : is_named(one, path) && is_better(path, one->path);
		if (one->on && one->max && size > one->max)
			return "a list of more bytes than allowed";
	}
	return NULL;
}

bool takes_any(const struct takes *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].on)
			return true;
	return false;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		const ssize_t w = write(fd, p, n);

		if (w < 0 && errno != EINTR)
			return -errno;
		p += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return 0;
}

/* Starts writing to the disk, so that the later flush waits less. Some file systems cannot start writing early. */
static void write_behind(struct take *one, int64_t end)
{
	(void)sync_file_range(one->fd, one->behind, end - one->behind, SYNC_FILE_RANGE_WRITE);
	one->behind = end;
}

int takes_write(const struct takes *t, const void *p, size_t n, int64_t at, bool hole)
{
	for (size_t i = 0; i < t->n; i++) {
		struct take *one = &t->v[i];
		off_t to = at;
		int r = 0;

		if (!one->on || one->fd < 0)
			continue;
		/* the file may hold bytes of a member that is not as good as this one */
		if (!one->entry && at == 0) {
			if (ftruncate(one->fd, 0) < 0)
				return -errno;
			one->behind = 0;
		}
		if (one->entry)
			r = write_all(one->fd, p, n);
		else if (!hole)
			r = io_write_at(one->fd, p, n, &to);
		if (r < 0)
			return r;
		if (!one->entry && to - one->behind >= WRITE_BEHIND)
			write_behind(one, to);
	}
	return 0;
}

int takes_end(struct takes *t, const char *path, uint64_t from, uint64_t size, const char *hex)
{
	for (size_t i = 0; i < t->n; i++) {
		struct take *one = &t->v[i];

		if (!TAKE(one->on))
			continue;
		set(&one->path, path);
		one->from = from;
		(void)print_to(one->hex, sizeof(one->hex), "%s", hex);
		if (one->fd < 0 || one->entry)
			continue;
		if (ftruncate(one->fd, (off_t)size) < 0)
			return -errno;
		write_behind(one, (int64_t)size);
	}
	return 0;
}

const char *takes_link(struct takes *t, const char *path, const char *target)
{
	for (size_t i = 0; i < t->n; i++) {
		struct take *one = &t->v[i];

		if (!is_named(one, path))
			continue;
		if (one->path && str_eq(one->path, path))
			return "a link in place of a file that is wanted";
		if (is_better(path, one->link)) {
			set(&one->link, path);
			set(&one->target, target);
		}
	}
	return NULL;
}

bool takes_are_over(const struct takes *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].entry || !t->v[i].path)
			return false;
	return t->n > 0;
}

int takes_report(const struct takes *t, struct extract_report *report)
{
	int r = 0;

	for (size_t i = 0; i < t->n && r >= 0; i++) {
		const struct take *one = &t->v[i];
		struct extract_entry told = { .kind = EXTRACT_NO_MEMBER, .path = "" };

		if (one->path)
			told = (struct extract_entry){ .kind = EXTRACT_FILE,
						       .mtime = { (time_t)one->from, 0 },
						       .path = one->path,
						       .target = one->hex };
		else if (one->link)
			told = (struct extract_entry){ .kind = EXTRACT_LINK,
						       .path = one->link,
						       .target = one->target };
		r = extract_report_put(report, &told);
	}
	return r;
}
