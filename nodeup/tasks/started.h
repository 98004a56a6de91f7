/* started.h - with which inputs a unit was started: /run/nodeup/started/UNIT
 * `doubt DIGEST US FOREIGN` is written before anything that it is started with gets other content, `pending`
 * before the job, `done` after it, so that a kill between writing a file and restarting its service heals
 * at the next run, whatever restarts the service meanwhile and whatever the files' times say. A process
 * younger than a pending or done record was started with the same inputs, not by us: nothing has been
 * written since. US is when that was, of `done` when the process started. /run is empty after a boot,
 * as are the processes.
 * Owner: values. Errors: SYSTEM. Units: us, monotonic, as systemd's. Threads: any; one writer a unit but
 * for doubts, which say the same.
 * Tests: test_unit_start.c, test_unit_checkpoint.c. */
#pragma once

#include "assets/digest.h"

struct task;
struct task_ctx;

enum started_state { STARTED_UNKNOWN, STARTED_PENDING, STARTED_DONE, STARTED_DOUBT };

struct started {
	enum started_state state;
	uint64_t us;
	struct digest inputs;
	bool has_foreign;      /* an older record has none of these */
	struct digest foreign; /* of drop-ins and other files that no task writes */
};

/* Reads the record; UNKNOWN: there is none, or it cannot be read. */
struct started started_get(int root_fd, const char *unit);
/* Writes the record. */
int started_set(int root_fd, const char *unit, const struct started *s, struct err *e) must_check;
/* Removes the record: from now on others start the unit, with their own inputs. */
int started_forget(int root_fd, const char *unit, struct err *e) must_check;
/* Called before this task changes a content. Puts the records of all units that start with the content in doubt.
 * Does nothing for units without a record. */
int started_doubt(const struct task *input, struct task_ctx *ctx, struct err *e) must_check;
