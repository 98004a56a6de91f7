#include "nodeup/config/kops/role.h"

#include "nodeup/base/str.h"

/* source: kops 1.37 pkg/apis/kops InstanceGroupRole.ToLowerString */
static const struct kops_role roles[] = {
	{ .name = "ControlPlane",
	  .title = "control plane",
	  .folder = "control-plane",
	  .serves_api = true,
	  .is_control_plane = true },
	{ .name = "APIServer", .title = "API server", .folder = "apiserver", .serves_api = true },
	{ .name = "Node", .title = "worker" },
};

const struct kops_role *kops_role(const char *role)
{
	const struct kops_role *row = roles;

	while (row < &roles[ARRAY_LEN(roles) - 1] && !str_eq(role, row->name))
		row++;
	return row;
}
