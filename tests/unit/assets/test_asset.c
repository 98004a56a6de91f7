#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include "assets/asset.h"
#include "assets/http/proxy.h"
#include "assets/url.h"

#define H1 "a9993e364706816aba3e25717850c26c9cd0d89d"
#define H256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void test_parse(void **state)
{
	static const struct {
		const char *text, *name;
		enum digest_algo algo;
		size_t nurls;
		enum asset_form form;
	} cases[] = {
		{ H1 "@https://k8s/v1.8.7/bin/kubelet", "kubelet", DIGEST_SHA1, 1, ASSET_PLAIN },
		{ H256 "@https://a/x.tar.gz,http://b/y", "x.tar.gz", DIGEST_SHA256, 2,
		  ASSET_TAR_GZ },
		{ "sha256:" H256 "@file:///srv/x.tgz", "x.tgz", DIGEST_SHA256, 1, ASSET_TAR_GZ },
		{ " " H1 "@https://a/x.tar.xz , https://b/x.tar.xz\n", "x.tar.xz", DIGEST_SHA1, 2,
		  ASSET_TAR_XZ },
		{ H1 "@HTTPS://a/x.tar.zst?X-Amz-Signature=1/2", "x.tar.zst", DIGEST_SHA1, 1,
		  ASSET_TAR_ZST },
		{ H1 "@https://u:p@a/d@1/kubelet#frag", "kubelet", DIGEST_SHA1, 1, ASSET_PLAIN },
		{ H1 "@https://a/k,https://a/k", "k", DIGEST_SHA1, 1, ASSET_PLAIN },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct asset as;
		struct err e;

		assert_int_equal(asset_parse(a, cases[i].text, &as, &e), 0);
		assert_string_equal(as.name, cases[i].name);
		assert_int_equal(as.digest.algo, cases[i].algo);
		assert_int_equal(as.urls.n, cases[i].nurls);
		assert_int_equal(as.form, cases[i].form);
		assert_int_equal(asset_is_archive(&as), cases[i].form != ASSET_PLAIN);
	}
}

static void test_parse_keeps_the_url_whole(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct asset as;
	struct err e;

	(void)state;
	assert_int_equal(asset_parse(a, H1 "@https://u:p@a/k?s=1, http://b/k", &as, &e), 0);
	assert_string_equal(as.urls.v[0], "https://u:p@a/k?s=1");
	assert_string_equal(as.urls.v[1], "http://b/k");
}

static void test_refused_without_secrets(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "https://u:hunter2@a/kubelet?sig=hunter2", "no hash" },
		{ "https://a/kubelet,https://u:hunter2@b/kubelet", "no hash" },
		{ "abc@https://u:hunter2@a/kubelet?sig=hunter2", "is not a digest" },
		{ "abc@https://a/x,https://u:hunter2@a/kubelet", "is not a digest" },
		{ H1 "@ftp://u:hunter2@a/kubelet?sig=hunter2", "http, https, s3 or file" },
		{ H1 "@/srv/kubelet", "http, https, s3 or file" },
		{ H1 "@https://a/k,hunter2", "http, https, s3 or file" },
		{ H1 "@https://a/k,", "http, https, s3 or file" },
		{ H1 "@https://u:hunter2@a/?sig=hunter2", "no file name" },
		{ H1 "@https://a", "no file name" },
		{ H1 "@https://a/x/..", "no file name" },
		{ H1 "@https:///kubelet", "no host" },
		{ H1 "@", "without a URL" },
		{ "", "no hash" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct asset as;
		struct err e;

		assert_true(asset_parse(a, cases[i].text, &as, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("'%s' gave '%s'", cases[i].text, e.msg);
		if (strcmp(cases[i].text, H1 "@https://a/k,hunter2") != 0 &&
		    strstr(e.msg, "hunter2"))
			fail_msg("'%s' leaks '%s'", cases[i].text, e.msg);
	}
}

static void test_url_public(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "https://a/b?sig=s", "https://a/b" },
		{ "https://u:p@a:8443/b#f", "https://a:8443/b" },
		{ "https://u:p@x@a/b", "https://a/b" },
		{ "https://a?sig=s/x@y", "https://a" },
		{ "https://[fd00::1]:80/x", "https://[fd00::1]:80/x" },
		{ "u:p@a/b?x", "u:p" }, /* no URL: nothing behind the '@' */
		{ "https://a/\x1b[2J\n", "https://a/?[2J?" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(asset_url_public(a, cases[i].in), cases[i].out);
}

static void test_link_local(void **state)
{
	static const struct {
		const char *url;
		bool is;
	} cases[] = {
		{ "http://169.254.169.254/latest", true },
		{ "http://169.254.0.1:80", true },
		{ "http://u@169.254.169.254/", true },
		{ "http://[fe80::1]/", true },
		{ "http://[fe80::1%25eth0]/", true },
		{ "http://[febf::1]/", true },
		{ "http://[fd00:ec2::254]/latest", true },
		{ "http://[fd00:ec2:0:0::254]:80/latest", true },
		{ "http://[::ffff:169.254.169.254]/", true },
		{ "http://[fec0::1]/", false },
		{ "http://169.253.1.1/", false },
		{ "http://169.254.169.254.nip.io/", false },
		{ "http://a/169.254.169.254", false },
		{ "169.254.169.254", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct url u = url_split(cases[i].url);

		if (url_is_link_local(&u) != cases[i].is)
			fail_msg("%s", cases[i].url);
	}
}

static void test_proxy_choice(void **state)
{
	static const struct proxies p = { .http.url = "http://p:1", .https.url = "http://p:2" };
	static const struct {
		const char *url, *proxy;
	} cases[] = {
		{ "http://a/", "http://p:1" },
		{ "HTTPS://a/", "http://p:2" },
		{ "http://169.254.169.254/latest", "" },
		{ "http://[fd00:ec2::254]/latest", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct url u = url_split(cases[i].url);

		assert_string_equal(proxy_for(&p, &u)->url, cases[i].proxy);
	}
}

static void test_same_origin(void **state)
{
	static const struct {
		const char *a, *b;
		bool is;
	} cases[] = {
		{ "https://a/x", "https://A/y", true },
		{ "https://a/x", "http://a/x", false },
		{ "https://a:1/x", "https://a:2/x", false },
		{ "https://a/x", "https://a.b/x", false },
		{ "https://a/x", "https://a@b/x", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct url a = url_split(cases[i].a), b = url_split(cases[i].b);

		assert_int_equal(url_same_origin(&a, &b), cases[i].is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_keeps_the_url_whole),
		cmocka_unit_test(test_refused_without_secrets),
		cmocka_unit_test(test_url_public),
		cmocka_unit_test(test_link_local),
		cmocka_unit_test(test_proxy_choice),
		cmocka_unit_test(test_same_origin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
