#include "nodeup/aws/s3_session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "assets/digest.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"

enum { CLOCK_TOLERANCE_S = 300 };

struct s3_session {
	struct arena *arena; /* lives as long as the session; holds no secrets */
	struct imds *imds;
	struct creds *creds;
	struct creds_now now;  /* credentials and time of the request that is being made */
	const char *region;    /* NULL: not asked for yet */
	struct strmap regions; /* regions of buckets, as S3 told them */
	bool dual_stack;       /* see s3_place */
	struct err failure;    /* why the last request could not be made */
	int64_t failed_ns;     /* when that failure was found; 0 never */
};

bool s3_is_region(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && n < S3_REGION_MAX && text[n] == '\0';
}

int s3_session_new(const char *region, struct imds *imds, struct s3_session **ret, struct err *e)
{
	struct s3_session *s;

	if (!str_is_empty(region) && !s3_is_region(region))
		return err_config(e, "region: '%s' is none", region);
	s = xcalloc(1, sizeof(*s));
	s->arena = arena_new_empty();
	if (!str_is_empty(region) && !s3_is_foreign())
		s->region = arena_str(s->arena, region);
	s->imds = imds;
	s->creds = creds_new(imds);
	*ret = s;
	return 0;
}

void s3_session_free(struct s3_session *s)
{
	if (!s)
		return;
	creds_free(s->creds);
	arena_free(s->arena);
	free(s);
}

void s3_session_use_dual_stack(struct s3_session *s)
{
	s->dual_stack = true;
}

const char *s3_session_region(const struct s3_session *s)
{
	return s->region;
}

struct creds *s3_session_creds(struct s3_session *s)
{
	return s->creds;
}

/* Finds the region: given, environment, IMDS. */
static int find_region(struct s3_session *s, struct err *e)
{
	static const char *const names[] = { "AWS_REGION", "AWS_DEFAULT_REGION", "S3_REGION" };
	const char *from = NULL, *region = NULL;
	int r;

	if (s->region)
		return 0;
	/* for S3_ENDPOINT only S3_REGION counts: AWS_REGION is the machine's. source: kops 1.37 and 1.8
	 * util/pkg/vfs/s3context.go */
	for (size_t i = s3_is_foreign() ? ARRAY_LEN(names) - 1 : 0;
	     i < ARRAY_LEN(names) && str_is_empty(region); i++)
		region = getenv(from = names[i]);
	/* other endpoints have no region; without IMDS, the bucket's answer gives the region */
	if (str_is_empty(region) && (s3_endpoint() || !s->imds))
		region = "us-east-1";
	if (str_is_empty(region)) {
		from = "IMDS";
		r = imds_get(s->imds, s->arena, "meta-data/placement/region", &region, e);
		if (r < 0)
			return err_wrap(e, "no region given for s3://");
	}
	if (!s3_is_region(region))
		return err_config(e, "region of %s: '%s' is none", from, region);
	s->region = arena_str(s->arena, region);
	return 0;
}

int s3_session_ready(struct s3_session *s, struct err *e)
{
	int r = find_region(s, e);

	return r < 0 ? r : creds_get(s->creds, &s->now, e);
}

static const char *method_of(const struct s3_try *t)
{
	return t->method ? t->method : "GET";
}

static struct strv sign(struct s3_session *s, struct arena *a, struct s3_try *t, const char *url)
{
	struct sigv4_req what = {
		.method = method_of(t),
		.payload = t->payload ? t->payload : sigv4_empty,
		.region = t->region,
		.service = "s3",
		.time = s->now.time,
	};

	sigv4_set_url(a, &what, url);
	t->is_signed = s->now.key;
	t->serial = s->now.serial;
	t->signed_at = s->now.time;
	return t->is_signed ? sigv4_sign(a, &what, s->now.key) : (struct strv){ 0 };
}

