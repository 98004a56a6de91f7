/* Tests: test_kubeup.py. */
#include "nodeup/plan/era.h"

#include "nodeup/config/kubeup/kubeup.h"
#include "nodeup/plan/docker.h"
#include "nodeup/plan/kubeup/builders.h"
#include "nodeup/plan/release.h"

static const struct builder builders[] = { KUBEUP_BUILDERS(PLAN_BUILDER) };

const struct plan_era plan_kubeup = {
	.dialect = &kubeup_dialect,
	.builders = builders,
	.n_builders = ARRAY_LEN(builders),
	.checks = host_checks_of_docker,
	.nth_host = release_nth_old,
	.made_on = "kube-up made nodes of Debian and Ubuntu",
	.family = PACKAGE_DEB,
	.arch = "amd64",
};
