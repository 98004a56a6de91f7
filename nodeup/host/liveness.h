/* liveness.h - whether a program that runs also answers
 * One request a program, and a second for it: a process that is stopped, or hangs, is active to systemd. Any answer is an answer,
 * also one that refuses; but kubelet says itself when it is not well. containerd is asked without ctr: a server of HTTP/2 begins
 * with a frame.
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

/* The time that a program that runs may say nothing. */
#define LIVENESS_SILENCE_NS (60 * DUR_SEC)

enum answer {
	ANSWER_CAME,
	ANSWER_NOT_ASKED,
	ANSWER_SILENT, /* nothing came in time */
	ANSWER_CLOSED, /* nothing is there to ask, or it closed the connection */
	ANSWER_UNWELL, /* it says so itself */
};

/* Returns whether the program was asked, and is not as it should be. */
bool answer_is_bad(enum answer came);
/* Asks the program of a unit, whose main process is pid (0: not known). Not asked: one that has no row here, whose socket this user
 * may not use, or which was told to have none. *ret_why is what is to be said of one from which no good answer came; NULL: nothing,
 * it has no row. Only a unit that is active is to be asked: systemd would start docker for it. */
enum answer liveness_ask(struct arena *a, int root_fd, const char *unit, uint32_t pid,
			 const char **ret_why);
/* Asks the program of a unit that is so now. Not asked either, with nothing to be said of it: one that is not active, or was started
 * for less than a minute, which may be on its way. */
enum answer liveness_ask_unit(struct arena *a, int root_fd, const char *unit,
			      const struct bus_unit *is, const char **ret_why);
/* Asks what listens at a port of an IPv4 address, by HTTP and then by TLS. */
enum answer liveness_ask_port(struct arena *a, const char *address, uint16_t port,
			      const char **ret_why);
/* Fails if the program of a unit says nothing: what hangs is not given more to do. */
int liveness_demand(int root_fd, const char *unit, struct err *e) must_check;
