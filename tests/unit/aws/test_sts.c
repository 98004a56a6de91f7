#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/aws/sts.h"
#include "nodeup/base/enc.h"

#define FORM "\"Content-Type\":[\"application/x-www-form-urlencoded; charset=utf-8\"]"

/* The first is the vector of kops' own test; the second was computed by another program. */
static const struct {
	struct sts_proof proof;
	const char *body, *json;
} rows[] = {
	{ { .region = "us-east-1",
	    .host = "sts.amazonaws.com",
	    .key = { "fakeaccesskey", "fakesecretkey", NULL },
	    .time = 1716038342 },
	  "test-body",
	  "{\"Authorization\":[\"AWS4-HMAC-SHA256 Credential=fakeaccesskey/20240518/us-east-1/sts/aws4_request, "
	  "SignedHeaders=content-length;content-type;host;x-amz-date;x-kops-request-sha, "
	  "Signature=198684464845d2d52947df10171b6291e1b2223ce4bd82a380087761d91246f9\"]," FORM ","
	  "\"X-Amz-Date\":[\"20240518T131902Z\"],"
	  "\"X-Kops-Request-Sha\":[\"2dhlzFTsYGePGxGQhK15rn+TV9HEUZxkV94zFLf7uoo\"]}" },
	{ { .region = "cn-north-1",
	    .key = { "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "FwoG/+==token" },
	    .time = 1795478100 },
	  "{\"apiVersion\":\"x\"}",
	  "{\"Authorization\":[\"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261123/cn-north-1/sts/aws4_request, "
	  "SignedHeaders=content-length;content-type;host;x-amz-date;x-amz-security-token;x-kops-request-sha, "
	  "Signature=190f00611f14c10c7304a7770e190f517db915df6cf21fbdd776e9423e64bc99\"]," FORM ","
	  "\"X-Amz-Date\":[\"20261123T235500Z\"],\"X-Amz-Security-Token\":[\"FwoG/+==token\"],"
	  "\"X-Kops-Request-Sha\":[\"a63eZTVKOUUyJ2zyjjyxIR8gh0X5pEzZn6nJ0d1tTNY\"]}" },
};

static void a_proof_is_the_header_map_of_go(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sts_proof p = rows[i].proof;
		char *text, *json;
		struct err e;
		size_t n;

		p.body = rows[i].body;
		p.n = strlen(rows[i].body);
		text = sts_authorization(a, &p);
		assert_true(str_has_prefix(text, "x-aws-sts "));
		assert_int_equal(enc_unbase64(a, text + strlen("x-aws-sts "), &json, &n, &e), 0);
		assert_string_equal(json, rows[i].json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_proof_is_the_header_map_of_go) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
