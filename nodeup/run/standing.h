/* standing.h - what runs have said about the node, apart from how the last run ended
 * A run that ended well says what the node is. Each later run carries this verdict in its status, as "node", until a
 * run ends well. A run that did not end well says nothing about the node in two cases. Either it changed nothing and
 * saw no drift, and was by hand or was ended by a signal. Or it changed something, and a signal ended it after every
 * task was done. Any other run that did not end well makes a ready node degraded, with its error.
 * Owner: the arena. Errors: none. Units: none. Threads: one.
 * Tests: test_health.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/tree.h"

/* The unit that runs us at each boot. */
#define BOOT_UNIT "kops-configuration.service"

/* Returns whether the verdict says that the node works: ready, or degraded, for instance with kept documents. */
bool standing_is_good(const struct tree *word);
/* Returns whether our own unit made the run. */
bool standing_is_ours(const struct tree *status);
/* Names who made a run: "by hand (alice)", "by unit kops-configuration.service". */
const char *standing_by(struct arena *a, const struct tree *run);
/* Names who made a run, with its process: "by hand (alice), process 7". */
const char *standing_maker(struct arena *a, const struct tree *run);
/* Returns what the last run's status says of the node: the status itself, or an earlier verdict that it carries. If
 * the run did harm, it returns the earlier verdict with the run's error and the reason in "hurt". at_work: the run's
 * process lives and does not sleep between two runs. */
const struct tree *standing_of(struct arena *a, const struct tree *status, bool at_work);
/* Returns the part of a verdict that the next run carries; NULL if `word` is NULL. */
struct tree *standing_carry(struct arena *a, const struct tree *word);
