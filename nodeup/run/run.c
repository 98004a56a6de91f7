#include "nodeup/run/run.h"

#include <poll.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/ending.h"
#include "nodeup/base/print.h"
#include "nodeup/base/wait.h"
#include "nodeup/run/causes.h"
#include "nodeup/run/order.h"
#include "nodeup/tasks/started.h"

#define TICK_NS (250 * DUR_MS)
/* of shorter waits nobody asks what they were for */
#define LONG_NS (250 * DUR_MS)
/* how long a staged file waits for other files, to be flushed with them, while a task works: a package may take a
 * minute */
#define GROUP_NS (10 * DUR_MS)

/* a third result of do_step, besides TASK_DONE and TASK_WAIT: the task differs, but the gate is closed */
enum { STEP_HELD = 2 };

enum { ATTEMPTS_MAX = 3 };

#define STATE_ROW(state, ...) [state] = { __VA_ARGS__ },
static const struct {
	const char *name;
	bool settled, good;
} states[RUN_STATE_MAX] = { RUN_STATES(STATE_ROW) };

struct item {
	struct worker_job job; /* first member, since workers hand back a pointer to it */
	struct sched *sched;
	struct run_outcome *o;
	size_t nblock;    /* needs that are not done yet */
	size_t arrived;   /* number of settled tasks among those that serve this task */
	size_t seen;      /* the value of `arrived` when the task's last step ran */
	bool differs;     /* the check found a difference, and apply is under way */
	bool checked;     /* the scheduler has heard what check said */
	int turn;         /* turn of the task's check; 0: the check has no turn */
	bool dropped;     /* the run ended before a worker began the task */
	int stage;        /* run.stage at the time when the task last began to wait */
	int64_t wait_ns;  /* when it last began to wait */
	int64_t step_ns;  /* when a worker began its last step */
	int64_t done_ns;  /* when a worker ended the step that is looked at; 0: none did */
	bool starts;      /* that step is its first, or the first after other tasks or the gate */
	int64_t spent_ns; /* its own time before it waited for these */
	int r;            /* result of the last step */
	struct err *err;  /* the error, if r < 0 */
};

struct flush_item {
	struct worker_job job;
	struct flush *group;
};

struct sched {
	struct arena *arena; /* the outcomes' */
	const struct run_req *req;
	struct run_report *rep;
	struct item *items;
	size_t *order; /* the order in which tasks begin */
	bool *changed, *kept;
	size_t unsettled, working;
	bool open;        /* tasks may be applied; written only while no worker works */
	bool holds;       /* a task waits for the gate */
	bool ended;       /* the run has ended: workers read this, and begin nothing any more */
	struct err first; /* error of rep->first_failed */
	struct flush_item flush; /* the job that flushes a group */
	bool flushes;            /* a flush is under way */
};

bool run_is_settled(enum run_state s)
{
	return states[s].settled;
}

const char *run_state_name(enum run_state s)
{
	return states[s].name;
}

static void set_state(struct sched *s, struct run_outcome *o, enum run_state state)
{
	s->rep->counts[o->state]--;
	s->rep->counts[state]++;
	o->state = state;
}

static void tell(struct sched *s, const struct run_outcome *o)
{
	if (s->req->watch)
		s->req->watch(s->req->watch_arg, s->rep, o);
}

/* Checks, then applies or goes on applying; < 0 with *e. */
static int do_step(struct item *it, struct err *e)
{
	int r;
	const struct task *t = it->o->task;
	const struct task_ops *ops = t->ops;
	struct task_ctx *ctx = it->sched->req->ctx;

	ending_gate();
	if (!it->differs) {
		r = ops->check(t, ctx, &it->o->diff, e);
		if (r != TASK_DIFFERS)
			return r;
		/* apply may take long, and other tasks wait for steps that are finished already */
		if (it->job.brief && it->sched->open)
			workers_tell(it->sched->req->workers);
		r = it->o->diff.kept || it->o->diff.unsure ? 0 : started_doubt(t, ctx, e);
		if (r < 0)
			return r;
		it->o->run.unsure = it->o->diff.unsure;
		it->differs = true;
		if (!it->sched->open)
			return STEP_HELD;
	}
	/* cleared before the task looks at what it waits for, so that a later event wakes it again */
	__atomic_store_n(&it->o->run.woken, false, __ATOMIC_RELEASE);
	it->o->run.on_tasks = false;
	it->o->run.next_ns = 0;
	it->o->run.trouble = ERR_NONE;
	return ops->apply(t, ctx, &it->o->run, e);
}

