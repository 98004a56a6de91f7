#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/place.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MANIFEST_MAX = 256 << 10 };

static const mode_t data_mode = 0700;

/* A directory that something is mounted on is of another device than the one it is in. */
static int is_mounted(struct task_ctx *ctx, const char *path, struct err *e)
{
	autoclose int parent = -1;
	struct stat above, here;
	const char *name;
	int r = io_open_parent(ctx->root_fd, path, &parent, &name, e);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (fstat(parent, &above) < 0)
		return err_sys(e, "look at the directory of '%s'", path);
	if (fstatat(parent, name, &here, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "look at '%s'", path);
	return above.st_dev != here.st_dev;
}

/* 1: it leads there; 0: it does not, or is not there. */
static int is_linked(struct task_ctx *ctx, const struct task_etcd *m, struct err *e)
{
	autoclose int parent = -1;
	char now[PATH_MAX];
	const char *name;
	ssize_t n;
	int r = io_open_parent(ctx->root_fd, m->link, &parent, &name, e);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	n = readlinkat(parent, name, now, sizeof(now) - 1);
	if (n < 0)
		return 0;
	now[n] = '\0';
	return strcmp(now, m->manifest) == 0;
}

static int check_manifest(struct task_ctx *ctx, const struct task_etcd *m, struct task_diff *diff,
			  struct err *e)
{
	autobuf struct buf now = BUF_INIT(MANIFEST_MAX);
	int r = io_read(ctx->root_fd, m->manifest, &now, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return task_missing(diff, "not on the volume");
	if (r < 0 && r != -EFBIG)
		return r;
	if (r < 0 || strcmp(buf_str(&now), m->content) != 0)
		return task_differs(diff, "another manifest on the volume");
	return TASK_EQUAL;
}

static int check_link(struct task_ctx *ctx, const struct task_etcd *m, struct task_diff *diff,
		      struct err *e)
{
	int r = is_linked(ctx, m, e);

	if (r < 0)
		return r;
	return r ? TASK_EQUAL : task_differs(diff, "no link to the volume");
}

static int etcd_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	const struct task_etcd *m = &t->etcd;
	struct stat st;
	int r = is_mounted(ctx, m->mount_point, e);

	if (r < 0)
		return r;
	/* the volume is not here when an image is made: below its mount point nothing may be written,
	 * which would be hidden and keep the first boot from mounting there */
	if (r == 0 && ctx->image_mode)
		return check_link(ctx, m, diff, e);
	if (r == 0)
		return task_differs(diff, "'%s' is not mounted", m->mount_point);
	r = io_stat(ctx->root_fd, m->data, &st, e);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r < 0 || (st.st_mode & 07777) != data_mode)
		return task_differs(diff, "no '%s' with mode 0700", m->data);
	r = check_manifest(ctx, m, diff, e);
	return r == TASK_EQUAL ? check_link(ctx, m, diff, e) : r;
}

/* The data below may belong to another user; the directory itself is for root alone. */
static int make_data(struct task_ctx *ctx, const char *path, struct err *e)
{
	autoclose int fd = -1;
	int r = io_mkdirs(ctx->root_fd, path, data_mode, e);

	if (r == 0)
		r = io_open(ctx->root_fd, path, O_RDONLY | O_DIRECTORY, &fd, e);
	if (r < 0)
		return r;
	return fchmod(fd, data_mode) < 0 ? err_sys(e, "set the mode of '%s'", path) : 0;
}

/* Beside its place, then over what is there: kubelet sees the old pod or the new one. */
static int make_link(struct task_ctx *ctx, const struct task_etcd *m, struct err *e)
{
	autofree char *stage = NULL;
	autoclose int parent = -1;
	const char *name;
	int r = place_open(ctx, m->link, &parent, &name, e);

	if (r < 0)
		return r;
	stage = xasprintf(".nodeup-%s", name);
	if (unlinkat(parent, stage, 0) < 0 && errno != ENOENT)
		return err_sys(e, "remove '%s'", stage);
	if (symlinkat(m->manifest, parent, stage) < 0)
		return err_sys(e, "link '%s'", m->link);
	if (renameat(parent, stage, parent, name) < 0) {
		r = err_sys(e, "link '%s'", m->link);
		(void)unlinkat(parent, stage, 0);
		return r;
	}
	return fsync(parent) < 0 ? err_sys(e, "sync the directory of '%s'", m->link) : 0;
}

static int etcd_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	static const struct io_attr attr = { .mode = 0644 };
	const struct task_etcd *m = &t->etcd;
	int r = is_mounted(ctx, m->mount_point, e);

	(void)run;
	if (r == 0 && ctx->image_mode)
		return make_link(ctx, m, e);
	if (r == 0)
		return err_fail(e, ERR_SYSTEM, ENODEV,
				"'%s' is not mounted: etcd would write to the root disk",
				m->mount_point);
	if (r > 0)
		r = make_data(ctx, m->data, e);
	if (r == 0)
		r = place_replace(ctx, m->manifest, m->content, strlen(m->content), &attr, e);
	return r < 0 ? r : make_link(ctx, m, e);
}

static int etcd_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			struct task_diff *diff)
{
	(void)ctx;
	if (!was)
		return task_missing(diff, "not on the volume");
	if (!str_eq(was->etcd.content, t->etcd.content))
		return task_differs(diff, "another manifest on the volume");
	return str_eq(was->etcd.manifest, t->etcd.manifest)
		       ? TASK_EQUAL
		       : task_differs(diff, "no link to the volume");
}

const struct task_ops task_etcd_ops = {
	.kind = "etcd",
	.stays = true,
	.check = etcd_check,
	.apply = etcd_apply,
	.compare = etcd_compare,
};
