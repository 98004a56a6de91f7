#include "nodeup/run/times.h"

#include <stdio.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/show.h"
#include "nodeup/tasks/kinds.h"

/* Nobody asks for the time of a task that was right within the first, nor for the reason of one within the second. */
#define QUIET_NS (10 * DUR_MS)
#define LONG_NS (500 * DUR_MS)

/* the bytes of a row beside its title and its reason, and the most of these */
enum { ROW_REST = 56, TITLE_MAX = 64, WHY_MAX = 160 };

/* Returns text of at most max bytes: the middle of a longer one is left out, as its end tells it from others. */
static const char *cut(struct arena *a, const char *text, size_t max)
{
	const size_t n = strlen(text), half = (max - 3) / 2;

	return n <= max
		       ? text
		       : show_clean(arena_printf(a, "%.*s...%s", (int)half, text, text + n - half));
}

/* Returns when it ended; a task that the run left unsettled ended with it. */
static int64_t end_of(const struct run_report *rep, const struct run_outcome *o)
{
	return o->end_ns ? o->end_ns : rep->end_ns;
}

static bool has_row(const struct run_report *rep, const struct run_outcome *o, int64_t least_ns)
{
	const bool is_news = o->state == RUN_CHANGED || !run_is_settled(o->state) ||
			     o->state == RUN_FAILED;
	const int64_t took = end_of(rep, o) - o->start_ns;

	return o->start_ns && took >= 0 &&
	       (least_ns ? took >= least_ns : is_news || took >= QUIET_NS);
}

/* Numbers the rows by task, -1 for a task without one. Returns how many rows are left out, the shortest. */
static size_t number_rows(const struct run_report *rep, int rows[])
{
	int64_t least = 0;
	size_t n, all = 0;

	do {
		n = 0;
		for (size_t i = 0; i < rep->n; i++)
			rows[i] = has_row(rep, &rep->outcomes[i], least) ? (int)n++ : -1;
		all = least ? all : n;
		least = 2 * least + DUR_MS;
	} while (n > TIMES_MAX);
	return all - n;
}

/* Returns the row of the task that this one waited for last; of one without a row, that for which it waited itself. */
static int row_before(const struct run_report *rep, const int rows[], const struct run_outcome *o)
{
	const struct task *t = o->after;

	for (size_t i = 0; t && rows[t->index] < 0 && i < rep->n; i++)
		t = rep->outcomes[t->index].after;
	return t ? rows[t->index] : -1;
}

/* Returns the reason of a long wait or a failed try; "": there is none. */
static const char *reason(struct arena *a, const struct run_outcome *o, struct fetcher *f)
{
	struct fetch_status st;

	if (o->error->kind)
		return o->error->msg;
	if (o->task->kind == TASK_ASSET && f && fetch_status(f, o->task->asset.asset, &st) &&
	    st.last_error[0])
		return arena_str(a, st.last_error);
	return o->held_by ? o->held_by : "";
}

/* A task of the net that did not wait has found its bytes here. */
static enum task_lane lane_of(const struct run_outcome *o)
{
	const enum task_lane lane = task_kinds[o->task->kind].lane;

	return lane == LANE_NET && !o->waited_ns ? LANE_PROCESSOR : lane;
}

static void add_number(struct arena *a, struct tree *row, int64_t n)
{
	(void)tree_add(a, row, tree_plain(a, arena_printf(a, "%lld", (long long)n)));
}

struct tree *times_tree(struct arena *a, const struct run_report *rep, struct fetcher *fetcher)
{
	int *rows = arena_alloc(a, (rep->n + 1) * sizeof(*rows));
	const size_t left_out = number_rows(rep, rows);
	struct tree *t = tree_map(a), *list = tree_seq(a);
	size_t room = 0;

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		const int64_t end = end_of(rep, o);
		struct tree *row = tree_seq(a);
		const char *title, *why;

		if (rows[i] < 0)
			continue;
		title = cut(a, task_title(a, o->task), TITLE_MAX);
		(void)tree_add(a, row, tree_string(a, title));
		(void)tree_add(a, row, tree_string(a, task_lane_names[lane_of(o)]));
		add_number(a, row, (o->start_ns - rep->start_ns) / DUR_MS);
		add_number(a, row, (end - rep->start_ns) / DUR_MS);
		add_number(a, row, o->waited_ns / DUR_MS);
		add_number(a, row, row_before(rep, rows, o));
		(void)tree_add(a, row, tree_string(a, run_state_name(o->state)));
		room += TIMES_ROW - ROW_REST - strlen(title);
		why = end - o->start_ns >= LONG_NS ? cut(a, reason(a, o, fetcher), WHY_MAX) : "";
		if (*why && strlen(why) <= room) {
			room -= strlen(why);
			(void)tree_add(a, row, tree_string(a, why));
		}
		(void)tree_add(a, list, row);
	}
	tree_set_int(a, t, "beganMs", rep->start_ns / DUR_MS);
	tree_set_int(a, t, "endedMs", dur_now() / DUR_MS);
	tree_set_some(a, t, "times", list);
	if (left_out)
		tree_set_int(a, t, "timesLeftOut", (int64_t)left_out);
	return t;
}

#define OF(member) offsetof(struct bus_unit, member)

/* Moments of a boot that systemd knows: of the manager by a property, of a unit by a member. A later row of the same
 * name counts more: where docker runs, it is the runtime. */
static const struct {
	const char *name, *property, *unit;
	size_t member;
} stamps[] = {
	{ "initrd", "InitRDTimestampMonotonic", NULL, 0 },
	{ "userspace", "UserspaceTimestampMonotonic", NULL, 0 },
	{ "network", NULL, "network-online.target", OF(active_enter_us) },
	{ "runtime", NULL, "containerd.service", OF(active_enter_us) },
	{ "runtime", NULL, "docker.service", OF(active_enter_us) },
	{ "kubelet", NULL, "kubelet.service", OF(start_us) },
};

void times_add_boot(struct arena *a, int root_fd, struct bus *bus, struct tree *record)
{
	struct tree *boot = tree_map(a);

	for (size_t i = 0; i < ARRAY_LEN(stamps); i++) {
		struct bus_unit u;
		struct err ignored;
		uint64_t us = 0;

		if (!stamps[i].unit)
			(void)!bus_manager_stamp(bus, stamps[i].property, &us, &ignored);
		else if (bus_get(bus, a, stamps[i].unit, &u, &ignored) == 0)
			memcpy(&us, (const char *)&u + stamps[i].member, sizeof(us));
		if (us)
			tree_set_int(a, boot, stamps[i].name, (int64_t)(us / 1000));
	}
	tree_set_some(a, record, "bootMs", boot);
	/* its kernel began long before it */
	tree_set_true(a, record, "inContainer", io_is_there(root_fd, "/run/systemd/container"));
}
