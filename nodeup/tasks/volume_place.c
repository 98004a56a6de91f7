#include "nodeup/tasks/volume_place.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "nodeup/base/walk.h"
#include "nodeup/tasks/volume.h"
#include "nodeup/volumes/mounts.h"

static bool shares(const struct disks *x, const struct disks *y, const char **ret_name)
{
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++)
			if (strcmp(x->v[i].dev, y->v[k].dev) == 0) {
				*ret_name = x->v[i].name;
				return true;
			}
	return false;
}

int volume_place_disks(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		       const struct disks *disks, struct err *e)
{
	for (size_t i = 0; ctx->volumes && i < ctx->volumes->n; i++) {
		const struct node_volume *other = &ctx->volumes->v[i];
		const char *missing, *name;
		struct disks others;
		struct err ignored;
		int r;

		if (str_eq(other->name, want->name) ||
		    volume_disks(other, ctx, a, &others, &missing, &ignored) < 0 ||
		    !shares(disks, &others, &name))
			continue;
		r = err_fail(e, ERR_REFUSED, 0,
			     "disk %s for %s: it is asked for %s as well; nothing was written",
			     name, want->name, other->name);
		err_note(e, "is", "asked by %s and %s", tree_where(a, &want->pos),
			 tree_where(a, &other->pos));
		err_note(e, "do", "name each disk once");
		return r;
	}
	return 0;
}

/* The number of a block device, links followed; "" if it is none. */
static const char *number_of(struct task_ctx *ctx, struct arena *a, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;
	struct stat st;

	if (*path != '/' || io_open(ctx->root_fd, path, O_PATH, &fd, &ignored) < 0 ||
	    fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return "";
	return arena_printf(a, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
}

/* By number, or for a file system that has one of its own by the disk it was mounted from; an array
 * is told by its holders. */
static bool is_on(struct task_ctx *ctx, struct arena *a, const struct mount *m,
		  const struct disks *disks)
{
	const char *source = number_of(ctx, a, m->source);

	for (size_t i = 0; i < disks->n; i++)
		if (strcmp(m->dev, disks->v[i].dev) == 0 || strcmp(source, disks->v[i].dev) == 0 ||
		    strv_has(&disks->v[i].holders, str_basename(m->source)))
			return true;
	return false;
}

/* What a mount at a place would hide or fail on; NULL: nothing. */
static const char *in_the_way(struct task_ctx *ctx, struct arena *a, const char *path)
{
	struct strv names;
	struct stat st;
	struct err e;

	if (io_stat(ctx->root_fd, path, &st, &e) < 0)
		return e.errnum == ENOENT ? NULL : arena_str(a, e.msg);
	if (S_ISLNK(st.st_mode))
		return "a symbolic link: systemd mounts at directories only";
	if (!S_ISDIR(st.st_mode))
		return "a file, and no directory";
	if (walk_names_at(a, ctx->root_fd, path, &names, &e) < 0)
		return arena_str(a, e.msg);
	if (names.n > 0 && !(names.n == 1 && strcmp(names.v[0], "lost+found") == 0))
		return "files that a mount would hide: move them away";
	return NULL;
}

static int refuse_path(struct arena *a, const struct node_volume *v, const char *why, struct err *e)
{
	const char *where = tree_where(a, &v->pos);
	int r = err_fail(e, ERR_REFUSED, 0, "%s is in use; nothing was written", v->path);

	if (*where)
		err_note(e, "is", "asked by %s", where);
	err_note(e, "has", "%s", why);
	return r;
}

int volume_place_path(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		      const struct disks *disks, struct err *e)
{
	const struct mount *m;
	struct mounts mounts;
	const char *why;
	int r;

	if (!want->path)
		return 0;
	r = mounts_read(ctx->root_fd, a, "self", &mounts, e);
	if (r < 0)
		return r;
	m = mounts_at(&mounts, want->path);
	if (!m) {
		why = in_the_way(ctx, a, want->path);
		return why ? refuse_path(a, want, why, e) : 0;
	}
	if (is_on(ctx, a, m, disks))
		return 0;
	return refuse_path(a, want, arena_printf(a, "%s mounted there", m->source), e);
}

int volume_place_unit(const struct task *unit, struct task_ctx *ctx, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct mounts mounts;
	const char *why;
	int r;

	if (!unit->unit.where || !unit->unit.volume)
		return 0;
	why = in_the_way(ctx, a, unit->unit.where);
	if (!why)
		return 0;
	/* asked afterwards: systemd may mount it at this very moment, and that is what was seen */
	r = mounts_read(ctx->root_fd, a, "self", &mounts, e);
	if (r < 0 || mounts_at(&mounts, unit->unit.where))
		return r;
	(void)err_fail(e, ERR_REFUSED, 0, "%s is in use: it was free before; nothing was mounted",
		       unit->unit.where);
	err_note(e, "has", "%s", why);
	return err_code(e);
}
