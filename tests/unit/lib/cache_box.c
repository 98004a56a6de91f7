#include "tests/unit/lib/cache_box.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include "tests/unit/lib/tar.h"

static const char cache_dir[] = "/var/cache/nodeup";

struct cache *cache_box_open(struct cache_box *b)
{
	struct cache *c;

	if (cache_new_own(b->root.fd, cache_dir, true, &c, &b->e) < 0)
		fail_msg("%s", b->e.msg);
	return c;
}

int cache_box_setup(void **state)
{
	struct cache_box *b = xcalloc(1, sizeof(*b));

	scratch_new(&b->root);
	b->a = arena_new_empty();
	b->cache = cache_box_open(b);
	*state = b;
	return 0;
}

int cache_box_teardown(void **state)
{
	struct cache_box *b = *state;

	cache_free(b->cache);
	arena_free(b->a);
	scratch_done(&b->root);
	free(b);
	return 0;
}

void cache_box_put(struct cache_box *b, const struct digest *d, const void *bytes, size_t size)
{
	struct cache_entry *en;

	if (cache_begin(b->cache, d, &en, &b->e) < 0 || cache_write(en, bytes, size, &b->e) < 0 ||
	    cache_commit(en, &b->e) < 0)
		fail_msg("%s", b->e.msg);
}

struct asset cache_box_archive(struct cache_box *b, int number, int more)
{
	struct asset as = { .name = "bin.tar.gz", .form = ASSET_TAR_GZ };
	autobuf struct buf tar = TAR_BUF;

	tar_add(&tar, &(struct tar_entry){ "hello", '0', NULL, 0755, "hello", 0 });
	tar_add(&tar, &(struct tar_entry){ "last", '0', NULL, 0755, "x", 0 });
	for (int i = 0; i < more; i++)
		tar_add(&tar, &(struct tar_entry){ arena_printf(b->a, "%d.%d", number, i), '0',
						   NULL, 0755, "x", 0 });
	tar_end(&tar);
	tar_gzip(&tar);
	digest_of(DIGEST_SHA256, tar.data, tar.len, &as.digest);
	cache_box_put(b, &as.digest, tar.data, tar.len);
	return as;
}
