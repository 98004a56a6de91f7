/* cache_box.h - a node with its own cache, and archives in it whose members are shared with installed files
 * Owner: cache_box_setup/teardown, as fixtures of cmocka. Errors: the test fails. Threads: cache_box_share alone. */
#pragma once

#include "assets/cache/lend.h"
#include "tests/unit/lib/scratch.h"

struct cache_box {
	struct scratch root;
	struct cache *cache;
	struct arena *a;
	struct err e;
};

/* Files are installed below it. */
#define CACHE_BOX_BIN "/usr/local/bin"

int cache_box_setup(void **state);
int cache_box_teardown(void **state);
/* The same cache, as another process opens it. */
struct cache *cache_box_open(struct cache_box *b);
void cache_box_put(struct cache_box *b, const struct digest *d, const void *bytes, size_t size);
/* An archive in the cache: "hello", "last", and so many small members more. No two with other numbers are the same. */
struct asset cache_box_archive(struct cache_box *b, int number, int more);
/* Where a member of it is unpacked. */
const char *cache_box_member(struct cache_box *b, const struct asset *archive, const char *name);
/* Install that member of the archive there; what cache_share_member says. */
int cache_box_share(struct cache_box *b, struct cache *c, const struct asset *archive,
		    const char *name, const char *path, const struct io_attr *attr);
