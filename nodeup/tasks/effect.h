/* effect.h - whether what a oneshot did is still done
 * systemd remembers that it ran, and not whether others took its effect away since.
 * Owner: none. Errors: none: what cannot be looked at is believed. Threads: the scheduler's.
 * Source: iptables(8), proc(5) on mountinfo.
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* TASK_DIFFERS with the reason when a mount or rule of the unit is gone; reads only. */
int effect_check(const struct task *unit, const struct task_ctx *ctx, struct task_diff *diff);
