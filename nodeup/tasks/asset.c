/* Tests: test_members.c. */
#include "nodeup/tasks/kinds.h"

#include "assets/cache/entry.h"
#include "assets/cache/mismatch.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/tasks/members.h"
#include "nodeup/tasks/state.h"

/* how often a waiting asset's progress line is renewed */
#define POLL_NS (500 * DUR_MS)
/* how long an archive in the cache waits for its members' folders */
#define FOLDERS_NS (2 * DUR_SEC)
#define FOLDERS_POLL_NS (5 * DUR_MS)

/* Returns whether bake installed the asset: then the cache gave its entry's file away, and has no entry. */
static bool is_given_away(const struct task *t, struct task_ctx *ctx)
{
	autoclose int fd = ctx->gives_away && !t->n_users
				   ? state_open_copy(ctx->state, &t->asset.asset->digest)
				   : -1;

	return fd >= 0;
}

static int asset_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		       struct err *e)
{
	/* `here`: the cache had the entry before this run began; an entry that this run fetches does not count */
	const bool here = cache_has(ctx->cache, &t->asset.asset->digest) &&
			  !(ctx->fetcher && fetch_begun(ctx->fetcher, t->asset.asset));

	(void)e;
	/* only later it is known whether a task needs the asset */
	if (((here || is_given_away(t, ctx)) && cache_is_signed(ctx->cache, t->asset.asset)) ||
	    task_is_unneeded(t, ctx))
		return TASK_EQUAL;
	if (!here)
		return task_missing(diff, "not in the cache");
	return task_differs(diff, "its signature is not checked yet");
}

/* Reports a damaged entry, so that apply restores it: the next start may need it without a network. */
static int lost(const struct task *t, struct task_ctx *ctx, struct task_diff *diff)
{
	diff->lost = true;
	diff->spare = task_is_unneeded(t, ctx);
	return TASK_DIFFERS;
}

/* Like asset_check, but reads every byte. */
static int asset_recheck(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	const struct digest *d = &t->asset.asset->digest;
	struct err why;
	const enum cache_state state = members_recheck(ctx, t->asset.asset, &why);

	/* a run that trusts no cache entry does not trust the records about mirrors either */
	cache_mismatches_forget(ctx->cache, d);
	if (state == CACHE_RIGHT)
		return cache_check_signature(ctx->cache, t->asset.asset, e);
	if (state == CACHE_ABSENT && task_is_unneeded(t, ctx))
		return TASK_EQUAL;
	if (state == CACHE_ABSENT)
		return task_missing(diff, "not in the cache");
	if (state == CACHE_DAMAGED) {
		(void)task_differs(diff, "%s", why.msg);
		return lost(t, ctx, diff);
	}
	*e = why;
	return err_code(e);
}

struct pending {
	struct task_ctx *ctx;
	struct task_run *run;
};

static void fetched(void *arg, int r, const struct err *e)
{
	autofree struct pending *p = arg;

	p->run->result = r;
	if (r < 0)
		*p->run->error = *e;
	__atomic_store_n(&p->run->stage, 2, __ATOMIC_RELEASE);
	task_wake(p->ctx, p->run);
}

static int describe_wait(const struct task *t, struct task_ctx *ctx, struct task_run *run)
{
	int64_t soon = dur_now() + POLL_NS;
	char amount[STR_AMOUNT_MAX];
	struct fetch_status st;

	if (!fetch_status(ctx->fetcher, t->asset.asset, &st))
		return task_wait(run, soon, "queued");
	if (st.other[0])
		return task_wait(run, soon, "%s fetches it", st.other);
	if (st.attempt == 0)
		return task_wait(run, soon, "queued");
	run->trouble = st.last_error[0] ? ERR_NET : ERR_NONE;
	if (run->trouble)
		return task_wait(run, soon, "attempt %u, last error: %s", st.attempt,
				 st.last_error);
	return task_wait(run, soon, "%s from %s", str_amount(amount, st.bytes, st.total), st.url);
}

/* Sets the remark if the fetch took several attempts: how many, and the time waited between them. */
static void remark(const struct task *t, struct task_ctx *ctx, struct task_run *run)
{
	struct fetch_status st;

	if (fetch_status(ctx->fetcher, t->asset.asset, &st) && st.attempt > 1)
		(void)print_to(run->remark, sizeof(run->remark), "attempt %u, %.3f s between them",
			       st.attempt, (double)st.waited_ns / DUR_SEC);
}

/* Makes a cache entry from the installed file, if the file still has the right bytes. */
static bool copy_installed(const struct task *t, struct task_ctx *ctx)
{
	const struct asset *as = t->asset.asset;
	autoclose int fd = -1;
	struct err ignored;

	/* state_open_copy trusts a record; a run that verifies trusts none */
	if (ctx->verify ||
	    cache_inspect(ctx->cache, &as->digest, CACHE_BY_RECORD, &ignored).state != CACHE_ABSENT)
		return false;
	fd = state_open_copy(ctx->state, &as->digest);
	return fd >= 0 && cache_copy_in(ctx->cache, &as->digest, fd, as->name, &ignored) >= 0;
}

static void asset_begin(const struct task *t, struct task_ctx *ctx)
{
	autoclose int fd = state_open_copy(ctx->state, &t->asset.asset->digest);

	/* if the asset is installed, apply copies the installed file instead */
	if (fd < 0)
		fetch_begin(ctx->fetcher, t->asset.asset);
}

