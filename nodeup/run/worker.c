#include "nodeup/run/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "nodeup/base/mem.h"

enum { THREADS_MIN = 2, THREADS_MAX = 16 };

struct queue {
	struct worker_job *head, **tail;
};

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct queue todo, done;
	bool quit;
	int event_fd;
	size_t n;
	pthread_t threads[THREADS_MAX];
};

static void queue_init(struct queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static void queue_push(struct queue *q, struct worker_job *job)
{
	job->next = NULL;
	*q->tail = job;
	q->tail = &job->next;
}

static struct worker_job *queue_pop(struct queue *q)
{
	struct worker_job *job = q->head;

	if (job) {
		q->head = job->next;
		if (!q->head)
			q->tail = &q->head;
	}
	return job;
}

static void *worker_main(void *arg)
{
	struct workers *w = arg;

	(void)pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		struct worker_job *job = queue_pop(&w->todo);

		if (!job) {
			(void)pthread_cond_wait(&w->more, &w->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&w->lock);
		job->run(job);
		(void)pthread_mutex_lock(&w->lock);
		queue_push(&w->done, job);
		workers_wake(w);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals belong to the main thread. */
static int start_threads(struct workers *w, size_t want)
{
	sigset_t all, before;
	int r = 0;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (w->n < want && r == 0) {
		r = pthread_create(&w->threads[w->n], NULL, worker_main, w);
		w->n += r == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int workers_new(struct workers **ret, struct err *e)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct workers *w = xcalloc(1, sizeof(*w));
	int r;

	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->more, NULL);
	queue_init(&w->todo);
	queue_init(&w->done);
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->event_fd < 0) {
		r = err_sys(e, "create an event descriptor");
		workers_free(w);
		return r;
	}
	if (cores < THREADS_MIN)
		cores = THREADS_MIN;
	r = start_threads(w, cores > THREADS_MAX ? THREADS_MAX : (size_t)cores);
	if (r != 0) {
		workers_free(w);
		return err_fail(e, ERR_SYSTEM, r, "start worker threads");
	}
	*ret = w;
	return 0;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	(void)pthread_mutex_lock(&w->lock);
	w->quit = true;
	(void)pthread_cond_broadcast(&w->more);
	(void)pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->n; i++)
		(void)pthread_join(w->threads[i], NULL);
	if (w->event_fd >= 0)
		(void)close(w->event_fd);
	(void)pthread_cond_destroy(&w->more);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

void workers_push(struct workers *w, struct worker_job *job)
{
	(void)pthread_mutex_lock(&w->lock);
	queue_push(&w->todo, job);
	(void)pthread_cond_signal(&w->more);
	(void)pthread_mutex_unlock(&w->lock);
}

struct worker_job *workers_take(struct workers *w)
{
	struct worker_job *job;

	(void)pthread_mutex_lock(&w->lock);
	job = queue_pop(&w->done);
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

	/* a counter that is full wakes as well */
	if (write(w->event_fd, &one, sizeof(one)) < 0)
		return;
}

void workers_drain(struct workers *w)
{
	uint64_t count;

	if (read(w->event_fd, &count, sizeof(count)) < 0)
		return;
}
