#include "nodeup/cmd/rounds.h"

#include <errno.h>

static bool has_time(const struct round_end *end, int64_t pause_ns)
{
	return !end->deadline_ns || end->now_ns + pause_ns < end->deadline_ns;
}

enum round round_after(const struct round_end *end, const struct err *e)
{
	const bool at_once = has_time(end, 0), may_pass = err_is_transient(e);

	/* the next run's files are new, and their writes may well reach the disk */
	if (at_once && end->files_lost && end->round != ROUND_ANEW)
		return ROUND_ANEW;
	if (end->retries != 0 && has_time(end, end->pause_ns) &&
	    (may_pass || e->kind == ERR_INTEGRITY))
		return ROUND_FIRST;
	return ROUND_NONE;
}

bool round_is_refused(bool begun, const struct err *e)
{
	const bool is_clock = e->kind == ERR_BUSY && e->errnum == ETIME;

	return e->kind == ERR_CONFIG || (!begun && (e->kind == ERR_SYSTEM || is_clock));
}
