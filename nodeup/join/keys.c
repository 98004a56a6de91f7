#include "nodeup/join/keys.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/pool.h"
#include "nodeup/config/pem.h"

enum { THREADS_MAX = 4 };

struct made {
	struct join_keys *keys;
	struct arena *arena;
	const char *private, *public;
	bool done;
	int r;
	struct err err;
};

struct join_keys {
	struct pool *pool;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t n, taken;
	struct made v[];
};

static void make_one(void *arg)
{
	struct made *m = arg;
	int r = pem_new_key(m->arena, &m->private, &m->public, &m->err);

	(void)pthread_mutex_lock(&m->keys->lock);
	m->r = r;
	m->done = true;
	(void)pthread_cond_signal(&m->keys->changed);
	(void)pthread_mutex_unlock(&m->keys->lock);
}

int join_keys_new(size_t n, struct join_keys **ret, struct err *e)
{
	struct join_keys *k = xcalloc(1, sizeof(*k) + n * sizeof(k->v[0]));
	int r = pool_new(1, THREADS_MAX, &k->pool, e);

	if (r < 0) {
		free(k);
		return r;
	}
	(void)pthread_mutex_init(&k->lock, NULL);
	(void)pthread_cond_init(&k->changed, NULL);
	k->n = n;
	for (size_t i = 0; i < n; i++) {
		k->v[i] = (struct made){ .keys = k, .arena = arena_new_empty() };
		pool_send(k->pool, make_one, &k->v[i]);
	}
	*ret = k;
	return 0;
}

int join_keys_take(struct join_keys *k, struct arena *a, const char **ret_private,
		   const char **ret_public, struct err *e)
{
	struct made *m = k->taken < k->n ? &k->v[k->taken++] : NULL;

	if (!m)
		return pem_new_key(a, ret_private, ret_public, e);
	(void)pthread_mutex_lock(&k->lock);
	while (!m->done)
		(void)pthread_cond_wait(&k->changed, &k->lock);
	(void)pthread_mutex_unlock(&k->lock);
	if (m->r < 0) {
		*e = m->err;
		return m->r;
	}
	*ret_private = arena_str(a, m->private);
	*ret_public = arena_str(a, m->public);
	return 0;
}

void join_keys_free(struct join_keys *k)
{
	if (!k)
		return;
	pool_free(k->pool);
	for (size_t i = 0; i < k->n; i++)
		arena_free(k->v[i].arena);
	(void)pthread_cond_destroy(&k->changed);
	(void)pthread_mutex_destroy(&k->lock);
	free(k);
}
