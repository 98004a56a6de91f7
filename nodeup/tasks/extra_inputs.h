/* extra_inputs.h - files that a unit is started with and no task writes
 * Drop-ins of an admin or a package, wherever systemd looks for those of a service (a mount is never made anew for one), and what lies in a folder that the unit says
 * is for others. What systemd itself writes for `systemctl set-property` is in effect without a start, and does not count.
 * Owner: the arena. Errors: none; what cannot be read has no content. Threads: any.
 * Source: systemd.unit(5).
 * Tests: test_members.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Their paths that are there now, sorted in each folder. */
struct strv extra_inputs_paths(const struct task *unit, int root_fd, struct arena *a);
/* Make a digest of these paths and of what the files say. */
void extra_inputs_digest(int root_fd, const struct strv *paths, struct digest *ret);
