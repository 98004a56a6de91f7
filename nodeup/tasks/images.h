/* images.h - the images of containerd as all tasks of a run see them, and whose turn it is to load an archive
 * The runtime is asked once for all of them: to ask is to start a program, and there is a task for each image.
 * Owner: images_new/images_free, after the workers; answers are the caller's storage. Errors: SYSTEM; -ENOENT where an image is
 * not there. Threads: all functions. One of them asks, and the others wait for it. Source: -.
 * Tests: test_image_ctr.c. */
#pragma once

#include "nodeup/tasks/image_ctr.h"

struct images;

/* Make one that knows nothing yet. */
struct images *images_new(void);
/* Release; NULL is fine. */
void images_free(struct images *im);
/* Find the digest of an image by what the runtime had when it was asked. Without ctx->images it is asked now, for this one alone. */
int images_id(struct task_ctx *ctx, const char *image, char id[static IMAGE_ID_MAX],
	      struct err *e) must_check;
/* Ask anew next time: what the runtime has was changed. */
void images_changed(struct task_ctx *ctx);
/* Take one of two turns to give the runtime an archive. False: both are taken. */
bool images_take_turn(struct task_ctx *ctx);
/* Give it back. */
void images_end_turn(struct task_ctx *ctx);
