/* map.h - a hash map from texts to pointers
 * The first value of a key stays. No key is ever removed.
 * Owner: the arena; keys are borrowed, and must live as long as the map. Errors: none. Threads: none of its own.
 * Source: FNV-1a; open addressing, at most half full.
 * Tests: test_map.c. */
#pragma once

#include "nodeup/base/mem.h"

struct map_slot {
	const char *key; /* NULL: a free slot */
	void *value;
};

/* A zeroed struct is an empty map. */
struct map {
	struct map_slot *slots;
	size_t n, size; /* size is 0 or a power of two */
};

/* Adds a key, unless it exists. Returns the key's value. */
void *map_put(struct arena *a, struct map *m, const char *key, void *value);
/* Returns the key's value, or NULL. */
void *map_get(const struct map *m, const char *key);
