/* identity.h - whose records these are: an image of a machine may be made of a node that ran
 * Documents and disks are bound to their instance where they are read. What is renewed here is what has no such
 * name: the remembered runs, and with them what is kept by their numbers.
 * Owner: none. Errors: SYSTEM. Threads: one. */
#pragma once

#include "nodeup/cmd/session.h"

/* Note which instance this is. Where another one was noted, say so in one line, and forget its runs. */
int identity_renew(const struct session *s, struct err *e) must_check;
