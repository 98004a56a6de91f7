/* dir.h - a directory stream of a test, closed at the end of its scope
 * Owner: the scope. Errors: none. Threads: one. */
#pragma once

#include <dirent.h>

static inline void close_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

#define autodir __attribute__((cleanup(close_dir), unused))
