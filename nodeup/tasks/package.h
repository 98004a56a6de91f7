/* package.h - packages below a root that is not running are told of, not installed
 * Owner: the arena. Errors: none. Threads: one. */
#pragma once

#include "nodeup/tasks/task.h"

/* What an image lacks of a package task, for a warning; NULL when it has all. */
const char *package_lacks(const struct task *t, struct task_ctx *ctx, struct arena *a);
