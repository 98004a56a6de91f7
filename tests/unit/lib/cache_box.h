/* cache_box.h - a node with its own cache, and archives in it
 * Owner: cache_box_setup/teardown, as fixtures of cmocka. Errors: the test fails. Threads: one. */
#pragma once

#include "assets/cache/cache.h"
#include "tests/unit/lib/scratch.h"

struct cache_box {
	struct scratch root;
	struct cache *cache;
	struct arena *a;
	struct err e;
};

int cache_box_setup(void **state);
int cache_box_teardown(void **state);
/* The same cache, as another process opens it. */
struct cache *cache_box_open(struct cache_box *b);
void cache_box_put(struct cache_box *b, const struct digest *d, const void *bytes, size_t size);
/* An archive in the cache: "hello", "last", and so many small members more. No two with other numbers are the same. */
struct asset cache_box_archive(struct cache_box *b, int number, int more);
