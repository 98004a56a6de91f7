/* names.h - what an archive has at each path, in little memory
 * Each path is kept as a hash of 64 bits with a secret seed: 200,000 of them take 8 MiB. Two that have one hash are
 * taken for one path, so an archive may be refused wrongly, once in 10^9 of the largest.
 * Owner: extract_names_done. Errors: none. Threads: one.
 * Tests: test_extract_take.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum extract_there { EXTRACT_NOTHING, EXTRACT_A_DIR, EXTRACT_A_FILE, EXTRACT_A_LINK };

struct extract_place {
	uint64_t hash;
	enum extract_there is;
	uint32_t entry; /* of a file: the number of the entry that has its bytes */
};

struct extract_names {
	struct extract_place *v;
	size_t n, max;
	uint64_t seed;
};

/* The place of the path's first n bytes, which is new if it is EXTRACT_NOTHING; valid until the next call. */
struct extract_place *extract_names_at(struct extract_names *names, const char *path, size_t n);
/* Release. */
void extract_names_done(struct extract_names *names);
