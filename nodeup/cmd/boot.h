/* boot.h - how this machine starts nodeup at boot
 * --install-systemd-unit records its flags and environment (0600); from then on every run keeps the
 * unit, its enablement and the program as recorded. A run by hand never brings flags of its own into
 * the record, and has the environment of it where the shell has set none. If the record is lost, a run
 * inside the unit writes it anew, because the unit has both.
 * If the unit was never installed, no run installs it: a machine that is run by hand stays so.
 * Owner: the session's arena. Errors: none; a record that cannot be read is told of. Threads: one.
 * Tests: test_environment.py, test_own_unit.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* The service that runs apply at boot. */
extern const char boot_unit[];

/* Returns whether the unit file at its place is nodeup's, by a line that kops' own has otherwise. */
bool boot_has_unit_file(int root_fd);
/* Set what the boot unit has on record for the way to the documents, and a run by hand on this machine has not; and say so.
 * Before any thread. */
void boot_take_environment(struct cli *cli);
/* Say in the plan's request how nodeup is started at boot, and with which environment. */
void boot_settle(struct session *s, const struct session_req *req, struct plan_req *plan);
