/* Tests: test_unit.c, test_unit_answers.c, test_unit_start.c, test_mount_start.c. */
#include "nodeup/tasks/kinds.h"

#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/walk.h"
#include "nodeup/host/containers.h"
#include "nodeup/host/disruption.h"
#include "nodeup/host/liveness.h"
#include "nodeup/tasks/checkpoint.h"
#include "nodeup/tasks/effect.h"
#include "nodeup/tasks/foreign.h"
#include "nodeup/tasks/started.h"
#include "nodeup/tasks/unit_notes.h"
#include "nodeup/tasks/volume.h"
#include "units/enable.h"
#include "units/unit.h"

/* how often a job is looked up. Its end comes as a signal, which any call on the bus may have read already; a look
 * into the table of jobs costs nothing */
#define JOB_POLL_NS (50 * DUR_MS)
/* how long a job may be queued before we ask whether it waits for us */
#define QUEUE_PATIENCE_NS (2 * DUR_SEC)
/* how often an active but silent unit is asked */
#define ASK_AGAIN_NS (5 * DUR_SEC)

enum { ORDER_DEPTH = 3, FILE_MAX = 1 << 20 };

/* Stages of an apply; 0: nothing is under way. */
enum { STARTING = 1, STOPPING, LISTENING };

static const struct task *input_task(const struct task *t, const char *path)
{
	for (size_t i = 0; i < t->n_needs; i++) {
		const char *have = task_path(t->needs[i]);

		if (have && strcmp(have, path) == 0)
			return t->needs[i];
	}
	return NULL;
}

/* Makes one digest of all inputs of the unit, from the plan alone. */
static void inputs_digest(const struct task *t, struct digest *ret)
{
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);

	for (size_t i = 0; i < t->unit.inputs.n; i++) {
		const struct task *in = input_task(t, t->unit.inputs.v[i]);

		if (in && in->ops->inputs)
			in->ops->inputs(in, c);
	}
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i]->kind == TASK_IMAGE)
			t->needs[i]->ops->inputs(t->needs[i], c);
	digest_final(c, ret);
}

/* Returns whether the file changed after the process began. If there is no record of the start, nothing else is
 * known. */
static bool is_newer_than_process(struct task_ctx *ctx, const char *path, const struct bus_unit *u)
{
	int64_t boot_ns = dur_wall() - dur_now();
	struct err ignored;
	struct stat st;

	if (u->start_us == 0 || io_stat(ctx->root_fd, path, &st, &ignored) < 0)
		return false;
	return io_stamp_of(&st).ctime_ns > boot_ns + (int64_t)u->start_us * 1000;
}

/* Returns whether this run has changed the input's content, or would change it. */
static bool is_other_now(const struct task *in, const struct task_ctx *ctx)
{
	return in && ctx->changed && ctx->changed[in->index] &&
	       !(ctx->kept && ctx->kept[in->index]);
}

/* Returns when the running process began; without a process, when the unit became active. */
static uint64_t start_of(const struct bus_unit *u)
{
	return u->start_us ? u->start_us : u->active_enter_us;
}

/* Returns the files that the unit is started with, but that no task writes: drop-ins of an admin or a package, and
 * files in the unit's `shared` folder. A mount is never made anew for a drop-in. Files that systemd writes for
 * `systemctl set-property` do not count: they take effect without a start. *ret is the digest of these paths and
 * their content. */
