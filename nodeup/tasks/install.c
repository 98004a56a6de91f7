#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "assets/cache/cache.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/tasks/member.h"
#include "nodeup/tasks/place.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/state.h"

/* Where the bytes come from. */
struct source {
	size_t at;
	bool is_guess; /* an archive before it could not be looked at, and may have the member too */
	bool in_none;  /* every archive was looked at, and none has anything of that name */
};

/* What open_source does about an archive that is not unpacked. */
enum patience {
	PASSES,      /* passes over it: to compare with what is there */
	WAITS,       /* waits for it */
	PASSES_LAST, /* passes over it, as nothing more will come, unless it was unpacked before */
};

/* What the state remembers for a path: an asset's own digest, or one made of the member and of the archives up to the one
 * that has it, because documents name no digest of a member. */
static void wanted_digest(const struct task_install *in, size_t at, struct digest *ret)
{
	autodigest struct digest_ctx *c = NULL;

	if (!in->member) {
		*ret = in->sources[at]->digest;
		return;
	}
	c = digest_new(DIGEST_SHA256);
	for (size_t i = 0; i <= at; i++)
		digest_update(c, in->sources[i]->digest.bytes,
			      digest_size(in->sources[i]->digest.algo));
	digest_update(c, in->member, strlen(in->member));
	digest_final(c, ret);
}

/* The digest to remember. That of a guess has a mark, so that no later check takes it for right. */
static void installed_digest(const struct task_install *in, const struct source *source,
			     struct digest *ret)
{
	autodigest struct digest_ctx *c = NULL;

	wanted_digest(in, source->at, ret);
	if (!source->is_guess)
		return;
	c = digest_new(DIGEST_SHA256);
	digest_update(c, "guess", strlen("guess"));
	digest_update(c, ret->bytes, digest_size(ret->algo));
	digest_final(c, ret);
}

static bool is_known_right(const struct task *t, struct task_ctx *ctx, const struct stat *st)
{
	for (size_t i = 0; i < t->install.n_sources && !ctx->verify; i++) {
		struct digest d;

		wanted_digest(&t->install, i, &d);
		if (state_is(ctx->state, t->name, st, &d))
			return true;
	}
	return false;
}

/* What it is that an archive has in the place of a member, for the message that it has none. */
static const char *describe_link(struct task_ctx *ctx, struct arena *a, const struct asset *as,
				 const char *tree, const char *link)
{
	char target[4096];
	const char *name;
	autoclose int dir = -1;
	struct err ignored;
	ssize_t n = io_open_parent(ctx->cache_root_fd, link, &dir, &name, &ignored) < 0
			    ? -1
			    : readlinkat(dir, name, target, sizeof(target) - 1);

	target[n < 0 ? 0 : n] = '\0';
	return arena_printf(a, "; in %s '%s' is a link to '%s', and only files are installed",
			    as->name, link + strlen(tree) + 1, target);
}

/* Whether the archive is unpacked, and what is unpacked is right. Another process with this cache may have taken the tree
 * away to make one with more members, and the task that unpacked it is over: then it is unpacked again. < 0 with *e: the tree
 * is there, and cannot be made right. */
static int has_tree(struct task_ctx *ctx, const struct asset *as, const char *dir,
		    enum patience patience, struct err *e)
{
	struct stat st;
	const int r = io_stat(ctx->cache_root_fd, dir, &st, e);
	const bool is_there = r >= 0;

	if (r < 0 && r != -ENOENT)
		return r;
	/* a tree may be there before its signature was asked for */
	if (!cache_is_signed(ctx->cache, as))
		return false;
	if (is_there && cache_has_tree(ctx->cache, as))
		return true;
	if (patience != PASSES_LAST || !(is_there || cache_had_tree(ctx->cache, &as->digest)))
		return false;
	if (cache_unpack(ctx->cache, as, e) >= 0)
		return true;
	return is_there ? err_wrap(e, "'%s' has changed since it was unpacked", dir) : false;
}

/* Open the bytes to install. 0 found, 1 not known yet (an earlier source is still under way), -ENOENT
 * and CONFIG when no source has it; a read error is not an answer, but an error of its own. Where an archive is passed
 * over, a later source is a guess. */
