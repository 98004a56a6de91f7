#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
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
	char *ca;
};

static int setup(void **state)
{
	static const char *const names[] = {
		"SSL_CERT_FILE", "AWS_CA_BUNDLE", "http_proxy", "https_proxy", "HTTP_PROXY",
		"HTTPS_PROXY",   "all_proxy",     "ALL_PROXY",  "no_proxy",    "NO_PROXY",
	};
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	/* whatever the host of the tests has set */
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(unsetenv(names[i]), 0);
	fx->o = origin_start();
	fx->a = arena_new_empty();
	fx->root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fx->root_fd >= 0);
	fx->ca = xasprintf("%s/cert.pem", fx->o->dir);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	origin_stop(fx->o);
	arena_free(fx->a);
	(void)close(fx->root_fd);
	free(fx->ca);
	free(fx);
	return 0;
}

static struct http_opts options(const struct fixture *fx)
{
	return (struct http_opts){ .root_fd = fx->root_fd, .ca_file = fx->ca };
}

/* What one blocking GET on an engine of its own gave. */
struct got {
	int r, status;
	struct buf b;
	struct err e;
};

static struct got get_with(const struct http_opts *opts, const struct http_req *req, size_t max)
{
	struct got g = { .b = BUF_INIT(max) };
	struct http *h;

	assert_int_equal(http_new(opts, &h, &g.e), 0);
	g.r = http_get(h, req, &g.b, &g.status, &g.e);
	http_free(h);
	return g;
}

static struct got get(const struct fixture *fx, const char *url)
{
	struct http_opts opts = options(fx);

	return get_with(&opts, &(struct http_req){ .url = url }, BODY);
}

/* The URL must fail with this error number, and the message must say so much. */
static void must_fail(struct got g, int errnum, const char *says)
{
	if (g.r >= 0 || g.e.kind != ERR_NET || g.e.errnum != errnum || !strstr(g.e.msg, says))
		fail_msg("r %d kind %d errnum %d '%s', wanted errnum %d and '%s'", g.r, g.e.kind,
			 g.e.errnum, g.e.msg, errnum, says);
	if (strstr(g.e.msg, "hunter2"))
		fail_msg("leaks: %s", g.e.msg);
	buf_done(&g.b);
}

static void must_be_body(struct got g, size_t n)
{
	autofree unsigned char *body = origin_body(n);

	if (g.r < 0)
		fail_msg("%s", g.e.msg);
	assert_int_equal(g.status, 200);
	assert_int_equal(g.b.len, n);
	assert_memory_equal(g.b.data, body, n);
	buf_done(&g.b);
}

static char *ask(const struct fixture *fx, const char *what)
{
	autofree char *url = origin_url(fx->o, "/__%s", what);
	struct got g = get(fx, url);

	assert_int_equal(g.r, 0);
	return buf_take(&g.b);
}

#define URL(...) arena_take(fx->a, origin_url(fx->o, __VA_ARGS__))
#define TLS_URL(...) arena_take(fx->a, origin_tls_url(fx->o, __VA_ARGS__))

static const char *arena_take(struct arena *a, char *s)
{
	const char *copy = arena_str(a, s);

	free(s);
	return copy;
}

static void test_get(void **state)
{
	struct fixture *fx = *state;

	must_be_body(get(fx, URL("/kubelet")), BODY);
	must_be_body(get(fx, URL("/~nolength/kubelet")), BODY);
	must_be_body(get(fx, URL("/~chunked/kubelet")), BODY);
	must_be_body(get(fx, URL("/~empty/kubelet")), 0);
	must_be_body(get(fx, TLS_URL("/kubelet?size=10")), 10);
}

static void test_status_is_an_error(void **state)
{
	struct fixture *fx = *state;
	struct got g = get(fx, URL("/x?status=404&sig=hunter2"));

	assert_int_equal(g.status, 404);
	assert_int_equal(g.b.len, 0); /* an error page is not a document */
	must_fail(g, ENOENT, "/x': HTTP status 404");
	must_fail(get(fx, URL("/x?status=403")), EACCES, "HTTP status 403");
	must_fail(get(fx, URL("/x?status=401")), EACCES, "HTTP status 401");
	must_fail(get(fx, URL("/x?status=503")), EAGAIN, "HTTP status 503");
	must_fail(get(fx, URL("/x?status=304")), EPROTO, "HTTP status 304");
}

