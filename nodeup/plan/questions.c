#include "nodeup/plan/questions.h"

#include <string.h>
#include "nodeup/plan/era.h"

const char plan_containerd_unit[] = "containerd.service";
const char plan_resolved_conf[] = "/run/systemd/resolve/resolv.conf";

const struct distro *plan_distro(const struct plan *p)
{
	return distro_of(p->req->facts->distribution);
}

const char *plan_resolv_conf(const struct plan *p)
{
	const struct opt_bool resolved = p->req->facts->resolved,
			      loops = p->req->facts->asks_itself;

	if (loops.set && !loops.v)
		return NULL;
	return resolved.set && resolved.v ? plan_resolved_conf : NULL;
}

bool plan_uses_containerd(const struct plan *p)
{
	return p->era->uses_containerd && p->era->uses_containerd(p);
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
