/* apply_status.c - reports of an apply: status.json, console, message of the day, history, metrics */
#include "nodeup/cmd/apply.h"

#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/ending.h"
#include "nodeup/base/io.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/wait.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/documents/location.h"
#include "nodeup/run/health.h"
#include "nodeup/run/history.h"
#include "nodeup/run/metrics.h"
#include "nodeup/run/notice.h"
#include "nodeup/run/standing.h"
#include "nodeup/run/times.h"
#include "units/notify.h"

/* how often the watched services are looked at (window.h) */
#define WINDOW_STEP_NS DUR_SEC

/* Reports once that a run has reached the age that the settings name. */
static void tell_age(struct apply *ap)
{
	autoarena struct arena *a = arena_new_empty();
	const struct settings *s = &ap->session.settings;
	struct strv lines;

	if (ap->age_told || s->quiet_console || !s->console_after_ns ||
	    dur_now() - ap->begun_ns < s->console_after_ns)
		return;
	ap->age_told = true;
	lines = notice_lines(a, &ap->status);
	notice_console(ap->live_fd, &lines);
}

static void publish(struct apply *ap)
{
	struct err why;
	int r;

	/* a failed report fails no run */
	if (ap->live_fd < 0)
		return;
	ending_hold();
	r = status_write(ap->live_fd, &ap->status, &why);
	if (r != 0 && (!ap->silence_told || (r < 0 && ap->silence_told > 0))) {
		log_warning("nodeup status %s: %s",
			    r < 0 ? "knows nothing of this run" : "is kept in " OWN_LIB, why.msg);
		ap->silence_told = r;
	}
	if (str_eq(ap->status.state, "running"))
		tell_age(ap);
	ending_release();
}

/* Puts into the status what earlier runs said about the node: earlier tries of this process, and a person's run
 * between them. */
static void carry_word(struct apply *ap)
{
	struct health before;
	struct err ignored;

	arena_free(ap->word);
	ap->word = arena_new_empty();
	ap->status.node = ap->live_fd < 0 ||
					  health_read(ap->word, ap->live_fd, &before, &ignored) < 0
				  ? NULL
				  : standing_carry(ap->word, before.word);
}

/* Returns whether this run failed and left the node as it was. */
static bool left_as_it_was(const struct apply *ap)
{
	autoarena struct arena *a = arena_new_empty();
	struct health now;
	struct err ignored;

	return ap->status.error && health_read(a, ap->live_fd, &now, &ignored) == 0 && now.kept;
}

/* Tells the console and the message of the day the state of the node. A person at a terminal has read the result
 * there. */
static void tell_people(struct apply *ap, bool is_last)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv lines = { 0 };

	if (ap->live_fd < 0 || left_as_it_was(ap))
		return;
	if (ap->status.error)
		lines = notice_lines(a, &ap->status);
	ending_hold();
	notice_motd(ap->live_fd, &lines);
	if ((is_last || !ap->console_told) && !ap->session.settings.quiet_console &&
	    !isatty(STDERR_FILENO))
		notice_console(ap->live_fd, &lines);
	ap->console_told |= lines.n > 0;
	ending_release();
}

void apply_tell_beginning(const struct apply *ap)
{
	autoarena struct arena *a = arena_new_empty();
	const struct status st = { .state = "running" };
	struct health before;
	struct strv lines;
	struct err ignored;

	/* only the first run reports here; a later run need not even parse the status */
	if (io_is_there(ap->live_fd, OWN_STATUS) ||
	    health_read(a, ap->live_fd, &before, &ignored) < 0 || before.state != HEALTH_NEVER)
		return;
	lines = notice_lines(a, &st);
	notice_motd(ap->live_fd, &lines);
}

/* Returns the times of an ended run; NULL: it had no plan. Only a boot and a change ask what systemd knows. */
static struct tree *times_of(struct arena *a, const struct apply *ap)
{
	const struct run_report *rep = ap->status.rep;
	struct bus *bus = ap->session.ctx.bus;
	struct tree *times;

	if (!rep)
		return NULL;
	times = times_tree(a, rep, ap->status.fetcher);
	if (bus && (ap->status.unit || rep->counts[RUN_CHANGED]))
		times_add_boot(a, ap->live_fd, bus, times);
	return times;
}

/* Adds an ended run to the history, in place of an earlier run of this process. */
static void remember(struct apply *ap)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *times;
	struct err late;

	if (ap->live_fd < 0)
		return;
	/* systemd may be slow to answer, and a signal must not wait for it */
	times = times_of(a, ap);
	ending_hold();
	if (history_keep(ap->live_fd, times, &late) < 0)
		log_warning("this run is not remembered: %s", late.msg);
	ending_release();
}

void apply_tell_recap(const struct apply *ap, const struct run_report *rep, const struct err *late)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv lines = report_recap(a, rep, late);

	for (size_t i = 0; i < lines.n && (ap->cli->verify || i == 0); i++)
		if (ap->cli->verify || rep->counts[RUN_CHANGED])
			log_info("%s%s", i ? "  " : "", lines.v[i]);
}

