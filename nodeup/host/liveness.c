#include "nodeup/host/liveness.h"

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
#include "nodeup/host/containers.h"
#include "nodeup/host/kubelet.h"

#define LIMIT_NS DUR_SEC
#define START_NS (60 * DUR_SEC)

/* "HTTP/1.1 500" */
enum { HEAD_MAX = 12, STATUS_AT = 9 };

struct question {
	const char *bytes;
	size_t n;
	bool has_status; /* a status 5xx means that the program itself says that it is not well */
};

#define QUESTION(text, ...)                         \
	{                                           \
		text, sizeof(text) - 1, __VA_ARGS__ \
	}

/* A TLS hello with two ciphers and no curve for them. A server answers with an alert, and an alert is an answer. */
static const char client_hello[] = "\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03"
				   "does this program answer to TLS?"
				   "\x00\x00\x04\xc0\x2f\xc0\x2b\x01\x00";

/* clang-format off */
static const struct row {
	const char *unit;
	const char *socket; /* below the root; NULL: kubelet's health check */
	struct question question;
} rows[] = {
	{ "kubelet.service", NULL,
	  QUESTION("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", true) },
	{ "docker.service", docker_socket,
	  QUESTION("GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n", false) },
	/* a client's preface, and an empty frame of settings */
	{ "containerd.service", "/run/containerd/containerd.sock",
	  QUESTION("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", false) },
};

/* Questions for a port. A TLS server may close the connection on the first question. */
static const struct question of_ports[] = {
	QUESTION("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", false),
	QUESTION(client_hello, false),
};
/* clang-format on */

struct place {
	int root_fd;
	const char *socket; /* below the root; NULL: the port */
	struct in_addr address;
	uint16_t port;
};

static const char *name_of(struct arena *a, const struct place *p)
{
	char text[INET_ADDRSTRLEN];

	if (p->socket)
		return p->socket;
	return arena_printf(a, "%s:%d", inet_ntop(AF_INET, &p->address, text, sizeof(text)),
			    p->port);
}

/* Reaches a socket below the root through its descriptor. */
static int begin(const struct place *p, int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
	} to = { 0 };

	if (p->socket) {
		to.un.sun_family = AF_UNIX;
		(void)print_to(to.un.sun_path, sizeof(to.un.sun_path), "/proc/self/fd/%d%s",
			       p->root_fd, p->socket);
		return connect(fd, &to.any, sizeof(to.un)) < 0 ? -errno : 0;
	}
	to.in.sin_family = AF_INET;
	to.in.sin_port = htons(p->port);
	to.in.sin_addr = p->address;
	return connect(fd, &to.any, sizeof(to.in)) < 0 ? -errno : 0;
}

/* Limits each call on the socket to the time that is left. */
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

/* Reads the beginning of the answer: all HEAD_MAX bytes if the status matters, else one byte. */
static int hear(int fd, size_t most, int64_t end_ns, char head[static HEAD_MAX])
{
	size_t n = 0;
	ssize_t got = 1;
	int r = 0;

	while (n < most && got > 0 && (r = limit(fd, end_ns)) == 0) {
		got = recv(fd, head + n, most - n, 0);
		r = got < 0 ? -errno : -ECONNRESET;
		n += got > 0 ? (size_t)got : 0;
	}
	return n ? 0 : r;
}

static int talk(const struct place *p, const struct question *q, int fd, int64_t end_ns,
		char head[static HEAD_MAX])
{
	int r = limit(fd, end_ns);

	if (r == 0)
		r = begin(p, fd);
	if (r == 0)
		r = limit(fd, end_ns);
	if (r == 0 && send(fd, q->bytes, q->n, MSG_NOSIGNAL) < 0)
		r = errno == EPIPE ? -ECONNRESET : -errno;
	return r < 0 ? r : hear(fd, q->has_status ? HEAD_MAX : 1, end_ns, head);
}

