/* unit_notes.h - what a failed unit has to say for itself, as notes of an error
 * Owner: none. Errors: what cannot be had is left out: the error that is explained counts.
 * Threads: the bus' own. Source: org.freedesktop.systemd1(5), sd-journal(3).
 * Tests: test_unit_answers.c, test_unit_start.c. */
#pragma once

#include "units/bus.h"

/* Add "got" (state, result, exit, restarts) and "journal" (the last lines of its process). */
void unit_notes(const char *name, const struct bus_unit *u, struct err *e);
