/* curl.h - curl, for the engine: what moves the bytes of its transfers
 * Each request has a handle of its own, and all share their connections. The names that are looked up by
 * curl lead nowhere they must not: every address is seen before it is connected to.
 * Owner: the engine; a transfer's handle is ours from start to release. Errors: NET, in the transfer.
 * Units: ms, ns. Threads: the net thread; http_curl_wake any. Source: libcurl.
 * Tests: test_http.c. */
#pragma once

#include "assets/http/transfer.h"

struct http_curl;

/* The way of a request. Its strings may go once the call returns. */
struct http_route {
	const char *proxy;    /* "" none; never NULL: that would make curl ask the environment */
	const char *no_proxy; /* hosts without a proxy, as curl reads them */
	struct http_ca ca;
	int64_t connect_timeout_ns;
};

/* Begin; release, when no transfer has a handle any more. */
struct http_curl *http_curl_new(void);
void http_curl_free(struct http_curl *c);
/* Make http_curl_wait return, now or as soon as it is called. */
void http_curl_wake(struct http_curl *c);
/* Send and receive what can be, without waiting. */
void http_curl_move(struct http_curl *c);
/* Wait until something can be sent or received. */
void http_curl_wait(struct http_curl *c, int most_ms);
/* A transfer whose request is over, and how, for http_curl_verdict; NULL: none is. */
struct transfer *http_curl_take(struct http_curl *c, int *ret_code);

/* Returns whether one more request may begin; those to instance metadata need not ask. */
bool http_curl_has_room(const struct http_curl *c);
/* Begin the request that the transfer is by now. */
void http_curl_start(struct http_curl *c, struct transfer *t, const struct http_route *route);
/* Only look up the name of its host. The request is over when the name is known; no connection
 * is made. */
void http_curl_look_up(struct http_curl *c, struct transfer *t);
/* 0 when an answer came, whatever it says, or < 0 with t->err; what is wrong with its proxy, if it is
 * that, is for the caller to word. */
int http_curl_verdict(struct transfer *t, int code, const char *proxy_error);
/* Returns the URL to which the answer redirects, or NULL; valid until the release. */
const char *http_curl_redirect(const struct transfer *t);
/* End its request, and give the handle back; nothing when it has none. */
void http_curl_release(struct http_curl *c, struct transfer *t);
