/* Tests: test_kops_adoption.py. */
#include "nodeup/plan/kops/builders.h"

/* Starts the services. On an adopted node the units of services are in the vendor's folder, where kops puts them.
 * Writes no unit, and enables none in a machine image. */
void build_kops_adopted(struct plan *p)
{
	plan_unit(p, plan_containerd_unit, !p->req->image_mode);
	plan_unit(p, "kubelet.service", !p->req->image_mode);
}
