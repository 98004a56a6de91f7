/* started.h - with which inputs a unit was started: /run/nodeup/started/UNIT
 * Before an input of the unit gets other content, the record becomes `doubt DIGEST US FOREIGN`. Before the start job
 * it begins with `pending`, and after the job with `done`. So if a run is killed after it wrote a file and before it
 * restarted the service, the next run puts that right, whatever restarts the service meanwhile, and whatever the
 * files' times are. A process that is younger than a pending or done record was started by others, with the same
 * inputs: nothing has been written since. US is the time of the record; for `done`, the start of the process. After
 * a boot /run is empty, and the processes are gone.
 * Owner: values. Errors: SYSTEM. Units: us, monotonic, as systemd's. Threads: any; one writer for each unit, except
 * for doubts, which all have the same text.
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
	bool has_foreign;      /* false: an older record, which lacks `foreign` */
	struct digest foreign; /* digest of drop-ins and other files that no task writes */
};

/* Reads the record; UNKNOWN: there is none, or it cannot be read. */
struct started started_get(int root_fd, const char *unit);
/* Writes the record. */
int started_set(int root_fd, const char *unit, const struct started *s, struct err *e) must_check;
/* Removes the record: from now on others start the unit, with their own inputs. */
int started_forget(int root_fd, const char *unit, struct err *e) must_check;
/* Called before a task changes a content. Puts in doubt the records of all units that start with this content. Does
 * nothing for units without a record. */
int started_doubt(const struct task *input, struct task_ctx *ctx, struct err *e) must_check;
