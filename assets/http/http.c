#include "assets/http/http.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "assets/http/curl.h"
#include "assets/http/proxy.h"
#include "assets/http/transfer.h"
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/pool.h"
#include "nodeup/base/print.h"

enum {
	CONNECT_TIMEOUT_S = 20,
	HEADER_TIMEOUT_S = 30,
	STALL_TIMEOUT_S = 30,
	CHUNK_SIZE = 256 * 1024,
	IDLE_MS = 60 * 1000,
};

/* pause after which a scheme is asked again, for instance when it lacks credentials */
#define AGAIN_NS (5 * DUR_SEC)

/* Only the net thread moves transfers to and from `active`, and it walks `active` without the lock. */
struct http {
	struct arena *arena;
	struct http_opts
		opts; /* strings are the arena's; unset timeouts have their defaults; rewrites are under the lock */
	struct proxies proxies;
	pthread_t thread;

	/* guards all members below, the arena, and `cancelled` and `given_back` of every transfer */
	pthread_mutex_t lock;
	/* signalled when a transfer is started or the engine must stop, while there is no curl yet */
	pthread_cond_t begun;
	struct http_curl *curl;    /* NULL until the first request; after that it stays */
	struct http_ca ca;         /* the roots; all members NULL: they were not looked for yet */
	struct transfer *incoming; /* transfers that do not run yet, the last one first */
	struct transfer *active;   /* transfers that run, the last one first */
	uint64_t last_id;
	bool stop;
	struct http_scheme scheme; /* the scheme besides HTTP's; its name NULL: none */

	/* only the net thread uses this member and all below */
	char *chunk;              /* buffer for file:// URLs; made with curl */
	struct pool *scheme_pool; /* one thread, which may block; made when first needed */
	struct lookup lookup;
	bool crowded; /* a request is queued until another request ends */
};

static void lock_engine(struct http *h)
{
	(void)pthread_mutex_lock(&h->lock);
}

static void unlock_engine(struct http *h)
{
	(void)pthread_mutex_unlock(&h->lock);
}

/* Transfers that were started, and those that run */

/* Makes the net thread look at new transfers. On any thread. */
static void wake_net(struct http *h)
{
	struct http_curl *curl;

	lock_engine(h);
	curl = h->curl;
	(void)pthread_cond_signal(&h->begun);
	unlock_engine(h);
	if (curl)
		http_curl_wake(curl);
}

/* Gives a transfer to the net thread. On any thread. */
static uint64_t enqueue_transfer(struct http *h, struct transfer *t)
{
	uint64_t id;

	lock_engine(h);
	id = t->id = ++h->last_id;
	t->next = h->incoming;
	h->incoming = t;
	unlock_engine(h);
	wake_net(h);
	return id;
}

/* Takes the transfers that were started. Returns whether the engine must stop. */
static bool take_incoming(struct http *h)
{
	struct transfer **end = &h->incoming;
	bool stop;

	lock_engine(h);
	while (*end)
		end = &(*end)->next;
	*end = h->active;
	h->active = h->incoming;
	h->incoming = NULL;
	stop = h->stop;
	unlock_engine(h);
	return stop;
}

static bool is_cancelled(struct http *h, const struct transfer *t)
{
	bool cancelled;

	lock_engine(h);
	cancelled = t->cancelled;
	unlock_engine(h);
	return cancelled;
}

static bool is_idle(struct http *h)
{
	bool idle;

	lock_engine(h);
	idle = !h->active && !h->incoming;
	unlock_engine(h);
	return idle;
}

static void remove_active(struct http *h, struct transfer *t)
{
	struct transfer **p = &h->active;

	lock_engine(h);
	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	unlock_engine(h);
}

/* Schemes, whose functions may block, and therefore have their own thread */

static int prepare_request(struct transfer *t)
{
	struct http_made made = {
		.asked_ns = t->lent_ns,
		.method = t->req.method,
		.body = t->req.body,
		.body_len = t->req.body_len,
	};
	int r = t->scheme->prepare(t->scheme->arg, t->arena, t->req.url, &t->scheme_state, &made,
				   &t->err);

	if (r >= 0)
		transfer_made(t, &made);
	return r;
}

