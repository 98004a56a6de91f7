/* move_world.h - a scratch root with a volume at /mnt/disks, and the move of /var/lib/docker to it
 * Owner: move_world_new/move_world_done, as a test's setup and teardown. Errors: the test fails.
 * Threads: one. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/move/move.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

#define MARK "/mnt/disks/.nodeup/var-lib-docker@i-0a1b"
#define COPY MARK ".copy"
#define STOPPED "/run/nodeup/stopped/var-lib-docker"

/* what mountinfo says: the volume alone, and with the directory bound */
extern const char mounted[], bound[];

struct world {
	struct scratch root;
	struct bus bus;
	struct fake_unit *docker, *socket;
	struct task task;
	struct task_ctx ctx;
	struct task_diff diff;
	struct task_run run;
	struct arena *arena;
	struct err e;
};

int move_world_new(void **state);
int move_world_done(void **state);
/* One call of a task's check, or of its apply from the beginning; w->e is that call's. */
int check_task(struct world *w, const struct task_ops *ops);
int apply_task(struct world *w, const struct task_ops *ops);
/* The test fails unless it is done. */
void apply_task_well(struct world *w, const struct task_ops *ops);
/* A path below the root, for system calls. */
char *here(struct world *w, const char *path);
/* Some of docker's files in the source. */
void fill(struct world *w);
void assert_text(struct world *w, const char *path, const char *want);
bool is_there(struct world *w, const char *path);
/* A process whose `link` ("fd/7", "cwd") leads to that path. */
void a_process(struct world *w, const char *pid, const char *link, const char *to);