static void test_broken_bodies(void **state)
{
	struct fixture *fx = *state;
	autofree char *port = ask(fx, "refused");

	must_fail(get(fx, URL("/x?truncate=1000")), EPIPE, "short body: 1000 of 65536 bytes");
	must_fail(get(fx, URL("/x?truncate=0")), EPIPE, "short body: 0 bytes came");
	must_fail(get(fx, URL("/x?reset=1000")), EPIPE, "short body: 1000 of 65536 bytes");
	must_fail(get(fx, URL("/x?chunked&truncate=1000")), EPIPE, "short body: 1000 bytes came");
	must_fail(get(fx, URL("/x?close")), EPROTO, "mpty reply");
	must_fail(get(fx, arena_printf(fx->a, "http://u:hunter2@127.0.0.1:%s/x?s=hunter2", port)),
		  ECONNREFUSED, "Connection refused");
	must_fail(get(fx, "http://no-such-host.invalid/x"), HTTP_NO_NAME, "no-such-host.invalid");
}

static void test_limits(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct http_req announced = { .url = URL("/x?size=101") };
	struct http_req silent = { .url = URL("/x?size=101&chunked") };
	struct http_req nothing = { .url = URL("/x?empty") };

	must_fail(get_with(&opts, &announced, 100), EFBIG, "101 bytes, more than the 100");
	must_fail(get_with(&opts, &silent, 100), EFBIG, "more than the 100 bytes");
	must_be_body(get_with(&opts, &announced, 101), 101);
	must_be_body(get_with(&opts, &nothing, 0), 0);
	must_fail(get(fx, URL("/x?big_headers")), EFBIG, "headers");
	/* each answer's are few, but there is no end of answers: curl counts those of all */
	must_be_body(get(fx, URL("/x?early=100")), BODY);
	must_fail(get(fx, URL("/x?early=1000000")), EPROTO, "headers");
}

static void test_timeouts(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct http_req slow = { .url = URL("/x?delay=5"), .timeout_ns = DUR_SEC / 4 };

	opts.header_timeout_ns = opts.stall_timeout_ns = DUR_SEC / 2;
	must_fail(get_with(&opts, &(struct http_req){ .url = URL("/x?hang") }, BODY), ETIMEDOUT,
		  "connected, but no answer within 0.5 s");
	must_fail(get_with(&opts, &(struct http_req){ .url = URL("/x?stall=1000") }, BODY),
		  ETIMEDOUT, "in all 1000 of 65536 bytes");
	must_fail(get_with(&opts, &(struct http_req){ .url = URL("/x?rate=200") }, BODY), ETIMEDOUT,
		  "stalled: ");
	/* slow, but above 1 KiB/s: takes four windows and may */
	must_be_body(get_with(&opts, &(struct http_req){ .url = URL("/x?rate=10000&size=20000") },
			      BODY),
		     20000);
	opts = options(fx);
	must_fail(get_with(&opts, &slow, BODY), ETIMEDOUT, "timed out");
}

static void on_silence(void *arg)
{
	(*(int *)arg)++;
}

/* How often a request was told of as silent after 0.3 s. */
static int silences(const struct fixture *fx, const char *url)
{
	struct http_opts opts = options(fx);
	int n = 0;

	must_be_body(get_with(&opts,
			      &(struct http_req){ .url = url,
						  .silent = on_silence,
						  .silent_arg = &n,
						  .silent_ns = dur_now() + 300 * DUR_MS },
			      BODY),
		     600);
	return n;
}

static void test_silence(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(silences(fx, URL("/x?size=600&delay=0.6")), 1);
	assert_int_equal(silences(fx, URL("/x?size=600&rate=1000")), 0);
	assert_int_equal(silences(fx, URL("/x?size=600")), 0);
}

static void test_redirects(void **state)
{
	struct fixture *fx = *state;
	const char *plain = URL("/plain"), *tls = TLS_URL("/secure");

	must_be_body(get(fx, URL("/x?hops=1&redirect_code=301&redirect=/y")), BODY);
	must_be_body(get(fx, URL("/~hops=5/five")), BODY);
	must_fail(get(fx, URL("/~hops=6/six")), ELOOP, "more than 5 times");
	must_fail(get(fx, URL("/x?redirect=loop&sig=hunter2")), ELOOP, "more than 5 times");
	must_be_body(get(fx, arena_printf(fx->a, "%s?redirect=%s", URL("/up"), tls)), BODY);
	must_fail(get(fx, arena_printf(fx->a, "%s?redirect=%s", TLS_URL("/down"), plain)), EPERM,
		  "refused a redirect from https");
	must_fail(get(fx, URL("/x?redirect=file:///etc/passwd")), EPERM,
		  "refused a redirect to 'file:");
	must_fail(get(fx, URL("/x?redirect=http://169.254.169.254/latest")), EPERM, "link-local");
}

