/* lookup.h - where names lead that a proxy is asked for, as far as this machine can tell
 * What was found holds for a minute, so that an asset in a hundred ranges is not looked up a hundred
 * times; so does that nothing was found.
 * Owner: the caller's storage. Errors: none. Units: monotonic ns. Threads: one.
 * Tests: test_http.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lookup {
	struct lookup_host *v;
	size_t n;
};

/* Returns the link-local address that the URL's host leads to; "" none, NULL not known (any more). */
const char *lookup_find(const struct lookup *l, const char *url, int64_t now_ns);
/* Note that address, or "". */
void lookup_note(struct lookup *l, const char *url, const char *address, int64_t now_ns);
/* Release. */
void lookup_done(struct lookup *l);
