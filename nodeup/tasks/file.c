/* Tests: test_tasks.c. */
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include "nodeup/base/aside.h"
#include "nodeup/base/print.h"
#include "nodeup/base/walk.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/target.h"
#include "nodeup/tasks/state.h"

enum { OURS_MAX = 64 << 10 };

/* Checks a file that the documents do not want. A file that another program wrote stays. */
static int unwanted_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			  struct err *e)
{
	autobuf struct buf now = BUF_INIT(OURS_MAX);
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);

	diff->how = "absent, as wanted";
	if (r == -ENOENT || r == -ENOTDIR)
		return TASK_EQUAL;
	if (r < 0)
		return r;
	diff->how = "left alone: another program's";
	if (!S_ISREG(st.st_mode) || st.st_size > OURS_MAX)
		return TASK_EQUAL;
	r = io_read(ctx->root_fd, t->name, &now, e);
	if (r < 0)
		return r;
	return str_has_prefix(buf_str(&now), t->file.unwanted)
		       ? task_differs(diff, "not wanted any more")
		       : TASK_EQUAL;
}

/* Opens the directory of a user's file. -ELOOP: it is a link to another directory, which nodeup must not write to,
 * not even in a race. */
static int open_owners_dir(const struct task *t, struct task_ctx *ctx, int *ret_fd, struct err *e)
{
	autofree char *dir = xstrdup(t->name);

	*strrchr(dir, '/') = '\0';
	return io_open_own_dir(ctx->root_fd, dir, ret_fd, e);
}

static bool is_left_to_its_owner(const struct task *t, struct task_ctx *ctx)
{
	autoclose int fd = -1;
	struct err ignored;
	int r = t->file.owner ? open_owners_dir(t, ctx, &fd, &ignored) : 0;

	/* a link, a file, or an object that cannot be opened at all, such as a socket */
	return r == -ELOOP || r == -ENOTDIR || r == -ENXIO;
}

/* Stages the file beside its place, in the directory that was checked. */
static int stage_for_owner(const struct task *t, struct task_ctx *ctx, struct io_stage *s,
			   struct err *e)
{
	int fd = -1, r = open_owners_dir(t, ctx, &fd, e);

	return r < 0 ? r : io_stage_open_in(fd, t->name, s, e);
}

static int other_content(const struct task_file *f, struct task_diff *diff)
{
	if (f->why)
		return task_differs(diff, "issued anew: %s", f->why);
	return f->elsewhere ? task_differs(diff, "content differs; what others add belongs in %s",
					   f->elsewhere)
			    : task_differs(diff, "content differs");
}

/* Returns 1 if the file has exactly this content, otherwise 0. */
static int is_content(const struct task *t, struct task_ctx *ctx, const struct stat *st,
		      const char *text, size_t len, struct err *e)
{
	autobuf struct buf now = BUF_INIT(len + 1);
	struct digest want;
	int r;

	if ((size_t)st->st_size != len)
		return 0;
	digest_of(DIGEST_SHA256, text, len, &want);
	if (!ctx->verify && state_is(ctx->state, t->name, st, &want))
		return 1;
	r = io_read(ctx->root_fd, t->name, &now, e);
	if (r < 0 && r != -EFBIG) /* the file grows while it is read */
		return r;
	if (r < 0 || now.len != len || memcmp(buf_str(&now), text, len) != 0)
		return 0;
	state_saw(ctx->state, t->name, &want, t->origin, st);
	return 1;
}

/* Returns whether other programs have put files into the folder: then those programs need this file's new content. */
static bool is_awaited(const struct task_ctx *ctx, const char *folder)
{
	autoarena struct arena *a = arena_new_empty();

	return folder && walk_list(a, ctx->root_fd, folder, "").n > 0;
}

/* `st`: the file's stat, taken before this call. */
static int content_differs(const struct task *t, struct task_ctx *ctx, const struct stat *st,
			   struct task_diff *diff, struct err *e)
{
	const struct task_file *f = &t->file;
	int r;

	if (f->unmade || (f->why && (size_t)st->st_size != f->len))
		return other_content(f, diff);
	if (state_is_lost(ctx->state, t->name, st))
		return task_differs(diff, "a write to the disk failed");
	r = is_content(t, ctx, st, f->content, f->len, e);
	if (r == 0 && f->also && !is_awaited(ctx, f->elsewhere)) {
		r = is_content(t, ctx, st, f->also, strlen(f->also), e);
		if (r > 0)
			diff->how = "as it was; what is new in it comes with the next change";
	}
	if (r < 0)
		return r;
	if (r > 0)
		return TASK_EQUAL;
	if ((size_t)st->st_size != f->len && !f->elsewhere)
		return task_differs(diff, "content differs: %lld bytes, want %zu",
				    (long long)st->st_size, f->len);
	return other_content(f, diff);
}

static int attr_differs(const struct io_attr *want, const struct stat *st, struct task_diff *diff)
{
	if ((st->st_mode & 07777) != want->mode)
		return task_differs(diff, "mode %04o, want %04o", st->st_mode & 07777, want->mode);
	if (st->st_uid != want->uid || st->st_gid != want->gid)
		return task_differs(diff, "owner %u:%u, want %u:%u", st->st_uid, st->st_gid,
				    want->uid, want->gid);
	return TASK_EQUAL;
}

