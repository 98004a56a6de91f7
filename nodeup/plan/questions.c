#include "nodeup/plan/questions.h"

#include <string.h>

const char plan_containerd_unit[] = "containerd.service";

const struct distro *plan_distro(const struct plan *p)
{
	return distro_of(p->req->facts->distribution);
}

const char *plan_resolv_conf(const struct plan *p)
{
	const struct opt_bool resolved = p->req->facts->resolved,
			      loops = p->req->facts->asks_itself;
	const bool is_todays = p->req->node->kind == NODE_CONFIGURED;
	/* not each release of older documents has it */
	const bool usual = is_todays && plan_distro(p)->has_resolved;

	/* kops of today takes its file wherever it is */
	if (!is_todays && loops.set && !loops.v)
		return NULL;
	return (resolved.set ? resolved.v : usual) ? "/run/systemd/resolve/resolv.conf" : NULL;
}

bool plan_uses_containerd(const struct plan *p)
{
	if (p->req->node->kind == NODE_CONFIGURED)
		return true;
	return str_eq(p->req->runtime.unit, plan_containerd_unit) &&
	       node_k8s_at_least(p->req->node, 1, 10) &&
	       str_eq(p->req->node->kubelet.network_plugin_name, "cni");
}

bool plan_has_flag(const struct strv *flags, const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < flags->n; i++)
		if (strncmp(flags->v[i], "--", 2) == 0 && strncmp(flags->v[i] + 2, name, n) == 0 &&
		    flags->v[i][2 + n] == '=')
			return true;
	return false;
}
