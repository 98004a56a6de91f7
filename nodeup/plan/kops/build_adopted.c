#include "nodeup/plan/builders.h"

/* Their units are the vendor's here, where kops' own nodeup puts them: they are not written, and in an image not enabled. */
static void make_adopted(struct plan *p)
{
	plan_unit(p, plan_containerd_unit, !p->req->image_mode);
	plan_unit(p, "kubelet.service", !p->req->image_mode);
}

const struct plan_builder build_kops_adopted = { .name = "adopted",
						 .build = make_adopted,
						 .nodes = PLAN_NODE(NODE_ADOPTED) };
