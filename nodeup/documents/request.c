#include "nodeup/documents/op.h"

#include <stdlib.h>
#include <string.h>
#include "assets/url.h"
#include "nodeup/base/print.h"
#include "nodeup/documents/location.h"

/* Encodes characters that a URL may not hold; keeps encoded ones. */
static char *clean_url(struct arena *a, const char *location)
{
	char *out = arena_alloc(a, 3 * strlen(location) + 1), *p = out;

	for (; *location; location++) {
		unsigned char c = (unsigned char)*location;

		if (c > ' ' && c < 0x7f && !strchr("\"<>\\^`{|}", c))
			*p++ = *location;
		else
			p += print_to(p, 4, "%%%02X", c);
	}
	return out;
}

void store_request(struct store *s, struct arena *a, struct store_op *op, struct http_req *ret)
{
	struct http_req req = { .max_bytes = STORE_DOCUMENT_MAX };
	struct url u;

	if (!op->s3.loc.bucket) {
		/* the URL is not rewritten here, as the engine does that */
		req.url = clean_url(a, op->entry.listing ? location_join(a, op->entry.location, "")
							 : op->entry.location);
		/* a link-local address is allowed if the URL itself names it, as for user data; never by a host name
		 * or a redirect */
		u = url_split(req.url);
		req.link_local = url_is_link_local(&u);
		*ret = req;
		return;
	}
	s3_session_request(s->s3, a, &op->s3, &req.url, &req.headers);
	/* a signature is valid for this host only */
	req.no_redirect = op->s3.is_signed;
	*ret = req;
}

static struct s3_refusal refusal_of(const struct store_op *op)
{
	const struct store_answer *answer = &op->answer;

	return (struct s3_refusal){
		.status = answer->status,
		.region = answer->region,
		.request_id = answer->request_id,
		.date = answer->date,
		.page = buf_str(&answer->page),
		.page_n = answer->page.len,
		.err = &answer->err,
	};
}

bool store_learn(struct store *s, struct store_op *op)
{
	const struct s3_refusal refusal = refusal_of(op);

	op->s3.code[0] = '\0';
	if (!op->s3.loc.bucket || op->answer.status < 300)
		return false;
	return s3_session_learn(s->s3, &op->s3, &refusal);
}

void store_word_error(struct store *s, const struct store_op *op, struct err *e)
{
	const struct store_answer *answer = &op->answer;

	if (op->s3.loc.bucket && answer->status >= 300) {
		const struct s3_refusal refusal = refusal_of(op);

		s3_session_word(s->s3, &op->s3, &refusal, e);
		return;
	}
	*e = answer->err;
	/* this ENOENT is about a host name or a CA file: the server did not say that the document is missing */
	if (e->errnum == ENOENT && answer->status < 300)
		e->errnum = EPROTO;
	if (op->s3.loc.bucket)
		(void)err_wrap(e, "%s", op->shown);
}
