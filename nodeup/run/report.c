#include "nodeup/run/report.h"

#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/json.h"
#include "nodeup/base/log.h"
#include "nodeup/run/window.h"
#include "nodeup/run/causes.h"
#include "nodeup/run/explain.h"
#include "nodeup/run/fields.h"
#include "nodeup/run/interrupted.h"
#include "nodeup/run/progress.h"
#include "nodeup/run/standing.h"

#define PATIENCE_NS (10 * DUR_SEC)

void report_error(const struct err *e)
{
	const struct explanation *x = explain_status(err_exit_status(e));
	const struct log_field fields[] = {
		{ LOG_MESSAGE_ID, x ? x->id : "" },
		{ "KIND", x ? x->name : "" },
	};

	log_line(LOG_ERROR, fields, x ? ARRAY_LEN(fields) : 0, "%s %s (%d)",
		 e->kind == ERR_REFUSED ? "REFUSED" : "FAILED", e->msg, err_exit_status(e));
	for (size_t i = 0; i < e->nnotes; i++)
		log_error("  %-9s %s", e->notes[i].label, e->notes[i].text);
}

static void report_retry(struct arena *a, const struct run_outcome *o, const char *title)
{
	struct log_field fields[FIELDS_MAX];
	const size_t n = fields_of(a, o, fields);

	log_line(LOG_WARNING, fields, n, "WAITING %s: attempt %u failed, next in %s: %s", title,
		 o->attempts, dur_human(a, o->run.next_ns - dur_now()), o->error->msg);
	for (size_t i = 0; i < o->error->nnotes; i++)
		log_line(LOG_WARNING, fields, n, "  %-9s %s", o->error->notes[i].label,
			 o->error->notes[i].text);
}

const char *report_why(const struct run_outcome *o)
{
	return o->state == RUN_EQUAL && !*o->diff.why && o->diff.how ? o->diff.how : o->diff.why;
}

/* Words a failed task: in full, or by naming the task that was worded already. */
static const char *failure(struct arena *a, const struct run_report *rep,
			   const struct run_outcome *o)
{
	const struct run_outcome *first = causes_first(rep, o);

	if (o->because)
		return arena_printf(a, "%s failed", task_title(a, o->because));
	if (first != o)
		return arena_printf(a, "%s, as %s", causes_name(o->error),
				    task_title(a, first->task));
	return o->error->msg;
}

/* Returns whether the run needs a task that could not be done because of the failed task. */
static bool is_missed(const struct run_report *rep, const struct run_outcome *o)
{
	for (size_t i = 0; i < rep->n; i++)
		if (rep->outcomes[i].because == o->task && !causes_may_fail(&rep->outcomes[i]))
			return true;
	return false;
}

/* Returns why a run may end well in spite of the task's failure. */
static const char *excuse(const struct run_report *rep, const struct run_outcome *o)
{
	if (!causes_may_fail(o) || is_missed(rep, o))
		return "";
	return o->diff.spare ? " (not needed now)" : " (perhaps not needed)";
}

void report_outcome(const struct run_report *rep, const struct run_outcome *o, struct waits *waits)
{
	autoarena struct arena *a = arena_new_empty();
	const char *title = task_title(a, o->task);
	struct log_field fields[FIELDS_MAX];
	const size_t n = fields_of(a, o, fields);

	switch (o->state) {
	case RUN_CHANGED:
		log_line(LOG_INFO, fields, n, "changed %s: %s (%s%s%s)%s", title, o->diff.why,
			 dur_human(a, o->end_ns - o->start_ns), o->run.remark[0] ? "; " : "",
			 o->run.remark, o->run.detached ? "; starts when we end" : "");
		break;
	case RUN_FAILED:
		log_line(causes_may_fail(o) ? LOG_WARNING : LOG_ERROR, fields, n,
			 "failed %s%s: %s%s%s", title, excuse(rep, o),
			 o->diff.lost ? o->diff.why : "", o->diff.lost ? "; " : "",
			 failure(a, rep, o));
		break;
	case RUN_SKIPPED:
		log_line(LOG_WARNING, fields, n, "skipped %s: %s failed", title,
			 task_title(a, o->because));
		break;
	case RUN_EQUAL:
		if (o->diff.left) {
			log_line(LOG_WARNING, fields, n, "%s: %s", title, o->diff.why);
			break;
		}
		log_line(LOG_DEBUG, fields, n, "right %s", title);
		break;
	case RUN_RETRYING:
		/* a cause that hits several tasks is reported in full with the first of them */
		if (*o->error->cause ? waits_due(waits, o->error->cause, "", dur_now())
				     : waits_due(waits, title, o->error->msg, dur_now()))
			report_retry(a, o, title);
		break;
	default:
		log_line(LOG_DEBUG, fields, n, "%s %s", run_state_name(o->state), title);
	}
}

