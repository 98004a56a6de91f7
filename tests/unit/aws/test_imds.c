#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/aws/imds.h"
#include "tests/unit/lib/cloud.h"

static const char token_path[] = "/latest/api/token";
static const char id_path[] = "/latest/meta-data/instance-id";

static int setup(void **state)
{
	*state = cloud_start(NULL);
	return 0;
}

static int teardown(void **state)
{
	cloud_stop(*state);
	return 0;
}

/* What a request gave. */
struct got {
	int r;
	const char *text;
	struct err e;
};

static struct got get(struct cloud *c, struct imds *m, const char *path)
{
	struct got g = { 0 };

	g.r = imds_get(m, c->arena, path, &g.text, &g.e);
	return g;
}

static void test_token_first_and_once(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g = get(c, m, "meta-data/instance-id");

	assert_int_equal(g.r, 0);
	assert_string_equal(g.text, "i-0123456789abcdef0");
	g = get(c, m, "meta-data/placement/region");
	assert_int_equal(g.r, 0);
	assert_string_equal(g.text, "us-west-2");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 1);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 1);
	imds_free(m);
}

static void test_asks_nothing_when_made(void **state)
{
	struct cloud *c = *state;

	imds_free(imds_new(c->http));
	imds_free(NULL);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, NULL), 0);
}

static void test_trims(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g;

	cloud_tell(c, CLOUD_IMDS, "/__set?path=ami-id&value=%20ami-1%0A%0A");
	g = get(c, m, "meta-data/ami-id");
	assert_int_equal(g.r, 0);
	assert_string_equal(g.text, "ami-1");
	imds_free(m);
}

static void test_absent_is_enoent(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g = get(c, m, "meta-data/no-such-thing");

	assert_int_equal(g.r, -ENOENT);
	assert_int_equal(g.e.kind, ERR_NET);
	assert_non_null(strstr(g.e.msg, "meta-data/no-such-thing"));
	imds_free(m);
}

/* Each of them is asked for once, before it is wanted, and is anew when it is wanted again. */
static void test_ahead(void **state)
{
	static const char *const paths[] = { "meta-data/instance-id", "meta-data/placement/region",
					     "meta-data/no-such-thing" };
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g;

	imds_ask_ahead(m, paths, ARRAY_LEN(paths));
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_int_equal(cloud_count(c, CLOUD_IMDS,
					     arena_printf(c->arena, "/latest/%s", paths[i])),
				 1);
	g = get(c, m, paths[1]);
	assert_int_equal(g.r, 0);
	assert_string_equal(g.text, "us-west-2");
	g = get(c, m, paths[2]);
	assert_int_equal(g.r, -ENOENT);
	assert_non_null(strstr(g.e.msg, "meta-data/no-such-thing"));
	assert_string_equal(get(c, m, paths[0]).text, "i-0123456789abcdef0");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, NULL), 1 + ARRAY_LEN(paths));
	assert_string_equal(get(c, m, paths[0]).text, "i-0123456789abcdef0");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 2);
	imds_free(m);
}

/* The first is answered when the last is asked for: one after another, its time would be over. */
static void test_ahead_at_once(void **state)
{
	static const char *const paths[] = { "meta-data/instance-id",
					     "meta-data/placement/region" };
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);

	cloud_fault(c, CLOUD_IMDS, id_path,
		    "times=9&status=200&body=i-1&after=/latest/meta-data/placement/region");
	imds_ask_ahead(m, paths, ARRAY_LEN(paths));
	assert_string_equal(get(c, m, paths[0]).text, "i-1");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 1);
	imds_free(m);
}

/* What fails is asked for again, as if it had not been. */
static void test_ahead_in_vain(void **state)
{
	static const char *const path = "meta-data/instance-id";
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);

	cloud_fault(c, CLOUD_IMDS, id_path, "status=500&times=1");
	imds_ask_ahead(m, &path, 1);
	assert_string_equal(get(c, m, path).text, "i-0123456789abcdef0");
	cloud_tell(c, CLOUD_IMDS, "/__expire");
	imds_ask_ahead(m, &path, 1);
	assert_string_equal(get(c, m, path).text, "i-0123456789abcdef0");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 2);
	cloud_fault(c, CLOUD_IMDS, token_path, "status=500&times=1");
	cloud_tell(c, CLOUD_IMDS, "/__expire");
	imds_free(m);
	m = imds_new(c->http);
	imds_ask_ahead(m, &path, 1);
	assert_string_equal(get(c, m, path).text, "i-0123456789abcdef0");
	imds_free(m);
}

