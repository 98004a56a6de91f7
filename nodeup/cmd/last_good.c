#include "nodeup/cmd/last_good.h"

#include <string.h>
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/plan/tasklist.h"
#include "nodeup/run/history.h"
#include "nodeup/run/notice.h"
#include "nodeup/run/report.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"

/* KEPT_BY_OLDER: the runs that an older nodeup kept. */
enum { RECORD_MAX = 1 << 20, ID_MAX = 256, KEPT_BY_OLDER = 20 };

/* stands in place of the instance's id if no run knew it */
static const char nobody[] = "-";

struct good {
	const char *instance; /* the instance's id, or `nobody` */
	struct strv units;
};

int last_good_keep(const struct session *s, struct err *e)
{
	const char *id = s->boot.facts.instance_id;
	struct strv lines = { 0 };

	strv_add(s->arena, &lines, id ? id : nobody);
	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];

		if (t->kind == TASK_UNIT && t->ops == &task_unit_ops && !t->unit.at_boot)
			strv_add(s->arena, &lines, t->name);
	}
	/* an empty last element, so that the last line ends in a newline too */
	strv_add(s->arena, &lines, "");
	return record_keep(s->root_fd, OWN_LAST_GOOD, 0644, strv_join(s->arena, &lines, "\n"), e);
}

static bool read_record(struct arena *a, int root_fd, struct good *ret)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct strv lines;

	if (!record_read(root_fd, OWN_LAST_GOOD, &text))
		return false;
	lines = strv_split(a, buf_str(&text), '\n');
	if (!lines.n)
		return false;
	*ret = (struct good){ .instance = lines.v[0] };
	for (size_t i = 1; i < lines.n; i++)
		if (*lines.v[i])
			strv_add(a, &ret->units, lines.v[i]);
	return true;
}

static bool has_ended_well(const struct tree *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		const char *state = tree_text(runs->items[i].value, "state");

		if (str_eq(state, "ready") || str_eq(state, "degraded"))
			return true;
	}
	return false;
}

/* Returns whether the newest recorded run that changed the unit started it and did not stop it. */
static bool was_started(struct arena *a, const struct tree *runs, const char *unit)
{
	const char *task = arena_printf(a, "unit %s", unit);

	for (size_t i = 0; i < runs->n; i++) {
		const struct tree *changed = tree_get(runs->items[i].value, "changed");

		for (size_t k = 0; changed && k < changed->n; k++) {
			const struct tree *t = changed->items[k].value;

			if (str_eq(tree_text(t, "task"), task))
				return !strstr(tree_says(t, "why"), TASK_DISABLED);
		}
	}
	/* a forgotten run may have started the unit */
	return runs->n >= KEPT_BY_OLDER;
}

/* Returns whether other units start this one. A slice is made for the units in it, and a timer, path or socket
 * starts its service. */
static bool is_started_by_another(struct arena *a, const struct strv *names, const char *name)
{
	static const char *const starters[] = { "timer", "path", "socket" };
	const char *type = strrchr(name, '.');
	bool is_waited_for = false;

	if (!type || str_eq(type, ".slice"))
		return true;
	for (size_t i = 0; str_eq(type, ".service") && i < ARRAY_LEN(starters); i++)
		is_waited_for |= strv_has(names, arena_printf(a, "%.*s.%s", (int)(type - name),
							      name, starters[i]));
	return is_waited_for;
}

/* Returns whether the unit's file exists, and only a run of ours starts the unit. A unit with [Install] may be
 * enabled, or disabled on purpose, so it counts only if a run started it. */
static bool is_started_by_us(struct arena *a, int root_fd, const struct tree *runs,
			     const struct strv *names, const char *name)
{
	const char *text =
		io_text(a, root_fd, arena_printf(a, "%s%s", plan_unit_dir, name), RECORD_MAX);

	return text && !is_started_by_another(a, names, name) &&
	       (!strstr(text, "[Install]") || was_started(a, runs, name));
}

bool last_good_is_of(struct arena *a, int root_fd, const char *instance)
{
	struct good good;

	return read_record(a, root_fd, &good) &&
	       (str_eq(good.instance, instance) || str_eq(good.instance, nobody));
}

/* Finds the units of an earlier version of nodeup, which kept no such record. Reads the state, which lists the files
 * that were written or found right, and the records of runs. A version that knew the instance noted it, and forgot
 * the runs of other instances. */
static bool find_out(struct arena *a, int root_fd, struct good *ret)
{
	/* origins of units that come from the documents themselves, and start by themselves */
	static const char *const others[] = { "bootstrap", "file-assets", NULL };
	autobuf struct buf id = BUF_INIT(ID_MAX);
	struct state *state;
	struct err ignored;
	struct tree *runs;
	struct strv names;

	if (history_list(a, root_fd, &runs, &ignored) < 0 || !has_ended_well(runs) ||
	    state_open(root_fd, &state, &ignored) < 0)
		return false;
	names = state_names(state, a, plan_unit_dir, others);
	state_close(state);
	*ret = (struct good){ .instance = nobody };
	if (record_read(root_fd, OWN_IDENTITY, &id))
		ret->instance = str_trim(a, buf_str(&id));
	for (size_t i = 0; i < names.n; i++)
		if (is_started_by_us(a, root_fd, runs, &names, names.v[i]))
			strv_add(a, &ret->units, names.v[i]);
	return true;
}

