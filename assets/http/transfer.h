/* transfer.h - one transfer of the http engine, without the moving of its bytes
 * Copies the request, collects status, headers and body counts, watches that bytes keep coming, and words errors.
 * http.c drives it with curl, or by steps for a file:// URL.
 * Owner: the engine; once it runs, only the net thread touches a transfer, except `cancelled`. Errors: NET with the
 * public URL. Units: bytes, monotonic ns. Source: RFC 9110.
 * Tests: test_http_engine.c. */
#pragma once

#include "assets/http/http.h"
#include "assets/url.h"

enum { TRANSFER_REDIRECTS = 5, TRANSFER_HEADERS = 128 };

struct transfer {
	struct transfer *next;
	uint64_t id;
	bool cancelled; /* guarded by the engine's lock */

	/* fn not NULL: this is a timer */
	void (*fn)(void *arg, int r);
	void *fn_arg;
	int64_t due_ns;

	struct http_req req; /* strings are the arena's */
	struct arena *arena;
	char *url; /* the present URL: after rewriting and redirects */
	unsigned int redirects;

	int status;
	int64_t bytes, content_length; /* -1 unknown */
	const char *headers[TRANSFER_HEADERS + 1];
	size_t nheaders;
	int64_t discarded;     /* bytes of the body of an answer that is not 2xx */
	struct buf error_page; /* beginning of the body of an answer that is not 2xx */

	bool ready;   /* the transfer waits until its request may begin */
	bool looking; /* the host's name is being looked up, before any request */
	bool connected, answered;
	bool is_nowhere; /* the host's name leads to an address that counts as no answer */
	char forbidden
		[URL_HOST_MAX]; /* the link-local address that the request would have gone to; "" none */
	int64_t watch_ns, watch_bytes; /* time and bytes at the start of the current window */

	const struct http_scheme *scheme; /* scheme of req.url; NULL: it is HTTP's */
	void *scheme_state;
	struct strv rewrites;    /* the engine's rewrites when the transfer was started */
	struct strv own_headers; /* the request's headers, without those of the scheme */
	bool lent;               /* the scheme's thread owns the transfer */
	int64_t lent_ns;         /* since when the scheme's thread owns it */
	struct http *engine;     /* the engine of the scheme's thread */
	bool given_back; /* under the engine's lock: the scheme's thread is done, and scheme_r has its result */
	int scheme_r;
	int64_t again_ns; /* after this time another try may succeed; -1 unknown */

	bool failed; /* the transfer failed, and err has the reason */
	struct err err;

	void *easy, *header_list, *connect_list; /* owned by curl.c */
	int sockets
		[4]; /* the last sockets opened for the transfer; those that did not connect are closed */
	size_t n_sockets;
	char *detail; /* curl's text about the error */
	int fd;       /* the open file of a file:// URL, or -1 */
};

/* Copies a request. The first "FROM=TO" whose FROM is a prefix of the URL rewrites it. */
struct transfer *transfer_new(const struct http_req *req, const struct strv *rewrites) must_check;
/* Returns the URL to ask in place of this one: the first "FROM=TO" whose FROM fits decides. */
char *transfer_rewrite(struct arena *a, const char *url, const struct strv *rewrites) must_check;
/* Forgets the answer so far, as a redirect's next request starts. */
void transfer_reset(struct transfer *t);

/* Takes one header line as it came. < 0 with t->err if the answer is too large. */
int transfer_header(struct transfer *t, const char *line, size_t n);
/* Takes bytes of the body; drops them if the answer is not 2xx. < 0 with t->err: a failure; < 0 without t->err:
 * enough of an error page was read. */
int transfer_body(struct transfer *t, const char *p, size_t n);

/* Fails with t->err if a redirect to `to` must not be followed. Returns 0 if it may be followed. */
int transfer_redirect(struct transfer *t, const char *to);
/* Returns the time of the next check; 0 with t->err if the peer stopped sending. */
int64_t transfer_watch(struct transfer *t, int64_t now_ns, const struct http_opts *opts);

/* Fails with a message that begins with method and URL. Returns the negative errno. */
int transfer_fail(struct transfer *t, int errnum, const char *fmt, ...) printf_like(3, 4);
/* Fails because the certificate is not valid now. The message names the clock too, which may be wrong. early: the
 * certificate is not valid yet, in most cases because the clock is not set (ETIME). */
int transfer_wrong_time(struct transfer *t, bool early, const char *text);
/* Fails because the request would go to this link-local address. Returns the negative errno. */
int transfer_refuse_link_local(struct transfer *t, const char *address);
/* Judges a complete answer: 0, or < 0 with t->err for a status >= 300. */
int transfer_verdict(struct transfer *t);
/* Returns the answer so far. Valid until t changes. */
struct http_result transfer_result(const struct transfer *t);
/* Turns the transfer into the HTTP request that the scheme made of its URL. */
void transfer_made(struct transfer *t, const struct http_made *made);
/* Calls done and releases t. */
void transfer_finish(struct transfer *t, int r);

/* transfer_open_file opens a file:// URL, transfer_step_file reads its next piece. 1: there is more to read; 0:
 * done; < 0 with t->err. */
int transfer_open_file(struct transfer *t);
int transfer_step_file(struct transfer *t, char *chunk, size_t size);
