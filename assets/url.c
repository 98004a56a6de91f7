#include "assets/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* Length up to the first of these characters, at most n. */
static size_t span_until(const char *s, size_t n, const char *stop)
{
	size_t i = 0;

	while (i < n && !strchr(stop, s[i]))
		i++;
	return i;
}

static void split_host(struct url *u)
{
	const char *end = u->authority + u->authority_n;
	const char *close = memchr(u->authority, ']', u->authority_n);

	if (u->authority_n && *u->authority == '[' && close) {
		u->host = u->authority + 1;
		u->host_n = (size_t)(close - u->host);
		return;
	}
	u->host = u->authority;
	u->host_n = span_until(u->host, (size_t)(end - u->host), ":");
}

struct url url_split(const char *text)
{
	const char *sep = strstr(text, "://");
	struct url u = { 0 };
	const char *p;

	if (!sep || sep == text ||
	    span_until(text, (size_t)(sep - text), ":/?#@,") < (size_t)(sep - text))
		return u;
	u.scheme = text;
	u.scheme_n = (size_t)(sep - text);
	p = sep + 3;
	u.authority = p;
	u.authority_n = span_until(p, strlen(p), "/?#");
	u.path = p + u.authority_n;
	u.path_n = span_until(u.path, strlen(u.path), "?#");
	/* userinfo ends at the last '@': a password may hold one */
	for (size_t i = u.authority_n; i > 0; i--)
		if (u.authority[i - 1] == '@') {
			u.authority += i;
			u.authority_n -= i;
			break;
		}
	split_host(&u);
	return u;
}

bool url_has_scheme(const struct url *u, const char *scheme)
{
	return u->scheme && strlen(scheme) == u->scheme_n &&
	       strncasecmp(u->scheme, scheme, u->scheme_n) == 0;
}

static bool is_link_local_4(uint32_t address)
{
	return ntohl(address) >> 16 == 0xa9fe;
}

static bool is_link_local_6(const struct in6_addr *six)
{
	struct in6_addr ec2;
	uint32_t four;

	if (IN6_IS_ADDR_V4MAPPED(six)) {
		memcpy(&four, &six->s6_addr[12], sizeof(four));
		return is_link_local_4(four);
	}
	return IN6_IS_ADDR_LINKLOCAL(six) || (inet_pton(AF_INET6, "fd00:ec2::254", &ec2) == 1 &&
					      memcmp(six, &ec2, sizeof(ec2)) == 0);
}

bool url_is_link_local(const struct url *u)
{
	char host[URL_HOST_MAX];
	struct in6_addr six;
	struct in_addr four;

	if (!u->host || u->host_n >= sizeof(host))
		return false;
	memcpy(host, u->host, u->host_n);
	host[span_until(u->host, u->host_n, "%")] = '\0'; /* a zone: fe80::1%eth0 */
	if (inet_pton(AF_INET, host, &four) == 1)
		return is_link_local_4(four.s_addr);
	return inet_pton(AF_INET6, host, &six) == 1 && is_link_local_6(&six);
}

bool url_peer_is_link_local(const struct sockaddr *peer, char shown[static URL_HOST_MAX])
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	shown[0] = '\0';
	if (peer->sa_family == AF_INET) {
		memcpy(&four, peer, sizeof(four));
		(void)inet_ntop(AF_INET, &four.sin_addr, shown, URL_HOST_MAX);
		return is_link_local_4(four.sin_addr.s_addr);
	}
	if (peer->sa_family != AF_INET6)
		return false;
	memcpy(&six, peer, sizeof(six));
	(void)inet_ntop(AF_INET6, &six.sin6_addr, shown, URL_HOST_MAX);
	return is_link_local_6(&six.sin6_addr);
}

bool url_same_origin(const struct url *a, const struct url *b)
{
	return a->scheme && b->scheme && a->scheme_n == b->scheme_n &&
	       a->authority_n == b->authority_n &&
	       strncasecmp(a->scheme, b->scheme, a->scheme_n) == 0 &&
	       strncasecmp(a->authority, b->authority, a->authority_n) == 0;
}

const char *url_public(const char *text, char out[static URL_PUBLIC_MAX])
{
	struct url u = url_split(text);

	if (u.scheme)
		(void)snprintf(out, URL_PUBLIC_MAX, "%.*s://%.*s%.*s", (int)u.scheme_n, u.scheme,
			       (int)u.authority_n, u.authority, (int)u.path_n, u.path);
	else /* no URL at all: drop what could be a secret in one */
		(void)snprintf(out, URL_PUBLIC_MAX, "%.*s",
			       (int)span_until(text, strlen(text), "?#@"), text);
	for (char *p = out; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = '?';
	return out;
}