static struct strv foreign_inputs(const struct task *unit, int root_fd, struct arena *a,
				  struct digest *ret)
{
	autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);
	struct strv all = { 0 }, names = { 0 }, paths = { 0 };

	if (str_has_suffix(unit->name, ".service"))
		all = unit_dropins(a, root_fd, unit->name);
	if (unit->unit.shared)
		names = walk_list(a, root_fd, unit->unit.shared, unit->unit.shared_ending);
	for (size_t i = 0; i < names.n; i++)
		strv_addf(a, &all, "%s/%s", unit->unit.shared, names.v[i]);
	for (size_t i = 0; i < all.n; i++) {
		autobuf struct buf text = BUF_INIT(FILE_MAX);
		struct err ignored;

		if (strv_has(&unit->unit.inputs, all.v[i]))
			continue;
		strv_add(a, &paths, all.v[i]);
		digest_update(c, all.v[i], strlen(all.v[i]) + 1);
		if (io_read(root_fd, all.v[i], &text, &ignored) >= 0)
			digest_update(c, buf_str(&text), text.len);
		digest_update(c, "", 1);
	}
	digest_final(c, ret);
	return paths;
}

static int foreign_inputs_differ(const struct task *t, struct task_ctx *ctx,
				 const struct bus_unit *u, const struct started *record,
				 struct task_diff *diff)
{
	autoarena struct arena *a = arena_new_empty();
	struct digest now;
	const struct strv paths = foreign_inputs(t, ctx->root_fd, a, &now);

	if (record->has_foreign && digest_eq(&now, &record->foreign))
		return TASK_EQUAL;
	for (size_t i = 0; i < paths.n; i++)
		if (is_newer_than_process(ctx, paths.v[i], u))
			return task_differs(diff, "%s is newer than the running process",
					    paths.v[i]);
	/* if others restarted the unit after the record, it was started without the files that are gone */
	return record->has_foreign && start_of(u) <= record->us
		       ? task_differs(diff, "files of others that it was started with are gone")
		       : TASK_EQUAL;
}

/* Returns whether an active unit runs with other inputs than the plan's. The record covers restarts by others too:
 * see started.h. Without a record the age of the files decides. */
static int inputs_differ(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u,
			 struct task_diff *diff)
{
	const struct started record = started_get(ctx->root_fd, t->name);
	const struct strv *paths = &t->unit.inputs;
	struct digest want;

	for (size_t i = 0; i < paths->n; i++)
		if (is_other_now(input_task(t, paths->v[i]), ctx))
			return task_differs(diff, "%s changes", paths->v[i]);
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i]->kind == TASK_STRAY && is_other_now(t->needs[i], ctx))
			return task_differs(diff, "%s ends", t->needs[i]->name);
	if (record.state == STARTED_DOUBT)
		return task_differs(diff, "what it is started with was written anew since");
	if (record.state == STARTED_PENDING && start_of(u) < record.us)
		return task_differs(diff, "its last start was interrupted");
	inputs_digest(t, &want);
	if (record.state != STARTED_UNKNOWN && !digest_eq(&want, &record.inputs))
		return task_differs(diff, "it was started with other inputs");
	for (size_t i = 0; record.state == STARTED_UNKNOWN && i < paths->n; i++)
		if (is_newer_than_process(ctx, paths->v[i], u))
			return task_differs(diff, "%s is newer than the running process",
					    paths->v[i]);
	return foreign_inputs_differ(t, ctx, u, &record, diff);
}

/* Asks about enablement only if the answer matters: it takes the manager longer than everything else. */
static int get_unit(const struct task *t, struct task_ctx *ctx, struct arena *a, struct bus_unit *u,
		    struct err *e)
{
	return t->unit.enable || t->unit.as_is || !ctx->bus ? task_get_unit(ctx, a, t->name, u, e)
							    : bus_get(ctx->bus, a, t->name, u, e);
}

static bool is_enabled(const struct bus_unit *u)
{
	/* static, generated and indirect units have nothing to enable */
	return !str_eq(u->file_state, "disabled") && !str_eq(u->file_state, "");
}

/* Returns whether the unit ran to its end in this boot. We saw it end, or it began and we did not wait, or systemd
 * started it before us because it is enabled. */
