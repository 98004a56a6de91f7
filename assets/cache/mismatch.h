/* mismatch.h - wrong files that mirrors sent, so that each is downloaded only once
 * A record DIR/wrong/<algo>-<hex> is named after the wanted digest, and says nothing about other digests. The record
 * has a row for each mirror that identifies its files (ETag, Last-Modified): the SHA-256 of the mirror's URL, the
 * digest of its file, and the identification. The record is removed when the object comes, and after a week.
 * Owner: the caller owns the result of cache_mismatches_load. Errors: none; without a record the file is downloaded
 * again.
 * Units: bytes. Threads: all functions; processes may share it.
 * Tests: test_mismatch.c. */
#pragma once

#include "assets/cache/entry.h"

enum { CACHE_MISMATCHES_MAX = 8 };

/* The wrong file that one mirror sent. */
struct cache_mismatch {
	char url[DIGEST_TEXT_MAX]; /* SHA-256 of the URL, which may hold a secret */
	char got[ERR_NOTE_MAX];    /* "sha256 0123..." */
	char etag[CACHE_ETAG_MAX], modified[CACHE_MODIFIED_MAX]; /* at least one is not "" */
	uint64_t size;
};

struct cache_mismatches {
	size_t n;
	struct cache_mismatch v[CACHE_MISMATCHES_MAX];
};

/* Loads the record of this digest; NULL: there is no valid record. */
struct cache_mismatches *cache_mismatches_load(const struct cache *c, const struct digest *d);
/* Finds the row of this mirror, or NULL; `w` may be NULL. */
const struct cache_mismatch *cache_mismatches_find(const struct cache_mismatches *w,
						   const char *url);
/* Notes the file that this mirror sent, in the mirror's row. A mirror without a row gets a new row, or the oldest
 * row if the record is full. */
void cache_mismatches_note(struct cache *c, const struct digest *d, const char *url,
			   const struct cache_mismatch *row);
/* Removes the record. */
void cache_mismatches_forget(struct cache *c, const struct digest *d);
