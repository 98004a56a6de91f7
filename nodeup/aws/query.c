#include "nodeup/aws/query.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "assets/digest.h"
#include "nodeup/aws/creds.h"
#include "nodeup/aws/query_errors.h"
#include "nodeup/aws/sigv4.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"

/* ANSWER_MAX: larger than any answer. */
enum { ANSWER_MAX = 8 << 20, PAGE_MAX = 8 * 1024, CLOCK_TOLERANCE_S = 240 };

#define QUESTION_NS (10 * DUR_SEC)

static const char form[] = "application/x-www-form-urlencoded; charset=utf-8";

struct query {
	enum endpoint_service service;
	struct http *http;
	struct imds *imds;
	struct creds *creds;
	char *region;
	int64_t deadline_ns;
};

/* One question that was sent; the net thread fills in the answer. */
struct question {
	struct buf body, page;
	int r, status;
	int64_t date; /* the server's clock; -1: not sent */
	struct err err;
	bool answered;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct query *query_new(const struct query_req *req)
{
	struct query *c = xcalloc(1, sizeof(*c));

	c->service = req->service;
	c->http = req->http;
	c->imds = req->imds;
	c->region = req->region ? xstrdup(req->region) : NULL;
	c->creds = creds_new_aws(req->imds);
	return c;
}

void query_free(struct query *c)
{
	if (!c)
		return;
	creds_free(c->creds);
	free(c->region);
	free(c);
}

void query_set_deadline(struct query *c, int64_t deadline_ns)
{
	c->deadline_ns = deadline_ns;
}

static int find_region(struct query *c, struct arena *a, struct err *e)
{
	const char *region = getenv("AWS_REGION");
	int r = 0;

	if (c->region)
		return 0;
	if (str_is_empty(region) && c->imds)
		r = imds_get(c->imds, a, "meta-data/placement/region", &region, e);
	if (r < 0)
		return err_wrap(e, "which region this is");
	if (str_is_empty(region))
		return err_config(e, "no region: neither AWS_REGION nor instance metadata say one");
	if (region[strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return err_config(e, "region '%s' is none", region);
	c->region = xstrdup(region);
	return 0;
}

static int on_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct question *q = arg;

	return buf_add(&q->body, p, n) < 0 ? buf_check(&q->body, "the answer of AWS", e) : 0;
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct question *q = arg;

	(void)pthread_mutex_lock(&q->lock);
	q->r = r;
	q->status = res->status;
	q->date = dur_of_http_date(http_header(res->headers, "date"));
	(void)buf_add(&q->page, res->error_page, res->error_page_n);
	if (r < 0)
		q->err = *e;
	q->answered = true;
	(void)pthread_cond_signal(&q->changed);
	(void)pthread_mutex_unlock(&q->lock);
}

static int64_t time_left(const struct query *c)
{
	int64_t left = c->deadline_ns - dur_now();

	if (!c->deadline_ns || left > QUESTION_NS)
		return QUESTION_NS;
	return left > DUR_MS ? left : DUR_MS;
}

static void sign(struct query *c, struct arena *a, const struct creds_now *now,
		 struct http_req *req)
{
	char hex[DIGEST_TEXT_MAX];
	struct sigv4_req what = {
		.method = "POST",
		.region = c->region,
		.service = endpoint_row(c->service)->name,
		.time = now->time,
	};
	struct strv signature;

	sigv4_set_url(a, &what, req->url);
	what.payload = digest_sha256_hex(req->body, req->body_len, hex);
	strv_addf(a, &what.headers, "Content-Type: %s", form);
	signature = sigv4_sign(a, &what, now->key);
	req->headers = what.headers;
	strv_add_all(a, &req->headers, &signature);
}

static void send(struct query *c, struct arena *a, const struct creds_now *now, const char *text,
		 struct question *q)
{
	struct http_req req = {
		.method = "POST",
		.url = arena_printf(a, "%s/", endpoint_of(a, c->service, c->region)),
		.body = text,
		.body_len = strlen(text),
		.max_bytes = ANSWER_MAX,
		.no_redirect = true,
		.timeout_ns = time_left(c),
		.data = on_data,
		.done = on_done,
		.arg = q,
	};

	sign(c, a, now, &req);
	(void)http_start(c->http, &req);
	(void)pthread_mutex_lock(&q->lock);
	while (!q->answered)
		(void)pthread_cond_wait(&q->changed, &q->lock);
	(void)pthread_mutex_unlock(&q->lock);
}

/* Asks once. If the answer is no success, returns its error. *ret_again: whether another key, or another time of
 * signing, may help. */
static int ask_once(struct query *c, struct arena *a, const char *action, const char *text,
		    struct buf *body, bool *ret_again, struct err *e)
{
	struct question q = { .body = BUF_INIT(ANSWER_MAX), .page = BUF_INIT(PAGE_MAX) };
	struct creds_now now;
	int r = creds_get(c->creds, &now, e);

	*ret_again = false;
	if (r < 0)
		return err_wrap(e, "%s", action);
	if (!now.key) {
		/* lets the next question ask IMDS again: a role may be attached after nodeup starts */
		(void)creds_refused(c->creds, now.serial);
		return err_fail(e, ERR_NET, EKEYEXPIRED, "%s: no credentials: %s", action,
				creds_who(c->creds, a));
	}
	(void)pthread_mutex_init(&q.lock, NULL);
	(void)pthread_cond_init(&q.changed, NULL);
	send(c, a, &now, text, &q);
	(void)pthread_cond_destroy(&q.changed);
	(void)pthread_mutex_destroy(&q.lock);
	if (q.r >= 0) {
		*body = q.body;
	} else if (q.status < 300) {
		*e = q.err;
		r = err_wrap(e, "%s", action);
	} else {
		r = query_error(a, endpoint_row(c->service)->title, action, q.status,
				buf_str(&q.page), q.page.len, e);
	}
	if (r == -EKEYEXPIRED && q.date >= 0 && llabs(q.date - now.time) > CLOCK_TOLERANCE_S) {
		creds_set_clock(c->creds, q.date);
		*ret_again = true;
	} else if (r == -EKEYEXPIRED) {
		*ret_again = creds_refused(c->creds, now.serial);
	}
	if (q.r < 0)
		buf_done(&q.body);
	buf_done(&q.page);
	return r;
}

static const char *form_of(struct arena *a, const struct query *c, const char *action,
			   const struct strmap *parameters)
{
	char *text =
		arena_printf(a, "Action=%s&Version=%s", action, endpoint_row(c->service)->version);

	for (size_t i = 0; i < parameters->n; i++)
		text = arena_printf(a, "%s&%s=%s", text, enc_url(a, parameters->v[i].key, false),
				    enc_url(a, parameters->v[i].value, false));
	return text;
}

static int read_answer(struct arena *a, const struct query *c, const char *action,
		       const struct buf *body, const struct xml **ret, struct err *e)
{
	const char *name = arena_printf(a, "%sResponse", action);
	bool whole;

	*ret = xml_parse(a, buf_str(body), body->len, &whole);
	if (!whole || !*ret || !str_eq((*ret)->name, name))
		return err_fail(e, ERR_NET, EPROTO, "the answer is not a %s of %s", name,
				endpoint_row(c->service)->title);
	return 0;
}

int query_ask(struct query *c, struct arena *a, const char *action, const struct strmap *parameters,
	      const struct xml **ret, struct err *e)
{
	/* what signing needs is secret, so it stays out of the arena of the run */
	autoarena struct arena *scratch = arena_new_empty();
	autobuf struct buf body = BUF_INIT(ANSWER_MAX);
	struct err first = { 0 };
	const char *text;
	bool again;
	int r = find_region(c, scratch, e);

	if (r < 0)
		return err_wrap(e, "%s", action);
	text = form_of(scratch, c, action, parameters);
	r = ask_once(c, scratch, action, text, &body, &again, &first);
	if (r < 0 && again)
		r = ask_once(c, scratch, action, text, &body, &again, &first);
	if (r >= 0)
		return ret ? read_answer(a, c, action, &body, ret, e) : 0;
	*e = first;
	if (e->errnum == EACCES || e->errnum == EKEYEXPIRED)
		err_note(e, "as", "%s, region %s", creds_who(c->creds, scratch), c->region);
	return r;
}
