/* tree.h - whether an unpacked tree is the one that was found right
 * Two records vouch for a tree. The stamp is made of the inodes, sizes and times of its files: a tree that still
 * has it was not changed since it was published, or found right. The digest is made of names, types, modes,
 * owners, contents and link targets, not of times: a tree that has it is what its archive holds. To hash a
 * tree takes a quarter of the time that unpacking the archive again does. A tree with neither is compared with
 * its archive before it is used. Each record names the members that the tree has: `v2` all of the archive, `v3` those
 * that follow, one a line, by their last part. A tree serves whatever asks for some of them.
 * No record counts for a tree that has an entry which another user can write to. Records of earlier versions
 * are not read at all: their stamp was taken after the tree had its name, and vouched for whatever lay there.
 * Owner: none. Errors: negative errno. Threads: all functions. */
#pragma once

#include "assets/cache/dir.h"

/* Hash the tree at fd. */
int cache_tree_digest(int fd, struct digest *ret);
/* Make the tree at fd durable: one whose fsync failed must not be believed. */
int cache_tree_sync(int fd) must_check;
/* What tells the tree at fd from one that was changed: -EPERM where another user can write to an entry. */
int cache_tree_stamp(int fd, struct digest *ret);
/* The members as records have them: sorted, one a line; NULL all. */
char *cache_tree_members(struct arena *a, const struct asset *as);
/* Of which the published tree is known or noted to be; false: nothing is known. */
bool cache_tree_noted(struct cache *c, struct arena *a, const struct digest *archive,
		      const char **ret_members);
/* Note that the tree which had this stamp when it was verified is right, and has these members. It is taken
 * before the tree can be reached by its name, or before it is compared. One that waits is not durable yet: this
 * process believes it from now on, and cache_settle makes it durable and writes its record. */
void cache_tree_believe(struct cache *c, const struct digest *archive, const struct digest *stamp,
			const char *members, bool waits);
/* The tree that has the archive's name now; -1 with errno. */
int cache_tree_open(const struct cache *c, const struct digest *archive);
/* Remove the tree with what is noted of it; false: there is none. `judged` is the one that was found wrong (-1: whichever
 * it is): if it does not have the name any more, another process has replaced it, and the new tree stays. */
bool cache_tree_drop(struct cache *c, const struct digest *archive, int judged);
