/* apply.c - converge this machine: lock, load, plan, run, watch, report */
#include "nodeup/cmd/apply.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/unpack/watch.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/wait.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/check.h"
#include "nodeup/cmd/ending.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/show.h"
#include "nodeup/documents/store.h"
#include "nodeup/documents/location.h"
#include "nodeup/host/kubelet.h"
#include "nodeup/host/names.h"
#include "nodeup/join/keys.h"
#include "nodeup/cmd/last_good.h"
#include "nodeup/cmd/saved_plan.h"
#include "nodeup/run/causes.h"
#include "nodeup/run/history.h"
#include "nodeup/run/lock.h"
#include "nodeup/run/pause.h"
#include "nodeup/run/window.h"
#include "nodeup/cmd/service.h"
#include "nodeup/tasks/state.h"
#include "units/journal.h"
#include "units/notify.h"

/* if the store is silent for so long, the last run's documents may be used */
#define STORE_PATIENCE_NS (60 * DUR_SEC)
#define LOCK_POLL_MS 1000
/* bytes of unneeded entries to keep when a disk is full */
#define NO_ROOM 1
enum { ID_MAX = 256 };
/* how long a run by hand waits for volumes; our unit has no deadline */
#define VOLUMES_BY_HAND_NS (300 * DUR_SEC)

/* Returns whether an earlier run kept documents here, which may replace missing ones. */
static bool has_kept(const struct apply *ap)
{
	autoclose int root = -1;
	struct err ignored;

	return io_open_root(ap->cli->root ? ap->cli->root : "/", &root, &ignored) == 0 &&
	       io_is_there(root, OWN_DOCUMENTS);
}

/* Returns how long to wait for documents: a minute, or the rest of the deadline if that is shorter. If an earlier
 * run kept documents and the rest is short, returns a third of the rest: the metadata service may be silent too, and
 * time must remain to use the kept documents. */
static int64_t store_patience(const struct apply *ap)
{
	int64_t left = ap->end.deadline_ns - dur_now();

	if (!ap->end.deadline_ns)
		return STORE_PATIENCE_NS;
	if (left < 3 * STORE_PATIENCE_NS && has_kept(ap))
		left /= 3;
	if (left > STORE_PATIENCE_NS)
		return STORE_PATIENCE_NS;
	return left > 0 ? left : 0;
}

/* Returns whether everything is done except units on which nothing else depends. */
static bool only_last_failed(const struct run_report *rep)
{
	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		bool last = o->task->kind == TASK_UNIT && o->task->unit.last;

		if (!run_is_settled(o->state))
			return false;
		if (!causes_may_fail(o) &&
		    (o->state == RUN_SKIPPED || (o->state == RUN_FAILED && !last)))
			return false;
	}
	return true;
}

/* Watches the started services. A unit that failed before stays the first cause. */
static int watch_window(struct apply *ap, const struct run_req *run, const struct run_report *rep,
			int r, struct err *e)
{
	struct err late;

	if (r >= 0)
		r = window_watch(run, rep, apply_on_window, ap, e);
	else if (only_last_failed(rep) && window_watch(run, rep, apply_on_window, ap, &late) < 0)
		report_error(&late);
	waits_over(ap->waits);
	return r;
}

static int64_t volumes_deadline(const struct apply *ap)
{
	return ap->end.deadline_ns || !ap->volumes_ns ? ap->end.deadline_ns
						      : dur_now() + ap->volumes_ns;
}

/* Waits until installed files are on the disk; they are written while units start. */
static int sync_files(struct apply *ap, int r, struct err *e)
{
	struct err late;

	if (state_sync(ap->session.ctx.state, &late) == 0)
		return r;
	ap->end.files_lost = r == 0;
	if (!ap->end.files_lost) {
		log_warning("%s; the next run installs it anew", late.msg);
		return r;
	}
	*e = late;
	return err_code(e);
}

static int before_change(void *arg, const struct run_report *rep, struct err *e)
{
	struct apply *ap = arg;
	const int r = check_before_change(ap->cli, &ap->session, rep, e);

	ap->refused = ap->status.may_not_change = r < 0;
	if (r == 0)
		session_may_change(&ap->session);
	return r;
}

/* Makes the checks before an early fetch begins. An error does not end the run: the run itself checks again. */
static int may_begin(void *arg, struct err *e)
{
	struct apply *ap = arg;

	return check_before_change(ap->cli, &ap->session, NULL, e);
}

