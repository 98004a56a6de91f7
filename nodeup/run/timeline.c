#include "nodeup/run/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/map.h"
#include "nodeup/run/health.h"
#include "nodeup/run/standing.h"
#include "nodeup/run/times.h"

/* a run that began later after the start of userspace is not a part of the boot */
#define BOOT_MS (15 * 60 * INT64_C(1000))

enum {
	SLOWER_MS = 500,
	SETTLES_MS = 10, /* shorter parts after the last task are not shown */
	PARTS_MAX = MARK_MAX + 1,
};

/* no moment of a record is later: a hundred years */
#define LATEST_MS (INT64_C(876000) * 3600 * 1000)

#define MARK_ROW(mark, key, name, part) [mark] = { key, name, part },
static const struct {
	const char *key, *name, *part;
} rows[MARK_MAX] = { TIMELINE_MARKS(MARK_ROW) };

const char *timeline_mark_name(enum timeline_mark mark)
{
	return rows[mark].name;
}

const char *timeline_lane_name(size_t lane)
{
	return lane == TIMELINE_BOOT ? "boot" : task_lane_names[lane];
}

/* Returns a number of the record; -1: it is missing, or is no time. */
static int64_t ms_of(const struct tree *map, const char *key)
{
	const int64_t n = health_number(map, key, TIMELINE_UNKNOWN);

	return n >= 0 && n <= LATEST_MS ? n : TIMELINE_UNKNOWN;
}

/* Returns when the process began, which the kernel tells in its ticks. */
static int64_t process_ms(const struct tree *run)
{
	const int64_t ticks = ms_of(run, "pidStartTicks"), began = ms_of(run, "beganMs");
	const int64_t ms = ticks < 0 ? began : ticks * 1000 / sysconf(_SC_CLK_TCK);

	/* a tick may end after the first task began */
	return ms > began && began >= 0 ? began : ms;
}

/* Fills the marks. The record has them by the clock of the boot, on which the timeline begins at zero. */
static void take_marks(const struct tree *run, int64_t marks[static MARK_MAX])
{
	const struct tree *boot = tree_get(run, "bootMs");
	int64_t zero;
	bool is_boot;

	for (size_t i = 0; i < MARK_MAX; i++)
		marks[i] = ms_of(boot, rows[i].key);
	marks[MARK_KERNEL] = boot ? 0 : TIMELINE_UNKNOWN;
	marks[MARK_NODEUP] = process_ms(run);
	marks[MARK_TASKS] = ms_of(run, "beganMs");
	marks[MARK_END] = ms_of(run, "endedMs");
	is_boot = marks[MARK_USERSPACE] >= 0 && marks[MARK_NODEUP] >= marks[MARK_USERSPACE] &&
		  marks[MARK_NODEUP] - marks[MARK_USERSPACE] <= BOOT_MS;
	zero = !is_boot                       ? marks[MARK_NODEUP]
	       : tree_get(run, "inContainer") ? marks[MARK_USERSPACE]
					      : 0;
	for (size_t i = 0; i < MARK_MAX; i++)
		marks[i] = marks[i] < 0      ? TIMELINE_UNKNOWN
			   : marks[i] < zero ? TIMELINE_EARLIER
					     : marks[i] - zero;
}

static void add_part(struct arena *a, struct timeline *t, const char *name, int64_t start,
		     int64_t end)
{
	arena_push(a, t->v, t->n,
		   (struct timeline_span){ .task = name,
					   .state = "",
					   .why = "",
					   .lane = TIMELINE_BOOT,
					   .start_ms = start,
					   .end_ms = end,
					   .after = t->last });
	t->last = t->n - 1;
}

/* Returns the name of the part that ends at a mark; NULL: none does. */
static const char *part_of(const struct timeline *t, size_t mark)
{
	if (mark == MARK_USERSPACE && t->marks[MARK_INITRD] >= 0)
		return "initrd";
	/* the process began long before its last try */
	if (mark == MARK_TASKS && health_number(t->run, "attempt", 1) > 1)
		return "earlier tries, documents and plan";
	return rows[mark].part;
}

