/* member.h - find a file in the tree of an unpacked archive
 * Documents name a member by its last part ("bridge"), as kops does. The shallowest of that name is meant;
 * among those equally deep, the first by the path of its directory. Links are no members.
 * Owner: the path is the arena's. Errors: SYSTEM, when the tree cannot be read. Threads: any. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

/* *ret is the path of the regular file `name` below dir, NULL if there is none down to eight levels. */
int member_find(int root_fd, struct arena *a, const char *dir, const char *name, const char **ret,
		struct err *e) must_check;
