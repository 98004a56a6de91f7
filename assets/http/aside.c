#include "assets/http/aside.h"

#include <stdlib.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/pool.h"

struct aside {
	void (*wake)(void *arg);
	void *arg;
	struct pool *pool;
	pthread_mutex_t lock; /* every transfer's aside_done and aside_r */
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

static void step(void *arg)
{
	struct transfer *t = arg;
	struct aside *s = t->aside_at;
	int r = t->status ? judge(t) : make(t);

	(void)pthread_mutex_lock(&s->lock);
	t->aside_r = r;
	t->aside_done = true;
	(void)pthread_mutex_unlock(&s->lock);
	s->wake(s->arg);
}

int aside_new(void (*wake)(void *arg), void *arg, struct aside **ret, struct err *e)
{
	struct aside *s = xcalloc(1, sizeof(*s));
	int r = pool_new(1, 1, &s->pool, e);

	if (r < 0) {
		free(s);
		return r;
	}
	s->wake = wake;
	s->arg = arg;
	(void)pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

void aside_free(struct aside *s)
{
	if (!s)
		return;
	pool_free(s->pool);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

void aside_push(struct aside *s, struct transfer *t)
{
	t->aside = true;
	t->aside_ns = dur_now();
	t->aside_at = s;
	t->aside_done = false;
	pool_send(s->pool, step, t);
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
