/* names.h - this machine's host name, and its /etc/hosts
 * Name and file belong to the admin or the distribution: oddities are reported and left alone. kubelet and the pods
 * keep the host name of their start, so the first run of a boot notes it.
 * Owner: the arena. Errors: SYSTEM. Threads: one. Source: hostname(5), hosts(5).
 * Tests: test_names.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

/* Notes the host name, unless an earlier run of this boot has. */
int names_note(int root_fd, struct err *e) must_check;
/* Gives one line for people if the host name differs from the noted one, and one if /etc/hosts lacks localhost. */
struct strv names_lines(struct arena *a, int root_fd);
