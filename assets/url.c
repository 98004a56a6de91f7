#include "assets/url.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include "nodeup/base/print.h"
#include "nodeup/base/show.h"
#include "nodeup/base/str.h"

/* Returns the length up to the first of these characters, at most n. */
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
	/* userinfo ends at the last '@': a password may contain an earlier '@' */
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

/* `at`: the places of an IPv4 address's four bytes in the IPv6 address. Returns whether that IPv4 address is
 * link-local. */
static bool is_link_local_at(const struct in6_addr *six, const unsigned char at[4])
{
	return six->s6_addr[at[0]] == 169 && six->s6_addr[at[1]] == 254;
}

/* Networks whose IPv6 addresses contain an IPv4 address, and the place of its bytes. The last four rows are for
 * 64:ff9b:1::/48, in which a site chooses a prefix of 48, 56, 64 or 96 bits. */
static bool carries_link_local(const struct in6_addr *six)
{
	static const struct {
		unsigned char prefix[12], prefix_n, at[4];
	} forms[] = {
		{ { 0 }, 12, { 12, 13, 14, 15 } },
		{ { [10] = 0xff, 0xff }, 12, { 12, 13, 14, 15 } },
		{ { [8] = 0xff, 0xff }, 12, { 12, 13, 14, 15 } },
		{ { 0, 0x64, 0xff, 0x9b }, 12, { 12, 13, 14, 15 } },
		{ { 0x20, 0x02 }, 2, { 2, 3, 4, 5 } },
		{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 6, { 6, 7, 9, 10 } },
		{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 6, { 7, 9, 10, 11 } },
		{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 6, { 9, 10, 11, 12 } },
		{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 6, { 12, 13, 14, 15 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (memcmp(six, forms[i].prefix, forms[i].prefix_n) == 0 &&
		    is_link_local_at(six, forms[i].at))
			return true;
	return false;
}

static bool is_link_local_6(const struct in6_addr *six)
{
	static const unsigned char ec2[] = { 0xfd, 0x00, 0x0e, 0xc2 };

	return IN6_IS_ADDR_LINKLOCAL(six) || memcmp(six, ec2, sizeof(ec2)) == 0 ||
	       carries_link_local(six);
}

/* Undoes %xx in the host, as curl does, and returns its length. A zone's % stays. */
static size_t decode_host(const struct url *u, char out[static URL_HOST_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < u->host_n && n + 1 < URL_HOST_MAX; i++) {
		bool coded = u->host[i] == '%' && i + 2 < u->host_n &&
			     str_hex_value(u->host[i + 1]) >= 0 &&
			     str_hex_value(u->host[i + 2]) >= 0;

		out[n++] = coded ? (char)(str_hex_value(u->host[i + 1]) * 16 +
					  str_hex_value(u->host[i + 2]))
				 : u->host[i];
		i += coded ? 2 : 0;
	}
	out[n] = '\0';
	return n;
}

bool url_host_is_ascii(const struct url *u)
{
	char host[URL_HOST_MAX];
	size_t n = decode_host(u, host);

	for (size_t i = 0; i < n; i++)
		if (host[i] <= ' ' || host[i] == 0x7f || (unsigned char)host[i] > 0x7f)
			return false;
	return true;
}

bool url_is_link_local(const struct url *u)
{
	char host[URL_HOST_MAX];
	struct in6_addr six;
	struct in_addr four;
	size_t n;

	if (!u->host || u->host_n >= sizeof(host))
		return false;
	n = span_until(host, decode_host(u, host), "%"); /* a zone: fe80::1%eth0 */
	host[n] = '\0';
	if (inet_pton(AF_INET6, host, &six) == 1)
		return is_link_local_6(&six);
	/* a name may end in the root's dot; resolvers and proxies ignore it after an address */
	while (n > 0 && host[n - 1] == '.')
		host[--n] = '\0';
	/* inet_aton reads octal, hexadecimal and fewer than four numbers too; it stops at a blank */
	return !strpbrk(host, " \t\n\v\f\r") && inet_aton(host, &four) &&
	       is_link_local_4(four.s_addr);
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
		(void)print_to(out, URL_PUBLIC_MAX, "%.*s://%.*s%.*s", (int)u.scheme_n, u.scheme,
			       (int)u.authority_n, u.authority, (int)u.path_n, u.path);
	else /* not a URL: drops everything that could be a secret if it were a URL */
		(void)print_to(out, URL_PUBLIC_MAX, "%.*s",
			       (int)span_until(text, strlen(text), "?#@"), text);
	return show_clean(out);
}
