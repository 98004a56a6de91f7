#include "nodeup/base/label.h"

#include <string.h>

#define SMALL "abcdefghijklmnopqrstuvwxyz0123456789"
#define ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZ" SMALL

/* Returns whether each of the n letters is in `inner`, and the first and the last are in `ends` too. */
static bool is_made_of(const char *s, size_t n, const char *inner, const char *ends)
{
	return n && strspn(s, inner) >= n && strchr(ends, s[0]) && strchr(ends, s[n - 1]);
}

static bool is_word(const char *s)
{
	const size_t n = strlen(s);

	return n <= LABEL_WORD_MAX && is_made_of(s, n, ALNUM "_.-", ALNUM);
}

static bool is_domain(const char *s, const char *end)
{
	for (;; s++) {
		const size_t n = strcspn(s, "./");

		if (!is_made_of(s, n, SMALL "-", SMALL))
			return false;
		s += n;
		if (s == end)
			return true;
	}
}

bool label_is_value(const char *s)
{
	return !*s || is_word(s);
}

bool label_is_name(const char *s)
{
	const char *slash = strchr(s, '/');

	return slash ? is_domain(s, slash) && is_word(slash + 1) : is_word(s);
}
