#include "nodeup/base/pool.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/mem.h"

struct errand {
	struct errand *next;
	void (*fn)(void *arg);
	void *arg;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct errand *first, **last;
	bool stop;
	size_t n;
	pthread_t threads[];
};

static void *pool_main(void *arg)
{
	struct pool *p = arg;

	for (;;) {
		struct errand *errand;

		(void)pthread_mutex_lock(&p->lock);
		while (!p->first && !p->stop)
			(void)pthread_cond_wait(&p->changed, &p->lock);
		errand = p->first;
		if (errand && !(p->first = errand->next))
			p->last = &p->first;
		(void)pthread_mutex_unlock(&p->lock);
		if (!errand)
			return NULL;
		errand->fn(errand->arg);
		free(errand);
	}
}

int pool_thread(pthread_t *ret, void *(*fn)(void *arg), void *arg, struct err *e)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(ret, NULL, fn, arg);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r == 0 ? 0 : err_fail(e, ERR_SYSTEM, r, "start a thread: %s", strerror(r));
}

static size_t count_threads(size_t least, size_t most)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (cores < 0 || (size_t)cores < least)
		return least;
	return (size_t)cores > most ? most : (size_t)cores;
}

int pool_new(size_t least, size_t most, struct pool **ret, struct err *e)
{
	const size_t wanted = count_threads(least, most);
	struct pool *p = xcalloc(1, sizeof(*p) + wanted * sizeof(*p->threads));
	int r = 0;

	p->last = &p->first;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->changed, NULL);
	while (p->n < wanted && r == 0) {
		r = pool_thread(&p->threads[p->n], pool_main, p, e);
		p->n += r == 0;
	}
	/* fewer of them are slower, and no less right */
	if (p->n == 0) {
		pool_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void pool_send(struct pool *p, void (*fn)(void *arg), void *arg)
{
	struct errand *errand = xcalloc(1, sizeof(*errand));

	errand->fn = fn;
	errand->arg = arg;
	(void)pthread_mutex_lock(&p->lock);
	*p->last = errand;
	p->last = &errand->next;
	(void)pthread_cond_signal(&p->changed);
	(void)pthread_mutex_unlock(&p->lock);
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->stop = true;
	(void)pthread_cond_broadcast(&p->changed);
	(void)pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < p->n; i++)
		(void)pthread_join(p->threads[i], NULL);
	(void)pthread_cond_destroy(&p->changed);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}
