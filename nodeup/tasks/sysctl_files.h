/* sysctl_files.h - kernel settings of others that come behind a file of ours
 * In the order of sysctl.d(5): files of all folders by their names, one of /etc in the place of one of that name elsewhere, and
 * an empty one or a link to /dev/null in the place of what it hides. /etc/sysctl.conf is the last, as `sysctl --system` has it.
 * Of a key the last line counts; patterns do not, as they leave alone what a file names.
 * Owner: the arena. Errors: none; a file that cannot be read says nothing. Threads: all.
 * Source: sysctl.d(5), sysctl(8).
 * Tests: test_tasks.c, test_sysctl.c. */
#pragma once

#include "nodeup/base/map.h"

struct sysctl_line {
	const char *file;
	size_t number;
	const char *value;
};

/* Returns where the kernel has a key: a dot or a slash may stand between its parts. Of two names for one value it is always the same. */
char *sysctl_path(struct arena *a, const char *key);
/* Returns what files behind this one say, by sysctl_path(): struct sysctl_line. */
struct map sysctl_behind(struct arena *a, int root_fd, const char *file);
