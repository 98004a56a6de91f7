#include "nodeup/aws/imds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"

enum {
	DISKS_MAX = 128, /* no instance has more disks; a longer list is not a list of disks */
	ANSWER_MAX = 64 * 1024,
	TOKEN_MAX = 1024,
	TOKEN_TTL_S = 6 * 60 * 60,
	TOKEN_MARGIN_S = 5 * 60,
	/* with too low a hop limit the answer never arrives, and only this time limit ends the wait */
	TIMEOUT_S = 2,
};

/* A question that is sent before its answer is needed. */
struct ahead {
	struct imds *imds;
	char *path; /* NULL: the answer was taken, or is of no use */
	struct buf body;
	int r;
	struct err err;
};

struct imds {
	struct http *http;
	struct ahead *ahead;
	size_t n_ahead, n_due; /* n_due: questions without an answer yet; under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *base;  /* the service's address, without a slash at its end */
	char *token; /* NULL: there is no token yet */
	int64_t token_until_ns;
	bool version1; /* the token endpoint does not exist */
	bool chosen;   /* the environment gives the address */
};

static const char ipv4_base[] = "http://169.254.169.254", ipv6_base[] = "http://[fd00:ec2::254]";

static char *find_base(bool *chosen)
{
	const char *base = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	const char *mode = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
	size_t n;

	*chosen = !str_is_empty(base) || !str_is_empty(mode);
	if (str_is_empty(base))
		base = mode && strcasecmp(mode, "IPv6") == 0 ? ipv6_base : ipv4_base;
	n = strlen(base);
	while (n && base[n - 1] == '/')
		n--;
	return xasprintf("%.*s", (int)n, base);
}

struct imds *imds_new(struct http *http)
{
	struct imds *m = xcalloc(1, sizeof(*m));

	m->http = http;
	m->base = find_base(&m->chosen);
	(void)pthread_mutex_init(&m->lock, NULL);
	(void)pthread_cond_init(&m->changed, NULL);
	return m;
}

static void free_ahead(struct imds *m)
{
	for (size_t i = 0; i < m->n_ahead; i++) {
		free(m->ahead[i].path);
		buf_done(&m->ahead[i].body);
	}
	free(m->ahead);
	m->ahead = NULL;
	m->n_ahead = 0;
}

static void drop_token(struct imds *m)
{
	free(m->token);
	m->token = NULL;
}

void imds_free(struct imds *m)
{
	if (!m)
		return;
	free_ahead(m);
	drop_token(m);
	free(m->base);
	(void)pthread_cond_destroy(&m->changed);
	(void)pthread_mutex_destroy(&m->lock);
	free(m);
}

static void limit(struct http_req *req)
{
	req->no_proxy = true;
	req->no_redirect = true;
	req->link_local = true;
	req->timeout_ns = TIMEOUT_S * DUR_SEC;
}

static int request(struct imds *m, struct http_req *req, struct buf *b, int *ret_status,
		   struct err *e)
{
	limit(req);
	return http_get(m->http, req, b, ret_status, e);
}

static int fetch_token_here(struct imds *m, struct arena *a, struct err *e)
{
	autobuf struct buf b = BUF_INIT(TOKEN_MAX);
	struct http_req req = { .method = "PUT",
				.url = arena_printf(a, "%s/latest/api/token", m->base) };
	const char *token;
	int status, r;

	strv_addf(a, &req.headers, "X-aws-ec2-metadata-token-ttl-seconds: %d", TOKEN_TTL_S);
	r = request(m, &req, &b, &status, e);
	if (status == 403 || status == 404 || status == 405) {
		m->version1 = true;
		return 0;
	}
	if (r < 0) {
		if (e->errnum == ETIMEDOUT)
			err_note(e, "do",
				 "check that metadata is enabled; hop limit 2 in a container");
		/* a caller takes ENOENT for a path that does not exist; here it means that there are no tokens */
		e->errnum = e->errnum == ENOENT ? EPROTO : e->errnum;
		return err_wrap(e, "ask for a token");
	}
	token = str_trim(a, buf_str(&b));
	if (!str_is_word(token))
		return err_fail(e, ERR_NET, EPROTO, "ask for a token: what came is none");
	drop_token(m);
	m->token = xstrdup(token);
	m->token_until_ns = dur_now() + (TOKEN_TTL_S - TOKEN_MARGIN_S) * DUR_SEC;
	return 0;
}

