#include "nodeup/aws/signal.h"

#include "nodeup/base/dur.h"

int signal_send(const struct signal_req *req, struct err *e)
{
	struct query *q = query_new(&(struct query_req){ .service = endpoint_named(req->service),
							 .http = req->http,
							 .imds = req->imds,
							 .region = req->region });
	int r;

	if (req->timeout_ns)
		query_set_deadline(q, dur_now() + req->timeout_ns);
	r = query_ask(q, NULL, req->action, &req->parameters, NULL, e);
	query_free(q);
	if (r == -ESRCH)
		return 0;
	return r < 0 ? r : 1;
}
