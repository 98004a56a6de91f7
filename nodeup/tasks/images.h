/* images.h - one view of containerd's images for all tasks of a run, and turns for loading archives
 * The runtime is asked once for all images: each question starts a program, and every image has a task.
 * Owner: images_new/images_free, after the workers; answers are the caller's storage. Errors: SYSTEM; -ENOENT for a
 * missing image. Threads: all functions. One thread asks, and the others wait for its answer. Source: -.
 * Tests: test_image_ctr.c. */
#pragma once

#include "nodeup/tasks/image_ctr.h"

struct images;

/* Makes a view that has asked nothing yet. */
struct images *images_new(void);
/* Releases it; NULL is fine. */
void images_free(struct images *im);
/* Finds an image's digest in the view. Without ctx->images, asks the runtime for this image alone. */
int images_id(struct task_ctx *ctx, const char *image, char id[static IMAGE_ID_MAX],
	      struct err *e) must_check;
/* Makes the next question ask anew, since the runtime's images were changed. */
void images_changed(struct task_ctx *ctx);
/* Takes one of two turns for loading an archive. False: both are taken. */
bool images_take_turn(struct task_ctx *ctx);
/* Gives the turn back. */
void images_end_turn(struct task_ctx *ctx);
