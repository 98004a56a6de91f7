/* rounds.h - how many rounds a test makes
 * Owner: none. Errors: the test fails if the variable holds no number above 0. Threads: any. */
#pragma once

#include <stdlib.h>

/* Returns the number that the environment variable holds; without the variable, the number of the short check. */
static inline size_t rounds(const char *variable, size_t otherwise)
{
	const char *text = getenv(variable);
	char *end = NULL;
	size_t n = text ? strtoul(text, &end, 10) : otherwise;

	if (n == 0 || (text && *end))
		fail_msg("%s=%s: a number above 0 is wanted", variable, text);
	return n;
}
