/* master.h - the volumes of a master that no protokube looks after
 * Which they are comes from facts in image mode, else from EC2; what is not attached is attached by
 * an apply and only shown by a plan. The plan then is made from what is here.
 * Owner: the arena. Errors: CONFIG, REFUSED, NET, BUSY. Threads: one. */
#pragma once

#include "nodeup/plan/plan.h"

/* Whether etcd's volumes are ours to have: a master whose documents name no protokube. */
bool master_has_volumes(const struct node *n);
/* The volumes that facts name ("main" = "vol-0abc a/a,b,c"), into a plan's request. */
int master_given_volumes(struct arena *a, const struct facts *f, struct plan_req *ret,
			 struct err *e) must_check;
