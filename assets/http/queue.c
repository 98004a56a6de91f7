#include "assets/http/queue.h"

void http_queue_init(struct http_queue *q)
{
	(void)pthread_mutex_init(&q->lock, NULL);
}

void http_queue_done(struct http_queue *q)
{
	(void)pthread_mutex_destroy(&q->lock);
}

uint64_t http_queue_put(struct http_queue *q, struct transfer *t)
{
	uint64_t id;

	(void)pthread_mutex_lock(&q->lock);
	id = t->id = ++q->last_id;
	t->next = q->incoming;
	q->incoming = t;
	(void)pthread_mutex_unlock(&q->lock);
	return id;
}

void http_queue_cancel(struct http_queue *q, uint64_t id)
{
	struct transfer *lists[2];

	(void)pthread_mutex_lock(&q->lock);
	lists[0] = q->incoming;
	lists[1] = q->active;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (struct transfer *t = lists[i]; t; t = t->next)
			if (t->id == id)
				t->cancelled = true;
	(void)pthread_mutex_unlock(&q->lock);
}

void http_queue_stop(struct http_queue *q)
{
	(void)pthread_mutex_lock(&q->lock);
	q->stop = true;
	(void)pthread_mutex_unlock(&q->lock);
}

bool http_queue_take(struct http_queue *q)
{
	struct transfer *fresh, *next, *reversed = NULL;
	bool stop;

	(void)pthread_mutex_lock(&q->lock);
	fresh = q->incoming;
	q->incoming = NULL;
	stop = q->stop;
	for (; fresh; fresh = next) {
		next = fresh->next;
		fresh->next = reversed;
		reversed = fresh;
	}
	for (fresh = reversed; fresh; fresh = next) {
		next = fresh->next;
		fresh->next = q->active;
		q->active = fresh;
	}
	(void)pthread_mutex_unlock(&q->lock);
	return stop;
}

bool http_queue_is_cancelled(struct http_queue *q, const struct transfer *t)
{
	bool cancelled;

	(void)pthread_mutex_lock(&q->lock);
	cancelled = t->cancelled;
	(void)pthread_mutex_unlock(&q->lock);
	return cancelled;
}

void http_queue_remove(struct http_queue *q, struct transfer *t)
{
	struct transfer **p;

	(void)pthread_mutex_lock(&q->lock);
	for (p = &q->active; *p != t; p = &(*p)->next)
		;
	*p = t->next;
	(void)pthread_mutex_unlock(&q->lock);
}

bool http_queue_is_idle(struct http_queue *q)
{
	bool idle;

	(void)pthread_mutex_lock(&q->lock);
	idle = !q->active && !q->incoming;
	(void)pthread_mutex_unlock(&q->lock);
	return idle;
}
