#include "nodeup/aws/ec2.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "assets/digest.h"
#include "nodeup/aws/creds.h"
#include "nodeup/aws/ec2_errors.h"
#include "nodeup/aws/ec2_xml.h"
#include "nodeup/aws/endpoint.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"

enum { ANSWER_MAX = 8 << 20, PAGE_MAX = 8 * 1024, PAGES_MAX = 1000, CLOCK_TOLERANCE_S = 240 };

#define QUESTION_NS (10 * DUR_SEC)

static const char form[] = "application/x-www-form-urlencoded; charset=utf-8";

struct ec2 {
	struct http *http;
	struct imds *imds;
	struct creds *creds;
	char *region;
	int64_t deadline_ns;
};

/* One question on its way; the net thread fills it. */
struct question {
	struct buf body, page;
	int r, status;
	int64_t date; /* the server's clock, -1: not said */
	struct err err;
	bool answered;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct ec2 *ec2_new(const struct ec2_req *req)
{
	struct ec2 *c = xcalloc(1, sizeof(*c));

	c->http = req->http;
	c->imds = req->imds;
	c->region = req->region ? xstrdup(req->region) : NULL;
	c->creds = creds_new_aws(req->imds);
	return c;
}

void ec2_free(struct ec2 *c)
{
	if (!c)
		return;
	creds_free(c->creds);
	free(c->region);
	free(c);
}

void ec2_set_deadline(struct ec2 *c, int64_t deadline_ns)
{
	c->deadline_ns = deadline_ns;
}

const char *ec2_who(struct ec2 *c, struct arena *a)
{
	return creds_who(c->creds, a);
}

static int find_region(struct ec2 *c, struct arena *a, struct err *e)
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

	return buf_add(&q->body, p, n) < 0 ? buf_check(&q->body, "the answer of EC2", e) : 0;
}

static int64_t date_of(const struct http_result *res)
{
	for (const char *const *h = res->headers; h && *h; h++) {
		struct tm tm = { 0 };

		if (str_has_prefix(*h, "date: ") &&
		    strptime(*h + strlen("date: "), "%a, %d %b %Y %H:%M:%S GMT", &tm))
			return timegm(&tm);
	}
	return -1;
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct question *q = arg;

	(void)pthread_mutex_lock(&q->lock);
	q->r = r;
	q->status = res->status;
	q->date = date_of(res);
	(void)buf_add(&q->page, res->error_page, res->error_page_n);
	if (r < 0)
		q->err = *e;
	q->answered = true;
	(void)pthread_cond_signal(&q->changed);
	(void)pthread_mutex_unlock(&q->lock);
}

static int64_t time_left(const struct ec2 *c)
{
	int64_t left = c->deadline_ns - dur_now();

	if (!c->deadline_ns || left > QUESTION_NS)
		return QUESTION_NS;
	return left > DUR_MS ? left : DUR_MS;
}

static void sign(struct ec2 *c, struct arena *a, const struct creds_now *now, struct http_req *req)
{
	char hex[DIGEST_TEXT_MAX];
	struct digest d;
	struct sigv4_req what = {
		.method = "POST",
		.region = c->region,
		.service = "ec2",
		.time = now->time,
	};
	struct strv signature;

	sigv4_set_url(a, &what, req->url);
	digest_of(DIGEST_SHA256, req->body, req->body_len, &d);
	what.payload = digest_hex(&d, hex);
	strv_add(a, &what.headers, arena_printf(a, "Content-Type: %s", form));
	signature = sigv4_sign(a, &what, now->key);
	req->headers = what.headers;
	for (size_t i = 0; i < signature.n; i++)
		strv_add(a, &req->headers, signature.v[i]);
}

static void send(struct ec2 *c, struct arena *a, const struct creds_now *now, const char *text,
		 struct question *q)
{
	struct http_req req = {
		.method = "POST",
		.url = arena_printf(a, "%s/", endpoint_ec2(a, c->region)),
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

/* Ask once. Returns the error of an answer that is not a success; *ret_again: another key or time may
 * help. */
static int ask_once(struct ec2 *c, struct arena *a, const char *action, const char *text,
		    struct buf *body, bool *ret_again, struct err *e)
{
	struct question q = { .body = BUF_INIT(ANSWER_MAX), .page = BUF_INIT(PAGE_MAX) };
	struct creds_now now;
	int r = creds_get(c->creds, &now, e);

