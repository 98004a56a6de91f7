/* seed.h - the seed's nodes with their keys and secrets, and plans made for them
 * Tests run in the repository's top folder. Owner: the arena. Errors: the test fails. */
#pragma once

#include "nodeup/plan/plan.h"
#include "tests/unit/lib/kops18_world.h"

#define SEED_HOST "ip-10-0-0-1.ec2.internal"

/* A node of the seed's cluster, ready to be changed by the test before it is planned. */
struct world seed_world(struct arena *a, bool master);
/* A request for it on a host with docker; it points into w. */
struct plan_req seed_request(const struct world *w);
/* The plan of a request that must succeed. */
struct plan seed_plan(struct arena *a, const struct plan_req *req);
/* A task of that kind and name; the test fails without it. */
const struct task *plan_get(const struct plan *p, enum task_kind kind, const char *name);
/* As plan_get, NULL if there is none. */
const struct task *plan_look(const struct plan *p, enum task_kind kind, const char *name);
