#include "nodeup/host/answers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"

#define LIMIT_NS DUR_SEC

#define BYTES(text) text, sizeof(text) - 1

/* clang-format off */
static const struct row {
	const char *unit;
	const char *socket; /* below the root; NULL: the port of this machine */
	uint16_t port;
	const char *bytes;
	size_t n;
} rows[] = {
	{ "kubelet.service", NULL, 10248,
	  BYTES("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n") },
	{ "docker.service", "/run/docker.sock", 0,
	  BYTES("GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n") },
	/* the preface of a client, and its settings: a frame without content */
	{ "containerd.service", "/run/containerd/containerd.sock", 0,
	  BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0") },
};
/* clang-format on */

static const char *place_of(struct arena *a, const struct row *row)
{
	return row->socket ? row->socket : arena_printf(a, "127.0.0.1:%d", row->port);
}

/* A socket below the root is reached through its descriptor. */
static int begin(int root_fd, const struct row *row, int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
	} to = { 0 };

	if (row->socket) {
		to.un.sun_family = AF_UNIX;
		(void)print_to(to.un.sun_path, sizeof(to.un.sun_path), "/proc/self/fd/%d%s",
			       root_fd, row->socket);
		return connect(fd, &to.any, sizeof(to.un)) < 0 ? -errno : 0;
	}
	to.in.sin_family = AF_INET;
	to.in.sin_port = htons(row->port);
	to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return connect(fd, &to.any, sizeof(to.in)) < 0 ? -errno : 0;
}

/* No call on the socket blocks for longer than what is left. */
static int limit(int fd, int64_t end_ns)
{
	const int64_t left = end_ns - dur_now();
	const struct timeval t = { .tv_sec = left / DUR_SEC,
				   .tv_usec = left % DUR_SEC / (DUR_MS / 1000) };

	if (left < DUR_MS)
		return -ETIMEDOUT;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) < 0 ||
			       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) < 0
		       ? -errno
		       : 0;
}

static int talk(int root_fd, const struct row *row, int fd)
{
	const int64_t end = dur_now() + LIMIT_NS;
	char byte;
	ssize_t n;
	int r = limit(fd, end);

	if (r == 0)
		r = begin(root_fd, row, fd);
	if (r == 0)
		r = limit(fd, end);
	if (r == 0 && send(fd, row->bytes, row->n, MSG_NOSIGNAL) < 0)
		r = -errno;
	if (r < 0)
		return r;
	n = recv(fd, &byte, 1, 0);
	return n < 0 ? -errno : n == 0 ? -ECONNRESET : 0;
}

static int ask(int root_fd, const struct row *row)
{
	autoclose int fd = socket(row->socket ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int r = fd < 0 ? -errno : talk(root_fd, row, fd);

	/* as the kernel says that the time is over */
	return r == -EAGAIN || r == -EINPROGRESS ? -ETIMEDOUT : r;
}

static const struct row *find(const char *unit)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eq(rows[i].unit, unit))
			return &rows[i];
	return NULL;
}

bool answers_has(const char *unit)
{
	return find(unit) != NULL;
}

enum answer answers_ask(struct arena *a, int root_fd, const char *unit, const char **ret_why)
{
	const struct row *row = find(unit);
	int r;

	*ret_why = "it has no socket to ask";
	if (!row)
		return ANSWER_NOT_ASKED;
	r = ask(root_fd, row);
	if (r == 0)
		return ANSWER_CAME;
	if (r == -ETIMEDOUT) {
		*ret_why = arena_printf(a, "%s says nothing for %s", place_of(a, row),
					dur_human(a, LIMIT_NS));
		return ANSWER_SILENT;
	}
	*ret_why = arena_printf(a, "%s: %s", place_of(a, row), strerror(-r));
	return r == -EACCES || r == -EPERM ? ANSWER_NOT_ASKED : ANSWER_CLOSED;
}

int answers_demand(int root_fd, const char *unit, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *why;
	int r;

	if (answers_ask(a, root_fd, unit, &why) != ANSWER_SILENT)
		return 0;
	r = err_fail(e, ERR_SYSTEM, ETIMEDOUT, "%s does not answer: %s", unit, why);
	err_note(e, "do", "nodeup repair, which restarts it after a minute of silence");
	return r;
}
