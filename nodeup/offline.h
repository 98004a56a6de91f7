/* offline.h - what an offline run would miss, before it begins
 * Owner: none. Errors: NET, when something is missing that the run cannot do without; each is logged.
 * Threads: one. */
#pragma once

#include "nodeup/session.h"

/* Whether the cache has every asset that this run needs. */
int offline_check(struct session *s, struct err *e) must_check;
