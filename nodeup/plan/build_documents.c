#include "nodeup/plan/builders.h"

/* A document may name passwords, and only nodeup reads it: it comes back for root alone. */
void build_documents(struct plan *p)
{
	if (p->req->lost_text)
		plan_secret(p, p->req->lost_conf, 0600, p->req->lost_text);
}
