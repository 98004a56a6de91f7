#include "assets/http/http.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "assets/http/aside.h"
#include "assets/http/curl.h"
#include "assets/http/queue.h"
#include "assets/http/lookup.h"
#include "assets/http/proxy.h"
#include "assets/http/transfer.h"
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/pool.h"

enum {
	CONNECT_TIMEOUT_S = 20,
	HEADER_TIMEOUT_S = 30,
	STALL_TIMEOUT_S = 30,
	CHUNK_SIZE = 256 * 1024,
	IDLE_MS = 60 * 1000,
};

/* when a scheme cannot make a request yet: credentials that are not there, say */
#define AGAIN_NS (5 * DUR_SEC)

struct http {
	struct arena *arena;
	struct http_opts
		opts; /* strings are the arena's; timeouts filled in; rewrites under the lock */
	struct proxies proxies;
	const char *ca; /* under the queue's lock, as what the arena gives; NULL: none found yet */
	bool ca_is_dir;
	struct http_curl *curl;
	char *chunk; /* for file:// URLs */
	pthread_t thread;

	struct http_queue queue;
	struct lookup lookup;      /* the net thread's */
	bool crowded;              /* a queued request waits for another to end */
	struct http_scheme scheme; /* under the queue's lock; name NULL: none */
	struct aside *aside;       /* with a scheme */
};

/* Certificates may be installed, or another file be named, while this runs. */
static const char *find_ca(struct http *h, bool *ret_is_dir)
{
	const char *ca;

	(void)pthread_mutex_lock(&h->queue.lock);
	if (!h->ca)
		h->ca = http_find_ca(h->arena, h->opts.root_fd, &h->ca_is_dir);
	ca = h->ca;
	*ret_is_dir = h->ca_is_dir;
	(void)pthread_mutex_unlock(&h->queue.lock);
	return ca;
}

static bool is_direct(const struct transfer *t)
{
	return t->req.no_proxy || t->req.unix_socket;
}

static const struct proxy *proxy_of(const struct http *h, const struct transfer *t)
{
	struct url u = url_split(t->url);

	return proxy_for(&h->proxies, &u);
}

/* A proxy will look up the name, maybe as we would: on this machine, say. So it is looked up here first;
 * where that is not possible it is the proxy's alone to know. */
static bool is_for_proxy(const struct http *h, const struct transfer *t)
{
	return !is_direct(t) && *proxy_of(h, t)->url;
}

/* With t->url, where it is now. */
static int start_request(struct http *h, struct transfer *t)
{
	const char *address = is_for_proxy(h, t) ? lookup_find(&h->lookup, t->url, dur_now()) : "";
	struct http_route route = { .no_proxy = h->proxies.none,
				    .connect_timeout_ns = h->opts.connect_timeout_ns };
	struct url u = url_split(t->url);

	if (!url_host_is_ascii(&u))
		return transfer_fail(t, EINVAL, "its host is not ASCII: write such a name as xn--");
	/* with a trailing dot, say, which is not an address to curl, but is one to a proxy */
	if (url_is_link_local(&u) && !t->req.link_local)
		return transfer_refuse_link_local(t, arena_strn(t->arena, u.host, u.host_n));
	if (!address) {
		http_curl_look_up(h->curl, t);
		return 0;
	}
	if (*address)
		return transfer_refuse_link_local(t, address);
	route.ca = find_ca(h, &route.ca_is_dir);
	if (strncasecmp(t->url, "https:", 6) == 0 && !route.ca)
		return transfer_fail(t, ENOENT,
				     "no CA certificates on this machine: "
				     "install ca-certificates or set SSL_CERT_FILE");
	route.proxy = is_direct(t) ? "" : proxy_of(h, t)->url;
	http_curl_start(h->curl, t, &route);
	return 0;
}

static bool is_of_scheme(struct http *h, const struct url *u)
{
	bool is;

	(void)pthread_mutex_lock(&h->queue.lock);
	is = h->scheme.name && url_has_scheme(u, h->scheme.name);
	(void)pthread_mutex_unlock(&h->queue.lock);
	return is;
}

static int start(struct http *h, struct transfer *t)
{
	struct url u = url_split(t->url);

	if (t->fn)
		return 0;
	if (is_of_scheme(h, &u)) {
		t->scheme = &h->scheme;
		aside_push(h->aside, t);
		return 0;
	}
	if (url_has_scheme(&u, "file"))
		return transfer_open_file(t);
	if (!url_has_scheme(&u, "http") && !url_has_scheme(&u, "https"))
		return transfer_fail(t, EINVAL, "wanted an http, https or file URL");
	t->ready = true;
	return 0;
}

/* Take t off the list of what runs, and report. */
static void finish(struct http *h, struct transfer *t, int r)
{
	http_curl_release(h->curl, t);
	http_queue_remove(&h->queue, t);
	transfer_finish(t, r);
}

static int fail_of(const struct transfer *t)
{
	return t->err.errnum > 0 ? -t->err.errnum : -EINVAL;
}

