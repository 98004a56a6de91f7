/* http.h - every byte from the network: one curl_multi on one thread
 * Transfers are started from any thread and run side by side; callbacks run on the net thread and must be short.
 * http_get is the blocking façade for small documents. The net thread reads file:// URLs too.
 * Invariant: timeouts for connecting (20 s), the first header byte (30 s) and stalling (below 1 KiB/s for 30 s), and
 * for a whole transfer only if the request sets one. Only GET and HEAD follow redirects: at most 5, and never from
 * https to http; another host gets no headers but Accept, Range and conditions. No connection goes to a link-local
 * address, whatever name or redirect leads there, unless the request allows it. No proxy is asked for a name that
 * leads to such an address, if this machine finds that out within 3 s. The environment names the proxies, in upper
 * or lower case, and no_proxy may have CIDRs. A link-local address never has a proxy.
 * Bodies: ca.c, transfer.c.
 * Owner: the engine owns transfers; the request's strings are copied. Errors: NET, with URL (no query), HTTP status,
 * bytes; ETIME for a certificate that is not valid yet by our clock; SYSTEM. Threads: all functions.
 * Source: libcurl, RFC 9110.
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
	/* asks again after this time even if the server wants a longer pause */
	HTTP_RETRY_AFTER_MAX_S = 60 * 60,
	/* connections, including those kept for the next request */
	HTTP_SOCKETS_MAX = 16,
	/* further requests wait. The one connection left is for instance metadata, since requests may wait for
	 * credentials from there */
	HTTP_REQUESTS_MAX = HTTP_SOCKETS_MAX - 1,
	/* the errnum if the name service has no address of the host */
	HTTP_NO_NAME = EDESTADDRREQ,
};

struct http_opts {
	const char *ca_file; /* NULL: the file is searched for, see http_find_ca */
	struct x509_store_st
		*roots; /* used instead of any file; must live as long as the engine; or NULL */
	const char *cert,
		*key; /* a client's certificate and its key, PEM, for every server; or NULL */
	int root_fd;  /* root directory for resolv.conf, hosts and CA bundles: the host's "/" */
	struct strv rewrites; /* "FROM=TO" URL prefixes; the first FROM that fits decides */
	/* 0: the defaults, 20 s, 30 s and 30 s */
	int64_t connect_timeout_ns, header_timeout_ns, stall_timeout_ns;
};

/* The result of a finished transfer; valid only during `done`. */
struct http_result {
	int status;             /* HTTP status, 0 if none came */
	int64_t bytes;          /* body bytes received */
	int64_t content_length; /* -1 unknown */
	int64_t retry_after_ns; /* Retry-After: at most an hour; -1 none */
	/* "name: value" of the last response, names in lower case; NULL-terminated */
	const char *const *headers;
	const char *error_page; /* first 4 KiB of the body, if the status is not 2xx */
	size_t error_page_n;
};

struct http_req {
	const char *method; /* NULL: GET */
	const char *url;
	struct strv headers;     /* "Name: value"; secrets allowed, never printed */
	const char *unix_socket; /* NULL: TCP */
	const char *
		connect_to; /* "HOST:PORT" to connect to; the server there must prove that it is the URL's host.
			     * NULL: the URL's host itself */
	/* addresses that count as no answer: a name that leads to one of them counts as unresolved. NULL, or a list
	 * that ends with NULL */
	const char *const *nowhere;
	const void *body; /* NULL: none; copied */
	size_t body_len;
	uint64_t max_bytes; /* limit on the body: a longer body is an error; 0 allows no body */
	bool no_proxy, no_redirect;
	bool link_local;  /* may connect to a link-local address: only instance metadata */
	bool has_mirrors; /* another server may have the same object, so errors advise to name one */
	int64_t timeout_ns; /* time limit for the whole transfer of a small document; 0: none */
	/* Called before the first body byte of a 2xx answer; may be NULL. */
	void (*head)(void *arg, const struct http_result *res);
	/* Called with body bytes of a 2xx answer, in order. If it fills *e and returns < 0, the transfer ends. */
	int (*data)(void *arg, const void *p, size_t n, struct err *e);
	/* Called exactly once; r < 0 with *e filled on failure (also for status >= 300). */
	void (*done)(void *arg, int r, const struct http_result *res, const struct err *e);
	void *arg;
	/* A blocking function calls it once, on its caller's thread, if no answer has begun by silent_ns
	 * (monotonic); may be NULL. */
	void (*silent)(void *arg);
	void *silent_arg;
	int64_t silent_ns;
};