/* A task that works, or waits. */
struct lasting {
	bool works;
	const char *reason;
	int64_t since_ns;
};

static int64_t lasts_since(const struct run_outcome *o)
{
	if (o->state == RUN_WORKING)
		return o->work_ns;
	return o->run.since_ns ? o->run.since_ns : o->start_ns;
}

/* Returns whether the task has worked or waited long enough to be reported. */
static bool lasts(const struct run_outcome *o, int64_t now, struct lasting *ret)
{
	const bool works = o->state == RUN_WORKING;

	if ((!works && o->state != RUN_WAITING) || progress_tells(o->task))
		return false;
	*ret = (struct lasting){
		.works = works,
		/* nothing else of the outcome may be read while a worker writes it */
		.reason = works ? "" : o->run.waiting,
		.since_ns = lasts_since(o),
	};
	return now - ret->since_ns >= PATIENCE_NS;
}

/* Writes one line for all tasks of a kind in the same state. */
static void tell_together(const struct run_report *rep, const struct run_outcome *first,
			  const struct lasting *l, int64_t now)
{
	autoarena struct arena *a = arena_new_empty();
	const char *title = task_title(a, first->task);
	struct log_field fields[FIELDS_MAX];
	int64_t since = l->since_ns;
	size_t others = 0;

	for (const struct run_outcome *o = first + 1; o < rep->outcomes + rep->n; o++) {
		struct lasting other;

		if (o->task->kind != first->task->kind || !lasts(o, now, &other) ||
		    other.works != l->works || !waits_is_same(other.reason, l->reason))
			continue;
		others++;
		since = other.since_ns < since ? other.since_ns : since;
	}
	if (others)
		title = arena_printf(a, "%s and %zu more", title, others);
	log_line(LOG_NOTICE, fields, fields_of(a, first, fields), "%s %s: for %s%s%s",
		 l->works ? "WORKING" : "WAITING", title, dur_human(a, now - since),
		 l->works ? "" : ": ", l->reason);
}

void report_waiting(const struct run_report *rep, struct waits *waits)
{
	const int64_t now = dur_now();

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		struct lasting l;

		/* waits_due makes one line for the kind: the first task gets it, the others are not due then */
		if (lasts(o, now, &l) && waits_due(waits, o->task->ops->kind, l.reason, now))
			tell_together(rep, o, &l, now);
	}
}

static size_t count_settled(const struct run_report *rep)
{
	size_t n = 0;

	for (int s = 0; s < RUN_STATE_MAX; s++)
		if (run_is_settled((enum run_state)s))
			n += rep->counts[s];
	return n;
}

/* Returns the first wait of the run; NULL: none. */
static const struct run_outcome *first_wait(const struct run_report *rep)
{
	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		if ((o->state == RUN_WAITING && o->run.waiting[0]) || o->state == RUN_RETRYING)
			return o;
	}
	return NULL;
}

char *report_progress(struct arena *a, const struct run_report *rep)
{
	char *text = arena_printf(a, "%zu of %zu tasks", count_settled(rep), rep->n);
	const struct run_outcome *o = first_wait(rep);

	if (!o)
		return text;
	if (o->state == RUN_RETRYING)
		return arena_printf(a, "%s; retrying %s: %s", text, task_title(a, o->task),
				    o->error->msg);
	return arena_printf(a, "%s; waiting for %s: %s", text, task_title(a, o->task),
			    o->run.waiting);
}

char *report_summary(struct arena *a, const struct run_report *rep)
{
	static const enum run_state shown[] = { RUN_CHANGED, RUN_EQUAL, RUN_UNNEEDED, RUN_FAILED,
						RUN_SKIPPED };
	char *text = arena_printf(a, "%zu tasks", rep->n);
	const char *sep = ":";

	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		size_t n = rep->counts[shown[i]];

		if (n == 0)
			continue;
		text = arena_printf(a, "%s%s %zu %s", text, sep, n, run_state_name(shown[i]));
		sep = ",";
	}
	return arena_printf(a, "%s, in %s", text, dur_human(a, rep->end_ns - rep->start_ns));
}

static size_t count_ok(const struct run_report *rep)
{
	return rep->counts[RUN_EQUAL] + rep->counts[RUN_UNNEEDED];
}

/* Counts failed tasks, including those that were held up by others. */
static size_t count_failed(const struct run_report *rep)
{
	return rep->n - count_ok(rep) - rep->counts[RUN_CHANGED];
}

static size_t count_excused(const struct run_report *rep)
{
	size_t n = 0;

	for (size_t i = 0; i < rep->n; i++)
		n += rep->outcomes[i].state == RUN_FAILED && *excuse(rep, &rep->outcomes[i]);
	return n;
}

