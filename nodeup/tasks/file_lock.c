#include "nodeup/tasks/file_lock.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"

/* Names the process as /proc does. The holder of a lock in another pid namespace has no pid here. */
static void describe(pid_t pid, char holder[static FILE_LOCK_NAME_MAX])
{
	char path[32], name[32] = "";
	ssize_t n = -1;
	int fd;

	if (pid <= 0) {
		(void)print_to(holder, FILE_LOCK_NAME_MAX, "another process");
		return;
	}
	(void)print_to(path, sizeof(path), "/proc/%d/comm", pid);
	fd = io_open_at(AT_FDCWD, path, 0);
	if (fd >= 0) {
		n = read(fd, name, sizeof(name) - 1);
		(void)close(fd);
	}
	name[n > 0 ? strcspn(name, "\n") : 0] = '\0';
	(void)print_to(holder, FILE_LOCK_NAME_MAX, "%s (pid %d)", *name ? name : "a process", pid);
}

static bool is_locked(int fd, char holder[static FILE_LOCK_NAME_MAX])
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return false;
	describe(lock.l_pid, holder);
	return true;
}

/* yum and dnf lock by a file that holds their pid. */
static bool names_living(int root_fd, const char *path, char holder[static FILE_LOCK_NAME_MAX])
{
	autobuf struct buf text = BUF_INIT(FILE_LOCK_NAME_MAX);
	struct err ignored;
	long pid;

	if (io_read(root_fd, path, &text, &ignored) < 0)
		return false;
	pid = strtol(buf_str(&text), NULL, 10);
	if (pid <= 0 || pid > INT_MAX || kill((pid_t)pid, 0) < 0)
		return false;
	describe((pid_t)pid, holder);
	return true;
}

bool file_lock_is_taken(int root_fd, const char *path, char holder[static FILE_LOCK_NAME_MAX])
{
	autoclose int fd = -1;
	struct err ignored;

	if (str_has_suffix(path, ".pid"))
		return names_living(root_fd, path, holder);
	return io_open(root_fd, path, O_RDWR | O_NONBLOCK, &fd, &ignored) == 0 &&
	       is_locked(fd, holder);
}

int file_lock_take(int root_fd, const char *path, int *ret_fd,
		   char holder[static FILE_LOCK_NAME_MAX], struct err *e)
{
	/* a lock of the open file, not of the process: it must keep our own workers apart too */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	autoclose int fd = -1;
	int r = io_open_lock(root_fd, path, 0600, &fd, e);

	if (r < 0)
		return r;
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
		*ret_fd = TAKE_FD(fd);
		return 0;
	}
	if (errno != EAGAIN && errno != EACCES)
		return err_sys(e, "lock '%s'", path);
	if (!is_locked(fd, holder))
		describe(0, holder);
	return err_fail(e, ERR_BUSY, EBUSY, "'%s' is locked by %s", path, holder);
}