/* Adds the parts of the boot, each from the moment before it; one out of the order is passed over. */
static void add_parts(struct arena *a, struct timeline *t)
{
	int64_t from = TIMELINE_UNKNOWN;

	for (size_t i = 0; i <= MARK_TASKS; i++) {
		if (t->marks[i] < from || t->marks[i] < 0)
			continue;
		if (part_of(t, i) && from >= 0)
			add_part(a, t, part_of(t, i), from, t->marks[i]);
		from = t->marks[i];
	}
}

/* Returns a value of a row; NULL: it is missing. */
static const char *cell(const struct tree *row, size_t column)
{
	const struct tree *t = column < row->n ? row->items[column].value : NULL;

	return t && t->kind == TREE_SCALAR ? t->scalar : NULL;
}

static int64_t number_at(const struct tree *row, size_t column)
{
	const char *text = cell(row, column);

	return text ? strtoll(text, NULL, 10) : -1;
}

static size_t lane_at(const struct tree *row)
{
	size_t lane = 0;

	while (lane < LANE_MAX - 1 && !str_eq(cell(row, TIMES_LANE), task_lane_names[lane]))
		lane++;
	return lane;
}

/* Adds a task. A row that is damaged is kept as one without a time, so that the others keep their numbers. */
static void add_task(struct arena *a, struct timeline *t, const struct tree *row, size_t parts)
{
	const int64_t began = t->marks[MARK_TASKS], start = number_at(row, TIMES_START),
		      end = number_at(row, TIMES_END);
	const int64_t after = number_at(row, TIMES_AFTER), waited = number_at(row, TIMES_WAITED);
	const bool is_sane = start >= 0 && end >= start && end <= LATEST_MS;
	const int64_t most = is_sane ? end - start : 0;
	const char *task = cell(row, TIMES_TASK), *state = cell(row, TIMES_STATE),
		   *why = cell(row, TIMES_WHY);

	arena_push(a, t->v, t->n,
		   (struct timeline_span){
			   .task = task ? task : "",
			   .state = state ? state : "",
			   .why = why ? why : "",
			   .lane = lane_at(row),
			   .start_ms = began + (is_sane ? start : 0),
			   .end_ms = began + (is_sane ? end : 0),
			   .waited_ms = waited < most ? waited : most,
			   .after = after >= 0 ? (size_t)after + parts : t->last,
		   });
}

static void add_tasks(struct arena *a, struct timeline *t)
{
	const struct tree *list = tree_get(t->run, "times");
	const size_t parts = t->n;
	int64_t end = 0;

	if (t->marks[MARK_TASKS] < 0 || !list || list->kind != TREE_SEQ)
		return;
	for (size_t i = 0; i < list->n; i++)
		add_task(a, t, list->items[i].value, parts);
	for (size_t i = parts; i < t->n; i++) {
		if (t->v[i].after >= t->n)
			t->v[i].after = TIMELINE_NONE;
		if (t->v[i].end_ms < end)
			continue;
		end = t->v[i].end_ms;
		t->last = i;
	}
}

const struct tree *timeline_run_before(const struct tree *runs, size_t i)
{
	while (++i < runs->n)
		if (tree_get(runs->items[i].value, "beganMs"))
			return runs->items[i].value;
	return NULL;
}

struct timeline timeline_of(struct arena *a, const struct tree *run)
{
	struct timeline t = { .run = run, .last = TIMELINE_NONE };
	int64_t end;

	take_marks(run, t.marks);
	t.left_out = health_number(run, "timesLeftOut", 0);
	add_parts(a, &t);
	add_tasks(a, &t);
	end = t.last == TIMELINE_NONE ? 0 : t.v[t.last].end_ms;
	if (t.last != TIMELINE_NONE && t.marks[MARK_END] >= end + SETTLES_MS)
		add_part(a, &t, "services are watched", end, t.marks[MARK_END]);
	/* a damaged record may have a circle */
	for (size_t i = t.last, steps = 0; i != TIMELINE_NONE && steps < t.n;
	     i = t.v[i].after, steps++)
		t.v[i].critical = true;
	return t;
}

