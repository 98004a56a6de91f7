#include "nodeup/volumes/users.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "nodeup/base/print.h"
#include "nodeup/base/walk.h"
#include "nodeup/volumes/mounts.h"

enum { MAPS_MAX = 64 << 20, NAME_MAX_BYTES = 4096, LINK_MAX = 4096 };

/* One mount namespace, searched once however many processes are in it. */
struct view {
	const char *name; /* "mnt:[4026531841]" */
	struct mounts mounts;
};

struct search {
	int root_fd;
	struct arena *a;
	const char *path; /* our path of the directory; NULL: the question is only about a disk */
	const char *disk; /* "259:3", or NULL */
	const char *dev, *root; /* the directory's file system, and its path in that */
	struct mounts own;
	struct view *views;
	size_t n_views;
	struct user *ret;
};

/* A process as one of its threads sees it: each thread may have its own files, directories and mounts. */
struct process {
	const char *pid;
	const char *tid;  /* readable below /proc like a process, though not listed there */
	bool *has_memory; /* the memory of one thread was searched; all threads share it */
	const struct mounts *mounts;
	struct arena *a; /* freed with the thread */
};

static int name_user(const struct search *s, const struct process *p, const char *what,
		     const char *path)
{
	const char *comm = arena_printf(p->a, "/proc/%s/comm", p->pid);
	const char *name = io_text(p->a, s->root_fd, comm, NAME_MAX_BYTES);

	*s->ret = (struct user){
		.pid = arena_str(s->a, p->pid),
		.what = arena_printf(s->a, "%s (pid %s) has '%s' %s",
				     str_trim(p->a, name ? name : "a program"), p->pid, path, what),
	};
	return 1;
}

/* Ignores that a process ended during the search. If a process may not be inspected, that is an error. */
static int gone_or(int r)
{
	return r == -ENOENT || r == -ESRCH || r == -ENOTDIR ? 0 : r;
}

/* Returns whether this is the number of the disk in question. */
static bool is_number(const struct search *s, unsigned int dev_major, unsigned int dev_minor)
{
	char dev[32]; /* number of a device, as /sys writes it */

	(void)print_to(dev, sizeof(dev), "%u:%u", dev_major, dev_minor);
	return s->disk && strcmp(dev, s->disk) == 0;
}

/* Returns whether the name is a node of the disk in question: 1, 0 or -errno. Does not wait for the answer of a file
 * server. */
static int is_disk(const struct search *s, int dir, const char *name)
{
	struct statx st;

	if (!s->disk)
		return 0;
	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return errno == EPERM || errno == EACCES ? -errno : 0;
	return S_ISBLK(st.stx_mode) && is_number(s, st.stx_rdev_major, st.stx_rdev_minor);
}

/* Returns whether the name is a path inside the directory; "socket:[1]" and memory are no paths. */
static bool is_inside(const struct search *s, struct arena *a, const struct mounts *mounts,
		      const char *path)
{
	const struct mount *m = s->path && *path == '/' ? mounts_under(mounts, path) : NULL;

	return m && strcmp(m->dev, s->dev) == 0 && str_is_within(mounts_inner(a, m, path), s->root);
}

static int look_at_link(const struct search *s, const struct process *p, int dir, const char *name,
			const char *what)
{
	char path[LINK_MAX];
	const ssize_t n = readlinkat(dir, name, path, sizeof(path) - 1);

	if (n < 0)
		return gone_or(-errno);
	path[n] = '\0';
	return is_inside(s, p->a, p->mounts, path) ? name_user(s, p, what, path) : 0;
}

static int open_proc(const struct search *s, const struct process *p, const char *name, int *ret,
		     struct err *e)
{
	return io_open(s->root_fd, arena_printf(p->a, "/proc/%s/%s", p->tid, name),
		       O_RDONLY | O_DIRECTORY, ret, e);
}

static int look_at_links(const struct search *s, const struct process *p)
{
	static const struct {
		const char *name, *what;
	} links[] = {
		{ "cwd", "as its working directory" },
		{ "root", "as its root directory" },
		{ "exe", "as its program" },
	};
	autoclose int dir = -1;
	struct err ignored;
	int r = open_proc(s, p, "", &dir, &ignored);

	if (r < 0)
		return gone_or(r);
	for (size_t i = 0; i < ARRAY_LEN(links) && r == 0; i++)
		r = look_at_link(s, p, dir, links[i].name, links[i].what);
	return r;
}