static int judge_answer(struct transfer *t)
{
	struct http_result res = transfer_result(t);

	return t->scheme->judge(t->scheme->arg, t->arena, t->req.url, t->scheme_state, &res,
				&t->err);
}

static void run_scheme(void *arg)
{
	struct transfer *t = arg;
	struct http *h = t->engine;
	int r = t->status ? judge_answer(t) : prepare_request(t);

	lock_engine(h);
	t->scheme_r = r;
	t->given_back = true;
	unlock_engine(h);
	wake_net(h);
}

/* Lets the scheme make a request of t->req.url, or judge the answer that t has. */
static void lend_to_scheme(struct http *h, struct transfer *t)
{
	t->lent = true;
	t->lent_ns = dur_now();
	t->engine = h;
	t->given_back = false;
	pool_send(h->scheme_pool, run_scheme, t);
}

/* Returns whether the scheme is done. *ret_r: 0 if it has made a request, or has judged an answer a failure
 * (t->err); 1 if it wants another request after an answer; < 0 if it failed, with t->err. */
static bool take_from_scheme(struct http *h, struct transfer *t, int *ret_r)
{
	lock_engine(h);
	t->lent = !t->given_back;
	*ret_r = t->scheme_r;
	unlock_engine(h);
	return !t->lent;
}

/* Requests */

static bool has_roots(const struct http_ca *ca)
{
	return ca->bundle || ca->folder || ca->roots;
}

/* Looks for the roots each time: during the run certificates may be installed, or another file may be named. */
static struct http_ca find_ca(struct http *h)
{
	struct http_ca ca;

