#include "assets/cache/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "nodeup/base/flush.h"
#include "nodeup/base/walk.h"

/* The folders of a cache, besides the folders of entries (one for each algorithm). */
static const struct folder {
	const char *name;
	mode_t mode;
} folders[] = {
	{ "partial", 0700 }, { "verified", 0755 }, { "signed", 0755 },
	{ "wrong", 0755 },   { "tmp", 0700 },
};

enum { FOLDERS = DIGEST_ALGO_MAX + ARRAY_LEN(folders) };

static struct folder folder_at(size_t i)
{
	return i < DIGEST_ALGO_MAX ? (struct folder){ digest_algo_name((enum digest_algo)i), 0755 }
				   : folders[i - DIGEST_ALGO_MAX];
}

/* Refuses a cache that other users can write to. A record, which says that bytes were verified, proves nothing if
 * another user could have written the record or the bytes. nodeup does not know who owns a directory that a person
 * named, so it refuses that directory. The default directory and its folders belong to nodeup: it takes away other
 * users' rights to them, and drops the records. */

static int refuse_cache(const struct cache *c, const struct stat *st, struct err *e)
{
	int r = err_fail(e, ERR_CONFIG, EPERM,
			 "asset cache '%s': refused, other users can write to it", c->dir);

	err_note(e, "want", "a directory of uid %u, and no right to write for group or others",
		 (unsigned)geteuid());
	err_note(e, "got", "uid %u, mode %04o", st->st_uid, st->st_mode & 07777);
	err_note(e, "do",
		 "name another directory with --cache, or remove this one's content and "
		 "close it (chown, chmod go-w)");
	return r;
}

/* Notes only the first folder that other users can write to; the report names only one. */
static void note_remark(struct cache *c, const char *folder, const struct stat *st)
{
	c->doubted = true;
	if (!c->remark)
		c->remark = xasprintf(
			"asset cache '%s': '%s' has uid %u and mode %04o, so other users could "
			"write to it; what was noted as verified is not believed, and hashed again",
			c->dir, folder, st->st_uid, st->st_mode & 07777);
}

static int close_folder(const struct cache *c, int fd, const char *folder, struct err *e)
{
	struct stat st;

	/* owner before mode: the old owner could undo the mode */
	if (fchown(fd, geteuid(), (gid_t)-1) < 0 || fstat(fd, &st) < 0 ||
	    fchmod(fd, st.st_mode & 0755) < 0)
		return err_sys(e, "asset cache: close '%s/%s' to others", c->dir, folder);
	return 0;
}

/* Removes a link: its owner may change its target at any time. */
static int drop_link(const struct cache *c, const char *folder, struct err *e)
{
	if (unlinkat(c->dir_fd, folder, 0) < 0 || mkdirat(c->dir_fd, folder, 0755) < 0)
		return err_sys(e, "asset cache: replace the link '%s/%s'", c->dir, folder);
	return 0;
}

static bool is_private(const struct folder *f, const struct stat *st)
{
	return f->mode != 0700 || (st->st_mode & 0777) == 0700;
}

