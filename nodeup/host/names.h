/* names.h - the name that this machine goes by, and the file that names others to it
 * Both are the admin's or the distribution's: what is odd is told, and left alone. kubelet and the pods have the host
 * name of when they began, so it is noted by the first run of a boot.
 * Owner: the arena. Errors: SYSTEM. Threads: one. Source: hostname(5), hosts(5).
 * Tests: test_names.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

/* Note the host name, unless a run of this boot has. */
int names_note(int root_fd, struct err *e) must_check;
/* One line, for people, if the host name is another than it was noted, and one if /etc/hosts has no localhost. */
struct strv names_lines(struct arena *a, int root_fd);
