/* apply_copy.c - copies the status of an apply to S3: the bytes of status.json, which holds no secret */
#include "nodeup/cmd/apply.h"

#include <string.h>
#include <sys/utsname.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/documents/settings_dir.h"
#include "nodeup/run/interrupted.h"

#define PATIENCE_NS (30 * DUR_SEC)

enum { STATUS_MAX = 8 << 20, ANSWER_MAX = 64 << 10 };

/* Engines for the copy alone: those of the run may have failed before they could ask S3. */
struct copy {
	struct http *http;
	struct imds *imds;
	struct s3_session *s3;
};

/* Returns the URL of the copy. If the firmware has no instance id, uses the machine's own name. */
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

static int copy_status(const struct apply *ap, const char *url, struct err *e)
{
	autobuf struct buf status = BUF_INIT(STATUS_MAX);
	struct copy c = { 0 };
	const char *from;
	int r = interrupted_get(ap->live_fd, &status, &from, e);

	if (r >= 0)
		r = open_copy(&c, &ap->session, e);
	if (r == 0)
		r = put(&c, url, &status, e);
	close_copy(&c);
	return r;
}

void apply_copy_status(const struct apply *ap)
{
	autoarena struct arena *a = arena_new_empty();
	const char *url;
	struct err late;

	if (ap->live_fd < 0 || ap->cli->offline || str_is_empty(ap->session.settings.status_url))
		return;
	url = place_of(&ap->session, a);
	if (copy_status(ap, url, &late) < 0)
		log_warning("the status was not copied: %s", late.msg);
	else
		log_info("the status is at %s as well", url);
}
