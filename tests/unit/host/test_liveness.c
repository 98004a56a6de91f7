#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"
#include "nodeup/host/liveness.h"
#include "tests/unit/lib/scratch.h"

/* A program behind a socket: what it hears, and what it says to that; "": it closes. */
struct server {
	const char *says;
	const char *wants; /* it closes unless this is what it hears first; NULL: anything */
	int clients;       /* as many are served */
	char heard[256];
	size_t n;
	int fd;
	pthread_t thread;
};

static void serve_one(struct server *s)
{
	autoclose int client = accept(s->fd, NULL, NULL);
	const ssize_t n = client < 0 ? -1 : recv(client, s->heard, sizeof(s->heard), 0);

	s->n = n < 0 ? 0 : (size_t)n;
	if (n < 0 || !*s->says || (s->wants && !str_has_prefix(s->heard, s->wants)))
		return;
	assert_int_equal(send(client, s->says, strlen(s->says), MSG_NOSIGNAL), strlen(s->says));
}

static void *serve(void *arg)
{
	struct server *s = arg;

	for (int i = 0; i < 1 || i < s->clients; i++)
		serve_one(s);
	return NULL;
}

static int listen_at(const struct scratch *root, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)print_to(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d%s", root->fd, path);
	assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void make_dirs(const struct scratch *root)
{
	assert_int_equal(mkdirat(root->fd, "run", 0755), 0);
	assert_int_equal(mkdirat(root->fd, "run/containerd", 0755), 0);
}

static const struct program {
	const char *unit, *path, *hears, *says;
} programs[] = {
	{ "docker.service", "/run/docker.sock", "GET /_ping HTTP/1.1\r\n", "HTTP/1.1 200 OK\r\n" },
	{ "docker.service", "/run/docker.sock", "GET /_ping HTTP/1.1\r\n", "HTTP/1.1 401 No\r\n" },
	{ "containerd.service", "/run/containerd/containerd.sock",
	  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\6" },
};

static void any_answer_is_an_answer(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	make_dirs(&root);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		const struct program *p = &programs[i];
		struct server s = { .says = p->says, .fd = listen_at(&root, p->path) };

		assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
		assert_int_equal(liveness_ask(a, root.fd, p->unit, 0, &why), ANSWER_CAME);
		assert_int_equal(pthread_join(s.thread, NULL), 0);
		assert_true(s.n >= strlen(p->hears));
		assert_memory_equal(s.heard, p->hears, strlen(p->hears));
		assert_int_equal(close(s.fd), 0);
		assert_int_equal(unlinkat(root.fd, p->path + 1, 0), 0);
	}
	scratch_done(&root);
}

/* The kernel takes the connection of a process that is stopped. One that closes it has not answered. */
static void what_says_nothing_is_told_in_a_second(void **state)
{
	const struct program *p = &programs[0];
	autoarena struct arena *a = arena_new_empty();
	struct server s = { .says = "" };
	const int64_t begun = dur_now();
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	make_dirs(&root);
	s.fd = listen_at(&root, p->path);
	assert_int_equal(liveness_ask(a, root.fd, p->unit, 0, &why), ANSWER_SILENT);
	assert_string_equal(why, "it does not answer: /run/docker.sock says nothing for 1.0 s");
	assert_true(dur_now() - begun >= DUR_SEC && dur_now() - begun < 5 * DUR_SEC);
	/* two more fill the queue, and nothing waits there either */
	for (int i = 0; i < 3; i++)
		assert_int_equal(liveness_ask(a, root.fd, p->unit, 0, &why), ANSWER_SILENT);
	assert_int_equal(close(s.fd), 0);
	assert_int_equal(liveness_ask(a, root.fd, p->unit, 0, &why), ANSWER_CLOSED);
	assert_string_equal(why, "it does not answer: /run/docker.sock: Connection refused");
	assert_int_equal(unlinkat(root.fd, p->path + 1, 0), 0);
	s.fd = listen_at(&root, p->path);
	assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
	assert_int_equal(liveness_ask(a, root.fd, p->unit, 0, &why), ANSWER_CLOSED);
	assert_int_equal(pthread_join(s.thread, NULL), 0);
	assert_int_equal(close(s.fd), 0);
	assert_int_equal(unlinkat(root.fd, p->path + 1, 0), 0);
	/* deleted: it is asked through the path, as others ask */
	assert_int_equal(liveness_ask(a, root.fd, p->unit, 0, &why), ANSWER_CLOSED);
	assert_string_equal(why, "it does not answer: /run/docker.sock: No such file or directory");
	scratch_done(&root);
}

/* At a port of this machine that is free. */
static uint16_t listen_at_port(struct server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);
	struct sockaddr *any = (struct sockaddr *)(void *)&at;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, any, sizeof(at)), 0);
	assert_int_equal(listen(s->fd, 8), 0);
	assert_int_equal(getsockname(s->fd, any, &size), 0);
	return ntohs(at.sin_port);
}

