#include "nodeup/base/map.h"

#include <stdint.h>
#include <string.h>

enum { SIZE_FIRST = 16 };

static uint64_t hash_of(const char *key)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3;
	return h ^ h >> 32;
}

/* Returns the key's slot, or the free slot in which it belongs. There is always a free slot. */
static struct map_slot *find(const struct map *m, const char *key)
{
	size_t i = hash_of(key) & (m->size - 1);

	while (m->slots[i].key && strcmp(m->slots[i].key, key) != 0)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

static void grow(struct arena *a, struct map *m)
{
	struct map larger = { .size = m->size ? 2 * m->size : SIZE_FIRST, .n = m->n };

	larger.slots = arena_alloc(a, larger.size * sizeof(*larger.slots));
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].key)
			*find(&larger, m->slots[i].key) = m->slots[i];
	*m = larger;
}

void *map_put(struct arena *a, struct map *m, const char *key, void *value)
{
	struct map_slot *slot;

	if (2 * (m->n + 1) > m->size)
		grow(a, m);
	slot = find(m, key);
	if (!slot->key) {
		*slot = (struct map_slot){ key, value };
		m->n++;
	}
	return slot->value;
}

void *map_get(const struct map *m, const char *key)
{
	return m->size ? find(m, key)->value : NULL;
}
