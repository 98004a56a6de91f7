/* check_places.c - checks whether a run can write to its places, and has room there */
#include "nodeup/cmd/check.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include "nodeup/base/paths.h"
#include "nodeup/base/print.h"
#include "nodeup/tasks/installed.h"
#include "nodeup/tasks/state.h"

/* UNPACKED: the members of an archive take about so many times its size, besides the archive itself in the cache.
 * ROOM_LEAST: room for some small files. If sizes are unknown, no more is required: the run itself reports a full
 * disk. */
enum { UNPACKED = 3, FILE_SYSTEMS_MAX = 8, ROOM_SPARE = 64 << 20, ROOM_LEAST = 256 << 10 };

/* Number of files to spare: files that are staged beside others, and nodeup's own records. */
enum { FILES_SPARE = 8 };

/* An existing directory and its file system. */
struct place {
	const char *path;
	struct stat st;
	struct statvfs fs;
};

struct room {
	uint64_t device, wanted, spare, free;
	uint64_t files, files_free; /* free: UINT64_MAX if the file system counts no files */
	const char *path;
};

int check_say(struct checking *c, enum check_result result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)print_va(c->said, sizeof(c->said), fmt, ap);
	va_end(ap);
	return (int)result;
}

/* Returns the directory of a path. */
static const char *above(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? "/" : arena_strn(a, path, (size_t)(slash - path));
}

/* Returns the place of a path below that root, or of its nearest existing directory; NULL: it cannot be looked at.
 * Keeps the results: a plan has many paths in a few directories. */
static struct place *find_place(struct checking *c, int root_fd, const char *path)
{
	struct arena *a = c->cli->arena;
	const char *key = arena_printf(a, "%d:%s", root_fd, path), *slash = strrchr(path, '/');
	struct place *p = map_get(&c->places, key), *parent;
	autoclose int fd = -1;
	struct err ignored;

	if (p || !slash)
		return p;
	parent = path[1] ? find_place(c, root_fd, above(a, path)) : NULL;
	if ((parent && !str_eq(parent->path, above(a, path))) ||
	    io_open(root_fd, path, O_PATH | O_DIRECTORY, &fd, &ignored) < 0) {
		p = parent;
	} else {
		p = arena_new(a, struct place);
		p->path = path;
		if (fstat(fd, &p->st) < 0 || fstatvfs(fd, &p->fs) < 0)
			return NULL;
	}
	return p ? map_put(a, &c->places, key, p) : NULL;
}

static bool is_read_only(const struct place *p)
{
	return p->fs.f_flag & ST_RDONLY;
}

/* Returns where the place's file system is mounted, if it is read-only: the topmost of the read-only directories
 * above the place. */
static const char *mounted_at(struct checking *c, int root_fd, const struct place *p)
{
	struct arena *a = c->cli->arena;
	const char *path = p->path;

	while (path[1]) {
		const struct place *parent = find_place(c, root_fd, above(a, path));

		if (!parent || !is_read_only(parent))
			break;
		path = above(a, path);
	}
	return path;
}

static const char *cache_dir(const struct checking *c)
{
	return c->cli->cache ? session_cache_dir(c->cli) : OWN_CACHE;
}

/* Returns the path that a task of the plan would write, and the root above it; NULL: it would write nothing. */
static const char *target_of(const struct checking *c, const struct run_outcome *o, int *ret_root)
{
	if (o->state != RUN_CHANGED && o->state != RUN_UNSURE)
		return NULL;
	*ret_root = c->s->root_fd;
	if (o->task->kind == TASK_UNPACK)
		return o->task->n_serves ? task_path(o->task->serves[0]) : NULL;
	if (o->task->kind != TASK_ASSET)
		return task_path(o->task);
	*ret_root = c->s->ctx.cache_root_fd;
	return cache_dir(c);
}

static int check_place(struct checking *c, int root_fd, const char *path, struct err *e)
{
	const struct place *p = find_place(c, root_fd, path);

	if (!p || !is_read_only(p))
		return CHECK_RIGHT;
	(void)err_fail(e, ERR_SYSTEM, EROFS, "the file system of '%s' is read-only",
		       mounted_at(c, root_fd, p));
	err_note(e, "for", "%s", path);
	err_note(e, "do",
		 "mount it to be written (mount -o remount,rw), and look at dmesg for why");
	return err_code(e);
}

int check_writable(struct checking *c, struct err *e)
{
	static const char *const places[] = { "/etc", "/var/lib",   "/run",
					      "/opt", "/usr/local", "/srv" };
	int r = CHECK_RIGHT;

	/* without a plan: the likely places */
	for (size_t i = 0; c->opened < 0 && r >= 0 && i < ARRAY_LEN(places); i++)
		r = check_place(c, c->s->root_fd, places[i], e);
	for (size_t i = 0; r >= 0 && i < c->rep.n; i++) {
		int root_fd;
		const char *path = target_of(c, &c->rep.outcomes[i], &root_fd);

		if (path)
			r = check_place(c, root_fd, path, e);
	}
	return r;
}

/* Returns the file system of a place; NULL if it counts no blocks. */
static struct room *room_of(const struct place *p, struct room *v, size_t *n)
{
	if (!p || p->fs.f_blocks == 0)
		return NULL;
	for (size_t i = 0; i < *n; i++)
		if (v[i].device == p->st.st_dev)
			return &v[i];
	if (*n == FILE_SYSTEMS_MAX)
		return NULL;
	v[*n] = (struct room){ .device = p->st.st_dev,
			       .free = (uint64_t)p->fs.f_bavail * p->fs.f_frsize,
			       .files_free = p->fs.f_files ? p->fs.f_favail : UINT64_MAX,
			       .path = p->path };
	return &v[(*n)++];
}

