#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/host/answers.h"
#include "tests/unit/lib/scratch.h"

/* A program behind a socket: what it hears, and what it says to that; NULL: nothing, as one that is frozen. */
struct server {
	const char *says;
	char heard[256];
	size_t n;
	int fd;
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	autoclose int client = accept(s->fd, NULL, NULL);
	const ssize_t n = client < 0 ? -1 : recv(client, s->heard, sizeof(s->heard), 0);

	s->n = n < 0 ? 0 : (size_t)n;
	if (n >= 0 && *s->says)
		assert_int_equal(send(client, s->says, strlen(s->says), MSG_NOSIGNAL),
				 strlen(s->says));
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
		assert_int_equal(answers_ask(a, root.fd, p->unit, &why), ANSWER_CAME);
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
	assert_int_equal(answers_ask(a, root.fd, p->unit, &why), ANSWER_SILENT);
	assert_string_equal(why, "/run/docker.sock says nothing for 1.0 s");
	assert_true(dur_now() - begun >= DUR_SEC && dur_now() - begun < 5 * DUR_SEC);
	/* two more fill the queue, and nothing waits there either */
	for (int i = 0; i < 3; i++)
		assert_int_equal(answers_ask(a, root.fd, p->unit, &why), ANSWER_SILENT);
	assert_int_equal(close(s.fd), 0);
	assert_int_equal(answers_ask(a, root.fd, p->unit, &why), ANSWER_CLOSED);
	assert_string_equal(why, "/run/docker.sock: Connection refused");
	assert_int_equal(unlinkat(root.fd, p->path + 1, 0), 0);
	s.fd = listen_at(&root, p->path);
	assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
	assert_int_equal(answers_ask(a, root.fd, p->unit, &why), ANSWER_CLOSED);
	assert_int_equal(pthread_join(s.thread, NULL), 0);
	assert_int_equal(close(s.fd), 0);
	assert_int_equal(unlinkat(root.fd, p->path + 1, 0), 0);
	/* deleted: it is asked through the path, as others ask */
	assert_int_equal(answers_ask(a, root.fd, p->unit, &why), ANSWER_CLOSED);
	assert_string_equal(why, "/run/docker.sock: No such file or directory");
	scratch_done(&root);
}

static void what_cannot_be_asked_is_not_asked(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	const char *why;

	(void)state;
	scratch_new(&root);
	assert_int_equal(answers_ask(a, root.fd, "cron.service", &why), ANSWER_NOT_ASKED);
	assert_string_equal(why, "it has no socket to ask");
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_answer_is_an_answer),
		cmocka_unit_test(what_says_nothing_is_told_in_a_second),
		cmocka_unit_test(what_cannot_be_asked_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
