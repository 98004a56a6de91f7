/* path.h - names out of archives
 * The unpacking child checks each name by these rules, and the parent checks it again.
 * Owner: none. Errors: a reason as text. Threads: all functions.
 * Tests: test_extract.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

enum {
	EXTRACT_NAME_MAX = 4095, /* with its end it is what the kernel takes */
	EXTRACT_SHOWN_MAX = 128,
	EXTRACT_DEPTH_MAX = 128,
};

/* A name for people, cut to size: what a terminal would obey is shown as '?'. */
const char *extract_show(const char *raw, char out[static EXTRACT_SHOWN_MAX]);
/* The error of an archive that is refused for this entry. */
int extract_refuse(const char *archive, const char *raw, const char *why, struct err *e);
/* The name without "." parts and double slashes in out; NULL, or why it is refused. */
const char *extract_clean(const char *raw, char out[static EXTRACT_NAME_MAX + 1]);
/* NULL if a link at the (clean) path to this target stays inside the tree, or why it is refused. */
const char *extract_check_target(const char *path, const char *target);
