#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/documents/location.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/store_fixture.h"

static void test_path(void **state)
{
	struct fixture *fx = *state;
	const char *dir = fx->c->dir;
	struct err e;

	fx_object(fx, "d/b", "text");
	fx_object(fx, "d/a", "");
	fx_expect(fx, arena_printf(fx->c->arena, "%s/d/b", dir), "text");
	fx_expect(fx, arena_printf(fx->c->arena, "%s/d/a", dir), "");
	fx_expect(fx, arena_printf(fx->c->arena, "file://%s/d/b", dir), "text");
	fx_expect_list(fx, arena_printf(fx->c->arena, "%s/d", dir), "a b");
	fx_expect_list(fx, arena_printf(fx->c->arena, "file://%s/d/", dir), "a b");
	fx_expect_list(fx, arena_printf(fx->c->arena, "%s/nowhere", dir), "");
	/* what was set aside as damaged is not listed */
	fx_object(fx, "e/a", "");
	fx_object(fx, "e/a.nodeup-old", "");
	fx_object(fx, "e/a.nodeup-old.nodeup-old12", "");
	fx_object(fx, "e/b.nodeup-older", "");
	fx_expect_list(fx, arena_printf(fx->c->arena, "%s/e", dir), "a b.nodeup-older");
	e = fx_expect_failure(fx, arena_printf(fx->c->arena, "%s/nothing", dir), ENOENT);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "/nothing': No such file or directory"));
	fx_expect_failure(fx, dir, EISDIR);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
}

static void test_unknown_scheme(void **state)
{
	struct err e = fx_expect_failure(*state, "gs://bucket/x", EINVAL);

	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "gs://bucket/x"));
}

static void test_too_large(void **state)
{
	struct fixture *fx = *state;
	const size_t n = (4 << 20) + 1;
	autofree char *big = xcalloc(n, 1);

	memset(big, 'x', n);
	tmp_write(fx->c->dir, "bucket/big", big, n);
	store_set_patience(fx->s, -1);
	fx_expect_failure(fx, arena_printf(fx->c->arena, "%s/bucket/big", fx->c->dir), EFBIG);
	fx_expect_failure(fx, "s3://bucket/big", EFBIG);
	assert_int_equal(fx->waits, 0);
}

static void test_s3_object(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/a/system:dns", "token");
	fx_expect(fx, "s3://bucket/a/system:dns", "token");
	fx_expect(fx, "s3://bucket/a/system:dns", "token");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 1);
	/* an endpoint of one's own has no region: a token, and whether there is a role */
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, NULL), 2);
}

static void test_s3_missing(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	fx_object(fx, "bucket/x", "");
	store_set_patience(fx->s, -1);
	e = fx_expect_failure(fx, "s3://bucket/no", ENOENT);
	assert_int_equal(e.kind, ERR_NET);
	assert_true(str_has_prefix(e.msg, "GET s3://bucket/no: S3 404 NoSuchKey: "));
	assert_non_null(strstr(e.msg, ", region us-east-1"));
	/* it is remembered, and so is the reason */
	e = fx_expect_failure(fx, "s3://bucket/no", ENOENT);
	assert_non_null(strstr(e.msg, "NoSuchKey"));
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 1);
	assert_int_equal(fx->waits, 0);
}

static void test_s3_denied(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=AccessDenied&region=us-east-1");
	e = fx_expect_failure(fx, "s3://bucket/k", EACCES);
	assert_int_equal(e.kind, ERR_NET);
	assert_string_equal(e.msg,
			    "GET s3://bucket/k: S3 403 AccessDenied: As asked, request REQ1, "
			    "region us-east-1");
	assert_non_null(fx_note(&e, "ruled out", "region (the bucket confirms us-east-1)"));
	assert_non_null(fx_note(&e, "left", "not signed"));
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 1);
}

/* A proxy's page, or none: still the status, the object and the region. */
static void test_s3_error_of_somebody_else(void **state)
{
	struct err e;

	cloud_fault(((struct fixture *)*state)->c, CLOUD_S3, "/bucket/k", "status=502&body=<html>");
	e = fx_expect_failure(*state, "s3://bucket/k", EAGAIN);
	assert_string_equal(e.msg, "GET s3://bucket/k: S3 502, region us-east-1");
}

