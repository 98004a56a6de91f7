#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "assets/signature.h"
#include "nodeup/base/str.h"
#include "tests/unit/lib/origin.h"

/* made by minisign 0.11 over this text, by either algorithm */
#define KEY "RWQRK09Gt1Xy7NnNO9kzRApi2rN8O+5eaEc7QoMiBsPI/WJkxYOTHuoY"
#define SIG_ED                                                 \
	"RUQRK09Gt1Xy7KgOBYKqQK4h7tosW+GPHBgwly2hm6QwnraNE7P/" \
	"gO2jqxTjtw/8r57opFbzrOHaY6HtI8fw3atAM3VW0VoqLQs="
#define GLOBAL_ED                                                           \
	"YhYSevmlyt4a7nwViEi29oGsGhsdIXJRGCiRP5dYB9HLv3c/ndfDF5EsrrYMkDIN+" \
	"WwUySZ6BKMC9JFVGPAzDg=="
#define SIG_OLD                                                    \
	"RWQRK09Gt1Xy7Lyw7UiFm2zvJ/ew2s0rT4AHT0Q1crSmWczaiHJNDCn/" \
	"p2PiX0X98kWTAAB8cdQahDTlh96RhPvvoGrHkT1WMgY="
#define GLOBAL_OLD                                      \
	"MNPz7H/N5xf5rXF+oX81xMvqCECqfDvgO8zzbqTJnIWM+" \
	"dSu2HiBHb8TfmOGnPKv9wKbk1o7Ysro7OEriBI4Aw=="
#define COMMENT "untrusted comment: signature from minisign secret key\n"

static const char text[] = "a kubelet\n", other_text[] = "a rootkit\n";
static const char other_key[] = "untrusted comment: minisign public key 3E878A228E7AEBD2\n"
				"RWTS63qOIoqHPhB+uCDb6IpBWCuPjVq6+qWMIObjTUEOQbYxBGnHijum\n";
static const char *const right[] = {
	COMMENT SIG_ED "\ntrusted comment: kubelet 1.8.4\n" GLOBAL_ED "\n",
	COMMENT SIG_ED "\r\ntrusted comment: kubelet 1.8.4\r\n" GLOBAL_ED "\r\n",
	COMMENT SIG_OLD "\ntrusted comment: legacy\n" GLOBAL_OLD "\n",
	SIG_ED,
	SIG_OLD "\n",
};

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

static struct signature_keys keys_of(struct arena *a, const char *first, const char *second)
{
	const char *texts[] = { first, second };
	struct signature_keys keys = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(texts) && texts[i]; i++) {
		struct signature_key key = { .from = "the test" };
		struct err e;

		if (signature_parse_key(a, texts[i], &key, &e) < 0)
			fail_msg("%s", e.msg);
		arena_push(a, keys.v, keys.n, key);
	}
	return keys;
}

static struct signature parse(struct arena *a, const char *sig)
{
	struct signature s = { 0 };
	struct err e;

	if (signature_parse(a, sig, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static int file_of(const char *dir, const char *data)
{
	int fd;
	autofree char *path = xasprintf("%s/f", dir);

	tmp_write(dir, "f", data, strlen(data));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* Of a text and of a file alike. */
static int check(const struct signature *s, const struct signature_keys *keys, const char *data,
		 struct err *e)
{
	char dir[64];
	int r, fd, of_fd;

	tmp_make(dir);
	fd = file_of(dir, data);
	r = signature_check(s, keys, data, strlen(data), e);
	of_fd = signature_check_fd(s, keys, fd, "f", e);
	assert_int_equal(r, of_fd);
	(void)close(fd);
	tmp_remove(dir);
	return r;
}

static void test_right(void **state)
{
	struct signature_keys keys = keys_of(*state, other_key, KEY);

	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		struct signature s = parse(*state, right[i]);
		struct err e;

		if (check(&s, &keys, text, &e) < 0)
			fail_msg("%zu: %s", i, e.msg);
	}
	assert_string_equal(signature_id(keys.v[1].id, *state), "ECF255B7464F2B11");
}

static void test_wrong(void **state)
{
	struct signature_keys keys = keys_of(*state, KEY, NULL),
			      none = keys_of(*state, other_key, NULL);

	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		struct signature s = parse(*state, right[i]), bent = s;
		struct err e;

		assert_int_equal(check(&s, &keys, other_text, &e), -EBADMSG);
		assert_int_equal(e.kind, ERR_INTEGRITY);
		assert_string_equal(e.msg, "the signature is wrong");
		assert_int_equal(check(&s, &keys, "", &e), -EBADMSG);
		assert_int_equal(check(&s, &none, text, &e), -ENOKEY);
		assert_int_equal(e.kind, ERR_INTEGRITY);
		assert_non_null(strstr(e.msg, "key ECF255B7464F2B11, which is not known"));
		bent.bytes[40] ^= 1;
		assert_int_equal(check(&bent, &keys, text, &e), -EBADMSG);
		/* what was hashed is not what was signed */
		bent = s;
		bent.prehashed = !bent.prehashed;
		assert_int_equal(check(&bent, &keys, text, &e), -EBADMSG);
	}
}

/* A key that calls itself by another's name. */
static void test_another_key_of_that_name(void **state)
{
	struct signature_keys keys = keys_of(*state, KEY, other_key);
	struct signature s = parse(*state, right[0]);
	struct err e;

	memcpy(keys.v[0].bytes, keys.v[1].bytes, SIGNATURE_KEY);
	assert_int_equal(check(&s, &keys, text, &e), -EBADMSG);
}

static void test_trusted_comment(void **state)
{
	struct signature_keys keys = keys_of(*state, KEY, NULL);
	struct signature s =
		parse(*state, COMMENT SIG_ED "\ntrusted comment: kubelet 1.9.0\n" GLOBAL_ED);
	struct err e;

	assert_string_equal(s.comment, "kubelet 1.9.0");
	assert_int_equal(check(&s, &keys, text, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, "trusted comment"));
}

static void test_no_signature(void **state)
{
	static const char *const texts[] = {
		"",
		"nonsense",
		COMMENT,
		COMMENT KEY,
		SIG_ED "\ntrusted comment: x",
		SIG_ED "\nsome comment: x\n" GLOBAL_ED,
		SIG_ED "\ntrusted comment: x\n" SIG_ED,
		SIG_ED "\ntrusted comment: x\n" GLOBAL_ED "\n" GLOBAL_ED,
		"AAA" SIG_ED,
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct signature s = { 0 };
		struct signature_key key = { 0 };
		struct err e;

		assert_true(signature_parse(*state, texts[i], &s, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		if (i != 3)
			assert_true(signature_parse_key(*state, texts[i], &key, &e) < 0);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_right),           T(test_wrong),        T(test_another_key_of_that_name),
		T(test_trusted_comment), T(test_no_signature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
