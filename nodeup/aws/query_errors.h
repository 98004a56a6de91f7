/* query_errors.h - what the error codes of EC2 and its kin mean for the caller
 * One table: a code's kind, the errno by which callers decide what to do, and the words for a person.
 *   EBUSY       another instance was faster, or the volume is still busy: look again
 *   EADDRINUSE  the device name is taken: another one
 *   ENOENT      what was just made is not known everywhere yet: again
 *   EAGAIN      too many requests: later
 *   EKEYEXPIRED these credentials: new ones, once
 *   EACCES      the role may not: rights arrive late at boot, else a person has to act
 *   ESRCH       what was asked for is over, or was never under way
 *   EMLINK      the instance has no room for another volume
 * Owner: the arena. Errors: it fills them. Threads: all functions.
 * Source: EC2 API reference, "Error codes"; Kubernetes' and kops' callers.
 * Tests: test_query_errors.c. */
#pragma once

#include "nodeup/base/str.h"

/* Fill e from the answer of a service, by the name people know, to an action that was not a success: its XML, or
 * anything else. Returns the error's negative errno. The encoded message of UnauthorizedOperation is left out. */
int query_error(struct arena *a, const char *service, const char *action, int status,
		const char *body, size_t n, struct err *e) must_check;
