/* mismatch.h - what mirrors sent in the place of an object, so that the same wrong file comes once
 * A record DIR/wrong/<algo>-<hex> is named after the digest that was wanted, so it says nothing of any other
 * digest. It has a row for each mirror that names its files (ETag, Last-Modified): the SHA-256 of its URL, the
 * digest that it sent, and how it named that. The record is removed when the object comes, and after a week.
 * Owner: cache_mismatches_load's is the caller's. Errors: none; without a record the file is downloaded again.
 * Units: bytes. Threads: all functions; processes may share it.
 * Tests: test_mismatch.c. */
#pragma once

#include "assets/cache/entry.h"

enum { CACHE_MISMATCHES_MAX = 8 };

/* The wrong file that one mirror sent. */
struct cache_mismatch {
	char url[DIGEST_TEXT_MAX]; /* SHA-256 of the URL, which may hold a secret */
	char got[ERR_NOTE_MAX];    /* "sha256 0123..." */
	char etag[CACHE_ETAG_MAX], modified[CACHE_MODIFIED_MAX]; /* not both "" */
	uint64_t size;
};

struct cache_mismatches {
	size_t n;
	struct cache_mismatch v[CACHE_MISMATCHES_MAX];
};

/* Loads the records of this digest; NULL: none, or none that can be believed. */
struct cache_mismatches *cache_mismatches_load(const struct cache *c, const struct digest *d);
/* The row of this mirror, or NULL; `w` may be NULL. */
const struct cache_mismatch *cache_mismatches_find(const struct cache_mismatches *w,
						   const char *url);
/* Note what this mirror sent, in its row or a new one, for which the eldest row is dropped. */
void cache_mismatches_note(struct cache *c, const struct digest *d, const char *url,
			   const struct cache_mismatch *row);
/* Remove the record. */
void cache_mismatches_forget(struct cache *c, const struct digest *d);
