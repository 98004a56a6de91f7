/* Tests: test_kops_adoption.py. */
#include "nodeup/plan/kops/builders.h"

/* Their units are the vendor's here, where kops' own nodeup puts them: they are not written, and in an image not enabled. */
void build_kops_adopted(struct plan *p)
{
	plan_unit(p, plan_containerd_unit, !p->req->image_mode);
	plan_unit(p, "kubelet.service", !p->req->image_mode);
}