static void use_base(struct imds *m, const char *base)
{
	free(m->base);
	m->base = xstrdup(base);
}

/* Asks the IPv6 address too if there is no route to the IPv4 address: in an IPv6-only subnet curl fails at once. */
static int fetch_token(struct imds *m, struct arena *a, struct err *e)
{
	struct err other = { 0 };
	int r = fetch_token_here(m, a, e);

	if (r >= 0 || m->chosen || (e->errnum != ENETUNREACH && e->errnum != EHOSTUNREACH))
		return r;
	use_base(m, ipv6_base);
	if (fetch_token_here(m, a, &other) >= 0)
		return 0;
	use_base(m, ipv4_base);
	return r;
}

/* Makes the request for a path. Asks for a token first, if one is needed. */
static int prepare(struct imds *m, struct arena *a, const char *path, struct http_req *ret,
		   struct err *e)
{
	int r = 0;

	*ret = (struct http_req){ 0 };
	if (!m->version1 && (!m->token || dur_now() >= m->token_until_ns))
		r = fetch_token(m, a, e);
	if (r < 0)
		return r;
	ret->url = arena_printf(a, "%s/latest/%s", m->base, path);
	if (m->token)
		strv_addf(a, &ret->headers, "X-aws-ec2-metadata-token: %s", m->token);
	return 0;
}

static int ask_path(struct imds *m, struct arena *a, const char *path, struct buf *b,
		    int *ret_status, struct err *e)
{
	struct http_req req;
	int r = prepare(m, a, path, &req, e);

	*ret_status = 0;
	return r < 0 ? r : request(m, &req, b, ret_status, e);
}

static int on_ahead_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct ahead *ahead = arg;

	return buf_add(&ahead->body, p, n) < 0 ? buf_check(&ahead->body, ahead->path, e) : 0;
}

static void on_ahead_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct ahead *ahead = arg;
	struct imds *m = ahead->imds;

	(void)res;
	ahead->r = r;
	if (r < 0)
		ahead->err = *e;
	(void)pthread_mutex_lock(&m->lock);
	m->n_due--;
	(void)pthread_cond_signal(&m->changed);
	(void)pthread_mutex_unlock(&m->lock);
}

void imds_ask_ahead(struct imds *m, const char *const *paths, size_t n)
{
	autoarena struct arena *scratch = arena_new_empty();
	struct http_req req;
	struct err ignored;

	free_ahead(m);
	m->ahead = xcalloc(n + 1, sizeof(*m->ahead));
	for (; m->n_ahead < n && prepare(m, scratch, paths[m->n_ahead], &req, &ignored) >= 0;
	     m->n_ahead++) {
		struct ahead *ahead = &m->ahead[m->n_ahead];

		*ahead = (struct ahead){ .imds = m,
					 .path = xstrdup(paths[m->n_ahead]),
					 .body = BUF_INIT(ANSWER_MAX) };
		limit(&req);
		req.max_bytes = ANSWER_MAX;
		req.data = on_ahead_data;
		req.done = on_ahead_done;
		req.arg = ahead;
		(void)pthread_mutex_lock(&m->lock);
		m->n_due++;
		(void)pthread_mutex_unlock(&m->lock);
		(void)http_start(m->http, &req);
	}
	(void)pthread_mutex_lock(&m->lock);
	while (m->n_due)
		(void)pthread_cond_wait(&m->changed, &m->lock);
	(void)pthread_mutex_unlock(&m->lock);
}

/* Gives the answer to an early question, but only once: a value, or that the path does not exist. Returns whether
 * there is an answer. */
