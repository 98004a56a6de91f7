/* map.h - from a text to a pointer, at once however many there are
 * What is put in first counts. Nothing is taken out.
 * Owner: the arena; keys are borrowed and live as long. Errors: none. Threads: none of its own.
 * Source: FNV-1a; open addressing, at most half full.
 * Tests: test_map.c. */
#pragma once

#include "nodeup/base/mem.h"

struct map_slot {
	const char *key; /* NULL: free */
	void *value;
};

/* All zeroes is an empty one. */
struct map {
	struct map_slot *slots;
	size_t n, size; /* size is 0 or a power of two */
};

/* Put it in, unless the key is there. Returns what the key leads to now. */
void *map_put(struct arena *a, struct map *m, const char *key, void *value);
/* Returns the key's value, or NULL. */
void *map_get(const struct map *m, const char *key);
