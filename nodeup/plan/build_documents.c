#include "nodeup/plan/builders.h"

/* A document may name passwords, and only nodeup reads it: it comes back for root alone. */
static int make_documents(struct plan *p, struct err *e)
{
	if (!p->req->lost_text)
		return 0;
	return plan_secret(p, p->req->lost_conf, 0600, p->req->lost_text, e) ? 0 : -EINVAL;
}

const struct plan_builder build_documents = { .name = "documents", .build = make_documents };
