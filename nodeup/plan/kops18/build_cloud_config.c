/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

void build_cloud_config(struct plan *p)
{
	const struct node *n = p->req->node;
	struct strv lines = { 0 };

	if (str_is_empty(n->cloud_provider))
		return;
	for (size_t i = 0; i < kops18_of(p)->cloud_config.n; i++)
		strv_addf(p->arena, &lines, "%s = %s", kops18_of(p)->cloud_config.v[i].key,
			  kops18_of(p)->cloud_config.v[i].value);
	/* without lines kops leaves one blank line */
	plan_file(p, "/etc/kubernetes/cloud.config", 0644,
		  arena_printf(p->arena, "[global]\n%s\n", strv_join(p->arena, &lines, "\n")));
}
