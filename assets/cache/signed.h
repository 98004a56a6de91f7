/* signed.h - which entries of a cache were signed, so that they need not be read again to know
 * A record DIR/signed/<algo>-<hex> names signature and key, on a line for each signature that the
 * documents have of these bytes. The entry has the bytes that its name says, so the record holds as long
 * as both are the same.
 * Owner: none. Errors: INTEGRITY, SYSTEM. Threads: all functions; processes may share it. */
#pragma once

#include "assets/cache/cache.h"

/* Whether the asset needs no signature, or its entry is known to have each that it or a twin names. */
bool cache_is_signed(struct cache *c, const struct asset *as);
/* Read the entry and check the signatures that the asset and its twins name, and note that all are
 * right. */
int cache_check_signature(struct cache *c, const struct asset *as, struct err *e) must_check;
