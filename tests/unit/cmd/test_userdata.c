#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nodeup/base/mem.h"
#include "userdata/mime.h"
#include "userdata/pack.h"
#include "userdata/script.h"

#define SHA1 "0f3a59e4c0aae8c2b2a0924d8ace010ebf39f48e"

static char *render(struct arena *a, const struct userdata_req *req)
{
	struct err e = { 0 };
	char *text = NULL;

	assert_int_equal(userdata_render(a, req, &text, &e), 0);
	return text;
}

static void test_quote(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(userdata_quote(a, ""), "''");
	assert_string_equal(userdata_quote(a, "$x `y` \"z\"\n"), "'$x `y` \"z\"\n'");
	assert_string_equal(userdata_quote(a, "'a'b"), "''\\''a'\\''b'");
}

static void test_script_has_what_was_asked(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct userdata_document d = { "kube_env.yaml", "ClusterName: a" };
	struct userdata_req req = { "sha1:" SHA1 "@https://a/n,http://b/n", &d, 1, { 0 } };
	char *text;

	(void)state;
	strmap_set(a, &req.env, "AWS_REGION", "us-west-2");
	text = render(a, &req);
	assert_ptr_equal(strstr(text, "#!/bin/bash\n"), text);
	assert_non_null(strstr(text, "\nNODEUP_SUM=sha1sum\nNODEUP_HASH=" SHA1
				     "\nNODEUP_URLS='https://a/n http://b/n'\n"
				     "export AWS_REGION='us-west-2'\n"));
	assert_non_null(strstr(text, "\nput kube_env.yaml <<'END_OF_DOCUMENT'\nClusterName: a\n"
				     "END_OF_DOCUMENT\n"));
}

/* A value that looks like one of the template's own marks stays what it is. */
static void test_values_are_not_templates(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct userdata_document d = { "kube_env.yaml", "x: @HASH@ @ENV@\n" };
	struct userdata_req req = { SHA1 "@https://a/n", &d, 1, { 0 } };

	(void)state;
	strmap_set(a, &req.env, "E", "@DOCUMENTS@\n");
	assert_non_null(strstr(render(a, &req), "export E='@DOCUMENTS@\n'\n"));
	assert_non_null(strstr(render(a, &req), "\nx: @HASH@ @ENV@\n"));
}

static void test_end_of_document_is_not_in_it(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct userdata_document d = { "a", "END_OF_DOCUMENT_1\nEND_OF_DOCUMENT_2\n" };
	const struct userdata_req req = { SHA1 "@https://a/n", &d, 1, { 0 } };

	(void)state;
	assert_non_null(strstr(render(a, &req), "put a <<'END_OF_DOCUMENT_3'\nEND_OF_DOCUMENT_1\n"
						"END_OF_DOCUMENT_2\nEND_OF_DOCUMENT_3\n"));
}

static void test_too_large_names_the_parts(void **state)
{
	static const struct userdata_share shares[] = { { "script", 3000 },
							{ "kube_env.yaml", 9000 },
							{ "cluster_spec.yaml", 9000 } };
	autoarena struct arena *a = arena_new_empty();
	char *data = arena_alloc(a, 21001);
	struct userdata_pack_req req = { data, 21000, false, shares, 3 };
	struct err e = { 0 };
	const char *out;
	size_t n;

	(void)state;
	memset(data, 'x', 21000);
	assert_true(userdata_pack(a, &req, &out, &n, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "user data is 21000 bytes, EC2 takes 16384");
	assert_int_equal(e.nnotes, 4);
	assert_string_equal(e.notes[0].text, "9000 bytes kube_env.yaml");
	assert_string_equal(e.notes[1].text, "9000 bytes cluster_spec.yaml");
	assert_string_equal(e.notes[2].text, "3000 bytes script");
	assert_non_null(strstr(e.notes[3].text, "--gzip makes it "));
	req.gzip = true;
	assert_int_equal(userdata_pack(a, &req, &out, &n, &e), 0);
	assert_true(n < 200);
	assert_memory_equal(out, "\x1f\x8b", 2);
}

static void test_limit_is_exact(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char *data = arena_alloc(a, USERDATA_MAX + 1);
	struct userdata_pack_req req = { .data = data, .n = USERDATA_MAX };
	struct err e = { 0 };
	const char *out;
	size_t n;

	(void)state;
	assert_int_equal(userdata_pack(a, &req, &out, &n, &e), 0);
	assert_ptr_equal(out, data);
	assert_int_equal(n, USERDATA_MAX);
	req.n++;
	assert_true(userdata_pack(a, &req, &out, &n, &e) < 0);
}

static void test_too_large_even_with_gzip(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	enum { SIZE = 30000 };
	char *data = arena_alloc(a, SIZE);
	struct userdata_pack_req req = { .data = data, .n = SIZE, .gzip = true };
	struct err e = { 0 };
	const char *out;
	uint32_t x = 1;
	size_t n;

	(void)state;
	for (size_t i = 0; i < SIZE; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (char)(x >> 24);
	}
	assert_true(userdata_pack(a, &req, &out, &n, &e) < 0);
	assert_non_null(strstr(e.msg, "bytes after gzip, EC2 takes 16384"));
	assert_int_equal(e.nnotes, 1);
	assert_non_null(strstr(e.notes[0].text, "ConfigBase"));
}

static void test_mime(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct userdata_part parts[] = {
		{ "text/x-shellscript", "nodeup.sh", "echo MIMEBOUNDARY\n", 18 },
		{ "text/cloud-config", "c", "\xff", 1 },
	};
	struct err e = { 0 };
	char *text;

	(void)state;
	assert_int_equal(userdata_mime(a, parts, 2, &text, &e), 0);
	assert_string_equal(text, "Content-Type: multipart/mixed; boundary=\"MIMEBOUNDARY_1\"\n"
				  "MIME-Version: 1.0\n"
				  "\n"
				  "--MIMEBOUNDARY_1\n"
				  "Content-Type: text/x-shellscript; charset=\"us-ascii\"\n"
				  "MIME-Version: 1.0\n"
				  "Content-Transfer-Encoding: 7bit\n"
				  "Content-Disposition: attachment; filename=\"nodeup.sh\"\n"
				  "\n"
				  "echo MIMEBOUNDARY\n"
				  "\n"
				  "--MIMEBOUNDARY_1\n"
				  "Content-Type: text/cloud-config; charset=\"utf-8\"\n"
				  "MIME-Version: 1.0\n"
				  "Content-Transfer-Encoding: base64\n"
				  "Content-Disposition: attachment; filename=\"c\"\n"
				  "\n"
				  "/w==\n"
				  "--MIMEBOUNDARY_1--\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_script_has_what_was_asked),
		cmocka_unit_test(test_values_are_not_templates),
		cmocka_unit_test(test_end_of_document_is_not_in_it),
		cmocka_unit_test(test_too_large_names_the_parts),
		cmocka_unit_test(test_limit_is_exact),
		cmocka_unit_test(test_too_large_even_with_gzip),
		cmocka_unit_test(test_mime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
