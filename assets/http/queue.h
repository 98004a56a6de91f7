/* queue.h - the transfers of an engine: what was started, what runs, what was cancelled
 * Any thread starts and cancels; the net thread alone moves a transfer to what runs and takes it away, and
 * walks what runs without the lock.
 * Owner: the engine owns the transfers. Errors: none. Threads: as said. */
#pragma once

#include <pthread.h>
#include "assets/http/transfer.h"

struct http_queue {
	pthread_mutex_t lock;      /* the members below, and every transfer's `cancelled` */
	struct transfer *incoming; /* last started first */
	struct transfer *active;   /* last started first */
	uint64_t last_id;
	bool stop;
};

/* Make an empty one in the caller's storage; release what it holds, when nothing is in it. */
void http_queue_init(struct http_queue *q);
void http_queue_done(struct http_queue *q);
/* Any thread: start one; cancel one, if it still is there; have all end. */
uint64_t http_queue_put(struct http_queue *q, struct transfer *t);
void http_queue_cancel(struct http_queue *q, uint64_t id);
void http_queue_stop(struct http_queue *q);
/* The net thread: move what was started to what runs. Returns whether all is to end. */
bool http_queue_take(struct http_queue *q);
/* The net thread: whether it was; take it off what runs; whether there is nothing. */
bool http_queue_is_cancelled(struct http_queue *q, const struct transfer *t);
void http_queue_remove(struct http_queue *q, struct transfer *t);
bool http_queue_is_idle(struct http_queue *q);
