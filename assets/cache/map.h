/* map.h - which bytes a partial file has, written down beside it: DIR/partial/<algo>-<hex>.from
 * It begins with what the object is. Each run of bytes has a line, which is rewritten in place while the run
 * grows, at most every CACHE_LINE_MS, so that a kill loses no run and little of its end. A line that a power cut tore is
 * not believed. Nor are bytes where the file has a hole: they did not get to the disk.
 * Owner: the entry. Errors: none; what is not written down costs a download after a restart.
 * Units: bytes. Threads: one user at a time.
 * Tests: test_cache.c. */
#pragma once

#include "assets/cache/dir.h"
#include "assets/cache/entry.h"

enum { CACHE_LINE_MS = 20 };

struct cache_run {
	struct span span;
	uint64_t written;   /* its end as the line has it */
	int64_t written_ns; /* since when */
};

struct cache_map {
	char name[CACHE_NAME_MAX]; /* "" nothing is written down */
	int fd;                    /* -1: nothing is yet */
	int full;                  /* there was no room to write it down: why, an errno; else 0 */
	off_t begin;               /* the place of its first run's line */
	struct cache_run *runs;
	size_t n, max;
};

/* "partial/<algo>-<hex>.from". */
const char *cache_map_name(const struct digest *d, char out[static CACHE_NAME_MAX]);
/* Read the map of the partial file `data`; false when there is none that can be believed. */
bool cache_map_load(struct cache *c, struct cache_map *m, int data, struct cache_origin *ret_origin,
		    struct spans *ret_have);
/* Write the whole map anew, for this object. */
void cache_map_save(struct cache *c, struct cache_map *m, const struct cache_origin *o);
/* The run that goes on at this byte, or a new one. A negative errno when there is no room to write that
 * down: then its bytes must not be stored, or others would be taken for them later. */
int cache_map_run(struct cache_map *m, uint64_t first, size_t *ret) must_check;
/* Note that the run has grown up to `end`; it is written down when it grows once more after a while, or when the map is released. */
void cache_map_grow(struct cache_map *m, size_t run, uint64_t end);
/* Remove it, and forget all runs. */
void cache_map_clear(struct cache *c, struct cache_map *m);
/* Write down what grew since, and release. */
void cache_map_done(struct cache_map *m);
