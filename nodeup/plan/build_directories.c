#include "nodeup/plan/builders.h"

int build_directories(struct plan *p, struct err *e)
{
	static const char *const paths[] = {
		"/etc/kubernetes",
		"/etc/kubernetes/manifests",
		"/srv/kubernetes",
		"/srv/kubernetes/assets",
	};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (!plan_dir(p, paths[i], 0755, e))
			return -EINVAL;
	return 0;
}
