#include "nodeup/store_op.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "assets/url.h"
#include "nodeup/base/dur.h"

enum { CLOCK_TOLERANCE_S = 300 };

bool store_is_region(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && n < STORE_REGION_MAX && text[n] == '\0';
}

/* Given, environment, IMDS. */
static int find_region(struct store *s, struct err *e)
{
	static const char *const names[] = { "AWS_REGION", "AWS_DEFAULT_REGION", "S3_REGION" };
	const char *from = NULL, *region = NULL;
	int r;

	if (s->region)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(names) && str_is_empty(region); i++)
		region = getenv(from = names[i]);
	/* an endpoint of one's own has no region; without IMDS the bucket itself will say */
	if (str_is_empty(region) && (s3_endpoint() || !s->imds))
		region = "us-east-1";
	if (str_is_empty(region)) {
		from = "IMDS";
		r = imds_get(s->imds, s->arena, "meta-data/placement/region", &region, e);
		if (r < 0)
			return err_wrap(e, "no region given for s3://");
	}
	if (!store_is_region(region))
		return err_config(e, "region of %s: '%s' is none", from, region);
	s->region = arena_str(s->arena, region);
	return 0;
}

/* What is no character of a URL, encoded; what is encoded stays. */
static char *clean_url(struct arena *a, const char *location)
{
	char *out = arena_alloc(a, 3 * strlen(location) + 1), *p = out;

	for (; *location; location++) {
		unsigned char c = (unsigned char)*location;

		if (c > ' ' && c < 0x7f && !strchr("\"<>\\^`{|}", c))
			*p++ = *location;
		else
			p += snprintf(p, 4, "%%%02X", c);
	}
	return out;
}

int store_prepare(struct store *s, struct err *e)
{
	int r = find_region(s, e);

	return r < 0 ? r : creds_get(s->creds, &s->now, e);
}

/* As curl sends it: the scheme's own port is not named. */
static char *host_of(struct arena *a, const struct url *u)
{
	const char *port = url_has_scheme(u, "https") ? ":443" : ":80";
	char *host = arena_strn(a, u->authority, u->authority_n);

	if (str_has_suffix(host, port))
		host[strlen(host) - strlen(port)] = '\0';
	return host;
}

static void sign(struct store *s, struct arena *a, struct store_op *op, struct http_req *req)
{
	struct url u = url_split(req->url);
	const char *query = strchr(req->url, '?');
	const struct sigv4_req what = {
		.method = "GET",
		.host = host_of(a, &u),
		.path = arena_strn(a, u.path, u.path_n),
		.query = query ? query + 1 : NULL,
		.payload = sigv4_empty,
		.region = op->region,
		.service = "s3",
		.time = s->now.time,
	};

	op->is_signed = s->now.key;
	op->serial = s->now.serial;
	op->signed_at = s->now.time;
	if (!op->is_signed)
		return;
	req->headers = sigv4_sign(a, &what, s->now.key);
	/* it holds for this host alone */
	req->no_redirect = true;
}

void store_request(struct store *s, struct arena *a, struct store_op *op, struct http_req *ret)
{
	struct http_req req = { .max_bytes = STORE_DOCUMENT_MAX };

	if (!op->s3.bucket) {
		req.url = clean_url(a, op->entry.listing ? store_join(a, op->entry.location, "")
							 : op->entry.location);
		*ret = req;
		return;
	}
	op->region = strmap_get(&s->regions, op->s3.bucket);
	if (!op->region)
		op->region = s->region;
	req.url = op->entry.listing ? s3_list_url(a, &op->s3, op->region, op->token)
				    : s3_object_url(a, &op->s3, op->region);
	sign(s, a, op, &req);
	*ret = req;
}

static bool is_elsewhere(struct store *s, struct store_op *op)
{
	const struct store_answer *answer = &op->answer;
	bool elsewhere = answer->status == 301 || answer->status == 307 || answer->status == 400;

	if (!elsewhere || op->redirected || !store_is_region(answer->region) ||
	    str_eq(answer->region, op->region))
		return false;
	op->redirected = true;
	strmap_set(s->arena, &s->regions, op->s3.bucket, arena_str(s->arena, answer->region));
	return true;
}

/* When the server answered, in seconds; -1 unknown. */
static int64_t date_of(const struct store_answer *answer)
{
	struct tm tm = { 0 };
	const char *end = strptime(answer->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);

	return end && !*end ? timegm(&tm) : -1;
}

