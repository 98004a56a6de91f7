#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "assets/fetch/fetch.h"
#include "nodeup/aws/s3_session.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/origin.h"

#define ROLE "iam/security-credentials/nodes"

struct fixture {
	struct cloud *c;
	struct imds *imds;
	struct s3_session *s3;
	struct err e;
	int status;
};

static void have_role(struct fixture *fx, const char *id, const char *secret, const char *token)
{
	struct arena *a = fx->c->arena;
	const char *json = arena_printf(a,
					"{\"Code\":\"Success\",\"AccessKeyId\":\"%s\","
					"\"SecretAccessKey\":\"%s\",\"Token\":\"%s\","
					"\"Expiration\":\"2038-01-01T08:55:00Z\"}",
					id, secret, token);

	cloud_tell(fx->c, CLOUD_IMDS,
		   arena_printf(a, "/__set?path=" ROLE "&value=%s", enc_url(a, json, false)));
}

static void object(struct fixture *fx, const char *path, const char *text)
{
	tmp_write(fx->c->dir, path, text, strlen(text));
}

static int setup_public(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));
	struct http_scheme scheme;
	struct err e;

	fx->c = cloud_start(NULL);
	fx->imds = imds_new(fx->c->http);
	assert_int_equal(s3_session_new(NULL, fx->imds, &fx->s3, &e), 0);
	scheme = s3_session_scheme(fx->s3);
	http_set_scheme(fx->c->http, &scheme);
	object(fx, "bucket/k", "0123456789");
	*state = fx;
	return 0;
}

/* A bucket that only the instance's role may read. */
static int setup(void **state)
{
	struct fixture *fx;

	assert_int_equal(setup_public(state), 0);
	fx = *state;
	assert_int_equal(setenv("AWS_REGION", "us-west-2", 1), 0);
	cloud_tell(fx->c, CLOUD_S3, "/__key?id=ASIA1&secret=canary-s&token=canary-t");
	have_role(fx, "ASIA1", "canary-s", "canary-t");
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	cloud_stop(fx->c);
	s3_session_free(fx->s3);
	imds_free(fx->imds);
	free(fx);
	return 0;
}

static int get(struct fixture *fx, const char *url, const char *header, struct buf *b)
{
	struct http_req req = { .url = url };

	if (header)
		strv_add(fx->c->arena, &req.headers, header);
	fx->e = (struct err){ 0 };
	return http_get(fx->c->http, &req, b, &fx->status, &fx->e);
}

static void expect(struct fixture *fx, const char *url, const char *header, const char *wanted)
{
	autobuf struct buf b = BUF_INIT(4096);

	if (get(fx, url, header, &b) < 0)
		fail_msg("%s", fx->e.msg);
	assert_string_equal(buf_str(&b), wanted);
}

static void expect_failure(struct fixture *fx, const char *url, int errnum, const char *says)
{
	autobuf struct buf b = BUF_INIT(4096);

	assert_int_equal(get(fx, url, NULL, &b), -errnum);
	if (!strstr(fx->e.msg, says))
		fail_msg("want %s got %s", says, fx->e.msg);
	assert_null(strstr(fx->e.msg, "canary"));
	assert_int_equal(b.len, 0);
}

static int asked(struct fixture *fx, const char *path)
{
	return cloud_count(fx->c, CLOUD_S3, path);
}

/* A range is nothing that is signed. */
static void test_signed(void **state)
{
	struct fixture *fx = *state;

	expect(fx, "s3://bucket/k", NULL, "0123456789");
	expect(fx, "s3://bucket/k", "Range: bytes=4-6", "456");
	assert_int_equal(fx->status, 206);
	assert_int_equal(asked(fx, "/bucket/k"), 2);
	/* a token, the role and its credentials: once */
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, "/latest/api/token"), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, "/latest/meta-data/" ROLE), 1);
}

/* An object's name is not a path: what looks like the way up is asked for, and signed, as it is. */
static void test_name_with_dots(void **state)
{
	struct fixture *fx = *state;

	expect_failure(fx, "s3://bucket/d/../k", ENOENT, "NoSuchKey");
	expect(fx, "s3://bucket/./k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/d/../k"), 1);
	assert_int_equal(asked(fx, "/bucket/./k"), 1);
	assert_int_equal(asked(fx, "/bucket/k"), 0);
}

