#include "nodeup/run/told.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/interrupted.h"

enum { STATUS_MAX = 8 << 20 };

static const char *const names[TOLD_MAX] = {
	[TOLD_READY] = "ready",     [TOLD_FAILED] = "failed", [TOLD_DEGRADED] = "degraded",
	[TOLD_RUNNING] = "running", [TOLD_NEVER] = "never",
};

const char *told_name(enum told_state state)
{
	return names[state];
}

int64_t told_number(const struct tree *status, const char *key, int64_t otherwise)
{
	const char *text = status && status->kind == TREE_MAP ? tree_text(status, key) : NULL;
	char *end;
	long long n = text ? strtoll(text, &end, 10) : 0;

	return text && *text && !*end ? n : otherwise;
}

int64_t told_moment(const struct tree *status, const char *key)
{
	const int64_t ms = told_number(status, key, -1);

	return ms > 0 && ms < INT64_MAX / DUR_MS ? ms * DUR_MS : -1;
}

const char *told_date(struct arena *a, const struct tree *run)
{
	const int64_t s = told_number(run, "startedUnix", 0);

	return dur_date(a, s > 0 && s < INT64_MAX / DUR_SEC ? s * DUR_SEC : 0);
}

/* Mirrors that agree about bytes that the document does not want: the document is wrong (fetch/job.c). */
static bool mirrors_agree(const struct tree *error)
{
	const struct tree *notes = tree_get(error, "notes");

	for (size_t i = 0; notes && i < notes->n; i++) {
		const struct tree *note = notes->items[i].value;

		if (note->kind == TREE_SCALAR &&
		    strstr(note->scalar, "mirrors send the same bytes"))
			return true;
	}
	return false;
}

static bool is_of_kind(int64_t status, enum err_kind kind)
{
	const struct err e = { .kind = kind };

	return status == err_exit_status(&e);
}

static bool no_retry_mends(const struct tree *error)
{
	const int64_t status = told_number(error, "exitStatus", 0);

	return is_of_kind(status, ERR_USAGE) || is_of_kind(status, ERR_REFUSED) ||
	       is_of_kind(status, ERR_CONFIG) ||
	       (is_of_kind(status, ERR_INTEGRITY) && mirrors_agree(error));
}

/* What a run writes, and what it is to a reader: RUNNING only while the process lives. */
static const struct {
	const char *written;
	enum told_state state;
} states[] = {
	{ "ready", TOLD_READY },      { "degraded", TOLD_DEGRADED }, { "running", TOLD_RUNNING },
	{ "retrying", TOLD_RUNNING }, { "failed", TOLD_FAILED },     { "interrupted", TOLD_FAILED },
};

static int judge(struct arena *a, int root_fd, struct told *t, struct err *e)
{
	const bool is_map = t->status->kind == TREE_MAP;
	const char *state = is_map ? tree_text(t->status, "state") : NULL;
	const struct tree *error = is_map ? tree_get(t->status, "error") : NULL;
	size_t i = 0;

	while (i < ARRAY_LEN(states) && !str_eq(states[i].written, state))
		i++;
	if (i == ARRAY_LEN(states) || told_number(t->status, "schema", 0) != 1)
		return err_fail(e, ERR_CONFIG, 0, "%s: not a status that this nodeup reads",
				OWN_STATUS);
	t->state = states[i].state;
	t->stays = error && no_retry_mends(error);
	if (t->state != TOLD_RUNNING)
		return 0;
	t->pid = interrupted_live_pid(a, root_fd, t->status);
	t->died = t->pid == 0;
	t->state = t->died ? TOLD_FAILED : TOLD_RUNNING;
	return 0;
}

int told_read(struct arena *a, int root_fd, struct told *ret, struct err *e)
{
	autobuf struct buf text = BUF_INIT(STATUS_MAX);
	struct tree *status;
	int r = io_read(root_fd, OWN_STATUS, &text, e);

	*ret = (struct told){ .state = TOLD_NEVER };
	if (r >= 0)
		r = json_parse(a, OWN_STATUS, buf_str(&text), text.len, &status, e);
	if (r == -ENOENT)
		return 0;
	if (r == 0) {
		ret->status = status;
		r = judge(a, root_fd, ret, e);
	}
	if (r < 0)
		err_note(e, "next", "the next run of nodeup apply replaces it");
	return r;
}
