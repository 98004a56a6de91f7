/* program.h - nodeup's own program, at the place that the boot unit starts it from
 * A record beside the applied state says which bytes were installed: the program is right when it has
 * them. Only an install (`replace`) brings other bytes. A run of another program leaves the installed
 * one alone, and puts itself there when that is missing or damaged, as any nodeup is better than none.
 * Invariant: at each moment the program has bytes that the record names.
 * Owner: the arena. Errors: SYSTEM, INTEGRITY. Threads: all functions. */
#pragma once

#include "nodeup/tasks/task.h"

/* The record: a line of digest and version for each program that may be the installed one. */
extern const char program_record_path[];

/* Where the program that runs and an intact installed one differ: text for people, else NULL. */
const char *program_other(const struct task *t, struct task_ctx *ctx, struct arena *a);