/* Runs on a worker or on the scheduler's thread. A step may meet errors and still end well, and an error is large.
 * So the task's own error is written only if the step fails. */
static void step(struct item *it)
{
	struct err e;

	it->r = do_step(it, &e);
	if (it->r < 0)
		*it->err = e;
}

static void step_job(struct worker_job *job)
{
	struct item *it = (struct item *)job;

	it->step_ns = dur_now();
	it->dropped = __atomic_load_n(&it->sched->ended, __ATOMIC_RELAXED);
	if (!it->dropped)
		step(it);
	it->done_ns = dur_now();
}

static void settle(struct sched *s, struct item *it, enum run_state state);

static void unblock(struct sched *s, struct item *user)
{
	if (--user->nblock == 0 && user->o->state == RUN_BLOCKED_BY_NEEDS)
		set_state(s, user->o, RUN_READY);
}

/* Returns whether `user` can be done without `needed`. If `needed` is optional, only the tasks that are made from it
 * cannot. */
static bool goes_on_without(const struct run_outcome *needed, const struct task *user)
{
	const struct task *t = needed->task;
	const bool is_advice = t->advisory && !user->ops->says_all_is_well;

	return states[needed->state].good || user->always ||
	       (needed->state == RUN_FAILED && (is_advice || needed->diff.spare)) ||
	       (t->optional && !task_serves(t, user));
}

/* Notes the run's failure, once: the first task that the run needs, and that failed or held up another task. */
static void note_failed(struct sched *s, const struct task *failed)
{
	if (s->rep->first_failed != s->rep->n)
		return;
	s->rep->first_failed = failed->index;
	s->first = *s->items[failed->index].o->error;
}

static void release_users(struct sched *s, const struct run_outcome *o)
{
	const struct task *t = o->task;

	for (size_t i = 0; i < t->n_users; i++) {
		struct item *user = &s->items[t->users[i]->index];

		if (goes_on_without(o, user->o->task)) {
			user->o->after = t;
			unblock(s, user);
		} else if (!states[user->o->state].settled) {
			user->o->because = o->because ? o->because : t;
			settle(s, user, RUN_SKIPPED);
		}
	}
}

/* Notes how long a task has waited, and the reason of its longest wait. A wait that an event interrupts goes on. */
static void note_wait(const struct sched *s, struct item *it, int64_t now)
{
	struct run_outcome *o = it->o;
	const int64_t lasted = now - o->run.since_ns;

	if (o->state != RUN_WAITING || o->run.on_tasks)
		return;
	o->waited_ns += now - it->wait_ns;
	if (lasted < LONG_NS || lasted <= o->held_ns)
		return;
	o->held_ns = lasted;
	if (!str_eq(o->held_by, o->run.waiting))
		o->held_by = arena_str(s->arena, o->run.waiting);
}

/* Tells a task that one of those that serve it is settled. */
static void arrive(struct item *served, const struct task *t)
{
	served->arrived++;
	if (served->o->state == RUN_WAITING && served->o->run.on_tasks)
		served->o->after = t;
}

static void settle(struct sched *s, struct item *it, enum run_state state)
{
	const struct task *t = it->o->task;

	note_wait(s, it, dur_now());
	set_state(s, it->o, state);
	it->o->end_ns = it->done_ns ? it->done_ns : dur_now();
	/* another task may have done this task's work on the way */
	if (state == RUN_CHANGED && !it->o->start_ns)
		it->o->start_ns = it->o->end_ns;
	it->o->run.waiting[0] = '\0';
	s->unsettled--;
	for (size_t i = 0; i < t->n_serves; i++)
		arrive(&s->items[t->serves[i]->index], t);
	if (state == RUN_CHANGED)
		s->changed[t->index] = true;
	s->kept[t->index] = state == RUN_CHANGED && it->o->diff.kept;
	if (!states[state].good && !causes_may_fail(it->o))
		note_failed(s, state == RUN_SKIPPED ? it->o->because : t);
	tell(s, it->o);
	release_users(s, it->o);
}

static bool serves_only_settled(const struct sched *s, const struct task *t)
{
	for (size_t i = 0; i < t->n_serves; i++)
		if (!states[s->items[t->serves[i]->index].o->state].good)
			return false;
	return t->n_serves > 0;
}

static bool is_done_in_passing(struct sched *s, struct item *it)
{
	const struct task *t = it->o->task;

	return t->ops->in_passing && t->ops->in_passing(t, s->req->ctx, &it->o->diff);
}

