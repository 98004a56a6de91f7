#include "assets/http.h"

#include <curl/curl.h>
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "assets/aside.h"
#include "assets/http_queue.h"
#include "assets/lookup.h"
#include "assets/proxy.h"
#include "assets/transfer.h"
#include "assets/url.h"
#include "nodeup/base/dur.h"

enum {
	CONNECT_TIMEOUT_S = 20,
	HEADER_TIMEOUT_S = 30,
	STALL_TIMEOUT_S = 30,
	BUFFER_SIZE = 256 * 1024,
	SOCKETS_MAX = 16, /* that are kept, with those in use */
	IDLE_MS = 60 * 1000,
	LOOKUP_MS = 3 * 1000,
	/* what OpenSSL says of a certificate (X509_V_ERR_...) */
	CERT_NOT_YET_VALID = 9,
	CERT_HAS_EXPIRED = 10,
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
	CURLM *multi;
	char *chunk; /* for file:// URLs */
	pthread_t thread;

	struct http_queue queue;
	struct lookup lookup;      /* the net thread's */
	struct http_scheme scheme; /* under the queue's lock; name NULL: none */
	struct aside *aside;       /* with a scheme */
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
}

/* Only memory can be missing: the options are known to the libcurl we link. */
#define SET(easy, option, value)                                             \
	do {                                                                 \
		if (curl_easy_setopt((easy), (option), (value)) != CURLE_OK) \
			abort();                                             \
	} while (0)

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	return transfer_header(arg, p, size * n) < 0 ? 0 : size * n;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	return transfer_body(arg, p, size * n) < 0 ? CURL_WRITEFUNC_ERROR : size * n;
}

/* Names are looked up by curl: what they lead to is seen here, for each address that is tried. */
static curl_socket_t on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *peer)
{
	struct transfer *t = arg;
	char shown[URL_HOST_MAX];

	(void)purpose;
	if (url_peer_is_link_local(&peer->addr, shown) && (!t->req.link_local || t->redirects)) {
		(void)snprintf(t->forbidden, sizeof(t->forbidden), "%s", shown);
		return CURL_SOCKET_BAD;
	}
	return socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
}

/* The same of a name that is only looked up: nothing is connected to. */
static curl_socket_t on_look(void *arg, curlsocktype purpose, struct curl_sockaddr *peer)
{
	struct transfer *t = arg;
	char shown[URL_HOST_MAX];

	(void)purpose;
	if (url_peer_is_link_local(&peer->addr, shown))
		(void)snprintf(t->forbidden, sizeof(t->forbidden), "%s", shown);
	return CURL_SOCKET_BAD;
}

static int on_connected(void *arg, char *ip, char *local_ip, int port, int local_port)
{
	struct transfer *t = arg;

	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	t->connected = true;
	t->watch_ns = dur_now();
	return CURL_PREREQFUNC_OK;
}

static void release_easy(struct http *h, struct transfer *t)
{
	if (!t->easy)
		return;
	(void)curl_multi_remove_handle(h->multi, t->easy);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->header_list);
	t->easy = t->header_list = NULL;
}

static void set_method(struct transfer *t)
{
	const struct http_req *req = &t->req;

	if (str_eq(req->method, "HEAD")) {
		SET(t->easy, CURLOPT_NOBODY, 1L);
		return;
	}
	if (str_eq(req->method, "GET") && !req->body)
		return;
	SET(t->easy, CURLOPT_CUSTOMREQUEST, req->method);
	if (req->body || str_eq(req->method, "PUT") || str_eq(req->method, "POST")) {
		SET(t->easy, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)(req->body ? req->body_len : 0));
		SET(t->easy, CURLOPT_POSTFIELDS, req->body ? (const char *)req->body : "");
	}
}

static void add_header(struct transfer *t, const char *header)
{
	struct curl_slist *list = curl_slist_append(t->header_list, header);

	if (!list)
		abort();
	t->header_list = list;
}

static void set_headers(struct transfer *t)
{
	bool has_type = false;

	for (size_t i = 0; i < t->req.headers.n; i++) {
		has_type = has_type || strncasecmp(t->req.headers.v[i], "content-type:", 13) == 0;
		add_header(t, t->req.headers.v[i]);
	}
	/* curl's own ideas: a round trip before a body, and that every body is a form */
	add_header(t, "Expect:");
	if (!has_type)
		add_header(t, "Content-Type:");
	SET(t->easy, CURLOPT_HTTPHEADER, (struct curl_slist *)t->header_list);
}

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

