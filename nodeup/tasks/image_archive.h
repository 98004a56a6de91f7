/* image_archive.h - what the archive of an image holds, read from the cache
 * Owner: texts are the arena's. Errors: CONFIG, when the archive is not what it was said to be; SYSTEM.
 * Threads: all functions. Source: docker save, OCI image layout 1.1, containerd images/archive. */
#pragma once

#include "nodeup/tasks/task.h"

/* Which entry of the archive the image is that is a member, and the text of the member that is its tag, or NULL. */
int image_archive_find(const struct task_image *im, struct task_ctx *ctx, struct arena *a,
		       uint64_t *ret_entry, const char **ret_tag, struct err *e) must_check;
/* What its images are called; none is fine. */
int image_archive_names(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			struct strv *ret, struct err *e) must_check;