/* Returns a moment of the API server's clock, to the second. What came long after the run is not of it. */
static int64_t moment_of(const struct timeline *t, int64_t unix_s)
{
	const int64_t end_ns = health_end(t->run, false), end = t->marks[MARK_END];
	int64_t ms;

	if (unix_s < 0 || unix_s > LATEST_MS / 1000 || end_ns < 0 || end < 0)
		return TIMELINE_UNKNOWN;
	ms = end + unix_s * 1000 - end_ns / DUR_MS;
	return ms < 0 ? TIMELINE_EARLIER : ms > end + BOOT_MS ? TIMELINE_UNKNOWN : ms;
}

void timeline_add_node(struct timeline *t, int64_t registered_s, int64_t ready_s)
{
	t->marks[MARK_REGISTERED] = moment_of(t, registered_s);
	t->marks[MARK_READY] = moment_of(t, ready_s);
}

static int by_start(const void *x, const void *y)
{
	const struct timeline_span *a = *(const struct timeline_span *const *)x,
				   *b = *(const struct timeline_span *const *)y;

	if (a->start_ms != b->start_ms)
		return a->start_ms < b->start_ms ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_took(const void *x, const void *y)
{
	const struct timeline_span *a = *(const struct timeline_span *const *)x,
				   *b = *(const struct timeline_span *const *)y;
	const int64_t of_a = a->end_ms - a->start_ms, of_b = b->end_ms - b->start_ms;

	return of_a != of_b ? (of_a < of_b ? 1 : -1) : by_start(x, y);
}

const struct timeline_span **timeline_sort(struct arena *a, const struct timeline *t, size_t lane,
					   bool by_length, size_t *ret_n)
{
	const struct timeline_span **v = NULL;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (lane == TIMELINE_LANES || t->v[i].lane == lane)
			arena_push(a, v, n, &t->v[i]);
	if (n)
		qsort((void *)v, n, sizeof(*v), by_length ? by_took : by_start);
	*ret_n = n;
	return v;
}

/* Words why a span took longer than in the run before. */
static const char *reason(struct arena *a, const struct timeline_span *now,
			  const struct timeline_span *was)
{
	const int64_t took = now->end_ms - now->start_ms;

	if (*now->why)
		return now->why;
	if (now->lane == TIMELINE_BOOT)
		return "no task of the run";
	if (!was)
		return arena_printf(a, "it is %s in this run, and had nothing to do then",
				    now->state);
	if (!str_eq(was->state, now->state))
		return arena_printf(a, "it is %s in this run, and was %s then", now->state,
				    was->state);
	if (now->waited_ms >= took / 2)
		return arena_printf(a, "it waited for %s for %s", timeline_lane_name(now->lane),
				    dur_human(a, now->waited_ms * DUR_MS));
	return "it worked, and waited for nothing";
}

static int by_loss(const void *x, const void *y)
{
	const struct timeline_slower *a = x, *b = y;
	const int64_t of_a = a->span->end_ms - a->span->start_ms -
			     (a->before_ms > 0 ? a->before_ms : 0),
		      of_b = b->span->end_ms - b->span->start_ms -
			     (b->before_ms > 0 ? b->before_ms : 0);

	return of_a < of_b ? 1 : of_a > of_b ? -1 : 0;
}

/* Returns whether two spans lost their time together: one flush, or one lock, holds many. */
static bool is_same_loss(const struct timeline_slower *a, const struct timeline_slower *b)
{
	return a->span->lane == b->span->lane && str_eq(a->why, b->why) &&
	       a->span->start_ms < b->span->end_ms && b->span->start_ms < a->span->end_ms;
}

/* Joins spans that lost their time together to the worst of them; returns how many losses there are. */
static size_t join_same(struct arena *a, struct timeline_slower *v, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < left && !is_same_loss(&v[k], &v[i]))
			k++;
		if (k < left)
			strv_add(a, &v[k].also, v[i].span->task);
		else
			v[left++] = v[i];
	}
	return left;
}