static bool was_run(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u)
{
	const struct started record = started_get(ctx->root_fd, t->name);

	if (record.state == STARTED_UNKNOWN)
		return t->unit.enable && u->start_us;
	return record.state == STARTED_DONE || record.state == STARTED_DOUBT ||
	       (t->unit.once && record.state == STARTED_PENDING && start_of(u) >= record.us);
}

/* Returns whether the unit is up, with whatever inputs. */
static bool is_up(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u)
{
	if (str_eq(u->active_state, "active") || str_eq(u->active_state, "reloading"))
		return true;
	/* a unit that ran to its end */
	return (str_eq(u->type, "oneshot") || t->unit.no_wait) &&
	       str_eq(u->active_state, "inactive") && str_eq(u->result, "success") &&
	       was_run(t, ctx, u);
}

/* Returns whether the unit runs with the plan's inputs, and its effect is still there. */
static int is_as_started(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u,
			 struct task_diff *diff)
{
	int r = t->unit.as_is ? TASK_EQUAL : inputs_differ(t, ctx, u, diff);

	return r == TASK_EQUAL ? effect_check(t, ctx, diff) : r;
}

/* Returns whether this task asks if the unit answers. Usually a run asks when all tasks are done: see window.h. */
static bool listens_here(const struct task *t, const struct task_ctx *ctx)
{
	return ctx->only_looks || (ctx->verify && !t->unit.must_answer);
}

static int check_answer(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u,
			struct task_diff *diff)
{
	autoarena struct arena *a = arena_new_empty();
	const char *why;

	if (!listens_here(t, ctx) ||
	    !answer_is_bad(liveness_ask_unit(a, ctx->root_fd, t->name, u, &why)))
		return TASK_EQUAL;
	(void)task_differs(diff, "active, but %s%s", why,
			   ctx->verify ? "" : "; nodeup repair restarts it");
	diff->restarts = true;
	return TASK_DIFFERS;
}

/* Looks for a checkpoint that would stop the unit at its next start, and words it in diff. Also words a checkpoint
 * that stays in place but is worth a remark. */
static bool has_wrong_checkpoint(const struct task *t, const struct task_ctx *ctx,
				 struct task_diff *diff)
{
	char wrong[ERR_NOTE_MAX];

	for (size_t i = 0; i < t->unit.n_checkpoints; i++) {
		autofree char *before = xasprintf("%s%s", diff->why, diff->why[0] ? "; " : "");
		const enum checkpoint is = checkpoint_judge(
			ctx->root_fd, t->name, &t->unit.checkpoints[i], wrong, sizeof(wrong));

		if (is == CHECKPOINT_WRONG) {
			(void)task_differs(diff, "%s%s: it is put aside", before, wrong);
			return true;
		}
		if (is == CHECKPOINT_OTHERS && diff->why[0])
			(void)task_differs(diff, "%s%s", before, wrong);
	}
	return false;
}

static int put_checkpoints_aside(const struct task *t, const struct task_ctx *ctx, struct err *e)
{
	char ignored[ERR_NOTE_MAX];
	int r = 0;

	for (size_t i = 0; i < t->unit.n_checkpoints && r == 0; i++)
		if (checkpoint_judge(ctx->root_fd, t->name, &t->unit.checkpoints[i], ignored,
				     sizeof(ignored)) == CHECKPOINT_WRONG)
			r = checkpoint_put_aside(ctx->root_fd, &t->unit.checkpoints[i], e);
	return r;
}

/* Judges a masked unit. If the plan writes the unit's file, this file replaces the mask. */
static int check_masked(const struct task *t, const struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	for (size_t i = 0; i < t->unit.inputs.n; i++) {
		const char *path = t->unit.inputs.v[i];

		if (str_eq(str_basename(path), t->name) && is_other_now(input_task(t, path), ctx))
			return task_differs(diff, "masked; %s takes the place of the mask", path);
	}
	return err_fail(e, ERR_SYSTEM, EPERM, "it is masked: systemctl unmask %s", t->name);
}

