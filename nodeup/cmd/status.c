/* status.c - is this node ready; if not, why, what is waited for, and what to do
 * Reads what earlier runs wrote, and asks the programs that are up. Needs no network, no lock and no root. If root
 * runs it, it records the static pods that answered. */
#include "nodeup/cmd/status.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/show.h"
#include "nodeup/config/facts.h"
#include "nodeup/run/history.h"
#include "nodeup/run/explain.h"
#include "nodeup/run/pods.h"
#include "nodeup/run/standing.h"
#include "nodeup/run/waiting.h"
#include "nodeup/run/watch.h"

/* the least time between two reports of a wait */
#define SAY_NS (10 * DUR_SEC)

enum { OUT_MAX = 16 << 20, SLOWEST_MAX = 3, NAMES_MAX = 4 };

static void add_line(struct buf *b, const char *fmt, ...) printf_like(2, 3);

/* Adds one line. The texts in it may come from other programs, so they are cleaned. */
static void add_line(struct buf *b, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	(void)buf_addf(b, "%s\n", show_clean(text));
}

static void line(struct buf *b, const char *label, const char *text)
{
	if (*text)
		add_line(b, "  %-9s %s", label, text);
}

static const struct tree *list_of(const struct tree *map, const char *key)
{
	static const struct tree none = { .kind = TREE_SEQ };
	const struct tree *list = tree_get(map, key);

	return list && list->kind == TREE_SEQ ? list : &none;
}

/* Returns "" if the value is not a text. */
static const char *text_at(const struct tree *list, size_t i)
{
	const struct tree *t = i < list->n ? list->items[i].value : NULL;

	return t && t->kind == TREE_SCALAR ? t->scalar : "";
}

/* Returns "12:04:10, for 3 min 2 s", or "in 20 s" for a future time. */
static const char *moment(struct arena *a, int64_t wall_ns)
{
	const int64_t ago = dur_wall() - wall_ns;

	return ago >= 0 ? arena_printf(a, "%s, for %s", dur_clock(a, wall_ns), dur_human(a, ago))
			: arena_printf(a, "%s, in %s", dur_clock(a, wall_ns), dur_human(a, -ago));
}

/* Returns advice where the error itself has none. */
static const char *remedy(struct arena *a, const struct health *t, const struct tree *run)
{
	const struct tree *error = tree_get(run, "error");
	const char *unit = tree_says(t->status, "unit");
	const struct explanation *x = explain_status(health_number(error, "exitStatus", 0));

	if (t->remedy)
		return t->remedy;
	if (t->died || str_eq(tree_says(t->status, "state"), "interrupted"))
		return *unit ? arena_printf(a, "systemctl start %s, or nodeup repair", unit)
			     : "nodeup repair: it goes on";
	return x ? x->remedy : "";
}

/* Adds the causes of failed tasks, each once. */
static void add_causes(struct arena *a, const struct tree *run, struct buf *b)
{
	const struct tree *causes = list_of(run, "causes");

	for (size_t i = 0; i < causes->n; i++) {
		const struct tree *cause = causes->items[i].value;
		const struct tree *tasks = list_of(cause, "tasks"), *held = list_of(cause, "held");
		const char *text =
			arena_printf(a, "%s: %s", text_at(tasks, 0), tree_says(cause, "message"));

		for (size_t k = 1; k < tasks->n && k < NAMES_MAX; k++)
			text = arena_printf(a, "%s%s %s", text, k == 1 ? "; as well" : ",",
					    text_at(tasks, k));
		if (tasks->n > NAMES_MAX)
			text = arena_printf(a, "%s and %zu more", text, tasks->n - NAMES_MAX);
		if (held->n)
			text = arena_printf(a, "%s; %zu task%s held", text, held->n,
					    held->n == 1 ? "" : "s");
		line(b, "failed", text);
	}
}

/* Adds the error of the last run, or of an earlier run by which the node is judged. */
static void add_error(struct arena *a, const struct health *t, const struct tree *run,
		      struct buf *b)
{
	const struct tree *error = tree_get(run, "error"), *notes = list_of(error, "notes");
	const struct err refused = { .kind = ERR_REFUSED };
	bool has_remedy = false;

	if (error)
		add_line(b, "%s %s (%s)",
			 health_number(error, "exitStatus", 0) == err_exit_status(&refused)
				 ? "REFUSED"
				 : "FAILED",
			 tree_says(error, "message"), tree_says(error, "exitStatus"));
	add_causes(a, run, b);
	for (size_t i = 0; i < notes->n; i++) {
		const char *note = text_at(notes, i);
		const struct strv parts = strv_split(a, note, ':');

		if (!parts.n)
			continue;
		has_remedy |= str_eq(parts.v[0], "do");
		line(b, parts.v[0], note + strlen(parts.v[0]) + (parts.n > 1 ? 2 : 0));
	}
	if (!has_remedy && (error || t->state != HEALTH_READY))
		line(b, "do", remedy(a, t, run));
}