/* Checks whether a file that stays begins as the documents say. */
static int check_kept(const struct task *t, struct task_ctx *ctx, const struct stat *st,
		      struct task_diff *diff, struct err *e)
{
	const struct task_file *f = &t->file;
	autobuf struct buf now = BUF_INIT(OURS_MAX);
	int r;

	if (!f->other || !S_ISREG(st->st_mode))
		return TASK_EQUAL;
	if (st->st_size <= OURS_MAX) {
		r = io_read(ctx->root_fd, t->name, &now, e);
		if (r < 0 && r != -EFBIG)
			return r;
		if (r >= 0 && now.len >= f->len && memcmp(buf_str(&now), f->content, f->len) == 0)
			return TASK_EQUAL;
	}
	return task_left(diff, "%s", f->other);
}

static int file_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	const struct task_file *f = &t->file;
	struct io_attr attr = f->attr;
	struct stat st;
	int r;

	if (f->unwanted)
		return unwanted_check(t, ctx, diff, e);
	r = f->owner ? target_owner(ctx, f->owner, &attr.uid, &attr.gid, e) : 0;
	/* there is no such user, or its home is elsewhere */
	if (r == -ENOENT || is_left_to_its_owner(t, ctx))
		return TASK_EQUAL;
	if (r >= 0)
		r = io_stat(ctx->root_fd, t->name, &st, e);
	if (r == -ENOENT || r == -ENOTDIR)
		return task_missing(diff, "absent");
	if (r < 0)
		return r;
	if (f->if_absent && !S_ISDIR(st.st_mode))
		return check_kept(t, ctx, &st, diff, e);
	if (S_ISDIR(st.st_mode) && f->owner)
		return task_left(diff, "%s's own, and a directory: left alone", f->owner);
	if (!S_ISREG(st.st_mode))
		return task_differs(diff, "a %s, not a regular file", io_kind(st.st_mode));
	r = content_differs(t, ctx, &st, diff, e);
	if (r != TASK_EQUAL)
		return r;
	r = attr_differs(&attr, &st, diff);
	diff->kept = r == TASK_DIFFERS;
	return r;
}

/* Warns at once, so that the message is not lost if the run ends here. */
static int set_aside(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		     struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name;
	int r = aside_link(a, ctx->root_fd, t->name, &name, e);

	if (r == 0 && name)
		(void)print_to(run->remark, sizeof(run->remark), "what was there is %s",
			       str_basename(name));
	return r;
}

static int write_file(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	const struct task_file *f = &t->file;
	autostage struct io_stage stage = IO_STAGE_INIT;
	struct io_attr attr = f->attr;
	struct digest content;
	int r = f->owner ? target_owner(ctx, f->owner, &attr.uid, &attr.gid, e) : 0;

	if (r >= 0)
		r = f->owner ? stage_for_owner(t, ctx, &stage, e)
			     : target_stage(ctx, t->name, &stage, e);
	if (r >= 0)
		r = io_write_fd(stage.fd, t->name, f->content, f->len, e);
	if (r >= 0 && f->set_aside)
		r = set_aside(t, ctx, run, e);
	if (r < 0)
		return r;
	digest_of(DIGEST_SHA256, f->content, f->len, &content);
	return task_commit(t, ctx, run, &stage, &attr, &content, e);
}

static int file_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	int r;

	if (t->file.unwanted)
		return io_remove(ctx->root_fd, t->name, e) < 0 ? err_code(e) : TASK_DONE;
	return task_is_committed(run, &r, e) ? r : write_file(t, ctx, run, e);
}

static int file_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			struct task_diff *diff)
{
	const struct task_file *f = &t->file, *old = was && !was->file.unwanted ? &was->file : NULL;
	struct stat st = { 0 };

	(void)ctx;
	if (f->unwanted)
		return old && str_has_prefix(old->content, f->unwanted)
			       ? task_differs(diff, "not wanted any more")
			       : TASK_EQUAL;
	if (!old && f->owner)
		return baseline_of_user(f->owner, diff);
	if (!old)
		return task_missing(diff, "absent");
	if (f->if_absent)
		return TASK_EQUAL;
	if (old->len != f->len || memcmp(old->content, f->content, f->len) != 0)
		return task_differs(diff, "content differs");
	st.st_mode = old->attr.mode;
	st.st_uid = old->attr.uid;
	st.st_gid = old->attr.gid;
	return attr_differs(&f->attr, &st, diff);
}

static void file_inputs(const struct task *t, struct digest_ctx *d)
{
	/* an unwanted file counts as if there were no task: its absence is no change */
	if (t->file.unwanted)
		return;
	digest_update(d, t->name, strlen(t->name) + 1);
	if (t->file.also)
		digest_update(d, t->file.also, strlen(t->file.also));
	else
		digest_update(d, t->file.content, t->file.len);
}

const struct task_ops task_file_ops = {
	.kind = "file",
	.brief = true,
	.writes_little = true,
	.stays = true,
	.check = file_check,
	.apply = file_apply,
	.compare = file_compare,
	.inputs = file_inputs,
};
