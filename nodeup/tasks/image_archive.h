/* image_archive.h - the images in an archive, read from the cache
 * Owner: texts are the arena's. Errors: CONFIG, if the archive is not what the documents say; SYSTEM. Threads: all
 * functions.
 * Source: docker save, OCI image layout 1.1, containerd images/archive.
 * Tests: test_members.c, test_image_ctr.c. */
#pragma once

#include "assets/cache/unpack.h"
#include "nodeup/tasks/task.h"

/* The members of an archive for cache_give: the image and, if it has one, its tag. */
struct image_entries {
	struct extract_take v[2];
	size_t n;
};

/* Finds the members of an image. Needs no pass over the archive if this process has read it. The tag's descriptor is
 * the caller's. */
int image_archive_find(const struct task_image *im, struct task_ctx *ctx, struct arena *a,
		       struct image_entries *ret, struct err *e) must_check;
/* Reads the tag after cache_give. */
int image_archive_tag(struct image_entries *entries, struct arena *a, const char **ret,
		      struct err *e) must_check;
/* Reads the names of the archive's images; there may be none. */
int image_archive_names(const struct asset *as, struct task_ctx *ctx, struct arena *a,
			struct strv *ret, struct err *e) must_check;
