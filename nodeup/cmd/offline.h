/* offline.h - what an offline run would miss, before it begins
 * Owner: none. Errors: CONFIG, when something is missing that the run cannot do without; each is logged.
 * Threads: one.
 * Tests: test_offline.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* Fail unless the cache has every asset that this run needs. */
int offline_check(struct session *s, struct err *e) must_check;
/* Offline the network is not to blame: what was not brought here does not come by waiting. */
void offline_blame(struct err *e);
