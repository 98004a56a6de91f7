#include "nodeup/join/join.h"

#include <stdlib.h>
#include <string.h>
#include "assets/http/http.h"
#include "nodeup/aws/sts.h"
#include "nodeup/base/dur.h"
#include "nodeup/config/pem.h"
#include "nodeup/join/turns.h"

enum { ANSWER_MAX = 4 << 20, CLOCK_TOLERANCE_S = 60 };

#define TRY_NS (15 * DUR_SEC)

/* kops' placeholders: a name of the cluster has one of these addresses until the control plane is up. source: kops
 * 1.37 pkg/dns/placeholder.go */
static const char *const placeholders[] = { "203.0.113.123", "fd00:dead:add::", NULL };

struct join {
	struct join_req req;
	struct join_turns turns;
	struct http *http;
	struct creds *creds;
	struct x509_store_st *roots;
};

int join_new(const struct join_req *req, struct join **ret, struct err *e)
{
	struct join *j = xcalloc(1, sizeof(*j));
	int r;

	*j = (struct join){ .req = *req,
			    .turns = { .n = req->servers->n },
			    .roots = pem_roots(req->ca) };
	r = http_new(&(struct http_opts){ .root_fd = req->root_fd, .roots = j->roots }, &j->http,
		     e);
	j->creds = creds_new_aws(req->imds);
	if (r < 0)
		join_free(j);
	else
		*ret = j;
	return r;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	http_free(j->http);
	creds_free(j->creds);
	pem_free_roots(j->roots);
	free(j);
}

const char *join_server(const struct join *j)
{
	return j->req.servers->v[j->turns.at];
}

/* Sets the URL, with the host name that the server must prove, and connect_to, the server's address. */
static void set_url(const struct join *j, struct arena *a, struct http_req *ret)
{
	const char *server = join_server(j), *host = strstr(server, "://"),
		   *name = j->req.tls_server_name;
	size_t n = strlen(server), host_n;
	const char *port;

	while (n && server[n - 1] == '/')
		n--;
	ret->url = arena_printf(a, "%.*s/bootstrap", (int)n, server);
	if (str_is_empty(name) || !host)
		return;
	host += strlen("://");
	host_n = strcspn(host, "/");
	port = memrchr(host, ':', host_n);
	/* in brackets, the colons of an IPv6 address begin no port */
	if (port && memchr(port, ']', host_n - (size_t)(port - host)))
		port = NULL;
	ret->connect_to = arena_printf(a, "%.*s%s", (int)host_n, host, port ? "" : ":443");
	ret->url = arena_printf(a, "https://%s%.*s/bootstrap", name,
				port ? (int)(host_n - (size_t)(port - host)) : 0, port ? port : "");
}

/* Notes why a proof may be refused. STS accepts only a recent time, so the next try uses the server's time. */
static void word_refusal(struct join *j, struct arena *a, const struct http_answer *answer,
			 struct err *e)
{
	const int64_t date = dur_of_http_date(answer->date), now = dur_wall() / DUR_SEC,
		      off = date - now;

	err_note(e, "as", "%s", creds_who(j->creds, a));
	err_note(e, "signed for", "%s, region %s", sts_host(a, j->req.region), j->req.region);
	if (date >= 0 && llabs(off) > CLOCK_TOLERANCE_S) {
		err_note(e, "clock", "this one is %s %s the server's, which is %s",
			 dur_human(a, llabs(off) * DUR_SEC), off > 0 ? "behind" : "ahead of",
			 answer->date);
		creds_set_clock(j->creds, date);
	}
	err_note(
		e, "do",
		"see that the role of this instance is one of the cluster's nodes, and that both clocks are right");
}

/* Judges an answer. Returns 0, with e set, if the next try may bring another answer. */
static int judge(struct join *j, struct arena *a, const struct http_answer *answer, struct err *e)
{
	switch (answer->status) {
	case 409:
		(void)err_fail(
			e, ERR_NET, EALREADY,
			"%s: this node is Ready already, and kops-controller gives it nothing more (409)",
			join_server(j));
		return -EALREADY;
	case 400:
		return err_config(e, "%s: kops-controller refuses the request: %s", join_server(j),
				  answer->line);
	case 403:
		(void)err_fail(
			e, ERR_NET, EACCES,
			"%s: kops-controller does not believe who this instance is (403): %s",
			join_server(j), answer->line);
		word_refusal(j, a, answer, e);
		return 0;
	case 0:
		if (e->errnum == HTTP_NO_NAME)
			(void)err_fail(
				e, ERR_NET, e->errnum,
				"%s: its name is not set up yet: the control plane is still coming up",
				join_server(j));
		else
			(void)err_wrap(e, "kops-controller");
		return 0;
	default:
		(void)err_wrap(e, "kops-controller");
		return 0;
	}
}

