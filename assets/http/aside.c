#include "assets/http/aside.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"

struct aside {
	void (*wake)(void *arg);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock; /* what follows, and every transfer's aside_* */
	pthread_cond_t changed;
	struct transfer *first, **last;
	bool stop;
};

static int make(struct transfer *t)
{
	struct http_made made = { .asked_ns = t->aside_ns };
	int r = t->scheme->prepare(t->scheme->arg, t->arena, t->req.url, &t->scheme_state, &made,
				   &t->err);

	if (r >= 0)
		transfer_made(t, &made);
	return r;
}

static int judge(struct transfer *t)
{
	struct http_result res = transfer_result(t);

	return t->scheme->judge(t->scheme->arg, t->arena, t->req.url, t->scheme_state, &res,
				&t->err);
}

static struct transfer *next(struct aside *s)
{
	struct transfer *t;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->first && !s->stop)
		(void)pthread_cond_wait(&s->changed, &s->lock);
	t = s->first;
	if (t && !(s->first = t->aside_next))
		s->last = &s->first;
	(void)pthread_mutex_unlock(&s->lock);
	return t;
}

static void *aside_main(void *arg)
{
	struct aside *s = arg;
	struct transfer *t;

	while ((t = next(s))) {
		int r = t->status ? judge(t) : make(t);

		(void)pthread_mutex_lock(&s->lock);
		t->aside_r = r;
		t->aside_done = true;
		(void)pthread_mutex_unlock(&s->lock);
		s->wake(s->arg);
	}
	return NULL;
}

int aside_new(void (*wake)(void *arg), void *arg, struct aside **ret, struct err *e)
{
	struct aside *s = xcalloc(1, sizeof(*s));
	sigset_t all, before;
	int r;

	s->wake = wake;
	s->arg = arg;
	s->last = &s->first;
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_cond_init(&s->changed, NULL);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&s->thread, NULL, aside_main, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0) {
		free(s);
		return err_fail(e, ERR_SYSTEM, r, "start a thread beside the network's: %s",
				strerror(r));
	}
	*ret = s;
	return 0;
}

void aside_free(struct aside *s)
{
	if (!s)
		return;
	(void)pthread_mutex_lock(&s->lock);
	s->stop = true;
	(void)pthread_cond_signal(&s->changed);
	(void)pthread_mutex_unlock(&s->lock);
	(void)pthread_join(s->thread, NULL);
	(void)pthread_cond_destroy(&s->changed);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

void aside_push(struct aside *s, struct transfer *t)
{
	t->aside = true;
	t->aside_next = NULL;
	t->aside_ns = dur_now();
	(void)pthread_mutex_lock(&s->lock);
	t->aside_done = false;
	*s->last = t;
	s->last = &t->aside_next;
	(void)pthread_cond_signal(&s->changed);
	(void)pthread_mutex_unlock(&s->lock);
}

bool aside_take(struct aside *s, struct transfer *t, int *ret_r)
{
	bool done;

	(void)pthread_mutex_lock(&s->lock);
	done = t->aside_done;
	(void)pthread_mutex_unlock(&s->lock);
	if (!done)
		return false;
	t->aside = false;
	*ret_r = t->aside_r;
	return true;
}
