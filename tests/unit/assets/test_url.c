#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include "assets/url.h"
#include "nodeup/base/str.h"

static bool host_is_link_local(const char *host)
{
	autofree char *url = xasprintf("http://%s:80/latest", host);
	struct url u = url_split(url);

	return url_is_link_local(&u);
}

static bool peer_is_link_local(const char *address)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	char shown[URL_HOST_MAX];

	if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
		return url_peer_is_link_local((const struct sockaddr *)&four, shown);
	assert_int_equal(inet_pton(AF_INET6, address, &six.sin6_addr), 1);
	return url_peer_is_link_local((const struct sockaddr *)&six, shown);
}

/* Each address as a URL has it, and as a connection's peer. */
static void addresses(void **state)
{
	static const struct {
		const char *address;
		bool link_local;
	} rows[] = {
		{ "169.254.169.254", true },
		{ "169.254.0.1", true },
		{ "169.255.0.1", false },
		{ "10.0.0.1", false },
		{ "fe80::1", true },
		{ "febf::1", true },
		{ "fec0::1", false },
		{ "fd00:ec2::254", true },
		{ "fd00:ec2::23", true },
		{ "fd00:ec2:ffff::1", true },
		{ "fd00:ec3::254", false },
		{ "::ffff:169.254.169.254", true },
		{ "::ffff:8.8.8.8", false },
		{ "::ffff:0:169.254.169.254", true },
		{ "::ffff:0:8.8.8.8", false },
		{ "::169.254.169.254", true },
		{ "::8.8.8.8", false },
		{ "::1", false },
		{ "64:ff9b::a9fe:a9fe", true },
		{ "64:ff9b::8.8.8.8", false },
		{ "64:ff9b:0:0:a9fe:a9fe:808:808", false },
		{ "64:ff9b:1::a9fe:a9fe", true },
		{ "64:ff9b:1:a9fe:a9:fe00::", true },
		{ "64:ff9b:1:42a9:fe:a9fe::", true },
		{ "64:ff9b:1:4242:a9:fea9:fe00::", true },
		{ "64:ff9b:1:4242::a9fe:a9fe", true },
		{ "64:ff9b:1::8.8.8.8", false },
		{ "2002:a9fe:a9fe::1", true },
		{ "2002:808:808::a9fe:a9fe", false },
		{ "2001:db8::a9fe:a9fe", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *address = rows[i].address;
		autofree char *host = strchr(address, ':') ? xasprintf("[%s]", address)
							   : xstrdup(address);

		if (host_is_link_local(host) != rows[i].link_local)
			fail_msg("a URL's %s", address);
		if (peer_is_link_local(address) != rows[i].link_local)
			fail_msg("a peer's %s", address);
	}
}

/* However it is spelt, as resolvers and proxies read it. */
static void spellings(void **state)
{
	static const struct {
		const char *host;
		bool link_local;
	} rows[] = {
		{ "169.254.169.254.", true },
		{ "169.254.169.254..", true },
		{ "0251.0376.0251.0376", true },
		{ "0xa9.0xfe.43518", true },
		{ "0xA9FEA9FE.", true },
		{ "2852039166", true },
		{ "169.16689662", true },
		{ "%31%369.254.169.254", true },
		{ "169.254.169.254%2e", true },
		{ "[fe80::1%25eth0]", true },
		{ "[fe80::1%eth0]", true },
		{ "[fd00:EC2::23]", true },
		{ "169.254.169.254.example", false },
		{ "2852039166.example", false },
		{ "134744072", false },
		{ "a9fe", false },
		{ "8.8.8.8.", false },
		{ "169.254.169.254 .example", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (host_is_link_local(rows[i].host) != rows[i].link_local)
			fail_msg("%s", rows[i].host);
}

/* A proxy may map characters that look like digits or dots to those. */
static void hosts_are_ascii(void **state)
{
	static const struct {
		const char *url;
		bool ascii;
	} rows[] = {
		{ "http://example.com/\357\274\221", true },
		{ "http://xn--bcher-kva.example/", true },
		{ "http://\357\274\221\357\274\226\357\274\231.254.169.254/", false },
		{ "http://%EF%BC%91%ef%bc%966.254.169.254/", false },
		{ "http://169\343\200\202254.169.254/", false },
		{ "http://b\303\274cher.example/", false },
		{ "http://a%00b/", false },
		{ "http://a%0ab/", false },
		{ "http://u\303\274ser@example.com/", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct url u = url_split(rows[i].url);

		if (url_host_is_ascii(&u) != rows[i].ascii)
			fail_msg("%s", rows[i].url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(spellings),
		cmocka_unit_test(hosts_are_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
