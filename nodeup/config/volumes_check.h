/* volumes_check.h - what must hold of a node's volumes together, whatever documents they came from
 * Paths are absolute, unique and not those of the system; an outer path stands before an inner one;
 * no disk is named twice.
 * Owner: the arena. Errors: CONFIG with the place of the volume. Threads: all functions.
 * Tests: test_field_secrets.c. */
#pragma once

#include "nodeup/config/volume.h"

/* The units that use a directory, by table; empty for a directory that no unit uses. */
struct strv volumes_users(struct arena *a, const char *path);
/* The device as this kernel calls it: "/dev/sdf" gives "/dev/xvdf", others stay. */
const char *volumes_device(struct arena *a, const char *device);
/* Check one mount point, or a bind's target; what names it in the message. */
int volumes_check_path(struct arena *a, const struct tree_pos *pos, const char *what,
		       const char *path, struct err *e) must_check;
/* Check them all, against each other. */
int volumes_check(struct arena *a, const struct node_volumes *v, struct err *e) must_check;
