#include "assets/http/http.h"

#include <assert.h>
#include <pthread.h>

/* What http_get waits for. */
struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
	int r, status;
	struct buf *body;
	struct err *e;
};

static int on_get_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct waiter *w = arg;

	if (buf_add(w->body, p, n) < 0)
		return buf_check(w->body, "the body", e);
	return 0;
}

static void on_get_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct waiter *w = arg;

	(void)pthread_mutex_lock(&w->lock);
	w->r = r;
	w->status = res->status;
	if (r < 0)
		*w->e = *e;
	w->done = true;
	(void)pthread_cond_signal(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
}

int http_get(struct http *h, const struct http_req *req, struct buf *b, int *ret_status,
	     struct err *e)
{
	struct waiter w = { .body = b, .e = e };
	struct http_req mine = *req;

	assert(!http_is_net_thread(h));
	mine.data = on_get_data;
	mine.done = on_get_done;
	mine.arg = &w;
	mine.max_bytes = b->max - b->len;
	(void)pthread_mutex_init(&w.lock, NULL);
	(void)pthread_cond_init(&w.changed, NULL);
	(void)http_start(h, &mine);
	(void)pthread_mutex_lock(&w.lock);
	while (!w.done)
		(void)pthread_cond_wait(&w.changed, &w.lock);
	(void)pthread_mutex_unlock(&w.lock);
	(void)pthread_cond_destroy(&w.changed);
	(void)pthread_mutex_destroy(&w.lock);
	if (ret_status)
		*ret_status = w.status;
	return w.r < 0 ? w.r : 0;
}