static bool take_ahead(struct imds *m, const char *path, struct buf *b, int *ret, struct err *e)
{
	for (size_t i = 0; i < m->n_ahead; i++) {
		struct ahead *ahead = &m->ahead[i];

		if (!str_eq(ahead->path, path) || (ahead->r < 0 && ahead->r != -ENOENT))
			continue;
		free(ahead->path);
		ahead->path = NULL;
		(void)buf_add(b, buf_str(&ahead->body), ahead->body.len);
		*e = ahead->err;
		*ret = ahead->r;
		return true;
	}
	return false;
}

bool imds_has_answered(const struct imds *m)
{
	return m->token || m->version1;
}

int imds_has_version1(struct imds *m, struct err *e)
{
	autoarena struct arena *scratch = arena_new_empty();
	autobuf struct buf b = BUF_INIT(ANSWER_MAX);
	struct http_req req = { .url = arena_printf(scratch, "%s/latest/meta-data/instance-id",
						    m->base) };
	int status = 0, r;

	r = request(m, &req, &b, &status, e);
	if (status == 401)
		return 0;
	return r < 0 ? err_wrap(e, "instance metadata, version 1") : 1;
}

static int get(struct imds *m, const char *path, struct buf *b, struct err *e)
{
	/* requests hold the token, so they do not go into the arena of the run */
	autoarena struct arena *scratch = arena_new_empty();
	int status = 0, r;

	if (!take_ahead(m, path, b, &r, e))
		r = ask_path(m, scratch, path, b, &status, e);
	if (r < 0 && status == 401) {
		/* the token has expired, or the clock has jumped, or version 1 was just switched off */
		drop_token(m);
		m->version1 = false;
		r = ask_path(m, scratch, path, b, &status, e);
	}
	return r < 0 ? err_wrap(e, "instance metadata") : 0;
}

int imds_get(struct imds *m, struct arena *a, const char *path, const char **ret_text,
	     struct err *e)
{
	autobuf struct buf b = BUF_INIT(ANSWER_MAX);
	int r = get(m, path, &b, e);

	if (r == 0)
		*ret_text = str_trim(a, buf_str(&b));
	return r;
}

int imds_user_data(struct imds *m, struct arena *a, const char **ret, size_t *ret_n, struct err *e)
{
	autobuf struct buf b = BUF_INIT(ANSWER_MAX);
	int r = get(m, "user-data", &b, e);

	if (r == -ENOENT)
		return err_fail(e, ERR_NET, ENOENT, "this instance has no user data");
	if (r < 0)
		return r;
	*ret = arena_strn(a, buf_str(&b), b.len);
	*ret_n = b.len;
	return 0;
}

int imds_instance_type(struct imds *m, struct arena *a, const char **ret, struct err *e)
{
	int r = imds_get(m, a, "meta-data/instance-type", ret, e);

	if (r == -ENOENT)
		*ret = NULL;
	return r < 0 && r != -ENOENT ? err_wrap(e, "instance type") : 0;
}

int imds_block_devices(struct imds *m, struct arena *a, struct strmap *ret, struct err *e)
{
	static const char folder[] = "meta-data/block-device-mapping";
	struct strmap map = { 0 };
	const char *text;
	int r = imds_get(m, a, arena_printf(a, "%s/", folder), &text, e);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_wrap(e, "block device mapping");
	for (const char *line = text; *line && map.n < DISKS_MAX;) {
		size_t n = strcspn(line, "\n");
		const char *name = str_trim(a, arena_strn(a, line, n)), *device;

		line += n + (line[n] == '\n');
		if (*name == '\0' || strchr(name, '/'))
			continue;
		r = imds_get(m, a, arena_printf(a, "%s/%s", folder, name), &device, e);
		/* a volume may be detached between the two questions */
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return err_wrap(e, "block device mapping: %s", name);
		strmap_set(a, &map, name, str_trim(a, device));
	}
	*ret = map;
	return 0;
}