static void set_tls(struct transfer *t, const char *ca, bool is_dir)
{
	SET(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* never the places that were known where this was built */
	SET(t->easy, CURLOPT_CAINFO, is_dir ? NULL : ca);
	SET(t->easy, CURLOPT_CAPATH, is_dir ? ca : NULL);
	SET(t->easy, CURLOPT_PROXY_CAINFO, is_dir ? NULL : ca);
	SET(t->easy, CURLOPT_PROXY_CAPATH, is_dir ? ca : NULL);
}

static void set_route(struct http *h, struct transfer *t)
{
	struct url u = url_split(t->url);
	bool direct = t->req.no_proxy || t->req.unix_socket;

	/* never NULL: that would make curl look into the environment itself */
	SET(t->easy, CURLOPT_PROXY, direct ? "" : proxy_for(&h->proxies, &u)->url);
	SET(t->easy, CURLOPT_NOPROXY, h->proxies.none);
	if (t->req.unix_socket)
		SET(t->easy, CURLOPT_UNIX_SOCKET_PATH, t->req.unix_socket);
	SET(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(h->opts.connect_timeout_ns / DUR_MS));
	if (t->req.timeout_ns > 0)
		SET(t->easy, CURLOPT_TIMEOUT_MS, (long)(t->req.timeout_ns / DUR_MS) + 1);
}

static void add_easy(struct http *h, struct transfer *t)
{
	if (curl_easy_setopt(t->easy, CURLOPT_URL, t->url) != CURLE_OK ||
	    curl_multi_add_handle(h->multi, t->easy) != CURLM_OK)
		abort();
}

static void new_easy(struct transfer *t)
{
	t->easy = curl_easy_init();
	if (!t->easy)
		abort();
	SET(t->easy, CURLOPT_PRIVATE, t);
	SET(t->easy, CURLOPT_NOSIGNAL, 1L);
	SET(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
}

/* A proxy will look up the name, maybe as we would: on this machine, say. So it is looked up here first;
 * where that is not possible it is the proxy's alone to know. */
static bool is_for_proxy(const struct http *h, const struct transfer *t)
{
	struct url u = url_split(t->url);

	return !t->req.no_proxy && !t->req.unix_socket && *proxy_for(&h->proxies, &u)->url;
}

static int look_up(struct http *h, struct transfer *t)
{
	new_easy(t);
	t->looking = true;
	SET(t->easy, CURLOPT_PROXY, "");
	SET(t->easy, CURLOPT_CONNECT_ONLY, 1L);
	SET(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)LOOKUP_MS);
	SET(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_look);
	SET(t->easy, CURLOPT_OPENSOCKETDATA, t);
	add_easy(h, t);
	return 0;
}

static int refuse_link_local(struct transfer *t, const char *address)
{
	return transfer_fail(t, EPERM, "refused: it leads to %s, a link-local address", address);
}

/* A new handle each time: its resolver reads resolv.conf again, which may be young at boot. */
static int start_curl(struct http *h, struct transfer *t)
{
	const char *address = is_for_proxy(h, t) ? lookup_find(&h->lookup, t->url, dur_now()) : "";
	const char *ca;
	bool ca_is_dir;

	if (!address)
		return look_up(h, t);
	if (*address)
		return refuse_link_local(t, address);
	ca = find_ca(h, &ca_is_dir);
	if (strncasecmp(t->url, "https:", 6) == 0 && !ca)
		return transfer_fail(t, ENOENT,
				     "no CA certificates on this machine: "
				     "install ca-certificates or set SSL_CERT_FILE");
	new_easy(t);
	if (!t->detail)
		t->detail = arena_alloc(t->arena, CURL_ERROR_SIZE);
	t->detail[0] = '\0';
	SET(t->easy, CURLOPT_ERRORBUFFER, t->detail);
	SET(t->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(t->easy, CURLOPT_USERAGENT, "nodeup");
	SET(t->easy, CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
	SET(t->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(t->easy, CURLOPT_HEADERFUNCTION, on_header);
	SET(t->easy, CURLOPT_HEADERDATA, t);
	SET(t->easy, CURLOPT_WRITEFUNCTION, on_body);
	SET(t->easy, CURLOPT_WRITEDATA, t);
	SET(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	SET(t->easy, CURLOPT_OPENSOCKETDATA, t);
	SET(t->easy, CURLOPT_PREREQFUNCTION, on_connected);
	SET(t->easy, CURLOPT_PREREQDATA, t);
	/* a signature covers the path, and the name of an object may have "..": it stays as it is */
	SET(t->easy, CURLOPT_PATH_AS_IS, (long)(t->scheme != NULL));
	set_method(t);
	set_headers(t);
	set_tls(t, ca, ca_is_dir);
	set_route(h, t);
	add_easy(h, t);
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
	return start_curl(h, t);
}

/* Take t off the list of what runs, and report. */
static void finish(struct http *h, struct transfer *t, int r)
{
	release_easy(h, t);
	http_queue_remove(&h->queue, t);
	transfer_finish(t, r);
}

static int fail_of(const struct transfer *t)
{
	return t->err.errnum > 0 ? -t->err.errnum : -EINVAL;
}

/* What OpenSSL has against the certificate, if it is the time; else 0. */
static long time_verdict(struct transfer *t, CURLcode code)
{
	long verdict = 0;

	if (code != CURLE_PEER_FAILED_VERIFICATION ||
	    curl_easy_getinfo(t->easy, CURLINFO_SSL_VERIFYRESULT, &verdict) != CURLE_OK)
		return 0;
	return verdict == CERT_NOT_YET_VALID || verdict == CERT_HAS_EXPIRED ? verdict : 0;
}

/* Word a transport error: curl's text, and what the system said. */
static int transport_error(struct http *h, struct transfer *t, CURLcode code)
{
	const char *text = t->detail[0] ? t->detail : curl_easy_strerror(code);
	struct url u = url_split(t->url);
	long number = 0;

	/* curl's own words quote the proxy, and its password */
	if (code == CURLE_COULDNT_RESOLVE_PROXY)
		return transfer_fail(t, EPROTO, "%s", proxy_for(&h->proxies, &u)->error);
	if (*t->forbidden && !t->connected)
		return refuse_link_local(t, t->forbidden);
	if (time_verdict(t, code))
		return transfer_wrong_time(t, time_verdict(t, code) == CERT_NOT_YET_VALID, text);
	(void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
	if (code == CURLE_OPERATION_TIMEDOUT)
		number = ETIMEDOUT;
	if (t->content_length > t->bytes && t->bytes + t->discarded > 0 && t->status / 100 == 2)
		return transfer_fail(t, EPIPE, "short body: %lld of %lld bytes came",
				     (long long)t->bytes, (long long)t->content_length);
	if (code == CURLE_PARTIAL_FILE && t->status / 100 == 2)
		return transfer_fail(t, EPIPE, "short body: %lld bytes came, more were announced",
				     (long long)t->bytes);
	if (number == 0 || code == CURLE_OPERATION_TIMEDOUT)
		return transfer_fail(t, number ? (int)number : EPROTO, "%s", text);
	return transfer_fail(t, (int)number, "%s: %s", text, strerror((int)number));
}

static int cancel_error(struct transfer *t)
{
	return t->fn ? -ECANCELED : transfer_fail(t, ECANCELED, "cancelled");
}

/* 1 when the next request of a redirect runs, 0 when there is none, < 0 with t->err. */
static int follow(struct http *h, struct transfer *t)
{
	char *to = NULL;
	int r;

	if (t->req.no_redirect || t->status / 100 != 3 ||
	    (!str_eq(t->req.method, "GET") && !str_eq(t->req.method, "HEAD")))
		return 0;
	if (curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to)
		return 0;
	r = transfer_redirect(t, to);
	if (r < 0)
		return r;
	release_easy(h, t);
	r = start_curl(h, t);
	return r < 0 ? r : 1;
}

static void looked_up(struct http *h, struct transfer *t)
{
	int r;

	release_easy(h, t);
	t->looking = false;
	lookup_note(&h->lookup, t->url, t->forbidden, dur_now());
	t->forbidden[0] = '\0';
	r = start_curl(h, t);
	if (r < 0)
		finish(h, t, r);
}

static void complete(struct http *h, struct transfer *t, CURLcode code)
{
	/* the rest of an error page was refused by ourselves */
	bool enough = code == CURLE_WRITE_ERROR && !t->failed && t->status >= 300;
	int r;

	if (t->failed)
		r = fail_of(t);
	else if (code != CURLE_OK && !enough)
		r = transport_error(h, t, code);
	else
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
		release_easy(h, t);
		aside_push(h->aside, t);
		return;
	}
	finish(h, t, r);
}

/* The scheme has made a request, or judged an answer; or not yet. */
static void back_from_aside(struct http *h, struct transfer *t, bool cancelled)
{
	bool judged;
	int r;

	if (!aside_take(h->aside, t, &r))
		return;
	judged = t->status >= 300;
	if (cancelled) {
		finish(h, t, cancel_error(t));
		return;
	}
	t->failed = false;
	if (r > 0) {
		transfer_reset(t);
		aside_push(h->aside, t);
		return;
	}
	if (r == 0)
		r = start_curl(h, t);
	else if (!judged && t->err.errnum == EAGAIN)
		t->again_ns = AGAIN_NS;
	if (r < 0)
		finish(h, t, r);
}

static void reap(struct http *h)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(h->multi, &left))) {
		struct transfer *t = NULL;
		CURLcode code = msg->data.result;

		if (msg->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &t);
		if (t->looking)
			looked_up(h, t);
		else
			complete(h, t, code);
	}
}

/* One look at something that runs. Returns when to look again. */
static int64_t step(struct http *h, struct transfer *t, bool cancelled, int64_t now)
{
	int64_t again = INT64_MAX;
	int r = 0;

	if (t->aside) {
		back_from_aside(h, t, cancelled);
		return again;
	}
	if (cancelled) {
		finish(h, t, cancel_error(t));
		return again;
	}
	if (!t->easy && t->fd < 0 && !t->fn)
		r = start(h, t);
	if (r < 0) {
		finish(h, t, r);
	} else if (t->fn) {
		if (t->due_ns > now)
			return t->due_ns;
		finish(h, t, 0);
	} else if (t->fd >= 0) {
		r = transfer_step_file(t, h->chunk, BUFFER_SIZE);
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

	/* callbacks start new ones, which wait in `incoming`; only finish() unlinks, and only t */
	for (struct transfer *t = h->queue.active; t; t = next) {
		int64_t again;

		next = t->next;
		again = step(h, t, stop || http_queue_is_cancelled(&h->queue, t), now);
		if (again < due)
			due = again;
	}
	if (due == INT64_MAX || due - now > IDLE_MS * DUR_MS)
		return IDLE_MS;
	return due <= now ? 0 : (int)((due - now) / DUR_MS) + 1;
}

static void *net_main(void *arg)
{
	struct http *h = arg;

	for (;;) {
		bool stop = http_queue_take(&h->queue);
		int running, wait_ms;

		(void)curl_multi_perform(h->multi, &running);
		reap(h);
		/* after curl moved things: what it connected just now has a deadline */
		wait_ms = step_all(h, stop);
		if (stop && http_queue_is_idle(&h->queue))
			return NULL;
		(void)curl_multi_poll(h->multi, NULL, 0, stop ? 0 : wait_ms, NULL);
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
	(void)curl_multi_cleanup(h->multi);
	http_queue_done(&h->queue);
	lookup_done(&h->lookup);
	arena_free(h->arena);
	free(h->chunk);
	free(h);
}

int http_new(const struct http_opts *opts, struct http **ret, struct err *e)
{
	struct http *h = xcalloc(1, sizeof(*h));
	sigset_t all, before;
	int r;

	(void)pthread_once(&curl_once, init_curl);
	h->arena = arena_new_empty();
	copy_opts(h, opts);
	h->chunk = xrealloc(NULL, BUFFER_SIZE);
	http_queue_init(&h->queue);
	h->multi = curl_multi_init();
	if (!h->multi ||
	    curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)SOCKETS_MAX) != CURLM_OK)
		abort();
	/* signals are main's; SIGPIPE of a TLS socket must not be anybody's */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&h->thread, NULL, net_main, h);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0) {
		release(h);
		return err_fail(e, ERR_SYSTEM, r, "start the network thread: %s", strerror(r));
	}
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	http_queue_stop(&h->queue);
	(void)curl_multi_wakeup(h->multi);
	(void)pthread_join(h->thread, NULL);
	release(h);
}

static uint64_t enqueue(struct http *h, struct transfer *t)
{
	uint64_t id = http_queue_put(&h->queue, t);

	(void)curl_multi_wakeup(h->multi);
	return id;
}

static void wake(void *arg)
{
	struct http *h = arg;

	(void)curl_multi_wakeup(h->multi);
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

uint64_t http_start(struct http *h, const struct http_req *req)
{
	struct strv rewrites;

	(void)pthread_mutex_lock(&h->queue.lock);
	rewrites = h->opts.rewrites;
	(void)pthread_mutex_unlock(&h->queue.lock);
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
	(void)curl_multi_wakeup(h->multi);
}

bool http_is_net_thread(const struct http *h)
{
	return pthread_equal(pthread_self(), h->thread);
}
