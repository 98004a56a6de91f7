#include "assets/fetch/queue.h"

#include <sys/resource.h>

/* FDS_ELSE: connections, the bus, what tasks have open; FDS_EACH: with room for two workers' copies. */
enum { FDS_ELSE = 64, FDS_EACH = 8, LEAST = 2, MOST = 128 };

void fetch_queue_init(struct fetcher *f)
{
	struct rlimit l = { 0 };

	f->queue_last = &f->queue;
	f->active_max = LEAST;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur > FDS_ELSE + LEAST * FDS_EACH)
		f->active_max = (size_t)(l.rlim_cur - FDS_ELSE) / FDS_EACH;
	if (f->active_max > MOST)
		f->active_max = MOST;
}

bool fetch_queue_enter(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;

	if (f->active < f->active_max) {
		f->active++;
		return true;
	}
	j->state = FETCH_QUEUED;
	j->queue_next = NULL;
	*f->queue_last = j;
	f->queue_last = &j->queue_next;
	return false;
}

struct fetch_job *fetch_queue_leave(struct fetcher *f)
{
	struct fetch_job *j = f->queue;

	if (!j) {
		f->active--;
		return NULL;
	}
	f->queue = j->queue_next;
	if (!f->queue)
		f->queue_last = &f->queue;
	return j;
}
