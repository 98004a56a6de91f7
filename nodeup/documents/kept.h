/* kept.h - the documents of the last runs that ended well, a set each, by the number of its run
 * A set is a copy of what store_save() wrote, so each is whole by itself. Documents that did not change are no new set; certificates that were
 * issued anew go to the newest one.
 * Owner: the arena. Errors: SYSTEM. Units: none. Threads: one.
 * Tests: test_kept.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/str.h"

enum { KEPT_MAX = 3 };

struct kept_set {
	int64_t number;
	const char *path, *date;
};

struct kept_sets {
	struct kept_set *v;
	size_t n;
};

/* The sets that fit this instance, the newest first. One that is damaged is left out. */
struct kept_sets kept_of(struct arena *a, int root_fd, const char *instance);
/* The highest number that a set has; 0: there is none. */
int64_t kept_last(int root_fd);
/* Keep the documents that store_save() wrote to `from` as the set of that run. The oldest beyond KEPT_MAX goes. */
int kept_add(int root_fd, const char *from, int64_t number, struct err *e) must_check;
/* Forget all sets: they are another machine's. */
int kept_forget(int root_fd, struct err *e) must_check;
