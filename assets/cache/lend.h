/* lend.h - an entry that becomes the installed file itself, until the cache has bytes of its own again
 * On a file system without reflinks a second copy takes as long as the first. So a file that is installed may be
 * the entry's own: it gets a second name where it is staged, and once it stands in its place the entry's name
 * goes. DIR/lent/<algo>-<hex> says where it is. Later, when nothing waits for it, what lies there is read,
 * hashed and made an entry again (cache_take_back). An entry never shares its bytes with a file that is in use
 * for longer than the staging takes, and a process that is killed anywhere leaves the bytes under one of both names.
 * Owner: none. Errors: SYSTEM. Units: bytes. Threads: all functions; a digest has one borrower at a time. */
#pragma once

#include "assets/cache/cache.h"

struct cache_loan {
	struct digest digest;
	const char *path; /* where it was to be installed, below the root of the node */
};

struct cache_loans {
	struct cache_loan *v;
	size_t n;
};

/* Make the staging file that is to become `path` the entry itself; 0 or -errno: then it is as before, and a copy
 * will do. An entry that has a further name, or another security label than the staging file, is not lent. */
int cache_lend(struct cache *c, const struct digest *d, const char *path, struct io_stage *s);
/* Make the staging file that is to become an installed file one more name of a member of the archive's tree, open
 * at member_fd; 0 or -errno: then it is as before, and a copy will do. Both share their bytes from then on. What changes
 * them makes the tree differ from its archive, which is here, too: it is unpacked again, and then the file installed. A
 * member that has a further name already, or another mode, owner or security label than attr and the staging file, is not
 * shared. */
int cache_share_member(struct cache *c, const struct asset *archive, int member_fd,
		       const struct io_attr *attr, struct io_stage *s);
/* Whether it is noted as lent. */
bool cache_is_lent(const struct cache *c, const struct digest *d);
/* The staging file stands in its place and is on the disk: the entry goes. */
void cache_lent(struct cache *c, const struct digest *d);
/* All that is noted as lent. */
struct cache_loans cache_loans(const struct cache *c, struct arena *a);
/* Make it an entry again, with bytes of its own, from what is installed; nothing to do if it is there. What is
 * installed by now may be something else: then the note goes, and the asset is fetched when it is needed. After
 * another error the note stays, for the next time. */
int cache_take_back(struct cache *c, int root_fd, const struct cache_loan *loan,
		    struct err *e) must_check;