/* Returns whether the unit is left as it is: a person masked it, or systemd handled it in this boot. A service may
 * still be starting, or have failed; a mount, a timer and a oneshot had their turn. */
static bool is_left_to_others(const struct bus_unit *u)
{
	const bool had_its_turn = !*u->type || str_eq(u->type, "oneshot");

	return str_eq(u->load_state, "masked") ||
	       (str_has_prefix(u->file_state, "enabled") && had_its_turn);
}

/* Returns whether our own unit is at work. Our unit stays active while it waits for its next try. */
static bool is_at_work(const struct task *t, const struct bus_unit *u)
{
	return t->unit.no_wait &&
	       (str_eq(u->active_state, "activating") || str_eq(u->active_state, "active"));
}

/* Returns whether a run would leave the unit's process alone: it is at work, or right. */
static bool needs_no_job(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u)
{
	struct task_diff ignored = { 0 };

	return is_at_work(t, u) || t->unit.at_boot ||
	       (is_up(t, ctx, u) && is_as_started(t, ctx, u, &ignored) == TASK_EQUAL);
}

/* Returns whether the unit would be restarted. Our own unit is never restarted, as that would end this run. */
static bool is_restarted(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u)
{
	return (str_eq(u->active_state, "active") || str_eq(u->active_state, "reloading")) &&
	       !str_eq(t->name, ctx->own_unit) && !needs_no_job(t, ctx, u);
}

static int check_unit(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u,
		      struct task_diff *diff, struct err *e)
{
	int r;

	if (t->unit.as_is && is_left_to_others(u))
		return TASK_EQUAL;
	if (str_eq(u->load_state, "masked"))
		return check_masked(t, ctx, diff, e);
	if (str_eq(u->load_state, "not-found"))
		return task_missing(diff, "unknown to systemd");
	if (t->unit.enable && !is_enabled(u))
		return task_differs(diff, "not enabled");
	if (is_at_work(t, u) || t->unit.at_boot)
		return TASK_EQUAL;
	if (!is_up(t, ctx, u))
		return task_differs(diff, "%s (%s)", u->active_state, u->sub_state);
	r = is_as_started(t, ctx, u, diff);
	return r == TASK_EQUAL ? check_answer(t, ctx, u, diff) : r;
}

static int check_running(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			 struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	int r = get_unit(t, ctx, a, &u, e);

	if (r < 0)
		return r;
	r = check_unit(t, ctx, &u, diff, e);
	/* a unit that is right has written its checkpoint itself */
	if (r == TASK_DIFFERS && !needs_no_job(t, ctx, &u))
		(void)has_wrong_checkpoint(t, ctx, diff);
	diff->restarts |= r == TASK_DIFFERS && is_restarted(t, ctx, &u);
	return r;
}

static int unit_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	bool enabled;
	int r;

	if (!ctx->image_mode)
		return check_running(t, ctx, diff, e);
	r = t->unit.enable ? enable_check(ctx->root_fd, t->name, &enabled, e) : 0;
	/* the file may be part of this plan and not be written yet */
	if (r < 0)
		(void)task_missing(diff, "not enabled");
	else if (t->unit.enable && !enabled)
		(void)task_differs(diff, "not enabled");
	return has_wrong_checkpoint(t, ctx, diff) || diff->why[0] ? TASK_DIFFERS : TASK_EQUAL;
}

/* Returns whether `unit` starts only after `other` has ended. If `other` runs us, a wait for `unit` would be a wait
 * for ourselves. */
static bool is_ordered_after(struct bus *b, struct arena *a, const char *unit, const char *other,
			     int depth)
{
	struct err ignored;
	struct bus_unit u;

	if (depth == 0 || bus_get(b, a, unit, &u, &ignored) < 0)
		return false;
	if (u.after && str_is_one_of(other, u.after))
		return true;
	for (size_t i = 0; u.after && u.after[i]; i++)
		if (str_has_suffix(u.after[i], ".target") &&
		    is_ordered_after(b, a, u.after[i], other, depth - 1))
			return true;
	return false;
}

