#include "tests/unit/lib/fetch_box.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/walk.h"

void box_be_patient(struct box *x)
{
	struct err e;

	fetch_free(x->f);
	x->f = NULL;
	http_free(x->http);
	assert_int_equal(http_new(&(struct http_opts){ .root_fd = x->root_fd }, &x->http, &e), 0);
	box_open_fetcher(x, x->http);
}

void box_open_fetcher(struct box *x, struct http *http)
{
	struct err e;

	fetch_free(x->f);
	assert_int_equal(fetch_new(http, x->cache, &x->f, &e), 0);
}

int box_start_origin(void **state)
{
	static const char *const names[] = { "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(unsetenv(names[i]), 0);
	*state = origin_start();
	return 0;
}

int box_stop_origin(void **state)
{
	origin_stop(*state);
	return 0;
}

int box_setup(void **state)
{
	struct box *x = xcalloc(1, sizeof(*x));
	autofree unsigned char *body = origin_body(SIZE);
	struct http_opts opts = { .header_timeout_ns = 2 * DUR_SEC,
				  .stall_timeout_ns = 2 * DUR_SEC };
	struct err e;

	x->o = *state;
	tmp_make(x->dir);
	opts.root_fd = x->root_fd = open(x->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(x->root_fd >= 0);
	x->a = arena_new_empty();
	digest_of(DIGEST_SHA256, body, SIZE, &x->right);
	assert_int_equal(http_new(&opts, &x->http, &e), 0);
	assert_int_equal(cache_new(x->root_fd, "/cache", true, &x->cache, &e), 0);
	box_open_fetcher(x, x->http);
	*state = x;
	return 0;
}

int box_teardown(void **state)
{
	struct box *x = *state;
	struct origin *o = x->o;

	fetch_free(x->f);
	http_free(x->http);
	cache_free(x->cache);
	(void)close(x->root_fd);
	arena_free(x->a);
	assert_int_equal(walk_remove(AT_FDCWD, x->dir), 0);
	free(x);
	*state = o;
	return 0;
}

void box_on_done(void *arg, int r, const struct err *e)
{
	struct verdict *v = arg;

	(void)pthread_mutex_lock(&v->lock);
	v->calls++;
	v->r = r;
	v->cancelled += r == -ECANCELED;
	if (r < 0)
		v->e = *e;
	(void)pthread_cond_signal(&v->changed);
	(void)pthread_mutex_unlock(&v->lock);
}

void box_wait_calls(struct verdict *v, int n)
{
	(void)pthread_mutex_lock(&v->lock);
	while (v->calls < n)
		(void)pthread_cond_wait(&v->changed, &v->lock);
	(void)pthread_mutex_unlock(&v->lock);
}

/* An asset "kubelet" from these paths of the origin (or whole URLs), NULL-terminated. */
struct asset box_asset_at(struct box *x, ...)
{
	struct asset as = { .name = "kubelet", .digest = x->right };
	const char *path;
	va_list ap;

	va_start(ap, x);
	while ((path = va_arg(ap, const char *))) {
		autofree char *url = origin_url(x->o, "%s", path);

		strv_add(x->a, &as.urls, arena_str(x->a, *path == '/' ? url : path));
	}
	va_end(ap);
	return as;
}

struct verdict box_fetch(struct box *x, const struct asset *as)
{
	struct verdict v = VERDICT_INIT;

	fetch_start(x->f, as, box_on_done, &v);
	box_wait_calls(&v, 1);
	return v;
}

void box_must_succeed(struct box *x, const struct asset *as)
{
	struct verdict v = box_fetch(x, as);

	if (v.r < 0)
		fail_msg("%s", v.e.msg);
	assert_true(cache_has(x->cache, &as->digest));
}

struct err box_must_fail(struct box *x, const struct asset *as, enum err_kind kind,
			 const char *says)
{
	struct verdict v = box_fetch(x, as);

	if (v.r >= 0 || v.e.kind != kind || !strstr(v.e.msg, says))
		fail_msg("r %d kind %d '%s', wanted '%s'", v.r, v.e.kind, v.e.msg, says);
	/* who asked knows for what, and says it once */
	if (strstr(v.e.msg, "asset 'kubelet'"))
		fail_msg("names the asset a second time: %s", v.e.msg);
	assert_null(strstr(v.e.msg, "hunter2"));
	for (size_t i = 0; i < v.e.nnotes; i++)
		assert_null(strstr(v.e.notes[i].text, "hunter2"));
	assert_false(cache_has(x->cache, &as->digest));
	return v.e;
}

const char *box_note(const struct err *e, const char *label)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, label) == 0)
			return e->notes[i].text;
	return "";
}

static int box_ask_origin(struct box *x, const char *what, const char *path)
{
	autofree char *url = origin_url(x->o, "/__%s?path=%s", what, path);
	autobuf struct buf b = BUF_INIT(100);
	struct err e;

	assert_int_equal(http_get(x->http, &(struct http_req){ .url = url }, &b, NULL, &e), 0);
	return (int)strtol(buf_str(&b), NULL, 10);
}

int box_count_of(struct box *x, const char *path)
{
	return box_ask_origin(x, "count", path);
}

int box_sent_of(struct box *x, const char *path)
{
	return box_ask_origin(x, "sent", path);
}

int box_peak(struct box *x)
{
	return box_ask_origin(x, "peak", "");
}

void box_forget(struct box *x)
{
	(void)box_ask_origin(x, "reset", "");
}

void box_empty_cache(struct box *x)
{
	assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
	assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
}

void box_wait_moving(struct box *x, const struct asset *as)
{
	struct fetch_status st = { 0 };
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };

	while (st.bytes == 0) {
		assert_true(fetch_status(x->f, as, &st));
		(void)nanosleep(&nap, NULL);
	}
	assert_int_equal(st.bytes, 1000);
	assert_int_equal(st.total, SIZE);
	assert_int_equal(st.attempt, 1);
	assert_string_equal(st.last_error, "");
	assert_null(strchr(st.url, '?'));
}
