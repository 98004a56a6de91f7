/* bake.c - puts the documents' assets, which are the same for every instance, into the cache */
#include "nodeup/cmd/cli.h"

#include <sys/stat.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/show.h"
#include "nodeup/cmd/ending.h"
#include "nodeup/documents/location.h"
#include "nodeup/run/progress.h"
#include "nodeup/run/report.h"
#include "nodeup/cmd/session.h"
#include "nodeup/tasks/state.h"

/* a person who builds an image sees that a store does not answer */
#define PATIENCE_NS (30 * DUR_SEC)

struct watch {
	struct waits *waits;
	struct progress *progress;
};

static void on_store_wait(void *arg, const struct wait *w)
{
	const struct watch *watch = arg;
	struct wait documents = *w;

	/* the error names the location */
	documents.what = "documents";
	waits_tell(watch->waits, &documents);
}

static void on_run_event(void *arg, const struct run_report *rep, const struct run_outcome *o)
{
	struct watch *w = arg;

	if (o)
		report_outcome(rep, o, w->waits);
	else
		progress_show(w->progress, rep);
	report_waiting(rep, w->waits);
}

/* All objects that the command's documents name; each counts once. */
struct baked {
	struct arena *arena;
	struct digest *objects;
	size_t n;
	uint64_t bytes;
};

static int count_object(struct baked *sum, struct session *s, const struct asset *as, struct err *e)
{
	autoclose int fd = -1;
	struct stat st;
	int r;

	for (size_t i = 0; i < sum->n; i++)
		if (digest_eq(&sum->objects[i], &as->digest))
			return 0;
	/* a program may have been moved out of the cache, so it is read where it is installed */
	r = cache_open(s->ctx.cache, &as->digest, &fd, e);
	if (r == -ENOENT && s->ctx.gives_away)
		fd = state_open_copy(s->ctx.state, &as->digest);
	if (r < 0 && fd < 0)
		return err_wrap(e, "asset %s", as->name);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "look at asset %s", as->name);
	arena_push(sum->arena, sum->objects, sum->n, as->digest);
	sum->bytes += (uint64_t)st.st_size;
	return 0;
}

static int count_objects(struct baked *sum, struct session *s, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < s->plan.n && r == 0; i++)
		if (s->plan.tasks[i]->kind == TASK_ASSET)
			r = count_object(sum, s, s->plan.tasks[i]->asset.asset, e);
	return r;
}

/* Bakes one document's assets. */
static int bake(struct cli *cli, struct session *s, struct baked *sum, struct watch *watch,
		struct err *e)
{
	const struct session_req req = {
		.cli = cli,
		.mode = MODE_BAKE,
		.patience_ns = PATIENCE_NS,
		.on_wait = on_store_wait,
		.wait_arg = watch,
	};
	struct run_report *rep;
	struct run_req run;
	int r = session_open(s, &req, e);

	waits_over(watch->waits);
	if (r < 0)
		return r;
	/* bake --offline also checks that an image has all its assets */
	r = cli->offline ? offline_check(s, e) : 0;
	if (r < 0)
		return r;
	session_may_change(s);
	run = session_run(s);
	run.watch = on_run_event;
	run.watch_arg = watch;
	rep = arena_new(s->arena, struct run_report);
	watch->progress = progress_new(s->ctx.fetcher, watch->waits);
	r = run_execute(s->arena, &run, rep, e);
	progress_free(watch->progress);
	log_info("%s: %s", location_shown(s->arena, s->boot.conf), report_summary(s->arena, rep));
	/* assets must be durable before the command reports success */
	if (r == 0)
		r = cache_settle(s->ctx.cache, e);
	if (r == 0)
		r = count_objects(sum, s, e);
	if (r < 0 || s->settings.keys_are_own || !s->settings.public_keys.n)
		return r;
	/* so that a machine with this image needs no keys in its documents */
	return settings_bake_keys(s->arena, s->root_fd, s->boot.documents.cluster_name,
				  &s->boot.documents.settings, e);
}

int cmd_bake(struct cli *cli, struct err *e)
{
	struct baked sum = { .arena = cli->arena };

	if (cli->confs.n == 0)
		return err_fail(e, ERR_USAGE, 0, "nodeup bake needs --conf");
	ending_tell(cmd_ending_made, cli);
	show_line(stdout, "nodeup version %s", cli_version());
	(void)fflush(stdout);
	for (size_t i = 0; i < cli->confs.n; i++) {
		struct session s = { 0 };
		struct watch watch = { .waits = waits_new() };
		int r;

		cli->conf = cli->confs.v[i];
		r = bake(cli, &s, &sum, &watch, e);
		waits_free(watch.waits);
		session_close(&s);
		if (r < 0)
			return r;
	}
	show_line(stdout, "baked %zu objects, %llu bytes, into %s", sum.n,
		  (unsigned long long)sum.bytes, session_cache_dir(cli));
	show_line(stdout, "success");
	return 0;
}