static int cancel_error(struct transfer *t)
{
	return t->fn ? -ECANCELED : transfer_fail(t, ECANCELED, "cancelled");
}

/* 1 when the next request of a redirect runs, 0 when there is none, < 0 with t->err. */
static int follow(struct http *h, struct transfer *t)
{
	const char *to;
	int r;

	if (t->req.no_redirect || t->status / 100 != 3 ||
	    (!str_eq(t->req.method, "GET") && !str_eq(t->req.method, "HEAD")))
		return 0;
	to = http_curl_redirect(t);
	if (!to)
		return 0;
	r = transfer_redirect(t, to);
	if (r < 0)
		return r;
	http_curl_release(h->curl, t);
	r = start_request(h, t);
	return r < 0 ? r : 1;
}

static void looked_up(struct http *h, struct transfer *t)
{
	int r;

	http_curl_release(h->curl, t);
	t->looking = false;
	lookup_note(&h->lookup, t->url, t->forbidden, dur_now());
	t->forbidden[0] = '\0';
	r = start_request(h, t);
	if (r < 0)
		finish(h, t, r);
}

static void complete(struct http *h, struct transfer *t, int code)
{
	int r = t->failed ? fail_of(t) : http_curl_verdict(t, code, proxy_of(h, t)->error);

	if (r == 0)
		r = follow(h, t);
	if (r > 0)
		return;
	if (r < 0) {
		finish(h, t, r);
		return;
	}
	r = transfer_verdict(t);
	if (r < 0 && t->scheme) {
		/* what the refusal means is for its scheme to say */
		http_curl_release(h->curl, t);
		aside_push(h->aside, t);
		return;
	}
	finish(h, t, r);
}

/* The scheme has made a request, or judged an answer; or not yet. Whether there is something to do now. */
static bool back_from_aside(struct http *h, struct transfer *t, bool cancelled)
{
	bool judged;
	int r;

	if (!aside_take(h->aside, t, &r))
		return false;
	judged = t->status >= 300;
	if (cancelled) {
		finish(h, t, cancel_error(t));
		return false;
	}
	t->failed = false;
	if (r > 0) {
		transfer_reset(t);
		aside_push(h->aside, t);
		return false;
	}
	if (r == 0) {
		t->ready = true;
		return true;
	}
	if (!judged && t->err.errnum == EAGAIN)
		t->again_ns = AGAIN_NS;
	finish(h, t, r);
	return false;
}

static void reap(struct http *h)
{
	struct transfer *t;
	int code;

	while ((t = http_curl_take(h->curl, &code)))
		if (t->looking)
			looked_up(h, t);
		else
			complete(h, t, code);
}

static int start_when_there_is_room(struct http *h, struct transfer *t)
{
	t->ready = !t->req.link_local && !http_curl_has_room(h->curl);
	h->crowded = h->crowded || t->ready;
	return t->ready ? 0 : start_request(h, t);
}

/* One look at something that runs. Returns when to look again. */
static int64_t step(struct http *h, struct transfer *t, bool cancelled, int64_t now)
{
	int64_t again = INT64_MAX;
	int r = 0;

	if (t->aside)
		return back_from_aside(h, t, cancelled) ? now : again;
	if (cancelled) {
		finish(h, t, cancel_error(t));
		return again;
	}
	if (!t->easy && t->fd < 0 && !t->fn && !t->ready)
		r = start(h, t);
	/* from here on it is that thread's alone */
	if (r == 0 && t->aside)
		return again;
	if (r == 0 && t->ready)
		r = start_when_there_is_room(h, t);
	if (r < 0) {
		finish(h, t, r);
	} else if (t->fn) {
		if (t->due_ns > now)
			return t->due_ns;
		finish(h, t, 0);
	} else if (t->fd >= 0) {
		r = transfer_step_file(t, h->chunk, CHUNK_SIZE);
		if (r > 0)
			return now;
		finish(h, t, r);
	} else if (t->connected) {
		again = transfer_watch(t, now, &h->opts);
		if (again == 0)
			finish(h, t, fail_of(t));
		return again;
	}
	return again;
}

/* Look at everything once. Returns how long nothing is due, in milliseconds. */
static int step_all(struct http *h, bool stop)
{
	int64_t now = dur_now(), due = INT64_MAX;
	struct transfer *next;

	h->crowded = false;
	/* callbacks start new ones, which wait in `incoming`; only finish() unlinks, and only t */
	for (struct transfer *t = h->queue.active; t; t = next) {
		int64_t again;

		next = t->next;
		again = step(h, t, stop || http_queue_is_cancelled(&h->queue, t), now);
		if (again < due)
			due = again;
	}
	/* a transfer has ended after others were inspected */
	if (h->crowded && http_curl_has_room(h->curl))
		return 0;
	if (due == INT64_MAX || due - now > IDLE_MS * DUR_MS)
		return IDLE_MS;
	return due <= now ? 0 : (int)((due - now) / DUR_MS) + 1;
}

