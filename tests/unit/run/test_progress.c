#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/run/progress.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/fetch_box.h"

static void texts(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	static const struct {
		struct fetch_status st;
		double rate;
		const char *text;
	} cases[] = {
		{ { .total = -1 }, 0, "being looked for in the cache" },
		{ { .bytes = 50100000, .total = 110700000, .attempt = 1, .url = "https://m/k" },
		  12.3e6,
		  " 45%  50.1 of 110.7 MB  12.3 MB/s  0:05 left  attempt 1  https://m/k" },
		{ { .bytes = 100, .total = 7200000000, .attempt = 2, .url = "https://m/k" },
		  1e6,
		  "  0%  0.0 of 7200.0 MB  1.0 MB/s  2:00:00 left  attempt 2  https://m/k" },
		{ { .bytes = 2500, .total = -1, .attempt = 3, .url = "u" },
		  1e6,
		  "2.5 kB  1.0 MB/s  attempt 3  u" },
		{ { .bytes = 0, .total = 10, .attempt = 1, .url = "u" },
		  0,
		  "  0%  0.0 of 0.0 kB  attempt 1  u" },
		{ { .bytes = 10, .total = 10, .attempt = 1 },
		  1,
		  "100%  0.0 of 0.0 kB  being verified" },
		{ { .bytes = 10, .total = 10, .attempt = 1, .unpacker_ns = -9 * DUR_SEC },
		  1,
		  "100%  0.0 of 0.0 kB  waiting for its unpacker for 10.0 s" },
		{ { .bytes = 10, .total = 10, .attempt = 1, .unpacker_ns = -3 * DUR_SEC },
		  1,
		  "100%  0.0 of 0.0 kB  being verified" },
		{ { .total = -1, .attempt = 4, .next_try_ns = 4 * DUR_SEC, .last_error = "503" },
		  0,
		  "attempt 4, next in 3.0 s: 503" },
		{ { .bytes = 2500000, .total = -1, .other = "process 7 (x)", .since_ns = 0 },
		  0,
		  "process 7 (x) fetches it, 2.5 MB so far; waiting for it for 1.0 s" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(progress_text(a, &cases[i].st, cases[i].rate, DUR_SEC),
				    cases[i].text);
}

static void texts_of_tasks(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct task task = { .kind = TASK_UNIT, .ops = &task_unit_ops, .name = "docker.service" };
	struct err error = { .msg = "it is masked" };
	struct run_outcome o = { .task = &task, .error = &error, .attempts = 2 };

	(void)state;
	o.state = RUN_WAITING;
	o.run.since_ns = DUR_SEC;
	(void)snprintf(o.run.waiting, sizeof(o.run.waiting), "the package lock");
	assert_null(progress_task_text(a, &o, 3 * DUR_SEC));
	assert_string_equal(progress_task_text(a, &o, 13 * DUR_SEC),
			    "for 12.0 s: the package lock");
	o.run.since_ns = 0;
	assert_null(progress_task_text(a, &o, 13 * DUR_SEC));
	o.state = RUN_RETRYING;
	o.run.next_ns = 16 * DUR_SEC;
	assert_string_equal(progress_task_text(a, &o, 13 * DUR_SEC),
			    "attempt 2, next in 3.0 s: it is masked");
	task.kind = TASK_ASSET;
	task.ops = &task_asset_ops;
	assert_null(progress_task_text(a, &o, 13 * DUR_SEC));
}

/* What was logged; the writer has no argument of its own. */
static char logged[16 << 10];

static int keep_line(enum log_level level, const char *message, const struct log_field *fields,
		     size_t n)
{
	size_t len = strlen(logged);

	(void)level;
	(void)fields;
	(void)n;
	(void)snprintf(logged + len, sizeof(logged) - len, "%s\n", message);
	return 0;
}

static int count(const char *text)
{
	int n = 0;

	for (const char *p = logged; (p = strstr(p, text)); p++)
		n++;
	return n;
}

struct sample {
	struct task task;
	struct run_outcome outcome;
	struct err error;
	struct run_report rep;
	int64_t next_run_wall_ns;
};

/* A run that waits for one asset. */
static void sample(struct sample *s, const struct asset *as)
{
	*s = (struct sample){
		.task = { .kind = TASK_ASSET,
			  .ops = &task_asset_ops,
			  .name = "kubelet",
			  .asset = { .asset = as } },
		.outcome = { .task = &s->task, .state = RUN_WAITING, .error = &s->error },
		.rep = { .outcomes = &s->outcome, .n = 1 }
	};
	s->outcome.run.since_ns = dur_now();
}

static const char *text_of(const struct tree *t, const char *key)
{
	const struct tree *v = tree_get(t, key);

	return v && v->kind == TREE_SCALAR ? v->scalar : "none";
}

static const struct tree *status(struct box *x, const struct sample *s)
{
	const struct tree *t = progress_tree(x->a, &s->rep, x->f, s->next_run_wall_ns);

	assert_int_equal(t->kind, TREE_SEQ);
	assert_int_equal(t->n, 1);
	return t->items[0].value;
}

/* Where it is read, where it waits, and what a line is said for; nothing is said twice. */
static void an_asset_under_way(void **state)
{
	struct box *x = *state;
	struct verdict v = VERDICT_INIT;
	struct asset as = box_asset_at(x, "/~status=404/k", "/~stall=1000/k", NULL);
	const struct http_opts patient = { .root_fd = x->root_fd };
	struct waits *waits = waits_new();
	struct fetch_status st = { 0 };
	struct progress *p;
	const struct tree *t;
	struct sample s;
	struct err e;

	/* nothing ends by itself */
	box_open_fetcher(x, NULL);
	http_free(x->http);
	assert_int_equal(http_new(&patient, &x->http, &e), 0);
	box_open_fetcher(x, x->http);
	p = progress_new(x->f, waits);
	sample(&s, &as);
	logged[0] = '\0';
	log_set_writer(keep_line);
	fetch_start(x->f, &as, box_on_done, &v);
	progress_show(p, &s.rep);
	assert_string_equal(logged, "");
	while (!fetch_status(x->f, &as, &st) || st.attempt != 2 || st.bytes != 1000)
		(void)poll(NULL, 0, 5);
	for (int i = 0; i < 20; i++)
		progress_show(p, &s.rep);
	assert_int_equal(count("asset kubelet: "), 1);
	assert_int_equal(count("attempt 2"), 1);
	assert_int_equal(count("; before: GET '"), 1);
	assert_int_equal(count("HTTP status 404"), 1);
	t = status(x, &s);
	assert_string_equal(text_of(t, "name"), "kubelet");
	assert_string_equal(text_of(t, "state"), "waiting");
	assert_string_equal(text_of(t, "bytes"), "1000");
	assert_string_equal(text_of(t, "total"), "65536");
	assert_string_equal(text_of(t, "attempt"), "2");
	assert_non_null(strstr(text_of(t, "mirror"), "/~stall=1000/k"));
	assert_non_null(strstr(text_of(t, "waiting"), "of 65.5 kB"));
	assert_non_null(strstr(text_of(t, "lastError"), "404"));
	assert_true(llabs(strtoll(text_of(t, "sinceUnixMs"), NULL, 10) - dur_wall() / DUR_MS) <
		    60 * 1000);
	assert_string_equal(text_of(t, "nextTryUnixMs"), "none");
	fetch_cancel(x->f, &as);
	box_wait_calls(&v, 1);
	log_set_writer(NULL);
	progress_free(p);
	waits_free(waits);
}

static void an_asset_that_waits(void **state)
{
	struct box *x = *state;
	struct verdict v = VERDICT_INIT;
	struct asset as = box_asset_at(x, "/~status=503/~retry_after=50/k", NULL);
	struct waits *waits = waits_new();
	struct progress *p = progress_new(x->f, waits);
	struct fetch_status st = { 0 };
	const struct tree *t;
	struct sample s;
	int64_t next;

	sample(&s, &as);
	logged[0] = '\0';
	log_set_writer(keep_line);
	fetch_start(x->f, &as, box_on_done, &v);
	while (!fetch_status(x->f, &as, &st) || !st.next_try_ns)
		(void)poll(NULL, 0, 5);
	progress_show(p, &s.rep);
	progress_show(p, &s.rep);
	t = status(x, &s);
	next = strtoll(text_of(t, "nextTryUnixMs"), NULL, 10);
	assert_true(next > dur_wall() / DUR_MS && next < dur_wall() / DUR_MS + 60 * 1000);
	assert_non_null(strstr(text_of(t, "waiting"), "attempt 1, next in "));
	assert_non_null(strstr(text_of(t, "waiting"), "HTTP status 503"));
	fetch_cancel(x->f, &as);
	box_wait_calls(&v, 1);
	log_set_writer(NULL);
	progress_free(p);
	waits_free(waits);
}

/* Between its tries, between runs, and when there is none to come. */
static void an_asset_in_between(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/~status=404/gone", NULL);
	struct verdict v = VERDICT_INIT;
	const struct tree *t;
	struct sample s;

	sample(&s, &as);
	fetch_start(x->f, &as, box_on_done, &v);
	box_wait_calls(&v, 1);
	s.error = v.e;
	s.outcome.state = RUN_FAILED;
	s.outcome.end_ns = dur_now();
	s.next_run_wall_ns = 5000 * DUR_SEC;
	t = status(x, &s);
	assert_string_equal(text_of(t, "state"), "failed");
	assert_string_equal(text_of(t, "waiting"), "the next run");
	assert_string_equal(text_of(t, "nextTryUnixMs"), "5000000");
	assert_non_null(strstr(text_of(t, "lastError"), "HTTP status 404"));
	assert_string_equal(text_of(t, "attempt"), "3");
	assert_true(llabs(strtoll(text_of(t, "sinceUnixMs"), NULL, 10) - dur_wall() / DUR_MS) <
		    60 * 1000);
	s.next_run_wall_ns = 0;
	t = status(x, &s);
	assert_string_equal(text_of(t, "nextTryUnixMs"), "none");
	assert_string_equal(text_of(t, "waiting"), "none");
	assert_non_null(strstr(text_of(t, "lastError"), "HTTP status 404"));
	s.outcome.state = RUN_RETRYING;
	s.outcome.run.next_ns = dur_now() + 5 * DUR_SEC;
	t = status(x, &s);
	assert_string_equal(text_of(t, "waiting"), "its next try");
	assert_true(llabs(strtoll(text_of(t, "nextTryUnixMs"), NULL, 10) - dur_wall() / DUR_MS) <
		    60 * 1000);
	s.outcome.state = RUN_EQUAL;
	s.error.kind = ERR_NONE;
	s.next_run_wall_ns = 5000 * DUR_SEC;
	assert_string_equal(text_of(status(x, &s), "nextTryUnixMs"), "none");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts), cmocka_unit_test(texts_of_tasks), T(an_asset_under_way),
		T(an_asset_that_waits),  T(an_asset_in_between),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
