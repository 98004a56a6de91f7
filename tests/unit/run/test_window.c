#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/run/window.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

/* A kubelet that answers one request at a port of its own. */
struct kubelet {
	const char *says;
	int fd, port;
	pthread_t thread;
};

static void *answer(void *arg)
{
	const struct kubelet *k = arg;
	autoclose int client = accept(k->fd, NULL, NULL);
	char request[256];

	assert_true(recv(client, request, sizeof(request), 0) > 0);
	assert_int_equal(send(client, k->says, strlen(k->says), MSG_NOSIGNAL), strlen(k->says));
	return NULL;
}

/* Where the process of the fake bus was told to answer. */
static void write_flag(const struct scratch *root, int port)
{
	static const struct io_attr attr = { .mode = 0644 };
	autoarena struct arena *a = arena_new_empty();
	const char *flag = arena_printf(a, "--healthz-port=%d", port);
	struct err e;

	scratch_write(root, "/proc/100/cmdline", "");
	assert_int_equal(
		io_replace(root->fd, "/proc/100/cmdline", flag, strlen(flag) + 1, &attr, &e), 0);
}

static void start(struct kubelet *k, const struct scratch *root)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct sockaddr *any = (struct sockaddr *)(void *)&at;
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	k->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(k->fd, any, sizeof(at)), 0);
	assert_int_equal(listen(k->fd, 8), 0);
	assert_int_equal(getsockname(k->fd, any, &size), 0);
	k->port = ntohs(at.sin_port);
	write_flag(root, k->says ? k->port : 0);
	if (k->says)
		assert_int_equal(pthread_create(&k->thread, NULL, answer, k), 0);
}

static void stop(struct kubelet *k)
{
	if (k->says)
		assert_int_equal(pthread_join(k->thread, NULL), 0);
	assert_int_equal(close(k->fd), 0);
}

static void wait_for_nothing(void *arg, const char *what)
{
	(void)arg;
	(void)what;
}

/* By the window of a run whose time is over: what status and plan say as well. */
static void kubelet_is_well_unless_it_says_otherwise(void **state)
{
	static const struct {
		const char *says; /* NULL: it was told to answer nobody */
		int r;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\n\r\nok", 0 },
		{ "HTTP/1.1 401 Unauthorized\r\n\r\n", 0 },
		{ "HTTP/1.1 500 Internal Server Error\r\n\r\n[-]pleg failed", -ETIMEDOUT },
		{ NULL, 0 },
	};
	const struct task task = { .kind = TASK_UNIT,
				   .ops = &task_unit_ops,
				   .name = "kubelet.service",
				   .unit = { .must_answer = true } };
	struct run_outcome o = { .task = &task, .state = RUN_EQUAL };
	const struct run_report rep = { .outcomes = &o, .n = 1 };
	struct bus bus = { 0 };
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	fake_bus_add(&bus, "kubelet.service", 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task_ctx ctx = { .root_fd = root.fd, .bus = &bus };
		const struct run_req req = { .ctx = &ctx, .deadline_ns = dur_now() };
		struct kubelet k = { .says = rows[i].says };

		start(&k, &root);
		assert_int_equal(window_watch(&req, &rep, wait_for_nothing, NULL, &e), rows[i].r);
		stop(&k);
		if (rows[i].r < 0)
			assert_non_null(strstr(e.msg, "it says that it is not well: 127.0.0.1:"));
	}
	scratch_done(&root);
}

/* A run of another command leaves it, and says what does not. */
static void what_is_silent_is_restarted_once_and_by_repair_alone(void **state)
{
	const struct task task = { .kind = TASK_UNIT,
				   .ops = &task_unit_ops,
				   .name = "kubelet.service",
				   .unit = { .must_answer = true } };
	struct run_outcome o = { .task = &task, .state = RUN_EQUAL };
	const struct run_report rep = { .outcomes = &o, .n = 1 };
	struct scratch root;

	(void)state;
	scratch_new(&root);
	write_flag(&root, 1);
	for (int verify = 0; verify < 2; verify++) {
		struct bus bus = { 0 };
		struct task_ctx ctx = { .root_fd = root.fd, .bus = &bus, .verify = verify };
		const struct run_req req = { .ctx = &ctx,
					     .deadline_ns = dur_now() + 5 * DUR_SEC,
					     .silence_ns = 1 };
		struct err e;

		fake_bus_add(&bus, "kubelet.service", 1);
		assert_int_equal(window_watch(&req, &rep, wait_for_nothing, NULL, &e), -ETIMEDOUT);
		assert_string_equal(bus.calls, verify ? "restart kubelet.service, " : "");
		assert_int_equal(e.nnotes, !verify);
		if (!verify)
			assert_string_equal(e.notes[0].text, "nodeup repair, which restarts it");
	}
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kubelet_is_well_unless_it_says_otherwise),
		cmocka_unit_test(what_is_silent_is_restarted_once_and_by_repair_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
