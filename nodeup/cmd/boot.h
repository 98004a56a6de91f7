/* boot.h - how this machine starts nodeup at boot
 * --install-systemd-unit records its flags and environment (0600). From then on every run keeps unit, enablement and
 * program as recorded. A run by hand never adds its own flags to the record; it takes the recorded environment where
 * the shell sets none. If the record is lost, a run inside the unit writes it anew from its own start. If the unit
 * was never installed, no run installs it, and nodeup is run by hand as before.
 * Owner: the session's arena. Errors: none; a record that cannot be read is reported. Threads: one.
 * Tests: test_environment.py, test_own_unit.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* The service that runs apply at boot. */
extern const char boot_unit[];

/* Returns whether the unit file is nodeup's, by a line that differs in kops' own unit file. */
bool boot_has_unit_file(int root_fd);
/* Returns the name of a variable that is recorded, and whether no value of it is a secret; NULL: it is none. */
const char *boot_variable(const char *name, bool *ret_is_open);
/* Sets the recorded environment variables about the way to the documents if a run by hand lacks them, and says so.
 * Called before any thread starts. */
void boot_take_environment(struct cli *cli);
/* Puts the start at boot, with its environment, into the plan's request. */
void boot_settle(struct session *s, const struct session_req *req, struct plan_req *plan);
