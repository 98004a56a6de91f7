#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/http/http.h"
#include "nodeup/base/dur.h"
#include "tests/unit/lib/origin.h"

enum { BODY = 65536 };

struct fixture {
	struct origin *o;
	struct arena *a;
	int root_fd;
};

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	/* whatever the host of the tests has set */
	assert_int_equal(unsetenv("http_proxy"), 0);
	assert_int_equal(unsetenv("HTTP_PROXY"), 0);
	assert_int_equal(unsetenv("all_proxy"), 0);
	assert_int_equal(unsetenv("ALL_PROXY"), 0);
	fx->o = origin_start();
	fx->a = arena_new_empty();
	fx->root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fx->root_fd >= 0);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	origin_stop(fx->o);
	arena_free(fx->a);
	(void)close(fx->root_fd);
	free(fx);
	return 0;
}

static struct http_opts options(const struct fixture *fx)
{
	return (struct http_opts){ .root_fd = fx->root_fd };
}

#define URL(...) arena_take(fx->a, origin_url(fx->o, __VA_ARGS__))

static const char *arena_take(struct arena *a, char *s)
{
	const char *copy = arena_str(a, s);

	free(s);
	return copy;
}

/* Counts what callbacks say. */
struct tally {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int done, cancelled, order[4];
	int64_t bytes, head, retry_after_ns;
	bool saw_header;
	char msg[ERR_MSG_MAX]; /* of the last error */
	struct http *h;
	uint64_t id;
};

#define TALLY_INIT                                                                     \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

static void count(struct tally *t, int r)
{
	(void)pthread_mutex_lock(&t->lock);
	t->done++;
	t->cancelled += r == -ECANCELED;
	(void)pthread_cond_signal(&t->changed);
	(void)pthread_mutex_unlock(&t->lock);
}

static void wait_done(struct tally *t, int n)
{
	(void)pthread_mutex_lock(&t->lock);
	while (t->done < n)
		(void)pthread_cond_wait(&t->changed, &t->lock);
	(void)pthread_mutex_unlock(&t->lock);
}

static int on_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct tally *t = arg;

	(void)p;
	(void)e;
	t->bytes += (int64_t)n;
	return 0;
}

static void on_head(void *arg, const struct http_result *res)
{
	((struct tally *)arg)->head = res->content_length;
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct tally *t = arg;

	assert_true(r >= 0 || e->kind == ERR_NET);
	t->retry_after_ns = res->retry_after_ns;
	(void)snprintf(t->msg, sizeof(t->msg), "%s", r < 0 ? e->msg : "");
	for (size_t i = 0; res->headers[i]; i++)
		t->saw_header = t->saw_header || str_has_prefix(res->headers[i], "server: origin");
	count(t, r);
}

static void on_timer(void *arg, int r)
{
	count(arg, r);
}

/* The origin answers none before it was asked for as many as may be at a time. */
static void test_side_by_side(void **state)
{
	enum { AT_A_TIME = HTTP_REQUESTS_MAX, N = 3 * AT_A_TIME };
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct tally t = TALLY_INIT;
	struct http *h;
	struct err e;

	assert_int_equal(http_new(&opts, &h, &e), 0);
	for (int i = 0; i < N; i++) {
		struct http_req req = { .url = URL("/x%d?gather=%d", i, AT_A_TIME),
					.max_bytes = BODY,
					.head = on_head,
					.data = on_data,
					.done = on_done,
					.arg = &t };

		assert_true(http_start(h, &req) > 0);
	}
	wait_done(&t, N);
	http_free(h);
	assert_int_equal(t.bytes, N * BODY);
	assert_int_equal(t.head, BODY);
	assert_true(t.saw_header);
}

static int refuse_data(void *arg, const void *p, size_t n, struct err *e)
{
	(void)arg;
	(void)p;
	(void)n;
	return err_fail(e, ERR_NET, ENOSPC, "no room");
}

static void on_refused(void *arg, int r, const struct http_result *res, const struct err *e)
{
	(void)res;
	if (r == -ENOSPC && strcmp(e->msg, "no room") == 0)
		count(arg, r);
}

static void test_data_may_abort(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct tally t = TALLY_INIT;
	struct http_req req = { .url = URL("/x"),
				.max_bytes = BODY,
				.data = refuse_data,
				.done = on_refused,
				.arg = &t };
	struct http *h;
	struct err e;

	assert_int_equal(http_new(&opts, &h, &e), 0);
	(void)http_start(h, &req);
	wait_done(&t, 1);
	http_free(h);
	assert_int_equal(t.done, 1);
}

