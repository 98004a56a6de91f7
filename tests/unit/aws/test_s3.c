#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/aws/s3.h"

static int setup(void **state)
{
	assert_int_equal(unsetenv("AWS_ENDPOINT_URL_S3"), 0);
	assert_int_equal(unsetenv("AWS_ENDPOINT_URL"), 0);
	assert_int_equal(unsetenv("S3_ENDPOINT"), 0);
	*state = arena_new_empty();
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static void test_parse(void **state)
{
	static const struct {
		const char *location, *bucket, *key;
	} cases[] = {
		{ "s3://bucket/a/b", "bucket", "a/b" },
		{ "s3://bucket/", "bucket", "" },
		{ "s3://bucket", "bucket", "" },
		{ "s3://my.bucket/x y", "my.bucket", "x y" },
		{ "s3://Old_Name/a//b", "Old_Name", "a//b" },
	};
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct s3_location loc;

		assert_int_equal(s3_parse(*state, cases[i].location, &loc, &e), 0);
		assert_string_equal(loc.bucket, cases[i].bucket);
		assert_string_equal(loc.key, cases[i].key);
	}
}

static void test_parse_refuses(void **state)
{
	static const char *const cases[] = {
		"s3:///key",      "s3://",       "s3://ab/x",     "s3://a@evil.example/x",
		"s3://a:b/x",     "s3://b%2f/x", "S3://bucket/x", "https://bucket/x",
		"s3://buck et/x",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct s3_location loc = { 0 };
		struct err e = { 0 };

		assert_true(s3_parse(*state, cases[i], &loc, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, cases[i]));
		assert_null(loc.bucket);
	}
}

