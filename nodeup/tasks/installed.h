/* installed.h - facts about an installed file, without reading it
 * Owner: none. Errors: none. Threads: any.
 * Tests: test_tasks.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Gives the digest that the state records for an install from source number `at`. For an asset it is the asset's
 * digest. For a member, as documents have no digests of members, it is a digest of the member's name and of the
 * sources up to that number. */
void installed_digest_at(const struct task_install *in, size_t at, struct digest *ret);
/* Returns whether the cache gives its own file of the asset to this install, the only user. */
bool installed_is_given(const struct task *t, const struct task_ctx *ctx);
/* Returns whether mode and owner are right. */
bool installed_has_attributes(const struct task *t, const struct stat *st);
/* Returns whether the content is right according to its record; never in a run that verifies. */
bool installed_is_known(const struct task *t, struct task_ctx *ctx, const struct stat *st);
/* Returns whether the file exists and is right in all respects. */
bool installed_is_right(const struct task *t, struct task_ctx *ctx);
