#include "assets/unpack/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"

/* number of samples within which a killed process ends, unless it cannot die */
enum { KILL_SAMPLES = 5 };

static _Atomic int64_t deadline_ns; /* 0: none */

void extract_watch_until(int64_t due_ns)
{
	atomic_store(&deadline_ns, due_ns);
}

bool extract_watch_is_late(void)
{
	const int64_t due = atomic_load(&deadline_ns);

	return due && dur_now() >= due;
}

int extract_watch_make(struct extract_watch *w, int *ret_child)
{
	int fds[2];

	*w = (struct extract_watch){ .life_fd = -1, .sample_ms = EXTRACT_SAMPLE_MS, .state = '?' };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	w->life_fd = fds[0];
	*ret_child = fds[1];
	return 0;
}

static void sample_work(struct extract_watch *w)
{
	unsigned long user = 0, system = 0;
	char path[32], text[512] = { 0 };
	const char *at;
	autoclose int fd = -1;
	uint64_t work;

	(void)print_to(path, sizeof(path), "/proc/%d/stat", (int)w->child.pid);
	fd = io_open_at(AT_FDCWD, path, 0);
	/* the program's name, in parentheses, may hold any characters */
	at = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
	if (!at || sscanf(at, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &w->state,
			  &user, &system) != 3)
		w->state = '?';
	work = (uint64_t)user + system;
	w->idle = work == w->work ? w->idle + 1 : 0;
	w->work = work;
}

/* Waits until fd is ready. False: the given number of samples in a row saw no work, or the deadline passed. After
 * the deadline, waits only for a killed child. */
static bool wait_for(struct extract_watch *w, int fd, short events, unsigned int samples)
{
	struct pollfd p = { .fd = fd, .events = events };

	w->idle = 0;
	while (w->idle < samples && (samples == KILL_SAMPLES || !extract_watch_is_late())) {
		const int r = poll(&p, 1, w->sample_ms);

		if (r > 0)
			return true;
		if (r == 0)
			sample_work(w);
		else if (errno != EINTR)
			return false;
	}
	return false;
}

bool extract_watch_read(struct extract_watch *w, int fd)
{
	return wait_for(w, fd, POLLIN, EXTRACT_SAMPLES);
}

bool extract_watch_write(struct extract_watch *w, int fd)
{
	return wait_for(w, fd, POLLOUT, EXTRACT_SAMPLES);
}

static void end_watch(struct extract_watch *w)
{
	w->child.pid = 0;
	cleanup_closep(&w->life_fd);
}

bool extract_watch_reap(struct extract_watch *w, int *ret_status)
{
	if (!wait_for(w, w->life_fd, POLLIN, EXTRACT_SAMPLES))
		return false;
	*ret_status = proc_reap(&w->child);
	end_watch(w);
	return true;
}

void extract_watch_kill(struct extract_watch *w)
{
	if (w->child.pid) {
		(void)kill(w->child.pid, SIGKILL);
		if (wait_for(w, w->life_fd, POLLIN, KILL_SAMPLES))
			(void)proc_reap(&w->child);
		else
			ending_reap(&w->child);
	}
	end_watch(w);
}
