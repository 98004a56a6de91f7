#include "nodeup/join/keys.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/pool.h"
#include "nodeup/base/print.h"
#include "nodeup/config/pem.h"

/* how often a wait for keys counts the finished keys */
#define LOOK_NS DUR_SEC

enum { THREADS_MAX = 4, REASON_MAX = 64 };

struct made {
	struct join_keys *keys;
	struct arena *arena;
	const char *private, *public;
	bool done;
	int r;
};

struct join_keys {
	struct pool *pool;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct join_keys_listener listener;
	int64_t since_ns; /* when the first wait for these keys began; 0: none has begun */
	struct made **v;
	size_t n, taken;
};

static void make_one(void *arg)
{
	struct made *m = arg;
	struct err ignored;
	int r = pem_new_key(m->arena, &m->private, &m->public, &ignored);

	(void)pthread_mutex_lock(&m->keys->lock);
	m->r = r;
	m->done = true;
	(void)pthread_cond_signal(&m->keys->changed);
	(void)pthread_mutex_unlock(&m->keys->lock);
}

int join_keys_new(const struct join_keys_listener *listener, struct join_keys **ret, struct err *e)
{
	struct join_keys *k = xcalloc(1, sizeof(*k));
	pthread_condattr_t monotonic;
	int r = pool_new(1, THREADS_MAX, &k->pool, e);

	if (r < 0) {
		free(k);
		return r;
	}
	(void)pthread_mutex_init(&k->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&k->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	k->listener = *listener;
	*ret = k;
	return 0;
}

void join_keys_begin(struct join_keys *k, size_t n)
{
	const size_t all = k->taken + n;

	k->since_ns = 0;
	if (all <= k->n)
		return;
	k->v = xrealloc(k->v, all * sizeof(struct made *));
	for (; k->n < all; k->n++) {
		struct made *m = xcalloc(1, sizeof(*m));

		*m = (struct made){ .keys = k, .arena = arena_new_empty() };
		k->v[k->n] = m;
		pool_send(k->pool, make_one, m);
	}
}

/* Called under the lock, which is released during the callback. */
static void report(struct join_keys *k)
{
	char reason[REASON_MAX];
	const int64_t now = dur_now();
	const struct wait w = { .what = "keys",
				.reason = reason,
				.since_ns = k->since_ns,
				.next_ns = now + LOOK_NS,
				.expected = true,
				.works = true,
				.named = true };
	size_t made = 0;

	if (!k->listener.fn || now - k->since_ns < k->listener.after_ns)
		return;
	for (size_t i = 0; i < k->n; i++)
		made += k->v[i]->done;
	(void)print_to(reason, sizeof(reason), "%zu of %zu are made", made, k->n);
	(void)pthread_mutex_unlock(&k->lock);
	k->listener.fn(k->listener.arg, &w);
	(void)pthread_mutex_lock(&k->lock);
}

static void await(struct join_keys *k, const struct made *m)
{
	if (!k->since_ns)
		k->since_ns = dur_now();
	(void)pthread_mutex_lock(&k->lock);
	while (!m->done) {
		const int64_t due_ns = dur_now() + LOOK_NS;
		const struct timespec due = { .tv_sec = due_ns / DUR_SEC,
					      .tv_nsec = due_ns % DUR_SEC };

		report(k);
		if (!m->done)
			(void)pthread_cond_timedwait(&k->changed, &k->lock, &due);
	}
	(void)pthread_mutex_unlock(&k->lock);
}

int join_keys_take(struct join_keys *k, struct arena *a, const char **ret_private,
		   const char **ret_public, struct err *e)
{
	struct made *m = k->taken < k->n ? k->v[k->taken++] : NULL;

	if (m)
		await(k, m);
	/* a key whose making failed is made now */
	if (!m || m->r < 0)
		return pem_new_key(a, ret_private, ret_public, e);
	*ret_private = arena_str(a, m->private);
	*ret_public = arena_str(a, m->public);
	return 0;
}

void join_keys_give_back(struct join_keys *k)
{
	if (k)
		k->taken = 0;
}

void join_keys_free(struct join_keys *k)
{
	if (!k)
		return;
	pool_free(k->pool);
	for (size_t i = 0; i < k->n; i++) {
		arena_free(k->v[i]->arena);
		free(k->v[i]);
	}
	free(k->v);
	(void)pthread_cond_destroy(&k->changed);
	(void)pthread_mutex_destroy(&k->lock);
	free(k);
}