/* However it is spelt, whatever leads there: looked at when the connection would be made. */
static void test_link_local_is_no_server(void **state)
{
	static const char *const urls[] = {
		"http://169.254.169.254/x",     "http://2852039166/x",
		"http://0xa9fea9fe/x",          "http://[::ffff:169.254.169.254]/x",
		"http://[fd00:ec2::254]/x",     "http://[fe80::1]/x",
		"http://0251.0376.0251.0376/x",
	};
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	const char *hop = arena_printf(fx->a, "%s", URL("/x?redirect=http://2852039166/latest"));

	for (size_t i = 0; i < ARRAY_LEN(urls); i++)
		must_fail(get(fx, urls[i]), EPERM, "a link-local address");
	must_fail(get(fx, hop), EPERM, "link-local");
	/* who may go there may not be led there */
	must_fail(get_with(&opts, &(struct http_req){ .url = hop, .link_local = true }, BODY),
		  EPERM, "link-local");
}

static void test_secrets_stay_with_their_origin(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	const char *headers[] = { "Authorization: hunter2", "X-Token: hunter2", "Accept: text/x" };
	struct http_req req = { .headers = { headers, 3 } };
	autofree char *near = NULL, *far = NULL, *mirror = NULL;
	const char *rewrite;

	req.url = URL("/a?redirect=/near");
	must_be_body(get_with(&opts, &req, BODY), BODY);
	near = ask(fx, "headers?path=/near");
	assert_non_null(strstr(near, "x-token: hunter2"));

	req.url = arena_printf(fx->a, "%s?redirect=%s", URL("/b"), TLS_URL("/far"));
	must_be_body(get_with(&opts, &req, BODY), BODY);
	far = ask(fx, "headers?path=/far");
	assert_null(strstr(far, "hunter2"));
	assert_non_null(strstr(far, "accept: text/x"));

	/* a mirror that stands in for a dead host is not that host */
	headers[1] = "X-Amz-Security-Token: hunter2";
	rewrite = arena_printf(fx->a, "https://bucket.invalid/=%s", URL("/mirror/"));
	opts.rewrites = (struct strv){ &rewrite, 1 };
	req.url = "https://bucket.invalid/key";
	must_be_body(get_with(&opts, &req, BODY), BODY);
	mirror = ask(fx, "headers?path=/mirror/key");
	assert_null(strstr(mirror, "hunter2"));
	assert_non_null(strstr(mirror, "accept: text/x"));
}

static void test_tls_is_verified(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	struct http_req req = { .url = TLS_URL("/x") };
	char dir[64];

	opts.ca_file = NULL;
	must_fail(get_with(&opts, &req, BODY), EPROTO, "certificate");

	/* a machine without any roots says so, and not that the server is bad */
	tmp_make(dir);
	opts.root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must_fail(get_with(&opts, &req, BODY), ENOENT, "no CA certificates");
	assert_int_equal(setenv("SSL_CERT_FILE", fx->ca, 1), 0);
	must_be_body(get_with(&opts, &req, BODY), BODY);
	assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
	(void)close(opts.root_fd);
	tmp_remove(dir);
}

