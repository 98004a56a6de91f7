#include "nodeup/config/policy.h"

/* The questions of policy.h, in their order. */
static const struct {
	bool may_change, is_of_node, makes_node, has_machine;
} answers[] = {
	[MODE_LOOK] = { false, true, true, true },
	[MODE_GUARD] = { false, true, true, true },
	[MODE_CHECK] = { false, true, true, true },
	[MODE_APPLY] = { true, true, true, true },
	[MODE_INSTALL] = { true, false, true, true },
	[MODE_BAKE] = { true, false, false, true },
	[MODE_DIFF] = { false, false, true, false },
	[MODE_VALIDATE] = { false, false, false, true },
};

bool policy_may_change(const struct policy *p)
{
	return answers[p->mode].may_change;
}

bool policy_is_of_node(const struct policy *p)
{
	return answers[p->mode].is_of_node;
}

bool policy_makes_node(const struct policy *p)
{
	return answers[p->mode].makes_node;
}

bool policy_has_machine(const struct policy *p)
{
	return answers[p->mode].has_machine || p->image_mode;
}
