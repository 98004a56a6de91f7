#include "assets/http/transfer.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"

enum {
	ERROR_PAGE_MAX =
		64 *
		1024, /* bytes of a refusal that are read and dropped, so that the connection can be kept */
	ERROR_PAGE_KEPT = 4 * 1024,
	HEADER_LINE_MAX = 16 * 1024,
	STALL_BYTES_PER_S = 1024,
	CODE_MAX = 48,
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

char *transfer_rewrite(struct arena *a, const char *url, const struct strv *rewrites)
{
	for (size_t i = 0; i < rewrites->n; i++) {
		const char *from = rewrites->v[i], *to = strchr(from, '=');

		if (to && to > from && strncmp(url, from, (size_t)(to - from)) == 0)
			return arena_printf(a, "%s%s", to + 1, url + (to - from));
	}
	return arena_str(a, url);
}

static bool starts_like(const char *header, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(header, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* listed true: keeps only the listed headers; false: keeps only the others. */
static void keep_headers(struct transfer *t, const char *const *names, size_t n, bool listed)
{
	struct strv kept = { 0 };

	for (size_t i = 0; i < t->req.headers.n; i++)
		if (starts_like(t->req.headers.v[i], names, n) == listed)
			strv_add(t->arena, &kept, t->req.headers.v[i]);
	t->req.headers = kept;
}

/* Drops a signature if a rewrite leads to another host: the signature was made for the first host. */
static void leave_signature(struct transfer *t, const char *from)
{
	static const char *const signature[] = { "authorization:", "x-amz-" };
	struct url from_url = url_split(from), to_url = url_split(t->url);

	if (!url_same_origin(&from_url, &to_url))
		keep_headers(t, signature, ARRAY_LEN(signature), false);
}

void transfer_made(struct transfer *t, const struct http_made *made)
{
	struct strv own = t->own_headers;

	t->req.headers = (struct strv){ 0 };
	for (size_t i = 0; i < own.n; i++)
		strv_add(t->arena, &t->req.headers, own.v[i]);
	for (size_t i = 0; i < made->headers.n; i++)
		strv_add(t->arena, &t->req.headers, made->headers.v[i]);
	t->url = transfer_rewrite(t->arena, made->url, &t->rewrites);
	leave_signature(t, made->url);
	t->req.no_redirect = true;
	transfer_reset(t);
}

struct transfer *transfer_new(const struct http_req *req, const struct strv *rewrites)
{
	struct transfer *t = xcalloc(1, sizeof(*t));
	struct arena *a = t->arena = arena_new_empty();

	t->fd = -1;
	t->again_ns = -1;
	t->error_page = BUF_INIT(ERROR_PAGE_KEPT);
	t->req = *req;
	t->req.method = arena_str(a, req->method ? req->method : "GET");
	t->req.url = t->url = transfer_rewrite(a, req->url, rewrites);
	t->req.unix_socket = arena_str(a, req->unix_socket);
	t->req.connect_to = arena_str(a, req->connect_to);
	t->req.headers = (struct strv){ 0 };
	for (size_t i = 0; i < req->headers.n; i++)
		strv_add(a, &t->req.headers, arena_str(a, req->headers.v[i]));
	leave_signature(t, req->url);
	t->own_headers = t->req.headers;
	t->rewrites = *rewrites;
	if (req->body)
		t->req.body = arena_strn(a, req->body, req->body_len);
	transfer_reset(t);
	return t;
}

static void free_transfer(struct transfer *t)
{
	cleanup_closep(&t->fd);
	buf_done(&t->error_page);
	arena_free(t->arena);
	free(t);
}

void transfer_reset(struct transfer *t)
{
	t->status = 0;
	t->bytes = t->discarded = 0;
	buf_done(&t->error_page);
	t->content_length = -1;
	t->nheaders = 0;
	t->headers[0] = NULL;
	t->connected = t->answered = t->is_nowhere = false;
	t->forbidden[0] = '\0';
}

/* Notes a cause that may make other requests to this host fail too. A file has no host. */
static void name_cause(struct transfer *t, const char *text)
{
	const struct url u = url_split(t->url);

	if (u.host_n)
		err_cause(&t->err, "%s from %.*s", text, (int)u.authority_n, u.authority);
}

int transfer_fail(struct transfer *t, int errnum, const char *fmt, ...)
{
	char public[URL_PUBLIC_MAX], text[ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)print_va(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->failed = true;
	(void)err_fail(&t->err, ERR_NET, errnum, "%s", text);
	name_cause(t, text);
	return err_wrap(&t->err, "%s '%s'", t->req.method,
			url_public(t->scheme ? t->req.url : t->url, public));
}

int transfer_refuse_link_local(struct transfer *t, const char *address)
{
	return transfer_fail(t, EPERM, "refused: it leads to %s, a link-local address", address);
}

int transfer_wrong_time(struct transfer *t, bool early, const char *text)
{
	time_t now = (time_t)(dur_wall() / DUR_SEC);
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		(void)strftime(date, sizeof(date), "%F %T UTC", &tm);
	return transfer_fail(t, early ? ETIME : EPROTO, "%s; this machine's clock: %s%s", text,
			     date, early ? ", which may not be set yet" : "");
}

/* Turns the line "Content-Length: 5" into "content-length: 5", without its end. */
static char *tidy_header(struct arena *a, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	char *name, *value;

	if (!colon)
		return NULL;
	name = str_trim(a, arena_strn(a, line, (size_t)(colon - line)));
	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	value = str_trim(a, arena_strn(a, colon + 1, n - (size_t)(colon + 1 - line)));
	return arena_printf(a, "%s: %s", name, value);
}

const char *http_header(const char *const *headers, const char *name)
{
	const size_t n = strlen(name);

	for (; headers && *headers; headers++)
		if (strncmp(*headers, name, n) == 0 && (*headers)[n] == ':')
			return *headers + n + 1 + strspn(*headers + n + 1, " ");
	return "";
}

/* Returns the whole text as a decimal number, or -1. */
static int64_t parse_number(const char *text)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	v = strtoll(text, &end, 10);
	return errno == 0 && *end == '\0' ? v : -1;
}

static void begin_response(struct transfer *t, const char *line, size_t n)
{
	const char *space = memchr(line, ' ', n);
	bool connected = t->connected;

	transfer_reset(t);
	t->connected = connected;
	for (size_t i = 1; space && i <= 3 && space + i < line + n; i++)
		if (isdigit((unsigned char)space[i]))
			t->status = t->status * 10 + (space[i] - '0');
}

static int end_of_headers(struct transfer *t)
{
	const char *length = http_header(t->headers, "content-length");

	if (*length && !*http_header(t->headers, "transfer-encoding"))
		t->content_length = parse_number(length);
	if (t->status / 100 == 2 && t->content_length > 0 &&
	    (uint64_t)t->content_length > t->req.max_bytes && !str_eq(t->req.method, "HEAD"))
		return transfer_fail(t, EFBIG,
				     "the body has %lld bytes, more than the %llu allowed",
				     (long long)t->content_length,
				     (unsigned long long)t->req.max_bytes);
	return 0;
}

int transfer_header(struct transfer *t, const char *line, size_t n)
{
	char *header;

	if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
		begin_response(t, line, n);
	if (!t->answered) {
		t->answered = true;
		t->watch_ns = dur_now();
		t->watch_bytes = 0;
	}
	while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
		n--;
	if (n == 0)
		return end_of_headers(t);
	if (n > HEADER_LINE_MAX || t->nheaders == TRANSFER_HEADERS)
		return transfer_fail(t, EFBIG, "too many or too long headers in the answer");
	header = tidy_header(t->arena, line, n);
	if (header) {
		t->headers[t->nheaders++] = header;
		t->headers[t->nheaders] = NULL;
	}
	return 0;
}

/* Returns seconds since 1970, or -1. */
static int64_t parse_date(const char *text)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);

	return end && !*end ? timegm(&tm) : -1;
}

/* Returns the pause in seconds that the server asks for; -1: none. A date is compared with the server's own clock. */
static int64_t retry_after(const struct transfer *t)
{
	const char *text = http_header(t->headers, "retry-after");
	int64_t s = parse_number(text), date, now;

	if (s >= 0)
		return s;
	date = parse_date(text);
	now = parse_date(http_header(t->headers, "date"));
	if (date < 0)
		return -1;
	if (now < 0)
		now = dur_wall() / DUR_SEC;
	return date > now ? date - now : 0;
}

static int64_t retry_after_ns(const struct transfer *t)
{
	int64_t s = retry_after(t);

	if (s < 0)
		return t->again_ns;
	return (s > HTTP_RETRY_AFTER_MAX_S ? HTTP_RETRY_AFTER_MAX_S : s) * DUR_SEC;
}

struct http_result transfer_result(const struct transfer *t)
{
	return (struct http_result){
		.status = t->status,
		.bytes = t->bytes,
		.content_length = t->content_length,
		.retry_after_ns = retry_after_ns(t),
		.headers = t->headers,
		.error_page = buf_str(&t->error_page),
		.error_page_n = t->error_page.len,
	};
}

int transfer_body(struct transfer *t, const char *p, size_t n)
{
	struct err e;
	int r;

	if (t->status / 100 != 2) {
		size_t room = t->error_page.max - t->error_page.len;

		t->discarded += (int64_t)n;
		(void)buf_add(&t->error_page, p, n < room ? n : room);
		return t->discarded > ERROR_PAGE_MAX ? -EFBIG : 0;
	}
	if (t->bytes == 0 && t->req.head) {
		struct http_result res = transfer_result(t);

		t->req.head(t->req.arg, &res);
	}
	t->bytes += (int64_t)n;
	if ((uint64_t)t->bytes > t->req.max_bytes)
		return transfer_fail(t, EFBIG, "the body has more than the %llu bytes allowed",
				     (unsigned long long)t->req.max_bytes);
	if (!t->req.data)
		return 0;
	r = t->req.data(t->req.arg, p, n, &e);
	if (r < 0) {
		t->failed = true;
		t->err = e;
	}
	return r;
}

int transfer_redirect(struct transfer *t, const char *to)
{
	static const char *const portable[] = { "accept:", "range:", "if-range:", "if-none-match:",
						"if-modified-since:" };
	struct url from_url = url_split(t->url), to_url = url_split(to);
	char public[URL_PUBLIC_MAX];

	url_public(to, public);
	if (t->redirects == TRANSFER_REDIRECTS)
		return transfer_fail(t, ELOOP, "redirected more than %d times, last to '%s'",
				     TRANSFER_REDIRECTS, public);
	if (url_has_scheme(&from_url, "https") && !url_has_scheme(&to_url, "https"))
		return transfer_fail(t, EPERM, "refused a redirect from https to '%s'", public);
	if (!url_has_scheme(&to_url, "http") && !url_has_scheme(&to_url, "https"))
		return transfer_fail(t, EPERM, "refused a redirect to '%s'", public);
	/* a server must not lead us to this machine's metadata, nor the metadata service to a server */
	if (url_is_link_local(&to_url) || url_is_link_local(&from_url))
		return transfer_fail(t, EPERM, "refused a redirect to '%s': link-local", public);
	if (!url_host_is_ascii(&to_url))
		return transfer_fail(t, EPERM, "refused a redirect to '%s': its host is not ASCII",
				     public);
	/* a header that may be a secret never goes to a place that a server names */
	if (!url_same_origin(&from_url, &to_url))
		keep_headers(t, portable, ARRAY_LEN(portable), true);
	t->url = arena_str(t->arena, to);
	t->redirects++;
	transfer_reset(t);
	return 0;
}

int64_t transfer_watch(struct transfer *t, int64_t now_ns, const struct http_opts *opts)
{
	int64_t limit = t->answered ? opts->stall_timeout_ns : opts->header_timeout_ns;
	int64_t moved = t->bytes + t->discarded - t->watch_bytes;
	char amount[STR_AMOUNT_MAX];

	if (now_ns < t->watch_ns + limit)
		return t->watch_ns + limit;
	if (!t->answered) {
		(void)transfer_fail(t, ETIMEDOUT, "connected, but no answer within %.3g s",
				    (double)limit / DUR_SEC);
		return 0;
	}
	if ((double)moved < (double)limit / DUR_SEC * STALL_BYTES_PER_S) {
		(void)transfer_fail(t, ETIMEDOUT,
				    "stalled: %lld bytes in the last %.3g s; in all %s",
				    (long long)moved, (double)limit / DUR_SEC,
				    str_amount(amount, t->bytes, t->content_length));
		return 0;
	}
	t->watch_ns = now_ns;
	t->watch_bytes = t->bytes + t->discarded;
	return now_ns + limit;
}

static int errnum_of_status(int status)
{
	switch (status) {
	case 401:
	case 403:
		return EACCES;
	case 404:
	case 410:
		return ENOENT;
	case 408:
	case 425:
	case 429:
		return EAGAIN;
	default:
		return status >= 500 ? EAGAIN : EPROTO;
	}
}

/* Takes S3's error code, a word of letters, out of its XML page. Takes nothing else from the page. */
static void error_code(const struct transfer *t, char code[static CODE_MAX])
{
	const char *page = buf_str(&t->error_page), *at = strstr(page, "<Error>");
	size_t n;

	at = at ? strstr(at, "<Code>") : NULL;
	at = at ? at + strlen("<Code>") : "";
	n = strspn(at, letters);
	code[0] = '\0';
	if (n > 0 && n + 1 < CODE_MAX && str_has_prefix(at + n, "</Code>"))
		(void)print_to(code, CODE_MAX, " %.*s", (int)n, at);
}

static void advise_on_status(struct transfer *t)
{
	const bool denied = t->status == 401 || t->status == 403;
	const bool gone = t->status == 404 || t->status == 410;

	/* a disabled metadata service refuses everything with 401 or 403; a 404 comes from an enabled one */
	if (t->req.link_local && denied)
		err_note(&t->err, "do",
			 "enable the instance's metadata service (aws ec2 "
			 "modify-instance-metadata-options --http-endpoint enabled)");
	else if (denied)
		err_note(&t->err, "do", "let this instance read it (its role, a bucket policy)%s",
			 t->req.has_mirrors ? ", or name a mirror" : "");
	else if (gone && !t->req.link_local)
		err_note(&t->err, "do", "correct the URL%s",
			 t->req.has_mirrors ? ", or name a mirror that still has it" : "");
}

int transfer_verdict(struct transfer *t)
{
	int64_t after = retry_after(t);
	char code[CODE_MAX], cause[CODE_MAX + sizeof("HTTP status 1234567890")];

	if (t->status / 100 == 2)
		return 0;
	error_code(t, code);
	if (after > HTTP_RETRY_AFTER_MAX_S)
		return transfer_fail(
			t, errnum_of_status(t->status),
			"HTTP status %d, and to be left alone for %lld s, of which %d s are granted",
			t->status, (long long)after, HTTP_RETRY_AFTER_MAX_S);
	(void)transfer_fail(t, errnum_of_status(t->status),
			    "HTTP status %d%s, its body of %lld bytes dropped", t->status, code,
			    (long long)t->discarded);
	/* the cause does not name the length, as error pages differ in it */
	(void)print_to(cause, sizeof(cause), "HTTP status %d%s", t->status, code);
	name_cause(t, cause);
	advise_on_status(t);
	return err_code(&t->err);
}

void transfer_finish(struct transfer *t, int r)
{
	struct http_result res = transfer_result(t);

	if (t->fn)
		t->fn(t->fn_arg, r);
	else if (t->req.done)
		t->req.done(t->req.arg, r, &res, r < 0 ? &t->err : NULL);
	free_transfer(t);
}

/* Returns the path with %xx undone; NULL if the result has a byte that no path may have. */
static char *decode_path(struct arena *a, const struct url *u)
{
	char *path = arena_alloc(a, u->path_n + 1), *w = path;

	for (size_t i = 0; i < u->path_n; i++) {
		char hex[3] = { 0 }, *end;

		*w = u->path[i];
		if (*w == '%' && i + 2 < u->path_n) {
			memcpy(hex, u->path + i + 1, 2);
			*w = (char)strtol(hex, &end, 16);
			if (*end || *w == '\0')
				return NULL;
			i += 2;
		}
		w++;
	}
	return path;
}

int transfer_open_file(struct transfer *t)
{
	struct url u = url_split(t->url);
	char *path = decode_path(t->arena, &u);
	struct stat st;

	if (!path || *path != '/' ||
	    (u.host_n && !(u.host_n == 9 && memcmp(u.host, "localhost", 9) == 0)))
		return transfer_fail(t, EINVAL, "wanted file:///path");
	t->fd = io_open_at(AT_FDCWD, path, 0);
	if (t->fd < 0 || fstat(t->fd, &st) < 0)
		return transfer_fail(t, errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return transfer_fail(t, EINVAL, "not a regular file");
	t->status = 200;
	t->content_length = st.st_size;
	return 0;
}

int transfer_step_file(struct transfer *t, char *chunk, size_t size)
{
	ssize_t n = str_eq(t->req.method, "HEAD") ? 0 : read(t->fd, chunk, size);

	if (n < 0 && errno == EINTR)
		return 1;
	if (n < 0)
		return transfer_fail(t, errno, "%s", strerror(errno));
	if (n == 0)
		return 0;
	if (transfer_body(t, chunk, (size_t)n) < 0)
		return t->err.errnum > 0 ? -t->err.errnum : -EINVAL;
	return 1;
}
