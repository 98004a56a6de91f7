/* image_archive.h - what the unpacked archive of an image holds
 * Owner: texts are the arena's. Errors: CONFIG, when the archive is not what it was said to be; SYSTEM.
 * Threads: all functions. Source: docker save, OCI image layout 1.1, containerd images/archive. */
#pragma once

#include "nodeup/tasks/task.h"

/* Members that say what the images of an archive are called: docker's list, and OCI's. */
enum { IMAGE_LISTS = 2 };
extern const char *const image_lists[IMAGE_LISTS];

/* The path of a member, below the cache's root. -ENOENT: the archive has none of this name. */
int image_archive_member(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			 const char *member, const char **ret, struct err *e) must_check;
/* What its images are called; none is fine. */
int image_archive_names(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			struct strv *ret, struct err *e) must_check;
