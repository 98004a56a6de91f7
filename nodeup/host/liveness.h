/* liveness.h - whether a program that runs also answers
 * Each program gets one request, and a second of time for it: systemd calls a process active even if it is stopped
 * or hangs. Any answer counts, even a refusal, except that kubelet may say itself that it is not well. containerd is
 * asked without ctr: as a server of HTTP/2 it begins with a frame.
 * Invariant: no call takes longer than the second. Nothing is changed by asking.
 * Owner: the arena. Errors: SYSTEM. Units: ns. Threads: all functions.
 * Source: kubelet --healthz-port; docker's /_ping; RFC 9113 section 3.4; RFC 5246 section 7.4.1.2.
 * Tests: test_liveness.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"
#include "units/bus.h"

/* How long a running program may say nothing. */
#define LIVENESS_SILENCE_NS (60 * DUR_SEC)

enum answer {
	ANSWER_CAME,
	ANSWER_NOT_ASKED,
	ANSWER_SILENT, /* nothing came in time */
	ANSWER_CLOSED, /* no program listens, or the program closed the connection */
	ANSWER_UNWELL, /* the program itself says that it is not well */
};

/* Returns whether the program was asked and gave no good answer. */
bool answer_is_bad(enum answer came);
/* Asks the program of a unit, whose main process is pid (0: not known). Does not ask a program that has no row here,
 * that was told to have no socket, or whose socket this user may not use. *ret_why says why no good answer came;
 * NULL: there is nothing to say. Call it only for an active unit: for an inactive one systemd would start docker. */
enum answer liveness_ask(struct arena *a, int root_fd, const char *unit, uint32_t pid,
			 const char **ret_why);
/* Asks the unit's program whether it is alive; `is` is the unit's present state. Does not ask (*ret_why NULL) if the
 * unit is not active, or began less than a minute ago. */
enum answer liveness_ask_unit(struct arena *a, int root_fd, const char *unit,
			      const struct bus_unit *is, const char **ret_why);
/* Asks the program that listens at a port of an IPv4 address, by HTTP and then by TLS. */
enum answer liveness_ask_port(struct arena *a, const char *address, uint16_t port,
			      const char **ret_why);
/* Fails if the program of a unit says nothing: a program that hangs must not be given more to do. */
int liveness_demand(int root_fd, const char *unit, struct err *e) must_check;
