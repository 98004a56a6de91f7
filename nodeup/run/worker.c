#include "nodeup/run/worker.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "nodeup/base/pool.h"

/* two threads read the archives of a node, which take a processor each; the third does small work meanwhile */
enum { THREADS_MIN = 3, THREADS_MAX = 16 };

struct workers {
	struct pool *pool;
	pthread_mutex_t lock; /* guards the list of finished jobs */
	struct worker_job *first, **last;
	atomic_bool quit;
	atomic_size_t waiting; /* jobs that were pushed and have not begun */
	atomic_bool untold;    /* a job is finished, and no wake-up has told the owner of it */
	atomic_bool
		woken; /* a wake-up is not drained yet; it serves all jobs that finish before it is drained */
	int event_fd;
};

static void do_job(void *arg)
{
	struct worker_job *job = arg;
	struct workers *w = job->workers;
	const bool is_last = atomic_fetch_sub(&w->waiting, 1) == 1;

	if (atomic_load(&w->quit))
		return;
	/* the last waiting job wakes the owner even if it claims to be brief: it may take long, and no idle thread
	 * would wake the owner meanwhile */
	if (!job->brief || is_last)
		workers_tell(w);
	job->run(job);
	(void)pthread_mutex_lock(&w->lock);
	job->next = NULL;
	*w->last = job;
	w->last = &job->next;
	(void)pthread_mutex_unlock(&w->lock);
	/* first the flag, then the look at `waiting`: a thread that takes a waiting job now sees the flag, and wakes
	 * the owner */
	atomic_store(&w->untold, true);
	if (atomic_load(&w->waiting) == 0)
		workers_tell(w);
}

int workers_new(struct workers **ret, struct err *e)
{
	struct workers *w = xcalloc(1, sizeof(*w));
	int r;

	(void)pthread_mutex_init(&w->lock, NULL);
	w->last = &w->first;
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->event_fd < 0 ? err_sys(e, "create an event descriptor")
			    : pool_new(THREADS_MIN, THREADS_MAX, &w->pool, e);
	if (r < 0) {
		workers_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	atomic_store(&w->quit, true);
	pool_free(w->pool);
	if (w->event_fd >= 0)
		(void)close(w->event_fd);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

void workers_push(struct workers *w, struct worker_job *job)
{
	job->workers = w;
	atomic_fetch_add(&w->waiting, 1);
	pool_send(w->pool, do_job, job);
}

struct worker_job *workers_take(struct workers *w)
{
	struct worker_job *job;

	(void)pthread_mutex_lock(&w->lock);
	job = w->first;
	if (job && !(w->first = job->next))
		w->last = &w->first;
	(void)pthread_mutex_unlock(&w->lock);
	return job;
}

int workers_fd(const struct workers *w)
{
	return w->event_fd;
}

void workers_wake(struct workers *w)
{
	const uint64_t one = 1;

	if (atomic_exchange(&w->woken, true))
		return;
	/* if the counter is full, the owner is woken already */
	if (write(w->event_fd, &one, sizeof(one)) < 0)
		return;
}

void workers_tell(struct workers *w)
{
	if (atomic_exchange(&w->untold, false))
		workers_wake(w);
}

void workers_drain(struct workers *w)
{
	uint64_t count;

	(void)!read(w->event_fd, &count, sizeof(count));
	/* only after the read: it drained earlier wake-ups, and the owner sees their finished jobs now */
	atomic_store(&w->woken, false);
}
