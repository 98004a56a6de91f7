#include "assets/http/curl.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "assets/http/tls.h"
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"

enum {
	/* each transfer has a buffer, and all buffers may be full at once */
	BUFFER_SIZE = 384 * 1024,
	WINDOW = 512 * 1024,
	LOOKUP_MS = 3 * 1000,
	/* OpenSSL's verdicts on certificates (X509_V_ERR_...) */
	CERT_NOT_YET_VALID = 9,
	CERT_HAS_EXPIRED = 10,
};

struct http_curl {
	CURLM *multi;
	CURLSH *share; /* shares TLS sessions between requests: each request has a new handle, which has
				   * no session yet */
	struct http_trust *trust; /* NULL: so far no request was verified by our own roots */
	size_t handles;           /* handles in use */
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
}

/* Aborts only for lack of memory: the linked libcurl knows all these options. */
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

/* Returns the socket that connected: the one with this local port. curl reports nothing else about the socket until
 * the transfer ends. */
static int find_socket(const struct transfer *t, int local_port)
{
	for (size_t i = 0; i < t->n_sockets && i < ARRAY_LEN(t->sockets); i++) {
		union {
			struct sockaddr any;
			struct sockaddr_in v4;
			struct sockaddr_in6 v6;
		} own = { 0 };
		socklen_t size = sizeof(own);

		if (getsockname(t->sockets[i], &own.any, &size) < 0)
			continue;
		if ((own.any.sa_family == AF_INET && ntohs(own.v4.sin_port) == local_port) ||
		    (own.any.sa_family == AF_INET6 && ntohs(own.v6.sin6_port) == local_port))
			return t->sockets[i];
	}
	return -1;
}

/* Widens the receive window. With SO_RCVLOWAT the kernel makes room for twice as many bytes and still adapts the
 * size itself; SO_RCVBUF would end that (tcp_set_rcvlowat, Linux 4.18). With the usual 64 KiB each connection would
 * begin with a dozen small pieces. Called only after connecting: an older kernel would take the value for the
 * largest size it may offer. */
static void widen_window(int fd)
{
	static const int room = WINDOW, one = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &room, sizeof(room)) == 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
}

/* curl looks names up itself, so each address is checked here before it is tried. */
static curl_socket_t on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *peer)
{
	struct transfer *t = arg;
	char shown[URL_HOST_MAX];
	int fd;

	(void)purpose;
	if (url_peer_is_link_local(&peer->addr, shown) && (!t->req.link_local || t->redirects)) {
		(void)print_to(t->forbidden, sizeof(t->forbidden), "%s", shown);
		return CURL_SOCKET_BAD;
	}
	for (const char *const *address = t->req.nowhere; address && *address; address++)
		if (str_eq(*address, shown)) {
			t->is_nowhere = true;
			return CURL_SOCKET_BAD;
		}
	fd = socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
	if (fd >= 0)
		t->sockets[t->n_sockets++ % ARRAY_LEN(t->sockets)] = fd;
	return fd;
}

/* Checks addresses of a name that is only looked up; connects to nothing. */
static curl_socket_t on_look(void *arg, curlsocktype purpose, struct curl_sockaddr *peer)
{
	struct transfer *t = arg;
	char shown[URL_HOST_MAX];

	(void)purpose;
	if (url_peer_is_link_local(&peer->addr, shown))
		(void)print_to(t->forbidden, sizeof(t->forbidden), "%s", shown);
	return CURL_SOCKET_BAD;
}

static int on_connected(void *arg, char *ip, char *local_ip, int port, int local_port)
{
	struct transfer *t = arg;

	(void)ip;
	(void)local_ip;
	(void)port;
	t->connected = true;
	t->watch_ns = dur_now();
	/* the socket of a kept connection is not found here; its window was widened when it was new */
	widen_window(find_socket(t, local_port));
	return CURL_PREREQFUNC_OK;
}

void http_curl_release(struct http_curl *c, struct transfer *t)
{
	if (!t->easy)
		return;
	(void)curl_multi_remove_handle(c->multi, t->easy);
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->header_list);
	curl_slist_free_all(t->connect_list);
	t->easy = t->header_list = t->connect_list = NULL;
	t->n_sockets = 0;
	c->handles--;
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
	/* without these headers, curl would wait a round trip before it sends a body, and call every body a form */
	add_header(t, "Expect:");
	if (!has_type)
		add_header(t, "Content-Type:");
	SET(t->easy, CURLOPT_HTTPHEADER, (struct curl_slist *)t->header_list);
}

static CURLcode on_tls(CURL *easy, void *ssl_ctx, void *trust)
{
	(void)easy;
	http_tls_arm(ssl_ctx, trust);
	return CURLE_OK;
}

static void set_blob(struct transfer *t, CURLoption option, const char *text)
{
	struct curl_blob blob = { (void *)text, text ? strlen(text) : 0, CURL_BLOB_COPY };

	SET(t->easy, option, text ? &blob : NULL);
}