/* Makes room for the next run if this run found too little. */
static void trim_cache(struct apply *ap, int r, const struct err *e)
{
	if (r == 0)
		session_trim_cache(&ap->session, ap->cli->cache_max);
	else if (io_is_full(e->errnum) && ap->cli->cache_max >= 0)
		session_trim_cache(&ap->session, NO_ROOM);
}

/* Returns the number of this run. The status of a run on an image has no number: then this returns the number after
 * the last kept set. */
static int64_t run_number(const struct apply *ap)
{
	return ap->status.number ? ap->status.number : kept_last(ap->session.root_fd) + 1;
}

/* Opens the session: documents, host, volumes, plan. */
static int open_session(struct apply *ap, struct err *e)
{
	const struct session_req req = {
		.cli = ap->cli,
		.mode = MODE_APPLY,
		.patience_ns = ap->patience_ns,
		.on_wait = apply_on_store_wait,
		.on_volume_wait = apply_on_wait,
		.may_begin = may_begin,
		.deadline_ns = volumes_deadline(ap),
		.end_ns = ap->end.deadline_ns,
		.wait_arg = ap,
		.keys = &ap->keys,
	};
	const int r = session_open(&ap->session, &req, e);

	waits_over(ap->waits);
	ap->status.metrics = ap->session.settings.metrics_dir;
	if (r < 0)
		return err_code(e);
	apply_note_documents(ap);
	return 0;
}

/* Checks whether --offline, this host and --plan let this run begin. */
static int preflight(struct apply *ap, struct err *e)
{
	struct session *s = &ap->session;
	int r = ap->cli->offline ? offline_check(s, e) : 0;

	if (r == 0)
		r = session_preflight(s, e);
	/* only the first try asks the machine: a later try of this process would meet changes of the first one */
	if (r == 0 && ap->cli->plan_file)
		r = saved_plan_check(ap->plan, s, ap->status.attempt == 1, e);
	return r < 0 ? err_code(e) : 0;
}

/* Notes the instance's id. If the machine was made of another node's image, says so in one line, and forgets the
 * recorded runs and all that is kept under their numbers. Readers of kept documents and of disks check the instance
 * themselves. */
static int renew_identity(const struct session *s, struct err *e)
{
	autobuf struct buf before = BUF_INIT(ID_MAX);
	const char *id = s->boot.facts.instance_id;
	bool there;
	int r = 0;

	/* without metadata nobody knows whether this is another instance */
	if (!id)
		return 0;
	there = record_read(s->root_fd, OWN_IDENTITY, &before);
	if (there && str_eq(buf_str(&before), id))
		return 0;
	if (there && before.len && !str_eq(str_trim(s->arena, buf_str(&before)), id)) {
		log_notice(
			"this is instance %s, made of an image of %s: the documents, volumes and "
			"runs that are kept of that one are not used",
			id, str_trim(s->arena, buf_str(&before)));
		r = history_forget(s->root_fd, e);
		if (r == 0)
			r = kept_forget(s->root_fd, e);
	}
	return r < 0 ? r : record_keep(s->root_fd, OWN_IDENTITY, 0644, id, e);
}

/* Notes the node's instance, however the run ends. */
static void note_node(struct session *s)
{
	struct err late;

	if (renew_identity(s, &late) < 0)
		log_warning("which instance this is was not noted: %s", late.msg);
	if (bootstrap_keep_answers(&s->boot, s->root_fd, &late) < 0)
		log_warning("what was told of this node was not kept: %s", late.msg);
}

/* Applies all tasks of the plan. */
static int run_tasks(struct apply *ap, const struct run_req *run, struct run_report *rep,
		     struct err *e)
{
	struct session *s = &ap->session;
	const bool swept = session_sweep(s);
	int r;

	ap->progress = progress_new(s->ctx.fetcher, ap->waits);
	ap->status.fetcher = s->ctx.fetcher;
	r = run_execute(s->arena, run, rep, e);
	/* the unpacker of a killed run held files at the first sweep; it has ended by now */
	if (!swept)
		(void)session_sweep(s);
	progress_free(ap->progress);
	ap->progress = NULL;
	return r;
}