/* A process with these words, each ended by '|'. */
static void write_words(const struct scratch *root, const char *words)
{
	static const struct io_attr attr = { .mode = 0644 };
	autofree char *text = xstrdup(words);
	const size_t n = strlen(text);
	struct err e;

	for (size_t i = 0; i < n; i++)
		text[i] = text[i] == '|' ? '\0' : text[i];
	scratch_write(root, "/proc/7/cmdline", "");
	assert_int_equal(io_replace(root->fd, "/proc/7/cmdline", text, n, &attr, &e), 0);
}

static enum answer ask_kubelet(struct arena *a, const struct scratch *root, const char **why)
{
	return liveness_ask(a, root->fd, "kubelet.service", 7, why);
}

static void kubelet_is_asked_where_it_was_told_to_answer(void **state)
{
	static const struct {
		const char *says;
		enum answer is;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\n\r\nok", ANSWER_CAME },
		{ "HTTP/1.1 401 Unauthorized\r\n\r\n", ANSWER_CAME },
		{ "HTTP/1.1", ANSWER_CAME },
		{ "HTTP/1.1 500 Internal Server Error\r\n\r\n", ANSWER_UNWELL },
		{ "", ANSWER_CLOSED },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct server s = { .says = rows[i].says };
		const int port = listen_at_port(&s);

		write_words(&root, arena_printf(a, "kubelet|--v=2|--healthz_port=%d|", port));
		assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
		assert_int_equal(ask_kubelet(a, &root, &why), rows[i].is);
		assert_int_equal(pthread_join(s.thread, NULL), 0);
		assert_true(str_has_prefix(s.heard, "GET /healthz HTTP/1.1\r\n"));
		assert_int_equal(close(s.fd), 0);
		if (rows[i].is == ANSWER_UNWELL)
			assert_string_equal(why, arena_printf(a,
							      "it says that it is not well: "
							      "127.0.0.1:%d answers HTTP/1.1 500",
							      port));
	}
	scratch_done(&root);
}

static void a_kubelet_that_was_told_to_answer_nobody_is_not_asked(void **state)
{
	static const char off[] = "its /healthz is turned off";
	static const struct {
		const char *words, *config, *dropin, *why;
	} rows[] = {
		{ "kubelet|--healthz-port=0|", NULL, NULL, off },
		{ "kubelet|--healthz-port|0|--v=2|", NULL, NULL, off },
		{ "kubelet|--healthz-port=10248|--healthz-port=0|", NULL, NULL, off },
		{ "kubelet|--config=/k.conf|", "healthzPort: 0\n", NULL, off },
		{ "kubelet|--config=/k.conf|--config-dir=/k.d|", "healthzPort: 1\n",
		  "healthzPort: 0\n", off },
		{ "kubelet|--healthz-bind-address=fd00::1|", NULL, NULL,
		  "its /healthz is at fd00::1" },
		{ "kubelet|--config=/k.conf|", "healthzBindAddress: fd00::1\n", NULL,
		  "its /healthz is at fd00::1" },
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		write_words(&root, rows[i].words);
		scratch_write(&root, "/k.conf", rows[i].config ? rows[i].config : "");
		scratch_write(&root, "/k.d/5.conf", rows[i].dropin ? rows[i].dropin : "");
		assert_int_equal(ask_kubelet(a, &root, &why), ANSWER_NOT_ASKED);
		assert_string_equal(why, rows[i].why);
	}
	/* a flag goes before both; what nothing says is the usual */
	write_words(&root, "kubelet|--config=/k.conf|--healthz-port=1|");
	scratch_write(&root, "/k.conf", "healthzPort: 0\n");
	assert_int_equal(ask_kubelet(a, &root, &why), ANSWER_CLOSED);
	assert_string_equal(why, "it does not answer: 127.0.0.1:1: Connection refused");
	scratch_done(&root);
}