/* Stages: 0 not started, 1 under way, 2 finished (set on the net thread). */
static int asset_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		       struct err *e)
{
	int stage = __atomic_load_n(&run->stage, __ATOMIC_ACQUIRE);

	if (stage == 0 && copy_installed(t, ctx)) {
		run->result = 0;
		stage = 2;
	}
	if (stage == 2) {
		/* the fetcher has tried every mirror as often as makes sense; only an error of a disk gets another
		 * try */
		run->stage = 0;
		if (run->result >= 0)
			run->result = cache_check_signature(ctx->cache, t->asset.asset, run->error);
		if (run->result < 0)
			(void)cache_heal(ctx->cache, t->asset.asset, run->error);
		run->final = run->error->kind != ERR_SYSTEM;
		remark(t, ctx, run);
		if (run->result < 0)
			*e = *run->error;
		return run->result < 0 ? run->result : TASK_DONE;
	}
	if (stage == 0) {
		struct pending *p = xcalloc(1, sizeof(*p));
		const int64_t begun_ns = fetch_begun(ctx->fetcher, t->asset.asset);

		if (begun_ns)
			(void)print_to(run->remark, sizeof(run->remark), "begun %.3f s before",
				       (double)(dur_now() - begun_ns) / DUR_SEC);
		*p = (struct pending){ ctx, run };
		run->stage = 1;
		fetch_start(ctx->fetcher, t->asset.asset, fetched, p);
	}
	return describe_wait(t, ctx, run);
}

static void asset_cancel(const struct task *t, struct task_ctx *ctx)
{
	fetch_cancel(ctx->fetcher, t->asset.asset);
}

/* Returns whether the entry has come since the check. The asset's users may run before the scheduler hears that the
 * fetch has ended. */
static bool asset_in_passing(const struct task *t, struct task_ctx *ctx, struct task_diff *diff)
{
	return *diff->why && cache_has(ctx->cache, &t->asset.asset->digest) &&
	       cache_is_signed(ctx->cache, t->asset.asset);
}

/* Assumes that assets of the earlier documents are in the cache. */
static int asset_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			 struct task_diff *diff)
{
	if ((was && digest_eq(&was->asset.asset->digest, &t->asset.asset->digest)) ||
	    task_is_unneeded(t, ctx))
		return TASK_EQUAL;
	return task_missing(diff, "not in the cache");
}

const struct task_ops task_asset_ops = {
	.kind = "asset",
	.brief = true,
	.check = asset_check,
	.compare = asset_compare,
	.begin = asset_begin,
	.apply = asset_apply,
	.cancel = asset_cancel,
	.in_passing = asset_in_passing,
};

/* To inflate an archive takes about as long as to hash eight times its bytes. */
static uint64_t asset_reads(const struct task *t, struct task_ctx *ctx)
{
	struct err ignored;

	return cache_inspect(ctx->cache, &t->asset.asset->digest, CACHE_BY_RECORD, &ignored).bytes *
	       (asset_is_archive(t->asset.asset) ? 8 : 1);
}

static int asset_turn(const struct task *t, struct task_ctx *ctx)
{
	(void)t;
	(void)ctx;
	return 1;
}

/* Hashing takes a worker. */
const struct task_ops task_asset_recheck_ops = {
	.kind = "asset",
	.reads = asset_reads,
	.turn = asset_turn,
	.check = asset_recheck,
	.apply = asset_apply,
	.cancel = asset_cancel,
};

/* Returns whether the task that fetched the archive has unpacked it on arrival. */
static bool unpack_in_passing(const struct task *t, struct task_ctx *ctx, struct task_diff *diff)
{
	if (!ctx->fetcher || !fetch_unpacks(ctx->fetcher, t->unpack.asset) ||
	    !members_are_read(ctx, t->unpack.asset))
		return false;
	(void)task_missing(diff, "not unpacked");
	return true;
}

static int unpack_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	(void)e;
	if (unpack_in_passing(t, ctx, diff))
		return TASK_DIFFERS;
	/* in bake no task uses the archive: it only has to be right */
	if (t->n_serves ? task_is_unneeded(t, ctx) : members_are_read(ctx, t->unpack.asset))
		return TASK_EQUAL;
	return task_differs(diff, "not unpacked");
}

static int unpack_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	const int64_t now = dur_now();
	int r;

	/* once all folders exist, one pass stages everything */
	if (members_lack_folder(ctx, t) && (!run->since_ns || now - run->since_ns < FOLDERS_NS))
		return task_wait(run, now + FOLDERS_POLL_NS, "the folders of its members");
	r = members_read(ctx, t, e);
	/* the archive's fetch task is over, so only the next run can fetch it again */
	if (r < 0)
		run->final = cache_heal(ctx->cache, t->unpack.asset, e);
	return r;
}

static int unpack_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			  struct task_diff *diff)
{
	if ((was && digest_eq(&was->unpack.asset->digest, &t->unpack.asset->digest) &&
	     asset_has_members(was->unpack.asset, t->unpack.asset)) ||
	    task_is_unneeded(t, ctx))
		return TASK_EQUAL;
	return task_missing(diff, "not unpacked");
}

/* In a run that trusts no record this check comes after the installs' checks (turn 2), which compare each file once. */
static int unpack_turn(const struct task *t, struct task_ctx *ctx)
{
	(void)t;
	return ctx->verify ? 3 : 0;
}

const struct task_ops task_unpack_ops = {
	.kind = "unpack",
	.turn = unpack_turn,
	.check = unpack_check,
	.compare = unpack_compare,
	.apply = unpack_apply,
	.in_passing = unpack_in_passing,
};