static void test_retries(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	store_set_patience(fx->s, 60 * DUR_SEC);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=503&code=SlowDown&times=2");
	fx_expect(fx, "s3://bucket/k", "v");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/k"), 3);
	assert_int_equal(fx->waits, 2);
	assert_int_equal(fx->last_attempt, 2);
	assert_string_equal(fx->last_location, "s3://bucket/k");
	assert_non_null(strstr(fx->last.msg, "S3 503 SlowDown"));
}

/* Rights arrive some seconds after the instance. */
static void test_retries_denied(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	store_set_patience(fx->s, -1);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=AccessDenied");
	fx_expect(fx, "s3://bucket/k", "v");
	assert_int_equal(fx->waits, 1);
}

static void test_gives_up(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	store_set_patience(fx->s, DUR_SEC / 4);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=500&times=99");
	e = fx_expect_failure(fx, "s3://bucket/k", EAGAIN);
	assert_int_equal(e.kind, ERR_NET);
	assert_non_null(fx_note(&e, "tried", " times in "));
	assert_true(cloud_count(fx->c, CLOUD_S3, "/bucket/k") >= 2);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/k"), fx->waits + 1);
}

static void test_never_retried(void **state)
{
	static const char *const faults[] = { "status=400", "status=405", "status=301" };
	struct fixture *fx = *state;

	store_set_patience(fx->s, -1);
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		const char *key = arena_printf(fx->c->arena, "/bucket/%zu", i);

		cloud_fault(fx->c, CLOUD_S3, key, faults[i]);
		fx_expect_failure(fx, arena_printf(fx->c->arena, "s3:/%s", key), EPROTO);
		assert_int_equal(cloud_count(fx->c, CLOUD_S3, key), 1);
	}
}

static void test_user_data(void **state)
{
	static const char bytes[] = "\x1f\x8b \0 \n";
	struct fixture *fx = *state;
	const char *text, *file = arena_printf(fx->c->arena, "%s/data", fx->c->dir);
	struct err e = { 0 };
	size_t n;

	e = fx_expect_failure(fx, "imds", ENOENT);
	assert_string_equal(e.msg, "this instance has no user data");
	fx_reopen(fx, fx->c->http, NULL);
	tmp_write(fx->c->dir, "data", bytes, sizeof(bytes));
	cloud_tell(fx->c, CLOUD_IMDS, arena_printf(fx->c->arena, "/__user_data?file=%s", file));
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/user-data", "status=503&times=2");
	e = fx_expect_failure(fx, "imds", EAGAIN);
	assert_true(str_has_prefix(e.msg, "instance metadata: "));
	store_set_patience(fx->s, 60 * DUR_SEC);
	assert_int_equal(store_get(fx->s, "imds", &text, &n, &e), 0);
	assert_int_equal(n, sizeof(bytes));
	assert_memory_equal(text, bytes, n);
	assert_int_equal(fx->waits, 1);
	assert_string_equal(fx->last_location, "imds");
	/* from memory; and beside it is nothing, of which nobody is asked */
	cloud_tell(fx->c, CLOUD_IMDS, "/__reset");
	assert_int_equal(store_get(fx->s, "imds", &text, &n, &e), 0);
	(void)fx_expect_failure(fx, location_beside(fx->c->arena, "imds", "ig_spec.yaml"), ENOENT);
	fx_expect_list(fx, location_beside(fx->c->arena, "imds", "pki"), "");
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, NULL), 0);
	fx_reopen(fx, NULL, NULL);
	(void)fx_expect_failure(fx, "imds", ENETDOWN);
}

static void test_s3_list(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/pki/2", "");
	fx_object(fx, "bucket/pki/10", "");
	fx_object(fx, "bucket/pki/x&y", "");
	fx_object(fx, "bucket/pki/sub/deep", "");
	fx_object(fx, "bucket/pki/1", "");
	fx_object(fx, "bucket/pkix", "");
	fx_expect_list(fx, "s3://bucket/pki", "1 10 2 sub x&y");
	/* two names a page */
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/"), 3);
	fx_expect_list(fx, "s3://bucket/pki/", "1 10 2 sub x&y");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/bucket/"), 3);
	fx_expect_list(fx, "s3://bucket/none", "");
}