/* Gives the instance's id. Asks the metadata service if the session ended before it could ask. */
static int ask_instance(struct session *s, const struct last_good_req *req, int64_t patience_ns,
			const char **ret, struct err *e)
{
	const struct http_opts plain = { .root_fd = s->host_fd };
	struct bootstrap_req ask = {
		.root_fd = s->root_fd,
		.patience = { patience_ns, req->on_wait, req->arg },
	};
	int r = 0;

	if (s->boot.facts.instance_id) {
		*ret = s->boot.facts.instance_id;
		return 0;
	}
	if (!s->http && !req->no_metadata)
		r = http_new(&plain, &s->http, e);
	if (r < 0)
		return r;
	ask.http = req->no_metadata ? NULL : s->http;
	return bootstrap_instance(s->arena, &ask, ret, e);
}

/* Returns whether the records are of this instance. If neither the record nor this run knows an instance, returns
 * true. */
static bool is_of_this_instance(struct session *s, const struct last_good_req *req,
				const struct good *good, struct err *e)
{
	const bool is_known = !str_eq(good->instance, nobody);
	const char *id = nobody;
	struct err why;

	if (ask_instance(s, req, is_known ? req->patience_ns : 0, &id, &why) < 0 && is_known) {
		err_note(e, "ruled out", "to start what ran before: %s", why.msg);
		return false;
	}
	if (str_eq(id, good->instance))
		return true;
	err_note(e, "ruled out", "to start what ran before: that was on %s, and this is %s",
		 is_known ? good->instance : "an instance that was not known", id);
	return false;
}

static const struct task *const *make_tasks(struct arena *a, const struct good *good)
{
	const struct task **tasks = arena_alloc(a, (good->units.n + 1) * sizeof(*tasks));

	for (size_t i = 0; i < good->units.n; i++) {
		struct task *t = arena_new(a, struct task);

		*t = (struct task){
			.kind = TASK_UNIT,
			.ops = &task_unit_ops,
			.name = good->units.v[i],
			.origin = "last-good",
			.index = i,
		};
		t->unit.as_is = true;
		tasks[i] = t;
	}
	return tasks;
}

static int start_units(struct session *s, const struct last_good_req *req, const struct good *good,
		       struct run_report *rep, struct err *e)
{
	struct run_req run = session_run(s);
	struct task_ctx ctx = {
		.root_fd = s->root_fd,
		.own_unit = s->own_unit,
		.deadline_ns = req->deadline_ns,
	};
	int r = s->ctx.bus ? 0 : bus_open(&s->ctx.bus, e);

	if (r == 0 && !s->workers)
		r = workers_new(&s->workers, e);
	if (r < 0)
		return r;
	ctx.bus = s->ctx.bus;
	run.tasks = make_tasks(s->arena, good);
	run.n = good->units.n;
	run.ctx = &ctx;
	run.workers = s->workers;
	run.deadline_ns = req->deadline_ns;
	run.watch = req->watch;
	run.watch_arg = req->arg;
	r = run_execute(s->arena, &run, rep, e);
	return r < 0 ? r : window_watch(&run, rep, req->on_window, req->arg, e);
}

/* Notes the started units, whether all came up or not. */
static void note_started(struct arena *a, const struct run_report *rep, struct err *e)
{
	struct strv names = { 0 };

	/* keeps room for the most important notes */
	if (e->nnotes > ERR_NOTES - 2)
		e->nnotes = ERR_NOTES - 2;
	for (size_t i = 0; i < rep->n; i++)
		if (rep->outcomes[i].state == RUN_CHANGED)
			strv_add(a, &names, rep->outcomes[i].task->name);
	err_note(e, NOTICE_STARTED,
		 "%s: as the last run that ended well had it, with what is on the disk",
		 names.n ? strv_join(a, &names, ", ") : "nothing anew");
}

bool last_good_start(struct session *s, const struct last_good_req *req, struct err *e)
{
	struct run_report *rep;
	struct good good;
	struct err why;
	int r;

	if (s->root_fd < 0 ||
	    (!read_record(s->arena, s->root_fd, &good) && !find_out(s->arena, s->root_fd, &good)))
		return false;
	if (!is_of_this_instance(s, req, &good, e))
		return false;
	log_notice("this run is refused: what the last one that ended well had started is started, "
		   "as it is on the disk");
	rep = arena_new(s->arena, struct run_report);
	r = start_units(s, req, &good, rep, &why);
	note_started(s->arena, rep, e);
	if (r < 0) {
		report_error(&why);
		err_note(e, "not up", "%s", why.msg);
	}
	return r == 0;
}
