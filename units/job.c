#include "units/job.h"

#include <stdlib.h>

#include "nodeup/base/str.h"

void jobs_add(struct jobs *jobs, uint32_t id, const char *unit, bool stops)
{
	if (jobs_find(jobs, id))
		return;
	jobs->v = xrealloc(jobs->v, (jobs->n + 1) * sizeof(*jobs->v));
	jobs->v[jobs->n++] = (struct job){
		.id = id,
		.state = BUS_JOB_WAITING,
		.stops = stops,
		.unit = xstrdup(unit),
	};
}

struct job *jobs_find(const struct jobs *jobs, uint32_t id)
{
	for (size_t i = 0; i < jobs->n; i++)
		if (jobs->v[i].id == id)
			return &jobs->v[i];
	return NULL;
}

void jobs_done(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		free(jobs->v[i].unit);
		free(jobs->v[i].result);
	}
	free(jobs->v);
	*jobs = (struct jobs){ 0 };
}

void job_finish(struct job *j, const char *result)
{
	/* "skipped": the start had nothing to do */
	bool done = str_eq(result, "done") || str_eq(result, "skipped");

	if (j->result)
		return;
	j->result = xstrdup(result);
	j->state = done ? BUS_JOB_DONE : BUS_JOB_FAILED;
}

bool bus_unit_is_at_work(const struct bus_unit *u)
{
	return !str_eq(u->active_state, "inactive") && !str_eq(u->active_state, "failed");
}

const char *job_judge(const struct job *j, const struct bus_unit *u)
{
	if (j->stops)
		return bus_unit_is_at_work(u) ? "canceled" : "done";
	if (str_eq(u->active_state, "failed") || str_eq(u->sub_state, "auto-restart"))
		return "failed";
	/* a oneshot that has run, or a unit whose conditions do not hold */
	if (str_eq(u->active_state, "inactive"))
		return str_is_empty(u->result) || str_eq(u->result, "success") ? "done" : "failed";
	if (str_eq(u->active_state, "active") || str_eq(u->active_state, "reloading"))
		return "done";
	return "canceled";
}
