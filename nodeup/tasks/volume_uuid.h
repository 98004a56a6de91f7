/* volume_uuid.h - the UUID a file system of ours will have, known before it is made
 * It is derived, so that a plan can name it without looking at a disk, a run that was killed finds
 * its own work, and a fresh instance store after stop and start gets the name its mount unit has.
 * Owner: the arena. Errors: none. Threads: all functions. Source: RFC 4122 version 5, with SHA-256.
 * Tests: test_volume_uuid.c. */
#pragma once

#include "nodeup/base/mem.h"

/* Lower-case text. `owner` is what the disks belong to: the volume id of EBS, so that each machine it
 * is attached to says the same, else the instance id. `name` is the volume's. */
char *volume_uuid(struct arena *a, const char *owner, const char *name);
