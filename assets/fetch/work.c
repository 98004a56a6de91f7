#include "assets/fetch/work.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/mem.h"

enum { THREADS_MIN = 2, THREADS_MAX = 8 };

struct errand {
	struct errand *next;
	void (*fn)(void *arg);
	void *arg;
};

struct fetch_work {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct errand *first, **last;
	bool stop;
	pthread_t threads[THREADS_MAX];
	size_t n;
};

static void *work_main(void *arg)
{
	struct fetch_work *w = arg;

	for (;;) {
		struct errand *errand;

		(void)pthread_mutex_lock(&w->lock);
		while (!w->first && !w->stop)
			(void)pthread_cond_wait(&w->changed, &w->lock);
		errand = w->first;
		if (errand && !(w->first = errand->next))
			w->last = &w->first;
		(void)pthread_mutex_unlock(&w->lock);
		if (!errand)
			return NULL;
		errand->fn(errand->arg);
		free(errand);
	}
}

static size_t count_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n < THREADS_MIN)
		return THREADS_MIN;
	return n > THREADS_MAX ? THREADS_MAX : (size_t)n;
}

int fetch_work_new(struct fetch_work **ret, struct err *e)
{
	struct fetch_work *w = xcalloc(1, sizeof(*w));
	size_t wanted = count_threads();
	sigset_t all, before;
	int r = 0;

	w->last = &w->first;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->changed, NULL);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (w->n < wanted && r == 0) {
		r = pthread_create(&w->threads[w->n], NULL, work_main, w);
		w->n += r == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (w->n == 0) {
		fetch_work_free(w);
		return err_fail(e, ERR_SYSTEM, r, "start a thread that hashes: %s", strerror(r));
	}
	*ret = w;
	return 0;
}

void fetch_work_send(struct fetch_work *w, void (*fn)(void *arg), void *arg)
{
	struct errand *errand = xcalloc(1, sizeof(*errand));

	errand->fn = fn;
	errand->arg = arg;
	(void)pthread_mutex_lock(&w->lock);
	*w->last = errand;
	w->last = &errand->next;
	(void)pthread_cond_signal(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
}

void fetch_work_free(struct fetch_work *w)
{
	if (!w)
		return;
	(void)pthread_mutex_lock(&w->lock);
	w->stop = true;
	(void)pthread_cond_broadcast(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->n; i++)
		(void)pthread_join(w->threads[i], NULL);
	(void)pthread_cond_destroy(&w->changed);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}
