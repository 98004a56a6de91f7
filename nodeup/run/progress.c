#include "nodeup/run/progress.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/run/fields.h"
#include "nodeup/run/footer.h"

enum { NAME_MAX_COLUMNS = 24, FOOTER_MAX = 64 << 10 };

/* tasks that end within this time need no line */
#define QUIET_NS (10 * DUR_SEC)
/* shorter waits for the unpacker are not reported */
#define UNPACKER_NS (5 * DUR_SEC)
/* weight of the newest measurement in the rate */
#define NEWEST 0.3

/* The last state that was shown of one task. */
struct shown {
	int64_t at_ns, bytes; /* time and bytes at the last look */
	double rate;
	int64_t begun_ns; /* time of the first look */
};

struct progress {
	struct fetcher *fetcher;
	struct waits *waits;
	struct footer footer;
	struct shown *shown; /* by task index */
	size_t n;
};

struct progress *progress_new(struct fetcher *f, struct waits *waits)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	p->fetcher = f;
	p->waits = waits;
	p->footer = footer_look();
	return p;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	log_set_footer(NULL);
	free(p->shown);
	free(p);
}

bool progress_tells(const struct task *t)
{
	return t->kind == TASK_ASSET;
}

int64_t progress_next_try(const struct task *t, struct fetcher *f)
{
	struct fetch_status st;

	return progress_tells(t) && f && fetch_status(f, t->asset.asset, &st) ? st.next_try_ns : 0;
}

static char *amount(struct arena *a, const struct fetch_status *st)
{
	double unit = st->total >= 1000000 || st->bytes >= 1000000 ? 1e6 : 1e3;
	const char *name = unit > 1e3 ? "MB" : "kB";

	if (st->total < 0)
		return arena_printf(a, "%.1f %s", (double)st->bytes / unit, name);
	return arena_printf(a, "%3d%%  %.1f of %.1f %s",
			    st->total ? (int)(100.0 * (double)st->bytes / (double)st->total) : 100,
			    (double)st->bytes / unit, (double)st->total / unit, name);
}

static char *time_left(struct arena *a, const struct fetch_status *st, double rate)
{
	double left = (double)(st->total - st->bytes) / rate;
	long long s = left < 1e6 ? (long long)(left + 0.5) : 0;

	if (s >= 3600)
		return arena_printf(a, "%lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
	return arena_printf(a, "%lld:%02lld left", s / 60, s % 60);
}

static bool is_waiting(const struct fetch_status *st, int64_t now_ns)
{
	return st->next_try_ns > now_ns || st->other[0];
}

char *progress_text(struct arena *a, const struct fetch_status *st, double rate, int64_t now_ns)
{
	char *text;

	if (st->other[0])
		return arena_printf(a, "%s fetches it, %.1f MB so far; waiting for it for %s",
				    st->other, (double)st->bytes / 1e6,
				    dur_human(a, now_ns - st->since_ns));
	if (st->attempt == 0)
		return arena_str(a, "being looked for in the cache");
	if (is_waiting(st, now_ns))
		return arena_printf(a, "attempt %u, next in %s: %s", st->attempt,
				    dur_human(a, st->next_try_ns - now_ns), st->last_error);
	text = amount(a, st);
	if (st->unpacker_ns && now_ns - st->unpacker_ns > UNPACKER_NS)
		return arena_printf(a, "%s  waiting for its unpacker for %s", text,
				    dur_human(a, now_ns - st->unpacker_ns));
	if (st->total >= 0 && st->bytes >= st->total)
		return arena_printf(a, "%s  being verified", text);
	if (rate > 0)
		text = arena_printf(a, "%s  %.1f MB/s", text, rate / 1e6);
	if (rate > 0 && st->total >= 0)
		text = arena_printf(a, "%s  %s", text, time_left(a, st, rate));
	return arena_printf(a, "%s  attempt %u  %s", text, st->attempt, st->url);
}

/* Measures the rate since the last look, smoothed. A new attempt may have fewer bytes than the one before. */
static void measure_rate(struct shown *s, const struct fetch_status *st, int64_t now)
{
	int64_t took = now - s->at_ns;

	if (s->at_ns && took <= 0)
		return;
	if (s->at_ns && st->bytes >= s->bytes) {
		double rate = (double)(st->bytes - s->bytes) * 1e9 / (double)took;

		s->rate = s->rate > 0 ? s->rate * (1 - NEWEST) + rate * NEWEST : rate;
	} else {
		s->rate = 0;
	}
	s->at_ns = now;
	s->bytes = st->bytes;
}

/* Returns whether the asset is under way. A short check by a worker counts too, since each event causes such a
 * check. */
static bool is_under_way(const struct run_outcome *o)
{
	return progress_tells(o->task) && (o->state == RUN_WAITING || o->state == RUN_WORKING);
}

char *progress_task_text(struct arena *a, const struct run_outcome *o, int64_t now_ns)
{
	const char *before = o->run.waiting;

	if (progress_tells(o->task))
		return NULL;
	if (o->state == RUN_RETRYING)
		return arena_printf(a, "attempt %u, next in %s: %s", o->attempts,
				    dur_human(a, o->run.next_ns - now_ns), o->error->msg);
	if (o->state != RUN_WAITING || !*before || !o->run.since_ns ||
	    now_ns - o->run.since_ns < QUIET_NS)
		return NULL;
	return arena_printf(a, "for %s: %s", dur_human(a, now_ns - o->run.since_ns), before);
}

/* Returns the width of the column of names. */
static size_t widest(const struct run_report *rep)
{
	size_t names = 0;

	for (size_t i = 0; i < rep->n; i++) {
		size_t n = strlen(rep->outcomes[i].task->name);

		if (is_under_way(&rep->outcomes[i]) && n > names)
			names = n;
	}
	return names < NAME_MAX_COLUMNS ? names : NAME_MAX_COLUMNS;
}

static void redraw(struct progress *p, const struct run_report *rep, int64_t now)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(FOOTER_MAX);
	size_t names = widest(rep), lines = 0, more = 0;

	footer_measure(&p->footer);
	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		const char *text = progress_task_text(a, o, now), *name = o->task->name;
		bool waiting = true;
		struct fetch_status st;

		if (text) {
			name = task_title(a, o->task);
		} else if (is_under_way(o) && fetch_status(p->fetcher, o->task->asset.asset, &st)) {
			measure_rate(&p->shown[i], &st, now);
			text = progress_text(a, &st, p->shown[i].rate, now);
			waiting = is_waiting(&st, now);
		} else {
			continue;
		}
		if (lines + 3 > p->footer.rows) {
			more++;
			continue;
		}
		footer_add(&b, &p->footer, name, names, text, waiting);
		lines++;
	}
	if (more)
		(void)buf_addf(&b, "and %zu more\n", more);
	log_set_footer(buf_str(&b));
}

