/* image_ctr.h - images of containerd, in the namespace that kubelet looks at, and whether it or docker answers
 * Through ctr, which comes with containerd: its own interface is gRPC.
 * Owner: the caller's storage. Errors: SYSTEM; -ENOENT where an image is not there.
 * Threads: all functions. Source: ctr(8), containerd pkg/cri.
 * Tests: test_image_ctr.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/tasks/task.h"

enum { IMAGE_ID_MAX = 128 };

/* Fails if the runtime of a unit says nothing. A plan asks such a one once. */
int image_demand(struct task_ctx *ctx, const char *unit, struct err *e) must_check;
/* Put the digest of each image under the name that containerd knows it by, or of the one of that name alone; NULL: of all. The
 * texts are the arena's. */
int image_ctr_list(struct task_ctx *ctx, struct arena *a, const char *name, struct map *ret,
		   struct err *e) must_check;
/* Find the digest of an image in such a list. */
int image_ctr_find(const struct map *all, const char *image, char id[static IMAGE_ID_MAX],
		   struct err *e) must_check;
/* The digest of the image that has this name. */
int image_ctr_id(struct task_ctx *ctx, const char *image, char id[static IMAGE_ID_MAX],
		 struct err *e) must_check;
/* Import an archive from an open file: plain, or packed with what this host can unpack. */
int image_ctr_load(struct task_ctx *ctx, int fd, struct err *e) must_check;
/* Pull an image that its registry has for this machine, or a mirror that the directory `hosts` names; NULL: no mirror. */
int image_ctr_pull(struct task_ctx *ctx, const char *image, const char *hosts,
		   struct err *e) must_check;
/* The name containerd knows an image by: "busybox" is docker.io/library/busybox:latest. */
char *image_ctr_name(struct arena *a, const char *image);
