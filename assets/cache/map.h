/* map.h - the map of a partial file's bytes, in a file beside it: DIR/partial/<algo>-<hex>.from
 * The map begins with the object's identity. Each run of bytes has a line, rewritten in place while the run grows,
 * at most every CACHE_LINE_MS. So a kill loses no run, and little of a run's end. Lines torn by a power cut are
 * ignored. Bytes in a hole of the file are ignored too: they did not reach the disk.
 * Owner: the entry. Errors: none; a byte that is not noted is downloaded again after a restart. Units: bytes.
 * Threads: one user at a time.
 * Tests: test_cache.c. */
#pragma once

#include "assets/cache/dir.h"
#include "assets/cache/entry.h"

enum { CACHE_LINE_MS = 20 };

struct cache_run {
	struct span span;
	uint64_t written;   /* the run's end in its line on the disk */
	int64_t written_ns; /* when the run's line was last written */
};

struct cache_map {
	char name[CACHE_NAME_MAX]; /* "": no map is written */
	int fd;                    /* -1: no file is open yet */
	int full;    /* errno of a write of the map for which there was no room; 0: none */
	off_t begin; /* offset of the first run's line */
	struct cache_run *runs;
	size_t n, max;
};

/* Returns "partial/<algo>-<hex>.from". */
const char *cache_map_name(const struct digest *d, char out[static CACHE_NAME_MAX]);
/* Reads the map of the partial file `data`. Returns false if there is no valid map. */
bool cache_map_load(struct cache *c, struct cache_map *m, int data, struct cache_origin *ret_origin,
		    struct spans *ret_have);
/* Writes the whole map anew, for this object. */
void cache_map_save(struct cache *c, struct cache_map *m, const struct cache_origin *o);
/* Returns the run that ends at this byte, or begins a new one. Returns a negative errno if there is no room to note
 * the run. Without a note the caller must not store the bytes: they would later count as bytes of another run. */
int cache_map_run(struct cache_map *m, uint64_t first, size_t *ret) must_check;
/* Notes that the run has grown up to `end`. The new end is written to the disk when the run grows again some time
 * later, or when the map is released. */
void cache_map_grow(struct cache_map *m, size_t run, uint64_t end);
/* Removes the map, and forgets all runs. */
void cache_map_clear(struct cache *c, struct cache_map *m);
/* Writes the newest ends of the runs to the disk, and releases the map. */
void cache_map_done(struct cache_map *m);