static void *net_main(void *arg)
{
	struct http *h = arg;

	for (;;) {
		bool stop = http_queue_take(&h->queue);
		int wait_ms;

		http_curl_move(h->curl);
		reap(h);
		/* after curl moved things: what it connected just now has a deadline */
		wait_ms = step_all(h, stop);
		if (stop && http_queue_is_idle(&h->queue))
			return NULL;
		http_curl_wait(h->curl, stop ? 0 : wait_ms);
	}
}

static void copy_opts(struct http *h, const struct http_opts *opts)
{
	struct arena *a = h->arena;

	h->opts = *opts;
	h->opts.ca_file = arena_str(a, opts->ca_file);
	h->opts.rewrites = (struct strv){ 0 };
	for (size_t i = 0; i < opts->rewrites.n; i++)
		strv_add(a, &h->opts.rewrites, arena_str(a, opts->rewrites.v[i]));
	if (h->opts.connect_timeout_ns <= 0)
		h->opts.connect_timeout_ns = CONNECT_TIMEOUT_S * DUR_SEC;
	if (h->opts.header_timeout_ns <= 0)
		h->opts.header_timeout_ns = HEADER_TIMEOUT_S * DUR_SEC;
	if (h->opts.stall_timeout_ns <= 0)
		h->opts.stall_timeout_ns = STALL_TIMEOUT_S * DUR_SEC;
	h->proxies = proxy_load(a);
	h->ca = h->opts.ca_file ? h->opts.ca_file : http_find_ca(a, opts->root_fd, &h->ca_is_dir);
}

static void release(struct http *h)
{
	aside_free(h->aside);
	http_curl_free(h->curl);
	http_queue_done(&h->queue);
	lookup_done(&h->lookup);
	arena_free(h->arena);
	free(h->chunk);
	free(h);
}

int http_new(const struct http_opts *opts, struct http **ret, struct err *e)
{
	struct http *h = xcalloc(1, sizeof(*h));
	int r;

	h->arena = arena_new_empty();
	copy_opts(h, opts);
	h->chunk = xrealloc(NULL, CHUNK_SIZE);
	http_queue_init(&h->queue);
	h->curl = http_curl_new();
	/* SIGPIPE of a TLS socket must reach no thread */
	r = pool_thread(&h->thread, net_main, h, e);
	if (r < 0) {
		release(h);
		return r;
	}
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	http_queue_stop(&h->queue);
	http_curl_wake(h->curl);
	(void)pthread_join(h->thread, NULL);
	release(h);
}

static uint64_t enqueue(struct http *h, struct transfer *t)
{
	uint64_t id = http_queue_put(&h->queue, t);

	http_curl_wake(h->curl);
	return id;
}

static void wake(void *arg)
{
	struct http *h = arg;

	http_curl_wake(h->curl);
}

int http_set_scheme(struct http *h, const struct http_scheme *scheme, struct err *e)
{
	struct aside *aside;
	int r = aside_new(wake, h, &aside, e);

	if (r < 0)
		return r;
	assert(!h->scheme.name);
	(void)pthread_mutex_lock(&h->queue.lock);
	h->aside = aside;
	h->scheme = *scheme;
	(void)pthread_mutex_unlock(&h->queue.lock);
	return 0;
}

void http_add_settings(struct http *h, const struct strv *rewrites, const char *ca_file)
{
	(void)pthread_mutex_lock(&h->queue.lock);
	for (size_t i = 0; i < rewrites->n; i++)
		strv_add(h->arena, &h->opts.rewrites, arena_str(h->arena, rewrites->v[i]));
	if (ca_file) {
		h->ca = arena_str(h->arena, ca_file);
		h->ca_is_dir = false;
	}
	(void)pthread_mutex_unlock(&h->queue.lock);
}

static struct strv rewrites_of(struct http *h)
{
	struct strv rewrites;

	(void)pthread_mutex_lock(&h->queue.lock);
	rewrites = h->opts.rewrites;
	(void)pthread_mutex_unlock(&h->queue.lock);
	return rewrites;
}

char *http_rewritten(struct http *h, struct arena *a, const char *url)
{
	const struct strv rewrites = rewrites_of(h);

	return transfer_rewrite(a, url, &rewrites);
}

uint64_t http_start(struct http *h, const struct http_req *req)
{
	const struct strv rewrites = rewrites_of(h);

	return enqueue(h, transfer_new(req, &rewrites));
}

uint64_t http_after(struct http *h, int64_t delay_ns, void (*fn)(void *arg, int r), void *arg)
{
	struct http_req none = { .url = "" };
	struct transfer *t = transfer_new(&none, &(struct strv){ 0 });

	t->fn = fn;
	t->fn_arg = arg;
	t->due_ns = dur_now() + delay_ns;
	return enqueue(h, t);
}

void http_cancel(struct http *h, uint64_t id)
{
	http_queue_cancel(&h->queue, id);
	http_curl_wake(h->curl);
}

bool http_is_net_thread(const struct http *h)
{
	return pthread_equal(pthread_self(), h->thread);
}
