/* unit_notes.h - adds what is known about a failed unit to an error, as notes
 * Owner: none. Errors: unknown facts are left out, since the explained error counts. Threads: the bus' own.
 * Source: org.freedesktop.systemd1(5), sd-journal(3).
 * Tests: test_unit_answers.c, test_unit_start.c. */
#pragma once

#include "units/bus.h"

/* Adds "got" (state, result, exit, restarts) and "journal" (the last lines of its process). */
void unit_notes(const char *name, const struct bus_unit *u, struct err *e);
