/* transfer.h - one transfer of the http engine, apart from what moves its bytes
 * Copies the request, collects status, headers and body counts, watches that bytes keep coming and
 * words what went wrong. http.c drives it with curl, or by steps for a file:// URL.
 * Owner: the engine; the net thread alone touches a transfer once it runs, but for `cancelled`.
 * Errors: NET with the public URL. Units: bytes, monotonic ns. Source: RFC 9110.
 * Tests: test_http_engine.c. */
#pragma once

#include "assets/http/http.h"
#include "assets/url.h"

enum { TRANSFER_REDIRECTS = 5, TRANSFER_HEADERS = 128 };

struct transfer {
	struct transfer *next;
	uint64_t id;
	bool cancelled; /* under the engine's lock */

	/* a timer: fn is not NULL */
	void (*fn)(void *arg, int r);
	void *fn_arg;
	int64_t due_ns;

	struct http_req req; /* strings are the arena's */
	struct arena *arena;
	char *url; /* the URL by now: after rewriting and redirects */
	unsigned int redirects;

	int status;
	int64_t bytes, content_length; /* -1 unknown */
	const char *headers[TRANSFER_HEADERS + 1];
	size_t nheaders;
	int64_t discarded;     /* of an answer that is not a 2xx */
	struct buf error_page; /* its beginning */

	bool ready;   /* it waits for room for its request */
	bool looking; /* no request yet: its host's name is looked up */
	bool connected, answered;
	bool is_nowhere; /* its name leads to an address that stands for none */
	char forbidden
		[URL_HOST_MAX]; /* the link-local address that it would have gone to; "" none */
	int64_t watch_ns, watch_bytes; /* when and where the current window began */

	const struct http_scheme *scheme; /* of req.url, when it is not ours; else NULL */
	void *scheme_state;
	struct strv rewrites;    /* the engine's, as they were: only more are added */
	struct strv own_headers; /* of the request, without what the scheme adds */
	bool lent;               /* the scheme's thread has all of it ... */
	int64_t lent_ns;         /* ... since when */
	struct http *engine;     /* whose thread that is */
	bool given_back; /* under the engine's lock: that thread is done, and this came of it: */
	int scheme_r;
	int64_t again_ns; /* worth asking again after this; -1 unknown */

	bool failed; /* err is why */
	struct err err;

	void *easy, *header_list, *connect_list; /* curl.c's */
	int sockets
		[4]; /* the last that were opened for it; those that did not connect are closed by now */
	size_t n_sockets;
	char *detail; /* its error text */
	int fd;       /* a file:// URL's, or -1 */
};

/* Copy a request. The URL is rewritten by the first "FROM=TO" whose FROM is its prefix. */
struct transfer *transfer_new(const struct http_req *req, const struct strv *rewrites) must_check;
/* Returns the URL that is asked in its place: the first "FROM=TO" that fits decides. */
char *transfer_rewrite(struct arena *a, const char *url, const struct strv *rewrites) must_check;
/* Forget the answer so far: the next request of a redirect starts. */
void transfer_reset(struct transfer *t);

/* One header line as it came. < 0 with t->err when the answer is too large. */
int transfer_header(struct transfer *t, const char *line, size_t n);
/* Body bytes; those of an answer that is not a 2xx are dropped. < 0 with t->err, or unset when enough of
 * an error page was seen. */
int transfer_body(struct transfer *t, const char *p, size_t n);

/* Fails with t->err if `to` must not be followed; 0: it may. */
int transfer_redirect(struct transfer *t, const char *to);
/* The time of the next check, or 0 with t->err when the peer stopped sending. */
int64_t transfer_watch(struct transfer *t, int64_t now_ns, const struct http_opts *opts);

/* Fail: prefixed by method and URL. Returns the negative errno. */
int transfer_fail(struct transfer *t, int errnum, const char *fmt, ...) printf_like(3, 4);
/* Fail as the certificate is not valid now. The clock may be wrong as well, so the message names
 * both. `early`: it is not valid yet, which is mostly the clock (ETIME). */
int transfer_wrong_time(struct transfer *t, bool early, const char *text);
/* Fail as the request would go to this link-local address. Returns the negative errno. */
int transfer_refuse_link_local(struct transfer *t, const char *address);
/* The verdict on a complete answer: 0, or < 0 with t->err for a status >= 300. */
int transfer_verdict(struct transfer *t);
/* Returns the answer so far. Valid as long as t is not touched. */
struct http_result transfer_result(const struct transfer *t);
/* Become the HTTP request that the scheme made of its URL. */
void transfer_made(struct transfer *t, const struct http_made *made);
/* Call done and release t. */
void transfer_finish(struct transfer *t, int r);

/* Open a file:// URL; then read it piece by piece: 1 there is more, 0 done, < 0 with t->err. */
int transfer_open_file(struct transfer *t);
int transfer_step_file(struct transfer *t, char *chunk, size_t size);
