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
	size_t waiting; /* errands that no thread has begun */
	bool stop;
	size_t n, busy, most; /* threads: existing, busy, and their limit */
	pthread_t threads[];
};

/* Waits for an errand. NULL: no errand is left, and no further errand will come. The lock is held. */
static struct errand *await_errand(struct pool *p)
{
	struct errand *errand;

	while (!p->first && !p->stop)
		(void)pthread_cond_wait(&p->changed, &p->lock);
	errand = p->first;
	if (!errand)
		return NULL;
	p->first = errand->next;
	if (!p->first)
		p->last = &p->first;
	p->waiting--;
	return errand;
}

static void *pool_main(void *arg)
{
	struct pool *p = arg;
	struct errand *errand;

	(void)pthread_mutex_lock(&p->lock);
	while ((errand = await_errand(p))) {
		p->busy++;
		(void)pthread_mutex_unlock(&p->lock);
		errand->fn(errand->arg);
		free(errand);
		(void)pthread_mutex_lock(&p->lock);
		p->busy--;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pool_thread(pthread_t *ret, void *(*fn)(void *arg), void *arg, struct err *e)
{
	pthread_attr_t attr;
	sigset_t all;
	int r;

	(void)sigfillset(&all);
	r = pthread_attr_init(&attr);
	if (r == 0)
		r = pthread_attr_setsigmask_np(&attr, &all);
	if (r == 0)
		r = pthread_create(ret, &attr, fn, arg);
	(void)pthread_attr_destroy(&attr);
	return r == 0 ? 0 : err_fail(e, ERR_SYSTEM, r, "start a thread: %s", strerror(r));
}

static size_t count_threads(size_t least, size_t most)
{
	const long cores = least < most ? sysconf(_SC_NPROCESSORS_ONLN) : 0;

	if (cores < 0 || (size_t)cores < least)
		return least;
	return (size_t)cores > most ? most : (size_t)cores;
}

/* The lock is held, or no other thread knows the pool yet. */
static int add_thread(struct pool *p, struct err *e)
{
	int r = pool_thread(&p->threads[p->n], pool_main, p, e);

	p->n += r == 0;
	return r;
}

int pool_new(size_t least, size_t most, struct pool **ret, struct err *e)
{
	const size_t wanted = count_threads(least, most);
	struct pool *p = xcalloc(1, sizeof(*p) + wanted * sizeof(*p->threads));
	int r;

	p->most = wanted;
	p->last = &p->first;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->changed, NULL);
	r = add_thread(p, e);
	if (r < 0) {
		pool_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void pool_send(struct pool *p, void (*fn)(void *arg), void *arg)
{
	struct errand *errand = xcalloc(1, sizeof(*errand));
	struct err ignored;

	errand->fn = fn;
	errand->arg = arg;
	(void)pthread_mutex_lock(&p->lock);
	*p->last = errand;
	p->last = &errand->next;
	p->waiting++;
	/* with fewer threads the pool is slower, but works */
	if (p->busy + p->waiting > p->n && p->n < p->most && !p->stop)
		(void)!add_thread(p, &ignored);
	(void)pthread_mutex_unlock(&p->lock);
	/* after the unlock, as the woken thread needs the lock at once */
	(void)pthread_cond_signal(&p->changed);
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
