/* Tests: test_build.c. */
#include "nodeup/plan/era.h"

#include "nodeup/plan/docker.h"
#include "nodeup/plan/kops18/kops18.h"
#include "nodeup/plan/release.h"

static const struct builder builders[] = { KOPS18_BUILDERS(PLAN_BUILDER) };

/* Kubernetes 1.10 is the first that can use containerd, and then only a CNI plugin can set up its networks. */
static bool uses_containerd(const struct plan *p)
{
	return str_eq(p->req->runtime.unit, plan_containerd_unit) &&
	       node_k8s_at_least(p->req->node, 1, 10) &&
	       str_eq(kops18_of(p)->kubelet.network_plugin_name, "cni");
}

const struct plan_era plan_kops18 = {
	.dialect = &kops18_dialect,
	.builders = builders,
	.n_builders = ARRAY_LEN(builders),
	.checks = host_checks_of_docker,
	.nth_host = release_nth_old,
	.arch = "amd64",
	.uses_containerd = uses_containerd,
	.installs_docker = true,
};
