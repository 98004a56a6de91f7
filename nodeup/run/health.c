#include "nodeup/run/health.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/host/liveness.h"
#include "nodeup/run/interrupted.h"
#include "nodeup/run/standing.h"
#include "units/bus.h"
#include "units/journal.h"

/* KUBELET_LINE: how many characters of a log line of kubelet are shown. */
enum { STATUS_MAX = 8 << 20, KUBELET_LINES = 20, KUBELET_LINE = 240 };

#define KUBELET_PATIENCE_NS (60 * DUR_SEC)
#define EXPIRES_SOON_NS (60 * 24 * 3600 * DUR_SEC)

static const char *const names[HEALTH_MAX] = {
	[HEALTH_READY] = "ready",     [HEALTH_FAILED] = "failed", [HEALTH_DEGRADED] = "degraded",
	[HEALTH_RUNNING] = "running", [HEALTH_NEVER] = "never",
};

const char *health_name(enum health_state state)
{
	return names[state];
}

int64_t health_number(const struct tree *status, const char *key, int64_t otherwise)
{
	const char *text = tree_text(status, key);
	char *end;
	long long n = text ? strtoll(text, &end, 10) : 0;

	return text && *text && !*end ? n : otherwise;
}

int64_t health_moment(const struct tree *status, const char *key)
{
	const int64_t ms = health_number(status, key, -1);

	return ms > 0 && ms < INT64_MAX / DUR_MS ? ms * DUR_MS : -1;
}

int64_t health_end(const struct tree *run, bool began)
{
	const int64_t start = health_number(run, "startedUnix", 0),
		      took = health_number(run, "elapsedMs", 0);

	if (start <= 0 || start > INT64_MAX / DUR_SEC / 2)
		return -1;
	if (began || took < 0 || took > INT64_MAX / DUR_MS / 2)
		return start * DUR_SEC;
	return start * DUR_SEC + took * DUR_MS;
}

int64_t health_since(const struct health *t)
{
	const bool runs = t->state == HEALTH_RUNNING;

	return health_end(t->kept && !runs ? t->word : t->status, runs);
}

const char *health_date(struct arena *a, const struct tree *run)
{
	const int64_t s = health_number(run, "startedUnix", 0);

	return dur_date(a, s > 0 && s < INT64_MAX / DUR_SEC ? s * DUR_SEC : 0);
}

/* Returns whether no retry mends the error. The status of an older nodeup has no field for this: then the exit
 * status decides. */
static bool is_lasting(const struct tree *error)
{
	static const enum err_kind kinds[] = { ERR_USAGE, ERR_REFUSED, ERR_CONFIG };
	bool is_of_such_kind = false;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct err e = { .kind = kinds[i] };

		is_of_such_kind |= health_number(error, "exitStatus", 0) == err_exit_status(&e);
	}
	return is_of_such_kind || str_eq(tree_text(error, "noRetryMends"), "true");
}

bool health_error(const struct tree *run, struct err *ret)
{
	const struct tree *error = tree_get(run, "error");

	for (enum err_kind kind = ERR_USAGE; error && kind < ERR_KIND_MAX; kind++)
		if (str_eq(err_kind_name(kind), tree_says(error, "kind"))) {
			(void)err_fail(ret, kind, 0, "%s", tree_says(error, "message"));
			return true;
		}
	return false;
}

/* Returns whether the run's error, or another of its causes, would fail the next run too. */
static bool no_retry_mends(const struct tree *status)
{
	const struct tree *causes = tree_get(status, "causes");

	if (is_lasting(tree_get(status, "error")))
		return true;
	for (size_t i = 0; causes && causes->kind == TREE_SEQ && i < causes->n; i++)
		if (is_lasting(causes->items[i].value))
			return true;
	return false;
}

/* The states that a run writes, and what each says about the node. RUNNING counts only while the process lives. */
static const struct {
	const char *written;
	enum health_state state;
} states[] = {
	{ "ready", HEALTH_READY },     { "degraded", HEALTH_DEGRADED },
	{ "running", HEALTH_RUNNING }, { "retrying", HEALTH_FAILED },
	{ "failed", HEALTH_FAILED },   { "interrupted", HEALTH_FAILED },
};

