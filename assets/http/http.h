/* http.h - every byte from the network: one curl_multi on one thread
 * Transfers are started from any thread and run side by side; callbacks run on the net thread and
 * must be short. http_get is the blocking façade for small documents. file:// URLs are read there too.
 * Invariant: timeouts for connecting (20 s), the first header byte (30 s) and stalling (below
 * 1 KiB/s for 30 s), never for the whole. Redirects: of GET and HEAD, at most 5, never https to http;
 * other hosts get no headers but Accept, Range and conditions. No connection goes to a link-local address,
 * whatever name or redirect leads there, unless the request allows it; nor is a proxy asked for a name that
 * leads there, as far as it can be looked up here within 3 s. Proxies from
 * the environment in both cases, CIDRs in no_proxy, never for link-local addresses.
 * Bodies: ca.c, transfer.c.
 * Owner: the engine owns transfers; the request's strings are copied. Errors: NET, with URL (no
 * query), HTTP status, bytes; ETIME for a certificate that is not valid yet by our clock; SYSTEM.
 * Threads: all functions. Source: libcurl, RFC 9110.
 * Tests: test_http.c, test_http_engine.c. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/str.h"

struct http;
struct x509_store_st;

enum {
	/* a server that wants to be left alone for longer is asked again all the same */
	HTTP_RETRY_AFTER_MAX_S = 60 * 60,
	/* connections, with those that are kept for the next request */
	HTTP_SOCKETS_MAX = 16,
	/* further ones wait; one is left for instance metadata, as others may wait for
	 * the credentials that it gives */
	HTTP_REQUESTS_MAX = HTTP_SOCKETS_MAX - 1,
	/* the errnum of an error where the name service has no address of the host */
	HTTP_NO_NAME = EDESTADDRREQ,
};

struct http_opts {
	const char *ca_file; /* NULL: searched, see http_find_ca */
	struct x509_store_st
		*roots; /* in the place of any file, for as long as the engine is there; or NULL */
	int root_fd;    /* the root of resolv.conf, hosts and CA bundles: the host's "/" */
	struct strv rewrites; /* "FROM=TO" URL prefixes, first match wins */
	/* 0: 20 s, 30 s, 30 s */
	int64_t connect_timeout_ns, header_timeout_ns, stall_timeout_ns;
};

/* The result of a finished transfer; valid only during `done`. */
struct http_result {
	int status;             /* HTTP status, 0 if none came */
	int64_t bytes;          /* body bytes received */
	int64_t content_length; /* -1 unknown */
	int64_t retry_after_ns; /* Retry-After: at most an hour; -1 none */
	const char *const
		*headers; /* "name: value", lower-case names, NULL-terminated; last response */
	const char *error_page; /* the first 4 KiB of the body of an answer that is not a 2xx */
	size_t error_page_n;
};

struct http_req {
	const char *method; /* NULL: GET */
	const char *url;
	struct strv headers;     /* "Name: value"; secrets allowed, never printed */
	const char *unix_socket; /* NULL: TCP */
	const char *
		connect_to; /* "HOST:PORT" that is asked while the URL's host is who it must be; NULL: that host */
	/* addresses that stand for none: a name that leads to one is as one that has none; NULL, or ends with NULL */
	const char *const *nowhere;
	const void *body; /* NULL: none; copied */
	size_t body_len;
	uint64_t max_bytes; /* a longer body is an error; 0 means none allowed */
	bool no_proxy, no_redirect;
	bool link_local;    /* may go to a link-local address, as only instance metadata is asked */
	bool has_mirrors;   /* another server may have the same: errors advise to name one */
	int64_t timeout_ns; /* whole transfer, for small documents; 0: no total deadline */
	/* Before the first body byte of a 2xx answer; may be NULL. */
	void (*head)(void *arg, const struct http_result *res);
	/* Body bytes of a 2xx answer, in order. < 0 aborts the transfer with *e filled. */
	int (*data)(void *arg, const void *p, size_t n, struct err *e);
	/* Called exactly once; r < 0 with *e filled on failure (also for status >= 300). */
	void (*done)(void *arg, int r, const struct http_result *res, const struct err *e);
	void *arg;
	/* Called once by those functions that block, on their thread, where nothing has come of it by this moment of the
	 * monotonic clock; may be NULL. */
	void (*silent)(void *arg);
	void *silent_arg;
	int64_t silent_ns;
};

