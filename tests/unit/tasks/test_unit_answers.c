#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/print.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/task.h"
#include "tests/unit/lib/fake_bus.h"
#include "tests/unit/lib/scratch.h"

/* docker.service, which is up for two minutes and was started with nothing, in a repair. */
struct world {
	struct scratch root;
	struct bus bus;
	struct task unit;
	bool changed[1], kept[1];
	struct task_ctx ctx;
	struct task_run run;
	int fd; /* where it listens; the kernel takes connections */
	pthread_t thread;
	struct err e;
};

static void listen_anew(struct world *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	(void)unlinkat(w->root.fd, "run/docker.sock", 0);
	w->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)print_to(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/run/docker.sock",
		       w->root.fd);
	assert_int_equal(bind(w->fd, (const struct sockaddr *)(const void *)&at, sizeof(at)), 0);
	assert_int_equal(listen(w->fd, 8), 0);
}

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	scratch_new(&w->root);
	scratch_write(&w->root, "/run/x", "");
	scratch_write(&w->root, "/etc/kubernetes/manifests/a", "metadata: {name: own}\n");
	w->unit = (struct task){
		.kind = TASK_UNIT,
		.ops = &task_unit_ops,
		.name = "docker.service",
	};
	w->ctx = (struct task_ctx){
		.root_fd = w->root.fd,
		.bus = &w->bus,
		.changed = w->changed,
		.kept = w->kept,
		.verify = true,
	};
	fake_bus_add(&w->bus, "docker.service",
		     (uint64_t)(dur_now() - 120 * DUR_SEC) / (DUR_MS / 1000));
	listen_anew(w);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	(void)close(w->fd);
	scratch_done(&w->root);
	free(w);
	return 0;
}

/* Answers as a daemon does: after the question. An end that is closed before takes no question. */
static void *answer_one(void *arg)
{
	const struct world *w = arg;
	autoclose int client = accept(w->fd, NULL, NULL);
	char question[256];

	/* on a busy machine nobody may wait for it any more */
	if (recv(client, question, sizeof(question), 0) > 0)
		(void)send(client, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL);
	return NULL;
}

static char last_line[256];

static int keep_line(enum log_level level, const char *message, const struct log_field *fields,
		     size_t n)
{
	(void)level;
	(void)fields;
	(void)n;
	(void)print_to(last_line, sizeof(last_line), "%s", message);
	return 0;
}

static int apply(struct world *w)
{
	return w->unit.ops->apply(&w->unit, &w->ctx, &w->run, &w->e);
}

static void what_answers_again_by_itself_is_not_changed(void **state)
{
	struct world *w = *state;
	struct task_diff diff = { 0 };
	int r = TASK_WAIT;

	assert_int_equal(w->unit.ops->check(&w->unit, &w->ctx, &diff, &w->e), TASK_DIFFERS);
	assert_string_equal(diff.why, "active, but it does not answer: /run/docker.sock says "
				      "nothing for 1.0 s");
	assert_int_equal(apply(w), TASK_WAIT);
	/* on a busy machine a second may pass before it does; whoever asked then waits in the queue of the old socket */
	for (size_t i = 0; i < 10 && r == TASK_WAIT; i++) {
		assert_int_equal(close(w->fd), 0);
		listen_anew(w);
		assert_int_equal(pthread_create(&w->thread, NULL, answer_one, w), 0);
		r = apply(w);
		assert_int_equal(pthread_join(w->thread, NULL), 0);
	}
	assert_int_equal(r, TASK_DONE);
	assert_true(w->run.equal);
	assert_string_equal(w->bus.calls, "");
}

static void what_is_silent_for_a_minute_is_restarted_and_changed(void **state)
{
	struct world *w = *state;

	assert_int_equal(apply(w), TASK_WAIT);
	w->run.since_ns = dur_now() - 61 * DUR_SEC;
	log_set_writer(keep_line);
	assert_int_equal(apply(w), TASK_WAIT);
	log_set_writer(NULL);
	assert_string_equal(last_line, "restarting docker.service: docker stops the containers of "
				       "all pods: own");
	assert_string_equal(w->bus.calls, "restart docker.service, ");
	assert_int_equal(apply(w), TASK_DONE);
	assert_false(w->run.equal);
}

/* The daemon was given it, and makes none. */
static void a_socket_that_is_gone_is_made_by_its_own_unit(void **state)
{
	struct world *w = *state;

	fake_bus_add(&w->bus, "docker.socket", 1);
	assert_int_equal(unlinkat(w->root.fd, "run/docker.sock", 0), 0);
	assert_int_equal(apply(w), TASK_WAIT);
	w->run.since_ns = dur_now() - 61 * DUR_SEC;
	assert_int_equal(apply(w), TASK_WAIT);
	assert_string_equal(w->bus.calls, "restart docker.socket, restart docker.service, ");
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD_TEST(what_answers_again_by_itself_is_not_changed),
		WORLD_TEST(what_is_silent_for_a_minute_is_restarted_and_changed),
		WORLD_TEST(a_socket_that_is_gone_is_made_by_its_own_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
