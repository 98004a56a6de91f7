#include "assets/cache/unpack.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "nodeup/base/print.h"

/* The largest real archive, a set of container images, has 10 GB and few files. */
#define ENTRIES_MAX (200 * 1000)
#define BYTES_MAX (UINT64_C(32) << 30)

enum { RECORD_MAX = 64 * 1024 };

static const struct extract_limits usual_limits = { .entries = ENTRIES_MAX, .bytes = BYTES_MAX };

static const char head[] = "v1\n";

int cache_take_start(struct arena *a, const struct asset *as, struct extract_take *takes, size_t n,
		     struct extract **ret, struct err *e)
{
	if (!asset_is_archive(as))
		return err_fail(e, ERR_INTEGRITY, EINVAL, "asset '%s' is not an archive", as->name);
	return extract_take_start(a, -1, as->name, &usual_limits, takes, n, ret, e);
}

static int open_signed(struct cache *c, const struct asset *as, int *ret_fd, struct err *e)
{
	int r;

	if (!cache_is_signed(c, as))
		return err_fail(e, ERR_SYSTEM, EAGAIN, "asset %s: its signature is not checked yet",
				as->name);
	r = cache_open(c, &as->digest, ret_fd, e);
	return r < 0 ? err_wrap(e, "read '%s'", as->name) : 0;
}

int cache_take(struct cache *c, struct arena *a, const struct asset *as, struct extract_take *takes,
	       size_t n, struct err *e)
{
	autoclose int fd = -1;
	int r = open_signed(c, as, &fd, e);

	return r < 0 ? r : extract_take(a, fd, as->name, &usual_limits, takes, n, e);
}

int cache_give(struct cache *c, struct arena *a, const struct asset *as,
	       struct extract_take *entries, size_t n, int *ret_fd, struct extract **ret,
	       struct err *e)
{
	autoclose int fd = -1, from = -1, to = -1;
	int fds[2], r = open_signed(c, as, &fd, e);

	if (r < 0)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe");
	from = fds[0];
	to = fds[1];
	entries[0].fd = to;
	r = extract_take_start(a, fd, as->name, &usual_limits, entries, n, ret, e);
	entries[0].fd = -1;
	if (r >= 0)
		*ret_fd = TAKE_FD(from);
	return r;
}

const char *cache_members_read(const struct cache *c, struct arena *a, const struct digest *d)
{
	autobuf struct buf b = BUF_INIT(RECORD_MAX);
	char name[CACHE_NAME_MAX];

	if (c->dir_fd < 0 || !cache_read(c, cache_members_name(d, name), &b) ||
	    strlen(buf_str(&b)) != b.len || !str_has_prefix(buf_str(&b), head))
		return NULL;
	return arena_str(a, buf_str(&b) + strlen(head));
}

void cache_members_write(struct cache *c, const struct digest *d, const char *text)
{
	char name[CACHE_NAME_MAX];
	autofree char *record = xasprintf("%s%s", head, text);

	if (c->writable)
		(void)cache_put(c, cache_members_name(d, name), record, strlen(record), NULL);
}