static void test_object_url(void **state)
{
	static const struct {
		const char *endpoint, *bucket, *key, *region, *url;
		bool dual_stack;
	} cases[] = {
		{ NULL, "bucket", "a/b.crt", "us-west-2",
		  "https://bucket.s3.us-west-2.amazonaws.com/a/b.crt" },
		{ NULL, "my.bucket", "k", "eu-west-1",
		  "https://s3.eu-west-1.amazonaws.com/my.bucket/k" },
		{ NULL, "Old_Name", "k", "us-east-1",
		  "https://s3.us-east-1.amazonaws.com/Old_Name/k" },
		{ NULL, "bucket", "k", "cn-north-1",
		  "https://bucket.s3.cn-north-1.amazonaws.com.cn/k" },
		{ NULL, "bucket", "system:dns a+b?c", "us-west-2",
		  "https://bucket.s3.us-west-2.amazonaws.com/system%3Adns%20a%2Bb%3Fc" },
		{ NULL, "bucket", "k", "us-west-2",
		  "https://bucket.s3.dualstack.us-west-2.amazonaws.com/k", true },
		{ NULL, "my.bucket", "k", "cn-north-1",
		  "https://s3.dualstack.cn-north-1.amazonaws.com.cn/my.bucket/k", true },
		{ "http://127.0.0.1:9000", "bucket", "k", "us-west-2",
		  "http://127.0.0.1:9000/bucket/k", true },
		{ "https://minio.example/", "bucket", "k", "us-west-2",
		  "https://minio.example/bucket/k" },
		{ "minio.example:9000", "bucket", "k", "us-west-2",
		  "https://minio.example:9000/bucket/k" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct s3_location loc = { cases[i].bucket, cases[i].key };
		const struct s3_place at = { cases[i].region, cases[i].dual_stack };

		if (cases[i].endpoint)
			assert_int_equal(setenv("S3_ENDPOINT", cases[i].endpoint, 1), 0);
		assert_string_equal(s3_object_url(*state, &loc, &at), cases[i].url);
	}
}

static void test_endpoint_order(void **state)
{
	(void)state;
	assert_null(s3_endpoint());
	assert_int_equal(setenv("S3_ENDPOINT", "http://c", 1), 0);
	assert_string_equal(s3_endpoint(), "http://c");
	assert_int_equal(setenv("AWS_ENDPOINT_URL", "http://b", 1), 0);
	assert_string_equal(s3_endpoint(), "http://b");
	assert_int_equal(setenv("AWS_ENDPOINT_URL_S3", "http://a", 1), 0);
	assert_string_equal(s3_endpoint(), "http://a");
	assert_int_equal(setenv("AWS_ENDPOINT_URL_S3", "", 1), 0);
	assert_string_equal(s3_endpoint(), "http://b");
}

static void test_list_url(void **state)
{
	const struct s3_place at = { "us-west-2", false };
	struct s3_location loc = { "bucket", "pki/issued" }, root = { "bucket", "" };

	assert_string_equal(s3_list_url(*state, &loc, &at, NULL),
			    "https://bucket.s3.us-west-2.amazonaws.com/"
			    "?delimiter=%2F&list-type=2&prefix=pki%2Fissued%2F");
	assert_string_equal(s3_list_url(*state, &loc, &at, "a/b=="),
			    "https://bucket.s3.us-west-2.amazonaws.com/"
			    "?continuation-token=a%2Fb%3D%3D&delimiter=%2F&list-type=2"
			    "&prefix=pki%2Fissued%2F");
	assert_string_equal(s3_list_url(*state, &root, &at, NULL),
			    "https://bucket.s3.us-west-2.amazonaws.com/"
			    "?delimiter=%2F&list-type=2&prefix=");
}

static int parse(struct arena *a, const char *xml, struct strv *names, const char **token,
		 struct err *e)
{
	return s3_list_parse(a, xml, strlen(xml), names, token, e);
}

#define LIST "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"

static void test_list_parse(void **state)
{
	static const char page[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" LIST
		"<Name>b</Name><Prefix>pki/</Prefix><IsTruncated>true</IsTruncated>"
		"<NextContinuationToken>t&amp;1</NextContinuationToken>"
		"<Contents><Key>pki/</Key></Contents>"
		"<Contents><Key>pki/a&amp;b.crt</Key><Size>1</Size></Contents>"
		"<Contents><Owner><ID>pki/no</ID></Owner><Key>pki/2</Key></Contents>"
		"<CommonPrefixes><Prefix>pki/issued/</Prefix></CommonPrefixes>"
		"</ListBucketResult>";
	struct strv names = { 0 };
	const char *token = "x";
	struct err e;

	assert_int_equal(parse(*state, page, &names, &token, &e), 0);
	assert_string_equal(strv_join(*state, &names, " "), "a&b.crt 2 issued");
	assert_string_equal(token, "t&1");
	assert_int_equal(parse(*state, LIST "<IsTruncated>false</IsTruncated></ListBucketResult>",
			       &names, &token, &e),
			 0);
	assert_null(token);
	assert_int_equal(names.n, 3);
}

static void test_list_parse_refuses(void **state)
{
	static const char *const cases[] = {
		"",
		"not xml",
		"<html><body>login</body></html>",
		LIST "<Contents><Key>a</Key></Contents>",
		LIST "<IsTruncated>true</IsTruncated></ListBucketResult>",
		"<!DOCTYPE x [<!ENTITY a \"b\">]>" LIST "<Contents><Key>&a;</Key></Contents>"
		"</ListBucketResult>",
		LIST
		"<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a>"
		"</a></a></a></a></a></a></a></a></ListBucketResult>",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct strv names = { 0 };
		const char *token;
		struct err e = { 0 };

		assert_int_equal(parse(*state, cases[i], &names, &token, &e), -EPROTO);
		assert_int_equal(e.kind, ERR_NET);
	}
}

static void test_explain(void **state)
{
	static const char xml[] = "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code>"
				  "<Message>Access\nDenied</Message><RequestId>7K2</RequestId>"
				  "<HostId>h</HostId></Error>";
	static const char page[] = "<html>no</html>";
	struct err e = { 0 };

	(void)err_fail(&e, ERR_NET, EACCES, "GET s3://b/k: S3 403");
	s3_explain(*state, page, strlen(page), &e);
	assert_string_equal(e.msg, "GET s3://b/k: S3 403");
	s3_explain(*state, "", 0, &e);
	assert_string_equal(e.msg, "GET s3://b/k: S3 403");
	s3_explain(*state, xml, strlen(xml), &e);
	assert_string_equal(e.msg, "GET s3://b/k: S3 403 AccessDenied: Access Denied, request 7K2");
	assert_int_equal(e.errnum, EACCES);
	/* only the beginning of a long one is kept */
	(void)err_fail(&e, ERR_NET, EACCES, "x");
	s3_explain(*state, xml, strlen(xml) - 20, &e);
	assert_string_equal(e.msg, "x AccessDenied: Access Denied, request 7K2");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_parse),
		T(test_parse_refuses),
		T(test_object_url),
		T(test_endpoint_order),
		T(test_list_url),
		T(test_list_parse),
		T(test_list_parse_refuses),
		T(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