static void test_expired_token_is_renewed_once(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);

	assert_int_equal(get(c, m, "meta-data/instance-id").r, 0);
	cloud_tell(c, CLOUD_IMDS, "/__expire");
	assert_int_equal(get(c, m, "meta-data/instance-id").r, 0);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 2);
	cloud_fault(c, CLOUD_IMDS, id_path, "status=401&times=9");
	assert_int_equal(get(c, m, "meta-data/instance-id").r, -EACCES);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 3);
	imds_free(m);
}

/* The token endpoint says that there is no version 2: then, and only then, without a token. */
static void test_version_1(void **state)
{
	static const struct {
		const char *fault;
		bool without_token;
	} cases[] = {
		{ "status=403", true },  { "status=404", true },  { "status=405", true },
		{ "status=500", false }, { "status=400", false }, { "status=401", false },
	};
	struct cloud *c = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct imds *m = imds_new(c->http);
		struct got g;

		cloud_tell(c, CLOUD_IMDS, "/__reset");
		cloud_fault(c, CLOUD_IMDS, token_path, cases[i].fault);
		cloud_fault(c, CLOUD_IMDS, id_path, "status=200&body=i-1");
		g = get(c, m, "meta-data/instance-id");
		if (cases[i].without_token) {
			assert_int_equal(g.r, 0);
			assert_string_equal(g.text, "i-1");
		} else {
			assert_true(g.r < 0 && g.r != -ENOENT);
			assert_non_null(strstr(g.e.msg, "token"));
			assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 0);
		}
		imds_free(m);
	}
}

/* Version 1 works, until somebody makes version 2 the only one. */
static void test_version_1_switched_off(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);

	cloud_fault(c, CLOUD_IMDS, token_path, "status=403");
	cloud_fault(c, CLOUD_IMDS, id_path, "status=401");
	assert_int_equal(get(c, m, "meta-data/instance-id").r, 0);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 2);
	imds_free(m);
}

static const char *advice_of(const struct err *e)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, "do") == 0)
			return e->notes[i].text;
	return "";
}

/* It has no role, no bucket and no mirrors. */
static void test_what_to_do_about_a_refusal(void **state)
{
	static const struct {
		const char *fault, *advice;
	} cases[] = {
		{ "status=403&times=9",
		  "enable the instance's metadata service (aws ec2 "
		  "modify-instance-metadata-options --http-endpoint enabled)" },
		{ "status=404&times=9", "" },
		{ "status=410&times=9", "" },
	};
	struct cloud *c = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct imds *m = imds_new(c->http);
		struct got g;

		cloud_tell(c, CLOUD_IMDS, "/__reset");
		cloud_fault(c, CLOUD_IMDS, id_path, cases[i].fault);
		g = get(c, m, "meta-data/instance-id");
		assert_true(g.r < 0);
		assert_string_equal(advice_of(&g.e), cases[i].advice);
		imds_free(m);
	}
}

static void test_version_1_is_asked_without_a_token(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct err e = { 0 };

	/* whatever is known already */
	assert_int_equal(get(c, m, "meta-data/placement/region").r, 0);
	assert_int_equal(imds_has_version1(m, &e), 0);
	cloud_tell(c, CLOUD_IMDS, "/__tokens?http=optional");
	assert_int_equal(imds_has_version1(m, &e), 1);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 1);
	cloud_fault(c, CLOUD_IMDS, id_path, "status=500");
	assert_true(imds_has_version1(m, &e) < 0);
	assert_int_equal(e.kind, ERR_NET);
	imds_free(m);
}

static void test_redirect_is_refused(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g;

	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/ami-id",
		    "status=302&location=/latest/meta-data/instance-id");
	g = get(c, m, "meta-data/ami-id");
	assert_true(g.r < 0);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 0);
	imds_free(m);
}

/* The token becomes a header of the next request. */
static void test_token_that_is_none(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g;

	cloud_fault(c, CLOUD_IMDS, token_path, "status=200&body=x%0d%0aEvil:%20y");
	g = get(c, m, "meta-data/instance-id");
	assert_int_equal(g.r, -EPROTO);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 0);
	imds_free(m);
}

static void test_no_proxy_whatever_the_environment(void **state)
{
	struct cloud *c = *state;
	struct http_opts opts = { .root_fd = c->root_fd };
	struct http *http;
	struct imds *m;
	struct err e;

	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:9", 1), 0);
	assert_int_equal(http_new(&opts, &http, &e), 0);
	m = imds_new(http);
	assert_int_equal(get(c, m, "meta-data/instance-id").r, 0);
	imds_free(m);
	http_free(http);
}

