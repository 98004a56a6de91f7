/* repeats.h - how often a test repeats what it does
 * Owner: none. Errors: the test fails if the variable holds no number above 0. Threads: any. */
#pragma once

#include <limits.h>
#include <stdlib.h>

/* Returns the number that the environment variable holds; without the variable, the number of the short check. */
static inline size_t repeats(const char *variable, long otherwise)
{
	const char *text = getenv(variable);
	char *end = NULL;
	const long n = text ? strtol(text, &end, 10) : otherwise;

	if (n <= 0 || n > INT_MAX || (text && *end))
		fail_msg("%s=%s: a number above 0 is wanted", variable, text);
	return (size_t)n;
}