/* Cancels archives for which no task waits any more. */
static void drop_unneeded(struct sched *s)
{
	for (size_t i = 0; i < s->req->n; i++) {
		struct item *it = &s->items[i];
		const struct task *t = it->o->task;

		if (states[it->o->state].settled || it->o->state == RUN_WORKING ||
		    it->o->diff.lost || !serves_only_settled(s, t))
			continue;
		if (it->o->state == RUN_WAITING && t->ops->cancel)
			t->ops->cancel(t, s->req->ctx);
		settle(s, it, is_done_in_passing(s, it) ? RUN_CHANGED : RUN_UNNEEDED);
	}
}

/* Returns the failed task that t is made from, directly or through others; NULL: none. */
static const struct run_outcome *broken_source(const struct sched *s, const struct task *t)
{
	for (size_t i = 0; i < s->req->n; i++) {
		const struct task *source = s->req->tasks[i];

		if (!task_serves(source, t))
			continue;
		if (s->items[i].o->state == RUN_FAILED)
			return s->items[i].o;
		if (s->items[i].o->state == RUN_SKIPPED)
			return broken_source(s, source);
	}
	return NULL;
}

static void step_failed(struct sched *s, struct item *it)
{
	struct run_outcome *o = it->o;
	bool again = err_is_transient(it->err) && !o->run.final;
	const struct run_outcome *source = o->run.last_call ? broken_source(s, o->task) : NULL;

	*o->error = *it->err;
	if (source && !again) {
		*o->error = *source->error;
		(void)err_wrap(o->error, "%s %s", source->task->ops->kind, source->task->name);
		o->because = source->task;
	}
	o->attempts++;
	/* a busy object becomes free some day; other errors get three tries */
	if (!again || (it->err->kind != ERR_BUSY && o->attempts >= ATTEMPTS_MAX)) {
		settle(s, it, RUN_FAILED);
		return;
	}
	it->differs = false;
	o->run.stage = 0;
	o->run.next_ns = dur_now() + wait_delay(o->attempts);
	set_state(s, o, RUN_RETRYING);
	tell(s, o);
}

/* Names the sources of t that are still under way; failed sources are left out. */
static void word_sources(const struct sched *s, struct run_outcome *o)
{
	size_t n = 0, max = sizeof(o->run.waiting);

	for (size_t i = 0; i < s->req->n && n < max; i++) {
		const struct task *source = s->req->tasks[i];

		if (states[s->items[i].o->state].settled || !task_serves(source, o->task))
			continue;
		n += (size_t)print_to(o->run.waiting + n, max - n, "%s%s %s", n ? ", " : "",
				      source->ops->kind, source->name);
	}
}

static void stepped(struct sched *s, struct item *it)
{
	struct run_outcome *o = it->o;

	it->checked = true;
	if (it->r < 0) {
		step_failed(s, it);
	} else if (!it->differs || (it->r == TASK_DONE && o->run.equal)) {
		settle(s, it, RUN_EQUAL);
	} else if (it->r == STEP_HELD) {
		s->holds = true;
		it->spent_ns = dur_now() - o->start_ns;
		set_state(s, o, RUN_READY);
	} else if (it->r == TASK_DONE) {
		settle(s, it, RUN_CHANGED);
	} else {
		/* a callback may set the stage meanwhile */
		const int stage = __atomic_load_n(&o->run.stage, __ATOMIC_ACQUIRE);
		const bool first = o->run.since_ns == 0;

		if (o->run.on_tasks)
			word_sources(s, o);
		set_state(s, o, RUN_WAITING);
		it->wait_ns = dur_now();
		it->spent_ns = it->wait_ns - o->start_ns;
		/* the task waits for something else now */
		if (first || stage != it->stage)
			o->run.since_ns = it->wait_ns;
		it->stage = stage;
		if (first)
			tell(s, o);
	}
}

static void begin_step(struct sched *s, struct item *it)
{
	const struct task_ops *ops = it->o->task->ops;
	/* what it waited for were other tasks, or the gate, and their time is not its own */
	const bool was_held = it->o->state == RUN_WAITING ? it->o->run.on_tasks : it->differs;

	it->o->work_ns = dur_now();
	note_wait(s, it, it->o->work_ns);
	it->starts = !it->o->start_ns || was_held;
	if (it->starts)
		it->o->start_ns = it->o->work_ns - it->spent_ns;
	it->seen = it->arrived;
	set_state(s, it->o, RUN_WORKING);
	if (ops->on_main) {
		step(it);
		stepped(s, it);
		return;
	}
	s->working++;
	it->job.run = step_job;
	it->job.brief = it->differs ? ops->writes_little : ops->brief;
	workers_push(s->req->workers, &it->job);
}

