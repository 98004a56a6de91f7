/* Tests: test_plan.c. */
#include "nodeup/plan/builders.h"

/* A document may name passwords, and only nodeup reads it: it comes back for root alone. */
void build_documents(struct plan *p)
{
	for (size_t i = 0; i < p->req->n_lost; i++) {
		const struct node_lost *lost = &p->req->lost[i];
		struct task *file = plan_bytes(p, lost->path, 0600, lost->text, lost->n, true);

		file->file.set_aside = lost->damaged;
	}
}
