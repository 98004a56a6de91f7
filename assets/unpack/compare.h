/* compare.h - whether a tree is what an archive holds, by what a confined child tells of the archive
 * The counterpart of apply.h: it says what that would make of the same entries, and makes nothing. A later
 * entry of a name counts; a directory without an entry of its own has the mode that the unpacker gives it.
 * Owner: the caller's fd. Errors: INTEGRITY, naming the first thing that differs, or an archive of which no
 * tree can be made; SYSTEM. Threads: all functions. */
#pragma once

#include "assets/unpack/report.h"
#include "nodeup/base/err.h"

/* `name` is the archive's, for messages. The directory itself is not compared. Of what is not a directory the tree
 * has the members alone; NULL: all. */
int extract_match(struct extract_report *report, int tree_fd, const char *name,
		  const struct strv *members, struct err *e) must_check;