static void test_find_ca(void **state)
{
	static const char hashed[] = "/etc/pki/ca-trust/extracted/pem/directory-hash";
	static const struct {
		const char *file; /* what the machine has */
		struct http_ca found;
	} cases[] = {
		{ "/etc/ssl/certs/ca-certificates.crt",
		  { "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs" } },
		{ "/etc/pki/tls/certs/ca-bundle.crt",
		  { "/etc/pki/tls/certs/ca-bundle.crt", hashed } },
		{ "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		  { "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", hashed } },
		{ "/etc/ssl/ca-bundle.pem", { "/etc/ssl/ca-bundle.pem", NULL } },
		{ "/var/lib/ca-certificates/ca-bundle.pem",
		  { "/var/lib/ca-certificates/ca-bundle.pem", NULL } },
		{ "/etc/ssl/cert.pem", { "/etc/ssl/cert.pem", NULL } },
		{ "/etc/ssl/certs/0.pem", { NULL, "/etc/ssl/certs" } },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_ca found;
		char dir[64];
		int fd;

		tmp_make(dir);
		tmp_write(dir, cases[i].file + 1, "pem", 3);
		if (cases[i].found.folder == hashed)
			tmp_write(dir, "etc/pki/ca-trust/extracted/pem/directory-hash/0.0", "pem",
				  3);
		if (cases[i].found.bundle) /* broken and empty ones do not count */
			tmp_write(dir, "etc/pki/tls/cacert.pem", "", 0);
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		found = http_find_ca(fx->a, fd);
		assert_true(str_eq(found.bundle, cases[i].found.bundle));
		assert_true(str_eq(found.folder, cases[i].found.folder));
		(void)close(fd);
		tmp_remove(dir);
	}
}

static void test_find_ca_by_environment(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(setenv("AWS_CA_BUNDLE", "/aws.pem", 1), 0);
	assert_string_equal(http_find_ca(fx->a, fx->root_fd).bundle, "/aws.pem");
	assert_int_equal(setenv("SSL_CERT_FILE", "/ssl.pem", 1), 0);
	assert_string_equal(http_find_ca(fx->a, fx->root_fd).bundle, "/ssl.pem");
	assert_null(http_find_ca(fx->a, fx->root_fd).folder);
	assert_int_equal(unsetenv("AWS_CA_BUNDLE"), 0);
	assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
}

/* The origin as the proxy: it answers any absolute URL and counts it whole. */
static void test_proxy(void **state)
{
	static const char *const names[] = { "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY" };
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	const char *proxy = URL("%s", ""), *direct = URL("/direct");
	autofree char *count = NULL;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(setenv(names[i], proxy, 1), 0);
		must_be_body(get(fx, "http://elsewhere.invalid/x"), BODY);
		assert_int_equal(unsetenv(names[i]), 0);
	}
	count = ask(fx, "count?path=http://elsewhere.invalid/x");
	assert_string_equal(count, "4");

	/* a dead proxy shows who does not use it */
	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	must_fail(get(fx, direct), ECONNREFUSED, "refused");
	must_be_body(get_with(&opts, &(struct http_req){ .url = direct, .no_proxy = true }, BODY),
		     BODY);
	assert_int_equal(setenv("no_proxy", "10.0.0.0/8,127.0.0.0/8", 1), 0);
	must_be_body(get(fx, direct), BODY);
	assert_int_equal(setenv("no_proxy", "10.0.0.0/8, 127.0.0.1", 1), 0);
	must_be_body(get(fx, direct), BODY);
	assert_int_equal(setenv("no_proxy", "10.0.0.0/8", 1), 0);
	must_fail(get(fx, direct), ECONNREFUSED, "refused");
	assert_int_equal(unsetenv("no_proxy"), 0);
	assert_int_equal(setenv("NO_PROXY", "127.0.0.0/8", 1), 0);
	must_be_body(get(fx, direct), BODY);
	assert_int_equal(unsetenv("NO_PROXY"), 0);
	assert_int_equal(unsetenv("http_proxy"), 0);
}

/* A login in a proxy's URL is not ours to show, whatever is wrong with the URL. */
static void test_proxy_that_cannot_be(void **state)
{
	static const struct {
		const char *url, *says;
	} bad[] = {
		{ "http://u:hunter2/a@127.0.0.1:1", "%2F" },
		{ "http://u:a#hunter2@127.0.0.1:1", "'...@127.0.0.1:1' of http_proxy" },
		{ "http://u:a?hunter2@127.0.0.1:1", "%3F" },
		{ "u:hunter2/a@127.0.0.1:1", "%2F" },
		{ "http://u:hunter2@a@127.0.0.1:1", "%40" },
		{ "http://u:a hunter2@127.0.0.1:1", "blank" },
		{ "http://u:a\\hunter2@127.0.0.1:1", "%XX" },
		{ "http://u:hunter2", "host[:port]" },
		{ "http://u:hunter2@", "host[:port]" },
		{ "http://u:hunter2@127.0.0.1:99999", "host[:port]" },
		{ "ftp://u:hunter2@127.0.0.1:1", "scheme" },
		{ "http://u:hunter2@no-such-host.invalid:1",
		  "'http://no-such-host.invalid:1' of http_proxy leads to no address" },
		{ "http://u:hunter2@%31:1", "host[:port]" },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(setenv("http_proxy", bad[i].url, 1), 0);
		must_fail(get(fx, "http://elsewhere.invalid/x"), EPROTO, bad[i].says);
	}
	/* who needs no proxy does not mind */
	assert_int_equal(setenv("no_proxy", "127.0.0.1", 1), 0);
	must_be_body(get(fx, URL("/beside")), BODY);
	assert_int_equal(unsetenv("no_proxy"), 0);
	assert_int_equal(unsetenv("http_proxy"), 0);
}

