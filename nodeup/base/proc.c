#include "nodeup/base/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

/* The pause between two looks at a child, if the kernel has no pidfd (before Linux 5.3). */
enum { TICK_MS = 50 };

/* The number of chunks that are read in a row: more than a pipe holds, but a limit in case a child never stops writing. */
enum { DRAIN_CHUNKS = 64 };

struct child {
	struct ending_child self;
	int pid_fd; /* -1: the kernel has no pidfd */
	int out_fd;
	struct buf *out;
	char tail[256]; /* end of the child's output, for the error */
	size_t tail_len;
};

/* Returns our environment plus the given variables. If both have a variable, the given value counts. */
static const char **environment(struct arena *a, const char *const *extra)
{
	const char **env = NULL;
	size_t n = 0;

	for (char **p = environ; p && *p; p++) {
		bool replaced = false;

		for (size_t i = 0; extra && extra[i] && !replaced; i++)
			replaced = strncmp(*p, extra[i], strcspn(extra[i], "=") + 1) == 0;
		if (!replaced)
			arena_push(a, env, n, *p);
	}
	for (size_t i = 0; extra && extra[i]; i++)
		arena_push(a, env, n, extra[i]);
	arena_push(a, env, n, NULL);
	return env;
}

static int set_up(posix_spawn_file_actions_t *fa, posix_spawnattr_t *attr, const int *fds, int n)
{
	sigset_t none, all;
	int r = 0;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	for (int i = 0; i < n && r == 0; i++)
		r = posix_spawn_file_actions_adddup2(fa, fds[i], i);
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(fa, n);
	/* gives the child its own group, so that a terminal's ^C reaches only us */
	if (r == 0)
		r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
							   POSIX_SPAWN_SETSIGDEF);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attr, &none);
	return r ? r : posix_spawnattr_setsigdefault(attr, &all);
}

int proc_start(const struct proc_start *how, struct ending_child *c)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	pid_t pid = 0;
	int r;

	if (posix_spawn_file_actions_init(&fa) != 0 || posix_spawnattr_init(&attr) != 0)
		return ENOMEM;
	r = set_up(&fa, &attr, how->fds, how->n_fds);
	ending_hold();
	if (r == 0)
		r = posix_spawnp(&pid, how->file, &fa, &attr, (char *const *)how->argv,
				 (char *const *)how->env);
	c->pid = r == 0 ? pid : 0;
	if (r == 0)
		ending_add(c);
	ending_release();
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&fa);
	return r;
}

int proc_reap(struct ending_child *c)
{
	int status = 0;

	ending_reap(c);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static void keep_tail(struct child *c, const char *data, size_t n)
{
	if (n > sizeof(c->tail)) {
		data += n - sizeof(c->tail);
		n = sizeof(c->tail);
	}
	if (c->tail_len + n > sizeof(c->tail)) {
		const size_t keep = sizeof(c->tail) - n;

		memmove(c->tail, c->tail + c->tail_len - keep, keep);
		c->tail_len = keep;
	}
	memcpy(c->tail + c->tail_len, data, n);
	c->tail_len += n;
}

/* Reads the output that has arrived. Closes out_fd at the end of the output. */
static void drain(struct child *c)
{
	char chunk[4096];
	ssize_t n = 1;

	for (int i = 0; i < DRAIN_CHUNKS && n > 0; i++) {
		n = read(c->out_fd, chunk, sizeof(chunk));
		if (n <= 0)
			break;
		keep_tail(c, chunk, (size_t)n);
		if (c->out)
			(void)buf_add(c->out, chunk, (size_t)n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		cleanup_closep(&c->out_fd);
}

static bool has_ended(const struct child *c)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)c->self.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == c->self.pid;
}

static int poll_timeout(const struct child *c, int64_t deadline)
{
	int64_t left = deadline ? deadline - dur_now() : INT64_MAX;

	if (left <= 0)
		return 0;
	left = left / DUR_MS + 1;
	if (c->pid_fd < 0 && left > TICK_MS)
		return TICK_MS;
	return left > INT32_MAX ? -1 : (int)left;
}

/* Waits only for the child itself: a daemon that the child started may keep the pipe open for ever. */
static int attend(struct child *c, int64_t deadline)
{
	while (!has_ended(c)) {
		struct pollfd fds[] = {
			{ .fd = c->out_fd, .events = POLLIN },
			{ .fd = c->pid_fd, .events = POLLIN },
		};

		if (deadline && dur_now() >= deadline)
			return -ETIMEDOUT;
		if (poll(fds, ARRAY_LEN(fds), poll_timeout(c, deadline)) > 0 && fds[0].revents)
			drain(c);
	}
	if (c->out_fd >= 0)
		drain(c);
	return 0;
}

/* Returns the last line that is not blank. */
static char *last_line(struct arena *a, const struct child *c)
{
	char *text = str_trim(a, arena_strn(a, c->tail, c->tail_len));
	char *newline = strrchr(text, '\n');

	return newline ? newline + 1 : text;
}

static int verdict(const struct child *c, int status, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *line = last_line(a, c);
	const char *colon = *line ? ": " : "";

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status))
		return err_fail(e, ERR_SYSTEM, 0, "%s exited with status %d%s%s", c->self.name,
				WEXITSTATUS(status), colon, line);
	return err_fail(e, ERR_SYSTEM, 0, "%s was killed by signal %d (%s)%s%s", c->self.name,
			WTERMSIG(status), strsignal(WTERMSIG(status)), colon, line);
}

