#include "nodeup/store_op.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeup/base/dur.h"

enum { CLOCK_TOLERANCE_S = 300 };

bool store_is_region(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && n < STORE_REGION_MAX && text[n] == '\0';
}

int store_find_region(struct store *s, struct err *e)
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

void store_request(struct store *s, struct store_op *op, struct http_req *ret)
{
	struct arena *a = s->arena;
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
	*ret = req;
}

bool store_redirect(struct store *s, struct store_op *op)
{
	const struct store_answer *answer = &op->answer;
	bool elsewhere = answer->status == 301 || answer->status == 307 || answer->status == 400;

	if (!op->s3.bucket || !elsewhere || op->redirected || !store_is_region(answer->region) ||
	    str_eq(answer->region, op->region))
		return false;
	op->redirected = true;
	strmap_set(s->arena, &s->regions, op->s3.bucket, arena_str(s->arena, answer->region));
	return true;
}

static void note_clock(const char *date, struct err *e)
{
	struct tm tm = { 0 };
	const char *end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	int64_t off;

	if (!end || *end)
		return;
	off = dur_wall() / DUR_SEC - timegm(&tm);
	if (off < 0)
		off = -off;
	if (off <= CLOCK_TOLERANCE_S)
		err_note(e, "ruled out", "clock (%lld s off)", (long long)off);
	else
		err_note(e, "clock", "%lld s off S3's: signatures and certificates fail",
			 (long long)off);
}

static void note_denied(const struct store_op *op, struct err *e)
{
	const struct store_answer *answer = &op->answer;

	if (str_eq(answer->region, op->region))
		err_note(e, "ruled out", "region (the bucket confirms %s)", op->region);
	note_clock(answer->date, e);
	if (op->entry.listing)
		err_note(e, "left", "the request is not signed, the bucket must let anybody list");
	else
		err_note(e, "left",
			 "the request is not signed, the bucket must let anybody read; or "
			 "there is no such object and nobody may list");
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
	if (answer->status == 403)
		note_denied(op, e);
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
