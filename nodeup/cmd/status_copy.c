#include "nodeup/cmd/status_copy.h"

#include <string.h>
#include <sys/utsname.h>
#include "nodeup/base/dur.h"
#include "nodeup/documents/settings_dir.h"
#include "nodeup/run/interrupted.h"

#define PATIENCE_NS (30 * DUR_SEC)

enum { STATUS_MAX = 8 << 20, ANSWER_MAX = 64 << 10 };

/* Engines of our own: those of the run may have failed before they could ask S3. */
struct copy {
	struct http *http;
	struct imds *imds;
	struct s3_session *s3;
};

/* Where the firmware names no instance, the machine's own name has to do. */
static const char *place_of(const struct session *s, struct arena *a)
{
	const char *url = s->settings.status_url, *id = s->boot.facts.instance_id;
	struct utsname machine;

	if (str_is_empty(id) && uname(&machine) == 0)
		id = arena_str(a, machine.nodename);
	return arena_printf(a, "%s%s%s/status.json", url, str_has_suffix(url, "/") ? "" : "/",
			    str_is_empty(id) ? "unknown" : id);
}

static int open_copy(struct copy *c, const struct session *s, struct err *e)
{
	int r = http_new(&(struct http_opts){ .root_fd = s->root_fd }, &c->http, e);

	if (r < 0)
		return r;
	http_add_settings(c->http, &(struct strv){ 0 }, settings_ca(&s->settings));
	c->imds = imds_new(c->http);
	return session_s3(s, c->imds, &c->s3, e);
}

static void close_copy(struct copy *c)
{
	http_free(c->http);
	s3_session_free(c->s3);
	imds_free(c->imds);
}

static int put(struct copy *c, const char *url, const struct buf *status, struct err *e)
{
	const struct http_scheme scheme = s3_session_scheme(c->s3);
	autobuf struct buf answer = BUF_INIT(ANSWER_MAX);
	struct http_req req = {
		.method = "PUT",
		.url = url,
		.body = status->data,
		.body_len = status->len,
		.timeout_ns = PATIENCE_NS,
	};

	http_set_scheme(c->http, &scheme);
	return http_get(c->http, &req, &answer, NULL, e);
}

int status_copy(const struct session *s, int live_fd, struct arena *a, const char **ret_url,
		struct err *e)
{
	autobuf struct buf status = BUF_INIT(STATUS_MAX);
	struct copy c = { 0 };
	const char *from;
	int r;

	*ret_url = str_is_empty(s->settings.status_url) ? NULL : place_of(s, a);
	if (!*ret_url)
		return 0;
	r = interrupted_get(live_fd, &status, &from, e);
	if (r >= 0)
		r = open_copy(&c, s, e);
	if (r == 0)
		r = put(&c, *ret_url, &status, e);
	close_copy(&c);
	return r < 0 ? r : 0;
}