/* Signed at a time that is not the server's. The clock of a machine may be set long after boot. */
static bool is_late(struct store *s, struct store_op *op)
{
	int64_t date = date_of(&op->answer), off = date - op->signed_at;

	if (op->answer.status != 403 || !op->is_signed || op->reclocked || date < 0 ||
	    llabs(off) <= CLOCK_TOLERANCE_S)
		return false;
	op->reclocked = true;
	creds_set_clock(s->creds, date);
	return true;
}

static bool is_expired(struct store *s, struct store_op *op)
{
	int status = op->answer.status;

	/* a role may be attached, or IMDS be there, later than we are */
	if (!op->is_signed && (status == 401 || status == 403))
		(void)creds_refused(s->creds, op->serial);
	if (!op->is_signed || op->renewed || !str_eq(op->code, "ExpiredToken"))
		return false;
	op->renewed = true;
	return creds_refused(s->creds, op->serial);
}

bool store_learn(struct store *s, struct store_op *op)
{
	const struct buf *page = &op->answer.page;

	op->code = NULL;
	if (!op->s3.bucket || op->answer.status < 300)
		return false;
	op->code = s3_error_code(s->arena, buf_str(page), page->len);
	return is_elsewhere(s, op) || is_late(s, op) || is_expired(s, op);
}

static void note_clock(struct store *s, const struct store_op *op, struct err *e)
{
	int64_t date = date_of(&op->answer), off = llabs(date - dur_wall() / DUR_SEC);

	if (date < 0)
		return;
	if (off <= CLOCK_TOLERANCE_S)
		err_note(e, "ruled out", "clock (%lld s off)", (long long)off);
	else
		err_note(e, "clock", "%lld s off S3's%s", (long long)off,
			 store_clock_off(s) ? "; signed with S3's time" : "");
}

static void note_left(struct store *s, const struct store_op *op, struct err *e)
{
	bool listing = op->entry.listing;

	if (!op->is_signed) {
		err_note(e, "unsigned", "%s", creds_who(s->creds, s->arena));
		err_note(e, "left", "the request is not signed, the bucket must let anybody %s",
			 listing ? "list" : "read; or there is no such object and nobody may list");
	} else if (str_eq(op->code, "SignatureDoesNotMatch")) {
		err_note(e, "left", "the secret key; a proxy that changes requests");
	} else if (str_eq(op->code, "InvalidAccessKeyId") || str_eq(op->code, "InvalidToken")) {
		err_note(e, "left", "credentials that nobody has here, or have no more");
	} else {
		err_note(e, "left", "%s, kms:Decrypt, endpoint policy%s",
			 listing ? "s3:ListBucket" : "s3:GetObject",
			 listing ? "" : "; or no such object and no s3:ListBucket");
	}
}

static void note_denied(struct store *s, const struct store_op *op, struct err *e)
{
	if (str_eq(op->answer.region, op->region))
		err_note(e, "ruled out", "region (the bucket confirms %s)", op->region);
	note_clock(s, op, e);
	if (op->is_signed && op->code && !str_eq(op->code, "InvalidToken"))
		err_note(e, "ruled out", "expired token");
	note_left(s, op, e);
}

static void append(struct err *e, const char *before, const char *text)
{
	size_t n = strlen(e->msg);

	(void)snprintf(e->msg + n, sizeof(e->msg) - n, "%s%s", before, text);
}

/* An error page that is not S3's must not make a message without the request's id. */
static void word_s3_status(struct store *s, const struct store_op *op, struct err *e)
{
	const struct store_answer *answer = &op->answer;
	int errnum = answer->err.errnum;

	(void)err_fail(e, ERR_NET, errnum, "%s %s: S3 %d", op->entry.listing ? "LIST" : "GET",
		       op->entry.location, answer->status);
	s3_explain(s->arena, buf_str(&answer->page), answer->page.len, e);
	if (!strstr(e->msg, ", request ") && *answer->request_id)
		append(e, ", request ", answer->request_id);
	append(e, ", region ", op->region);
	if (op->is_signed && (answer->status == 403 || str_eq(op->code, "ExpiredToken")))
		append(e, ", as ", creds_who(s->creds, s->arena));
	if (answer->status == 403)
		note_denied(s, op, e);
	if (answer->status == 301 && !*answer->region)
		err_note(e, "next", "set AWS_REGION: the bucket is elsewhere and says not where");
}

void store_word_error(struct store *s, const struct store_op *op, struct err *e)
{
	const struct store_answer *answer = &op->answer;

	if (op->s3.bucket && answer->status >= 300) {
		word_s3_status(s, op, e);
		return;
	}
	*e = answer->err;
	/* not the server's word: a name, a CA file */
	if (e->errnum == ENOENT && answer->status < 300)
		e->errnum = EPROTO;
	if (op->s3.bucket)
		(void)err_wrap(e, "%s", op->entry.location);
}