	lock_engine(h);
	if (!has_roots(&h->ca))
		h->ca = http_find_ca(h->arena, h->opts.root_fd);
	ca = h->ca;
	unlock_engine(h);
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

/* Returns whether a proxy will look up the name. The proxy probably finds the address that this machine finds, so
 * this machine looks the name up first. If the look-up fails, only the proxy knows the address. */
static bool is_for_proxy(const struct http *h, const struct transfer *t)
{
	return !is_direct(t) && *proxy_of(h, t)->url;
}

static bool is_https(const char *url)
{
	return strncasecmp(url, "https:", 6) == 0;
}

/* Begins the request of t->url, which a rewrite or redirect may have changed. */
static int start_request(struct http *h, struct transfer *t)
{
	const char *address = is_for_proxy(h, t) ? lookup_find(&h->lookup, t->url, dur_now()) : "";
	struct http_route route = { .no_proxy = h->proxies.none,
				    .cert = h->opts.cert,
				    .key = h->opts.key,
				    .connect_timeout_ns = h->opts.connect_timeout_ns };
	struct url u = url_split(t->url);
	bool needs_roots;

	if (!url_host_is_ascii(&u))
		return transfer_fail(t, EINVAL, "its host is not ASCII: write such a name as xn--");
	/* an address with a trailing dot is a name to curl, but an address to a proxy */
	if (url_is_link_local(&u) && !t->req.link_local)
		return transfer_refuse_link_local(t, arena_strn(t->arena, u.host, u.host_n));
	if (!address) {
		http_curl_look_up(h->curl, t);
		return 0;
	}
	if (*address)
		return transfer_refuse_link_local(t, address);
	route.proxy = is_direct(t) ? "" : proxy_of(h, t)->url;
	if (is_https(t->url) || is_https(route.proxy))
		route.ca = find_ca(h);
	/* only curl knows which hosts bypass the proxy */
	needs_roots = is_https(t->url) || (is_https(route.proxy) && !*route.no_proxy);
	if (needs_roots && !has_roots(&route.ca))
		return transfer_fail(t, ENOENT,
				     "no CA certificates on this machine: "
				     "install ca-certificates or set SSL_CERT_FILE");
	http_curl_start(h->curl, t, &route);
	return 0;
}

static bool is_of_scheme(struct http *h, const struct url *u)
{
	bool is;

	lock_engine(h);
	is = h->scheme.name && url_has_scheme(u, h->scheme.name);
	unlock_engine(h);
	return is;
}

static int start_transfer(struct http *h, struct transfer *t)
{
	struct url u = url_split(t->url);

	if (t->fn)
		return 0;
	if (is_of_scheme(h, &u)) {
		int r = h->scheme_pool ? 0 : pool_new(1, 1, &h->scheme_pool, &t->err);

		if (r < 0)
			return r;
		t->scheme = &h->scheme;
		lend_to_scheme(h, t);
		return 0;
	}
	if (url_has_scheme(&u, "file"))
		return transfer_open_file(t);
	if (!url_has_scheme(&u, "http") && !url_has_scheme(&u, "https"))
		return transfer_fail(t, EINVAL, "wanted an http, https or file URL");
	t->ready = true;
	return 0;
}

/* Removes t from the running transfers, and reports. */
static void finish_transfer(struct http *h, struct transfer *t, int r)
{
	http_curl_release(h->curl, t);
	remove_active(h, t);
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

/* Returns 1 if a redirect's next request runs, 0 if there is none, < 0 with t->err. */
static int follow_redirect(struct http *h, struct transfer *t)
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
		finish_transfer(h, t, r);
}

static void complete_request(struct http *h, struct transfer *t, int code)
{
	int r = t->failed ? fail_of(t) : http_curl_verdict(t, code, proxy_of(h, t)->error);

	if (r == 0)
		r = follow_redirect(h, t);
	if (r > 0)
		return;
	if (r < 0) {
		finish_transfer(h, t, r);
		return;
	}
	r = transfer_verdict(t);
	if (r < 0 && t->scheme) {
		/* only the scheme can read the refusal */
		http_curl_release(h->curl, t);
		lend_to_scheme(h, t);
		return;
	}
	finish_transfer(h, t, r);
}

/* If the scheme has made a request or judged an answer, goes on. Returns whether there is something to do now. */
static bool go_on_from_scheme(struct http *h, struct transfer *t, bool cancelled)
{
	bool judged;
	int r;

	if (!take_from_scheme(h, t, &r))
		return false;
	judged = t->status >= 300;
	if (cancelled) {
		finish_transfer(h, t, cancel_error(t));
		return false;
	}
	t->failed = false;
	if (r > 0) {
		transfer_reset(t);
		lend_to_scheme(h, t);
		return false;
	}
	if (r == 0) {
		t->ready = true;
		return true;
	}
	if (!judged && t->err.errnum == EAGAIN)
		t->again_ns = AGAIN_NS;
	finish_transfer(h, t, r);
	return false;
}

static void reap_requests(struct http *h)
{
	struct transfer *t;
	int code;

	while ((t = http_curl_take(h->curl, &code)))
		if (t->looking)
			looked_up(h, t);
		else
			complete_request(h, t, code);
}

static int start_when_there_is_room(struct http *h, struct transfer *t)
{
	t->ready = !t->req.link_local && !http_curl_has_room(h->curl);
	h->crowded = h->crowded || t->ready;
	return t->ready ? 0 : start_request(h, t);
}

/* Moves one transfer as far as possible. Returns when the transfer must be moved again. */
static int64_t step_transfer(struct http *h, struct transfer *t, bool cancelled, int64_t now)
{
	int64_t again = INT64_MAX;
	int r = 0;

	if (t->lent)
		return go_on_from_scheme(h, t, cancelled) ? now : again;
	if (cancelled) {
		finish_transfer(h, t, cancel_error(t));
		return again;
	}
	if (!t->easy && t->fd < 0 && !t->fn && !t->ready)
		r = start_transfer(h, t);
	/* from here on the transfer belongs to the scheme's thread */
	if (r == 0 && t->lent)
		return again;
	if (r == 0 && t->ready)
		r = start_when_there_is_room(h, t);
	if (r < 0) {
		finish_transfer(h, t, r);
	} else if (t->fn) {
		if (t->due_ns > now)
			return t->due_ns;
		finish_transfer(h, t, 0);
	} else if (t->fd >= 0) {
		r = transfer_step_file(t, h->chunk, CHUNK_SIZE);
		if (r > 0)
			return now;
		finish_transfer(h, t, r);
	} else if (t->connected) {
		again = transfer_watch(t, now, &h->opts);
		if (again == 0)
			finish_transfer(h, t, fail_of(t));
		return again;
	}
	return again;
}

/* Moves every transfer as far as possible. Returns how many milliseconds the net thread may wait. */
static int step_all(struct http *h, bool stop)
{
	int64_t now = dur_now(), due = INT64_MAX;
	struct transfer *next;

	h->crowded = false;
	/* a callback puts new transfers into `incoming`, and finish_transfer() takes only this transfer, t, out of
	 * `active` */
	for (struct transfer *t = h->active; t; t = next) {
		int64_t again;

		next = t->next;
		again = step_transfer(h, t, stop || is_cancelled(h, t), now);
		if (again < due)
			due = again;
	}
	/* a transfer has ended after the loop had passed others that wait for its connection */
	if (h->crowded && http_curl_has_room(h->curl))
		return 0;
	if (due == INT64_MAX || due - now > IDLE_MS * DUR_MS)
		return IDLE_MS;
	return due <= now ? 0 : (int)((due - now) / DUR_MS) + 1;
}

/* Waits for the first request, so that a run without requests never makes curl. Returns whether there is something
 * to do. */
static bool await_first(struct http *h)
{
	lock_engine(h);
	while (!h->incoming && !h->stop)
		(void)pthread_cond_wait(&h->begun, &h->lock);
	if (h->incoming) {
		h->chunk = xrealloc(NULL, CHUNK_SIZE);
		h->curl = http_curl_new();
	}
	unlock_engine(h);
	return h->curl;
}

static void *net_main(void *arg)
{
	struct http *h = arg;

	if (!await_first(h))
		return NULL;
	for (;;) {
		bool stop = take_incoming(h);
		int wait_ms;

		http_curl_move(h->curl);
		reap_requests(h);
		/* comes after http_curl_move, which makes new connections: they get a deadline here */
		wait_ms = step_all(h, stop);
		if (stop && is_idle(h))
			return NULL;
		http_curl_wait(h->curl, stop ? 0 : wait_ms);
	}
}

static void copy_opts(struct http *h, const struct http_opts *opts)
{
	struct arena *a = h->arena;

	h->opts = *opts;
	h->opts.ca_file = arena_str(a, opts->ca_file);
	h->opts.cert = arena_str(a, opts->cert);
	h->opts.key = arena_str(a, opts->key);
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
	h->ca = (struct http_ca){ .bundle = h->opts.ca_file, .roots = opts->roots };
}

static void release_engine(struct http *h)
{
	pool_free(h->scheme_pool);
	if (h->curl)
		http_curl_free(h->curl);
	(void)pthread_cond_destroy(&h->begun);
	(void)pthread_mutex_destroy(&h->lock);
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
	(void)pthread_mutex_init(&h->lock, NULL);
	(void)pthread_cond_init(&h->begun, NULL);
	/* no thread may get the SIGPIPE of a TLS socket */
	r = pool_thread(&h->thread, net_main, h, e);
	if (r < 0) {
		release_engine(h);
		return r;
	}
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	lock_engine(h);
	h->stop = true;
	unlock_engine(h);
	wake_net(h);
	(void)pthread_join(h->thread, NULL);
	release_engine(h);
}

void http_set_scheme(struct http *h, const struct http_scheme *scheme)
{
	assert(!h->scheme.name);
	lock_engine(h);
	h->scheme = *scheme;
	unlock_engine(h);
}

void http_add_settings(struct http *h, const struct strv *rewrites, const char *ca_file)
{
	lock_engine(h);
	for (size_t i = 0; i < rewrites->n; i++)
		strv_add(h->arena, &h->opts.rewrites, arena_str(h->arena, rewrites->v[i]));
	if (ca_file)
		h->ca = (struct http_ca){ .bundle = arena_str(h->arena, ca_file) };
	unlock_engine(h);
}

static struct strv rewrites_of(struct http *h)
{
	struct strv rewrites;

