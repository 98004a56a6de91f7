/* names.h - the kind of entry at each path of an archive, in little memory
 * A path is kept as a hash of 64 bits with a secret seed: 200,000 paths take 8 MiB. Two paths with the same hash
 * count as one, so an archive may be refused wrongly: this happens to one in 10^9 of the largest archives.
 * Owner: extract_names_done. Errors: none. Threads: one.
 * Tests: test_extract_take.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum extract_there { EXTRACT_NOTHING, EXTRACT_A_DIR, EXTRACT_A_FILE, EXTRACT_A_LINK };

struct extract_place {
	uint64_t hash;
	enum extract_there is;
	uint32_t entry; /* for a file: number of the entry that has the bytes */
};

struct extract_names {
	struct extract_place *v;
	size_t n, max;
	uint64_t seed;
};

/* Returns the place of the path's first n bytes; a new place has the kind EXTRACT_NOTHING. Valid until the next
 * call. */
struct extract_place *extract_names_at(struct extract_names *names, const char *path, size_t n);
/* Releases the names. */
void extract_names_done(struct extract_names *names);