/* The HTTP request that a URL of another scheme becomes. Strings are the arena's. */
struct http_made {
	int64_t asked_ns;   /* input: since when (monotonic) the request waits for its turn */
	const char *method; /* input, like the body: a signature covers method and body */
	const void *body;   /* NULL: none */
	size_t body_len;
	const char *url;
	struct strv headers; /* headers to add to those of the request; may hold secrets */
};

/* Handler of a non-HTTP URL scheme: builds the HTTP request, interprets error answers. Both functions of a scheme
 * run on a thread that may block, one call at a time; the arena and *state (NULL at first) belong to one transfer.
 * Redirects of such requests are never followed. */
struct http_scheme {
	const char *name; /* "s3" */
	void *arg;
	/* Makes the next request. < 0 ends the transfer; errnum EAGAIN: asking again soon may help. */
	int (*prepare)(void *arg, struct arena *a, const char *url, void **state,
		       struct http_made *ret, struct err *e);
	/* Judges an answer with a status >= 300; *e has the engine's words for it. Returns 1 to make another request
	 * at once, or < 0 with *e reworded. */
	int (*judge)(void *arg, struct arena *a, const char *url, void *state,
		     const struct http_result *res, struct err *e);
};

/* Starts the engine and its thread. */
int http_new(const struct http_opts *opts, struct http **ret, struct err *e) must_check;
/* Aborts all transfers (their done gets -ECANCELED) and joins the thread; NULL is fine. */
void http_free(struct http *h);
/* Adds one more scheme: once, and before any of its URLs is requested. Everything that the scheme points to must
 * outlive all transfers. */
void http_set_scheme(struct http *h, const struct http_scheme *scheme);
/* Adds rewrites after the present ones. Sets a CA file, unless it is NULL. Call it only while no transfer runs. */
void http_add_settings(struct http *h, const struct strv *rewrites, const char *ca_file);
/* Returns the URL that the rewrites put in place of this URL. */
char *http_rewritten(struct http *h, struct arena *a, const char *url) must_check;
/* Begins a transfer; the id is for http_cancel. Never blocks. */
uint64_t http_start(struct http *h, const struct http_req *req);
/* Calls fn once on the net thread: with r 0 after the delay (0: as soon as possible), or with -ECANCELED if
 * http_cancel or http_free comes first. */
uint64_t http_after(struct http *h, int64_t delay_ns, void (*fn)(void *arg, int r), void *arg);
/* Aborts one transfer or timer. The callback gets -ECANCELED on the net thread, unless it was called already. Never
 * blocks. */
void http_cancel(struct http *h, uint64_t id);
/* Fetches a small body into b (at most b->max bytes), blocking; no retries. A status >= 300 is an error of kind NET,
 * with errnum ENOENT for 404, EACCES for 401 and 403. ret_status (may be NULL) is the HTTP status, or 0 if none
 * came. Never call it from a callback: the net thread would wait for itself. */
int http_get(struct http *h, const struct http_req *req, struct buf *b, int *ret_status,
	     struct err *e) must_check;
/* Further parts of an answer, filled for every status. */
struct http_answer {
	int status;             /* 0: none came */
	int64_t retry_after_ns; /* -1: none */
	char date[40];          /* the server's clock; "" unknown */
	char line[160];         /* the beginning of the body */
};

/* Works like http_get, and fills ret too, even after a failure. */
int http_ask(struct http *h, const struct http_req *req, struct buf *b, struct http_answer *ret,
	     struct err *e) must_check;
/* Asks for the length of the body, without its bytes, in the way of http_get. *ret_bytes is -1 if the server does
 * not tell the length. */
int http_length(struct http *h, const struct http_req *req, int64_t *ret_bytes,
		struct err *e) must_check;
/* Returns a header's value by its lower-case name; "" if there is none. */
const char *http_header(const char *const *headers, const char *name);
/* The roots that verify a server. If folder and bundle are known, a root is looked up in the folder first. The whole
 * bundle is read only if the folder lacks the root. */
struct http_ca {
	const char *bundle;          /* a file; NULL none */
	const char *folder;          /* a folder of files named by a hash; NULL none */
	struct x509_store_st *roots; /* the roots themselves, used instead of both; NULL none */
};

/* Finds the roots of this machine: SSL_CERT_FILE, AWS_CA_BUNDLE, then the places of Debian, RHEL and Amazon Linux,
 * Flatcar, SUSE, Alpine below root_fd. If bundle and folder are NULL, the machine has no roots. */
struct http_ca http_find_ca(struct arena *a, int root_fd);
