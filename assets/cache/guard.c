#include "assets/cache/guard.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/walk.h"

bool cache_is_closed(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return false;
	return S_ISLNK(st->st_mode) || !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int refuse(const struct cache *c, const struct stat *st, struct err *e)
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

/* Say it once: one folder is as bad as all of them. */
static void remark(struct cache *c, const char *folder, const struct stat *st)
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

	/* the owner first: the old one could undo the mode */
	if (fchown(fd, geteuid(), (gid_t)-1) < 0 || fstat(fd, &st) < 0 ||
	    fchmod(fd, st.st_mode & 0755) < 0)
		return err_sys(e, "asset cache: close '%s/%s' to others", c->dir, folder);
	return 0;
}

/* A link leads where its owner likes, and the owner may change it at any time. */
static int drop_link(const struct cache *c, const char *folder, struct err *e)
{
	if (unlinkat(c->dir_fd, folder, 0) < 0 || mkdirat(c->dir_fd, folder, 0755) < 0)
		return err_sys(e, "asset cache: replace the link '%s/%s'", c->dir, folder);
	return 0;
}

/* Note what is wrong with it; with `mend` put it right. */
static int guard_folder(struct cache *c, const struct cache_folder *f, bool mend, struct err *e)
{
	autoclose int fd = -1;
	struct stat st;
	int r = 0;

	if (fstatat(c->dir_fd, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "look at '%s/%s'", c->dir, f->name);
	if (S_ISLNK(st.st_mode) && !cache_is_closed(&st)) {
		remark(c, f->name, &st);
		r = mend ? drop_link(c, f->name, e) : 0;
	}
	if (r < 0)
		return r;
	fd = io_open_at(c->dir_fd, f->name, O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open '%s/%s'", c->dir, f->name);
	if (!cache_is_closed(&st)) {
		remark(c, f->name, &st);
		r = mend ? close_folder(c, fd, f->name, e) : 0;
	}
	if (r == 0 && mend && f->mode == 0700 && (st.st_mode & 0777) != 0700 &&
	    fchmod(fd, 0700) < 0)
		return err_sys(e, "make '%s/%s' private", c->dir, f->name);
	return r;
}

static int guard_folders(struct cache *c, bool mend, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < CACHE_FOLDERS && r == 0; i++)
		r = guard_folder(c, &cache_folders[i], mend, e);
	return r;
}

/* Entries and trees without a record are hashed or compared before they are used; parts of downloads
 * may still be open for writing by the user that put them there, and are dropped. */
static int forget(const struct cache *c, struct err *e)
{
	static const char *const folders[] = { "verified", "signed", "wrong", "partial" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		autoarena struct arena *a = arena_new_empty();
		autoclose int fd = io_open_at(c->dir_fd, folders[i], O_DIRECTORY);
		struct strv names = { 0 };

		if (fd < 0 ? errno != ENOENT : walk_names(a, fd, &names) < 0)
			return err_sys(e, "asset cache: read '%s/%s'", c->dir, folders[i]);
		for (size_t k = 0; k < names.n; k++)
			if (walk_remove(fd, names.v[k]) < 0)
				return err_sys(e, "asset cache: remove '%s/%s/%s'", c->dir,
					       folders[i], names.v[k]);
	}
	return 0;
}

/* Records go before the doors are closed, or a run that was killed between would leave them to be
 * believed; and once more behind them, when they cannot be put back. */
static int mend(struct cache *c, struct err *e)
{
	struct stat st;
	int r = c->doubted ? forget(c, e) : 0;

	if (r == 0 && fstat(c->dir_fd, &st) == 0 && !cache_is_closed(&st))
		r = close_folder(c, c->dir_fd, ".", e);
	if (r == 0)
		r = guard_folders(c, true, e);
	return r == 0 && c->doubted ? forget(c, e) : r;
}

int cache_guard(struct cache *c, bool own, struct err *e)
{
	struct stat st;
	int r;

	if (c->dir_fd < 0)
		return 0;
	if (fstat(c->dir_fd, &st) < 0)
		return err_sys(e, "look at '%s'", c->dir);
	if (!cache_is_closed(&st)) {
		if (!own)
			return refuse(c, &st, e);
		remark(c, ".", &st);
	}
	r = guard_folders(c, false, e);
	return r == 0 && c->writable ? mend(c, e) : r;
}
