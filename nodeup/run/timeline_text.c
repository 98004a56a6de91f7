#include "nodeup/run/timeline.h"

#include "nodeup/base/dur.h"

enum {
	LONGEST_MAX = 20, /* tasks in the list of the longest */
	SHOWN_MS = 10,    /* and the least time of one */
	SLOWER_MAX = 10,
	CHAIN_MAX = 40,
};

static const char *took(struct arena *a, const struct timeline_span *span)
{
	return dur_human(a, (span->end_ms - span->start_ms) * DUR_MS);
}

static void add_marks(struct arena *a, const struct timeline *t, struct strv *lines)
{
	for (size_t i = 0; i < MARK_MAX; i++) {
		const int64_t at = t->marks[i];

		/* most machines boot without it */
		if (at == TIMELINE_EARLIER || (at < 0 && i == MARK_INITRD))
			continue;
		strv_addf(a, lines, "  %10s  %s", at < 0 ? "not known" : dur_human(a, at * DUR_MS),
			  timeline_mark_name((enum timeline_mark)i));
	}
}

static void add_chain(struct arena *a, const struct timeline *t, struct strv *lines)
{
	size_t i = t->last;

	if (i == TIMELINE_NONE)
		return;
	strv_add(a, lines, "");
	strv_add(a, lines, "critical chain, from its end: @begin +how long it took");
	for (size_t depth = 0; i != TIMELINE_NONE && depth < CHAIN_MAX; i = t->v[i].after, depth++)
		strv_addf(a, lines, "  %*s%s%s @%s +%s  %s", depth ? (int)(depth - 1) : 0, "",
			  depth ? "\342\224\224\342\224\200" : "", t->v[i].task,
			  dur_human(a, t->v[i].start_ms * DUR_MS), took(a, &t->v[i]),
			  timeline_lane_name(t->v[i].lane));
}

static void add_longest(struct arena *a, const struct timeline *t, struct strv *lines)
{
	size_t n, shown = 0;
	const struct timeline_span **v = timeline_sort(a, t, TIMELINE_LANES, true, &n);

	while (shown < n && shown < LONGEST_MAX &&
	       v[shown]->end_ms - v[shown]->start_ms >= SHOWN_MS)
		shown++;
	if (!shown)
		return;
	strv_add(a, lines, "");
	strv_add(a, lines, "longest");
	for (size_t i = 0; i < shown; i++)
		strv_addf(a, lines, "  %10s  %-9s  %s%s%s", took(a, v[i]),
			  timeline_lane_name(v[i]->lane), v[i]->task, *v[i]->why ? ": " : "",
			  v[i]->why);
	if (n > shown)
		strv_addf(a, lines, "  %10s  and %zu more, of %s and less", "", n - shown,
			  took(a, v[shown]));
}

static void add_slower(struct arena *a, const struct timeline *t, const struct timeline *before,
		       struct strv *lines)
{
	const char *number = before ? tree_says(before->run, "number") : "";
	size_t n = 0;
	const struct timeline_slower *v = before ? timeline_slower(a, t, before, &n) : NULL;

	if (!n)
		return;
	strv_add(a, lines, "");
	strv_addf(a, lines, "slower than in run %s", number);
	for (size_t i = 0; i < n && i < SLOWER_MAX; i++)
		strv_addf(a, lines, "  %s%s took %s, %s in run %s: %s", v[i].span->task,
			  v[i].also.n ? arena_printf(a, " and %zu more", v[i].also.n) : "",
			  took(a, v[i].span),
			  v[i].before_ms < 0 ? "none" : dur_human(a, v[i].before_ms * DUR_MS),
			  number, v[i].why);
	if (n > SLOWER_MAX)
		strv_addf(a, lines, "  and %zu more", n - SLOWER_MAX);
}

struct strv timeline_text(struct arena *a, const struct timeline *t, const struct timeline *before)
{
	struct strv lines = { 0 };

	strv_add(a, &lines, timeline_title(a, t->run));
	add_marks(a, t, &lines);
	add_chain(a, t, &lines);
	add_longest(a, t, &lines);
	add_slower(a, t, before, &lines);
	if (t->left_out)
		strv_addf(a, &lines, "times of %lld tasks are not recorded",
			  (long long)t->left_out);
	return lines;
}