/* All that may be written: without a scheme, with a login, a path, in brackets. */
static void test_proxy_that_can_be(void **state)
{
	static const struct {
		const char *before, *after;
	} forms[] = { { "", "" },
		      { "u:hunter2@", "" },
		      { "HTTP://u:p%2Fw@", "/" },
		      { "http://", "/x" },
		      { " http://u@", " " } };
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		autofree char *url =
			xasprintf("%s127.0.0.1:%d%s", forms[i].before, fx->o->port, forms[i].after);

		assert_int_equal(setenv("http_proxy", url, 1), 0);
		must_be_body(get(fx, "http://elsewhere.invalid/y"), BODY);
	}
	assert_int_equal(setenv("http_proxy", "http://u:hunter2@[::1]:1/", 1), 0);
	must_fail(get(fx, "http://elsewhere.invalid/y"), ECONNREFUSED, "refused");
	assert_int_equal(unsetenv("http_proxy"), 0);
}

static void test_methods(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	static const struct {
		const char *method, *body, *answer;
	} cases[] = {
		{ "PUT", NULL, "PUT\n" },
		{ "POST", "hello", "POST\nhello" },
		{ "DELETE", NULL, "DELETE\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_req req = { .method = cases[i].method,
					.url = URL("/__echo"),
					.body = cases[i].body };
		struct got g;

		req.body_len = cases[i].body ? strlen(cases[i].body) : 0;
		g = get_with(&opts, &req, BODY);
		assert_int_equal(g.r, 0);
		assert_string_equal(buf_str(&g.b), cases[i].answer);
		buf_done(&g.b);
	}
	must_be_body(get_with(&opts, &(struct http_req){ .method = "HEAD", .url = URL("/x") }, 0),
		     0);
	/* a redirected PUT would be a PUT somewhere else */
	must_fail(get_with(&opts,
			   &(struct http_req){ .method = "PUT", .url = URL("/x?redirect=/y") }, 0),
		  EPROTO, "HTTP status 302");
}

static void test_unix_socket(void **state)
{
	struct fixture *fx = *state;
	struct http_opts opts = options(fx);
	autofree char *sock = xasprintf("%s/sock", fx->o->dir);
	struct http_req req = { .url = "http://docker/v1.41/images/json", .unix_socket = sock };
	struct http_req post = { .method = "POST",
				 .url = "http://docker/__echo",
				 .unix_socket = sock,
				 .body = "{}",
				 .body_len = 2 };
	struct got g;

	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	must_be_body(get_with(&opts, &req, BODY), BODY);
	assert_int_equal(unsetenv("http_proxy"), 0);
	g = get_with(&opts, &post, BODY);
	assert_string_equal(buf_str(&g.b), "POST\n{}");
	buf_done(&g.b);
	req.unix_socket = "/nonexistent/docker.sock";
	must_fail(get_with(&opts, &req, BODY), ENOENT, "No such file");
}

static void test_file_urls(void **state)
{
	struct fixture *fx = *state;
	autofree unsigned char *body = origin_body(BODY);
	struct http_opts opts = options(fx);
	const char *rewrite;
	char dir[64];

	tmp_make(dir);
	tmp_write(dir, "a b", body, BODY);
	must_be_body(get(fx, arena_printf(fx->a, "file://%s/a%%20b", dir)), BODY);
	must_be_body(get(fx, arena_printf(fx->a, "file://localhost%s/a%%20b", dir)), BODY);
	must_fail(get(fx, arena_printf(fx->a, "file://%s/absent", dir)), ENOENT, "No such file");
	must_fail(get(fx, arena_printf(fx->a, "file://%s", dir)), EINVAL, "not a regular file");
	must_fail(get(fx, "file://elsewhere/x"), EINVAL, "wanted file:///path");
	must_fail(get(fx, "file:///dev/null%00x"), EINVAL, "wanted file:///path");
	must_fail(get(fx, "ftp://a/x"), EINVAL, "wanted an http, https or file URL");

	rewrite = arena_printf(fx->a, "https://k8s.invalid/=file://%s/", dir);
	opts.rewrites = (struct strv){ &rewrite, 1 };
	must_be_body(get_with(&opts, &(struct http_req){ .url = "https://k8s.invalid/a%20b" },
			      BODY),
		     BODY);
	tmp_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_status_is_an_error),
		cmocka_unit_test(test_broken_bodies),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_timeouts),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_redirects),
		cmocka_unit_test(test_link_local_is_no_server),
		cmocka_unit_test(test_secrets_stay_with_their_origin),
		cmocka_unit_test(test_tls_is_verified),
		cmocka_unit_test(test_find_ca),
		cmocka_unit_test(test_find_ca_by_environment),
		cmocka_unit_test(test_proxy),
		cmocka_unit_test(test_proxy_that_cannot_be),
		cmocka_unit_test(test_proxy_that_can_be),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_file_urls),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
