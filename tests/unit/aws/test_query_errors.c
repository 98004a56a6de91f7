#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/aws/query_errors.h"

static int setup(void **state)
{
	*state = arena_new_empty();
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static int explain(struct arena *a, int status, const char *code, const char *message,
		   struct err *e)
{
	const char *xml = arena_printf(a,
				       "<Response><Errors><Error><Code>%s</Code><Message>%s"
				       "</Message></Error></Errors><RequestID>7K2</RequestID>"
				       "</Response>",
				       code, message);

	return query_error(a, "EC2", "DescribeVolumes", status, xml, strlen(xml), e);
}

static void test_each_code(void **state)
{
	static const struct {
		const char *code, *message;
		int errnum;
		enum err_kind kind;
		const char *says;
	} cases[] = {
		{ "InvalidParameterValue", "Value (x) for parameter device is invalid", EINVAL,
		  ERR_CONFIG, "it is not taken" },
		{ "RequestLimitExceeded", "", EAGAIN, ERR_NET,
		  "too many requests of this account" },
		{ "Throttling", "", EAGAIN, ERR_NET, "too many requests of this account" },
		{ "UnauthorizedOperation", "", EACCES, ERR_NET, "the role may not do this" },
		{ "AuthFailure", "", EKEYEXPIRED, ERR_NET, "the credentials are not accepted" },
		{ "ExpiredToken", "", EKEYEXPIRED, ERR_NET, "the credentials have expired" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { 0 };

		assert_int_equal(explain(*state, 400, cases[i].code, cases[i].message, &e),
				 -cases[i].errnum);
		assert_int_equal(e.kind, cases[i].kind);
		assert_string_equal(e.msg, arena_printf(*state, "DescribeVolumes: EC2 400 %s: %s",
							cases[i].code, cases[i].says));
		assert_string_equal(e.notes[e.nnotes - 1].text, "7K2");
	}
}

static void test_the_encoded_message_is_not_shown(void **state)
{
	struct err e = { 0 };

	assert_int_equal(explain(*state, 403, "UnauthorizedOperation",
				 "You are not authorized to perform this operation. User: arn:x "
				 "Encoded authorization failure message: CANARY",
				 &e),
			 -EACCES);
	assert_int_equal(e.nnotes, 2);
	assert_string_equal(e.notes[0].label, "AWS says");
	assert_string_equal(e.notes[0].text,
			    "You are not authorized to perform this operation. User: arn:x");
}

/* What was signed has the session token in it. */
static void test_what_was_signed_is_not_shown(void **state)
{
	static const char *const from[] = {
		"The Canonical String for this request should have been 'POST / ",
		"The String-to-Sign should have been 'AWS4-HMAC-SHA256 ",
		"the canonical\nstring ",
		"",
	};

	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		struct err e = { 0 };
		const char *message = arena_printf(
			*state, "Check your key. %sx-amz-security-token:CANARY", from[i]);

		assert_int_equal(explain(*state, 403, "SignatureDoesNotMatch", message, &e),
				 -EKEYEXPIRED);
		assert_int_equal(e.nnotes, 2);
		assert_string_equal(e.notes[0].text, "Check your key.");
	}
}

static void test_what_the_table_does_not_have(void **state)
{
	static const struct {
		int status;
		const char *code;
		int errnum;
		const char *msg;
	} cases[] = {
		{ 500, "Weird", EAGAIN, "DescribeVolumes: EC2 500 Weird" },
		{ 400, "Weird", EPROTO, "DescribeVolumes: EC2 400 Weird" },
		{ 403, "Weird", EACCES, "DescribeVolumes: EC2 403 Weird" },
	};
	static const char page[] = "<html>a proxy's page</html>";
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(explain(*state, cases[i].status, cases[i].code, "", &e),
				 -cases[i].errnum);
		assert_string_equal(e.msg, cases[i].msg);
		assert_int_equal(e.kind, ERR_NET);
	}
	assert_int_equal(query_error(*state, "EC2", "DescribeVolumes", 503, page, strlen(page), &e),
			 -EAGAIN);
	assert_string_equal(e.msg, "DescribeVolumes: EC2 503");
}

static void test_a_message_is_one_line(void **state)
{
	struct err e = { 0 };

	assert_int_equal(explain(*state, 400, "Blocked", " a\nb\t ", &e), -EINVAL);
	assert_string_equal(e.notes[0].text, "a b");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_code),
		T(test_the_encoded_message_is_not_shown),
		T(test_what_was_signed_is_not_shown),
		T(test_what_the_table_does_not_have),
		T(test_a_message_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
