#include "nodeup/tasks/images.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "nodeup/base/dur.h"

/* for so long after a failed question, tasks that waited for its answer do not ask again */
#define VAIN_NS (2 * DUR_SEC)

enum { TURNS = 2 };

struct images {
	pthread_mutex_t lock;
	struct arena *arena; /* arena of the list; NULL: the runtime must be asked anew */
	struct map all;
	struct err why; /* error and time of the last failed question; 0: none */
	int64_t vain_ns;
	atomic_int turns; /* turns in use */
};

struct images *images_new(void)
{
	struct images *im = xcalloc(1, sizeof(*im));

	(void)pthread_mutex_init(&im->lock, NULL);
	return im;
}

void images_free(struct images *im)
{
	if (!im)
		return;
	(void)pthread_mutex_destroy(&im->lock);
	arena_free(im->arena);
	free(im);
}

static int ask(struct images *im, struct task_ctx *ctx, struct err *e)
{
	int r;

	if (im->arena)
		return 0;
	if (im->vain_ns && dur_now() - im->vain_ns < VAIN_NS) {
		*e = im->why;
		return err_code(e);
	}
	im->arena = arena_new_empty();
	im->all = (struct map){ 0 };
	r = image_ctr_list(ctx, im->arena, NULL, &im->all, e);
	if (r == 0)
		return 0;
	arena_free(im->arena);
	im->arena = NULL;
	im->vain_ns = dur_now();
	im->why = *e;
	return r;
}

int images_id(struct task_ctx *ctx, const char *image, char id[static IMAGE_ID_MAX], struct err *e)
{
	struct images *im = ctx->images;
	int r;

	if (!im)
		return image_ctr_id(ctx, image, id, e);
	(void)pthread_mutex_lock(&im->lock);
	r = ask(im, ctx, e);
	if (r == 0)
		r = image_ctr_find(&im->all, image, id, e);
	(void)pthread_mutex_unlock(&im->lock);
	return r;
}

void images_changed(struct task_ctx *ctx)
{
	struct images *im = ctx->images;

	if (!im)
		return;
	(void)pthread_mutex_lock(&im->lock);
	arena_free(im->arena);
	im->arena = NULL;
	im->vain_ns = 0;
	(void)pthread_mutex_unlock(&im->lock);
}

bool images_take_turn(struct task_ctx *ctx)
{
	if (!ctx->images || atomic_fetch_add(&ctx->images->turns, 1) < TURNS)
		return true;
	images_end_turn(ctx);
	return false;
}

void images_end_turn(struct task_ctx *ctx)
{
	if (ctx->images)
		(void)atomic_fetch_sub(&ctx->images->turns, 1);
}
