/* progress.h - shows people the assets under way
 * On a terminal each asset, and each task that waits, has a line below the log, redrawn in place. Elsewhere (a
 * console, a journal, TERM=dumb) there are plain lines as in waiting.h.
 * Owner: progress_new/progress_free; freeing clears the terminal. Errors: none. Units: bytes, monotonic ns, columns.
 * Threads: the scheduler's. Source: terminals as ECMA-48; no-color.org.
 * Tests: test_progress.c. */
#pragma once

#include "nodeup/base/tree.h"
#include "nodeup/run/run.h"
#include "nodeup/run/waiting.h"

struct progress;

/* Makes a display of progress, and looks at stderr as footer.h does. `waits` must outlive the display. NULL fetcher:
 * no asset is ever under way. */
struct progress *progress_new(struct fetcher *f, struct waits *waits) must_check;
/* Releases the display, and leaves nothing on the terminal; NULL is fine. */
void progress_free(struct progress *p);
/* Shows the present state; called a few times a second. */
void progress_show(struct progress *p, const struct run_report *rep);
/* Returns whether waiting assets are shown here, so that the caller need not report them. */
bool progress_tells(const struct task *t);
/* Returns when a waiting asset's next attempt begins, monotonic; 0: not known, or not an asset. */
int64_t progress_next_try(const struct task *t, struct fetcher *f);

/* Words an asset: "45%  50.1 of 110.7 MB  12.3 MB/s  0:05 left  attempt 1  https://mirror/kubelet", or its wait.
 * rate: bytes a second, 0 unknown. */
char *progress_text(struct arena *a, const struct fetch_status *st, double rate, int64_t now_ns);
/* Words a task other than an asset: "for 12.0 s: the package lock", or "attempt 2, next in 3.0 s: its error"; NULL:
 * it does not wait, or not for long. */
char *progress_task_text(struct arena *a, const struct run_outcome *o, int64_t now_ns);
/* Returns one map for each asset: name, state, bytes, total, mirror, attempt, what it waits for, since when, the
 * last error, the next try. If another run follows at next_run_wall_ns (else 0), lists failed assets too. */
struct tree *progress_tree(struct arena *a, const struct run_report *rep, struct fetcher *f,
			   int64_t next_run_wall_ns);