/* Returns the state that the status names; HEALTH_MAX: it is not one of ours. */
static enum health_state state_of(const struct tree *status)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (str_eq(states[i].written, tree_text(status, "state")))
			return states[i].state;
	return HEALTH_MAX;
}

/* Warns before certificates end. kops-controller refuses a Ready node, and certificates that a node issues itself
 * are renewed only by a run. */
static void judge_expiry(struct arena *a, struct health *t)
{
	const char *name = tree_text(t->word, "expiring");
	const int64_t at = health_number(t->word, "expiresUnix", 0);
	const bool renews = str_eq(tree_text(t->word, "renews"), "true");
	const char *text;

	if (!name || at <= 0 || at > INT64_MAX / DUR_SEC)
		return;
	t->expires_ns = at * DUR_SEC;
	if ((t->state != HEALTH_READY && t->state != HEALTH_DEGRADED) ||
	    t->expires_ns - dur_wall() >= EXPIRES_SOON_NS)
		return;
	text = arena_printf(a, "certificate %s %s %s, and %s", name,
			    t->expires_ns > dur_wall() ? "expires on" : "expired on",
			    dur_date(a, t->expires_ns),
			    renews ? "no run has issued it anew"
				   : "none is given to a node that is Ready");
	t->state = HEALTH_DEGRADED;
	t->why = t->why ? arena_printf(a, "%s; %s", text, t->why) : text;
	t->remedy =
		renews ? "nodeup apply"
		       : "replace the instance, or stop kubelet until the node is NotReady, then nodeup "
			 "repair";
}

/* Finds out whether the process that wrote the status lives, and what it does. */
static void judge_run(struct arena *a, int root_fd, struct health *t)
{
	const bool runs = state_of(t->status) == HEALTH_RUNNING;
	const bool sleeps = str_eq(tree_text(t->status, "state"), "retrying");

	if (runs || sleeps || health_moment(t->status, "nextRunUnixMs") > 0)
		t->pid = interrupted_live_pid(a, root_fd, t->status);
	t->died = (runs || sleeps) && !t->pid;
	t->at_work = runs && t->pid;
}

static const char *why_degraded(struct arena *a, const struct health *t)
{
	const char *why = tree_text(t->word, "keptWhy"), *harm = tree_text(t->word, "hurt"),
		   *guess = tree_text(t->word, "guessWhy"),
		   *store = tree_text(t->word, "lacksStore");

	if (harm)
		return harm;
	if (tree_get(t->word, "error"))
		return "the run was refused: what the one before had started goes on";
	return why     ? arena_printf(a, "documents are the kept ones: %s", why)
	       : guess ? guess
	       : store ? store
		       : "the state store was not reached: documents are the kept ones";
}

static int judge(struct arena *a, int root_fd, const char *path, struct health *t, struct err *e)
{
	if (state_of(t->status) == HEALTH_MAX || health_number(t->status, "schema", 0) != 1)
		return err_fail(e, ERR_CONFIG, 0, "%s: not a status that this nodeup reads", path);
	judge_run(a, root_fd, t);
	t->word = standing_of(a, t->status, t->at_work);
	t->kept = t->word == tree_get(t->status, "node");
	t->state = standing_is_good(t->word) ? state_of(t->word)
		   : t->at_work              ? HEALTH_RUNNING
					     : HEALTH_FAILED;
	/* a first try that is at work may mend an earlier failure; a later try cannot, if no retry mends that
	 * failure */
	t->stays = !t->at_work
			   ? no_retry_mends(t->status)
			   : health_number(t->status, "attempt", 0) > 1 && no_retry_mends(t->word);
	if (t->state == HEALTH_DEGRADED)
		t->why = why_degraded(a, t);
	judge_expiry(a, t);
	return 0;
}

int health_read(struct arena *a, int root_fd, struct health *ret, struct err *e)
{
	autobuf struct buf text = BUF_INIT(STATUS_MAX);
	struct tree *status;
	const char *path;
	int r = interrupted_get(root_fd, &text, &path, e);

	*ret = (struct health){ .state = HEALTH_NEVER };
	if (r >= 0)
		r = json_parse(a, path, buf_str(&text), text.len, &status, e);
	if (r == -ENOENT)
		return 0;
	if (r == 0) {
		ret->status = status;
		r = judge(a, root_fd, path, ret, e);
	}
	if (r < 0)
		err_note(e, "next", "the next run of nodeup apply replaces it");
	return r;
}

