/* image_ctr.h - containerd's images in kubelet's namespace, and whether containerd or docker answers
 * Uses ctr, which comes with containerd: the interface itself is gRPC.
 * Owner: the caller's storage. Errors: SYSTEM; -ENOENT for a missing image. Threads: all functions.
 * Source: ctr(8), containerd pkg/cri.
 * Tests: test_image_ctr.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/tasks/task.h"

enum { IMAGE_ID_MAX = 128 };

/* Fails if a unit's runtime does not answer. A plan asks a silent runtime only once. */
int image_demand(struct task_ctx *ctx, const char *unit, struct err *e) must_check;
/* Lists the digests of images by containerd's names. name: only of this image; NULL: of all. The texts are the
 * arena's. */
int image_ctr_list(struct task_ctx *ctx, struct arena *a, const char *name, struct map *ret,
		   struct err *e) must_check;
/* Finds the digest of an image in a list of image_ctr_list. */
int image_ctr_find(const struct map *all, const char *image, char id[static IMAGE_ID_MAX],
		   struct err *e) must_check;
/* Asks for the digest of the image of this name. */
int image_ctr_id(struct task_ctx *ctx, const char *image, char id[static IMAGE_ID_MAX],
		 struct err *e) must_check;
/* Imports an archive from an open file: plain, or packed in a form that this host can unpack. */
int image_ctr_load(struct task_ctx *ctx, int fd, struct err *e) must_check;
/* Pulls an image for this machine from its registry, or from a mirror in the directory `hosts`; NULL: no mirror. */
int image_ctr_pull(struct task_ctx *ctx, const char *image, const char *hosts,
		   struct err *e) must_check;
/* Returns containerd's name of an image: "busybox" is docker.io/library/busybox:latest. */
char *image_ctr_name(struct arena *a, const char *image);