/* Returns the first failed unit among those after which this one starts; NULL: none failed. */
static const char *failed_before(struct bus *b, struct arena *a, const struct bus_unit *u,
				 struct bus_unit *ret)
{
	struct err ignored;

	for (size_t i = 0; u->after && u->after[i]; i++)
		if (bus_get(b, a, u->after[i], ret, &ignored) == 0 &&
		    str_eq(ret->active_state, "failed"))
			return u->after[i];
	return NULL;
}

/* Words a start that was not even tried, because one of its needs failed. */
static int needed_failed(const struct task *t, struct task_ctx *ctx, struct arena *a, struct err *e)
{
	const char *needed = NULL;
	struct bus_unit u, other;
	struct err ignored;
	int r;

	if (bus_get(ctx->bus, a, t->name, &u, &ignored) == 0)
		needed = failed_before(ctx->bus, a, &u, &other);
	if (!needed) {
		r = err_fail(e, ERR_SYSTEM, EIO, "it was not started: what it needs failed");
		err_note(e, "do", "systemctl list-dependencies %s shows what is not active",
			 t->name);
		return r;
	}
	r = err_fail(e, ERR_SYSTEM, EIO, "it was not started: %s failed, which it needs", needed);
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i]->kind == TASK_UNIT && str_eq(t->needs[i]->name, needed))
			foreign_note(t->needs[i], ctx->root_fd, e);
	unit_notes(needed, &other, e);
	return r;
}

static int job_failed(const struct task *t, struct task_ctx *ctx, const char *result, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	struct err ignored;
	int r;

	if (str_eq(result, "dependency"))
		return needed_failed(t, ctx, a, e);
	r = err_fail(e, ERR_SYSTEM, EIO, "its start job %s",
		     str_eq(result, "failed") ? "failed" : result);
	foreign_note(t, ctx->root_fd, e);
	if (bus_get(ctx->bus, a, t->name, &u, &ignored) == 0)
		unit_notes(t->name, &u, e);
	return r;
}

/* Returns whether systemd is running this oneshot right now, with the right inputs. If so, systemd's job counts as
 * ours. */
static bool is_on_its_way(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u)
{
	struct task_diff ignored;

	return str_eq(u->type, "oneshot") && str_eq(u->active_state, "activating") &&
	       inputs_differ(t, ctx, u, &ignored) == TASK_EQUAL;
}

static const char *verb_for(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u)
{
	if (!bus_unit_is_at_work(u) || t->unit.as_is)
		return "start";
	/* our own unit is never restarted by itself: that would end this run */
	return str_eq(t->name, ctx->own_unit) || is_on_its_way(t, ctx, u) ? "start" : "restart";
}

/* Asks the needs again whether the unit may start: their checks may be minutes old. */
static int may_start(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	int r = volume_mount_is_free(t, ctx, e);

	for (size_t i = 0; i < t->n_needs && r == 0; i++)
		if (t->needs[i]->ops->may_start)
			r = t->needs[i]->ops->may_start(t->needs[i], t, ctx, e);
	return r;
}

/* Says which pods stop, before they do. */
static void tell_disruption(const struct task *t, const struct task_ctx *ctx,
			    const struct bus_unit *u)
{
	autoarena struct arena *a = arena_new_empty();
	const struct disruption f = disruption_of(a, ctx->root_fd, t->name, u->main_pid);

	if (f.pods.n)
		log_notice("restarting %s: %s", t->name, disruption_text(a, &f));
}

/* Restarts the socket's unit if a daemon's socket is lost. A daemon that got its socket from systemd does not make a
 * new one; the socket's unit does, and stops the daemon for it. */