/* Records what was done, also after a failure; after a success keeps the documents too. */
static void keep_records(struct apply *ap, int r)
{
	struct session *s = &ap->session;
	struct err late;

	if (cache_settle(s->ctx.cache, &late) < 0)
		log_warning("%s; what the cache got may be gone after a power cut", late.msg);
	if (state_store(s->ctx.state, &late) < 0)
		log_warning("applied state not kept: %s", late.msg);
	if (r < 0)
		return;
	if (bootstrap_is_current(&s->boot) &&
	    bootstrap_persist(&s->boot, s->root_fd, run_number(ap), &late) < 0)
		log_warning("documents not kept: %s", late.msg);
	/* a record of earlier versions of nodeup, which attached volumes */
	if (io_is_there(s->root_fd, OWN_CLAIMS))
		(void)!io_remove(s->root_fd, OWN_CLAIMS, &late);
}

/* The steps of one run. */
static int converge(struct apply *ap, struct err *e)
{
	struct session *s = &ap->session;
	struct run_report *rep;
	struct run_req run;
	int r;

	ap->end.files_lost = ap->refused = ap->status.may_not_change = false;
	r = open_session(ap, e);
	if (r == 0)
		r = preflight(ap, e);
	if (r < 0)
		return r;
	note_node(s);
	run = session_run(s);
	run.deadline_ns = s->ctx.deadline_ns = ap->end.deadline_ns;
	run.watch = apply_on_event;
	run.watch_arg = run.gate_arg = ap;
	run.gate = before_change;
	rep = arena_new(s->arena, struct run_report);
	r = run_tasks(ap, &run, rep, e);
	if (!ap->refused) {
		log_info("%s", report_summary(s->arena, rep));
		ap->changed += rep->counts[RUN_CHANGED];
		r = watch_window(ap, &run, rep, r, e);
		r = sync_files(ap, r, e);
		keep_records(ap, r);
		apply_tell_recap(ap, rep, r < 0 ? e : NULL);
	}
	trim_cache(ap, r, e);
	return r;
}

/* Notes what the next boot starts if its run is refused. */
static void keep_good(struct apply *ap)
{
	struct err late;

	if (ap->live_fd >= 0 && last_good_keep(&ap->session, &late) < 0)
		log_warning("what runs here was not noted: %s", late.msg);
}

/* Returns whether the run was refused, so that the node may go on as before. Returns false if a task failed for data
 * on a disk or for wrong bytes, whatever the other causes are. */
static bool is_refused(const struct apply *ap, const struct err *e)
{
	const struct run_report *rep = ap->status.rep;

	for (size_t i = 0; rep && i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		if (o->state == RUN_FAILED &&
		    (o->error->kind == ERR_REFUSED || o->error->kind == ERR_INTEGRITY))
			return false;
	}
	return round_is_refused(rep && !ap->refused, e);
}

/* If our unit was refused a change, starts what the last good run had started. Returns whether the node goes on as
 * before. A run by hand starts nothing: a person decides. */
static bool go_on_as_before(struct apply *ap, struct err *e)
{
	const struct last_good_req req = {
		.patience_ns = ap->patience_ns,
		.deadline_ns = ap->end.deadline_ns,
		.no_metadata = ap->cli->no_metadata,
		.on_wait = apply_on_wait,
		.watch = apply_on_event,
		.on_window = apply_on_window,
		.arg = ap,
	};
	const struct run_report *of_run = ap->refused ? NULL : ap->status.rep;
	bool goes_on;

	if (!str_eq(ap->status.unit, boot_unit) || !is_refused(ap, e))
		return false;
	ap->progress = progress_new(NULL, ap->waits);
	goes_on = last_good_start(&ap->session, &req, e);
	progress_free(ap->progress);
	ap->progress = NULL;
	waits_over(ap->waits);
	/* the status reports what the refused run itself had changed before it failed */
	if (of_run)
		ap->status.rep = of_run;
	return goes_on;
}

/* Returns the node's state after a run that ended well. A ready node stays ready if the documents could not be read
 * only because of the shell's settings. */
static const char *state_of_success(const struct apply *ap)
{
	const bool was_ready = str_eq(tree_says(ap->status.node, "state"), "ready");

	if (ap->session.boot.guess_why || ap->session.boot.lacks_store)
		return "degraded";
	return bootstrap_is_current(&ap->session.boot) || (was_ready && ap->cli->shell_differs)
		       ? "ready"
		       : "degraded";
}