/* A page that is cut short is asked for again, and nothing is listed twice. */
static void test_s3_list_retries(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/pki/1", "");
	store_set_patience(fx->s, -1);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/",
		    "status=200&body=<ListBucketResult><Contents><Key>pki/1</Key></Contents>");
	fx_expect_list(fx, "s3://bucket/pki", "1");
	assert_int_equal(fx->waits, 1);
}

static void test_s3_no_bucket_is_no_empty_folder(void **state)
{
	struct fixture *fx = *state;
	struct strv names = { 0 };
	struct err e = { 0 };

	assert_int_equal(store_list(fx->s, "s3://nobucket/pki", &names, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "LIST s3://nobucket/pki: S3 404 NoSuchBucket"));
}

static void use_aws_hosts(struct fixture *fx, const char *region)
{
	assert_int_equal(unsetenv("AWS_ENDPOINT_URL_S3"), 0);
	fx_reopen(fx, fx->c->http, region);
}

static void test_region_order(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	use_aws_hosts(fx, NULL);
	assert_null(store_region(fx->s));
	fx_expect(fx, "s3://bucket/k", "v");
	assert_string_equal(store_region(fx->s), "us-west-2");
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, "/latest/meta-data/placement/region"), 1);

	assert_int_equal(setenv("S3_REGION", "us-east-1", 1), 0);
	assert_int_equal(setenv("AWS_DEFAULT_REGION", "us-west-2", 1), 0);
	use_aws_hosts(fx, NULL);
	fx_expect(fx, "s3://bucket/k", "v");
	assert_string_equal(store_region(fx->s), "us-west-2");
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, "/latest/meta-data/placement/region"), 1);

	assert_int_equal(setenv("AWS_REGION", "eu-west-1", 1), 0);
	use_aws_hosts(fx, "us-west-2");
	fx_expect(fx, "s3://bucket/k", "v");
	assert_string_equal(store_region(fx->s), "us-west-2");
}

static void test_region_of_the_bucket(void **state)
{
	struct fixture *fx = *state;

	fx_object(fx, "bucket/k", "v");
	fx_object(fx, "bucket/l", "w");
	use_aws_hosts(fx, "us-east-1");
	fx_expect(fx, "s3://bucket/k", "v");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/@us-east-1/bucket/k"), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/@us-west-2/bucket/k"), 1);
	/* learnt */
	fx_expect(fx, "s3://bucket/l", "w");
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, "/@us-east-1/bucket/l"), 0);
	/* no failure that anybody has to be told */
	assert_int_equal(fx->waits, 0);
}

static void test_region_redirect_only_once(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	store_set_patience(fx->s, -1);
	use_aws_hosts(fx, "us-east-1");
	cloud_fault(fx->c, CLOUD_S3, "/@us-east-1/bucket/k", "status=400&region=us-west-2&times=9");
	cloud_fault(fx->c, CLOUD_S3, "/@us-west-2/bucket/k",
		    "status=301&code=PermanentRedirect&region=us-east-1&times=9");
	e = fx_expect_failure(fx, "s3://bucket/k", EPROTO);
	assert_non_null(strstr(e.msg, "S3 301 PermanentRedirect"));
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 2);
}

/* A region that is none would make a host name. */
static void test_bad_region(void **state)
{
	struct fixture *fx = *state;
	struct store_req req = { .http = fx->c->http, .region = "x.evil.example/" };
	struct store *s = NULL;
	struct err e = { 0 };

	assert_true(store_new(fx->c->arena, &req, &s, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_null(s);
	assert_int_equal(setenv("AWS_REGION", "evil/", 1), 0);
	use_aws_hosts(fx, NULL);
	store_set_patience(fx->s, -1);
	e = fx_expect_failure(fx, "s3://bucket/k", EINVAL);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "AWS_REGION"));
	assert_int_equal(setenv("AWS_REGION", "us-east-1", 1), 0);
	use_aws_hosts(fx, NULL);
	cloud_fault(fx->c, CLOUD_S3, "/@us-east-1/bucket/k", "status=301&region=evil/");
	fx_expect_failure(fx, "s3://bucket/k", EPROTO);
}

/* Never a default in place of what could not be asked: it may be back in a second. */
static void test_region_unknown_is_waited_for(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	fx_object(fx, "bucket/k", "v");
	use_aws_hosts(fx, NULL);
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/placement/region", "status=500&times=2");
	e = fx_expect_failure(fx, "s3://bucket/k", EAGAIN);
	assert_true(str_has_prefix(
		e.msg, "s3://bucket/k: no region given for s3://: instance metadata: "));
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 0);
	store_set_patience(fx->s, -1);
	fx_expect(fx, "s3://bucket/k", "v");
	assert_int_equal(fx->waits, 1);
}

