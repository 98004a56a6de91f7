/* job.h - the jobs that systemd was asked for, and how each ended
 * A job is over when it has a result; its first result stays.
 * Owner: jobs_done releases what jobs_add made; results live as long as the jobs. Errors: none. Threads: one.
 * Source: org.freedesktop.systemd1(5), JobRemoved.
 * Tests: test_unit.c. */
#pragma once

#include "units/bus.h"

struct job {
	uint32_t id;
	enum bus_job_state state;
	bool stops; /* this is a stop job, after which the unit is to be inactive */
	char *unit;
	char *result; /* systemd's word; NULL until the job is over */
};

struct jobs {
	struct job *v;
	size_t n;
};

/* Follows a job. systemd merges jobs, so the same id may be added twice. */
void jobs_add(struct jobs *jobs, uint32_t id, const char *unit, bool stops);
/* Finds the job; or NULL. */
struct job *jobs_find(const struct jobs *jobs, uint32_t id);
/* Releases all jobs. */
void jobs_done(struct jobs *jobs);

/* Notes how the job ended. */
void job_finish(struct job *j, const char *result);
/* Judges a job that ended without a signal by the state of its unit. */
const char *job_judge(const struct job *j, const struct bus_unit *u);
