/* query_errors.h - what the error codes of EC2 and its kin mean for the caller
 * One table: a code's kind, the errno by which callers decide what to do, and the words for a person.
 *   EBUSY       another instance was faster, or the volume is still busy: look again
 *   EADDRINUSE  the device name is taken: take another name
 *   ENOENT      a new object is not known everywhere yet: ask again
 *   EAGAIN      too many requests: ask later
 *   EKEYEXPIRED these credentials have expired: get new ones, once
 *   EACCES      the role may not do this: rights arrive late at boot, otherwise a person has to act
 *   ESRCH       the requested action is over, or was never under way
 *   EMLINK      the instance has no room for another volume
 * Owner: the arena. Errors: it fills them. Threads: all functions.
 * Source: EC2 API reference, "Error codes"; Kubernetes' and kops' callers.
 * Tests: test_query_errors.c. */
#pragma once

#include "nodeup/base/str.h"

/* Fills e from a service's answer that is no success, even if it is not XML. `service` is the name that people know.
 * Returns the error's negative errno. Leaves out the encoded message of UnauthorizedOperation. */
int query_error(struct arena *a, const char *service, const char *action, int status,
		const char *body, size_t n, struct err *e) must_check;
