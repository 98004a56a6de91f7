#include "assets/fetch/wait.h"

#include <stdlib.h>

bool fetch_wait_is_wanted(const struct fetch_job *j)
{
	for (const struct fetch_waiter *w = j->waiters; w; w = w->next)
		if (!w->cancelled)
			return true;
	return false;
}

struct fetch_waiter *fetch_wait_take(struct fetch_job *j, bool all)
{
	struct fetch_waiter *taken = NULL, **p = &j->waiters;

	while (*p) {
		struct fetch_waiter *w = *p;

		if (!all && !w->cancelled) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		w->next = taken;
		taken = w;
	}
	return taken;
}

void fetch_wait_tell(struct fetch_waiter *w, int r, const struct err *e)
{
	struct fetch_waiter *next;
	struct err cancelled;

	(void)err_fail(&cancelled, ERR_NET, ECANCELED, "cancelled");
	for (; w; w = next) {
		next = w->next;
		if (w->cancelled)
			w->done(w->arg, -ECANCELED, &cancelled);
		else
			w->done(w->arg, r, r < 0 ? e : NULL);
		free(w);
	}
}
