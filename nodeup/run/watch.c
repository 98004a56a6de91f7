#include "nodeup/run/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"

static bool add(int fd, int root_fd, const char *path)
{
	autoclose int dir = -1;
	autofree char *name = NULL;
	struct err ignored;

	if (io_open(root_fd, path, O_PATH | O_DIRECTORY, &dir, &ignored) < 0)
		return false;
	name = xasprintf("/proc/self/fd/%d", dir);
	return inotify_add_watch(fd, name, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0;
}

int watch_open(int root_fd)
{
	static const char own_run[] = OWN_RUN;
	autofree char *above = xasprintf("%.*s", (int)(strrchr(own_run, '/') - own_run), own_run);
	autoclose int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const bool sees_above = fd >= 0 && add(fd, root_fd, above);
	const bool sees = fd >= 0 && add(fd, root_fd, own_run);

	/* while /run is full, the status is in this directory */
	if (fd >= 0)
		(void)add(fd, root_fd, OWN_LIB);
	return sees_above || sees ? TAKE_FD(fd) : -1;
}

void watch_sleep(int fd, int pid, int64_t until_ns)
{
	/* a kernel before 5.3 cannot report the end of a process */
	autoclose int process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = process, .events = POLLIN } };
	const bool blind = fd < 0 || (pid > 0 && process < 0);
	int64_t left = until_ns ? until_ns - dur_now() : 3600 * DUR_SEC;

	if (blind && left > DUR_SEC)
		left = DUR_SEC;
	if (left > 3600 * DUR_SEC)
		left = 3600 * DUR_SEC;
	/* rounded up: a poll of 0 ms would spin */
	if (left > 0)
		(void)poll(p, 2, (int)(left / DUR_MS) + 1);
}
