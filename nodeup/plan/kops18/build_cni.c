/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/builders.h"

#include "nodeup/plan/assets.h"

/* The plugins of each network; source: kops 1.8.1 nodeup/pkg/model/network.go. A network without a row brings its
 * own plugins, and gets the plugins of the last row too. */
static const struct {
	const char *networking;
	const char *plugins;
} networks[] = {
	{ "classic", "" },
	{ "kubenet", "bridge host-local loopback" },
	{ "external", "bridge host-local loopback" },
	{ "kopeio", "bridge host-local loopback" },
	{ NULL, "bridge host-local loopback ptp flannel" },
};

static const char *plugins_of(const char *networking)
{
	size_t i = 0;

	while (networks[i].networking && !str_eq(networks[i].networking, networking))
		i++;
	return networks[i].plugins;
}

void build_cni(struct plan *p)
{
	const char *dir = plan_distro(p)->cni_dir;
	struct strv names = strv_split(p->arena, plugins_of(p->req->node->networking), ' ');

	/* the classic network has no plugins */
	if (names.n == 0)
		return;
	plan_dir(p, "/etc/cni/net.d", 0755);
	plan_dir(p, dir, 0755);
	for (size_t i = 0; i < names.n; i++)
		plan_install_member(p, names.v[i], arena_printf(p->arena, "%s/%s", dir, names.v[i]),
				    0755);
}