static char *web(struct fixture *fx, const char *path)
{
	return cloud_url(fx->c, CLOUD_S3, arena_printf(fx->c->arena, "/~index/bucket%s", path));
}

static void test_http(void **state)
{
	struct fixture *fx = *state;
	struct err e;

	fx_object(fx, "bucket/pki/issued/1.crt", "cert");
	fx_object(fx, "bucket/pki/issued/a b&c", "odd");
	fx_object(fx, "bucket/pki/private/x", "");
	fx_expect(fx, web(fx, "/pki/issued/1.crt"), "cert");
	fx_expect(fx, web(fx, "/pki/issued/a b&c"), "odd");
	fx_expect_list(fx, web(fx, "/pki/issued"), "1.crt a b&c");
	fx_expect_list(fx, web(fx, "/pki/"), "issued private");
	fx_expect_list(fx, web(fx, "/nowhere"), "");
	e = fx_expect_failure(fx, web(fx, "/no"), ENOENT);
	assert_non_null(strstr(e.msg, "HTTP status 404"));
}

static void test_http_keeps_secrets(void **state)
{
	struct fixture *fx = *state;
	const char *location = arena_printf(fx->c->arena,
					    "http://user:hunter2@127.0.0.1:%d"
					    "/x?X-Amz-Signature=hunter3",
					    fx->c->s3_port);
	struct err e;

	store_set_patience(fx->s, DUR_SEC / 10);
	cloud_fault(fx->c, CLOUD_S3, "/x", "status=500&times=99");
	e = fx_expect_failure(fx, location, EAGAIN);
	assert_null(strstr(e.msg, "hunter"));
	assert_true(fx->waits > 0);
	assert_null(strstr(fx->last_location, "hunter"));
	fx_reopen(fx, NULL, NULL);
	e = fx_expect_failure(fx, location, ENETDOWN);
	assert_null(strstr(e.msg, "hunter"));
}

/* How nginx and Apache link what is in a folder, and what else is on their pages. */
static void test_index_pages(void **state)
{
	static const struct {
		const char *page, *names;
	} cases[] = {
		{ "<a href=\"../\">../</a>\n<a href=\"1.crt\">1.crt</a>  21-Nov\n<a href=\"sub/\">",
		  "1.crt sub" },
		{ "<A HREF=\"?C=N;O=D\">Name</A><a href=\"/~index/bucket/\">Parent</a>"
		  "<a href='2.crt'>2</a>",
		  "2.crt" },
		{ "<a href=\"/~index/bucket/f/3.crt\"><a href=\"./4.crt\"><a href=\"./4.crt\">",
		  "3.crt 4.crt" },
		{ "<a href=\"http://other/x\"><a href=\"a/b\"><a href=\"//x\"><a href=\"/etc\">"
		  "<a href=\"%2e%2e\"><a href=\"a%2fb\"><a href=\"x%00y\"><a href=\"%zz\"><a href=\"\">",
		  "" },
		{ "<a href=\"system%3Adns\"><a href=\"a&amp;b\"><a href=\"open", "a&b system:dns" },
		{ "<a href=\"./system:dns\"><a href=\"mailto:root\"><a href=\"?x:y\">",
		  "system:dns" },
		{ "", "" },
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autofree char *encoded = xcalloc(3 * strlen(cases[i].page) + 1, 1);

		for (const char *p = cases[i].page; *p; p++)
			(void)snprintf(encoded + strlen(encoded), 4, "%%%02x", (unsigned char)*p);
		cloud_fault(fx->c, CLOUD_S3, "/~index/bucket/f/",
			    arena_printf(fx->c->arena, "status=200&body=%s", encoded));
		fx_reopen(fx, fx->c->http, NULL);
		fx_expect_list(fx, web(fx, "/f"), cases[i].names);
	}
}

