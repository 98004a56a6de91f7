/* effect.h - checks whether a oneshot's effect is still there
 * systemd remembers that the oneshot ran, but not whether somebody has undone its effect since.
 * Owner: none. Errors: none: an effect that cannot be checked counts as present. Threads: the scheduler's.
 * Source: iptables(8), proc(5) on mountinfo.
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Returns TASK_DIFFERS with the reason if a mount or rule of the unit is gone; only reads. */
int effect_check(const struct task *unit, const struct task_ctx *ctx, struct task_diff *diff);
