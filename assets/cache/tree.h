/* tree.h - what an unpacked tree holds, as one digest, and whether it is the one that was looked at
 * Only a tree whose files have the inodes, sizes and times they had when it was published, or found right,
 * is believed; as with entries, what has no such record is looked at before it is used.
 * A tree that was once found to be what its archive holds is told by its digest from then on: hashing it
 * takes a quarter of the time that unpacking the archive again does. The digest is over names, types,
 * modes, owners, contents and link targets, not over times.
 * No record is believed of a tree that has an entry which another user can write to. Records of versions
 * before this one are not read at all: their stamp was taken after the tree had its name, and vouched for
 * whatever lay there then. Such a tree is compared with its archive once.
 * Owner: none. Errors: negative errno. Threads: all functions. */
#pragma once

#include "assets/cache/dir.h"

/* Hash the tree at fd. */
int cache_tree_digest(int fd, struct digest *ret);
/* Make the tree at fd durable: one whose fsync failed must not be believed. */
int cache_tree_sync(int fd) must_check;
/* What tells the tree at fd from one that was changed: -EPERM where another user can write to an entry. */
int cache_tree_stamp(int fd, struct digest *ret);
/* Note that the tree which had this stamp when it was verified is right. It is taken before the tree can
 * be reached by its name, or before it is compared. */
void cache_tree_believe(struct cache *c, const struct digest *archive, const struct digest *stamp);
/* Remove the tree with what is noted of it; false: there is none. */
bool cache_tree_drop(struct cache *c, const struct digest *archive);
