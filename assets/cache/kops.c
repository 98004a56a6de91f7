#include "assets/cache/kops.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "nodeup/base/walk.h"

/* "sha1:<hex>_https___host_path": the digest, if it is one of those names. */
static bool parse_name(const char *name, struct digest *ret)
{
	const char *colon = strchr(name, ':'), *end = colon ? strchr(colon, '_') : NULL;
	struct err ignored;

	return end && digest_parse(name, (size_t)(end - name), ret, &ignored) == 0;
}

/* Once it is an entry, no process may write to it by another name. */
static bool may_be_entry(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == 0 &&
	       !(st.st_mode & 022);
}

static bool adopt(struct cache *c, const char *name)
{
	char entry[CACHE_NAME_MAX];
	autoclose int fd = -1;
	struct digest d;

	if (!parse_name(name, &d))
		return false;
	fd = io_open_at(c->dir_fd, name, O_NOFOLLOW);
	if (fd < 0 || !may_be_entry(fd) || fchmod(fd, 0444) < 0)
		return false;
	return renameat2(c->dir_fd, name, c->dir_fd, cache_entry_name(&d, entry),
			 RENAME_NOREPLACE) == 0;
}

size_t cache_adopt_kops(struct cache *c)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names = { 0 };
	size_t n = 0;

	if (c->writable && walk_names(a, c->dir_fd, &names) < 0)
		return 0;
	for (size_t i = 0; i < names.n; i++)
		n += adopt(c, names.v[i]);
	return n;
}
