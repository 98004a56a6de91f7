#include "assets/cache/dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"

/* An entry is given away under a lock of its own. A process that opens the entry holds that lock shared (cache_ask).
 * A process that waits while another process fetches the entry holds the lock too, since the arriving part becomes
 * the entry. This lock is one of open file descriptions; the flock of a part's writer is another lock. */

enum { LABEL_MAX = 1024, NAMES_MAX = 4096 };

struct cache_fates {
	struct cache_fates *next;
	struct digest digest;
	enum cache_fate fate;
};

static struct cache_fates *find_fate(const struct cache *c, const struct digest *d)
{
	struct cache_fates *f = c->fates;

	while (f && !digest_eq(&f->digest, d))
		f = f->next;
	return f;
}

void cache_note_fate(struct cache *c, const struct digest *d, enum cache_fate fate)
{
	struct cache_fates *f;

	(void)pthread_mutex_lock(&c->lock);
	f = find_fate(c, d);
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		*f = (struct cache_fates){ .next = c->fates, .digest = *d };
		c->fates = f;
	}
	if (f->fate != CACHE_KEPT)
		f->fate = fate;
	(void)pthread_mutex_unlock(&c->lock);
}

static bool is_made(struct cache *c, const struct digest *d)
{
	const struct cache_fates *f;
	bool made;

	(void)pthread_mutex_lock(&c->lock);
	f = find_fate(c, d);
	made = f && f->fate == CACHE_MADE;
	(void)pthread_mutex_unlock(&c->lock);
	return made;
}

void cache_fates_free(struct cache *c)
{
	for (struct cache_fates *f = c->fates, *next; f; f = next) {
		next = f->next;
		free(f);
	}
}

static int lock_file(int fd, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &l) < 0 ? -errno : 0;
}

bool cache_ask(int fd)
{
	const int r = lock_file(fd, F_RDLCK);

	/* without locks no entry is given away */
	return r != -EAGAIN && r != -EACCES;
}

/* Opens the entry and locks it against later users. -1: the entry cannot be given away. */
static int open_locked(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];
	struct stat st, named;
	autoclose int fd = -1;

	if (!c->writable || !is_made(c, d))
		return -1;
	fd = openat(c->dir_fd, cache_entry_name(d, name), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (lock_file(fd, F_WRLCK) < 0) {
		/* this fate is final: another process has asked for the entry and uses it */
		cache_note_fate(c, d, CACHE_KEPT);
		return -1;
	}
	/* another process may have replaced this process's entry with its own */
	if (fstat(fd, &st) < 0 || st.st_nlink != 1 || !cache_is_recorded(c, d, &st) ||
	    fstatat(c->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) < 0 || named.st_ino != st.st_ino)
		return -1;
	return TAKE_FD(fd);
}

/* Returns the id of a file's mount, as rename(2) does not cross mounts. 0: unknown, on Linux before 5.8. */
static uint64_t mount_of(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 && st.stx_mask & STATX_MNT_ID
		       ? st.stx_mnt_id
		       : 0;
}

/* Gives the file `fd` the SELinux label of `like`, and removes all other extended attributes. */
static bool dress(int fd, int like)
{
	static const char label[] = "security.selinux";
	char names[NAMES_MAX], value[LABEL_MAX];
	const ssize_t n = flistxattr(fd, names, sizeof(names));
	const ssize_t len = fgetxattr(like, label, value, sizeof(value));

	if (n < 0)
		return errno == ENOTSUP;
	for (const char *p = names; p < names + n; p += strlen(p) + 1)
		if (!str_eq(p, label) && fremovexattr(fd, p) < 0)
			return false;
	return len < 0 ? errno == ENODATA || errno == ENOTSUP
		       : fsetxattr(fd, label, value, (size_t)len, 0) == 0;
}

bool cache_give_away(struct cache *c, const struct digest *d, struct io_stage *s)
{
	const uint64_t mount = mount_of(s->dir_fd);
	char name[CACHE_NAME_MAX], record[CACHE_NAME_MAX];
	autoclose int fd = -1, from = -1;

	if (!mount || mount != mount_of(c->dir_fd))
		return false;
	fd = open_locked(c, d);
	from = fd < 0 ? -1 : io_open_at(c->dir_fd, digest_algo_name(d->algo), O_DIRECTORY);
	if (from < 0 || !dress(fd, s->fd))
		return false;
	/* removes the record first: if the entry stays after all, it is hashed before it is used */
	(void)unlinkat(c->dir_fd, cache_side_name("verified", d, record), 0);
	(void)unlinkat(s->dir_fd, s->name, 0);
	(void)close(s->fd);
	s->fd = TAKE_FD(fd);
	s->from_fd = TAKE_FD(from);
	(void)print_to(s->name, sizeof(s->name), "%s", str_basename(cache_entry_name(d, name)));
	return true;
}

void cache_let_go(struct cache *c, const struct digest *d)
{
	autoclose int fd = open_locked(c, d);

	if (fd >= 0)
		cache_drop(c, d);
}