/* Returns whether an event may concern a waiting task. The manager does not say which task an event is for, so every
 * task that steps on this thread looks. A task on a worker is woken only by its own event. */
static bool is_woken(const struct run_outcome *o, bool events)
{
	return __atomic_load_n(&o->run.woken, __ATOMIC_ACQUIRE) ||
	       (events && o->task->ops->on_main);
}

/* Returns whether a task of an earlier turn is being checked, or about to be. */
static bool is_before_its_turn(const struct item *it)
{
	const struct sched *s = it->sched;

	for (size_t i = 0; it->turn && !it->checked && i < s->req->n; i++) {
		const struct item *other = &s->items[i];
		const enum run_state state = other->o->state;

		if (other->turn && other->turn < it->turn && !other->checked &&
		    (state == RUN_READY || state == RUN_WORKING))
			return true;
	}
	return false;
}

/* Returns whether an unsettled task can do something now. events: something happened outside. */
static bool is_due(const struct item *it, int64_t now, bool events)
{
	const struct task_run *run = &it->o->run;

	switch (it->o->state) {
	case RUN_READY:
		return it->differs ? it->sched->open : !is_before_its_turn(it);
	case RUN_RETRYING:
		return now >= run->next_ns;
	case RUN_WAITING:
		if (run->on_tasks)
			return it->seen != it->arrived || run->last_call;
		return is_woken(it->o, events) || (run->next_ns && now >= run->next_ns);
	default:
		return false;
	}
}

static void begin_due(struct sched *s, bool events)
{
	size_t before;

	do {
		int64_t now = dur_now();

		before = s->unsettled;
		for (size_t i = 0; i < s->req->n; i++)
			if (is_due(&s->items[s->order[i]], now, events))
				begin_step(s, &s->items[s->order[i]]);
		events = false;
	} while (before != s->unsettled);
}

/* If the unsettled tasks all wait for each other, no event will come: calls the waiting ones a last time. */
static void call_last(struct sched *s)
{
	for (size_t i = 0; i < s->req->n; i++) {
		const struct run_outcome *o = s->items[i].o;

		if (!states[o->state].settled && o->state != RUN_BLOCKED_BY_NEEDS &&
		    !(o->state == RUN_WAITING && o->run.on_tasks))
			return;
	}
	for (size_t i = 0; i < s->req->n; i++)
		if (s->items[i].o->state == RUN_WAITING)
			s->items[i].o->run.last_call = true;
}

/* Returns when staged files must be flushed at the latest; 0: there are none, or a flush is under way. */
static int64_t flush_due(const struct sched *s)
{
	const int64_t since = s->req->ctx->flush && !s->flushes ? flush_since(s->req->ctx->flush)
								: 0;

	return since ? since + GROUP_NS : 0;
}

static void flush_job(struct worker_job *job)
{
	struct flush_item *it = (struct flush_item *)job;
	struct err ignored;

	/* each file gets its own result, and the names are checked at the end */
	(void)!flush_run(it->group, &ignored);
}

/* Begins a flush if no working task can add to the group, or its first file has waited long enough. */
static void begin_flush(struct sched *s)
{
	const int64_t due = flush_due(s);

	if (!due || (s->working > 0 && dur_now() < due))
		return;
	s->flushes = true;
	s->flush = (struct flush_item){ { .run = flush_job }, s->req->ctx->flush };
	workers_push(s->req->workers, &s->flush.job);
}

/* Takes a job back from a worker. */
static void take_job(struct sched *s, struct worker_job *job)
{
	struct item *it = (struct item *)job;

	if (job == &s->flush.job) {
		s->flushes = false;
		return;
	}
	s->working--;
	/* nor the wait for a worker nor that for this thread is its own time */
	if (it->starts)
		it->o->start_ns = it->step_ns - it->spent_ns;
	if (it->dropped)
		set_state(s, it->o, RUN_READY);
	else
		stepped(s, it);
	it->done_ns = 0;
}