/* The check that a signature means something: what is wrong is refused. */
static void test_wrong_secret(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", "canary-x", "canary-t");
	expect_failure(fx, "s3://bucket/k", EACCES,
		       "GET s3://bucket/k: S3 403 SignatureDoesNotMatch");
	assert_int_equal(fx->status, 403);
}

static void test_wrong_token(void **state)
{
	struct fixture *fx = *state;

	have_role(fx, "ASIA1", "canary-s", "canary-x");
	expect_failure(fx, "s3://bucket/k", EPROTO, "S3 400 InvalidToken");
}

static void test_clock(void **state)
{
	struct fixture *fx = *state;

	cloud_tell(fx->c, CLOUD_S3, "/__clock?off=-7200");
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/k"), 2);
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/k"), 3);
	/* our clock was ahead, and is behind now */
	cloud_tell(fx->c, CLOUD_S3, "/__clock?off=7200");
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/k"), 5);
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/k"), 6);
}

/* Where the bucket is, is its own word: asked once, then known. */
static void test_region_of_the_answer(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(unsetenv("AWS_ENDPOINT_URL_S3"), 0);
	assert_int_equal(setenv("AWS_REGION", "us-east-1", 1), 0);
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/@us-east-1/bucket/k"), 1);
	assert_int_equal(asked(fx, "/@us-west-2/bucket/k"), 2);
	cloud_fault(fx->c, CLOUD_S3, "/@us-west-2/bucket/k",
		    "status=400&code=AuthorizationHeaderMalformed&region=us-west-2");
	expect_failure(fx, "s3://bucket/k", EPROTO, "region us-west-2");
	assert_int_equal(asked(fx, "/@us-east-1/bucket/k"), 1);
	assert_int_equal(asked(fx, "/@us-west-2/bucket/k"), 3);
}

/* An S3 of another company: its keys, its region, and a path with the bucket's name; the machine has its own. */
static void test_region_of_another_company(void **state)
{
	struct fixture *fx = *state;
	struct s3_session *other;
	char *url = cloud_url(fx->c, CLOUD_S3, "");

	assert_int_equal(unsetenv("AWS_ENDPOINT_URL_S3"), 0);
	assert_int_equal(setenv("S3_ENDPOINT", url, 1), 0);
	assert_int_equal(setenv("AWS_REGION", "us-east-1", 1), 0);
	assert_int_equal(setenv("S3_REGION", "us-west-2", 1), 0);
	assert_int_equal(setenv("S3_ACCESS_KEY_ID", "MINE", 1), 0);
	assert_int_equal(setenv("S3_SECRET_ACCESS_KEY", "canary-m", 1), 0);
	cloud_tell(fx->c, CLOUD_S3, "/__key?id=MINE&secret=canary-m");
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/k"), 1);
	assert_string_equal(s3_session_region(fx->s3), "us-west-2");
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, NULL), 0);
	/* what is known of the machine is of no use there, and without S3_REGION there is a usual one */
	assert_int_equal(unsetenv("S3_REGION"), 0);
	assert_int_equal(s3_session_new("us-west-1", fx->imds, &other, &fx->e), 0);
	assert_int_equal(s3_session_ready(other, &fx->e), 0);
	assert_string_equal(s3_session_region(other), "us-east-1");
	s3_session_free(other);
}

/* One answer that does not come is not a region: nobody guesses one, and the next request asks again. */
static void test_region_comes_late(void **state)
{
	static const char path[] = "/latest/meta-data/placement/region";
	struct fixture *fx = *state;

	assert_int_equal(unsetenv("AWS_ENDPOINT_URL_S3"), 0);
	cloud_fault(fx->c, CLOUD_IMDS, path, "status=500");
	expect_failure(fx, "s3://bucket/k", EAGAIN,
		       "no region given for s3://: instance metadata: ");
	assert_true(err_is_transient(&fx->e));
	assert_int_equal(asked(fx, NULL), 0);
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/@us-west-2/bucket/k"), 1);
	assert_int_equal(asked(fx, NULL), 1);
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, path), 2);
}

static void test_expired(void **state)
{
	struct fixture *fx = *state;

	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=400&code=ExpiredToken");
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	assert_int_equal(asked(fx, "/bucket/k"), 2);
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, "/latest/meta-data/" ROLE), 2);
}

