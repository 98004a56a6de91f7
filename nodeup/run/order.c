#include "nodeup/run/order.h"

/* Returns for each task the length of the longest chain of tasks that must follow it. */
static size_t *chains_of(struct arena *a, const struct run_req *req)
{
	size_t *chain = arena_alloc(a, (req->n + 1) * sizeof(*chain));
	bool longer;

	do {
		longer = false;
		/* most needs come before their users in the list, so one round is mostly enough */
		for (size_t i = req->n; i-- > 0;)
			for (size_t k = 0; k < req->tasks[i]->n_needs; k++) {
				size_t *of_need = &chain[req->tasks[i]->needs[k]->index];

				if (*of_need <= chain[i]) {
					*of_need = chain[i] + 1;
					longer = true;
				}
			}
	} while (longer);
	return chain;
}

size_t *order_of(struct arena *a, const struct run_req *req)
{
	size_t *order = arena_alloc(a, (req->n + 1) * sizeof(*order));
	uint64_t *bytes = arena_alloc(a, (req->n + 1) * sizeof(*bytes));
	const size_t *chain = chains_of(a, req);

	for (size_t i = 0; i < req->n; i++) {
		const struct task *t = req->tasks[i];
		size_t at = i;

		bytes[i] = t->ops->reads ? t->ops->reads(t, req->ctx) : 0;
		for (; at > 0; at--) {
			const size_t before = order[at - 1];

			if (bytes[before] != bytes[i] ? bytes[before] > bytes[i]
						      : chain[before] >= chain[i])
				break;
			order[at] = before;
		}
		order[at] = i;
	}
	return order;
}
