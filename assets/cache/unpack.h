/* unpack.h - an archive being unpacked while its bytes arrive, into the cache
 * The bytes are taken apart in a confined child (extract.h) below DIR/tmp/; nothing of it can be seen or
 * followed until unpack_finish, which the caller may call only after the whole archive had the right hash. The
 * tree is then made durable and becomes DIR/unpacked/<algo>-<hex>.
 * Owner: the caller ends each by unpack_finish or unpack_abort. Errors: INTEGRITY for an evil or broken
 * archive, with the entry's name and the reason; SYSTEM, which cache_unpack may survive later.
 * Units: bytes. Threads: one user at a time; feed and finish wait for disk and child. */
#pragma once

#include "assets/cache/cache.h"
#include "assets/unpack/extract.h"

struct unpack;

/* Begin; -EALREADY with *ret NULL and no error text when the tree is published already. */
int unpack_start(struct cache *c, const struct asset *as, struct unpack **ret,
		 struct err *e) must_check;
/* The archive's next bytes, in order. After an error only unpack_abort is left. */
int unpack_feed(struct unpack *u, const struct extract_piece *piece, struct err *e) must_check;
/* The bytes were the right ones: links, modes, owners, times, fsync, the name. Frees u in every case. */
int unpack_finish(struct unpack *u, struct err *e) must_check;
/* Kill and reap the child and drop what it made; NULL is fine. */
void unpack_abort(struct unpack *u);
/* Take members of a verified and signed entry, as extract_take does. */
int cache_take(struct cache *c, struct arena *a, const struct asset *as, struct extract_take *takes,
	       size_t n, struct err *e) must_check;
/* Begin to give one entry of such an archive, by its number, to the reader of a pipe: *ret_fd, the caller's. It has all
 * bytes when extract_finish says so. */
int cache_give(struct cache *c, struct arena *a, const struct asset *as, uint64_t entry,
	       int *ret_fd, struct extract **ret, struct err *e) must_check;
