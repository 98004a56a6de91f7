/* url.h - parses URLs and answers questions about them, without allocating
 * A URL may carry secrets (userinfo, a presigned query): people see only url_public.
 * Owner: the caller's buffers. Errors: none; a URL that cannot be read has an empty host and scheme. Threads: all
 * functions.
 * Source: RFC 3986, 3927, 4291, 6052 (NAT64), 8215, 3056 (6to4).
 * Tests: test_url.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

enum { URL_PUBLIC_MAX = 256, URL_HOST_MAX = 256 };

/* Borrowed pieces of a URL; all are NULL with length 0 if the text is not a URL. */
struct url {
	const char *scheme, *authority, *host,
		*path; /* host without brackets; path up to '?' or '#' */
	/* authority without userinfo, but with port */
	size_t scheme_n, authority_n, host_n, path_n;
};

/* Splits a URL into its pieces. */
struct url url_split(const char *text);
/* Returns whether the URL has this scheme. `scheme` is in lower case; the URL may have capitals. */
bool url_has_scheme(const struct url *u, const char *scheme);
/* Returns whether all characters of the host are visible ASCII, after %xx is undone. curl refuses other characters;
 * a proxy might read full-width digits as digits. */
bool url_host_is_ascii(const struct url *u);
/* Returns whether the host is a link-local address in any spelling: 169.254/16 and its forms in IPv6 (mapped,
 * compatible, NAT64, 6to4), fe80::/10, and fd00:ec2::/32, where EC2 has services. */
bool url_is_link_local(const struct url *u);
/* Returns whether the peer of a connection has a link-local address. Writes the peer's address into `shown`, for
 * people. */
bool url_peer_is_link_local(const struct sockaddr *peer, char shown[static URL_HOST_MAX]);
/* Returns whether both URLs have the same scheme and authority. A redirect between URLs of different origins must
 * not carry headers with secrets. */
bool url_same_origin(const struct url *a, const struct url *b);
/* Writes the URL for people: without user, password, query and fragment, and cut if it is long. */
const char *url_public(const char *text, char out[static URL_PUBLIC_MAX]);