static void test_nobody_there(void **state)
{
	struct cloud *c = *state;
	struct imds *m;
	struct got g;

	assert_int_equal(setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:9", 1), 0);
	m = imds_new(c->http);
	g = get(c, m, "meta-data/instance-id");
	assert_int_equal(g.r, -ECONNREFUSED);
	assert_int_equal(g.e.kind, ERR_NET);
	assert_true(str_has_prefix(g.e.msg, "instance metadata: ask for a token: PUT "));
	imds_free(m);
}

/* A hop limit that is too low drops the answer to the PUT: it ends, and says what to look at. Version 1,
 * which would be answered, is not asked. */
static void test_token_never_comes(void **state)
{
	struct cloud *c = *state;
	struct imds *m = imds_new(c->http);
	struct got g;

	cloud_fault(c, CLOUD_IMDS, token_path, "hang=1");
	g = get(c, m, "meta-data/instance-id");
	assert_int_equal(g.r, -ETIMEDOUT);
	assert_int_equal(g.e.kind, ERR_NET);
	assert_true(err_is_transient(&g.e));
	assert_true(str_has_prefix(g.e.msg, "instance metadata: ask for a token: PUT "));
	assert_int_equal(g.e.nnotes, 1);
	assert_string_equal(g.e.notes[0].label, "do");
	assert_non_null(strstr(g.e.notes[0].text, "hop limit"));
	assert_int_equal(cloud_count(c, CLOUD_IMDS, id_path), 0);
	/* and it may come the next time */
	assert_int_equal(get(c, m, "meta-data/instance-id").r, 0);
	imds_free(m);
}

/* The real addresses, as a subnet without IPv4 has them: TCP to the broadcast address is refused
 * by the kernel as a network that cannot be reached. */
static struct got get_by_default(struct cloud *c, const char *ipv4, const char *ipv6)
{
	struct http_opts opts = { .root_fd = c->root_fd };
	struct http *http;
	struct imds *m;
	struct got g;
	struct err e;

	strv_add(c->arena, &opts.rewrites,
		 arena_printf(c->arena, "http://169.254.169.254/=%s", ipv4));
	strv_add(c->arena, &opts.rewrites,
		 arena_printf(c->arena, "http://[fd00:ec2::254]/=%s", ipv6));
	assert_int_equal(unsetenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), 0);
	assert_int_equal(http_new(&opts, &http, &e), 0);
	m = imds_new(http);
	g = get(c, m, "meta-data/instance-id");
	if (g.r == 0)
		assert_int_equal(get(c, m, "meta-data/instance-id").r, 0);
	imds_free(m);
	http_free(http);
	return g;
}

static const char no_network[] = "http://255.255.255.255/", nobody[] = "http://127.0.0.1:9/";

static void test_ipv6_where_there_is_no_ipv4(void **state)
{
	struct cloud *c = *state;
	const char *here = cloud_url(c, CLOUD_IMDS, "/");
	struct got g = get_by_default(c, no_network, here);

	assert_int_equal(g.r, 0);
	assert_string_equal(g.text, "i-0123456789abcdef0");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, token_path), 1);
	assert_int_equal(get_by_default(c, here, nobody).r, 0);
	/* neither: the error is of the first */
	assert_int_equal(get_by_default(c, no_network, nobody).r, -ENETUNREACH);
	/* IPv4 works, and IMDS is switched off: not looked for elsewhere */
	assert_int_equal(get_by_default(c, nobody, here).r, -ECONNREFUSED);
}

static void test_ipv6_by_the_environment(void **state)
{
	struct cloud *c = *state;
	const char *here = cloud_url(c, CLOUD_IMDS, "/");

	assert_int_equal(setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ipv6", 1), 0);
	assert_int_equal(get_by_default(c, nobody, here).r, 0);
	assert_int_equal(setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv4", 1), 0);
	assert_int_equal(get_by_default(c, here, nobody).r, 0);
	assert_int_equal(get_by_default(c, no_network, here).r, -ENETUNREACH);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_token_first_and_once),
		T(test_asks_nothing_when_made),
		T(test_trims),
		T(test_absent_is_enoent),
		T(test_ahead),
		T(test_ahead_at_once),
		T(test_ahead_in_vain),
		T(test_expired_token_is_renewed_once),
		T(test_version_1),
		T(test_version_1_switched_off),
		T(test_version_1_is_asked_without_a_token),
		T(test_what_to_do_about_a_refusal),
		T(test_redirect_is_refused),
		T(test_token_that_is_none),
		T(test_no_proxy_whatever_the_environment),
		T(test_nobody_there),
		T(test_token_never_comes),
		T(test_ipv6_where_there_is_no_ipv4),
		T(test_ipv6_by_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
