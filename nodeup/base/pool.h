/* pool.h - threads that run functions in the order in which they were sent
 * No signal reaches these threads: signals belong to the main thread.
 * Owner: pool_new/pool_free. Errors: SYSTEM. Threads: pool_send from any thread, also from a sent function.
 * Tests: test_pool.c. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include "nodeup/base/err.h"

struct pool;

/* Makes a pool of as many threads as processors, at least `least` and at most `most`. One thread starts now, and the
 * others when a function is sent and no thread is free. */
int pool_new(size_t least, size_t most, struct pool **ret, struct err *e) must_check;
/* Calls fn(arg) on one of the threads. */
void pool_send(struct pool *p, void (*fn)(void *arg), void *arg);
/* Runs everything that was sent, and ends the threads. NULL is fine. */
void pool_free(struct pool *p);

/* Starts one thread that no signal reaches. The caller joins it. */
int pool_thread(pthread_t *ret, void *(*fn)(void *arg), void *arg, struct err *e) must_check;
