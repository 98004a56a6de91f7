/* order.h - the order in which the ready tasks of a run begin
 * Owner: the arena. Errors: none. Threads: the scheduler's.
 * Tests: test_run.c. */
#pragma once

#include "nodeup/run/run.h"

/* Orders the tasks. The task that reads most begins first: begun last, it would keep one processor busy alone at the
 * end. Then comes the task with the longest chain of tasks after it, such as a restart of docker for kubelet, as
 * systemd makes one start at a time. Otherwise the plan's order counts. */
size_t *order_of(struct arena *a, const struct run_req *req);
