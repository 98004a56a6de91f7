/* image_archive.h - what the archive of an image holds, read from the cache
 * Owner: texts are the arena's. Errors: CONFIG, when the archive is not what it was said to be; SYSTEM.
 * Threads: all functions. Source: docker save, OCI image layout 1.1, containerd images/archive.
 * Tests: test_members.c, test_image_ctr.c. */
#pragma once

#include "assets/cache/unpack.h"
#include "nodeup/tasks/task.h"

/* The place in the archive of an image that is a member, and the member that is its tag, if there is one: for cache_give. */
struct image_entries {
	struct extract_take v[2];
	size_t n;
};

/* Find them, without a pass over the archive where this process has read it. The descriptor of the tag is the caller's. */
int image_archive_find(const struct task_image *im, struct task_ctx *ctx, struct arena *a,
		       struct image_entries *ret, struct err *e) must_check;
/* Read the tag once the entries were given. */
int image_archive_tag(struct image_entries *entries, struct arena *a, const char **ret,
		      struct err *e) must_check;
/* Read the names of its images; none is fine. */
int image_archive_names(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			struct strv *ret, struct err *e) must_check;