static void set_tls(struct http_curl *c, struct transfer *t, const struct http_route *route)
{
	const struct http_ca *ca = &route->ca;
	const bool ours = ca->roots || (ca->bundle && ca->folder);
	const char *file = ours ? NULL : ca->bundle;
	const char *dir = ours ? NULL : ca->folder;

	/* makes the trust only once: roots that were given or found stay */
	if (ours && !c->trust)
		c->trust = ca->roots ? http_trust_of(ca->roots)
				     : http_trust_new(ca->bundle, ca->folder);
	SET(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(t->easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(t->easy, CURLOPT_SSL_CTX_FUNCTION, on_tls);
	SET(t->easy, CURLOPT_SSL_CTX_DATA, ours ? c->trust : NULL);
	/* curl caches its store by the file's name; without a name curl would use a store that it cached for other
	 * roots */
	if (!file)
		SET(t->easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
	/* without these options curl would look for CAs where its build machine keeps them */
	SET(t->easy, CURLOPT_CAINFO, file);
	SET(t->easy, CURLOPT_CAPATH, dir);
	SET(t->easy, CURLOPT_PROXY_CAINFO, file);
	SET(t->easy, CURLOPT_PROXY_CAPATH, dir);
	set_blob(t, CURLOPT_SSLCERT_BLOB, route->cert);
	set_blob(t, CURLOPT_SSLKEY_BLOB, route->key);
}

static void set_route(struct transfer *t, const struct http_route *route)
{
	/* never NULL, which would make curl read the environment itself */
	SET(t->easy, CURLOPT_PROXY, route->proxy);
	SET(t->easy, CURLOPT_NOPROXY, route->no_proxy);
	if (t->req.unix_socket)
		SET(t->easy, CURLOPT_UNIX_SOCKET_PATH, t->req.unix_socket);
	if (t->req.connect_to) {
		t->connect_list =
			curl_slist_append(NULL, arena_printf(t->arena, "::%s", t->req.connect_to));
		if (!t->connect_list)
			abort();
		SET(t->easy, CURLOPT_CONNECT_TO, (struct curl_slist *)t->connect_list);
	}
	SET(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(route->connect_timeout_ns / DUR_MS));
	if (t->req.timeout_ns > 0)
		SET(t->easy, CURLOPT_TIMEOUT_MS, (long)(t->req.timeout_ns / DUR_MS) + 1);
}

static void add_easy(struct http_curl *c, struct transfer *t)
{
	if (curl_easy_setopt(t->easy, CURLOPT_URL, t->url) != CURLE_OK ||
	    curl_multi_add_handle(c->multi, t->easy) != CURLM_OK)
		abort();
	c->handles++;
}

static void new_easy(const struct http_curl *c, struct transfer *t)
{
	t->easy = curl_easy_init();
	if (!t->easy)
		abort();
	SET(t->easy, CURLOPT_SHARE, c->share);
	SET(t->easy, CURLOPT_PRIVATE, t);
	SET(t->easy, CURLOPT_NOSIGNAL, 1L);
	SET(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
}

void http_curl_look_up(struct http_curl *c, struct transfer *t)
{
	new_easy(c, t);
	t->looking = true;
	SET(t->easy, CURLOPT_PROXY, "");
	SET(t->easy, CURLOPT_CONNECT_ONLY, 1L);
	SET(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)LOOKUP_MS);
	SET(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_look);
	SET(t->easy, CURLOPT_OPENSOCKETDATA, t);
	add_easy(c, t);
}

/* Starts with a new handle each time: its resolver then reads resolv.conf anew, which may have been written only
 * just now at boot. */
void http_curl_start(struct http_curl *c, struct transfer *t, const struct http_route *route)
{
	new_easy(c, t);
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
	/* the path must not change: a signature covers it, and an object's name may hold ".." */
	SET(t->easy, CURLOPT_PATH_AS_IS, (long)(t->scheme != NULL));
	set_method(t);
	set_headers(t);
	set_tls(c, t, route);
	set_route(t, route);
	add_easy(c, t);
}

/* Returns OpenSSL's objection to the certificate of the server or the proxy; 0: none. */
static long tls_verdict(struct transfer *t, int code)
{
	long verdict = 0;

	if (code != CURLE_PEER_FAILED_VERIFICATION)
		return 0;
	(void)curl_easy_getinfo(t->easy, CURLINFO_SSL_VERIFYRESULT, &verdict);
	if (verdict == 0)
		(void)curl_easy_getinfo(t->easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &verdict);
	return verdict;
}

static int fail_tls(struct transfer *t, long verdict, const char *text)
{
	int r;

	if (verdict == HTTP_TLS_NO_BUNDLE)
		text = "the CA certificates of this machine cannot be read";
	if (verdict == CERT_NOT_YET_VALID || verdict == CERT_HAS_EXPIRED)
		return transfer_wrong_time(t, verdict == CERT_NOT_YET_VALID, text);
	if (verdict == HTTP_TLS_NAMELESS)
		r = transfer_fail(t, EPROTO,
				  "its certificate names no host: a common name does not count");
	else
		r = transfer_fail(t, EPROTO, "%s", text);
	err_note(
		&t->err, "do",
		verdict == HTTP_TLS_NAMELESS
			? "give the server a certificate with a subjectAltName"
			: "if the server is the right one: name its CA by caBundle or SSL_CERT_FILE");
	return r;
}

int http_curl_verdict(struct transfer *t, int code, const char *proxy_error)
{
	const char *text = t->detail[0] ? t->detail : curl_easy_strerror((CURLcode)code);
	/* true: this program refused the rest of an error page */
	bool enough = code == CURLE_WRITE_ERROR && t->status > 0 && t->status / 100 != 2;
	long number = 0;

	if (code == CURLE_OK || enough)
		return 0;
	/* curl's own message quotes the proxy with its password */
	if (code == CURLE_COULDNT_RESOLVE_PROXY)
		return transfer_fail(t, EPROTO, "%s", proxy_error);
	if (t->is_nowhere && !t->connected)
		return transfer_fail(t, HTTP_NO_NAME,
				     "the name leads to an address that stands for none");
	if (*t->forbidden && !t->connected)
		return transfer_refuse_link_local(t, t->forbidden);
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return fail_tls(t, tls_verdict(t, code), text);
	/* a header line was longer than curl's buffer can grow; curl's own message would name only its buffers */
	if (code == CURLE_OUT_OF_MEMORY)
		return transfer_fail(t, EFBIG, "too many or too long headers in the answer");
	(void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
	if (code == CURLE_OPERATION_TIMEDOUT)
		number = ETIMEDOUT;
	if (t->content_length > t->bytes && t->bytes + t->discarded > 0 && t->status / 100 == 2)
		return transfer_fail(t, EPIPE, "short body: %lld of %lld bytes came",
				     (long long)t->bytes, (long long)t->content_length);
	if (code == CURLE_PARTIAL_FILE && t->status / 100 == 2)
		return transfer_fail(t, EPIPE, "short body: %lld bytes came, more were announced",
				     (long long)t->bytes);
	if (code == CURLE_COULDNT_RESOLVE_HOST)
		(void)transfer_fail(t, HTTP_NO_NAME, "%s", text);
	else if (number == 0 || code == CURLE_OPERATION_TIMEDOUT)
		(void)transfer_fail(t, number ? (int)number : EPROTO, "%s", text);
	else
		(void)transfer_fail(t, (int)number, "%s: %s", text, strerror((int)number));
	if (code == CURLE_COULDNT_RESOLVE_HOST)
		err_note(&t->err, "do", "look at /etc/resolv.conf, the VPC's DNS and the name");
	else if (!t->req.link_local && (code == CURLE_COULDNT_CONNECT ||
					(code == CURLE_OPERATION_TIMEDOUT && !t->connected)))
		err_note(&t->err, "do", "look at the port, security groups, routes and a proxy%s",
			 t->req.has_mirrors ? "; or name a mirror" : "");
	return err_code(&t->err);
}

struct http_curl *http_curl_new(void)
{
	struct http_curl *c = xcalloc(1, sizeof(*c));

	(void)pthread_once(&curl_once, init_curl);
	c->share = curl_share_init();
	if (!c->share ||
	    curl_share_setopt(c->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != CURLSHE_OK)
		abort();
	c->multi = curl_multi_init();
	/* curl closes a kept connection before it makes a new connection. curl's limit on kept connections applies
	 * only when a connection is put back */
	if (!c->multi || curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
					   (long)HTTP_SOCKETS_MAX) != CURLM_OK)
		abort();
	return c;
}

void http_curl_free(struct http_curl *c)
{
	(void)curl_multi_cleanup(c->multi);
	(void)curl_share_cleanup(c->share);
	http_trust_free(c->trust);
	free(c);
}

bool http_curl_has_room(const struct http_curl *c)
{
	return c->handles < HTTP_REQUESTS_MAX;
}

void http_curl_wake(struct http_curl *c)
{
	(void)curl_multi_wakeup(c->multi);
}

void http_curl_move(struct http_curl *c)
{
	int running;

	(void)curl_multi_perform(c->multi, &running);
}

void http_curl_wait(struct http_curl *c, int most_ms)
{
	(void)curl_multi_poll(c->multi, NULL, 0, most_ms, NULL);
}

struct transfer *http_curl_take(struct http_curl *c, int *ret_code)
{
	struct transfer *t = NULL;
	CURLMsg *msg;
	int left;

	do
		msg = curl_multi_info_read(c->multi, &left);
	while (msg && msg->msg != CURLMSG_DONE);
	if (!msg)
		return NULL;
	*ret_code = (int)msg->data.result;
	(void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &t);
	return t;
}

const char *http_curl_redirect(const struct transfer *t)
{
	char *to = NULL;

	return curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &to) == CURLE_OK ? to : NULL;
}
