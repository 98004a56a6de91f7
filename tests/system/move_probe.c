/* move_probe - move /var/lib/docker of a scratch root to its /mnt/disks, as a run does, until it is done
 *
 *   move_probe ROOT
 *
 * The root has a /proc of its own, where nothing but the volume is mounted. Whoever is busy is waited for. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include "nodeup/base/dur.h"
#include "nodeup/tasks/kinds.h"

enum { PAUSE_MS = 20 };

static const struct task task = {
	.kind = TASK_MOVE,
	.name = "/var/lib/docker",
	.move = { .source = "/var/lib/docker",
		  .target = "/mnt/disks/docker",
		  .mount_point = "/mnt/disks",
		  .machine = "i-0a1b" },
};

/* 0 when it is as it should be. */
static int once(struct task_ctx *ctx, struct task_run *run, struct err *e)
{
	struct task_diff diff;
	int r = task_move_ops.check(&task, ctx, &diff, e);

	if (r != TASK_DIFFERS)
		return r;
	r = task_move_ops.apply(&task, ctx, run, e);
	return r == TASK_DONE ? TASK_WAIT : r;
}

int main(int argc, char **argv)
{
	const int64_t end = dur_now() + 120 * DUR_SEC;
	struct task_run run = { 0 };
	struct task_ctx ctx = { 0 };
	struct err e = { 0 };
	int r;

	if (argc != 2 || io_open_root(argv[1], &ctx.root_fd, &e) < 0)
		return EXIT_FAILURE;
	while ((r = once(&ctx, &run, &e)) != TASK_EQUAL) {
		if ((r < 0 && e.kind != ERR_BUSY) || dur_now() > end) {
			(void)fprintf(stderr, "%s\n", e.msg);
			return EXIT_FAILURE;
		}
		(void)poll(NULL, 0, PAUSE_MS);
	}
	return EXIT_SUCCESS;
}