static const char *reason(struct arena *a, const struct run_report *rep,
			  const struct run_outcome *o)
{
	const char *text = o->state == RUN_CHANGED ? o->diff.why : failure(a, rep, o);

	return *text ? text : "not done";
}

struct strv report_recap(struct arena *a, const struct run_report *rep, const struct err *late)
{
	const bool is_late = late && count_failed(rep) == count_excused(rep);
	struct strv lines = { 0 };

	strv_addf(a, &lines, "ok %zu / changed %zu / failed %zu", count_ok(rep),
		  rep->counts[RUN_CHANGED], count_failed(rep) + is_late);
	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];

		if (o->state != RUN_EQUAL && o->state != RUN_UNNEEDED)
			strv_addf(a, &lines, "%s %s%s: %s",
				  o->state == RUN_CHANGED ? "changed" : "failed",
				  task_title(a, o->task),
				  o->state == RUN_FAILED ? excuse(rep, o) : "", reason(a, rep, o));
	}
	if (is_late)
		strv_addf(a, &lines, "failed %s", late->msg);
	return lines;
}

static struct tree *outcome_tree(struct arena *a, const struct run_report *rep,
				 const struct run_outcome *o)
{
	struct tree *t = tree_map(a);

	tree_set_word(a, t, "kind", o->task->ops->kind);
	tree_set_word(a, t, "name", o->task->name);
	tree_set_word(a, t, "origin", o->task->origin);
	tree_set_word(a, t, "state", run_state_name(o->state));
	tree_set_true(a, t, "staysUp", window_is_for(o->task));
	if (o->state == RUN_WORKING)
		return t; /* a worker is writing the other fields */
	tree_set_word(a, t, "why", report_why(o));
	tree_set_true(a, t, "left", o->diff.left);
	tree_set_word(a, t, "waiting", o->run.waiting);
	tree_set_word(a, t, "error", o->error->msg);
	if (o->because)
		tree_set_word(a, t, "because", task_title(a, o->because));
	if (o->attempts)
		tree_set_int(a, t, "attempts", o->attempts);
	if (o->start_ns) {
		tree_set_int(a, t, "startMs", (o->start_ns - rep->start_ns) / DUR_MS);
		if (o->end_ns)
			tree_set_int(a, t, "endMs", (o->end_ns - rep->start_ns) / DUR_MS);
	}
	return t;
}

struct tree *report_tree(struct arena *a, const struct run_report *rep)
{
	struct tree *tasks = tree_seq(a);

	for (size_t i = 0; i < rep->n; i++)
		(void)tree_add(a, tasks, outcome_tree(a, rep, &rep->outcomes[i]));
	return tasks;
}

static struct tree *error_tree(struct arena *a, const struct err *e)
{
	struct tree *t = tree_map(a), *notes = tree_seq(a);

	tree_set_word(a, t, "kind", err_kind_name(e->kind));
	tree_set_int(a, t, "exitStatus", err_exit_status(e));
	tree_set_true(a, t, "noRetryMends", err_stays(e));
	tree_set_word(a, t, "message", e->msg);
	for (size_t i = 0; i < e->nnotes; i++)
		(void)tree_add(a, notes,
			       tree_string(a, arena_printf(a, "%s: %s", e->notes[i].label,
							   e->notes[i].text)));
	return tree_set(a, t, "notes", notes);
}

static struct tree *room_tree(struct arena *a, const struct err_room *room)
{
	struct tree *t = tree_map(a);

	tree_set_int(a, t, "wantedBytes", (int64_t)room->wanted);
	tree_set_int(a, t, "freeBytes", (int64_t)room->free);
	tree_set_int(a, t, "sizeBytes", (int64_t)room->size);
	return t;
}

static struct tree *titles_tree(struct arena *a, const struct run_outcome *const *outcomes,
				size_t n)
{
	struct tree *t = tree_seq(a);

	for (size_t i = 0; i < n; i++)
		(void)tree_add(a, t, tree_string(a, task_title(a, outcomes[i]->task)));
	return t;
}

struct tree *report_causes(struct arena *a, const struct run_report *rep)
{
	const struct causes causes = causes_find(a, rep);
	struct tree *list = tree_seq(a);

	for (size_t i = 0; i < causes.n; i++) {
		const struct cause *c = &causes.v[i];
		struct tree *t = tree_map(a);

		tree_set_word(a, t, "cause", c->name);
		tree_set_word(a, t, "kind", err_kind_name(c->first->error->kind));
		tree_set_int(a, t, "exitStatus", err_exit_status(c->first->error));
		tree_set_true(a, t, "noRetryMends", err_stays(c->first->error));
		tree_set_word(a, t, "message", c->first->error->msg);
		tree_set_int(a, t, "failed", (int64_t)c->n_hit);
		(void)tree_set(a, t, "tasks", titles_tree(a, c->hit, c->n_hit));
		(void)tree_set(a, t, "held", titles_tree(a, c->held, c->n_held));
		if (c->room.size)
			(void)tree_set(a, t, "room", room_tree(a, &c->room));
		(void)tree_add(a, list, t);
	}
	return list;
}

