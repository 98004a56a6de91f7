/* progress.h - what a person sees of assets under way
 * On a terminal one line an asset, and one a task that waits, redrawn in place below the log; elsewhere (a console, a journal,
 * TERM=dumb) plain lines as waiting.h has them.
 * Owner: progress_new/progress_free; freeing clears the terminal. Errors: none. Units: bytes, monotonic
 * ns, columns. Threads: the scheduler's. Source: terminals as ECMA-48; no-color.org.
 * Tests: test_progress.c. */
#pragma once

#include "nodeup/base/tree.h"
#include "nodeup/run/run.h"
#include "nodeup/run/waiting.h"

struct progress;

/* Looks at stderr, as footer.h; waits outlives it. NULL fetcher: nothing is ever under way. */
struct progress *progress_new(struct fetcher *f, struct waits *waits) must_check;
/* Release, and leave nothing on the terminal; NULL is fine. */
void progress_free(struct progress *p);
/* Show how it is now; a few times a second. */
void progress_show(struct progress *p, const struct run_report *rep);
/* Returns whether waiting assets are shown here, so that the caller need not report them. */
bool progress_tells(const struct task *t);
/* When the next attempt of an asset that waits begins, monotonic; 0: not known, or not one. */
int64_t progress_next_try(const struct task *t, struct fetcher *f);

/* "45%  50.1 of 110.7 MB  12.3 MB/s  0:05 left  attempt 1  https://mirror/kubelet", or what it waits
 * for. rate: bytes a second, 0 unknown. */
char *progress_text(struct arena *a, const struct fetch_status *st, double rate, int64_t now_ns);
/* "for 12.0 s: the package lock" of a task that is not an asset, or "attempt 2, next in 3.0 s: its error"; NULL:
 * it does not wait, or has not for long. */
char *progress_task_text(struct arena *a, const struct run_outcome *o, int64_t now_ns);
/* One map for each asset: name, state, bytes, total, mirror, attempt, what it waits for, since when, the
 * last error, the next try: also of one that has failed, when another run follows at that time (else 0). */
struct tree *progress_tree(struct arena *a, const struct run_report *rep, struct fetcher *f,
			   int64_t next_run_wall_ns);
