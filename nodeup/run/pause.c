#include "nodeup/run/pause.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/run/lock.h"

#define PAUSE_MAX_NS (600 * DUR_SEC)

enum { EVENTS_MAX = 4096 };

int64_t pause_after(int64_t pause_ns)
{
	return pause_ns < PAUSE_MAX_NS / 2 ? 2 * pause_ns : PAUSE_MAX_NS;
}

/* Drops all events so far: they only mean that the caller must look again. */
static void drain(int fd)
{
	char events[EVENTS_MAX];

	while (read(fd, events, sizeof(events)) > 0)
		;
}

bool pause_sleep(int root_fd, int64_t pause_ns)
{
	autoclose int fd = root_fd < 0 ? -1 : lock_watch(root_fd);
	const int64_t end = dur_now() + pause_ns;
	int64_t left;

	/* the other run may have ended before the watch began */
	if (fd >= 0 && lock_succeeded(root_fd))
		return true;
	while ((left = end - dur_now()) > 0) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		/* rounded up: a poll of 0 ms would spin */
		if (poll(&p, 1, (int)(left / DUR_MS) + 1) <= 0 || !p.revents)
			continue;
		drain(fd);
		if (lock_succeeded(root_fd))
			return true;
	}
	return false;
}
