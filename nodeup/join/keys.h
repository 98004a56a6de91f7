/* keys.h - makes keys while the run waits for other things
 * A key takes some hundredths of a second of one processor. The first answer of kops-controller takes at least as
 * long as a key.
 * Owner: join_keys_new/join_keys_free; texts are the arena's. Errors: SYSTEM. Threads: one; the keys are made on
 * others.
 * Tests: test_keys.c. */
#pragma once

#include <stddef.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/wait.h"

struct join_keys;

/* Called while the run waits for a key, once the wait has lasted after_ns. If fn is NULL, nobody is called. */
struct join_keys_listener {
	int64_t after_ns;
	wait_fn *fn;
	void *arg;
};

/* Makes the set; begins no key yet. */
int join_keys_new(const struct join_keys_listener *listener, struct join_keys **ret,
		  struct err *e) must_check;
/* Begins keys until n keys are there that nobody has taken. */
void join_keys_begin(struct join_keys *k, size_t n);
/* Takes the next key, and waits until it is made. If all begun keys are taken, makes one now. See pem_new_key. */
int join_keys_take(struct join_keys *k, struct arena *a, const char **ret_private,
		   const char **ret_public, struct err *e) must_check;
/* Gives back keys that were taken and not used, so that they can be taken again. NULL is fine. */
void join_keys_give_back(struct join_keys *k);
/* Waits for keys that are being made, and releases all. NULL is fine. */
void join_keys_free(struct join_keys *k);