struct timeline_slower *timeline_slower(struct arena *a, const struct timeline *now,
					const struct timeline *before, size_t *ret_n)
{
	struct timeline_slower *v = NULL;
	struct map known = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < before->n; i++)
		(void)map_put(a, &known, before->v[i].task, &before->v[i]);
	for (size_t i = 0; i < now->n; i++) {
		const struct timeline_span *span = &now->v[i], *was = map_get(&known, span->task);
		const int64_t then = was ? was->end_ms - was->start_ms : 0;

		/* a part of a boot that the run before was not a part of */
		if ((!was && span->lane == TIMELINE_BOOT) ||
		    span->end_ms - span->start_ms - then < SLOWER_MS)
			continue;
		arena_push(a, v, n,
			   (struct timeline_slower){ .span = span,
						     .before_ms = was ? then : -1,
						     .why = reason(a, span, was) });
	}
	if (n)
		qsort(v, n, sizeof(*v), by_loss);
	*ret_n = join_same(a, v, n);
	return v;
}

const char *timeline_title(struct arena *a, const struct tree *run)
{
	const char *number = tree_says(run, "number");

	return arena_printf(a, "run %s, %s, %s: %s", *number ? number : "-", health_date(a, run),
			    standing_maker(a, run), tree_says(run, "state"));
}

static struct tree *span_tree(struct arena *a, const struct timeline *t,
			      const struct timeline_span *span)
{
	struct tree *map = tree_map(a);

	tree_set_text(a, map, "task", span->task);
	tree_set_text(a, map, "lane", timeline_lane_name(span->lane));
	tree_set_int(a, map, "startMs", span->start_ms);
	tree_set_int(a, map, "endMs", span->end_ms);
	if (span->waited_ms > 0)
		tree_set_int(a, map, "waitedMs", span->waited_ms);
	tree_set_word(a, map, "state", span->state);
	tree_set_word(a, map, "why", span->why);
	if (span->after != TIMELINE_NONE)
		tree_set_text(a, map, "after", t->v[span->after].task);
	tree_set_true(a, map, "critical", span->critical);
	return map;
}

struct tree *timeline_json(struct arena *a, const struct timeline *t, const struct timeline *before)
{
	struct tree *out = tree_map(a), *marks = tree_map(a), *spans = tree_seq(a),
		    *list = tree_seq(a);
	struct timeline_slower *slower;
	size_t n = 0;

	tree_set_int(a, out, "schema", 1);
	for (const char *const *key =
		     (const char *const[]){ "number", "state", "startedUnix", NULL };
	     *key; key++)
		if (tree_get(t->run, *key))
			(void)tree_set(a, out, *key, tree_get(t->run, *key));
	for (size_t i = 0; i < MARK_MAX; i++)
		if (t->marks[i] >= 0)
			tree_set_int(a, marks, rows[i].key, t->marks[i]);
		else if (t->marks[i] == TIMELINE_UNKNOWN)
			(void)tree_set(a, marks, rows[i].key, tree_null(a));
	(void)tree_set(a, out, "moments", marks);
	for (size_t i = 0; i < t->n; i++)
		(void)tree_add(a, spans, span_tree(a, t, &t->v[i]));
	(void)tree_set(a, out, "spans", spans);
	slower = before ? timeline_slower(a, t, before, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct tree *map = tree_map(a);

		tree_set_text(a, map, "task", slower[i].span->task);
		tree_set_int(a, map, "ms", slower[i].span->end_ms - slower[i].span->start_ms);
		if (slower[i].before_ms >= 0)
			tree_set_int(a, map, "beforeMs", slower[i].before_ms);
		tree_set_text(a, map, "why", slower[i].why);
		tree_set_some(a, map, "also", tree_of_strv(a, &slower[i].also));
		(void)tree_add(a, list, map);
	}
	if (before)
		(void)tree_set(a, out, "slower", list);
	if (t->left_out)
		tree_set_int(a, out, "leftOut", t->left_out);
	return out;
}