void s3_session_request(struct s3_session *s, struct arena *a, struct s3_try *t,
			const char **ret_url, struct strv *ret_headers)
{
	const char *region = strmap_get(&s->regions, t->loc.bucket);
	struct s3_place at = { .dual_stack = s->dual_stack };

	t->region = at.region = region ? region : s->region;
	*ret_url = t->listing ? s3_list_url(a, &t->loc, &at, t->token)
			      : s3_object_url(a, &t->loc, &at);
	*ret_headers = sign(s, a, t, *ret_url);
}

static bool is_elsewhere(struct s3_session *s, struct s3_try *t, const struct s3_refusal *f)
{
	bool elsewhere = f->status == 301 || f->status == 307 || f->status == 400;

	if (!elsewhere || t->redirected || !s3_is_region(f->region) || str_eq(f->region, t->region))
		return false;
	t->redirected = true;
	strmap_set(s->arena, &s->regions, arena_str(s->arena, t->loc.bucket),
		   arena_str(s->arena, f->region));
	return true;
}

/* Returns whether the signature's time is wrong by S3's clock. A machine's clock may be set long after boot. */
static bool is_late(struct s3_session *s, struct s3_try *t, const struct s3_refusal *f)
{
	int64_t date = dur_of_http_date(f->date), off = date - t->signed_at;

	if (f->status != 403 || !t->is_signed || t->reclocked || date < 0 ||
	    llabs(off) <= CLOCK_TOLERANCE_S)
		return false;
	t->reclocked = true;
	creds_set_clock(s->creds, date);
	return true;
}

static bool is_expired(struct s3_session *s, struct s3_try *t, const struct s3_refusal *f)
{
	int status = f->status;

	/* a role may be attached, or IMDS may begin to answer, only after nodeup starts */
	if (!t->is_signed && (status == 401 || status == 403))
		(void)creds_refused(s->creds, t->serial);
	if (!t->is_signed || t->renewed ||
	    !(str_eq(t->code, "ExpiredToken") || (status == 403 && creds_are_over(s->creds))))
		return false;
	t->renewed = true;
	return creds_refused(s->creds, t->serial);
}

bool s3_session_learn(struct s3_session *s, struct s3_try *t, const struct s3_refusal *f)
{
	autoarena struct arena *a = arena_new_empty();
	const char *code = s3_error_code(a, f->page, f->page_n);

	(void)print_to(t->code, sizeof(t->code), "%s", code ? code : "");
	return is_elsewhere(s, t, f) || is_late(s, t, f) || is_expired(s, t, f);
}

static void note_clock(const struct s3_session *s, const struct s3_refusal *f, struct err *e)
{
	int64_t date = dur_of_http_date(f->date), off = llabs(date - dur_wall() / DUR_SEC);

	if (date < 0)
		return;
	if (off <= CLOCK_TOLERANCE_S)
		err_note(e, "ruled out", "clock (%lld s off)", (long long)off);
	else
		err_note(e, "clock", "%lld s off S3's%s", (long long)off,
			 creds_clock_off(s->creds) ? "; signed with S3's time" : "");
}

static void note_left(struct s3_session *s, const struct s3_try *t, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	bool listing = t->listing;

	if (!t->is_signed) {
		err_note(e, "unsigned", "%s", creds_who(s->creds, a));
		err_note(e, "left", "the request is not signed, the bucket must let everyone %s",
			 listing ? "list"
			 : t->payload
				 ? "write"
				 : "read; or there is no such object, and listing is not allowed");
	} else if (str_eq(t->code, "SignatureDoesNotMatch")) {
		err_note(e, "left", "the secret key; a proxy that changes requests");
	} else if (str_eq(t->code, "InvalidAccessKeyId") || str_eq(t->code, "InvalidToken")) {
		err_note(e, "left", "credentials that AWS does not know, or not any more");
	} else if (t->payload) {
		err_note(e, "left",
			 "s3:PutObject, kms:GenerateDataKey, bucket and endpoint policy");
	} else {
		err_note(e, "left", "%s, kms:Decrypt, endpoint policy%s",
			 listing ? "s3:ListBucket" : "s3:GetObject",
			 listing ? "" : "; or no such object and no s3:ListBucket");
	}
}

