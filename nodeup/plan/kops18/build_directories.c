/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/kops18.h"

#include "manifests/pod.h"

void build_directories(struct plan *p)
{
	const char *const paths[] = {
		"/etc/kubernetes",
		POD_MANIFESTS,
		plan_distro(p)->srv,
		kops18_in_srv(p, "assets"),
	};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		plan_dir(p, paths[i], 0755);
}