/* Does one whole run with its status; *ret_next is the round that follows. */
static int converge_once(struct apply *ap, enum round *ret_next, struct err *e)
{
	const char *state;
	bool goes_on;
	int r;

	apply_begin_status(ap);
	ap->patience_ns = store_patience(ap);
	r = converge(ap, e);
	if (r < 0 && ap->cli->offline)
		offline_blame(e);
	goes_on = r < 0 && go_on_as_before(ap, e);
	if (r == 0)
		keep_good(ap);
	ap->end.now_ns = dur_now();
	*ret_next = r < 0 ? round_after(&ap->end, e) : ROUND_NONE;
	state = r >= 0      ? state_of_success(ap)
		: goes_on   ? "degraded"
		: *ret_next ? "retrying"
			    : "failed";
	apply_end_status(ap, state, *ret_next, r < 0 ? e : NULL);
	session_close(&ap->session);
	return r;
}

static int take_lock(struct apply *ap, bool wait, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct wait w = {
		.what = "lock", .reason = e->msg, .why = e, .since_ns = dur_now(), .expected = true
	};
	int r;

	for (;;) {
		r = lock_take(ap->live_fd, session_own_unit(a), &ap->lock_fd, e);
		if (r != -EWOULDBLOCK || !wait ||
		    (ap->end.deadline_ns && dur_now() + DUR_SEC >= ap->end.deadline_ns))
			break;
		w.next_ns = dur_now() + LOCK_POLL_MS * DUR_MS;
		waits_tell(ap->waits, &w);
		wait_until(w.next_ns);
	}
	waits_over(ap->waits);
	return r;
}

/* Gives up the lock between two runs, so that a person's run may have the machine meanwhile. */
static int sleep_unlocked(struct apply *ap, const struct err *why, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *pause = dur_human(a, ap->end.pause_ns);
	const bool locked = ap->lock_fd >= 0;

	log_notice("next run in %s", pause);
	notify_status("failed, next run in %s: %s", pause, why->msg);
	/* a boot waits only for the first run */
	notify_ready();
	cleanup_closep(&ap->lock_fd);
	if (pause_sleep(ap->live_fd, ap->end.pause_ns))
		log_notice("another run succeeded: next run now");
	ap->end.pause_ns = pause_after(ap->end.pause_ns);
	return locked ? take_lock(ap, true, e) : 0;
}

/* Runs until one succeeds, the retries are used up, or no retry can mend the error. */
static int converge_with_retries(struct apply *ap, struct err *e)
{
	for (;;) {
		enum round next;
		struct err late;
		int r = converge_once(ap, &next, e);

		ap->end.round = next;
		if (next == ROUND_NONE)
			return r;
		if (next == ROUND_ANEW)
			log_warning("%s; installing anew", e->msg);
		if (next != ROUND_FIRST)
			continue;
		ap->end.retries -= ap->end.retries > 0;
		report_error(e);
		r = sleep_unlocked(ap, e, &late);
		if (r < 0) {
			*e = late;
			return r;
		}
	}
}

/* A number under which documents are kept is not used again, even if its run is forgotten. */
static int64_t next_number(int root_fd)
{
	const int64_t run = history_last(root_fd), kept = kept_last(root_fd);

	return 1 + (run > kept ? run : kept);
}

/* Returns the instance that an earlier process noted; "": none. */
static const char *identity_of(struct arena *a, int root_fd)
{
	autobuf struct buf id = BUF_INIT(ID_MAX);

	return record_read(root_fd, OWN_IDENTITY, &id) ? str_trim(a, buf_str(&id)) : "";
}

static int apply(struct cli *cli, const char *own_unit, const struct saved_plan *plan,
		 struct err *e)
{
	struct apply ap = {
		.cli = cli,
		.plan = plan,
		.session = { .root_fd = -1 },
		.live_fd = -1,
		.lock_fd = -1,
		.end = { .round = ROUND_FIRST,
			 .retries = cli->retries,
			 .pause_ns = PAUSE_FIRST_NS },
		.begun_ns = dur_now(),
		.status = { .version = cli_version(),
			    .unit = own_unit,
			    .user = own_unit ? NULL : getenv("SUDO_USER"),
			    .started_wall_ns = dur_wall() },
	};
	autoarena struct arena *a = arena_new_empty();
	autoclose int root = -1;
	struct err late;
	int r;

