/* Tests: test_kops_adoption.py. */
#include "nodeup/plan/kops/builders.h"

/* Starts the services, whose units are the vendor's on such a node: kops puts its own units elsewhere. Writes no
 * unit, and enables none in a machine image. */
void build_kops_adopted(struct plan *p)
{
	plan_unit(p, plan_containerd_unit, !p->req->image_mode);
	plan_unit(p, "kubelet.service", !p->req->image_mode);
}
