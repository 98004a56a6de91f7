/* cache_tree.h - what an unpacked tree holds, as one digest
 * A tree that was once found to be what its archive holds is told by its digest from then on: hashing it
 * takes a quarter of the time that unpacking the archive again does. The digest is over names, types,
 * modes, owners, contents and link targets, not over times.
 * Owner: none. Errors: negative errno. Threads: all functions. */
#pragma once

#include "assets/cache_dir.h"

/* Hash the tree at fd. */
int cache_tree_digest(int fd, struct digest *ret);
/* Whether the record of this archive's tree says this digest. */
bool cache_tree_is_recorded(const struct cache *c, const struct digest *archive,
			    const struct digest *tree);
/* Note it; forget what was noted. */
void cache_tree_record(struct cache *c, const struct digest *archive, const struct digest *tree);
void cache_tree_forget(struct cache *c, const struct digest *archive);