static void test_retry_after(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct tally t = TALLY_INIT;
	struct http_req req = { .max_bytes = BODY, .done = on_done, .arg = &t };
	struct http *h;
	struct err e;

	assert_int_equal(http_new(&opts, &h, &e), 0);
	req.url = URL("/busy?fail=9&code=429&retry_after=7");
	(void)http_start(h, &req);
	wait_done(&t, 1);
	assert_int_equal(t.retry_after_ns, 7 * DUR_SEC);
	req.url = URL("/busy?fail=9&code=503&retry_date=100");
	(void)http_start(h, &req);
	wait_done(&t, 2);
	assert_in_range(t.retry_after_ns, 90 * DUR_SEC, 100 * DUR_SEC);
	req.url = URL("/busy?fail=9&retry_after=soon");
	(void)http_start(h, &req);
	wait_done(&t, 3);
	assert_int_equal(t.retry_after_ns, -1);
	/* a date is one of the server's clock, whatever ours says */
	req.url = URL("/busy?fail=9&code=503&retry_date=100&clock=-7200");
	(void)http_start(h, &req);
	wait_done(&t, 4);
	assert_in_range(t.retry_after_ns, 90 * DUR_SEC, 100 * DUR_SEC);
	req.url = URL("/busy?fail=9&code=503&retry_after=3600");
	(void)http_start(h, &req);
	wait_done(&t, 5);
	assert_int_equal(t.retry_after_ns, 3600 * DUR_SEC);
	assert_null(strstr(t.msg, "granted"));
	/* not for ever, and not without a word */
	req.url = URL("/busy?fail=9&code=503&retry_after=7200");
	(void)http_start(h, &req);
	wait_done(&t, 6);
	assert_int_equal(t.retry_after_ns, 3600 * DUR_SEC);
	assert_non_null(strstr(t.msg, "left alone for 7200 s, of which 3600 s are granted"));
	http_free(h);
}

static void cancel_from_data(void *arg, const struct http_result *res)
{
	struct tally *t = arg;

	(void)res;
	(void)pthread_mutex_lock(&t->lock);
	http_cancel(t->h, t->id);
	(void)pthread_mutex_unlock(&t->lock);
}

static void test_cancel(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct tally t = TALLY_INIT;
	struct http_req req = { .url = URL("/x?hang"),
				.max_bytes = BODY,
				.data = on_data,
				.done = on_done,
				.arg = &t };
	struct err e;

	assert_int_equal(http_new(&opts, &t.h, &e), 0);
	http_cancel(t.h, http_start(t.h, &req));
	http_cancel(t.h, http_after(t.h, 1000 * DUR_SEC, on_timer, &t));
	wait_done(&t, 2);
	assert_int_equal(t.cancelled, 2);

	/* from a callback, in the middle of a body */
	req.url = URL("/x?stall=1000");
	req.head = cancel_from_data;
	(void)pthread_mutex_lock(&t.lock);
	t.id = http_start(t.h, &req);
	(void)pthread_mutex_unlock(&t.lock);
	wait_done(&t, 3);
	assert_int_equal(t.cancelled, 3);
	http_cancel(t.h, t.id); /* over: nothing happens */
	http_cancel(t.h, 12345);
	http_free(t.h);
	assert_int_equal(t.done, 3);
}

static void test_free_cancels(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct tally t = TALLY_INIT;
	struct http_req req = {
		.url = URL("/x?hang"), .max_bytes = BODY, .done = on_done, .arg = &t
	};
	struct http *h;
	struct err e;

	assert_int_equal(http_new(&opts, &h, &e), 0);
	(void)http_start(h, &req);
	(void)http_start(h, &req);
	(void)http_after(h, 1000 * DUR_SEC, on_timer, &t);
	http_free(h);
	assert_int_equal(t.done, 3);
	assert_int_equal(t.cancelled, 3);
	http_free(NULL);
}

struct step {
	struct tally *t;
	int number;
};

static void on_step(void *arg, int r)
{
	struct step *s = arg;

	(void)pthread_mutex_lock(&s->t->lock);
	s->t->order[s->t->done] = s->number;
	(void)pthread_mutex_unlock(&s->t->lock);
	count(s->t, r);
}

static void test_timers_in_order(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct tally t = TALLY_INIT;
	struct step steps[3] = { { &t, 1 }, { &t, 2 }, { &t, 3 } };
	int64_t began = dur_now();
	struct http *h;
	struct err e;

	assert_int_equal(http_new(&opts, &h, &e), 0);
	(void)http_after(h, 300 * DUR_MS, on_step, &steps[2]);
	(void)http_after(h, 150 * DUR_MS, on_step, &steps[1]);
	(void)http_after(h, 0, on_step, &steps[0]);
	wait_done(&t, 3);
	http_free(h);
	assert_true(dur_now() - began >= 300 * DUR_MS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(t.order[i], i + 1);
	assert_int_equal(t.cancelled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_data_may_abort),
		cmocka_unit_test(test_retry_after),  cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_free_cancels), cmocka_unit_test(test_timers_in_order),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
