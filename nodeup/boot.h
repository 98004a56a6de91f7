/* boot.h - how this machine starts nodeup at boot
 * --install-systemd-unit records its flags and environment (0600); from then on every run keeps the
 * unit, its enablement and the program as recorded. A run by hand never brings flags of its own into
 * the record. Where it is lost a run inside the unit writes it anew, as it has both from there.
 * Where nothing was ever installed nothing is: who runs nodeup by hand goes on by hand.
 * Owner: the session's arena. Errors: none; a record that cannot be read is told of. Threads: one. */
#pragma once

#include "nodeup/session.h"

/* Say in the plan's request how nodeup is started at boot, and with which environment. */
void boot_settle(struct session *s, const struct session_req *req, struct plan_req *plan);
/* Tell of a program that runs beside another that is installed. */
void boot_note(struct session *s);
/* A path as seen from any directory. */
const char *boot_absolute(struct arena *a, const char *path);
