/* Tests: test_tasks.c. */
#include "nodeup/tasks/kinds.h"

#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "assets/cache/cache.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/tasks/installed.h"
#include "nodeup/tasks/members.h"
#include "nodeup/tasks/target.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/state.h"

/* The source of a member's bytes. */
struct source {
	size_t at;
	bool is_guess; /* an earlier archive could not be read, and may have the member too */
	bool in_none;  /* true: every archive was read, and none has the member */
	struct digest digest; /* digest of the member's bytes */
};

/* Returns the digest to record. A guess gets a mark, so that no later check takes it for right. */
static void installed_digest(const struct task_install *in, const struct source *source,
			     struct digest *ret)
{
	autodigest struct digest_ctx *c = NULL;

	installed_digest_at(in, source->at, ret);
	if (!source->is_guess)
		return;
	c = digest_new(DIGEST_SHA256);
	digest_update(c, "guess", strlen("guess"));
	digest_update(c, ret->bytes, digest_size(ret->algo));
	digest_final(c, ret);
}

/* A question to archives. */
struct ask {
	bool may_read; /* may read an archive that is here, if nothing is known about it */
	bool waits; /* waits for an archive that cannot be read yet; otherwise skips it, and the member of a later
		     * archive is a guess */
	struct io_stage *stage; /* takes the member's file; NULL: only asks */
};

static int ask_archive(const struct task *t, struct task_ctx *ctx, const struct asset *as,
		       const struct ask *ask, struct members_told *ret, struct err *e)
{
	if (ask->stage)
		return members_take(ctx, t, as, ask->waits, ask->stage, ret, e);
	*ret = members_tell(ctx, as, t->install.member, ask->may_read);
	return 0;
}

/* Finds the first archive with the member. Returns 0 with *ret, or 1 if an earlier archive cannot be read yet.
 * -ENOENT and CONFIG: no archive has it. */
static int find_source(const struct task *t, struct task_ctx *ctx, const struct ask *ask,
		       struct source *ret, struct err *e)
{
	const struct task_install *in = &t->install;
	autoarena struct arena *a = arena_new_empty();
	const char *instead = "";

	*ret = (struct source){ 0 };
	for (size_t i = 0; i < in->n_sources; i++) {
		struct members_told told;
		const int r = ask_archive(t, ctx, in->sources[i], ask, &told, e);

		ret->at = i;
		ret->digest = told.digest;
		if (r < 0 || told.found == MEMBERS_FILE)
			return r;
		if (told.found == MEMBERS_NOT_READ && ask->waits)
			return 1;
		ret->is_guess = ret->is_guess || told.found == MEMBERS_NOT_READ;
		if (told.found == MEMBERS_LINK)
			instead = arena_printf(a,
					       "; in %s '%s' is a link to '%s', and only files are "
					       "installed",
					       in->sources[i]->name, told.link, told.target);
	}
	ret->in_none = !ret->is_guess && !*instead;
	return err_fail(e, ERR_CONFIG, ENOENT, "no asset of the document holds '%s'%s", in->member,
			instead);
}

/* Finds the member's source. False: the source is not known, or no archive has the member. */
static bool tell_source(const struct task *t, struct task_ctx *ctx, bool may_read,
			struct source *ret)
{
	const struct ask ask = { .may_read = may_read, .waits = true };
	struct err ignored;

	return find_source(t, ctx, &ask, ret, &ignored) == 0;
}

/* Compares the installed file with this digest. */
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

/* `st`: the file's stat, taken before this call. */
static int compare_content(const struct task *t, struct task_ctx *ctx, const struct stat *st,
			   struct task_diff *diff, struct err *e)
{
	struct source source = { .digest = t->install.sources[0]->digest };
	struct digest d;
	bool same = false;
	int r;

	diff->unsure = t->install.member && !tell_source(t, ctx, true, &source);
	if (diff->unsure)
		return task_differs(diff, "cannot be compared: its archive is not unpacked");
	r = has_digest(t, ctx, &source.digest, &same, e);
	if (r < 0)
		return r;
	if (!same)
		return task_differs(diff, "content differs");
	installed_digest_at(&t->install, source.at, &d);
	state_saw(ctx->state, t->name, &d, t->origin, st);
	return TASK_EQUAL;
}

/* Returns whether an optional member is missing: every archive that could hold it was read, and none does. */
static bool is_in_none(const struct task *t, struct task_ctx *ctx)
{
	struct source source;

	return t->install.may_lack && !tell_source(t, ctx, false, &source) && source.in_none;
}

