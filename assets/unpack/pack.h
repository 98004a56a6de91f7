/* pack.h - writes a tar archive, compressed by zstd
 * Members are root's, 0600, and of the present time.
 * Owner: pack_new/pack_free; the descriptor is the caller's. Errors: SYSTEM; a full disk is named. Units: bytes.
 * Threads: one.
 * Source: libarchive.
 * Tests: test_collect_logs.py. */
#pragma once

#include <stddef.h>
#include "nodeup/base/err.h"

struct pack;

/* Begins an archive in an open file. `path` is for messages. */
int pack_new(int fd, const char *path, struct pack **ret, struct err *e) must_check;
/* Adds a member. */
int pack_add(struct pack *p, const char *name, const void *data, size_t n,
	     struct err *e) must_check;
/* Writes the archive's end. */
int pack_end(struct pack *p, struct err *e) must_check;
/* Releases it; NULL is fine. */
void pack_free(struct pack *p);