/* Returns the time limit of one try: TRY_NS, or the patience with all servers if that is shorter. */
static int64_t try_ns(const struct join *j)
{
	const int64_t patience = j->req.patience.ns;

	return patience >= 0 && patience < TRY_NS ? patience + DUR_MS : TRY_NS;
}

/* One attempt to ask one server. */
struct join_try {
	struct join *join;
	int64_t since_ns; /* the time of the first try */
	unsigned int attempt;
	int64_t wanted_ns; /* the pause that the server asks for; 0: none */
};

static void on_silence(void *arg)
{
	const struct join_try *t = arg;
	const struct join_req *req = &t->join->req;

	wait_tell_silence(req->patience.fn, req->patience.arg, "kops-controller",
			  join_server(t->join), false, t->since_ns, t->attempt);
}

/* Returns 1 if the server answered; 0, with e set, if it may be asked again; otherwise fails. */
static int try_once(struct join_try *t, struct arena *a, const char *body,
		    struct protocol_answer *ret, struct err *e)
{
	struct join *j = t->join;
	/* the proof is a secret while it is valid */
	autoarena struct arena *secrets = arena_new_empty();
	autobuf struct buf text = BUF_INIT(ANSWER_MAX);
	struct sts_proof proof = { .region = j->req.region, .body = body, .n = strlen(body) };
	struct http_req req = { .method = "POST",
				.body = body,
				.body_len = strlen(body),
				.no_proxy = true,
				.no_redirect = true,
				.nowhere = placeholders,
				.timeout_ns = try_ns(j),
				.silent = on_silence,
				.silent_arg = t };
	struct http_answer answer;
	struct creds_now now;
	int r = creds_get(j->creds, &now, e);

	if (r < 0)
		return e->kind == ERR_NET ? 0 : r;
	if (!now.key)
		return err_config(
			e,
			"kops-controller wants to know who this instance is, and there are no credentials: %s",
			creds_who(j->creds, a));
	proof.key = *now.key;
	proof.time = now.time;
	set_url(j, secrets, &req);
	strv_add(secrets, &req.headers, "Content-Type: application/json");
	strv_addf(secrets, &req.headers, "Authorization: %s", sts_authorization(secrets, &proof));
	req.silent_ns = dur_now() + WAIT_SILENCE_NS;
	r = http_ask(j->http, &req, &text, &answer, e);
	if (r == 0)
		r = protocol_read(a, buf_str(&text), text.len, ret, e);
	if (r == 0)
		return 1;
	if (answer.status / 100 == 2)
		return r;
	if (answer.retry_after_ns > 0)
		t->wanted_ns = answer.retry_after_ns;
	if (answer.status == 403)
		(void)creds_refused(j->creds, now.serial);
	return judge(j, a, &answer, e);
}

int join_ask(struct join *j, struct arena *a, const char *body, struct protocol_answer *ret,
	     struct err *e)
{
	const struct join_req *req = &j->req;
	const int64_t since = dur_now();

	for (unsigned int attempt = 1;; attempt++) {
		struct join_try t = { .join = j, .since_ns = since, .attempt = attempt };
		int64_t now, next, left;
		int r = try_once(&t, a, body, ret, e);

		if (r > 0)
			join_turns_answered(&j->turns);
		if (r)
			return r > 0 ? 0 : r;
		now = dur_now();
		left = req->patience.ns - (now - since);
		if (req->patience.ns >= 0 && left <= 0)
			return err_code(e);
		next = now + join_turns_next(&j->turns, wait_chance(), t.wanted_ns);
		if (req->patience.ns >= 0 && next > now + left)
			next = now + left;
		wait_tell(req->patience.fn, req->patience.arg, "kops-controller", since, attempt, e,
			  next);
		wait_until(next);
	}
}