	*ret_again = false;
	if (r < 0)
		return err_wrap(e, "%s", action);
	if (!now.key) {
		/* the next one asks IMDS again: a role may be attached later than we are there */
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
		r = ec2_error(a, action, q.status, buf_str(&q.page), q.page.len, e);
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

static int ask_action(struct ec2 *c, const char *action, const char *parameters, struct buf *body,
		      struct err *e)
{
	/* what is signed is made with the secret: not in the arena of the run */
	autoarena struct arena *a = arena_new_empty();
	struct err first = { 0 };
	const char *text;
	bool again;
	int r = find_region(c, a, e);

	if (r < 0)
		return err_wrap(e, "%s", action);
	text = arena_printf(a, "Action=%s&Version=2016-11-15%s", action, parameters);
	r = ask_once(c, a, action, text, body, &again, &first);
	if (r < 0 && again)
		r = ask_once(c, a, action, text, body, &again, &first);
	if (r >= 0)
		return 0;
	*e = first;
	if (e->errnum == EACCES || e->errnum == EKEYEXPIRED)
		err_note(e, "as", "%s, region %s", creds_who(c->creds, a), c->region);
	return r;
}

static char *parameter(struct arena *a, const char *before, const char *name, const char *value)
{
	return arena_printf(a, "%s&%s=%s", before, enc_url(a, name, false),
			    enc_url(a, value, false));
}

static char *describe_instances(struct arena *a, const struct strv *ids)
{
	char *text = arena_str(a, "");

	for (size_t i = 0; i < ids->n; i++)
		text = parameter(a, text, arena_printf(a, "InstanceId.%zu", i + 1), ids->v[i]);
	return text;
}

int ec2_describe_instance(struct ec2 *c, struct arena *a, const char *id, struct ec2_instance *ret,
			  struct err *e)
{
	autobuf struct buf body = BUF_INIT(ANSWER_MAX);
	struct strv ids = { &id, 1 };
	int r = ask_action(c, "DescribeInstances", describe_instances(a, &ids), &body, e);

	if (r >= 0)
		r = ec2_xml_instance(a, buf_str(&body), body.len, ret, e);
	return r < 0 ? err_wrap(e, "instance %s", id) : 0;
}

int ec2_describe_addresses(struct ec2 *c, struct arena *a, const struct strv *ids,
			   struct strmap *ret, struct err *e)
{
	autobuf struct buf body = BUF_INIT(ANSWER_MAX);
	int r = ask_action(c, "DescribeInstances", describe_instances(a, ids), &body, e);

	return r < 0 ? r : ec2_xml_addresses(a, buf_str(&body), body.len, ret, e);
}

static char *filter_parameters(struct arena *a, const struct ec2_filters *filters)
{
	char *text = arena_str(a, "&MaxResults=500");

	for (size_t i = 0; i < filters->n; i++) {
		const struct ec2_filter *f = &filters->v[i];
		const char *at = arena_printf(a, "Filter.%zu", i + 1);

		text = parameter(a, text, arena_printf(a, "%s.Name", at), f->name);
		for (size_t k = 0; k < f->values.n; k++)
			text = parameter(a, text, arena_printf(a, "%s.Value.%zu", at, k + 1),
					 f->values.v[k]);
	}
	return text;
}

int ec2_describe_volumes(struct ec2 *c, struct arena *a, const struct ec2_filters *filters,
			 struct ec2_volumes *ret, struct err *e)
{
	char *text = filter_parameters(a, filters), *page = text;
	struct ec2_volumes all = { 0 };
	const char *token = NULL;

	for (size_t i = 0; i < PAGES_MAX; i++) {
		autobuf struct buf body = BUF_INIT(ANSWER_MAX);
		int r = ask_action(c, "DescribeVolumes", page, &body, e);

		if (r >= 0)
			r = ec2_xml_volumes(a, buf_str(&body), body.len, &all, &token, e);
		if (r < 0)
			return r;
		if (!token) {
			*ret = all;
			return 0;
		}
		page = parameter(a, text, "NextToken", token);
	}
	return err_fail(e, ERR_NET, EPROTO, "DescribeVolumes: the list of EC2 has no end");
}

int ec2_attach(struct ec2 *c, const char *volume, const char *instance, const char *device,
	       struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf body = BUF_INIT(ANSWER_MAX);
	char *text = parameter(a, "", "VolumeId", volume);

	text = parameter(a, text, "InstanceId", instance);
	text = parameter(a, text, "Device", device);
	return ask_action(c, "AttachVolume", text, &body, e);
}

int ec2_detach(struct ec2 *c, const char *volume, const char *instance, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf body = BUF_INIT(ANSWER_MAX);
	char *text = parameter(a, "", "VolumeId", volume);

	text = parameter(a, text, "InstanceId", instance);
	return ask_action(c, "DetachVolume", text, &body, e);
}
