/* volume_uuid.h - the UUID of a file system that nodeup makes, known before it is made
 * The UUID is derived, so a plan can name it without reading a disk. If a run is killed, the next run finds the file
 * system that it made. A new instance store, after a stop, gets the UUID that its mount unit names.
 * Owner: the arena. Errors: none. Threads: all functions. Source: RFC 4122 version 5, with SHA-256.
 * Tests: test_volume_uuid.c. */
#pragma once

#include "nodeup/base/mem.h"

/* Returns lower-case text. owner: the id of the EBS volume, so that each machine with the volume derives the same
 * UUID, or else the instance id. name: the volume's. */
char *volume_uuid(struct arena *a, const char *owner, const char *name);