	lock_engine(h);
	rewrites = h->opts.rewrites;
	unlock_engine(h);
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

	return enqueue_transfer(h, transfer_new(req, &rewrites));
}

uint64_t http_after(struct http *h, int64_t delay_ns, void (*fn)(void *arg, int r), void *arg)
{
	struct http_req none = { .url = "" };
	struct transfer *t = transfer_new(&none, &(struct strv){ 0 });

	t->fn = fn;
	t->fn_arg = arg;
	t->due_ns = dur_now() + delay_ns;
	return enqueue_transfer(h, t);
}

void http_cancel(struct http *h, uint64_t id)
{
	lock_engine(h);
	for (struct transfer *t = h->incoming; t; t = t->next)
		t->cancelled = t->cancelled || t->id == id;
	for (struct transfer *t = h->active; t; t = t->next)
		t->cancelled = t->cancelled || t->id == id;
	unlock_engine(h);
	wake_net(h);
}

/* The answer for which http_get waits. */
struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool heard, done;
	int r, status;
	int64_t length;
	struct buf *body;
	struct http_answer *answer; /* NULL: not wanted */
	struct err *e;
};

static void take_answer(struct http_answer *a, const struct http_result *res)
{
	const size_t n = res->error_page_n ? strcspn(res->error_page, "\r\n") : 0;

	a->status = res->status;
	a->retry_after_ns = res->retry_after_ns;
	(void)print_to(a->date, sizeof(a->date), "%s", http_header(res->headers, "date"));
	(void)print_to(a->line, sizeof(a->line), "%.*s", (int)n, n ? res->error_page : "");
}