static int look_at_files(const struct search *s, const struct process *p)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = -1;
	struct strv names;
	struct err ignored;
	int r = open_proc(s, p, "fd", &fd, &ignored);

	if (r == 0)
		r = walk_names(a, fd, &names);
	if (r < 0)
		return gone_or(r);
	for (size_t i = 0; i < names.n && r == 0; i++) {
		r = is_disk(s, fd, names.v[i]);
		if (r > 0)
			return name_user(s, p, "open", arena_printf(p->a, "disk %s", s->disk));
		if (r == 0)
			r = look_at_link(s, p, fd, names.v[i], "open");
	}
	return r;
}

/* Looks for a memory mapping of the disk: its node may have any name, or none, and no descriptor need be open. */
static int look_at_mapped_disk(const struct search *s, const struct process *p)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = -1, alive = -1;
	struct strv names;
	struct err ignored;
	int r = open_proc(s, p, "map_files", &fd, &ignored);

	/* a kernel before 4.3 may lack the directory; then mappings cannot be seen */
	if (r == -ENOENT && open_proc(s, p, "ns", &alive, &ignored) == 0)
		return -EOPNOTSUPP;
	if (r == 0)
		r = walk_names(a, fd, &names);
	if (r < 0)
		return gone_or(r);
	for (size_t i = 0; i < names.n && r == 0; i++)
		r = is_disk(s, fd, names.v[i]);
	return r > 0 ? name_user(s, p, "mapped", arena_printf(p->a, "disk %s", s->disk)) : r;
}

/* "7f12-7f13 r--p 00000000 08:01 123    /usr/lib/libc.so" */
static int look_at_maps(const struct search *s, const struct process *p)
{
	autobuf struct buf text = BUF_INIT(MAPS_MAX);
	struct err ignored;
	struct strv lines;
	int r;

	if (*p->has_memory)
		return 0;
	r = io_read(s->root_fd, arena_printf(p->a, "/proc/%s/maps", p->tid), &text, &ignored);
	if (r < 0)
		return gone_or(r);
	*p->has_memory = text.len > 0;
	lines = strv_split(p->a, buf_str(&text), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const char *path = strchr(lines.v[i], '/');

		if (path && is_inside(s, p->a, p->mounts, path))
			return name_user(s, p, "mapped", path);
	}
	return s->disk ? look_at_mapped_disk(s, p) : 0;
}

/* Returns whether the directory is part of an overlay, by its options. */
static bool is_overlay_of(const struct search *s, const struct mount *m)
{
	for (const char *at = m->options; (at = strstr(at, s->path)); at++) {
		const char before = at == m->options ? ',' : at[-1];
		const char *rest = at + strlen(s->path);

		if ((before == '=' || before == ':') && (*rest == '/' || *rest == '\0'))
			return strcmp(m->point, s->path) != 0;
	}
	return false;
}

/* Returns whether a namespace has the same root as ours. In namespaces with one root, equal mount points mean the
 * same places. */
static bool has_our_root(const struct search *s, const struct process *p)
{
	const struct mount *ours = mounts_at(&s->own, "/"), *theirs = mounts_at(p->mounts, "/");

	return ours && theirs && strcmp(ours->dev, theirs->dev) == 0 &&
	       strcmp(ours->root, theirs->root) == 0;
}

/* Returns whether this is the mount of the disk in question, or a mount in another namespace that is unmounted with
 * it. */
static bool is_that_mount(const struct search *s, const struct mount *m)
{
	const struct mount *ours = s->disk ? mounts_at(&s->own, s->path) : NULL;

	if (!ours || strcmp(m->id, ours->id) == 0)
		return ours != NULL;
	return *ours->peers && strcmp(m->point, ours->point) == 0 &&
	       (strcmp(m->peers, ours->peers) == 0 || strcmp(m->master, ours->peers) == 0);
}