static int64_t next_wakeup(const struct sched *s)
{
	const int64_t flush = flush_due(s);
	int64_t next = dur_now() + TICK_NS;

	for (size_t i = 0; i < s->req->n; i++) {
		const struct run_outcome *o = s->items[i].o;

		if ((o->state == RUN_WAITING || o->state == RUN_RETRYING) && o->run.next_ns &&
		    o->run.next_ns < next)
			next = o->run.next_ns;
		if (o->state == RUN_WAITING && o->run.last_call)
			next = 0;
	}
	if (flush && flush < next)
		next = flush;
	return next;
}

/* Gives the error to tasks that wait for the manager, which try again by themselves; the other tasks go on. */
static void bus_failed(struct sched *s, const struct err *e)
{
	for (size_t i = 0; i < s->req->n; i++) {
		struct item *it = &s->items[i];

		if (it->o->state != RUN_WAITING || !it->o->task->ops->on_main)
			continue;
		it->r = -EIO;
		*it->err = *e;
		stepped(s, it);
	}
}

/* Sleeps until a worker, the bus, a wake() or the clock has news. *ret_events: all waiting tasks must be looked at
 * again. */
static int wait_for_events(struct sched *s, bool *ret_events, struct err *e)
{
	struct bus *bus = s->req->ctx->bus;
	struct pollfd fds[2] = { { .fd = workers_fd(s->req->workers), .events = POLLIN } };
	int64_t timeout = next_wakeup(s) - dur_now();
	struct worker_job *job;
	int n;

	if (bus)
		fds[1] = (struct pollfd){ .fd = bus_fd(bus), .events = (short)bus_events(bus) };
	n = poll(fds, bus ? 2 : 1, timeout <= 0 ? 0 : (int)(timeout / DUR_MS) + 1);
	if (n < 0 && errno != EINTR)
		return err_sys(e, "wait for events");
	workers_drain(s->req->workers);
	while ((job = workers_take(s->req->workers)))
		take_job(s, job);
	*ret_events = n > 0;
	if (bus && bus_process(bus, e) < 0)
		bus_failed(s, e);
	return 0;
}

/* Waits for the workers: none may touch our memory after the caller goes on. */
static void await_workers(struct sched *s)
{
	struct pollfd fd = { .fd = workers_fd(s->req->workers), .events = POLLIN };
	struct worker_job *job;

	__atomic_store_n(&s->ended, true, __ATOMIC_RELAXED);
	while (s->working > 0 || s->flushes) {
		(void)poll(&fd, 1, -1);
		workers_drain(s->req->workers);
		while ((job = workers_take(s->req->workers)))
			take_job(s, job);
	}
}

/* Returns whether `a` tells more than `b` about why the run is late: its trouble, or at least what it waits for. */
static bool says_more(const struct run_outcome *a, const struct run_outcome *b)
{
	if (!b || (a->run.trouble && !b->run.trouble))
		return true;
	return !b->run.trouble && a->run.waiting[0] && !b->run.waiting[0];
}

/* Words the missed deadline by the error of a task that still tries, or else of a task that gave up. Only if no task
 * failed, the error is a timeout. */
static int verdict(struct sched *s, struct err *e)
{
	const struct run_outcome *late = NULL;

	for (size_t i = 0; i < s->req->n; i++) {
		struct run_outcome *o = s->items[i].o;

		if (o->state == RUN_RETRYING || (o->state == RUN_WAITING && o->error->kind)) {
			*e = *o->error;
			return err_wrap(e, "deadline passed: %s %s", o->task->ops->kind,
					o->task->name);
		}
		if (!states[o->state].settled && says_more(o, late))
			late = o;
	}
	if (s->rep->first_failed != s->rep->n) {
		*e = s->first;
		return causes_tell(s->rep, e);
	}
	if (!late)
		return 0;
	return err_fail(e, late->run.trouble ? late->run.trouble : ERR_BUSY, ETIMEDOUT,
			"deadline passed: %s %s: %s", late->task->ops->kind, late->task->name,
			late->run.waiting[0] ? late->run.waiting : states[late->state].name);
}

/* Cancels all waiting tasks, including those that must be done in any case. */
static void cancel_waiting(struct sched *s)
{
	for (size_t i = 0; i < s->req->n; i++) {
		const struct task *t = s->items[i].o->task;
		const enum run_state state = s->items[i].o->state;

		if ((state == RUN_WAITING || (t->always && !states[state].settled)) &&
		    t->ops->cancel)
			t->ops->cancel(t, s->req->ctx);
	}
}

/* Opens the gate if the caller agrees. Waits for the running checks first, so that the caller has machine and
 * context to itself. */