static bool is_up(const struct bus_unit *u)
{
	/* a oneshot that ended well has no process */
	if (str_eq(u->type, "oneshot"))
		return !str_eq(u->active_state, "failed");
	return str_eq(u->active_state, "active") || str_eq(u->active_state, "reloading");
}

/* Log lines of client-go, in every Kubernetes from 1.2 on. The lines repeat every few seconds while the trouble
 * lasts. */
static const struct {
	const char *words, *meaning;
} kubelet_says[] = {
	{ "x509: ", "does not trust" },
	{ "provide credentials", "is refused by" },
	{ "Unauthorized", "is refused by" },
	{ "connection refused", "cannot reach" },
	{ "no such host", "cannot reach" },
	{ "no route to host", "cannot reach" },
	{ "network is unreachable", "cannot reach" },
	{ "i/o timeout", "cannot reach" },
	{ "TLS handshake timeout", "cannot reach" },
};

/* Returns whether the line is about a request to the API server, not about a pod's probe. */
static bool is_of_api_server(const char *text)
{
	return strstr(text, "/api/v1/") || strstr(text, "node status") ||
	       strstr(text, "register node") || strstr(text, "provide credentials");
}

static const char *judge_line(struct arena *a, const char *text)
{
	for (size_t i = 0; is_of_api_server(text) && i < ARRAY_LEN(kubelet_says); i++)
		if (strstr(text, kubelet_says[i].words))
			return arena_printf(a, "kubelet %s its API server: %.*s",
					    kubelet_says[i].meaning, KUBELET_LINE, text);
	return NULL;
}

static bool is_master(const struct tree *tasks)
{
	for (size_t i = 0; i < tasks->n; i++) {
		const char *name = tree_text(tasks->items[i].value, "name");

		if (name && str_has_suffix(name, "/kube-apiserver.manifest"))
			return true;
	}
	return false;
}

static void ask_kubelet(struct arena *a, struct health *t, const struct tree *tasks)
{
	struct strv lines = { 0 };
	struct err ignored;

	if (is_master(tasks) ||
	    journal_tail(a, "kubelet.service", KUBELET_LINES, dur_wall() - KUBELET_PATIENCE_NS,
			 &lines, &ignored) < 0)
		return;
	while (lines.n && !t->why)
		t->why = judge_line(a, lines.v[--lines.n]);
	if (t->why)
		t->state = HEALTH_DEGRADED;
}

/* Asks whether the program of an active unit answers: systemd does not notice a hang. */
static void ask_program(struct arena *a, int root_fd, struct health *t, const struct bus_unit *u,
			const char *name)
{
	const char *why;
	const enum answer came = liveness_ask_unit(a, root_fd, name, u, &why);

	if (answer_is_bad(came))
		t->why = arena_printf(a, "unit %s: active, but %s; nodeup repair", name, why);
	if (came == ANSWER_NOT_ASKED && why)
		strv_addf(a, &t->unasked, "%s: %s", name, why);
}

void health_ask_units(struct arena *a, int root_fd, struct health *t)
{
	const struct tree *tasks = tree_get(t->word, "tasks");
	struct bus *bus;
	struct err ignored;

	if (t->state != HEALTH_READY || !tasks || tasks->kind != TREE_SEQ ||
	    bus_open(&bus, &ignored) < 0)
		return;
	for (size_t i = 0; i < tasks->n && !t->why; i++) {
		const struct tree *task = tasks->items[i].value;
		const char *name = tree_text(task, "name");
		struct bus_unit u;

		if (!tree_get(task, "staysUp") || !name || bus_get(bus, a, name, &u, &ignored) < 0)
			continue;
		if (is_up(&u))
			ask_program(a, root_fd, t, &u, name);
		else
			t->why = arena_printf(a,
					      "unit %s: %s (%s); nodeup plan, then nodeup repair",
					      name, u.active_state, u.sub_state);
	}
	bus_close(bus);
	if (t->why)
		t->state = HEALTH_DEGRADED;
	if (t->state == HEALTH_READY)
		ask_kubelet(a, t, tasks);
}