static void on_get_head(void *arg, const struct http_result *res)
{
	struct waiter *w = arg;

	(void)res;
	(void)pthread_mutex_lock(&w->lock);
	w->heard = true;
	(void)pthread_mutex_unlock(&w->lock);
}

static int on_get_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct waiter *w = arg;

	if (buf_add(w->body, p, n) < 0)
		return buf_check(w->body, "the body", e);
	return 0;
}

static void on_get_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct waiter *w = arg;

	(void)pthread_mutex_lock(&w->lock);
	w->r = r;
	w->status = res->status;
	w->length = res->content_length;
	if (w->answer)
		take_answer(w->answer, res);
	if (r < 0)
		*w->e = *e;
	w->done = true;
	(void)pthread_cond_signal(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
}

/* Waits for the end of the answer; the caller holds the lock. Releases the lock while it calls `silent`, which may
 * take its time. */
static void await_done(struct waiter *w, const struct http_req *req)
{
	const struct timespec silent = { .tv_sec = req->silent_ns / DUR_SEC,
					 .tv_nsec = req->silent_ns % DUR_SEC };
	int r = 0;

	while (req->silent && !w->done && r == 0)
		r = pthread_cond_timedwait(&w->changed, &w->lock, &silent);
	if (req->silent && !w->done && !w->heard) {
		(void)pthread_mutex_unlock(&w->lock);
		req->silent(req->silent_arg);
		(void)pthread_mutex_lock(&w->lock);
	}
	while (!w->done)
		(void)pthread_cond_wait(&w->changed, &w->lock);
}

static int start_and_wait(struct http *h, struct http_req *mine, struct waiter *w)
{
	pthread_condattr_t monotonic;

	/* the thread of the callbacks must not wait for itself */
	assert(!pthread_equal(pthread_self(), h->thread));
	mine->head = on_get_head;
	mine->data = on_get_data;
	mine->done = on_get_done;
	mine->arg = w;
	mine->max_bytes = w->body ? w->body->max - w->body->len : 0;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	(void)http_start(h, mine);
	(void)pthread_mutex_lock(&w->lock);
	await_done(w, mine);
	(void)pthread_mutex_unlock(&w->lock);
	(void)pthread_cond_destroy(&w->changed);
	(void)pthread_mutex_destroy(&w->lock);
	return w->r < 0 ? w->r : 0;
}

int http_get(struct http *h, const struct http_req *req, struct buf *b, int *ret_status,
	     struct err *e)
{
	struct waiter w = { .body = b, .e = e };
	struct http_req mine = *req;
	int r = start_and_wait(h, &mine, &w);

	if (ret_status)
		*ret_status = w.status;
	return r;
}

int http_ask(struct http *h, const struct http_req *req, struct buf *b, struct http_answer *ret,
	     struct err *e)
{
	struct waiter w = { .body = b, .answer = ret, .e = e };
	struct http_req mine = *req;

	*ret = (struct http_answer){ .retry_after_ns = -1 };
	return start_and_wait(h, &mine, &w);
}

int http_length(struct http *h, const struct http_req *req, int64_t *ret_bytes, struct err *e)
{
	struct waiter w = { .e = e };
	struct http_req mine = *req;
	int r;

	mine.method = "HEAD";
	r = start_and_wait(h, &mine, &w);
	*ret_bytes = w.length;
	return r;
}
