/* curl.h - curl, which moves the bytes of the engine's transfers
 * Each request has its own handle; all share their connections. Addresses are checked before each connection, so no
 * name that curl looks up leads to a forbidden address.
 * Owner: the engine; a transfer's handle is ours from start to release. Errors: NET, in the transfer. Units: ms, ns.
 * Threads: the net thread; http_curl_wake: any thread. Source: libcurl.
 * Tests: test_http.c. */
#pragma once

#include "assets/http/transfer.h"

struct http_curl;

/* The route of a request. The strings of a route need not outlive the call. */
struct http_route {
	const char *proxy;    /* "" none; never NULL, which would make curl read the environment */
	const char *no_proxy; /* hosts that are asked without a proxy, in curl's form */
	struct http_ca ca;
	const char *cert, *key; /* the client's, PEM; NULL: it shows none */
	int64_t connect_timeout_ns;
};

/* http_curl_free may be called once no transfer has a handle any more. */
struct http_curl *http_curl_new(void);
void http_curl_free(struct http_curl *c);
/* Makes http_curl_wait return: the call that runs now, or the next call. */
void http_curl_wake(struct http_curl *c);
/* Sends and receives what is possible without waiting. */
void http_curl_move(struct http_curl *c);
/* Waits until something can be sent or received. */
void http_curl_wait(struct http_curl *c, int most_ms);
/* Returns a transfer whose request has ended, and its code for http_curl_verdict. NULL: no request has ended. */
struct transfer *http_curl_take(struct http_curl *c, int *ret_code);

/* Returns whether one more request may begin. A request to instance metadata may always begin. */
bool http_curl_has_room(const struct http_curl *c);
/* Begins the transfer's present request. */
void http_curl_start(struct http_curl *c, struct transfer *t, const struct http_route *route);
/* Only looks up the host's name, without connecting. The request is over when the name is known. */
void http_curl_look_up(struct http_curl *c, struct transfer *t);
/* Returns 0 if an answer came, even a refusal; otherwise < 0 with t->err. proxy_error: the caller's words for a
 * fault of the proxy. */
int http_curl_verdict(struct transfer *t, int code, const char *proxy_error);
/* Returns the URL that the answer redirects to, or NULL; valid until the release. */
const char *http_curl_redirect(const struct transfer *t);
/* Ends the transfer's request. Gives the handle back, if the transfer has one. */
void http_curl_release(struct http_curl *c, struct transfer *t);