	ending_tell(cmd_ending_made, cli);
	ap.waits = waits_new();
	/* a person does not want to wait for a day; our own unit may wait so long */
	if (!str_eq(own_unit, boot_unit))
		ap.volumes_ns = VOLUMES_BY_HAND_NS;

	if (cli->deadline_ns)
		ap.end.deadline_ns = dur_now() + cli->deadline_ns;
	extract_watch_until(ap.end.deadline_ns);
	if (!cli->retries_set)
		ap.end.retries = str_eq(own_unit, boot_unit) ? -1 : 0;
	if (!cli->root) {
		r = io_open_root("/", &root, e);
		ap.live_fd = root;
		if (r == 0)
			r = take_lock(&ap, isatty(STDERR_FILENO), e);
		if (r < 0) {
			waits_free(ap.waits);
			return r;
		}
		ending_tell(cmd_ending_run, cli);
		ap.status.number = next_number(root);
		ap.identity = identity_of(a, root);
		ap.kubelet_ran = io_is_there(root, KUBELET_LOGS);
		apply_tell_beginning(&ap);
		if (names_note(root, &late) < 0)
			log_warning("the name of this host was not noted: %s", late.msg);
	}
	r = converge_with_retries(&ap, e);
	waits_free(ap.waits);
	arena_free(ap.before);
	arena_free(ap.word);
	join_keys_free(ap.keys);
	cleanup_closep(&ap.lock_fd);
	if (r < 0) {
		notify_status("failed: %s", e->msg);
		return r;
	}
	notify_status("success: %zu changed in %s", ap.changed,
		      dur_human(a, dur_wall() - ap.status.started_wall_ns));
	show_line(stdout, "success");
	(void)fflush(stdout);
	return 0;
}

int cmd_repair(struct cli *cli, struct err *e)
{
	cli->verify = true;
	return cmd_apply(cli, e);
}

/* Logs to the journal for later questions; a person reads the lines on stderr too. */
static int copy_to_journal(enum log_level level, const char *message,
			   const struct log_field *fields, size_t n)
{
	(void)!journal_write(level, message, fields, n);
	return -1;
}

int cmd_apply(struct cli *cli, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const bool dry = cli->dryrun || str_eq(cli->target, "dryrun");
	struct saved_plan plan = { 0 };
	struct strv ignored = { 0 };
	int r = check_ignored(cli, false, &ignored, e);

	if (r < 0)
		return r;
	if (cli->rootfs && !str_eq(cli->rootfs, "/"))
		return err_fail(e, ERR_USAGE, 0, "--rootfs=%s: only / is accepted; see --root",
				cli->rootfs);
	if (cli->facts && !cli->root)
		return err_fail(e, ERR_USAGE, 0, "--facts needs --root: a running host is probed");
	if (geteuid() != 0 && !dry && !strv_has(&ignored, "root"))
		return err_fail(e, ERR_USAGE, EPERM, "must be root to %s",
				cli->root ? "make files of an image: they belong to its root"
					  : "change this machine");
	if (cli->install_unit && cli->conf && location_is_kept(cli->conf))
		return err_fail(e, ERR_USAGE, 0,
				"%s is for one run: not with --install-systemd-unit", cli->conf);
	if (cli->plan_file && (dry || cli->install_unit))
		return err_fail(e, ERR_USAGE, 0, "--plan is for what is done now: not with %s",
				dry ? "--dryrun" : "--install-systemd-unit");
	r = cli->plan_file ? saved_plan_read(a, cli->plan_file, cli->deadline_ns, &plan, e) : 0;
	if (r < 0)
		return r;
	cli->verify |= plan.verify;
	cli->prune |= plan.prune;
	show_line(stdout, "nodeup version %s", cli_version());
	(void)fflush(stdout);
	if (dry) {
		r = cmd_plan(cli, e);
		return r < 0 ? r : 0;
	}
	if (journal_is_stderr())
		log_set_writer(journal_write);
	else if (!cli->root)
		log_set_writer(copy_to_journal);
	if (cli->install_unit)
		return service_install(cli, e);
	r = apply(cli, session_own_unit(a), &plan, e);
	/* also if the run failed for good: systemd counts the unit as failed once this process has ended */
	notify_ready();
	return r;
}
