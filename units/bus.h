/* bus.h - talks to systemd's manager over D-Bus
 * Tries /run/systemd/private first, which works without dbus, then the system bus. Follows jobs by signal and by
 * polling: if a signal is lost, the run loses a second but does not fail.
 * Bodies: bus_sd.c, job.c.
 * Owner: bus_open/bus_close; strings in results are the arena's. Errors: SYSTEM with D-Bus name and message;
 * -ENOTCONN when there is no manager. Threads: one, the scheduler's.
 * Source: org.freedesktop.systemd1(5).
 * Tests: test_bus.py. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/mem.h"

struct bus;

enum bus_job_state { BUS_JOB_RUNNING, BUS_JOB_WAITING, BUS_JOB_DONE, BUS_JOB_FAILED };

/* A unit as the manager describes it; strings are never NULL. */
struct bus_unit {
	const char *load_state;   /* loaded, not-found, masked, error... */
	const char *active_state; /* active, inactive, failed, activating... */
	const char *sub_state;
	const char *file_state; /* enabled, disabled, static; "": not asked for, or no state */
	const char *result;     /* services: success, exit-code, timeout... ; "" otherwise */
	const char *type;       /* services: simple, notify, oneshot... ; "" otherwise */
	const char *fragment_path;
	bool need_reload;
	int32_t exec_status; /* the service's ExecMainStatus */
	int32_t exec_code;   /* ExecMainCode: CLD_EXITED, CLD_KILLED... */
	uint32_t main_pid, n_restarts;
	uint64_t start_us;        /* ExecMainStartTimestampMonotonic, 0 never */
	uint64_t active_enter_us; /* ActiveEnterTimestampMonotonic */
	const char *const *after; /* After=, NULL-terminated */
};

/* Connect. */
int bus_open(struct bus **ret, struct err *e) must_check;
/* Disconnect; NULL is fine. */
void bus_close(struct bus *b);
/* For poll(2): the descriptor and the events wanted. */
int bus_fd(struct bus *b);
int bus_events(struct bus *b);
/* Handles messages that have arrived. Call it when the fd is ready, and about once a second. */
int bus_process(struct bus *b, struct err *e) must_check;

/* Reads a unit's state without file_state. A unit that does not exist has load_state "not-found". */
int bus_get(struct bus *b, struct arena *a, const char *unit, struct bus_unit *ret,
	    struct err *e) must_check;
/* Reads a unit's state with file_state, which it takes from the links on the disk. */
int bus_get_with_links(struct bus *b, struct arena *a, const char *unit, struct bus_unit *ret,
		       struct err *e) must_check;
/* Returns whether the unit runs or is about to: it is neither inactive nor failed. */
bool bus_unit_is_at_work(const struct bus_unit *u);
/* daemon-reload. */
int bus_reload(struct bus *b, struct err *e) must_check;
/* Enables or disables the unit file. *ret_changed: whether links were changed. */
int bus_enable(struct bus *b, const char *unit, bool on, bool *ret_changed,
	       struct err *e) must_check;
/* After a change of links, a newer manager calls every unit outdated. Reloads a newer manager, as systemctl does. */
int bus_reload_links(struct bus *b, struct err *e) must_check;
/* Enqueues a job ("start", "restart", "stop", "reload-or-restart", mode replace) and gives its id. Never waits. */
int bus_job(struct bus *b, const char *verb, const char *unit, uint32_t *ret_job,
	    struct err *e) must_check;
/* Returns the state of a job. For FAILED, *ret_result is systemd's word ("failed", "timeout", "canceled",
 * "dependency"...), valid until the bus is closed. */
enum bus_job_state bus_job_state(struct bus *b, uint32_t job, const char **ret_result);
/* Clears a unit's failed state and restart counter. */
int bus_reset_failed(struct bus *b, const char *unit, struct err *e) must_check;
/* Reads one of the manager's own moments, by its property ("UserspaceTimestampMonotonic"), in us; 0: there was none. */
int bus_manager_stamp(struct bus *b, const char *property, uint64_t *ret_us,
		      struct err *e) must_check;
/* Reads the manager's version ("252"), a text of the arena. */
int bus_version(struct bus *b, struct arena *a, const char **ret, struct err *e) must_check;
