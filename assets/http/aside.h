/* aside.h - what a transfer needs that may block, on a thread of its own
 * The net thread must not wait: a URL of a scheme that somebody else knows (http_set_scheme) is made into
 * a request here, and what a refusal of it means is asked here. Meanwhile the transfer is ours alone.
 * Owner: the http engine, which owns the transfers too. Errors: the scheme's, in the transfer.
 * Threads: the net thread pushes and takes; the scheme's functions run on ours. */
#pragma once

#include "assets/http/transfer.h"

struct aside;

/* Start the thread; wake(arg) is called whenever something is done. */
int aside_new(void (*wake)(void *arg), void *arg, struct aside **ret, struct err *e) must_check;
/* When nothing is under way any more: end the thread. NULL is fine. */
void aside_free(struct aside *s);
/* Have a request made of t->req.url, or, when t has an answer, that answer judged. */
void aside_push(struct aside *s, struct transfer *t);
/* Whether it is done; then *ret_r is what came of it: 0 a request is made (or judged: t->err says why
 * it failed), 1 judged: make another one, < 0 with t->err. */
bool aside_take(struct aside *s, struct transfer *t, int *ret_r);
