/* plan.h - print what a plan's walk found; shared by plan and apply --dryrun
 * Owner: none. Errors: SYSTEM, CONFIG. Threads: one. */
#pragma once

#include "nodeup/cmd/cli.h"
#include "nodeup/cmd/session.h"

/* Walk the plan and print it. ret_pending: how many tasks would change something. */
int plan_show(struct cli *cli, size_t *ret_pending, struct err *e) must_check;
