/* answers.h - whether a program that runs also answers
 * One request a program, and a second for it: a process that is stopped, or hangs, is active to systemd. Any answer is an answer,
 * also one that refuses. containerd is asked without ctr: a server of HTTP/2 begins with a frame.
 * Invariant: no call takes longer than the second. Nothing is changed by asking.
 * Owner: the arena. Errors: SYSTEM. Units: ns. Threads: all functions.
 * Source: kubelet --healthz-port; docker's /_ping; RFC 9113 section 3.4. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

/* One that was started for less is not asked: it may be on its way. */
#define ANSWERS_START_NS INT64_C(60000000000)

enum answer {
	ANSWER_CAME,
	ANSWER_SILENT, /* nothing came in time */
	ANSWER_CLOSED, /* nothing is there to ask, or it closed the connection */
	ANSWER_NOT_ASKED,
};

/* Whether the program of a unit has a socket to ask. */
bool answers_has(const char *unit);
/* Asks the program of a unit. Not asked: one that has no row here, or whose socket this user may not use. *ret_why is what is
 * to be said of one from which none came. Only a unit that is active is to be asked: systemd would start docker for it. */
enum answer answers_ask(struct arena *a, int root_fd, const char *unit, const char **ret_why);
/* Fails if the program of a unit says nothing: what hangs is not given more to do. */
int answers_demand(int root_fd, const char *unit, struct err *e) must_check;
