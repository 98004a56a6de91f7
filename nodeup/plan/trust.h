/* trust.h - signatures of a plan's assets: by which keys, over what, and whether they are asked for
 * requireSignatures holds for all that a run fetches as an asset, what nodeup itself knows of included.
 * The list's signature is checked here, before anything is made of it; an asset's when its bytes are
 * there (tasks/asset.c).
 * Owner: the plan's arena. Errors: CONFIG, INTEGRITY, with file:line:column. Threads: one.
 * Tests: test_trust.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Read the keys and check the signature of the list, if there is one. */
int trust_begin(struct plan *p, struct err *e) must_check;
/* Take an asset's own signature (NULL: none); `listed`: it is of the list, which may be signed. */
int trust_asset(struct plan *p, struct asset *as, const char *signature, bool listed,
		const char *where, struct err *e) must_check;
/* Take an asset of ours whose bytes no document names, text its "hash@url". It has no signature: where
 * they are required it is refused. */
int trust_built_in(const struct plan *p, const struct asset *as, const char *text,
		   struct err *e) must_check;
