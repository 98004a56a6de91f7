#include "nodeup/session_disks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "nodeup/aws/imds_disks.h"
#include "nodeup/tasks/volume.h"
#include "nodeup/volumes/mounts.h"

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
static bool is_on(const struct session *s, const struct mount *m, const struct disks *disks)
{
	const char *source = number_of(s, m->source);

	for (size_t i = 0; i < disks->n; i++)
		if (strcmp(m->dev, disks->v[i].dev) == 0 || strcmp(source, disks->v[i].dev) == 0 ||
		    strv_has(&disks->v[i].holders, str_basename(m->source)))
			return true;
	return false;
}

/* What a mount at a place would hide or fail on; NULL: nothing. */
static const char *in_the_way(const struct session *s, const char *path)
{
	autodir DIR *d = NULL;
	const struct dirent *de;
	autoclose int fd = -1;
	struct err e;
	struct stat st;

	if (io_stat(s->root_fd, path, &st, &e) < 0)
		return e.errnum == ENOENT ? NULL : arena_str(s->arena, e.msg);
	if (S_ISLNK(st.st_mode))
		return "a symbolic link: systemd mounts at directories only";
	if (!S_ISDIR(st.st_mode))
		return "a file, and no directory";
	if (io_open(s->root_fd, path, O_RDONLY | O_DIRECTORY, &fd, &e) < 0)
		return arena_str(s->arena, e.msg);
	d = fdopendir(fd);
	if (!d)
		return "a directory that cannot be read";
	(void)TAKE_FD(fd);
	while ((de = readdir(d)))
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0 &&
		    strcmp(de->d_name, "lost+found") != 0)
			return "files that a mount would hide: move them away";
	return NULL;
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
static int check_path(struct session *s, const struct node_volume *v, struct err *e)
{
	const struct mount *m;
	const char *missing, *why;
	struct mounts mounts;
	struct disks disks;
	struct err ignored;
	int r;

	if (!v->path)
		return 0;
	r = mounts_read(s->root_fd, s->arena, "self", &mounts, e);
	if (r < 0)
		return r;
	m = mounts_at(&mounts, v->path);
	if (!m) {
		why = in_the_way(s, v->path);
		return why ? refuse_path(s, v, why, e) : 0;
	}
	if (volume_disks(v, &s->ctx, s->arena, &disks, &missing, &ignored) == 0 &&
	    is_on(s, m, &disks))
		return 0;
	return refuse_path(s, v, arena_printf(s->arena, "%s mounted there", m->source), e);
}

/* One volume, or one directory that is to be seen on one. */
static int check_task(struct session *s, const struct task *t, struct err *e)
{
	struct task_diff diff;
	struct err why;
	int r;

	if (t->kind != TASK_VOLUME && t->kind != TASK_MOVE)
		return 0;
	r = task_ops(t)->check(t, &s->ctx, &diff, &why);
	if (r >= 0)
		return t->kind == TASK_VOLUME ? check_path(s, t->volume.want, e) : 0;
	if (why.kind == ERR_NET)
		return 0;
	*e = why;
	return err_wrap(e, "volume %s", t->name);
}

int session_preflight(struct session *s, struct err *e)
{
	for (size_t i = 0; i < s->plan.n && s->ctx.disks; i++) {
		int r = check_task(s, s->plan.tasks[i], e);

		if (r < 0)
			return r;
	}
	return 0;
}