/* Returns the bytes of an asset to fetch. */
static uint64_t length_of(const struct checking *c, const struct asset *as)
{
	for (size_t i = 0; i < c->n_assets; i++)
		if (c->assets[i].asset == as && c->assets[i].length > 0)
			return (uint64_t)c->assets[i].length;
	return 0;
}

/* Returns whether files in that directory can share bytes: tries it with two unnamed files. */
static bool has_reflinks(int root_fd, const char *dir)
{
	autoclose int from = -1, to = -1;
	struct err ignored;

	return io_open(root_fd, dir, O_TMPFILE | O_RDWR | O_NONBLOCK, &from, &ignored) == 0 &&
	       io_open(root_fd, dir, O_TMPFILE | O_RDWR | O_NONBLOCK, &to, &ignored) == 0 &&
	       ioctl(to, FICLONE, from) == 0;
}

/* Returns the room for an asset's file, fetched or copied out of the cache. A file that the cache gives away, or
 * that shares the cache's bytes, takes no room. */
static uint64_t length_of_file(struct checking *c, const struct task *t, uint64_t device)
{
	const struct asset *as = t->install.sources[0];
	const uint64_t fetched = length_of(c, as);
	const struct place *cache = find_place(c, c->s->ctx.cache_root_fd, cache_dir(c));
	struct err ignored;

	if (cache && cache->st.st_dev == device &&
	    (installed_is_given(t, &c->s->ctx) ||
	     has_reflinks(c->s->ctx.cache_root_fd, cache->path)))
		return 0;
	return fetched ? fetched
		       : cache_inspect(c->s->ctx.cache, &as->digest, CACHE_BY_RECORD, &ignored)
				 .bytes;
}

/* Returns the bytes of an archive's member when it was last installed. */
static uint64_t length_of_member(const struct checking *c, const struct task *t)
{
	const struct task_install *in = &t->install;
	uint64_t n = 0;

	for (size_t i = 0; i < in->n_sources && n == 0 && length_of(c, in->sources[i]) == 0; i++) {
		struct digest d;

		installed_digest_at(in, i, &d);
		n = state_size_of(c->s->ctx.state, t->name, &d);
	}
	return n;
}

/* Gives the bytes that the task adds to that file system; an unknown size counts as 0. false: the task adds only a
 * few bytes. */
static bool brings(struct checking *c, const struct task *t, uint64_t device, uint64_t *ret)
{
	*ret = 0;
	if (t->kind == TASK_ASSET || t->kind == TASK_UNPACK)
		*ret = length_of(c, t->asset.asset) * (t->kind == TASK_UNPACK ? UNPACKED : 1);
	else if (t->kind == TASK_INSTALL && !t->install.member && t->install.n_sources)
		*ret = length_of_file(c, t, device);
	else if (t->kind == TASK_INSTALL)
		*ret = length_of_member(c, t);
	else
		return false;
	return t->kind != TASK_INSTALL || *ret > 0 || !t->install.member;
}

static void add_wanted(struct checking *c, struct room *v, size_t *n)
{
	for (size_t i = 0; i < c->rep.n; i++) {
		const struct run_outcome *o = &c->rep.outcomes[i];
		int root_fd;
		const char *path = o->diff.removes ? NULL : target_of(c, o, &root_fd);
		struct room *at;
		uint64_t bytes;

		if (!path)
			continue;
		at = room_of(find_place(c, root_fd, path), v, n);
		if (!at)
			continue;
		if (brings(c, o->task, at->device, &bytes) && !c->before_change)
			at->spare = ROOM_SPARE;
		else if (!at->spare)
			at->spare = ROOM_LEAST;
		at->wanted += bytes;
		at->files++;
	}
}

static int no_room(struct checking *c, const struct room *at, struct err *e)
{
	char wanted[STR_SIZE_MAX], room[STR_SIZE_MAX];
	const struct place *cache = find_place(c, c->s->ctx.cache_root_fd, cache_dir(c));

	(void)err_fail(e, ERR_SYSTEM, ENOSPC, "no room on the file system of '%s'", at->path);
	err_note(e, "want", "%s and a little more", str_size(wanted, at->wanted));
	err_note(e, "got", "%s", str_size(room, at->free));
	err_note(e, "do", "a larger disk%s",
		 cache && cache->st.st_dev == at->device ? ", or nodeup's --cache on another one"
							 : ", or remove what is not needed there");
	return err_code(e);
}

static int no_files(const struct room *at, struct err *e)
{
	(void)err_fail(e, ERR_SYSTEM, ENOSPC, "no inodes on the file system of '%s'", at->path);
	err_note(e, "want", "%llu files and some more", (unsigned long long)at->files);
	err_note(e, "got", "%llu", (unsigned long long)at->files_free);
	err_note(e, "do", "remove small files that are not needed there: df -i %s counts them",
		 at->path);
	return err_code(e);
}

int check_space(struct checking *c, struct err *e)
{
	char wanted[STR_SIZE_MAX], room[STR_SIZE_MAX];
	struct room v[FILE_SYSTEMS_MAX];
	size_t n = 0;

	if (c->opened < 0)
		return check_say(c, CHECK_SKIPPED, "not looked at: the documents say what comes");
	add_wanted(c, v, &n);
	for (size_t i = 0; i < n; i++) {
		if (v[i].wanted + v[i].spare > v[i].free)
			return no_room(c, &v[i], e);
		if (v[i].files + FILES_SPARE > v[i].files_free)
			return no_files(&v[i], e);
	}
	if (n == 0)
		return CHECK_RIGHT;
	return check_say(c, CHECK_RIGHT, "%s to come, %s free on the file system of '%s'",
			 str_size(wanted, v[0].wanted), str_size(room, v[0].free), v[0].path);
}
