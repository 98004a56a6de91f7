/* pool.h - threads that do what is sent to them, in the order in which it was sent
 * No signal reaches these threads: signals belong to the main thread.
 * Owner: pool_new/pool_free. Errors: SYSTEM. Threads: pool_send by any thread, also by what it sent.
 * Tests: test_pool.c. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include "nodeup/base/err.h"

struct pool;

/* There will be as many threads as processors, but at least `least` and at most `most`. One starts now, each
 * other when something is sent that no thread is free for. */
int pool_new(size_t least, size_t most, struct pool **ret, struct err *e) must_check;
/* Call fn(arg) on one of them. */
void pool_send(struct pool *p, void (*fn)(void *arg), void *arg);
/* Do all that was sent, and end the threads. NULL is fine. */
void pool_free(struct pool *p);

/* Start one thread that no signal reaches. The caller joins it. */
int pool_thread(pthread_t *ret, void *(*fn)(void *arg), void *arg, struct err *e) must_check;
