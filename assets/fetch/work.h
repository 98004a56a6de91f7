/* work.h - threads that read, hash, unpack and sync, so that the net thread never waits for a disk
 * Errands begin in the order in which they were sent. Each is short, a few megabytes; a sender with more
 * to do sends another. So none waits behind a large asset.
 * Owner: the fetcher. Errors: SYSTEM. Threads: all functions; fetch_work_free once all errands that
 * matter are done. */
#pragma once

#include "nodeup/base/err.h"

struct fetch_work;

/* Start them, as many as there are processors within reason. */
int fetch_work_new(struct fetch_work **ret, struct err *e) must_check;
/* Call fn(arg) on one of the threads. */
void fetch_work_send(struct fetch_work *w, void (*fn)(void *arg), void *arg);
/* Finish what was sent, and end the threads; NULL is fine. */
void fetch_work_free(struct fetch_work *w);
