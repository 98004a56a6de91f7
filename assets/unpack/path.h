/* path.h - rules for names in archives
 * The unpacking child checks each name by these rules, and the parent checks it again.
 * Owner: none. Errors: a reason as text. Threads: all functions.
 * Tests: test_extract.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

enum {
	EXTRACT_NAME_MAX = 4095, /* with its NUL, the longest name that the kernel takes */
	EXTRACT_SHOWN_MAX = 128,
	EXTRACT_DEPTH_MAX = 128,
};

/* Returns a name for people, cut to size. Characters that would control a terminal become '?'. */
const char *extract_show(const char *raw, char out[static EXTRACT_SHOWN_MAX]);
/* Fills the error of an archive that is refused for this entry. */
int extract_refuse(const char *archive, const char *raw, const char *why, struct err *e);
/* Writes the name without "." parts and double slashes to out. Returns NULL, or why the name is refused. */
const char *extract_clean(const char *raw, char out[static EXTRACT_NAME_MAX + 1]);
/* Returns NULL if a link at this clean path to this target stays inside the tree; otherwise why it is refused. */
const char *extract_check_target(const char *path, const char *target);
