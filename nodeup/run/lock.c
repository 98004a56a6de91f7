#include "nodeup/run/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/wait.h"
#include "nodeup/run/health.h"

static const char lock_path[] = OWN_LOCK;

/* A process that only looks holds the lock for a moment. */
#define LOOK_NS (10 * DUR_MS)

enum { HOLDER_MAX = 256, UNIT_MAX = 256, LOOKS = 5 };

/* Returns the last status of a run; NULL: none. */
static const struct tree *read_status(struct arena *a, int root_fd)
{
	struct health told;
	struct err ignored;

	return health_read(a, root_fd, &told, &ignored) < 0 ? NULL : told.status;
}

static bool is_of(struct arena *a, const struct tree *status, int pid)
{
	return str_eq(tree_says(status, "pid"), arena_printf(a, "%d", pid));
}

static void note_wait(struct arena *a, const struct tree *status, struct err *e)
{
	const int64_t since = health_moment(status, "waitingSinceUnixMs"),
		      next = health_moment(status, "nextTryUnixMs");
	const char *waiting = tree_says(status, "waiting"),
		   *last = tree_says(tree_get(status, "error"), "message");

	if (*waiting)
		err_note(e, "waits", "%s", waiting);
	if (since >= 0)
		err_note(e, "since", "%s, for %s", dur_clock(a, since),
			 dur_human(a, dur_wall() - since));
	if (next >= 0)
		err_note(e, "until", "%s, its next try", dur_clock(a, next));
	if (*last && !str_eq(last, waiting))
		err_note(e, "error", "%s", last);
}

/* Adds notes about the process that holds the lock, as the lock's text names it: what it waits for, since and until
 * when, its last error, and what can be done. status.json is the holder's if its pid is the one in the lock. */
static void describe_holder(int root_fd, const char *holder, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	char unit[UNIT_MAX] = "none";
	const struct tree *status;
	int pid;

	if (sscanf(holder, "pid %d, unit %255[^,]", &pid, unit) < 1)
		return;
	status = read_status(a, root_fd);
	if (status && is_of(a, status, pid))
		note_wait(a, status, e);
	if (str_eq(unit, "none"))
		err_note(e, "do", "wait until it ends, or end it: kill %d; what it did stays", pid);
	else
		err_note(e, "do",
			 "wait until it ends, or end it: systemctl stop %s; what it did stays",
			 unit);
}

static int held_elsewhere(int root_fd, int fd, struct err *e)
{
	autobuf struct buf holder = BUF_INIT(HOLDER_MAX);
	struct err ignored;

	if (io_read_fd(fd, lock_path, &holder, &ignored) < 0 || holder.len == 0)
		return err_fail(e, ERR_BUSY, EWOULDBLOCK, "another nodeup is at work");
	(void)err_fail(e, ERR_BUSY, EWOULDBLOCK, "another nodeup is at work: %.*s",
		       (int)strcspn(holder.data, "\n"), holder.data);
	describe_holder(root_fd, buf_str(&holder), e);
	return err_code(e);
}

static int open_lock(int root_fd, int *ret_fd, struct err *e)
{
	int r = io_mkdirs(root_fd, OWN_RUN, 0755, e);

	return r < 0 ? r : io_open_lock(root_fd, lock_path, 0644, ret_fd, e);
}

int lock_take(int root_fd, const char *unit, int *ret_fd, struct err *e)
{
	autofree char *holder = NULL;
	autoclose int fd = -1;
	char since[32] = "";
	time_t now = time(NULL);
	struct err why;
	struct tm tm;
	int r = open_lock(root_fd, &fd, e);

	if (r < 0)
		return r;
	for (int i = 0; i < LOOKS && flock(fd, LOCK_EX | LOCK_NB) < 0; i++)
		wait_until(dur_now() + LOOK_NS);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return held_elsewhere(root_fd, fd, e);
		return err_sys(e, "lock '%s'", lock_path);
	}
	if (gmtime_r(&now, &tm))
		(void)strftime(since, sizeof(since), "%FT%TZ", &tm);
	holder = xasprintf("pid %d, unit %s, since %s\n", (int)getpid(), unit ? unit : "none",
			   since);
	if (ftruncate(fd, 0) < 0)
		return err_sys(e, "write '%s'", lock_path);
	r = io_write_fd(fd, lock_path, holder, strlen(holder), &why);
	/* the lock's text is only for people, and a run may have to mend a full /run */
	if (r < 0 && !io_is_full(why.errnum)) {
		*e = why;
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int lock_look(int root_fd, struct err *e)
{
	autoclose int fd = -1;
	struct err ignored;

	if (io_open_file(root_fd, lock_path, &fd, &ignored) < 0 ||
	    flock(fd, LOCK_SH | LOCK_NB) == 0)
		return 0;
	return held_elsewhere(root_fd, fd, e);
}

/* Watches the lock file: its holder has written to it, and closes it when the run is done. */
int lock_watch(int root_fd)
{
	autoclose int file = -1, fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	autofree char *name = NULL;
	struct err ignored;

	if (fd < 0 || open_lock(root_fd, &file, &ignored) < 0)
		return -1;
	name = xasprintf("/proc/self/fd/%d", file);
	return inotify_add_watch(fd, name, IN_CLOSE_WRITE) < 0 ? -1 : TAKE_FD(fd);
}

bool lock_succeeded(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *status = read_status(a, root_fd);
	const char *state = tree_says(status, "state");

	return (str_eq(state, "ready") || str_eq(state, "degraded")) &&
	       !is_of(a, status, (int)getpid());
}