static int install_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);
	const bool is_absent = r == -ENOENT || r == -ENOTDIR;
	const bool is_right = r >= 0 && S_ISREG(st.st_mode) && installed_is_known(t, ctx, &st);

	/* an earlier try may have set `unsure` */
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
	if (r < 0 || (r == TASK_DIFFERS && !diff->unsure) || installed_has_attributes(t, &st))
		return r;
	(void)task_differs(diff, "mode %04o owner %u:%u, want %04o 0:0", st.st_mode & 07777,
			   st.st_uid, st.st_gid, t->install.mode);
	diff->kept = !diff->unsure;
	diff->unsure = false;
	return TASK_DIFFERS;
}

/* Compares a file that the check could not compare. A file that has changed since the check differs. */
static int compare_late(const struct task *t, struct task_ctx *ctx, const struct source *source,
			struct task_run *run, struct err *e)
{
	struct digest d;
	bool same = false;
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);

	if (r == 0 && S_ISREG(st.st_mode) && installed_has_attributes(t, &st))
		r = has_digest(t, ctx, &source->digest, &same, e);
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

/* Stages the asset itself: a reflink if the file system has them, else the cache's own file or a copy. */
static int stage_asset(const struct task *t, struct task_ctx *ctx, struct io_stage *stage,
		       struct err *e)
{
	const struct digest *d = &t->install.sources[0]->digest;
	autoclose int fd = -1;
	int r = cache_open(ctx->cache, d, &fd, e);

	if (r >= 0)
		r = target_stage(ctx, t->name, stage, e);
	if (r < 0 || ioctl(stage->fd, FICLONE, fd) == 0)
		return r;
	if (installed_is_given(t, ctx)) {
		/* an open descriptor counts as a use of the entry */
		cleanup_closep(&fd);
		if (cache_give_away(ctx->cache, d, stage))
			return 0;
		r = cache_open(ctx->cache, d, &fd, e);
	}
	return r < 0 ? r : target_copy(fd, stage->fd, t->name, e);
}

static int stage_source(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct io_stage *stage, struct source *ret, struct err *e)
{
	int r;

	*ret = (struct source){ 0 };
	if (!t->install.member)
		return stage_asset(t, ctx, stage, e);
	r = find_source(t, ctx, &(struct ask){ .waits = !run->last_call, .stage = stage }, ret, e);
	if (r <= 0)
		members_drop(ctx, t);
	return r;
}

static int install_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			 struct err *e)
{
	const struct io_attr attr = { .mode = t->install.mode };
	autostage struct io_stage stage = IO_STAGE_INIT;
	struct source source;
	struct digest d;
	int r;

	if (task_is_committed(run, &r, e)) {
		if (r == TASK_DONE && installed_is_given(t, ctx))
			cache_let_go(ctx->cache, &t->install.sources[0]->digest);
		return r;
	}
	r = stage_source(t, ctx, run, &stage, &source, e);
	if (r < 0 && t->install.may_lack && source.in_none) {
		run->equal = true;
		return 0;
	}
	if (r < 0) {
		const bool is_healed = cache_heal(ctx->cache, t->install.sources[source.at], e);

		/* a fault of the moment may pass, a fault of the documents does not */
		run->final = is_healed || e->kind != ERR_SYSTEM;
		return r;
	}
	if (r > 0) {
		run->on_tasks = true;
		/* the scheduler knows which archives are under way: a failed archive will not come */
		return task_wait(run, 0, "its archives");
	}
	r = run->unsure ? compare_late(t, ctx, &source, run, e) : 0;
	if (r < 0 || run->equal)
		return r;
	installed_digest(&t->install, &source, &d);
	return task_commit(t, ctx, run, &stage, &attr, &d, e);
}

static void install_inputs(const struct task *t, struct digest_ctx *c)
{
	struct digest d;

	installed_digest_at(&t->install, 0, &d);
	digest_update(c, t->name, strlen(t->name) + 1);
	digest_update(c, d.bytes, sizeof(d.bytes));
}

/* Compares only the first archive that may have the member, as the digest of a unit's inputs does. */
static int install_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			   struct task_diff *diff)
{
	struct digest had, want;

	(void)ctx;
	if (!was)
		return task_missing(diff, "absent");
	installed_digest_at(&was->install, 0, &had);
	installed_digest_at(&t->install, 0, &want);
	if (!digest_eq(&had, &want))
		return task_differs(diff, "content differs");
	return was->install.mode == t->install.mode
		       ? TASK_EQUAL
		       : task_differs(diff, "mode %04o, want %04o", was->install.mode,
				      t->install.mode);
}

/* A run that trusts no record compares a member with its archive. The archive's check has the turn before, since a
 * wait for that check would hold a worker. */
static int install_turn(const struct task *t, struct task_ctx *ctx)
{
	return ctx->verify && t->install.member ? 2 : 0;
}

const struct task_ops task_install_ops = {
	.kind = "install",
	.stays = true,
	.turn = install_turn,
	.check = install_check,
	.apply = install_apply,
	.compare = install_compare,
	.inputs = install_inputs,
};