static struct tree *counts_tree(struct arena *a, const struct run_report *rep)
{
	struct tree *t = tree_map(a);

	for (int s = 0; s < RUN_STATE_MAX; s++)
		tree_set_int(a, t, run_state_name((enum run_state)s), (int64_t)rep->counts[s]);
	return t;
}

/* Adds since when the run waits, and when it tries again, in milliseconds since 1970. */
static void add_wait(struct arena *a, struct tree *t, const struct status *st)
{
	const struct run_outcome *o = st->rep ? first_wait(st->rep) : NULL;
	int64_t since = st->since_ns, next = st->next_ns;
	const int64_t offset = dur_wall() - dur_now();

	if (!st->waiting)
		return;
	if (o) {
		since = o->run.since_ns ? o->run.since_ns : o->start_ns;
		next = o->state == RUN_RETRYING ? o->run.next_ns
						: progress_next_try(o->task, st->fetcher);
	}
	if (since)
		tree_set_int(a, t, "waitingSinceUnixMs", (since + offset) / DUR_MS);
	if (next)
		tree_set_int(a, t, "nextTryUnixMs", (next + offset) / DUR_MS);
}

static void add_recap(struct arena *a, struct tree *t, const struct status *st)
{
	const struct strv lines = report_recap(a, st->rep, st->error);

	(void)tree_set(a, t, "recap", tree_of_strv(a, &lines));
}

int status_write(int root_fd, const struct status *st, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(8 << 20);
	const struct status_documents *d = &st->documents;
	struct tree *t = tree_map(a);
	int r;

	tree_set_int(a, t, "schema", 1);
	tree_set_word(a, t, "state", st->state);
	tree_set_word(a, t, "version", st->version);
	tree_set_word(a, t, "conf", d->conf);
	if (d->host)
		(void)tree_set(a, t, "host", d->host);
	tree_set_word(a, t, "kops", d->kops);
	tree_set_word(a, t, "kopsKnownBy", d->known_by);
	tree_set_word(a, t, "unit", st->unit);
	tree_set_word(a, t, "user", st->user);
	tree_set_word(a, t, "metrics", st->metrics);
	tree_set_word(a, t, "waiting", st->waiting);
	add_wait(a, t, st);
	interrupted_identify(a, root_fd, t);
	if (st->number)
		tree_set_int(a, t, "number", st->number);
	tree_set_int(a, t, "attempt", st->attempt);
	tree_set_int(a, t, "startedUnix", st->started_wall_ns / DUR_SEC);
	tree_set_int(a, t, "elapsedMs", (dur_wall() - st->started_wall_ns) / DUR_MS);
	if (st->error)
		(void)tree_set(a, t, "error", error_tree(a, st->error));
	tree_set_true(a, t, "mayNotChange", st->may_not_change);
	if (st->node && (st->error || !standing_is_good(t)))
		(void)tree_set(a, t, "node", (struct tree *)st->node);
	tree_set_word(a, t, "keptWhy", d->kept_why);
	tree_set_word(a, t, "guessWhy", d->guess_why);
	tree_set_word(a, t, "lacksStore", d->lacks_store);
	if (d->accepted && d->accepted->n)
		(void)tree_set(a, t, "acceptedKeys", tree_of_strv(a, d->accepted));
	if (d->tolerated && d->tolerated->n)
		(void)tree_set(a, t, "refusedValues", tree_of_strv(a, d->tolerated));
	if (d->expiring) {
		tree_set_word(a, t, "expiring", d->expiring);
		tree_set_int(a, t, "expiresUnix", d->expiry);
		tree_set_true(a, t, "renews", d->renews);
	}
	if (st->next_run_wall_ns)
		tree_set_int(a, t, "nextRunUnixMs", st->next_run_wall_ns / DUR_MS);
	if (st->rep) {
		(void)tree_set(a, t, "counts", counts_tree(a, st->rep));
		if (st->ended)
			add_recap(a, t, st);
		(void)tree_set(a, t, "causes", report_causes(a, st->rep));
		(void)tree_set(a, t, "assets",
			       progress_tree(a, st->rep, st->fetcher, st->next_run_wall_ns));
		(void)tree_set(a, t, "tasks", report_tree(a, st->rep));
	} else if (st->assets) {
		(void)tree_set(a, t, "assets", st->assets);
	}
	r = json_render(t, true, &text, e);
	if (r < 0)
		return r;
	return interrupted_put(root_fd, &text, e);
}