static int open_source(const struct task *t, struct task_ctx *ctx, enum patience patience,
		       int *ret_fd, struct source *ret_source, struct err *e)
{
	const struct task_install *in = &t->install;
	autoarena struct arena *a = arena_new_empty();
	const char *instead = "";

	*ret_source = (struct source){ 0 };
	for (size_t i = 0; i < in->n_sources; i++) {
		const struct asset *as = in->sources[i];
		const char *dir, *path = NULL, *link = NULL;
		bool is_here;
		int r;

		ret_source->at = i;
		if (!in->member)
			return cache_open(ctx->cache, &as->digest, ret_fd, e);
		dir = cache_unpacked_path(ctx->cache, a, &as->digest);
		r = has_tree(ctx, as, dir, patience, e);
		is_here = r > 0;
		if (r == 0 && patience == WAITS)
			return 1;
		if (is_here)
			r = member_find(ctx->cache_root_fd, a, dir, in->member, &path, &link, e);
		else if (r == 0)
			ret_source->is_guess = true;
		if (r < 0)
			return r;
		if (path)
			return io_open_file(ctx->cache_root_fd, path, ret_fd, e);
		if (link)
			instead = describe_link(ctx, a, as, dir, link);
		/* another process may have taken the tree away while it was searched */
		else if (is_here && !cache_has_tree(ctx->cache, as))
			return err_fail(e, ERR_SYSTEM, EAGAIN,
					"'%s' has changed since it was unpacked", dir);
	}
	ret_source->in_none = !ret_source->is_guess && !*instead;
	return err_fail(e, ERR_CONFIG, ENOENT, "no asset of the document holds '%s'%s",
			in->member ? in->member : t->name, instead);
}

/* Whether the installed file has this digest. */
static int has_digest(const struct task *t, struct task_ctx *ctx, const struct digest *want,
		      bool *ret_same, struct err *e)
{
	autoclose int fd = -1;
	struct digest got;
	int r = io_open_file(ctx->root_fd, t->name, &fd, e);

	if (r == 0)
		r = digest_of_fd(want->algo, fd, t->name, &got, e);
	if (r == 0)
		*ret_same = digest_eq(want, &got);
	return r;
}

static int same_bytes(const struct task *t, struct task_ctx *ctx, const struct source *source,
		      int source_fd, bool *ret_same, struct err *e)
{
	struct digest want = t->install.sources[source->at]->digest;
	int r = t->install.member ? digest_of_fd(want.algo, source_fd, t->install.member, &want, e)
				  : 0;

	return r < 0 ? r : has_digest(t, ctx, &want, ret_same, e);
}

/* `st` was taken before. */
static int compare_content(const struct task *t, struct task_ctx *ctx, const struct stat *st,
			   struct task_diff *diff, struct err *e)
{
	struct source source = { 0 };
	autoclose int source_fd = -1;
	struct digest d;
	bool same = false;
	struct err why;
	int r = 0;

	if (t->install.member)
		r = open_source(t, ctx, PASSES, &source_fd, &source, &why);
	diff->unsure = r < 0 || source.is_guess;
	if (diff->unsure)
		return task_differs(diff, "cannot be compared: its archive is not unpacked");
	r = same_bytes(t, ctx, &source, source_fd, &same, e);
	if (r < 0)
		return r;
	if (!same)
		return task_differs(diff, "content differs");
	wanted_digest(&t->install, source.at, &d);
	state_saw(ctx->state, t->name, &d, t->origin, st);
	return TASK_EQUAL;
}

static bool has_attributes(const struct task *t, const struct stat *st)
{
	return (st->st_mode & 07777) == t->install.mode && st->st_uid == 0 && st->st_gid == 0;
}

/* A member that may be missing, and is: every archive that could hold it is here, and none does. */
static bool is_in_none(const struct task *t, struct task_ctx *ctx)
{
	autoclose int fd = -1;
	struct source source = { 0 };
	struct err ignored;

	return t->install.may_lack && open_source(t, ctx, PASSES, &fd, &source, &ignored) < 0 &&
	       source.in_none;
}

static int install_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);
	const bool is_absent = r == -ENOENT || r == -ENOTDIR;
	const bool is_right = r >= 0 && S_ISREG(st.st_mode) && is_known_right(t, ctx, &st);

	/* this may be another try */
	diff->unsure = false;
	diff->how = is_absent ? "absent: no archive has it"
			      : "not ours: no archive has it, and what is there stays";
	if (!is_right && (is_absent || r >= 0) && is_in_none(t, ctx))
		return TASK_EQUAL;
	diff->how = NULL;
	if (is_absent)
		return task_missing(diff, "absent");
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return task_differs(diff, "a %s, not a regular file", io_kind(st.st_mode));
	if (state_is_lost(ctx->state, t->name, &st))
		return task_differs(diff, "a write to the disk failed");
	r = is_right ? TASK_EQUAL : compare_content(t, ctx, &st, diff, e);
	if (r < 0 || (r == TASK_DIFFERS && !diff->unsure) || has_attributes(t, &st))
		return r;
	(void)task_differs(diff, "mode %04o owner %u:%u, want %04o 0:0", st.st_mode & 07777,
			   st.st_uid, st.st_gid, t->install.mode);
	diff->kept = !diff->unsure;
	diff->unsure = false;
	return TASK_DIFFERS;
}

