/* Tests: test_kops_checks.c. */
#include "nodeup/plan/era.h"

#include "nodeup/plan/kops/builders.h"
#include "nodeup/plan/kops/kops.h"
#include "nodeup/plan/release.h"

static const struct builder builders[] = { KOPS_BUILDERS(PLAN_BUILDER) };
static const struct builder adopted_builders[] = { KOPS_ADOPTED_BUILDERS(PLAN_BUILDER) };

static bool uses_containerd(const struct plan *p)
{
	(void)p;
	return true;
}

const struct plan_era plan_kops = {
	.dialect = &kops_dialect,
	.builders = builders,
	.n_builders = ARRAY_LEN(builders),
	.checks = kops_host_checks,
	.nth_host = release_nth_today,
	.may_lack_packages = true,
	.uses_containerd = uses_containerd,
};

const struct plan_era plan_kops_adopted = {
	.dialect = &kops_dialect,
	.is_adopted = true,
	.builders = adopted_builders,
	.n_builders = ARRAY_LEN(adopted_builders),
	.nth_host = release_nth_old,
};
