#include "nodeup/base/quantity.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 200, BINARY_STEP = 1024, BASE = 10 };

/* A number as digits; the last `scale` digits stand after the point. */
struct decimal {
	char digits[DIGITS_MAX + 1];
	size_t n;
	long scale;
};

static const struct {
	char name;
	int power; /* power of 10 */
	int steps; /* power of 1024, for the suffix with an i */
} suffixes[] = {
	{ 'n', -9, 0 }, { 'u', -6, 0 }, { 'm', -3, 0 }, { 'k', 3, 0 },  { 'K', 3, 1 },
	{ 'M', 6, 2 },  { 'G', 9, 3 },  { 'T', 12, 4 }, { 'P', 15, 5 }, { 'E', 18, 6 },
};

static bool add_digit(struct decimal *d, char digit)
{
	/* leading zeros do not count */
	if (d->n == 0 && digit == '0')
		return true;
	if (d->n == DIGITS_MAX)
		return false;
	d->digits[d->n++] = digit;
	return true;
}

static bool multiply(struct decimal *d)
{
	struct decimal out = { .scale = d->scale };
	char reversed[DIGITS_MAX];
	unsigned int carry = 0;
	size_t n = 0;

	for (size_t i = 0; i < d->n || carry; i++) {
		if (i < d->n)
			carry += (unsigned int)(d->digits[d->n - 1 - i] - '0') * BINARY_STEP;
		if (n == DIGITS_MAX)
			return false;
		reversed[n++] = (char)('0' + carry % BASE);
		carry /= BASE;
	}
	while (n-- > 0)
		(void)add_digit(&out, reversed[n]);
	*d = out;
	return true;
}

static bool take_suffix(struct decimal *d, const char *s)
{
	const bool binary = *s && s[1] == 'i';

	if ((*s == 'e' || *s == 'E') && s[1] && !binary) {
		d->scale -= strtol(s + 1, NULL, BASE);
		return true;
	}
	for (size_t i = 0; *s && i < ARRAY_LEN(suffixes); i++) {
		if (suffixes[i].name != *s)
			continue;
		if (!binary)
			d->scale -= suffixes[i].power;
		for (int k = 0; binary && k < suffixes[i].steps; k++)
			if (!multiply(d))
				return false;
	}
	return true;
}

static bool take_number(struct decimal *d, const char *s)
{
	bool behind = false;

	for (; *s == '.' || (*s >= '0' && *s <= '9'); s++) {
		if (*s == '.')
			behind = true;
		else if (!add_digit(d, *s))
			return false;
		else if (behind)
			d->scale++;
	}
	return take_suffix(d, s);
}

const char *quantity_decimal(struct arena *a, const char *text)
{
	const bool negative = *text == '-';
	struct decimal d = { 0 };
	char out[2 * DIGITS_MAX + 4], *p = out;
	size_t whole;

	if (!take_number(&d, text + (negative || *text == '+')) || d.scale > DIGITS_MAX ||
	    d.scale < -DIGITS_MAX)
		return text;
	if (negative && d.n)
		*p++ = '-';
	whole = (long)d.n > d.scale ? (size_t)((long)d.n - d.scale) : 0;
	if (d.n == 0 || whole == 0)
		*p++ = '0';
	for (size_t i = 0; d.n && i < whole; i++)
		*p++ = i < d.n ? d.digits[i] : '0';
	if (d.scale > 0)
		*p++ = '.';
	for (long i = d.scale; i > 0; i--)
		*p++ = (long)d.n >= i ? d.digits[(long)d.n - i] : '0';
	return arena_strn(a, out, (size_t)(p - out));
}
