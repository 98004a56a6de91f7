/* guard.h - a cache that other users can write to is not believed
 * A record says that bytes were verified. It proves nothing where another user could have written the
 * record, or the bytes since: a directory or a file of another user's, or one that its group or others
 * may write to. The cache's own directory is then refused, because nodeup does not know whose it is;
 * the default one and all folders in it are nodeup's: they are closed, and their records forgotten.
 * Owner: the cache. Errors: CONFIG, SYSTEM. Threads: before the cache is used by any. */
#pragma once

#include <sys/stat.h>
#include "assets/cache/dir.h"

/* Whether only root and this process's own user can have written to it. */
bool cache_is_closed(const struct stat *st);
/* Look at a cache that was opened; `own`: its directory is nodeup's. A cache open for reading only is not
 * changed: its records are left aside. cache_remark has what was found. */
int cache_guard(struct cache *c, bool own, struct err *e) must_check;