/* Any 403 of credentials that are over by now, and once. */
static void test_expired_by_the_clock(void **state)
{
	struct fixture *fx = *state;
	int64_t later = dur_wall() / DUR_SEC + 20 * INT64_C(365) * 24 * 3600;

	expect(fx, "s3://bucket/k", NULL, "0123456789");
	creds_set_clock(s3_session_creds(fx->s3), later);
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/" ROLE, "status=500&times=99");
	cloud_tell(fx->c, CLOUD_S3,
		   arena_printf(fx->c->arena, "/__clock?off=%lld",
				(long long)(later - dur_wall() / DUR_SEC)));
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=AccessDenied&times=99");
	expect_failure(fx, "s3://bucket/k", EAGAIN, "credentials");
	assert_int_equal(asked(fx, "/bucket/k"), 2);
}

static void test_redirect_is_refused(void **state)
{
	struct fixture *fx = *state;

	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=307&location=/bucket/evil");
	expect_failure(fx, "s3://bucket/k", EPROTO, "S3 307");
	assert_int_equal(asked(fx, "/bucket/evil"), 0);
}

static void test_bad_location(void **state)
{
	struct fixture *fx = *state;

	expect_failure(fx, "s3://b%2f/k", EINVAL, "not the name of a bucket");
	assert_int_equal(fx->e.kind, ERR_CONFIG);
}

struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
	int r;
	int64_t again_ns;
};

#define WAITER_INIT                                                                    \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct waiter *w = arg;

	(void)e;
	(void)pthread_mutex_lock(&w->lock);
	w->done = true;
	w->r = r;
	w->again_ns = res->retry_after_ns;
	(void)pthread_cond_signal(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
}

static void await(struct waiter *w)
{
	(void)pthread_mutex_lock(&w->lock);
	while (!w->done)
		(void)pthread_cond_wait(&w->changed, &w->lock);
	(void)pthread_mutex_unlock(&w->lock);
}

/* At boot the credentials come after the role's name: worth asking again, and said so. */
static void test_credentials_come_late(void **state)
{
	struct fixture *fx = *state;
	struct waiter w = WAITER_INIT;
	struct http_req req = {
		.url = "s3://bucket/k", .max_bytes = 100, .done = on_done, .arg = &w
	};

	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/" ROLE, "status=404");
	(void)http_start(fx->c->http, &req);
	await(&w);
	assert_int_equal(w.r, -EAGAIN);
	assert_true(w.again_ns > 0);
	assert_int_equal(asked(fx, "/bucket/k"), 0);
	expect(fx, "s3://bucket/k", NULL, "0123456789");
}

/* While the request is being made, by a metadata service that does not answer. */
static void test_cancelled_meanwhile(void **state)
{
	struct fixture *fx = *state;
	struct waiter w = WAITER_INIT;
	struct http_req req = {
		.url = "s3://bucket/k", .max_bytes = 100, .done = on_done, .arg = &w
	};
	uint64_t id;

	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/placement/region", "hang=1");
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/iam/security-credentials/", "hang=1");
	id = http_start(fx->c->http, &req);
	while (cloud_count(fx->c, CLOUD_IMDS, NULL) == 0)
		(void)poll(NULL, 0, 10);
	http_cancel(fx->c->http, id);
	await(&w);
	assert_int_equal(w.r, -ECANCELED);
	assert_int_equal(asked(fx, "/bucket/k"), 0);
}

/* Many at once, each of which would wait as long for a metadata service that does not answer: one does, and
 * who waited behind it is told the same. Who comes later asks again. */
static void test_silence_is_waited_for_once(void **state)
{
	struct fixture *fx = *state;
	struct waiter w[20];
	struct err e;

	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/" ROLE, "hang=1&times=1");
	for (size_t i = 0; i < ARRAY_LEN(w); i++) {
		const struct http_req req = {
			.url = "s3://bucket/k", .max_bytes = 100, .done = on_done, .arg = &w[i]
		};

		w[i] = (struct waiter)WAITER_INIT;
		(void)http_start(fx->c->http, &req);
	}
	for (size_t i = 0; i < ARRAY_LEN(w); i++) {
		await(&w[i]);
		assert_true(w[i].r < 0);
	}
	/* a token, the list of roles, the one that does not come */
	assert_int_equal(cloud_count(fx->c, CLOUD_IMDS, NULL), 3);
	assert_int_equal(asked(fx, "/bucket/k"), 0);
	expect(fx, "s3://bucket/k", NULL, "0123456789");
	/* of a request by itself nothing is remembered */
	(void)creds_refused(s3_session_creds(fx->s3), 1);
	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/" ROLE, "status=500&times=1");
	assert_true(s3_session_ready(fx->s3, &e) < 0);
	assert_int_equal(s3_session_ready(fx->s3, &e), 0);
}

