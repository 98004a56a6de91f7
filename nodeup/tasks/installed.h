/* installed.h - facts about an installed file, without reading it
 * Owner: none. Errors: none. Threads: any.
 * Tests: test_tasks.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Gives the digest that the state records for an install from this source. For an asset it is the asset's own. For a
 * member it is made of the member's name and of the archives up to the one that has it: documents have no digests of
 * members. */
void installed_digest_at(const struct task_install *in, size_t at, struct digest *ret);
/* Returns whether the cache gives the asset away to this install, its only user. */
bool installed_is_given(const struct task *t, const struct task_ctx *ctx);
/* Returns whether mode and owner are right. */
bool installed_has_attributes(const struct task *t, const struct stat *st);
/* Returns whether the content is right according to its record; never in a run that verifies. */
bool installed_is_known(const struct task *t, struct task_ctx *ctx, const struct stat *st);
/* Returns whether the file exists and is right in all respects. */
bool installed_is_right(const struct task *t, struct task_ctx *ctx);