static void note_denied(struct s3_session *s, const struct s3_try *t, const struct s3_refusal *f,
			struct err *e)
{
	if (str_eq(f->region, t->region))
		err_note(e, "ruled out", "region (the bucket confirms %s)", t->region);
	note_clock(s, f, e);
	if (t->is_signed && *t->code && !str_eq(t->code, "InvalidToken"))
		err_note(e, "ruled out", "expired token");
	note_left(s, t, e);
}

/* Fills the error. An error page that is not S3's lacks the request's id, so takes the id from the headers. */
void s3_session_word(struct s3_session *s, const struct s3_try *t, const struct s3_refusal *f,
		     struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	(void)err_fail(e, ERR_NET, f->err->errnum, "%s %s: S3 %d",
		       t->listing ? "LIST" : method_of(t), t->location, f->status);
	s3_explain(a, f->page, f->page_n, e);
	if (!strstr(e->msg, ", request ") && *f->request_id)
		err_add(e, "request %s", f->request_id);
	err_add(e, "region %s", t->region);
	if (t->is_signed && (f->status == 403 || str_eq(t->code, "ExpiredToken")))
		err_add(e, "as %s", creds_who(s->creds, a));
	if (f->status == 403)
		note_denied(s, t, f, e);
	if (f->status == 301 && !*f->region)
		err_note(e, "next", "set AWS_REGION: the bucket is elsewhere and says not where");
}

/* Requests are signed one after another, so a silent metadata service would delay each by its time limit. If one
 * request fails, the requests that waited meanwhile get the same error. */
static int ready_in_turn(struct s3_session *s, int64_t asked_ns, struct err *e)
{
	int r;

	if (asked_ns < s->failed_ns) {
		*e = s->failure;
		return err_code(e);
	}
	r = s3_session_ready(s, e);
	if (r < 0) {
		s->failure = *e;
		s->failed_ns = dur_now();
	}
	return r;
}

static int scheme_prepare(void *arg, struct arena *a, const char *url, void **state,
			  struct http_made *ret, struct err *e)
{
	struct s3_session *s = arg;
	struct s3_try *t = *state;
	char hex[DIGEST_TEXT_MAX];
	int r;

	if (!t) {
		t = *state = arena_new(a, struct s3_try);
		t->location = arena_str(a, url);
		t->method = ret->method;
		if (ret->body)
			t->payload = arena_str(a, digest_sha256_hex(ret->body, ret->body_len, hex));
		r = s3_parse(a, url, &t->loc, e);
		if (r < 0)
			return r;
	}
	r = ready_in_turn(s, ret->asked_ns, e);
	if (r < 0)
		return err_wrap(e, "%s %s", method_of(t), url);
	s3_session_request(s, a, t, &ret->url, &ret->headers);
	return 0;
}

static int scheme_judge(void *arg, struct arena *a, const char *url, void *state,
			const struct http_result *res, struct err *e)
{
	const struct s3_refusal refusal = {
		.status = res->status,
		.region = http_header(res->headers, "x-amz-bucket-region"),
		.request_id = http_header(res->headers, "x-amz-request-id"),
		.date = http_header(res->headers, "date"),
		.page = res->error_page,
		.page_n = res->error_page_n,
		.err = e
	};
	struct err worded;

	(void)a;
	(void)url;
	if (s3_session_learn(arg, state, &refusal))
		return 1;
	s3_session_word(arg, state, &refusal, &worded);
	*e = worded;
	return err_code(e);
}

struct http_scheme s3_session_scheme(struct s3_session *s)
{
	return (struct http_scheme){
		.name = "s3", .arg = s, .prepare = scheme_prepare, .judge = scheme_judge
	};
}
