/* standing.h - what runs have said of the node, apart from what became of the last one
 * A run that ended well says what the node is. A later run carries that word in its status, as "node", until it has one of
 * its own. It says nothing of the node if it changed nothing, by hand, and saw no drift; nor if a signal ended it when all was done.
 * Any other run that did not end well makes a ready node degraded, with its error.
 * Owner: the arena. Errors: none. Units: none. Threads: one.
 * Tests: test_health.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/tree.h"

/* The unit that runs us at each boot. */
#define BOOT_UNIT "kops-configuration.service"

/* Returns whether a word says that the node was made, well or with what was kept. */
bool standing_is_good(const struct tree *word);
/* Returns whether our own unit made the run. */
bool standing_is_ours(const struct tree *status);
/* Names who made a run: "by hand (alice)", "by unit kops-configuration.service". */
const char *standing_by(struct arena *a, const struct tree *run);
/* The same with its process: "by hand (alice), process 7". */
const char *standing_maker(struct arena *a, const struct tree *run);
/* The word on the node, by the status of the last run: that status itself, the word that it carries, or, if the run did harm,
 * that one with its error and the reason in "hurt". at_work: its process lives and does not sleep between two runs. */
const struct tree *standing_of(struct arena *a, const struct tree *status, bool at_work);
/* Returns what of a word the next run carries. NULL of NULL. */
struct tree *standing_carry(struct arena *a, const struct tree *word);