/* Reports progress after a while, and trouble at once. */
static void tell_asset(struct progress *p, const struct run_outcome *o, int64_t now)
{
	autoarena struct arena *a = arena_new_empty();
	struct shown *s = &p->shown[o->task->index];
	const char *title = task_title(a, o->task), *reason, *before = "";
	struct log_field fields[FIELDS_MAX];
	struct fetch_status st;
	size_t n;

	if (!fetch_status(p->fetcher, o->task->asset.asset, &st))
		return;
	measure_rate(s, &st, now);
	if (!s->begun_ns)
		s->begun_ns = now;
	reason = st.other[0] ? st.other : st.last_error;
	if ((!*reason && now - s->begun_ns < QUIET_NS) || !waits_due(p->waits, title, reason, now))
		return;
	n = fields_of(a, o, fields);
	if (is_waiting(&st, now)) {
		log_line(LOG_WARNING, fields, n, "WAITING %s: %s", title,
			 progress_text(a, &st, 0, now));
		return;
	}
	/* a line shows a URL only once */
	if (st.last_error[0] && !strstr(st.last_error, st.url))
		before = arena_printf(a, "; before: %s", st.last_error);
	else if (st.last_error[0])
		before = "; it failed before";
	log_line(LOG_INFO, fields, n, "%s: %s%s", title, progress_text(a, &st, s->rate, now),
		 before);
}

void progress_show(struct progress *p, const struct run_report *rep)
{
	int64_t now = dur_now();

	if (!p->fetcher)
		return;
	if (p->n != rep->n) {
		free(p->shown);
		p->shown = xcalloc(rep->n + 1, sizeof(*p->shown));
		p->n = rep->n;
	}
	if (p->footer.redraws) {
		redraw(p, rep, now);
		return;
	}
	for (size_t i = 0; i < rep->n; i++)
		if (is_under_way(&rep->outcomes[i]))
			tell_asset(p, &rep->outcomes[i], now);
}

/* Turns a monotonic time into milliseconds since 1970. */
static int64_t wall_ms(int64_t then_ns)
{
	return (dur_wall() + then_ns - dur_now()) / DUR_MS;
}

static void add_status(struct arena *a, struct tree *t, const struct run_outcome *o,
		       const struct fetch_status *st)
{
	int64_t now = dur_now();

	tree_set_int(a, t, "bytes", st->bytes);
	if (st->total >= 0)
		tree_set_int(a, t, "total", st->total);
	if (st->attempt)
		tree_set_int(a, t, "attempt", st->attempt);
	tree_set_word(a, t, "mirror", st->url);
	tree_set_word(a, t, "lastError", st->last_error);
	if (!is_under_way(o))
		return;
	tree_set_word(a, t, "waiting", progress_text(a, st, 0, now));
	if (o->run.since_ns)
		tree_set_int(a, t, "sinceUnixMs", wall_ms(o->run.since_ns));
	if (st->next_try_ns > now)
		tree_set_int(a, t, "nextTryUnixMs", wall_ms(st->next_try_ns));
}

/* Adds the next try of an asset that failed. Between tries and between runs nothing is under way. */
static void add_pause(struct arena *a, struct tree *t, const struct run_outcome *o,
		      int64_t next_run_wall_ns)
{
	int64_t next = next_run_wall_ns / DUR_MS;
	const char *why = "the next run";

	if (o->state == RUN_RETRYING) {
		next = wall_ms(o->run.next_ns);
		why = "its next try";
	} else if (o->state != RUN_FAILED && o->state != RUN_SKIPPED) {
		return;
	}
	/* the task's error replaces the last error of a mirror */
	tree_set_word(a, t, "lastError", o->error->msg);
	if (next <= 0)
		return;
	tree_set_word(a, t, "waiting", why);
	tree_set_int(a, t, "sinceUnixMs", wall_ms(o->end_ns ? o->end_ns : dur_now()));
	tree_set_int(a, t, "nextTryUnixMs", next);
}

struct tree *progress_tree(struct arena *a, const struct run_report *rep, struct fetcher *f,
			   int64_t next_run_wall_ns)
{
	struct tree *assets = tree_seq(a);

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		struct fetch_status st;
		struct tree *t;

		if (!progress_tells(o->task))
			continue;
		t = tree_map(a);
		tree_set_word(a, t, "name", o->task->name);
		tree_set_word(a, t, "state", run_state_name(o->state));
		if (f && fetch_status(f, o->task->asset.asset, &st))
			add_status(a, t, o, &st);
		add_pause(a, t, o, next_run_wall_ns);
		(void)tree_add(a, assets, t);
	}
	return assets;
}
