/* path.h - names out of archives, and the way to them
 * The unpacking child checks each name by these rules, and the parent checks it again.
 * Owner: the caller's fds. Errors: a reason as text, or a negative errno. Threads: all functions. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

enum {
	EXTRACT_NAME_MAX = 4095, /* with its end it is what the kernel takes */
	EXTRACT_SHOWN_MAX = 128,
	EXTRACT_DEPTH_MAX = 128, /* removing the tree takes one descriptor a level */
};

/* A name for people, cut to size: what a terminal would obey is shown as '?'. */
const char *extract_show(const char *raw, char out[static EXTRACT_SHOWN_MAX]);
/* The error of an archive that is refused for this entry. */
int extract_refuse(const char *archive, const char *raw, const char *why, struct err *e);
/* The name without "." parts and double slashes in out; NULL, or why it is refused. */
const char *extract_clean(const char *raw, char out[static EXTRACT_NAME_MAX + 1]);
/* Whether what is at the (clean) path, unless it is a directory, is one of the members; NULL: all are. */
bool extract_is_wanted(const struct strv *members, const char *path);
/* NULL if a link at the (clean) path to this target stays inside the tree, or why it is refused. */
const char *extract_check_target(const char *path, const char *target);
/* Open the directory that holds path, one part at a time and never through a link; *ret_name points to
 * the last part. Directories not there are made when `made` is given, which hears of each.
 * -ELOOP or -ENOTDIR: something else is in the way. */
int extract_open_parent(int dir_fd, char *path, int (*made)(void *arg, const char *path), void *arg,
			const char **ret_name);
