/* keys.h - keys that are made while others are waited for
 * A key takes some hundredths of a second of one processor, and the first answer of kops-controller as long or longer.
 * Owner: join_keys_new/join_keys_free; texts are the arena's. Errors: SYSTEM. Threads: one; the keys are made on others.
 * Tests: test_keys.c. */
#pragma once

#include <stddef.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/wait.h"

struct join_keys;

/* Called with how many there are while one is waited for, from so long on. fn NULL: nobody is. */
struct join_keys_listener {
	int64_t after_ns;
	wait_fn *fn;
	void *arg;
};

/* None is begun yet. */
int join_keys_new(const struct join_keys_listener *listener, struct join_keys **ret,
		  struct err *e) must_check;
/* Begin to make as many keys as are missing of n that nobody has taken. */
void join_keys_begin(struct join_keys *k, size_t n);
/* The next one, when it is made; beyond those that were begun it is made now. See pem_new_key. */
int join_keys_take(struct join_keys *k, struct arena *a, const char **ret_private,
		   const char **ret_public, struct err *e) must_check;
/* Gives back keys whose use came to nothing: the same are taken again. NULL is fine. */
void join_keys_give_back(struct join_keys *k);
/* Release; waits for keys that are being made. NULL is fine. */
void join_keys_free(struct join_keys *k);
