#include "nodeup/run/metrics.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/log.h"
#include "nodeup/run/drift.h"
#include "nodeup/run/health.h"
#include "nodeup/run/run.h"

enum { TEXT_MAX = 64 << 10, UNKNOWN = -1 };

struct metrics {
	struct health health;
	struct drift drift;
	bool is_held;
};

static int64_t count_of(const struct metrics *m, enum run_state state)
{
	return health_number(tree_get(m->health.status, "counts"), run_state_name(state), UNKNOWN);
}

static int64_t end_of(const struct metrics *m)
{
	const int64_t ns = health_end(m->health.status, false);

	return ns < 0 ? UNKNOWN : ns / DUR_MS;
}

static int64_t duration_of(const struct metrics *m)
{
	return health_number(m->health.status, "elapsedMs", UNKNOWN);
}

static int64_t changed_by(const struct metrics *m)
{
	return count_of(m, RUN_CHANGED);
}

static int64_t failed_in(const struct metrics *m)
{
	return count_of(m, RUN_FAILED);
}

static int64_t received_by(const struct metrics *m)
{
	const struct tree *assets = tree_get(m->health.status, "assets");
	int64_t sum = 0;

	for (size_t i = 0; assets && assets->kind == TREE_SEQ && i < assets->n; i++)
		sum += health_number(assets->items[i].value, "bytes", 0);
	return assets ? sum : UNKNOWN;
}

/* Returns how many objects were not right when the run had ended, or at a later look of the guard. */
static int64_t drift_of(const struct metrics *m)
{
	const struct tree *counts = tree_get(m->health.status, "counts");
	int64_t n = 0;

	if (m->drift.at_ns > health_end(m->health.status, false))
		return (int64_t)m->drift.n;
	for (enum run_state s = 0; s < RUN_STATE_MAX; s++)
		if (s != RUN_EQUAL && s != RUN_CHANGED && s != RUN_UNNEEDED)
			n += health_number(counts, run_state_name(s), 0);
	return counts ? n : UNKNOWN;
}

static int64_t first_expiry(const struct metrics *m)
{
	return m->health.expires_ns ? m->health.expires_ns / DUR_MS : UNKNOWN;
}

static int64_t last_look(const struct metrics *m)
{
	return m->drift.at_ns ? m->drift.at_ns / DUR_MS : UNKNOWN;
}

static int64_t held(const struct metrics *m)
{
	return m->is_held;
}

/* The metrics with one value. One that is not known is left out. */
static const struct {
	const char *name, *help;
	bool is_ms; /* the value is in milliseconds, and shown in seconds */
	int64_t (*value)(const struct metrics *m);
} rows[] = {
	{ "nodeup_run_end_timestamp_seconds", "When the last run ended.", true, end_of },
	{ "nodeup_run_duration_seconds", "How long the last run took, all its tries included.",
	  true, duration_of },
	{ "nodeup_run_changed_tasks", "Tasks that the last run applied.", false, changed_by },
	{ "nodeup_run_failed_tasks", "Tasks that failed in the last run.", false, failed_in },
	{ "nodeup_run_received_bytes", "Bytes of assets that the last run received.", false,
	  received_by },
	{ "nodeup_drift_tasks",
	  "Tasks whose objects were not right after the last run, or at a later look of the guard.",
	  false, drift_of },
	{ "nodeup_certificate_expiry_timestamp_seconds",
	  "End of the certificate of this node that ends first.", true, first_expiry },
	{ "nodeup_guard_look_timestamp_seconds", "When the guard looked last.", true, last_look },
	{ "nodeup_guard_held", "Whether nodeup guard --hold keeps the guard from looking.", false,
	  held },
};

static void add_head(struct buf *b, const char *name, const char *help)
{
	(void)buf_addf(b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void render(const struct metrics *m, struct buf *b)
{
	static const char state[] = "nodeup_node_state";

	add_head(b, state, "State of the node, as nodeup status names it: 1 for the present one.");
	for (enum health_state s = 0; s < HEALTH_MAX; s++)
		(void)buf_addf(b, "%s{state=\"%s\"} %d\n", state, health_name(s),
			       m->health.state == s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const int64_t value = rows[i].value(m);

		if (value < 0)
			continue;
		add_head(b, rows[i].name, rows[i].help);
		if (rows[i].is_ms)
			(void)buf_addf(b, "%s %lld.%03d\n", rows[i].name, (long long)value / 1000,
				       (int)(value % 1000));
		else
			(void)buf_addf(b, "%s %lld\n", rows[i].name, (long long)value);
	}
}

static int replace(int root_fd, const char *dir, const struct buf *text, struct err *e)
{
	const struct io_attr attr = { .mode = 0644 };
	autoarena struct arena *a = arena_new_empty();
	autostage struct io_stage stage = IO_STAGE_INIT;
	const char *path = arena_printf(a, "%s/nodeup.prom", dir);
	int r;

	/* a killed run may have left its stage */
	(void)io_stage_sweep(root_fd, dir);
	r = io_stage_open(root_fd, path, &stage, e);
	if (r >= 0)
		r = io_write_fd(stage.fd, path, buf_str(text), text->len, e);
	return r < 0 ? r : io_stage_publish(&stage, path, &attr, e);
}

void metrics_write(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(TEXT_MAX);
	struct metrics m = { .is_held = drift_held_until(root_fd) > 0 };
	const char *dir;
	struct err e;
	int r = health_read(a, root_fd, &m.health, &e);

	dir = r < 0 ? "" : tree_says(m.health.status, "metrics");
	if (r == 0 && !*dir)
		return;
	drift_last(a, root_fd, &m.drift);
	render(&m, &text);
	if (r == 0)
		r = replace(root_fd, dir, &text, &e);
	if (r < 0)
		log_warning("metrics were not written: %s", e.msg);
}