static void test_prefetch(void **state)
{
	struct fixture *fx = *state;
	struct arena *a = fx->c->arena;
	struct strv documents = { 0 }, folders = { 0 };
	struct err e;

	for (int i = 0; i < 40; i++) {
		fx_object(fx, arena_printf(a, "bucket/d/%02d", i), arena_printf(a, "text %d", i));
		strv_add(a, &documents, arena_printf(a, "s3://bucket/d/%02d", i));
	}
	strv_add(a, &documents, "s3://bucket/d/none");
	strv_add(a, &documents, "s3://bucket/d/00");
	strv_add(a, &documents, "/nowhere/at/all");
	strv_add(a, &folders, "s3://bucket/");
	strv_add(a, &folders, "s3://bucket");
	store_set_patience(fx->s, -1);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/07", "status=500&times=2");
	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/39", "status=500");
	if (store_prefetch(fx->s, &documents, &folders, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 40 + 3 + 1 + 1);
	assert_true(fx->waits >= 2 && fx->waits <= 3);
	for (int i = 0; i < 40; i++)
		fx_expect(fx, documents.v[i], arena_printf(a, "text %d", i));
	fx_expect_failure(fx, "s3://bucket/d/none", ENOENT);
	fx_expect_list(fx, "s3://bucket", "d");
	assert_int_equal(store_prefetch(fx->s, &documents, &folders, &e), 0);
	assert_int_equal(cloud_count(fx->c, CLOUD_S3, NULL), 40 + 3 + 1 + 1);
}

/* The first that cannot be had ends it, whatever the others do. */
static void test_prefetch_fails(void **state)
{
	struct fixture *fx = *state;
	struct arena *a = fx->c->arena;
	struct strv documents = { 0 };
	struct err e = { 0 };

	for (int i = 0; i < 30; i++)
		strv_add(a, &documents, arena_printf(a, "s3://bucket/d/%02d", i));
	store_set_patience(fx->s, -1);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/03", "hang=1");
	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/05", "status=400&code=Bad");
	assert_int_equal(store_prefetch(fx->s, &documents, NULL, &e), -EPROTO);
	assert_non_null(strstr(e.msg, "d/05: S3 400 Bad"));
}

/* One of several that say nothing is told, once, and the wait ends with their answers as any other. */
static void test_silence(void **state)
{
	struct fixture *fx = *state;
	const char *names[] = { "s3://bucket/d/1", "s3://bucket/d/2" };
	const struct strv documents = { names, ARRAY_LEN(names) };
	struct err e = { 0 };

	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/1", "late=1.3&status=404&code=NoSuchKey");
	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/2", "late=1.3&status=404&code=NoSuchKey");
	assert_int_equal(store_prefetch(fx->s, &documents, NULL, &e), 0);
	assert_int_equal(fx->silences, 1);
	assert_int_equal(fx->waits, 0);
}

/* Bytes that come are no silence; that the rest takes long is told, once. */
static void test_slow_is_not_silent(void **state)
{
	struct fixture *fx = *state;

	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/1", "slow=1.3&status=200&body=ab");
	fx_expect(fx, "s3://bucket/d/1", "ab");
	assert_int_equal(fx->silences, 0);
	cloud_fault(fx->c, CLOUD_S3, "/bucket/d/2", "slow=7&status=200&body=ab");
	fx_expect(fx, "s3://bucket/d/2", "ab");
	assert_int_equal(fx->silences, 1);
}

static int save(struct fixture *fx, const char *key)
{
	struct err e;
	int r = store_save(fx->s, fx->c->root_fd, arena_printf(fx->c->arena, "%s/kept", fx->c->dir),
			   &(struct store_kept){ .key = key }, &e);

	if (r < 0)
		fail_msg("%s", e.msg);
	return r;
}

static int replay(struct fixture *fx, const char *key, int64_t *age)
{
	struct err e;

	fx_reopen(fx, NULL, NULL);
	return store_replay(fx->s, fx->c->root_fd,
			    arena_printf(fx->c->arena, "%s/kept", fx->c->dir), key, age, &e);
}

static void test_save_and_replay(void **state)
{
	struct fixture *fx = *state;
	const char *kept = arena_printf(fx->c->arena, "%s/kept", fx->c->dir);
	const char *file = arena_printf(fx->c->arena, "%s/secret-file", fx->c->dir);
	autobuf struct buf b = BUF_INIT(1 << 20);
	int64_t age = -1;
	struct err e;
	struct stat st;

	fx_object(fx, "bucket/k", "line\n\"quoted\"\x01\xff");
	fx_object(fx, "secret-file", "canary");
	fx_expect(fx, "s3://bucket/k", "line\n\"quoted\"\x01\xff");
	fx_expect(fx, file, "canary");
	fx_expect_failure(fx, "s3://bucket/no", ENOENT);
	fx_expect_list(fx, "s3://bucket/", "k");
	fx_expect_list(fx, "s3://bucket/none", "");
	save(fx, "base i-1");
	assert_int_equal(stat(kept, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(io_read(fx->c->root_fd, kept, &b, &e), 0);
	assert_non_null(strstr(buf_str(&b), "secret-file"));
	/* this machine's files are read where they are all the same */
	fx_object(fx, "secret-file", "newer");

	assert_int_equal(replay(fx, "base i-1", &age), 0);
	assert_true(age >= 0 && age < 600 * DUR_SEC);
	fx_expect(fx, "s3://bucket/k", "line\n\"quoted\"\x01\xff");
	fx_expect_failure(fx, "s3://bucket/no", ENOENT);
	fx_expect_list(fx, "s3://bucket", "k");
	fx_expect_list(fx, "s3://bucket/none", "");
	fx_expect(fx, file, "newer");
	e = fx_expect_failure(fx, "s3://bucket/other", ENODATA);
	assert_int_equal(e.kind, ERR_NET);
	assert_non_null(strstr(e.msg, "not among the documents kept on 20"));
}

static void test_replay_only_our_own(void **state)
{
	struct fixture *fx = *state;
	const char *kept = arena_printf(fx->c->arena, "%s/kept", fx->c->dir);
	int64_t age = -1;

	assert_int_equal(replay(fx, "base i-1", &age), -ENOENT);
	fx_reopen(fx, fx->c->http, NULL);
	fx_object(fx, "bucket/k", "v");
	fx_expect(fx, "s3://bucket/k", "v");
	save(fx, "base i-1");
	assert_int_equal(replay(fx, "base i-2", &age), -ENOENT);
	assert_int_equal(replay(fx, "base", &age), -ENOENT);
	fx_expect_failure(fx, "s3://bucket/k", ENETDOWN);
	assert_int_equal(replay(fx, "base i-1", &age), 0);
	assert_int_equal(truncate(kept, 100), 0);
	assert_int_equal(replay(fx, "base i-1", &age), -ENOENT);
	fx_expect_failure(fx, "s3://bucket/k", ENETDOWN);
}

/* Nothing new: nothing written, but it is fresh again. */
static void test_save_again(void **state)
{
	struct fixture *fx = *state;
	const char *kept = arena_printf(fx->c->arena, "%s/kept", fx->c->dir);
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct stat before, after;

	fx_object(fx, "bucket/k", "v");
	fx_object(fx, "bucket/l", "w");
	fx_expect(fx, "s3://bucket/k", "v");
	save(fx, "key");
	assert_int_equal(stat(kept, &before), 0);
	assert_int_equal(utimensat(AT_FDCWD, kept, old, 0), 0);
	save(fx, "key");
	assert_int_equal(stat(kept, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_true(after.st_mtim.tv_sec > 1);
	fx_expect(fx, "s3://bucket/l", "w");
	save(fx, "key");
	assert_int_equal(stat(kept, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
}

static void test_join(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(location_join(fx->c->arena, "s3://b/x", "y"), "s3://b/x/y");
	assert_string_equal(location_join(fx->c->arena, "/", "y"), "/y");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(test_path),
		T(test_unknown_scheme),
		T(test_too_large),
		T(test_s3_object),
		T(test_s3_missing),
		T(test_s3_denied),
		T(test_s3_error_of_somebody_else),
		T(test_retries),
		T(test_retries_denied),
		T(test_gives_up),
		T(test_never_retried),
		T(test_user_data),
		T(test_s3_list),
		T(test_s3_list_retries),
		T(test_s3_no_bucket_is_no_empty_folder),
		T(test_region_order),
		T(test_region_of_the_bucket),
		T(test_region_redirect_only_once),
		T(test_bad_region),
		T(test_region_unknown_is_waited_for),
		T(test_http),
		T(test_http_keeps_secrets),
		T(test_index_pages),
		T(test_prefetch),
		T(test_prefetch_fails),
		T(test_silence),
		T(test_slow_is_not_silent),
		T(test_save_and_replay),
		T(test_replay_only_our_own),
		T(test_save_again),
		T(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