static int look_at_mounts(const struct search *s, const struct process *p)
{
	const bool same = s->path && has_our_root(s, p);

	for (size_t i = 0; s->path && i < p->mounts->n; i++) {
		const struct mount *m = &p->mounts->v[i];

		/* the directory, or a part of it, is mounted elsewhere */
		const bool is_part = strcmp(m->dev, s->dev) == 0 && str_is_within(m->root, s->root);
		const bool is_in_it = same && strcmp(m->point, s->path) != 0 &&
				      str_is_within(m->point, s->path);

		if (!is_that_mount(s, m) && (is_part || is_in_it || is_overlay_of(s, m)))
			return name_user(s, p, "mounted", m->point);
	}
	return 0;
}

/* Searches a process's mount namespace, if no process of it was searched before. */
static int look_at_namespace(struct search *s, struct process *p)
{
	autoclose int dir = -1;
	char name[LINK_MAX];
	struct view v = { 0 };
	struct err ignored;
	ssize_t n = -1;
	int r = open_proc(s, p, "ns", &dir, &ignored);

	if (r < 0)
		return gone_or(r);
	n = readlinkat(dir, "mnt", name, sizeof(name) - 1);
	if (n < 0)
		return gone_or(-errno);
	for (size_t i = 0; i < s->n_views; i++)
		if (strncmp(s->views[i].name, name, (size_t)n) == 0 && !s->views[i].name[n]) {
			p->mounts = &s->views[i].mounts;
			return 0;
		}
	v.name = arena_strn(s->a, name, (size_t)n);
	r = mounts_read(s->root_fd, s->a, p->tid, &v.mounts, &ignored);
	/* a process that ends loses its table of mounts before it is gone */
	if (r < 0)
		return r == -EINVAL ? 0 : gone_or(r);
	arena_push(s->a, s->views, s->n_views, v);
	p->mounts = &s->views[s->n_views - 1].mounts;
	return look_at_mounts(s, p);
}

static int look_at_thread(struct search *s, const char *pid, const char *tid, bool *has_memory)
{
	static int (*const looks[])(const struct search *, const struct process *) = {
		look_at_links,
		look_at_files,
		look_at_maps,
	};
	autoarena struct arena *a = arena_new_empty();
	struct process p = { .pid = pid, .tid = tid, .has_memory = has_memory, .a = a };
	int r = look_at_namespace(s, &p);

	for (size_t i = 0; i < ARRAY_LEN(looks) && r == 0 && p.mounts; i++)
		r = looks[i](s, &p);
	return r;
}

static int look_at_process(struct search *s, const char *pid, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	bool has_memory = false;
	struct strv tids = { 0 };
	struct err ignored;
	/* the first thread may have ended before the others */
	int r = look_at_thread(s, pid, pid, &has_memory);

	if (r == 0)
		r = gone_or(walk_names_at(a, s->root_fd, arena_printf(a, "/proc/%s/task", pid),
					  &tids, &ignored));
	for (size_t i = 0; r == 0 && i < tids.n; i++)
		if (strcmp(tids.v[i], pid) != 0)
			r = look_at_thread(s, pid, tids.v[i], &has_memory);
	return r >= 0 ? r
		      : err_fail(e, ERR_SYSTEM, -r, "what process %s has open cannot be seen: %s",
				 pid, strerror(-r));
}

static int say_kernel(const struct search *s, const char *what)
{
	*s->ret = (struct user){ .pid = "", .what = what };
	return 1;
}

static int look_at_swaps(struct search *s)
{
	const struct strv swaps = mounts_swaps(s->root_fd, s->a);

	for (size_t i = 0; i < swaps.n; i++)
		if (is_inside(s, s->a, &s->own, swaps.v[i]))
			return say_kernel(s, arena_printf(s->a, "'%s' is swap space in use",
							  swaps.v[i]));
	return 0;
}

/* Returns whether a loop device uses the disk, or a file on it. The kernel shows the file's path as the maker of the
 * device saw it, which may lead to another file here. So the device itself is asked. A device that does not answer
 * counts as a user of the disk. */
