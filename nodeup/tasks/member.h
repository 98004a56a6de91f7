/* member.h - find a file in the tree of an unpacked archive
 * Documents name a member by its last part ("bridge"), as kops does. The shallowest of that name is meant;
 * among those equally deep, the first by the path of its directory. A link is not a member: it is named.
 * Owner: the path is the arena's. Errors: SYSTEM, when the tree cannot be read. Threads: any. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

/* *ret is the path of the regular file `name` below dir, NULL if there is none down to eight levels; then
 * *ret_link is the path of a link of that name, or NULL. */
int member_find(int root_fd, struct arena *a, const char *dir, const char *name, const char **ret,
		const char **ret_link, struct err *e) must_check;