static int restart_lost_socket(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	static const char unit[] = "docker.socket";
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	uint32_t ignored;
	int r;

	if (!str_eq(t->name, "docker.service") || io_is_there(ctx->root_fd, docker_socket))
		return 0;
	r = bus_get(ctx->bus, a, unit, &u, e);
	return r == 0 && str_eq(u.active_state, "active")
		       ? bus_job(ctx->bus, "restart", unit, &ignored, e)
		       : r;
}

static int enqueue(const struct task *t, struct task_ctx *ctx, const struct bus_unit *u,
		   uint32_t *ret_job, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct started record = { .state = STARTED_PENDING,
				  .us = (uint64_t)dur_now() / 1000,
				  .has_foreign = true };
	const char *verb = verb_for(t, ctx, u);
	int r = strcmp(verb, "start") == 0 ? may_start(t, ctx, e) : 0;

	/* records the start before it happens */
	inputs_digest(t, &record.inputs);
	(void)foreign_inputs(t, ctx->root_fd, a, &record.foreign);
	if (r == 0 && !t->unit.as_is)
		r = started_set(ctx->root_fd, t->name, &record, e);
	if (r < 0)
		return r;
	if (str_eq(u->active_state, "failed")) {
		r = bus_reset_failed(ctx->bus, t->name, e);
		if (r < 0)
			return r;
	}
	if (str_eq(verb, "restart"))
		tell_disruption(t, ctx, u);
	r = restart_lost_socket(t, ctx, e);
	return r < 0 ? r : bus_job(ctx->bus, verb, t->name, ret_job, e);
}

/* Enables the unit, and enqueues its job unless the unit is right already. */
static int begin_job(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		     struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct task_diff diff = { 0 };
	struct bus_unit u;
	bool changed = false;
	int r;

	r = get_unit(t, ctx, a, &u, e);
	if (r < 0)
		return r;
	if (t->unit.enable && !is_enabled(&u)) {
		r = bus_enable(ctx->bus, t->name, true, &changed, e);
		if (r < 0)
			return r;
	}
	if (needs_no_job(t, ctx, &u)) {
		run->stage = listens_here(t, ctx) ? LISTENING : 0;
		/* a unit that answers again by itself counts as unchanged */
		run->equal = run->stage && !changed;
		return run->stage ? TASK_WAIT : TASK_DONE;
	}
	/* a running unit may write the checkpoint again, so it stops first */
	if (bus_unit_is_at_work(&u) && has_wrong_checkpoint(t, ctx, &diff)) {
		r = bus_job(ctx->bus, "stop", t->name, &run->job, e);
		run->stage = STOPPING;
		return r < 0 ? r : TASK_WAIT;
	}
	r = put_checkpoints_aside(t, ctx, e);
	if (r < 0)
		return r;
	r = enqueue(t, ctx, &u, &run->job, e);
	if (r < 0 || t->unit.no_wait)
		return r;
	run->stage = STARTING;
	return TASK_WAIT;
}

/* Waits for an answer, and restarts the unit once if none comes. */
static int listen_to(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		     struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	const char *why;
	int r = get_unit(t, ctx, a, &u, e);

	if (r < 0)
		return r;
	if (!answer_is_bad(liveness_ask_unit(a, ctx->root_fd, t->name, &u, &why)))
		return TASK_DONE;
	if (!run->since_ns || dur_now() - run->since_ns < LIVENESS_SILENCE_NS)
		return task_wait(run, dur_now() + ASK_AGAIN_NS,
				 "an answer; silent for a minute it is restarted");
	log_notice("%s: %s; it is restarted", t->name, why);
	run->equal = false;
	run->stage = STARTING;
	r = enqueue(t, ctx, &u, &run->job, e);
	return r < 0 ? r : task_wait(run, dur_now() + JOB_POLL_NS, "its restart job");
}

