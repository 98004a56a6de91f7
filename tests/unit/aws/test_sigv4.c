#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include "assets/digest.h"
#include "nodeup/aws/sigv4.h"

/* AWS's Signature Version 4 test suite, as far as it is not about normalizing paths, which S3 does
 * not do. Paths and queries are encoded here as a client sends them. */
static const struct sigv4_key suite_key = {
	"AKIDEXAMPLE",
	"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
	NULL,
};

static const int64_t suite_time = 1440938160; /* 2015-08-30T12:36:00Z */

static const char suite_token[] =
	"6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";

static const char long_token[] =
	"AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfp"
	"SPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQ"
	"DYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+s"
	"cqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

static const char unreserved[] =
	"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#define FORM                                       \
	"Content-Length:13\nX-Amz-Content-Sha256:" \
	"9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e\nContent-Type:"

struct vector {
	const char *name, *method, *path, *query, *token;
	const char *headers; /* separated by \n; a line that begins with a space goes on */
	const char *body;
	const char *signature;
};

/* clang-format off */
static const struct vector suite[] = {
	{ "get-vanilla", "GET", "/", NULL, NULL, NULL, "",
	  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
	{ "post-vanilla", "POST", "/", NULL, NULL, NULL, "",
	  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
	{ "get-header-key-duplicate", "GET", "/", NULL, NULL,
	  "My-Header1:value2\nMy-Header1:value2\nMy-Header1:value1", "",
	  "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea" },
	{ "get-header-value-multiline", "GET", "/", NULL, NULL,
	  "My-Header1:value1\n  value2\n     value3", "",
	  "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd" },
	{ "get-header-value-order", "GET", "/", NULL, NULL,
	  "My-Header1:value4\nMy-Header1:value1\nMy-Header1:value3\nMy-Header1:value2", "",
	  "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01" },
	{ "get-header-value-trim", "GET", "/", NULL, NULL,
	  "My-Header1: value1\nMy-Header2: \"a   b   c\"", "",
	  "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736" },
	{ "post-header-key-sort", "POST", "/", NULL, NULL, "My-Header1:value1", "",
	  "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c" },
	{ "post-header-value-case", "POST", "/", NULL, NULL, "My-Header1:VALUE1", "",
	  "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d" },
	{ "get-relative-unnormalized", "GET", "/example/..", NULL, NULL, NULL, "",
	  "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282" },
	{ "get-slash-dot-slash-unnormalized", "GET", "/./", NULL, NULL, NULL, "",
	  "68714168e6557f8f2de0ef956fc24dc2593a4bd2961f8df51898d8a134695145" },
	{ "get-slash-unnormalized", "GET", "//", NULL, NULL, NULL, "",
	  "c88bcd3d312d75078c0cd961d6deae3f4c754924b01669efcfcb439fd5e5b76e" },
	{ "get-slashes-unnormalized", "GET", "//example//", NULL, NULL, NULL, "",
	  "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5" },
	{ "get-space-unnormalized", "GET", "/example%20space/", NULL, NULL, NULL, "",
	  "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741" },
	{ "get-unreserved", "GET",
	  "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", NULL, NULL, NULL, "",
	  "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f" },
	{ "get-utf8", "GET", "/%E1%88%B4", NULL, NULL, NULL, "",
	  "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85" },
	{ "get-vanilla-empty-query-key", "GET", "/", "Param1=value1", NULL, NULL, "",
	  "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb" },
	{ "get-vanilla-query-order-encoded", "GET", "/",
	  "Param-3=Value3&Param=Value2&%E1%88%B4=Value1", NULL, NULL, "",
	  "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac" },
	{ "get-vanilla-query-order-key-case", "GET", "/", "Param2=value2&Param1=value1", NULL, NULL, "",
	  "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500" },
	{ "get-vanilla-query-unreserved", "GET", "/", unreserved, NULL, NULL, "",
	  "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197" },
	{ "get-vanilla-utf8-query", "GET", "/", "%E1%88%B4=bar", NULL, NULL, "",
	  "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04" },
	{ "post-vanilla-query", "POST", "/", "Param1=value1", NULL, NULL, "",
	  "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11" },
	{ "get-vanilla-with-session-token", "GET", "/", NULL, suite_token, NULL, "",
	  "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8" },
	{ "post-sts-header-before", "POST", "/", NULL, long_token, NULL, "",
	  "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead" },
	{ "post-x-www-form-urlencoded", "POST", "/", NULL, NULL,
	  FORM "application/x-www-form-urlencoded", "Param1=value1",
	  "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b" },
	{ "post-x-www-form-urlencoded-parameters", "POST", "/", NULL, NULL,
	  FORM "application/x-www-form-urlencoded; charset=utf-8", "Param1=value1",
	  "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422" },
};
/* clang-format on */

/* The S3 API reference, "Signature Calculations for the Authorization Header". */
static const struct sigv4_key s3_key = {
	"AKIAIOSFODNN7EXAMPLE",
	"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	NULL,
};

static const int64_t s3_time = 1369353600; /* 2013-05-24T00:00:00Z */

/* clang-format off */
static const struct vector s3_examples[] = {
	{ "GET Object", "GET", "/test.txt", NULL, NULL, "Range: bytes=0-9", "",
	  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41" },
	{ "PUT Object", "PUT", "/test%24file.text", NULL, NULL,
	  "Date: Fri, 24 May 2013 00:00:00 GMT\nx-amz-storage-class: REDUCED_REDUNDANCY",
	  "Welcome to Amazon S3.",
	  "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd" },
	{ "GET Bucket Lifecycle", "GET", "/", "lifecycle", NULL, NULL, "",
	  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
	{ "Get Bucket (List Objects)", "GET", "/", "max-keys=2&prefix=J", NULL, NULL, "",
	  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
};
/* clang-format on */

static struct strv split_headers(struct arena *a, const char *text)
{
	struct strv lines = strv_split(a, text ? text : "", '\n'), out = { 0 };

	for (size_t i = 0; i < lines.n; i++)
		if (*lines.v[i] == ' ')
			out.v[out.n - 1] = arena_printf(a, "%s\n%s", out.v[out.n - 1], lines.v[i]);
		else
			strv_add(a, &out, lines.v[i]);
	return out;
}

static struct sigv4_req request_of(struct arena *a, const struct vector *v)
{
	struct sigv4_req req = { .method = v->method,
				 .host = "example.amazonaws.com",
				 .path = v->path,
				 .query = v->query,
				 .headers = split_headers(a, v->headers),
				 .region = "us-east-1",
				 .service = "service",
				 .time = suite_time };
	char hex[DIGEST_TEXT_MAX];
	struct digest d;

	if (v->query == unreserved)
		req.query = arena_printf(a, "%s=%s", unreserved, unreserved);
	digest_of(DIGEST_SHA256, v->body, strlen(v->body), &d);
	req.payload = arena_str(a, digest_hex(&d, hex));
	return req;
}

static const char *find_header(const struct strv *headers, const char *prefix)
{
	for (size_t i = 0; i < headers->n; i++)
		if (str_has_prefix(headers->v[i], prefix))
			return headers->v[i] + strlen(prefix);
	return NULL;
}

static void expect_signature(struct arena *a, const struct vector *v, const struct sigv4_req *req,
			     const struct sigv4_key *key)
{
	struct strv headers = sigv4_sign(a, req, key);
	const char *authorization = find_header(&headers, "Authorization: ");

	assert_non_null(authorization);
	if (!str_has_suffix(authorization, arena_printf(a, ", Signature=%s", v->signature)))
		fail_msg("%s: want %s got %s\nof\n%s", v->name, v->signature, authorization,
			 sigv4_canonical(a, req, key->token));
}

static void test_suite(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(suite); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct sigv4_req req = request_of(a, &suite[i]);
		struct sigv4_key key = suite_key;

		key.token = suite[i].token;
		expect_signature(a, &suite[i], &req, &key);
	}
}

static void test_s3_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(s3_examples); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct sigv4_req req = request_of(a, &s3_examples[i]);

		req.host = "examplebucket.s3.amazonaws.com";
		req.service = "s3";
		req.time = s3_time;
		expect_signature(a, &s3_examples[i], &req, &s3_key);
	}
}

/* The whole of one, as the suite and the S3 reference print it. */
static void test_canonical_and_headers(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sigv4_req req = request_of(a, &s3_examples[0]);
	struct strv headers;

	(void)state;
	req.host = "examplebucket.s3.amazonaws.com";
	req.service = "s3";
	req.time = s3_time;
	assert_string_equal(sigv4_canonical(a, &req, NULL),
			    "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\n"
			    "range:bytes=0-9\n"
			    "x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca"
			    "495991b7852b855\nx-amz-date:20130524T000000Z\n\n"
			    "host;range;x-amz-content-sha256;x-amz-date\n"
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_string_equal(req.payload, sigv4_empty);
	headers = sigv4_sign(a, &req, &s3_key);
	assert_int_equal(headers.n, 3);
	assert_string_equal(find_header(&headers, "X-Amz-Date: "), "20130524T000000Z");
	assert_string_equal(find_header(&headers, "X-Amz-Content-Sha256: "), sigv4_empty);
	assert_true(str_has_prefix(find_header(&headers, "Authorization: "),
				   "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
				   "us-east-1/s3/aws4_request, SignedHeaders=host;range;"
				   "x-amz-content-sha256;x-amz-date, Signature=f0e8"));
}

/* The token is sent and signed. */
static void test_token(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sigv4_req req = request_of(a, &s3_examples[0]);
	struct sigv4_key key = s3_key;
	struct strv headers;

	(void)state;
	key.token = "T0";
	headers = sigv4_sign(a, &req, &key);
	assert_string_equal(find_header(&headers, "X-Amz-Security-Token: "), "T0");
	assert_non_null(strstr(find_header(&headers, "Authorization: "), ";x-amz-security-token,"));
	assert_non_null(strstr(sigv4_canonical(a, &req, "T0"), "\nx-amz-security-token:T0\n"));
}

static void test_unsigned_payload(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sigv4_req req = request_of(a, &s3_examples[0]);
	struct strv headers;

	(void)state;
	req.service = "s3";
	req.payload = "UNSIGNED-PAYLOAD";
	headers = sigv4_sign(a, &req, &s3_key);
	assert_string_equal(find_header(&headers, "X-Amz-Content-Sha256: "), "UNSIGNED-PAYLOAD");
	assert_true(str_has_suffix(sigv4_canonical(a, &req, NULL), "\nUNSIGNED-PAYLOAD"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite),
		cmocka_unit_test(test_s3_examples),
		cmocka_unit_test(test_canonical_and_headers),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_unsigned_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