/* The engine ends while a request is being made. */
static void test_end_meanwhile(void **state)
{
	struct fixture *fx = *state;
	struct waiter w = WAITER_INIT;
	struct http_req req = {
		.url = "s3://bucket/k", .max_bytes = 100, .done = on_done, .arg = &w
	};

	cloud_fault(fx->c, CLOUD_IMDS, "/latest/meta-data/iam/security-credentials/", "hang=1");
	(void)http_start(fx->c->http, &req);
	http_free(fx->c->http);
	fx->c->http = NULL;
	await(&w);
	assert_int_equal(w.r, -ECANCELED);
}

static void on_fetched(void *arg, int r, const struct err *e)
{
	const struct http_result res = { .retry_after_ns = -1 };

	on_done(arg, r, &res, e);
}

/* As an asset: in a list with other mirrors, which are there when S3 does not let us. */
static void test_mirrors(void **state)
{
	struct fixture *fx = *state;
	struct waiter w = WAITER_INIT;
	struct fetcher *f;
	struct cache *cache;
	struct asset as = { .name = "k" };
	struct err e;

	digest_of(DIGEST_SHA256, "0123456789", 10, &as.digest);
	strv_add(fx->c->arena, &as.urls, "s3://bucket/k");
	strv_add(fx->c->arena, &as.urls, cloud_url(fx->c, CLOUD_S3, "/__signed/k"));
	strv_add(fx->c->arena, &as.urls, "s3://bucket/l");
	object(fx, "bucket/l", "0123456789");
	cloud_fault(fx->c, CLOUD_S3, "/bucket/k", "status=403&code=AccessDenied&times=99");
	assert_int_equal(cache_new(fx->c->root_fd,
				   arena_printf(fx->c->arena, "%s/cache", fx->c->dir), true, &cache,
				   &e),
			 0);
	assert_int_equal(fetch_new(fx->c->http, cache, &f, &e), 0);
	fetch_start(f, &as, on_fetched, &w);
	await(&w);
	assert_int_equal(w.r, 0);
	assert_int_equal(asked(fx, "/bucket/k"), 1);
	assert_int_equal(asked(fx, "/bucket/l"), 1);
	fetch_free(f);
	cache_free(cache);
}

/* The method is signed too. */
static void test_head(void **state)
{
	struct fixture *fx = *state;
	const struct http_req req = { .url = "s3://bucket/k" };
	int64_t bytes = 0;

	if (http_length(fx->c->http, &req, &bytes, &fx->e) < 0)
		fail_msg("%s", fx->e.msg);
	assert_int_equal(bytes, 10);
}

/* What is written is signed by its hash. */
static void test_written(void **state)
{
	static const char hash[] =
		"X-Amz-Content-Sha256: "
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	struct fixture *fx = *state;
	const struct http_scheme scheme = s3_session_scheme(fx->s3);
	struct http_made put = { .method = "PUT", .body = "abc", .body_len = 3 };
	struct http_made get = { .method = "GET" };
	void *of_put = NULL, *of_get = NULL;

	assert_int_equal(scheme.prepare(scheme.arg, fx->c->arena, "s3://bucket/k", &of_put, &put,
					&fx->e),
			 0);
	assert_int_equal(scheme.prepare(scheme.arg, fx->c->arena, "s3://bucket/k", &of_get, &get,
					&fx->e),
			 0);
	assert_true(strv_has(&put.headers, hash));
	assert_false(strv_has(&get.headers, hash));
	assert_string_equal(put.url, get.url);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_signed),
		T(test_name_with_dots),
		T(test_wrong_secret),
		T(test_wrong_token),
		T(test_clock),
		cmocka_unit_test_setup_teardown(test_region_of_the_answer, setup_public, teardown),
		cmocka_unit_test_setup_teardown(test_region_of_another_company, setup_public,
						teardown),
		cmocka_unit_test_setup_teardown(test_region_comes_late, setup_public, teardown),
		T(test_expired),
		T(test_expired_by_the_clock),
		T(test_redirect_is_refused),
		T(test_bad_location),
		T(test_credentials_come_late),
		T(test_cancelled_meanwhile),
		T(test_silence_is_waited_for_once),
		T(test_end_meanwhile),
		T(test_mirrors),
		T(test_head),
		T(test_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
