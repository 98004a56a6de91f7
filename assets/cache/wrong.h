/* wrong.h - what mirrors sent in the place of an object, so that the same wrong file comes once
 * A record DIR/wrong/<algo>-<hex> is named after the digest that was wanted, so it says nothing of any other
 * digest. It has a row for each mirror that names its files (ETag, Last-Modified): the SHA-256 of its URL, the
 * digest that it sent, and how it named that. The record is removed when the object comes, and after a week.
 * Owner: cache_wrongs_load's is the caller's. Errors: none; without a record the file is downloaded again.
 * Units: bytes. Threads: all functions; processes may share it. */
#pragma once

#include "assets/cache/entry.h"

enum { CACHE_WRONGS_MAX = 8 };

/* The wrong file that one mirror sent. */
struct cache_wrong {
	char url[DIGEST_TEXT_MAX]; /* SHA-256 of the URL, which may hold a secret */
	char got[ERR_NOTE_MAX];    /* "sha256 0123..." */
	char etag[CACHE_ETAG_MAX], modified[CACHE_MODIFIED_MAX]; /* not both "" */
	uint64_t size;
};

struct cache_wrongs {
	size_t n;
	struct cache_wrong v[CACHE_WRONGS_MAX];
};

/* Loads the records of this digest; NULL: none, or none that can be believed. */
struct cache_wrongs *cache_wrongs_load(const struct cache *c, const struct digest *d);
/* The row of this mirror, or NULL; `w` may be NULL. */
const struct cache_wrong *cache_wrongs_find(const struct cache_wrongs *w, const char *url);
/* Note what this mirror sent, in its row or a new one, for which the eldest row is dropped. */
void cache_wrongs_note(struct cache *c, const struct digest *d, const char *url,
		       const struct cache_wrong *row);
/* Remove the record. */
void cache_wrongs_forget(struct cache *c, const struct digest *d);