static int finish(struct child *c, int64_t timeout_ns, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r = attend(c, timeout_ns ? dur_now() + timeout_ns : 0);

	if (r == 0)
		return verdict(c, proc_reap(&c->self), e);
	(void)kill(-c->self.pid, SIGKILL);
	(void)proc_reap(&c->self);
	r = err_fail(e, ERR_SYSTEM, ETIMEDOUT, "%s did not end within %s and was killed",
		     c->self.name, dur_human(a, timeout_ns));
	if (*last_line(a, c))
		err_note(e, "said", "%s", last_line(a, c));
	return r;
}

int proc_run(const struct proc_req *req, struct buf *out, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct child c = { .self = { .name = str_basename(req->argv[0]), .let_end = req->let_end },
			   .out = out };
	autoclose int pipe_read = -1, pipe_write = -1, null = -1, pid_fd = -1;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(e, "run %s: make a pipe", c.self.name);
	pipe_read = fds[0];
	pipe_write = fds[1];
	/* makes only our end of the pipe non-blocking: the child expects its writes to block */
	if (fcntl(pipe_read, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "run %s: set up a pipe", c.self.name);
	if (req->stdin_fd < 0) {
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (null < 0)
			return err_sys(e, "run %s: open /dev/null", c.self.name);
	}
	r = proc_start(
		&(struct proc_start){ .file = req->argv[0],
				      .argv = req->argv,
				      .env = environment(a, req->extra_env),
				      .fds = (int[]){ req->stdin_fd < 0 ? null : req->stdin_fd,
						      pipe_write, pipe_write },
				      .n_fds = 3 },
		&c.self);
	if (r)
		return err_fail(e, ERR_SYSTEM, r, "run %s: %s", req->argv[0], strerror(r));
	(void)close(TAKE_FD(pipe_write));
	pid_fd = (int)syscall(SYS_pidfd_open, c.self.pid, 0);
	c.pid_fd = pid_fd;
	c.out_fd = TAKE_FD(pipe_read);
	r = finish(&c, req->timeout_ns, e);
	cleanup_closep(&c.out_fd);
	return r;
}

bool program_in_path(const char *name)
{
	autoarena struct arena *a = arena_new_empty();
	const char *path = getenv("PATH");
	/* the folders of posix_spawnp if there is no PATH */
	const struct strv folders = strv_split(a, path ? path : "/bin:/usr/bin", ':');

	for (size_t i = 0; i < folders.n; i++)
		if (access(arena_printf(a, "%s/%s", *folders.v[i] ? folders.v[i] : ".", name),
			   X_OK) == 0)
			return true;
	return false;
}

bool program_is_there(int root_fd, const char *name)
{
	static const char *const folders[] = { "/usr/sbin", "/usr/bin",        "/sbin",
					       "/bin",      "/usr/local/sbin", "/usr/local/bin" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		autofree char *path = xasprintf("%s/%s", folders[i], name);

		if (io_is_there(root_fd, path))
			return true;
	}
	return false;
}