static int job_done(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	/* the digest of foreign files stays as it was just before the start */
	struct started record = started_get(ctx->root_fd, t->name);
	struct bus_unit u;
	int r = t->unit.as_is ? 0 : bus_get(ctx->bus, a, t->name, &u, e);

	if (r < 0 || t->unit.as_is)
		return r;
	record.state = STARTED_DONE;
	record.us = start_of(&u);
	inputs_digest(t, &record.inputs);
	return started_set(ctx->root_fd, t->name, &record, e);
}

/* Returns whether the unit's job waits for the end of the very service that runs us. */
static bool waits_for_us(const struct task *t, struct task_ctx *ctx, const struct task_run *run)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;
	struct bus_unit us;

	return ctx->own_unit && run->since_ns && dur_now() - run->since_ns > QUEUE_PATIENCE_NS &&
	       bus_get(ctx->bus, a, ctx->own_unit, &us, &ignored) == 0 &&
	       str_eq(us.active_state, "activating") &&
	       is_ordered_after(ctx->bus, a, t->name, ctx->own_unit, ORDER_DEPTH);
}

static int follow_job(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	const char *result = "";

	switch (bus_job_state(ctx->bus, run->job, &result)) {
	case BUS_JOB_FAILED:
		run->stage = 0;
		return job_failed(t, ctx, result, e);
	case BUS_JOB_DONE:
		return job_done(t, ctx, e);
	case BUS_JOB_WAITING:
		if (waits_for_us(t, ctx, run)) {
			run->detached = true;
			return TASK_DONE;
		}
		return task_wait(run, dur_now() + JOB_POLL_NS, "its start job is queued");
	case BUS_JOB_RUNNING:
		break;
	}
	return task_wait(run, dur_now() + JOB_POLL_NS, "its start job");
}

static int apply_to_image(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	int r = put_checkpoints_aside(t, ctx, e);

	return r < 0 || !t->unit.enable ? r : enable_apply(ctx->root_fd, t->name, ctx->flush, e);
}

static int unit_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	int r;

	if (ctx->image_mode)
		return apply_to_image(t, ctx, e);
	if (run->stage == STOPPING) {
		r = task_follow_stop(ctx, run, e);
		if (r != TASK_DONE)
			return r;
		run->stage = 0;
	}
	if (run->stage == 0) {
		r = begin_job(t, ctx, run, e);
		if (r != TASK_WAIT)
			return r;
	}
	if (run->stage == STOPPING)
		return task_wait(run, dur_now() + JOB_POLL_NS, "its stop job");
	return run->stage == LISTENING ? listen_to(t, ctx, run, e) : follow_job(t, ctx, run, e);
}

/* A unit that ran before is restarted if one of its inputs changes. */
static int unit_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			struct task_diff *diff)
{
	const bool enabled = was && was->ops != &task_unit_off_ops && was->unit.enable;
	struct digest had, want;

	if (!was && (!ctx->image_mode || t->unit.enable))
		return task_missing(diff, "not enabled");
	if (t->unit.enable && !enabled)
		return task_differs(diff, "not enabled");
	if (ctx->image_mode || t->unit.at_boot)
		return TASK_EQUAL;
	for (size_t i = 0; i < t->unit.inputs.n; i++)
		if (is_other_now(input_task(t, t->unit.inputs.v[i]), ctx)) {
			(void)task_differs(diff, "%s changes", t->unit.inputs.v[i]);
			diff->restarts = true;
			return TASK_DIFFERS;
		}
	inputs_digest(was, &had);
	inputs_digest(t, &want);
	if (digest_eq(&had, &want))
		return TASK_EQUAL;
	(void)task_differs(diff, "it was started with other inputs");
	diff->restarts = true;
	return TASK_DIFFERS;
}

const struct task_ops task_unit_ops = {
	.kind = "unit",
	.stays = true,
	.on_main = true,
	.check = unit_check,
	.compare = unit_compare,
	.apply = unit_apply,
};
