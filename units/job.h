/* job.h - the jobs that were asked of systemd, and how each ended
 * A job is over once it has a result; the first result stands.
 * Owner: jobs_done releases what jobs_add made; results live as long. Errors: none. Threads: one.
 * Source: org.freedesktop.systemd1(5), JobRemoved.
 * Tests: test_unit.c. */
#pragma once

#include "units/bus.h"

struct job {
	uint32_t id;
	enum bus_job_state state;
	bool stops; /* a stop job: inactive is what it wants */
	char *unit;
	char *result; /* systemd's word, NULL while it is not over */
};

struct jobs {
	struct job *v;
	size_t n;
};

/* Follow a job; systemd merges jobs, so that one id may come twice. */
void jobs_add(struct jobs *jobs, uint32_t id, const char *unit, bool stops);
/* The job, or NULL. */
struct job *jobs_find(const struct jobs *jobs, uint32_t id);
/* Release all. */
void jobs_done(struct jobs *jobs);

/* Note how the job ended. */
void job_finish(struct job *j, const char *result);
/* The result of a job that ended without a signal, as far as its unit shows it. */
const char *job_judge(const struct job *j, const struct bus_unit *u);