/* The HTTP request that a URL of another scheme becomes. Strings are the arena's. */
struct http_made {
	int64_t asked_ns;   /* given: since when this waits for its turn, monotonic */
	const char *method; /* given, as the body: what a signature covers */
	const void *body;   /* NULL: none */
	size_t body_len;
	const char *url;
	struct strv headers; /* added to the request's own; secrets allowed */
};

/* Handler of a non-HTTP URL scheme: builds the HTTP request, interprets error answers. Both functions run on a
 * thread that may block, one call at a time; the arena and *state (NULL at first) are one transfer's. Redirects
 * of such requests are never followed. */
struct http_scheme {
	const char *name; /* "s3" */
	void *arg;
	/* The next request. < 0 ends the transfer; errnum EAGAIN: it is worth asking again soon. */
	int (*prepare)(void *arg, struct arena *a, const char *url, void **state,
		       struct http_made *ret, struct err *e);
	/* An answer with a status >= 300, in *e as the engine words it: 1 when another request is to be
	 * made at once, or < 0 with *e as it is to be said. */
	int (*judge)(void *arg, struct arena *a, const char *url, void *state,
		     const struct http_result *res, struct err *e);
};

/* Start the engine and its thread. */
int http_new(const struct http_opts *opts, struct http **ret, struct err *e) must_check;
/* Abort all transfers (their done is called with -ECANCELED) and join the thread; NULL is fine. */
void http_free(struct http *h);
/* Let URLs of one more scheme in: once, and before any of it is asked for. All that it points to outlives every
 * transfer. */
void http_set_scheme(struct http *h, const struct http_scheme *scheme);
/* More rewrites, after those there are, and a CA file (NULL: as before). When nothing is under way. */
void http_add_settings(struct http *h, const struct strv *rewrites, const char *ca_file);
/* The URL that is asked for in the place of this one, by the rewrites. */
char *http_rewritten(struct http *h, struct arena *a, const char *url) must_check;
/* Begin a transfer; the id is for http_cancel. Never blocks. */
uint64_t http_start(struct http *h, const struct http_req *req);
/* Call fn once on the net thread: with r 0 after the delay (0: as soon as it can), or with r
 * -ECANCELED when http_cancel or http_free came first. */
uint64_t http_after(struct http *h, int64_t delay_ns, void (*fn)(void *arg, int r), void *arg);
/* Abort one transfer or timer; its callback gets -ECANCELED, on the net thread, unless it already
 * was called. Never blocks. */
void http_cancel(struct http *h, uint64_t id);
/* Fetch a small body into b (at most b->max bytes), blocking; no retries. A status >= 300 is an error
 * of kind NET and errnum ENOENT for 404, EACCES for 401 and 403. ret_status (may be NULL) is the
 * HTTP status whenever one came, else 0. Never from a callback: the net thread would wait for itself. */
int http_get(struct http *h, const struct http_req *req, struct buf *b, int *ret_status,
	     struct err *e) must_check;
/* The rest of an answer that is not a 2xx. */
struct http_answer {
	int status;             /* 0: none came */
	int64_t retry_after_ns; /* -1: none */
	char date[40];          /* of the server's clock; "" not told */
	char line[160];         /* the first of its body */
};

/* As http_get; ret is filled whether it fails or not. */
int http_ask(struct http *h, const struct http_req *req, struct buf *b, struct http_answer *ret,
	     struct err *e) must_check;
/* Ask how long the body is, without it, as http_get asks; -1: the server does not say. */
int http_length(struct http *h, const struct http_req *req, int64_t *ret_bytes,
		struct err *e) must_check;
/* The value of a header of a result, by its lower-case name; "" if there is none. */
const char *http_header(const char *const *headers, const char *name);
/* The roots that a server is verified by. If both are known, the folder is asked for one root, and the bundle of
 * all is read only when the folder has it not. */
struct http_ca {
	const char *bundle;          /* a file; NULL none */
	const char *folder;          /* of files that are named by a hash; NULL none */
	struct x509_store_st *roots; /* themselves, in the place of both; NULL none */
};

/* Those of this machine: SSL_CERT_FILE, AWS_CA_BUNDLE, then the places of Debian, RHEL and Amazon Linux, Flatcar, SUSE, Alpine
 * below root_fd. Neither: there are none. */
struct http_ca http_find_ca(struct arena *a, int root_fd);
