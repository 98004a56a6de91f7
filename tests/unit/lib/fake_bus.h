/* fake_bus.h - a manager in memory behind units/bus.h, and a journal with one line a unit
 * Linked to every unit test instead of units/bus_sd.c and units/journal_sd.c, which need a systemd.
 * The test owns the units and sets what a start job comes to.
 * Owner: the caller's storage. Errors: none but those asked for. Threads: one. */
#pragma once

#include "units/bus.h"

enum { FAKE_UNITS = 4, FAKE_CALLS_MAX = 256 };

struct fake_unit {
	const char *name;
	struct bus_unit is;
	/* where its next job stands when it is asked for, and systemd's word for a failed one */
	enum bus_job_state job;
	const char *result;
};

struct bus {
	struct fake_unit units[FAKE_UNITS];
	size_t n;
	char calls[FAKE_CALLS_MAX]; /* "enable a.service, restart a.service, " */
};

/* Add a service that is loaded, enabled, active since start_us, and whose next job succeeds. */
struct fake_unit *fake_bus_add(struct bus *b, const char *name, uint64_t start_us);
