#include "nodeup/base/label.h"

#include <ctype.h>
#include <string.h>
#include "nodeup/base/str.h"

enum { NAME_MAX_LETTERS = 63, DOMAIN_MAX_LETTERS = 253 };

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) != 0;
}

/* Letters and digits, with others of `inner` between them, but not as the first or the last. */
static bool is_word(const char *s, size_t n, const char *inner)
{
	if (n == 0 || !is_letter(s[0]) || !is_letter(s[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_letter(s[i]) && !strchr(inner, s[i]))
			return false;
	return true;
}

/* A DNS subdomain in small letters. */
static bool is_domain(const char *s, size_t n)
{
	if (n > DOMAIN_MAX_LETTERS)
		return false;
	for (size_t i = 0; i < n; i++)
		if (isupper((unsigned char)s[i]))
			return false;
	for (;;) {
		const char *dot = memchr(s, '.', n);
		const size_t part = dot ? (size_t)(dot - s) : n;

		if (!is_word(s, part, "-"))
			return false;
		if (!dot)
			return true;
		s += part + 1;
		n -= part + 1;
	}
}

static bool is_short(const char *s, size_t n)
{
	return n <= NAME_MAX_LETTERS && is_word(s, n, "-_.");
}

static bool is_name(const char *s, size_t n)
{
	const char *slash = memchr(s, '/', n);
	const size_t prefix = slash ? (size_t)(slash - s) : 0;

	if (!slash)
		return is_short(s, n);
	return is_domain(s, prefix) && is_short(slash + 1, n - prefix - 1);
}

static bool is_value(const char *s, size_t n)
{
	return n == 0 || is_short(s, n);
}

/* "name=value" or "name". */
static bool is_pair(const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);
	const size_t name = equals ? (size_t)(equals - s) : n;

	return is_name(s, name) && (!equals || is_value(equals + 1, n - name - 1));
}

bool label_is_name(const char *s)
{
	return is_name(s, strlen(s));
}

bool label_is_domain(const char *s)
{
	return is_domain(s, strlen(s));
}

bool label_is_value(const char *s)
{
	return is_value(s, strlen(s));
}

bool label_is_pair(const char *s)
{
	return !*s || is_pair(s, strlen(s));
}

bool label_is_taint(const char *s)
{
	static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute",
					       NULL };
	const size_t n = strcspn(s, ":");

	return s[n] && is_pair(s, n) && str_is_one_of(s + n + 1, effects);
}
