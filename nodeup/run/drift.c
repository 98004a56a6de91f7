#include "nodeup/run/drift.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/json.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/run/health.h"
#include "nodeup/run/lock.h"

/* so long after a run, services may still be starting */
#define AFTER_RUN_NS (600 * DUR_SEC)

enum { RECORD_MAX = 64 << 10 };

void drift_last(struct arena *a, int root_fd, struct drift *ret)
{
	const char *text = io_text(a, root_fd, OWN_DRIFT, RECORD_MAX);
	const struct tree *stopped;
	struct tree *t;
	struct err ignored;

	*ret = (struct drift){ 0 };
	if (!text || json_parse(a, OWN_DRIFT, text, strlen(text), &t, &ignored) < 0)
		return;
	ret->at_ns = health_moment(t, "lookUnixMs");
	if (ret->at_ns < 0)
		ret->at_ns = 0;
	ret->n = (size_t)health_number(t, "drift", 0);
	stopped = tree_get(t, "stopped");
	for (size_t i = 0; stopped && stopped->kind == TREE_SEQ && i < stopped->n; i++)
		if (stopped->items[i].value->kind == TREE_SCALAR)
			strv_add(a, &ret->stopped, stopped->items[i].value->scalar);
}

int drift_keep(int root_fd, const struct drift *d, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct tree *t = tree_map(a);
	int r;

	tree_set_int(a, t, "schema", 1);
	tree_set_int(a, t, "lookUnixMs", d->at_ns / DUR_MS);
	tree_set_int(a, t, "drift", (int64_t)d->n);
	tree_set_some(a, t, "stopped", tree_of_strv(a, &d->stopped));
	r = json_render(t, false, &text, e);
	return r < 0 ? r : record_write(root_fd, OWN_DRIFT, 0644, buf_str(&text), e);
}

int drift_hold(int root_fd, int64_t until_ns, struct err *e)
{
	autofree char *text = xasprintf("%lld\n", (long long)(until_ns / DUR_SEC));

	return record_write(root_fd, OWN_HELD, 0644, text, e);
}

int64_t drift_held_until(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = io_text(a, root_fd, OWN_HELD, RECORD_MAX);
	const int64_t until = text ? strtoll(text, NULL, 10) : 0;

	return until > dur_wall() / DUR_SEC && until < INT64_MAX / DUR_SEC ? until * DUR_SEC : 0;
}

const char *drift_hindrance(struct arena *a, int root_fd)
{
	const int64_t held = drift_held_until(root_fd);
	struct health t;
	struct err e;
	int64_t ago;

	if (held)
		return arena_printf(a, "held until %s UTC", dur_date(a, held));
	if (lock_look(root_fd, &e) < 0)
		return arena_str(a, e.msg);
	/* a status that is damaged is no reason to look away */
	if (health_read(a, root_fd, &t, &e) < 0)
		return NULL;
	if (!t.status)
		return "there was no run since the machine started";
	ago = dur_wall() - health_end(t.status, false);
	return ago >= 0 && ago < AFTER_RUN_NS
		       ? arena_printf(a, "a run ended %s ago", dur_human(a, ago))
		       : NULL;
}