/* Where its port would be is not known then, and another program may have the usual one. */
static void a_kubelet_whose_configuration_may_not_be_read_is_not_asked(void **state)
{
	static const char *const paths[] = { "/k.conf", "/k.d/5.conf", "/k.d" };
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	const char *why;

	(void)state;
	if (geteuid() != 0)
		skip();
	scratch_new(&root);
	write_words(&root, "kubelet|--config=/k.conf|--config-dir=/k.d|");
	scratch_write(&root, "/k.conf", "");
	scratch_write(&root, "/k.d/5.conf", "");
	assert_int_equal(fchmod(root.fd, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		assert_int_equal(fchmodat(root.fd, paths[i] + 1, 0, 0), 0);
		assert_int_equal(seteuid(65534), 0);
		assert_int_equal(ask_kubelet(a, &root, &why), ANSWER_NOT_ASKED);
		assert_int_equal(seteuid(0), 0);
		assert_string_equal(why, arena_printf(a, "this user may not read %s", paths[i]));
		assert_int_equal(fchmodat(root.fd, paths[i] + 1, 0755, 0), 0);
	}
	scratch_done(&root);
}

static void a_port_is_asked_by_http_and_then_by_tls(void **state)
{
	static const char hello[] = "\x16\x03\x01";
	static const struct {
		const char *wants, *says;
		int clients;
		enum answer is;
	} rows[] = {
		{ "GET ", "HTTP/1.0 400 Bad Request\r\n", 1, ANSWER_CAME },
		{ NULL, "\x15\x03\x01", 1, ANSWER_CAME },
		{ hello, "\x15\x03\x03", 2, ANSWER_CAME },
		{ NULL, "", 2, ANSWER_CLOSED },
	};
	autoarena struct arena *a = arena_new_empty();
	struct server s = { .says = "" };
	const char *why;
	uint16_t port;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		s = (struct server){ .says = rows[i].says,
				     .wants = rows[i].wants,
				     .clients = rows[i].clients };
		port = listen_at_port(&s);
		assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
		assert_int_equal(liveness_ask_port(a, "127.0.0.1", port, &why), rows[i].is);
		assert_int_equal(pthread_join(s.thread, NULL), 0);
		assert_int_equal(close(s.fd), 0);
	}
	/* its length is what the record says */
	assert_int_equal(s.n, 5 + 47);
	port = listen_at_port(&s);
	assert_int_equal(liveness_ask_port(a, "127.0.0.1", port, &why), ANSWER_SILENT);
	assert_string_equal(
		why,
		arena_printf(a, "it does not answer: 127.0.0.1:%d says nothing for 1.0 s", port));
	assert_int_equal(close(s.fd), 0);
	assert_int_equal(liveness_ask_port(a, "127.0.0.1", port, &why), ANSWER_CLOSED);
	assert_int_equal(liveness_ask_port(a, "::1", port, &why), ANSWER_NOT_ASKED);
}

static void a_unit_is_asked_when_it_is_up_for_a_minute(void **state)
{
	static const struct {
		const char *unit, *state;
		int began_s, entered_s; /* ago; 0: never */
		enum answer is;
		const char *why;
	} rows[] = {
		{ "docker.service", "active", 61, 61, ANSWER_CLOSED,
		  "it does not answer: /run/docker.sock: No such file or directory" },
		{ "docker.service", "active", 0, 61, ANSWER_CLOSED,
		  "it does not answer: /run/docker.sock: No such file or directory" },
		{ "docker.service", "active", 0, 50, ANSWER_NOT_ASKED, NULL },
		{ "docker.service", "active", 50, 61, ANSWER_NOT_ASKED, NULL },
		{ "docker.service", "activating", 61, 0, ANSWER_NOT_ASKED, NULL },
		{ "cron.service", "active", 61, 61, ANSWER_NOT_ASKED, NULL },
	};
	autoarena struct arena *a = arena_new_empty();
	const uint64_t now_us = (uint64_t)dur_now() / 1000, s = 1000000;
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	make_dirs(&root);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct bus_unit is = {
			.active_state = rows[i].state,
			.start_us = rows[i].began_s ? now_us - (uint64_t)rows[i].began_s * s : 0,
			.active_enter_us =
				rows[i].entered_s ? now_us - (uint64_t)rows[i].entered_s * s : 0,
		};

		assert_int_equal(liveness_ask_unit(a, root.fd, rows[i].unit, &is, &why),
				 rows[i].is);
		assert_true(str_eq(why, rows[i].why) || (!why && !rows[i].why));
	}
	scratch_done(&root);
}

static void what_cannot_be_asked_is_not_asked(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	assert_int_equal(liveness_ask(a, root.fd, "cron.service", 0, &why), ANSWER_NOT_ASKED);
	assert_null(why);
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_answer_is_an_answer),
		cmocka_unit_test(what_says_nothing_is_told_in_a_second),
		cmocka_unit_test(kubelet_is_asked_where_it_was_told_to_answer),
		cmocka_unit_test(a_kubelet_that_was_told_to_answer_nobody_is_not_asked),
		cmocka_unit_test(a_kubelet_whose_configuration_may_not_be_read_is_not_asked),
		cmocka_unit_test(a_port_is_asked_by_http_and_then_by_tls),
		cmocka_unit_test(a_unit_is_asked_when_it_is_up_for_a_minute),
		cmocka_unit_test(what_cannot_be_asked_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
