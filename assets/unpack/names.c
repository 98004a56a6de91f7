#include "assets/unpack/names.h"

#include <stdlib.h>
#include <sys/random.h>
#include "nodeup/base/mem.h"

enum { FIRST = 1024 };

/* FNV-1a, with its bits mixed at the end. */
static uint64_t hash_of(uint64_t seed, const char *path, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)path[i]) * UINT64_C(0x100000001b3);
	h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ (h >> 32);
}

static struct extract_place *find(const struct extract_names *names, uint64_t hash)
{
	size_t i = hash & (names->max - 1);

	while (names->v[i].is != EXTRACT_NOTHING && names->v[i].hash != hash)
		i = (i + 1) & (names->max - 1);
	return &names->v[i];
}

static void grow(struct extract_names *names)
{
	struct extract_names larger = { .max = names->max ? 2 * names->max : FIRST,
					.seed = names->seed,
					.n = 0 };

	if (!names->max)
		(void)!getrandom(&larger.seed, sizeof(larger.seed), 0);
	larger.v = xcalloc(larger.max, sizeof(*larger.v));
	for (size_t i = 0; i < names->max; i++)
		if (names->v[i].is != EXTRACT_NOTHING) {
			*find(&larger, names->v[i].hash) = names->v[i];
			larger.n++;
		}
	free(names->v);
	*names = larger;
}

struct extract_place *extract_names_at(struct extract_names *names, const char *path, size_t n)
{
	struct extract_place *place;

	/* makes room first: each call may add a place; the caller sets the kind of a new place */
	if (2 * (names->n + 1) > names->max)
		grow(names);
	place = find(names, hash_of(names->seed, path, n));
	if (place->is == EXTRACT_NOTHING) {
		place->hash = hash_of(names->seed, path, n);
		names->n++;
	}
	return place;
}

void extract_names_done(struct extract_names *names)
{
	free(names->v);
	*names = (struct extract_names){ 0 };
}