/* Returns how many milliseconds the task took; 0: not known. */
static int64_t took(const struct tree *task)
{
	const int64_t start = health_number(task, "startMs", -1),
		      end = health_number(task, "endMs", -1);

	return start < 0 || end < start || end > INT64_MAX / DUR_MS ? 0 : end - start;
}

static int by_time(const void *x, const void *y)
{
	const int64_t a = took(*(const struct tree *const *)x),
		      b = took(*(const struct tree *const *)y);

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Returns "asset kubelet 2.1 s, unit docker.service 0.9 s". */
static const char *slowest(struct arena *a, const struct tree *tasks)
{
	const struct tree **v = arena_alloc(a, (tasks->n + 1) * sizeof(*v));
	struct strv found = { 0 };

	for (size_t i = 0; i < tasks->n; i++)
		v[i] = tasks->items[i].value;
	qsort((void *)v, tasks->n, sizeof(*v), by_time);
	for (size_t i = 0; i < tasks->n && i < SLOWEST_MAX && took(v[i]) > 0; i++)
		strv_addf(a, &found, "%s %s %s", tree_says(v[i], "kind"), tree_says(v[i], "name"),
			  dur_human(a, took(v[i]) * DUR_MS));
	return found.n ? strv_join(a, &found, ", ") : "";
}

/* Returns "/data right, 31.2 GiB of 50.0 GiB free". */
static const char *room(struct arena *a, int root_fd, const char *path, const char *state)
{
	char left[STR_SIZE_MAX], size[STR_SIZE_MAX];
	autoclose int fd = -1;
	struct statvfs fs;
	struct err ignored;

	if (io_open(root_fd, path, O_PATH | O_DIRECTORY, &fd, &ignored) < 0 ||
	    fstatvfs(fd, &fs) < 0)
		return arena_printf(a, "%s %s", path, state);
	return arena_printf(a, "%s%s%s: %s of %s free", path, *state ? " " : "", state,
			    str_size(left, (uint64_t)fs.f_bavail * fs.f_frsize),
			    str_size(size, (uint64_t)fs.f_blocks * fs.f_frsize));
}

static void add_tasks(struct arena *a, int root_fd, const struct tree *tasks, bool all,
		      struct buf *b)
{
	for (size_t i = 0; i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;

		if (tree_get(t, "left"))
			line(b, "left",
			     arena_printf(a, "%s %s: %s", tree_says(t, "kind"),
					  tree_says(t, "name"), tree_says(t, "why")));
	}
	line(b, "slowest", slowest(a, tasks));
	line(b, "disk", room(a, root_fd, "/", ""));
	for (size_t i = 0; i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;

		if (str_eq(tree_says(t, "kind"), "volume") && tree_says(t, "name")[0] == '/')
			line(b, "disk",
			     room(a, root_fd, tree_says(t, "name"), tree_says(t, "state")));
	}
	for (size_t i = 0; all && i < tasks->n; i++) {
		const struct tree *t = tasks->items[i].value;
		const char *why = *tree_says(t, "error")     ? tree_says(t, "error")
				  : *tree_says(t, "waiting") ? tree_says(t, "waiting")
							     : tree_says(t, "why");

		add_line(b, "%-10s %s %s%s%s%s", tree_says(t, "state"), tree_says(t, "kind"),
			 tree_says(t, "name"), *why ? ": " : "", why,
			 took(t) > 0 ? arena_printf(a, " (%s)", dur_human(a, took(t) * DUR_MS))
				     : "");
	}
}

static void add_accepted(struct arena *a, const struct tree *run, struct buf *b)
{
	const struct tree *keys = list_of(run, "acceptedKeys");

	for (size_t i = 0; i < keys->n; i++)
		line(b, "not read",
		     arena_printf(a, "%s: left alone, as acceptKeys says", text_at(keys, i)));
}

/* Adds refused values, and why the run went on. */
static void add_values(const struct tree *run, struct buf *b)
{
	const struct tree *texts = list_of(run, "refusedValues");

	for (size_t i = 0; i < texts->n; i++)
		line(b, "value", text_at(texts, i));
}

/* Adds what the last run waits for, while its process lives. */
static void add_wait(struct arena *a, const struct health *t, struct buf *b)
{
	const int64_t waiting = health_moment(t->status, "waitingSinceUnixMs"),
		      next = health_moment(t->status, "nextTryUnixMs"),
		      run = health_moment(t->status, "nextRunUnixMs");

	if (!t->pid)
		return;
	line(b, "waits", tree_says(t->status, "waiting"));
	line(b, "since", waiting < 0 ? "" : moment(a, waiting));
	line(b, "next", next < 0 ? "" : moment(a, next));
	line(b, "next run", run < 0 ? "" : moment(a, run));
}

/* Adds the last run, which left the node as it was. */
static void add_last(struct arena *a, const struct health *t, struct buf *b)
{
	const char *signal = tree_says(t->status, "signal");
	const int64_t at = health_end(t->status, t->at_work);
	const char *when =
		at < 0 ? "" : arena_printf(a, " %s %s", t->at_work ? "since" : "at", moment(a, at));

	if (t->at_work)
		add_line(b, "a run, %s, is at work%s", standing_maker(a, t->status), when);
	else
		add_line(b, "the last run, %s, %s%s%s, and left the node as it was",
			 standing_maker(a, t->status),
			 t->died   ? "ended without a last word"
			 : *signal ? "was interrupted by "
				   : "failed",
			 signal, when);
	add_wait(a, t, b);
	add_error(a, t, t->status, b);
}

static void add_run(struct arena *a, int root_fd, const struct health *t, bool all, struct buf *b)
{
	const bool earlier = t->kept && t->state != HEALTH_RUNNING;
	const struct tree *run = earlier ? t->word : t->status;
	const int64_t began = health_since(t);
	const char *signal = tree_says(run, "signal"), *kops = tree_says(run, "kops");

	add_line(b, "%s%s%s%s", health_name(t->state),
		 began < 0 ? "" : arena_printf(a, " since %s", moment(a, began)),
		 t->died && !earlier ? "; the process ended without a last word"
		 : *signal           ? "; interrupted by "
				     : "",
		 signal);
	line(b, "run",
	     arena_printf(a, "%s, attempt %s, nodeup %s", standing_maker(a, run),
			  tree_says(run, "attempt"), tree_says(run, "version")));
	line(b, "conf", tree_says(run, "conf"));
	if (tree_get(run, "host"))
		line(b, "host", facts_host_text(a, tree_get(run, "host")));
	if (*kops)
		line(b, "kops", arena_printf(a, "%s (by %s)", kops, tree_says(run, "kopsKnownBy")));
	if (!earlier)
		add_wait(a, t, b);
	add_error(a, t, tree_get(run, "error") ? run : t->word, b);
	line(b, "why", t->why ? t->why : "");
	line(b, "pods", t->pods ? t->pods : "");
	for (size_t i = 0; all && i < t->unasked.n; i++)
		line(b, "not asked", t->unasked.v[i]);
	add_accepted(a, run, b);
	add_values(run, b);
	if (all && t->expires_ns)
		line(b, "expires",
		     arena_printf(a, "%s, certificate %s", dur_date(a, t->expires_ns),
				  tree_says(t->word, "expiring")));
	add_tasks(a, root_fd, list_of(run, "tasks"), all, b);
	if (earlier)
		add_last(a, t, b);
}

static int64_t took_in_all(const struct tree *run)
{
	const int64_t ms = health_number(run, "elapsedMs", 0);

	return ms < 0 || ms > INT64_MAX / DUR_MS ? 0 : ms * DUR_MS;
}

static void add_past(struct arena *a, const struct tree *run, struct buf *b)
{
	const struct tree *changed = list_of(run, "changed"), *error = tree_get(run, "error");

	const char *number = tree_says(run, "number");

	add_line(b, "%4s  %s  %-11s %s in %s, %zu changed%s%s", *number ? number : "-",
		 health_date(a, run), tree_says(run, "state"), standing_maker(a, run),
		 dur_human(a, took_in_all(run)), changed->n, error ? ": " : "",
		 tree_says(error, "message"));
}

struct tree *status_tree(struct arena *a, const struct health *t)
{
	struct tree *out = tree_map(a);

	tree_set_int(a, out, "schema", 1);
	tree_set_text(a, out, "state", health_name(t->state));
	tree_set_int(a, out, "status", (int64_t)t->state);
	tree_set_true(a, out, "died", t->died);
	tree_set_true(a, out, "noRetryMends", t->stays);
	tree_set_text(a, out, "why", t->why);
	tree_set_text(a, out, "pods", t->pods);
	tree_set_true(a, out, "leftAsItWas", t->kept && !t->at_work);
	tree_set_some(a, out, "notAsked", tree_of_strv(a, &t->unasked));
	if (t->status)
		(void)tree_set(a, out, "run", (struct tree *)t->status);
	return out;
}

int status_text(struct arena *a, int root_fd, const struct health *t, bool full, struct buf *b,
		struct err *e)
{
	struct tree *runs;
	int r;

	if (t->status) {
		add_run(a, root_fd, t, full, b);
		return 0;
	}
	r = history_list(a, root_fd, &runs, e);
	if (r < 0)
		return r;
	(void)buf_addf(b, "never ran%s\n", runs->n ? " since the machine started" : "");
	if (runs->n)
		add_past(a, runs->items[0].value, b);
	line(b, "do", "nodeup plan shows what would change, nodeup apply does it");
	return 0;
}

static int show_status(struct cli *cli, int root_fd, const struct health *t, struct err *e)
{
	autobuf struct buf b = BUF_INIT(OUT_MAX);
	int r;

	if (str_eq(cli->output, "json"))
		return show_json(status_tree(cli->arena, t), e);
	r = status_text(cli->arena, root_fd, t, cli->full, &b, e);
	if (r >= 0)
		show_text(buf_str(&b), b.len);
	return r;
}

static int show_runs(struct cli *cli, int root_fd, struct err *e)
{
	autobuf struct buf b = BUF_INIT(OUT_MAX);
	struct tree *runs, *out = tree_map(cli->arena);
	int r = history_list(cli->arena, root_fd, &runs, e);

	if (r < 0)
		return r;
	if (str_eq(cli->output, "json")) {
		tree_set_int(cli->arena, out, "schema", 1);
		return show_json(tree_set(cli->arena, out, "runs", runs), e);
	}
	for (size_t i = 0; i < runs->n; i++)
		add_past(cli->arena, runs->items[i].value, &b);
	if (!runs->n)
		(void)buf_adds(&b, "no run is remembered\n");
	show_text(buf_str(&b), b.len);
	return 0;
}

/* Returns why the node is not ready. */
static const char *obstacle(struct arena *a, const struct health *t)
{
	const struct tree *error = tree_get(t->status, "error");
	const char *waiting = t->state == HEALTH_RUNNING ? tree_says(t->status, "waiting") : "",
		   *failed = tree_says(error, "message");
	const char *why = *waiting ? waiting : failed;

	return *why ? arena_printf(a, "%s: %s", health_name(t->state), why) : health_name(t->state);
}

/* Returns whether the wait is over. If our unit works on a ready node, the wait goes on: the run may change the
 * node's state. */
static bool is_settled(const struct health *t)
{
	if (t->state == HEALTH_READY)
		return !t->pid || !standing_is_ours(t->status);
	return t->stays && (t->state == HEALTH_FAILED || t->state == HEALTH_DEGRADED);
}

int status_read(struct arena *a, int root_fd, struct health *ret, struct err *e)
{
	const int r = health_read(a, root_fd, ret, e);

	if (r < 0)
		return r;
	health_ask_units(a, root_fd, ret);
	pods_ask(a, root_fd, ret);
	return 0;
}

/* Waits until the node is ready, no retry can mend it, or the time is over; *ret is the final state. */
static int await_ready(struct cli *cli, int root_fd, struct waits *waits, struct health *ret,
		       struct err *e)
{
	const int64_t begun = dur_now(), end = cli->wait_ns ? begun + cli->wait_ns : 0;

	for (;;) {
		autoarena struct arena *a = arena_new_empty();
		autoclose int fd = watch_open(root_fd);
		struct health t;
		int64_t next;
		int r = status_read(a, root_fd, &t, e);

		if (r < 0)
			return r;
		if (cli->wait && t.stays && t.state == HEALTH_RUNNING)
			t.state = HEALTH_FAILED;
		if (!cli->wait || is_settled(&t) || (end && dur_now() >= end)) {
			r = health_read(cli->arena, root_fd, ret, e);
			ret->state = t.state;
			if (t.why)
				ret->why = arena_str(cli->arena, t.why);
			if (t.pods)
				ret->pods = arena_str(cli->arena, t.pods);
			for (size_t i = 0; i < t.unasked.n; i++)
				strv_add(cli->arena, &ret->unasked,
					 arena_str(cli->arena, t.unasked.v[i]));
			return r;
		}
		next = dur_now() + SAY_NS;
		if (end && end < next)
			next = end;
		waits_tell(waits, &(struct wait){ .what = "node",
						  .reason = obstacle(a, &t),
						  .since_ns = begun,
						  .next_ns = end,
						  .expected = true });
		watch_sleep(fd, t.pid, next);
	}
}

int cmd_status(struct cli *cli, struct err *e)
{
	autoclose int root = -1;
	struct waits *waits;
	struct health t;
	int r;

	r = io_open_root("/", &root, e);
	if (r >= 0 && cli->runs)
		return show_runs(cli, root, e);
	if (r < 0)
		return r;
	waits = waits_new();
	r = await_ready(cli, root, waits, &t, e);
	waits_free(waits);
	if (r >= 0)
		r = show_status(cli, root, &t, e);
	return r < 0 ? r : (int)t.state;
}
