#include "nodeup/session_disks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "nodeup/aws/imds_disks.h"
#include "nodeup/tasks/volume.h"

enum { MOUNTS_MAX = 4 << 20 };

/* Only an instance store may be promised by IMDS and known by nothing else. */
static bool wants_store(const struct node_volumes *volumes)
{
	for (size_t i = 0; i < volumes->n; i++)
		if (volumes->v[i].disks == NODE_DISKS_INSTANCE_STORE)
			return true;
	return false;
}

int session_disks(struct session *s, struct strmap *ret_uuids, struct err *e)
{
	const struct node_volumes *volumes = &s->boot.node.volumes;
	struct disk_host *host;
	int r;

	if (s->image_mode || volumes->n == 0)
		return 0;
	host = arena_new(s->arena, struct disk_host);
	host->root_fd = s->root_fd;
	if (s->boot.imds && wants_store(volumes)) {
		r = imds_block_devices(s->boot.imds, s->arena, &host->mapping, e);
		if (r < 0)
			return r;
	}
	s->ctx.disks = host;
	s->ctx.root_fd = s->root_fd;
	for (size_t i = 0; i < volumes->n; i++) {
		const char *uuid = volume_known_uuid(&volumes->v[i], &s->ctx, s->arena);

		if (uuid)
			strmap_set(s->arena, ret_uuids, volumes->v[i].name, uuid);
	}
	return 0;
}

/* What is mounted at a place: the device's number and the source that mount was told. */
struct mounted {
	const char *dev, *source;
};

static bool find_mount(const struct session *s, const char *path, struct mounted *ret)
{
	autobuf struct buf text = BUF_INIT(MOUNTS_MAX);
	struct err ignored;
	struct strv lines;
	bool found = false;

	if (io_read(s->root_fd, "/proc/self/mountinfo", &text, &ignored) < 0)
		return false;
	lines = strv_split(s->arena, buf_str(&text), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const struct strv words = strv_split(s->arena, lines.v[i], ' ');
		size_t dash = 6;

		if (words.n < 10 || strcmp(words.v[4], path) != 0)
			continue;
		while (dash + 2 < words.n && strcmp(words.v[dash], "-") != 0)
			dash++;
		/* the last one is on top */
		*ret = (struct mounted){ words.v[2], dash + 2 < words.n ? words.v[dash + 2] : "" };
		found = true;
	}
	return found;
}

/* The number of a block device, links followed; "" if it is none. */
static const char *number_of(const struct session *s, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;
	struct stat st;

	if (*path != '/' || io_open(s->root_fd, path, O_PATH, &fd, &ignored) < 0 ||
	    fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return "";
	return arena_printf(s->arena, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
}

/* By number, or for a file system that has one of its own by the disk it was mounted from; an array
 * is told by its holders. */
static bool is_on(const struct session *s, const struct mounted *m, const struct disks *disks)
{
	const char *source = number_of(s, m->source);

	for (size_t i = 0; i < disks->n; i++)
		if (strcmp(m->dev, disks->v[i].dev) == 0 || strcmp(source, disks->v[i].dev) == 0 ||
		    strv_has(&disks->v[i].holders, str_basename(m->source)))
			return true;
	return false;
}

static bool is_empty_dir(const struct session *s, const char *path)
{
	autodir DIR *d = NULL;
	const struct dirent *de;
	struct err ignored;
	int fd;

	if (io_open(s->root_fd, path, O_RDONLY | O_DIRECTORY, &fd, &ignored) < 0)
		return true;
	d = fdopendir(fd);
	while (d && (de = readdir(d)))
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0 &&
		    strcmp(de->d_name, "lost+found") != 0)
			return false;
	return true;
}

static int refuse_path(const struct session *s, const struct node_volume *v, const char *why,
		       struct err *e)
{
	const char *where = tree_where(s->arena, &v->pos);
	int r = err_fail(e, ERR_REFUSED, 0, "volume %s: %s is in use; nothing was written", v->name,
			 v->path);

	if (*where)
		err_note(e, "is", "asked by %s", where);
	err_note(e, "has", "%s", why);
	return r;
}

/* The place must be this volume's, or nobody's. */
static int check_path(struct session *s, const struct task *t, bool is_made, struct err *e)
{
	const struct node_volume *v = t->volume.want;
	const char *missing;
	struct mounted m;
	struct disks disks;
	struct err ignored;

	if (!v->path)
		return 0;
	if (!find_mount(s, v->path, &m)) {
		if (is_made || is_empty_dir(s, v->path))
			return 0;
		return refuse_path(s, v, "files that a mount would hide: move them away", e);
	}
	if (volume_disks(v, &s->ctx, s->arena, &disks, &missing, &ignored) == 0 &&
	    is_on(s, &m, &disks))
		return 0;
	return refuse_path(s, v, arena_printf(s->arena, "%s mounted there", m.source), e);
}

int session_preflight(struct session *s, struct err *e)
{
	for (size_t i = 0; i < s->plan.n && s->ctx.disks; i++) {
		const struct task *t = s->plan.tasks[i];
		struct task_diff diff;
		struct err why;
		int r;

		if (t->kind != TASK_VOLUME)
			continue;
		r = task_ops(t)->check(t, &s->ctx, &diff, &why);
		if (r < 0 && why.kind == ERR_NET)
			continue;
		if (r >= 0)
			r = check_path(s, t, r == TASK_EQUAL, &why);
		else
			(void)err_wrap(&why, "volume %s", t->name);
		if (r < 0) {
			*e = why;
			return r;
		}
	}
	return 0;
}