static int open_gate(struct sched *s, struct err *e)
{
	int r;

	if (s->open || !s->holds || s->working > 0)
		return 0;
	r = s->req->gate(s->req->gate_arg, s->rep, e);
	if (r < 0)
		return r;
	s->open = true;
	begin_due(s, false);
	return 0;
}

/* Works until all is settled or the deadline has passed. */
static int loop(struct sched *s, struct err *e)
{
	int64_t next_tick = 0;
	bool events = true;
	int r;

	while (s->unsettled > 0) {
		/* first, before waiting tasks work again */
		drop_unneeded(s);
		begin_due(s, events);
		r = open_gate(s, e);
		if (r < 0)
			return r;
		if (s->unsettled == 0)
			break;
		if (s->working == 0)
			call_last(s);
		begin_flush(s);
		if (dur_now() >= next_tick) {
			tell(s, NULL);
			next_tick = dur_now() + TICK_NS;
		}
		r = wait_for_events(s, &events, e);
		if (r < 0)
			return r;
		if (s->req->deadline_ns && dur_now() >= s->req->deadline_ns)
			break;
	}
	return 0;
}

static void prepare(struct arena *a, struct sched *s, const struct run_req *req,
		    struct run_report *rep)
{
	/* allocated apart from the items: the kernel provides no memory for errors that never occur */
	struct err *errs = arena_alloc(a, (3 * req->n + 1) * sizeof(*errs));

	*s = (struct sched){
		.arena = a, .req = req, .rep = rep, .unsettled = req->n, .open = !req->gate
	};
	s->items = arena_alloc(a, (req->n + 1) * sizeof(*s->items));
	s->changed = arena_alloc(a, req->n + 1);
	s->kept = arena_alloc(a, req->n + 1);
	*rep = (struct run_report){ .n = req->n, .first_failed = req->n, .start_ns = dur_now() };
	rep->outcomes = arena_alloc(a, (req->n + 1) * sizeof(*rep->outcomes));
	for (size_t i = 0; i < req->n; i++) {
		struct item *it = &s->items[i];

		it->sched = s;
		it->o = &rep->outcomes[i];
		it->o->task = req->tasks[i];
		it->err = &errs[i];
		it->o->error = &errs[req->n + i];
		it->o->run.error = &errs[2 * req->n + i];
		it->turn = it->o->task->ops->turn ? it->o->task->ops->turn(it->o->task, req->ctx)
						  : 0;
		it->nblock = req->tasks[i]->n_needs;
		it->o->state = it->nblock ? RUN_BLOCKED_BY_NEEDS : RUN_READY;
		rep->counts[it->o->state]++;
	}
	req->ctx->changed = s->changed;
	req->ctx->kept = s->kept;
}

static void wake(void *arg)
{
	workers_wake(arg);
}

int run_execute(struct arena *a, const struct run_req *req, struct run_report *ret, struct err *e)
{
	struct sched *s = arena_new(a, struct sched);
	int r;

	prepare(a, s, req, ret);
	s->order = order_of(a, req);
	req->ctx->wake = wake;
	req->ctx->wake_arg = s->req->workers;
	r = loop(s, e);
	await_workers(s);
	if (r == 0)
		r = verdict(s, e);
	/* directories and links that no file's flush covered */
	if (r == 0 && req->ctx->flush)
		r = flush_run(req->ctx->flush, e);
	if (r == 0 && req->ctx->bus)
		r = bus_reload_links(req->ctx->bus, e);
	cancel_waiting(s);
	ret->end_ns = dur_now();
	tell(s, NULL);
	return r;
}

void run_plan(struct arena *a, const struct run_req *req, struct run_report *ret)
{
	struct sched *s = arena_new(a, struct sched);

	prepare(a, s, req, ret);
	for (size_t i = 0; s->unsettled > 0; i = (i + 1) % req->n) {
		struct run_outcome *o = s->items[i].o;
		const struct task *t = o->task;
		struct err e;
		int r;

		if (o->state != RUN_READY)
			continue;
		/* a check may meet errors and still answer, for instance that a file is missing */
		r = t->ops->check(t, req->ctx, &o->diff, &e);
		if (r < 0)
			*o->error = e;
		settle(s, &s->items[i],
		       r < 0               ? RUN_FAILED
		       : r != TASK_DIFFERS ? RUN_EQUAL
		       : o->diff.unsure    ? RUN_UNSURE
					   : RUN_CHANGED);
	}
	ret->end_ns = dur_now();
}