/* A copy in the kernel. */
static int copy_bytes(int from, int to, const char *path, struct err *e)
{
	struct stat st;
	off_t done = 0;

	if (fstat(from, &st) < 0)
		return err_sys(e, "look at the source of '%s'", path);
	while (done < st.st_size) {
		char chunk[65536];
		ssize_t n = copy_file_range(from, &done, to, NULL, (size_t)(st.st_size - done), 0);
		int r;

		if (n > 0)
			continue;
		if (n < 0 && io_is_full(errno))
			return io_write_failed(to, path, (uint64_t)(st.st_size - done), e);
		/* across filesystems of old kernels: by hand */
		n = pread(from, chunk, sizeof(chunk), done);
		if (n <= 0)
			return err_sys(e, "read the source of '%s'", path);
		r = io_write_fd(to, path, chunk, (size_t)n, e);
		if (r < 0) {
			errno = e->errnum;
			return io_write_failed(to, path, (uint64_t)(st.st_size - done), e);
		}
		done += n;
	}
	return 0;
}

/* What check could not compare. The file may have changed since: then it is as any that differs. */
static int compare_late(const struct task *t, struct task_ctx *ctx, const struct source *source,
			int source_fd, struct task_run *run, struct err *e)
{
	struct digest d;
	bool same = false;
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);

	if (r == 0 && S_ISREG(st.st_mode) && has_attributes(t, &st))
		r = same_bytes(t, ctx, source, source_fd, &same, e);
	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		return r;
	if (!same) {
		(void)print_to(run->remark, sizeof(run->remark), "content differs");
		return started_doubt(t, ctx, e);
	}
	installed_digest(&t->install, source, &d);
	state_saw(ctx->state, t->name, &d, t->origin, &st);
	run->equal = true;
	return 0;
}

static int install_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			 struct err *e)
{
	const struct io_attr attr = { .mode = t->install.mode };
	autostage struct io_stage stage = IO_STAGE_INIT;
	autoclose int source_fd = -1;
	struct source source;
	struct digest d;
	int r;

	if (task_is_committed(run, &r, e))
		return r;
	r = open_source(t, ctx, run->last_call ? PASSES_LAST : WAITS, &source_fd, &source, e);
	if (r < 0 && t->install.may_lack && source.in_none) {
		run->equal = true;
		return 0;
	}
	if (r < 0) {
		/* a trouble of this moment passes; a document does not */
		run->final = e->kind != ERR_SYSTEM;
		return r;
	}
	if (r > 0) {
		run->on_tasks = true;
		/* which of them is for the scheduler to say: one that failed will not come */
		return task_wait(run, 0, "its archives");
	}
	r = run->unsure ? compare_late(t, ctx, &source, source_fd, run, e) : 0;
	if (r < 0 || run->equal)
		return r;
	r = place_stage(ctx, t->name, &stage, e);
	if (r < 0)
		return r;
	/* a reflink where the file system has them */
	if (ioctl(stage.fd, FICLONE, source_fd) < 0)
		r = copy_bytes(source_fd, stage.fd, t->name, e);
	if (r < 0)
		run->final =
			cache_heal(ctx->cache, t->install.sources[source.at], t->install.member, e);
	if (r < 0)
		return r;
	installed_digest(&t->install, &source, &d);
	return task_commit(t, ctx, run, &stage, &attr, &d, e);
}

static void install_inputs(const struct task *t, struct digest_ctx *c)
{
	struct digest d;

	wanted_digest(&t->install, 0, &d);
	digest_update(c, t->name, strlen(t->name) + 1);
	digest_update(c, d.bytes, sizeof(d.bytes));
}

/* Of one that may be in any of several archives, the first counts, as for the units that run it. */
static int install_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			   struct task_diff *diff)
{
	struct digest had, want;

	(void)ctx;
	if (!was)
		return task_missing(diff, "absent");
	wanted_digest(&was->install, 0, &had);
	wanted_digest(&t->install, 0, &want);
	if (!digest_eq(&had, &want))
		return task_differs(diff, "content differs");
	return was->install.mode == t->install.mode
		       ? TASK_EQUAL
		       : task_differs(diff, "mode %04o, want %04o", was->install.mode,
				      t->install.mode);
}

const struct task_ops task_install_ops = {
	.kind = "install",
	.stays = true,
	.check = install_check,
	.apply = install_apply,
	.compare = install_compare,
	.inputs = install_inputs,
};
