/* installed.h - what is known of an installed file without reading it
 * Owner: none. Errors: none. Threads: any.
 * Tests: test_tasks.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Give what the state remembers for a path that is installed of that source: an asset's own digest, or one made of the
 * member and of the archives up to the one that has it, because documents name no digest of a member. */
void installed_digest_at(const struct task_install *in, size_t at, struct digest *ret);
/* Returns whether the cache gives the asset away to this install, which is the only one that wants it. */
bool installed_is_given(const struct task *t, const struct task_ctx *ctx);
/* Returns whether mode and owner are the wanted ones. */
bool installed_has_attributes(const struct task *t, const struct stat *st);
/* Returns whether its content is right by the record of it; in a run that believes none it never is. */
bool installed_is_known(const struct task *t, struct task_ctx *ctx, const struct stat *st);
/* Returns whether it is there and all of it is right. */
bool installed_is_right(const struct task *t, struct task_ctx *ctx);
