/* storage_swap.c - swap, and what kubelet thinks of it */
#include "nodeup/config/kops18/storage.h"

/* --fail-swap-on came with 1.8, on unless said otherwise. */
static bool kubelet_refuses(const struct node *n)
{
	const struct opt_bool *on = &n->kubelet.fail_swap_on;

	return node_k8s_at_least(n, 1, 8) && (!on->set || on->v);
}

int storage_swap(struct kops18_build *b)
{
	const struct node_volumes *v = &b->node->volumes;

	if (b->node->kubelet.fail_swap_on.set && !node_k8s_at_least(b->node, 1, 8))
		return err_config(b->err,
				  "kubelet.failSwapOn: kubelet has it since 1.8, this is %d.%d",
				  b->node->kubernetes.major, b->node->kubernetes.minor);
	for (size_t i = 0; i < v->n; i++)
		if (!v->v[i].path && kubelet_refuses(b->node))
			return err_config(b->err,
					  "%s: %s: kubelet would not start with it; set "
					  "kubelet.failSwapOn to false, or leave it out",
					  tree_where(b->arena, &v->v[i].pos), v->v[i].name);
	return 0;
}
