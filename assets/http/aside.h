/* aside.h - runs a scheme handler's blocking callbacks (s3:// signing, error parsing) on a helper thread
 * The net thread must not wait. While a transfer is queued here, it belongs to the helper thread alone.
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