static int ask(const struct place *p, const struct question *q, int64_t end_ns,
	       char head[static HEAD_MAX])
{
	autoclose int fd = socket(p->socket ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int r = fd < 0 ? -errno : talk(p, q, fd, end_ns, head);

	/* the kernel gives these errors when the time is over */
	return r == -EAGAIN || r == -EINPROGRESS ? -ETIMEDOUT : r;
}

/* r is what ask() returned. */
static enum answer judge(struct arena *a, const struct place *p, int r, const char **ret_why)
{
	const char *name = name_of(a, p);

	if (r == 0)
		return ANSWER_CAME;
	if (r == -ETIMEDOUT) {
		*ret_why = arena_printf(a, "it does not answer: %s says nothing for %s", name,
					dur_human(a, LIMIT_NS));
		return ANSWER_SILENT;
	}
	if (r == -EACCES || r == -EPERM) {
		*ret_why = arena_printf(a, "%s: %s", name, strerror(-r));
		return ANSWER_NOT_ASKED;
	}
	*ret_why = arena_printf(a, "it does not answer: %s: %s", name, strerror(-r));
	return ANSWER_CLOSED;
}

static const struct row *find(const char *unit)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eq(rows[i].unit, unit))
			return &rows[i];
	return NULL;
}

bool answer_is_bad(enum answer came)
{
	return came == ANSWER_SILENT || came == ANSWER_CLOSED || came == ANSWER_UNWELL;
}

enum answer liveness_ask(struct arena *a, int root_fd, const char *unit, uint32_t pid,
			 const char **ret_why)
{
	const struct row *row = find(unit);
	struct place p = { .root_fd = root_fd };
	char head[HEAD_MAX] = "";
	enum answer came;

	*ret_why = NULL;
	if (!row)
		return ANSWER_NOT_ASKED;
	p.socket = row->socket;
	if (!p.socket && !kubelet_healthz(a, root_fd, pid, &p.address, &p.port, ret_why))
		return ANSWER_NOT_ASKED;
	came = judge(a, &p, ask(&p, &row->question, dur_now() + LIMIT_NS, head), ret_why);
	if (came != ANSWER_CAME || !row->question.has_status ||
	    strncmp(head, "HTTP/1.", strlen("HTTP/1.")) != 0 || head[STATUS_AT] != '5')
		return came;
	*ret_why = arena_printf(a, "it says that it is not well: %s answers %.*s", name_of(a, &p),
				HEAD_MAX, head);
	return ANSWER_UNWELL;
}

enum answer liveness_ask_unit(struct arena *a, int root_fd, const char *unit,
			      const struct bus_unit *is, const char **ret_why)
{
	const uint64_t began_us = is->start_us ? is->start_us : is->active_enter_us;

	*ret_why = NULL;
	if (!str_eq(is->active_state, "active") || dur_now() - (int64_t)began_us * 1000 < START_NS)
		return ANSWER_NOT_ASKED;
	return liveness_ask(a, root_fd, unit, is->main_pid, ret_why);
}

enum answer liveness_ask_port(struct arena *a, const char *address, uint16_t port,
			      const char **ret_why)
{
	const int64_t end = dur_now() + LIMIT_NS;
	struct place p = { .port = port };
	char ignored[HEAD_MAX];
	int r = -ECONNRESET;

	if (inet_pton(AF_INET, address, &p.address) != 1) {
		*ret_why = arena_printf(a, "it listens at %s", address);
		return ANSWER_NOT_ASKED;
	}
	for (size_t i = 0; r == -ECONNRESET && i < ARRAY_LEN(of_ports); i++)
		r = ask(&p, &of_ports[i], end, ignored);
	return judge(a, &p, r, ret_why);
}

int liveness_demand(int root_fd, const char *unit, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *why;
	int r;

	if (liveness_ask(a, root_fd, unit, 0, &why) != ANSWER_SILENT)
		return 0;
	r = err_fail(e, ERR_SYSTEM, ETIMEDOUT, "%s: %s", unit, why);
	err_note(e, "do", "nodeup repair, which restarts it after a minute of silence");
	return r;
}