/* Notes a folder's fault; if `mend`, corrects it. Returns 1 if the folder had a fault. */
static int guard_folder(struct cache *c, const struct folder *f, bool mend, struct err *e)
{
	autoclose int fd = -1;
	struct stat st;
	int r = 0;

	if (fstatat(c->dir_fd, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		c->lacks_folder = errno == ENOENT;
		return errno == ENOENT ? 0 : err_sys(e, "look at '%s/%s'", c->dir, f->name);
	}
	if (S_ISDIR(st.st_mode) && cache_is_closed(&st) && is_private(f, &st))
		return 0;
	if (S_ISLNK(st.st_mode) && !cache_is_closed(&st)) {
		note_remark(c, f->name, &st);
		r = mend ? drop_link(c, f->name, e) : 0;
	}
	if (r < 0)
		return r;
	fd = io_open_at(c->dir_fd, f->name, O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open '%s/%s'", c->dir, f->name);
	if (!cache_is_closed(&st)) {
		note_remark(c, f->name, &st);
		r = mend ? close_folder(c, fd, f->name, e) : 0;
	}
	if (r == 0 && mend && !is_private(f, &st) && fchmod(fd, 0700) < 0)
		return err_sys(e, "make '%s/%s' private", c->dir, f->name);
	return r < 0 ? r : 1;
}

/* Returns 1 if a folder had a fault. */
static int guard_folders(struct cache *c, bool mend, struct err *e)
{
	int r, odd = 0;

	for (size_t i = 0; i < FOLDERS; i++) {
		const struct folder f = folder_at(i);

		r = guard_folder(c, &f, mend, e);
		if (r < 0)
			return r;
		odd |= r;
	}
	return odd;
}

/* Removes all records, so that entries are hashed before they are used. Removes partial downloads: the user who put
 * them there may still have them open for writing. */
static int forget_records(const struct cache *c, struct err *e)
{
	static const char *const noted[] = { "verified", "signed", "wrong", "partial" };

	for (size_t i = 0; i < ARRAY_LEN(noted); i++) {
		autoarena struct arena *a = arena_new_empty();
		autoclose int fd = io_open_at(c->dir_fd, noted[i], O_DIRECTORY);
		struct strv names = { 0 };

		if (fd < 0 ? errno != ENOENT : walk_names(a, fd, &names) < 0)
			return err_sys(e, "asset cache: read '%s/%s'", c->dir, noted[i]);
		for (size_t k = 0; k < names.n; k++)
			if (walk_remove(fd, names.v[k]) < 0)
				return err_sys(e, "asset cache: remove '%s/%s/%s'", c->dir,
					       noted[i], names.v[k]);
	}
	return 0;
}

/* Removes the records before it closes the folders: if the run is killed in between, no record is left to trust.
 * Removes the records again afterwards, when no other user can put them back. */
static int close_cache(struct cache *c, struct err *e)
{
	struct stat st;
	int r = c->doubted ? forget_records(c, e) : 0;

	if (r == 0 && fstat(c->dir_fd, &st) == 0 && !cache_is_closed(&st))
		r = close_folder(c, c->dir_fd, ".", e);
	if (r == 0)
		r = guard_folders(c, true, e);
	return r >= 0 && c->doubted ? forget_records(c, e) : r;
}

static int guard_cache(struct cache *c, bool own, struct err *e)
{
	struct stat st;
	int r;

	if (c->dir_fd < 0)
		return 0;
	if (fstat(c->dir_fd, &st) < 0)
		return err_sys(e, "look at '%s'", c->dir);
	if (!cache_is_closed(&st)) {
		if (!own)
			return refuse_cache(c, &st, e);
		note_remark(c, ".", &st);
	}
	r = guard_folders(c, false, e);
	if (r < 0)
		return r;
	return c->writable && (r > 0 || c->doubted) ? close_cache(c, e) : 0;
}

/* Notes a new directory. If cache_settle can flush the file system, the directory's content counts only after that
 * flush. */
static int note_made(void *arg, int parent_fd, struct err *e)
{
	struct cache *c = arg;

	if (flush_is_whole(parent_fd)) {
		c->names_wait = true;
		return 0;
	}
	return fsync(parent_fd) < 0 && errno != EINVAL ? err_sys(e, "sync its parent") : 0;
}

static int make_folder(const struct cache *c, const struct folder *f, struct err *e)
{
	autoclose int fd = -1;

	/* another process may have made the folder meanwhile */
	if (mkdirat(c->dir_fd, f->name, 0755) < 0)
		return errno == EEXIST ? 0
				       : err_sys(e, "create directory '%s/%s'", c->dir, f->name);
	/* sets the mode again, as the umask may have changed it */
	fd = io_open_at(c->dir_fd, f->name, O_DIRECTORY | O_NOFOLLOW);
	return fd < 0 || fchmod(fd, f->mode) < 0
		       ? err_sys(e, "set the mode of '%s/%s'", c->dir, f->name)
		       : 0;
}

static int make_folders(struct cache *c, struct err *e)
{
	for (size_t i = 0; i < FOLDERS; i++) {
		const struct folder f = folder_at(i);
		int r = make_folder(c, &f, e);

		if (r < 0)
			return r;
	}
	return note_made(c, c->dir_fd, e);
}

static int open_cache(int root_fd, const char *dir, struct cache *c, bool own, struct err *e)
{
	int r = io_open_dir(root_fd, dir, &c->dir_fd, e);

	if (r < 0 && c->writable) {
		r = io_mkdirs_for(root_fd, dir, 0755, note_made, c, e);
		if (r >= 0)
			r = io_open_dir(root_fd, dir, &c->dir_fd, e);
	}
	if (r < 0 && (c->writable || r != -ENOENT))
		return err_wrap(e, "asset cache");
	r = guard_cache(c, own, e);
	if (r < 0 || !c->writable)
		return r;
	r = c->lacks_folder ? make_folders(c, e) : 0;
	if (r < 0)
		return err_wrap(e, "asset cache");
	cache_clean_tmp(c);
	return 0;
}

static int new_cache(int root_fd, const char *dir, bool create, bool own, struct cache **ret,
		     struct err *e)
{
	struct cache *c = xcalloc(1, sizeof(*c));
	int r;

	*c = (struct cache){ .dir_fd = -1, .writable = create, .dir = xstrdup(dir) };
	(void)pthread_mutex_init(&c->lock, NULL);
	r = open_cache(root_fd, dir, c, own, e);
	if (r < 0)
		cache_free(c);
	else
		*ret = c;
	return r;
}

int cache_new(int root_fd, const char *dir, bool create, struct cache **ret, struct err *e)
{
	return new_cache(root_fd, dir, create, false, ret, e);
}

int cache_new_own(int root_fd, const char *dir, bool create, struct cache **ret, struct err *e)
{
	return new_cache(root_fd, dir, create, true, ret, e);
}

const char *cache_remark(const struct cache *c)
{
	return c->remark;
}

int cache_settle(struct cache *c, struct err *e)
{
	if (!__atomic_exchange_n(&c->names_wait, false, __ATOMIC_RELAXED))
		return 0;
	return syncfs(c->dir_fd) < 0 ? err_sys(e, "sync the asset cache '%s'", c->dir) : 0;
}

void cache_free(struct cache *c)
{
	struct err ignored;

	if (!c)
		return;
	(void)!cache_settle(c, &ignored);
	cleanup_closep(&c->dir_fd);
	(void)pthread_mutex_destroy(&c->lock);
	cache_fates_free(c);
	free(c->dir);
	free(c->remark);
	free(c);
}

/* Taking over the cache of a kops that ran here before */

/* Reads the digest out of a name like "sha1:<hex>_https___host_path"; false: the name has another form. */
static bool parse_kops_name(const char *name, struct digest *ret)
{
	const char *colon = strchr(name, ':'), *end = colon ? strchr(colon, '_') : NULL;
	struct err ignored;

	return end && digest_parse(name, (size_t)(end - name), ret, &ignored) == 0;
}

/* Returns whether the file may become an entry: only root may be able to write to it, and by no other name. */
static bool may_be_entry(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == 0 &&
	       !(st.st_mode & 022);
}

static bool adopt_file(struct cache *c, const char *name)
{
	char entry[CACHE_NAME_MAX];
	autoclose int fd = -1;
	struct digest d;

	if (!parse_kops_name(name, &d))
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

	/* reads from the start: the directory stays open, and may have been read before */
	if (c->writable &&
	    (lseek(c->dir_fd, 0, SEEK_SET) < 0 || walk_names(a, c->dir_fd, &names) < 0))
		return 0;
	for (size_t i = 0; i < names.n; i++)
		n += adopt_file(c, names.v[i]);
	return n;
}
