#include "nodeup/base/dur.h"
#include "nodeup/config/pem.h"
#include "nodeup/documents/loader.h"

#define CLOCK_LOOK_NS DUR_SEC

static char *date_of(struct loader *l, int64_t seconds)
{
	const int64_t last = INT64_MAX / DUR_SEC;

	return dur_date(l->arena, (seconds < last ? seconds : last) * DUR_SEC);
}

int loader_check_clock(struct loader *l, const struct loader_ca *ca, struct err *e)
{
	const int64_t now = dur_wall() / DUR_SEC;
	int64_t from, until;

	if (!ca->certs || pem_is_in_time(ca->certs, ca->id, now, &from, &until))
		return 0;
	if (now > until && store_clock_agrees(l->b->store))
		return err_config(e, "the CA %s has ended on %s", ca->name, date_of(l, until));
	return err_fail(e, ERR_BUSY, ETIME,
			"this machine's clock says %s, and the CA %s is valid from %s to %s",
			date_of(l, now), ca->name, date_of(l, from), date_of(l, until));
}

int loader_await_clock(struct loader *l, const struct loader_ca *ca, int64_t patience_ns,
		       struct err *e)
{
	const struct bootstrap_req *req = l->req;
	const int64_t since = dur_now();
	int64_t end = since + patience_ns;
	int r;

	if (req->deadline_ns && req->deadline_ns < end)
		end = req->deadline_ns;
	while ((r = loader_check_clock(l, ca, e)) < 0 && e->kind == ERR_BUSY && dur_now() < end) {
		const struct wait w = { .what = "the clock",
					.reason = e->msg,
					.since_ns = since,
					.next_ns = dur_now() + CLOCK_LOOK_NS,
					.named = true };

		if (req->patience.fn)
			req->patience.fn(req->patience.arg, &w);
		wait_until(w.next_ns < end ? w.next_ns : end);
	}
	return r;
}

void loader_warn_clock(struct loader *l, const struct err *off)
{
	const char *text = arena_printf(l->arena, "%s: its certificates stay", off->msg);

	if (!strv_has(&l->b->warnings, text))
		strv_add(l->arena, &l->b->warnings, text);
}