static bool is_over_disk(const struct search *s, const char *loop)
{
	const char *at = arena_printf(s->a, "/sys/block/%s/dev", loop);
	const char *want = io_text(s->a, s->root_fd, at, NAME_MAX_BYTES);
	struct loop_info64 info;
	autoclose int fd = -1;
	struct err ignored;
	struct stat st;
	char dev[32];

	if (!want ||
	    io_open(s->root_fd, arena_printf(s->a, "/dev/%s", loop), O_RDONLY | O_NONBLOCK, &fd,
		    &ignored) < 0 ||
	    fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return true;
	(void)print_to(dev, sizeof(dev), "%u:%u\n", major(st.st_rdev), minor(st.st_rdev));
	if (strcmp(dev, want) != 0 || ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
		return true;
	return is_number(s, major(info.lo_device), minor(info.lo_device)) ||
	       is_number(s, major(info.lo_rdevice), minor(info.lo_rdevice));
}

/* Looks for files behind loop devices, as docker's devicemapper has: the kernel uses them, and no process has them
 * open. */
static int look_at_loops(struct search *s)
{
	struct strv names;
	struct err ignored;
	int r = walk_names_at(s->a, s->root_fd, "/sys/block", &names, &ignored);

	if (r < 0)
		return gone_or(r);
	for (size_t i = 0; i < names.n; i++) {
		const char *at = arena_printf(s->a, "/sys/block/%s/loop/backing_file", names.v[i]);
		char *file = io_text(s->a, s->root_fd, at, NAME_MAX_BYTES + LINK_MAX);

		if (!file)
			continue;
		file[strcspn(file, "\n")] = '\0';
		if (is_inside(s, s->a, &s->own, file) || (s->disk && is_over_disk(s, names.v[i]))) {
			return say_kernel(s, arena_printf(s->a, "'%s' is the disk /dev/%s", file,
							  names.v[i]));
		}
	}
	return 0;
}

/* Looks for files that the kernel itself has open. */
static int look_at_kernel(struct search *s, struct err *e)
{
	int r = look_at_swaps(s);

	if (r == 0)
		r = look_at_loops(s);
	return r >= 0 ? r
		      : err_fail(e, ERR_SYSTEM, -r, "what the kernel has open cannot be seen: %s",
				 strerror(-r));
}

static int look_at_all(struct search *s, struct err *e)
{
	autoclose int fd = -1;
	char self[32] = "";
	struct strv names;
	int r = io_open(s->root_fd, "/proc", O_RDONLY | O_DIRECTORY, &fd, e);

	if (r < 0)
		return r;
	if (walk_names(s->a, fd, &names) < 0)
		return err_sys(e, "read '/proc'");
	(void)!readlinkat(fd, "self", self, sizeof(self) - 1);
	r = look_at_kernel(s, e);
	for (size_t i = 0; i < names.n && r == 0; i++)
		if (isdigit((unsigned char)names.v[i][0]) && strcmp(names.v[i], self) != 0)
			r = look_at_process(s, names.v[i], e);
	return r;
}

static int begin_search(struct search *s, struct err *e)
{
	const struct mount *m;
	int r = mounts_read(s->root_fd, s->a, "self", &s->own, e);

	*s->ret = (struct user){ 0 };
	if (r < 0 || !s->path)
		return r;
	m = mounts_under(&s->own, s->path);
	if (!m)
		return err_fail(e, ERR_SYSTEM, ENOENT, "nothing is known to be mounted at '/'");
	s->dev = m->dev;
	s->root = mounts_inner(s->a, m, s->path);
	return 0;
}

int users_of(int root_fd, struct arena *a, const char *path, const char *pid, struct user *ret,
	     struct err *e)
{
	struct search s = { .root_fd = root_fd, .a = a, .path = path, .ret = ret };
	int r = begin_search(&s, e);

	if (r == 0)
		r = !pid   ? look_at_all(&s, e)
		    : *pid ? look_at_process(&s, pid, e)
			   : look_at_kernel(&s, e);
	return r < 0 ? r : 0;
}

int users_of_disk(int root_fd, struct arena *a, const char *dev, const char *point,
		  struct user *ret, struct err *e)
{
	struct search s = { .root_fd = root_fd, .a = a, .path = point, .disk = dev, .ret = ret };
	int r = begin_search(&s, e);

	if (r == 0)
		r = look_at_all(&s, e);
	return r < 0 ? r : 0;
}
