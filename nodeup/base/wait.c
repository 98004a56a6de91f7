#include "nodeup/base/wait.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include "nodeup/base/mem.h"

static const int64_t first_ns = 200 * DUR_MS, last_ns = 5 * DUR_SEC;

double wait_chance(void)
{
	uint32_t dice;

	/* early in a boot the kernel has no randomness yet */
	if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) != sizeof(dice))
		dice = UINT32_MAX;
	return (double)dice / UINT32_MAX;
}

int64_t wait_delay(unsigned int attempt)
{
	int64_t most = first_ns;

	while (attempt-- > 1 && most < last_ns)
		most *= 2;
	if (most > last_ns)
		most = last_ns;
	return (int64_t)((double)most * wait_chance());
}

void wait_until(int64_t due_ns)
{
	const struct timespec due = { .tv_sec = due_ns / DUR_SEC, .tv_nsec = due_ns % DUR_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

void wait_tell(wait_fn *fn, void *arg, const char *what, int64_t since_ns, unsigned int attempt,
	       const struct err *last, int64_t next_ns)
{
	const struct wait w = {
		.what = what,
		.reason = last->msg,
		.why = last,
		.since_ns = since_ns,
		.next_ns = next_ns,
		.attempt = attempt,
	};

	if (fn)
		fn(arg, &w);
}

void wait_tell_silence(wait_fn *fn, void *arg, const char *what, const char *who, bool has_begun,
		       int64_t since_ns, unsigned int attempt)
{
	autofree char *reason =
		xasprintf("%s: %s", who, has_begun ? "its answer comes slowly" : "no answer yet");
	const struct wait w = {
		.what = what,
		.reason = reason,
		.since_ns = since_ns,
		.attempt = attempt,
		.expected = true,
	};

	if (fn)
		fn(arg, &w);
}

bool wait_again(const struct wait_patience *p, const char *what, int64_t since_ns,
		unsigned int attempt, const struct err *last)
{
	const int64_t now = dur_now(), end = since_ns + p->ns;
	int64_t next = now + wait_delay(attempt);

	if (p->ns >= 0 && now >= end)
		return false;
	if (p->ns >= 0 && next > end)
		next = end;
	wait_tell(p->fn, p->arg, what, since_ns, attempt, last, next);
	wait_until(next);
	return true;
}
