/* proc.h - run a program, without a shell
 * Uses only posix_spawn. The child gets its own process group, but no session of its own. It gets the given
 * environment, and other descriptors are closed. On timeout the group is killed. If a signal ends us, the child is
 * ended as well; a child that must not be cut off is waited for (ending.h). proc_run does not return then.
 * Owner: the output buffer is the caller's. Errors: SYSTEM with the last output line; -ETIMEDOUT. Units:
 * nanoseconds.
 * Threads: all functions. Source: posix_spawn(3), waitid(2).
 * Tests: test_proc.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/ending.h"

/* The program and descriptors with which a child starts. */
struct proc_start {
	const char *file; /* looked up in PATH unless it has a slash */
	const char *const *argv, *const *env;
	const int *fds; /* descriptors of the child, from 0 on; the child gets no others */
	int n_fds;
};

/* Starts the program in a process group of its own, with no signal blocked or ignored. The caller has set the name
 * in *c. From then on ending.h knows the child. Returns 0 or a positive errno. */
int proc_start(const struct proc_start *how, struct ending_child *c) must_check;
/* Waits for the child's end. Returns its status. */
int proc_reap(struct ending_child *c);

struct proc_req {
	const char *const *argv;      /* argv[0] is looked up in PATH unless it has a slash */
	const char *const *extra_env; /* "K=V" variables to add to ours; NULL: none */
	int stdin_fd;                 /* -1: /dev/null */
	int64_t timeout_ns;           /* 0: none */
	bool let_end; /* a signal to us must not end this program, as that would leave damage */
};

/* Runs a program to its end; out (may be NULL) gets stdout and stderr. An exit status other than 0 is an error. */
int proc_run(const struct proc_req *req, struct buf *out, struct err *e) must_check;

/* Returns whether proc_run() would find a program of that name in PATH. */
bool program_in_path(const char *name);
/* Returns whether the machine below root_fd has a program of that name in a usual folder. Does not use PATH. */
bool program_is_there(int root_fd, const char *name);
