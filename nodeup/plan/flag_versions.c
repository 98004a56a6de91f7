#include "nodeup/plan/questions.h"

#include <string.h>

/* Flags that documents may ask for and that not every Kubernetes from 1.6 to 1.10 has: the first and the last
 * minor version of those that do, 0 and 0 for none.
 * source: upstream's reference pages, tests/fake/flags; a test compares them with this. */
static const struct {
	const char *component, *flag;
	int first, last;
} rows[] = {
	{ "kubelet", "api-servers", 6, 7 },
	{ "kubelet", "babysit-daemons", 6, 6 },
	{ "kubelet", "configure-cbr0", 0, 0 },
	{ "kubelet", "docker-disable-shared-pid", 7, 10 },
	{ "kubelet", "experimental-nvidia-gpus", 0, 0 },
	{ "kubelet", "fail-swap-on", 8, 10 },
	{ "kubelet", "reconcile-cidr", 0, 0 },
	{ "kubelet", "require-kubeconfig", 6, 9 },
	{ "kube-apiserver", "audit-policy-file", 7, 10 },
	{ "kube-apiserver", "experimental-encryption-provider-config", 7, 10 },
	{ "kube-apiserver", "proxy-client-cert-file", 7, 10 },
	{ "kube-apiserver", "proxy-client-key-file", 7, 10 },
	{ "kube-controller-manager", "horizontal-pod-autoscaler-downscale-delay", 7, 10 },
	{ "kube-controller-manager", "horizontal-pod-autoscaler-upscale-delay", 7, 10 },
};

static bool has_flag(const struct strv *flags, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < flags->n; i++)
		if (strncmp(flags->v[i], "--", 2) == 0 && strncmp(flags->v[i] + 2, name, n) == 0 &&
		    flags->v[i][2 + n] == '=')
			return true;
	return false;
}

void plan_warn_flags(struct plan *p, const char *component, const struct strv *flags)
{
	const struct version *v = &p->req->node->kubernetes;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const bool fits = rows[i].first <= v->minor && v->minor <= rows[i].last;

		if (fits || strcmp(rows[i].component, component) != 0 ||
		    !has_flag(flags, rows[i].flag))
			continue;
		strv_add(
			p->arena, &p->warnings,
			arena_printf(p->arena,
				     "%s of Kubernetes %d.%d has no flag --%s, which the documents "
				     "ask for: it will not start",
				     component, v->major, v->minor, rows[i].flag));
	}
}
