#include "nodeup/config/policy.h"

bool policy_may_change(const struct policy *p)
{
	return p->mode == MODE_APPLY || p->mode == MODE_INSTALL || p->mode == MODE_BAKE;
}

bool policy_is_of_node(const struct policy *p)
{
	return p->mode == MODE_LOOK || p->mode == MODE_CHECK || p->mode == MODE_APPLY;
}

bool policy_makes_node(const struct policy *p)
{
	return p->mode != MODE_BAKE && p->mode != MODE_VALIDATE;
}

bool policy_has_machine(const struct policy *p)
{
	return p->mode != MODE_DIFF || p->image_mode;
}