void apply_note_documents(struct apply *ap)
{
	const struct session *s = &ap->session;
	const struct vintage *v = &s->boot.documents.vintage;

	ap->status.documents = (struct status_documents){
		.conf = s->boot.is_chosen ? s->boot.set : location_shown(s->arena, s->boot.conf),
		.host = facts_host(s->arena, &s->boot.facts),
		.kops = vintage_text(s->arena, v),
		.known_by = vintage_known_by(s->arena, v),
		.kept_why = s->boot.replay_why,
		.guess_why = s->boot.guess_why,
		.lacks_store = s->boot.lacks_store,
		.accepted = &s->boot.accepted,
		.tolerated = &s->boot.tolerated,
		.expiring = s->boot.expiring,
		.expiry = s->boot.expiry,
		.renews = s->boot.renews,
	};
	if (s->boot.replayed && !s->boot.set)
		log_warning("the state store cannot be reached: documents are the persisted ones, "
			    "%s old",
			    dur_human(s->arena, s->boot.replay_age_ns));
}

/* If the store does not answer, tells a person at once that kept documents can be used, and when. */
static void say_what_is_kept(struct apply *ap, struct arena *a)
{
	const char *date = ap->kept_told || ap->session.policy.image_mode
				   ? NULL
				   : bootstrap_kept(a, ap->session.root_fd);

	ap->kept_told = true;
	if (date)
		log_notice("documents kept at %s are there: they are used in %s%s", date,
			   dur_human(a, ap->patience_ns),
			   str_eq(ap->session.own_unit, boot_unit) ? ""
								   : ", or now with --offline");
}

void apply_on_wait(void *arg, const struct wait *w)
{
	struct apply *ap = arg;

	waits_tell(ap->waits, w);
	notify_status("%s%s: %s", w->works ? "" : "waiting for ", w->what, w->reason);
	ap->status.waiting = w->reason;
	ap->status.since_ns = w->since_ns;
	ap->status.next_ns = w->next_ns;
	ap->status.error = w->why;
	publish(ap);
	ap->status.waiting = NULL;
	ap->status.since_ns = ap->status.next_ns = 0;
	ap->status.error = NULL;
}

void apply_on_store_wait(void *arg, const struct wait *w)
{
	autoarena struct arena *a = arena_new_empty();
	struct wait documents = *w;

	if (!w->named) {
		/* the error names the location */
		documents.what = "documents";
		say_what_is_kept(arg, a);
	}
	apply_on_wait(arg, &documents);
}

void apply_on_event(void *arg, const struct run_report *rep, const struct run_outcome *o)
{
	autoarena struct arena *a = arena_new_empty();
	struct apply *ap = arg;
	int64_t now = dur_now();

	if (o)
		report_outcome(rep, o, ap->waits);
	else
		progress_show(ap->progress, rep);
	report_waiting(rep, ap->waits);
	/* a signal may come next, so the first change is written at once */
	if (o && now < ap->next_status_ns &&
	    (o->state != RUN_CHANGED || rep->counts[RUN_CHANGED] > 1))
		return;
	ap->next_status_ns = now + 200 * DUR_MS;
	ap->status.rep = rep;
	ap->status.waiting = report_progress(a, rep);
	notify_status("%s", ap->status.waiting);
	publish(ap);
	ap->status.waiting = NULL;
}

/* Logs a line, not a warning: a machine that converges well waits too. */
void apply_on_window(void *arg, const char *what)
{
	autoarena struct arena *a = arena_new_empty();
	struct apply *ap = arg;
	const int64_t now = dur_now();
	struct wait w = { .what = "services", .reason = what, .next_ns = now + WINDOW_STEP_NS };

	if (!str_eq(ap->status.waiting, what)) {
		ap->status.waiting = what;
		ap->status.since_ns = now;
		notify_status("waiting for %s", what);
		publish(ap);
	}
	w.since_ns = ap->status.since_ns;
	if (waits_due(ap->waits, w.what, what, now))
		log_info("waiting for %s%s%s", what, now > w.since_ns ? ", for " : "",
			 now > w.since_ns ? dur_human(a, now - w.since_ns) : "");
	waits_show(ap->waits, &w);
}

/* Keeps the results of assets, to be shown until the next run has a plan. */
static void keep_assets(struct apply *ap)
{
	if (!ap->status.rep)
		return;
	arena_free(ap->before);
	ap->before = arena_new_empty();
	ap->status.assets = progress_tree(ap->before, ap->status.rep, ap->status.fetcher,
					  ap->status.next_run_wall_ns);
}

void apply_begin_status(struct apply *ap)
{
	carry_word(ap);
	ap->status.state = "running";
	ap->status.error = NULL;
	ap->status.next_run_wall_ns = 0;
	ap->status.attempt++;
	publish(ap);
}

void apply_end_status(struct apply *ap, const char *state, enum round next, const struct err *e)
{
	ap->status.state = state;
	ap->status.error = e;
	ap->status.waiting = NULL;
	ap->status.ended = true;
	if (next == ROUND_FIRST)
		ap->status.next_run_wall_ns = dur_wall() + ap->end.pause_ns;
	publish(ap);
	/* a round that is repeated at once has not failed */
	if (next == ROUND_NONE || next == ROUND_FIRST)
		tell_people(ap, next == ROUND_NONE);
	remember(ap);
	if (ap->live_fd >= 0 && ap->status.metrics)
		metrics_write(ap->live_fd);
	apply_copy_status(ap);
	if (ap->live_fd >= 0 && !left_as_it_was(ap))
		apply_tell_outside(ap, next);
	keep_assets(ap);
	ap->status.ended = false;
	ap->status.rep = NULL;
	ap->status.fetcher = NULL;
	ap->status.metrics = NULL;
	ap->status.documents = (struct status_documents){ 0 };
}
