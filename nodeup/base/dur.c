#include "nodeup/base/dur.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Microseconds are "us", or with the micro sign (Go prints it) or the Greek letter. */
static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "ns", 1 },      { "us", 1000 },   { "\302\265s", 1000 }, { "\316\274s", 1000 },
	{ "ms", DUR_MS }, { "s", DUR_SEC }, { "m", 60 * DUR_SEC }, { "h", 3600 * DUR_SEC },
};

/* Returns the nanoseconds of the unit at *p, and moves *p past the unit. 0: there is no unit at *p. */
static int64_t take_unit(const char **p)
{
	size_t len = strcspn(*p, "0123456789.+-");

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strlen(units[i].name) == len && strncmp(*p, units[i].name, len) == 0) {
			*p += len;
			return units[i].ns;
		}
	return 0;
}

/* A number in a text: `whole` has the digits before the point, and part / scale is the fraction. */
struct number {
	uint64_t whole, part;
	double scale;
};

/* Reads a number at *p, and moves *p past it. Returns 0, -EINVAL if there is no digit, -ERANGE beyond 64 bits. Reads
 * at most 18 digits of a fraction and ignores the rest. */
static int take_number(const char **p, struct number *ret)
{
	const char *start = *p, *c = start;
	struct number n = { .scale = 1 };
	bool fits = true;

	for (; *c >= '0' && *c <= '9'; c++)
		fits = fits && !__builtin_mul_overflow(n.whole, 10, &n.whole) &&
		       !__builtin_add_overflow(n.whole, (uint64_t)(*c - '0'), &n.whole);
	if (*c == '.')
		for (c++; *c >= '0' && *c <= '9'; c++)
			if (n.scale < 1e18) {
				n.part = n.part * 10 + (uint64_t)(*c - '0');
				n.scale *= 10;
			}
	if (c == start || (c == start + 1 && *start == '.'))
		return -EINVAL;
	*p = c;
	*ret = n;
	return fits ? 0 : -ERANGE;
}

/* Adds n times the unit to the total, in whole nanoseconds. Returns whether the total has room for the sum. */
static bool add(uint64_t *total, const struct number *n, int64_t unit)
{
	const double part = (double)n->part * ((double)unit / n->scale);
	uint64_t ns;

	return !__builtin_mul_overflow(n->whole, (uint64_t)unit, &ns) &&
	       !__builtin_add_overflow(ns, (uint64_t)part, &ns) &&
	       !__builtin_add_overflow(*total, ns, total);
}

int dur_parse(const char *text, int64_t *ret_ns, struct err *e)
{
	const char *p = text + (*text == '-' || *text == '+');
	const uint64_t most = (uint64_t)INT64_MAX + (*text == '-');
	uint64_t total = 0;
	bool fits = true;

	if (strcmp(p, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	if (*p == '\0')
		return err_config(e, "'%s' is not a duration such as 1m30s", text);
	while (*p) {
		struct number n = { 0 };
		const int r = take_number(&p, &n);
		int64_t unit;

		if (r == -EINVAL)
			return err_config(e, "'%s' is not a duration such as 1m30s", text);
		unit = take_unit(&p);
		if (!unit)
			return err_config(e, "'%s': a number without a unit (ns, us, ms, s, m, h)",
					  text);
		fits = fits && r == 0 && add(&total, &n, unit);
	}
	if (!fits || total > most)
		return err_config(e, "'%s' is longer than 292 years", text);
	*ret_ns = *text == '-' ? (int64_t)(0 - total) : (int64_t)total;
	return 0;
}

static char *trimmed_fraction(struct arena *a, double v, const char *unit)
{
	char *s = arena_printf(a, "%.9f", v);
	size_t n = strlen(s);

	while (n && s[n - 1] == '0')
		s[--n] = '\0';
	if (n && s[n - 1] == '.')
		s[--n] = '\0';
	return arena_printf(a, "%s%s", s, unit);
}

char *dur_render(struct arena *a, int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t h, m;
	char *s;

	if (v == 0)
		return arena_str(a, "0s");
	if (v < 1000)
		return arena_printf(a, "%s%lluns", sign, (unsigned long long)v);
	if (v < 1000000)
		return arena_printf(a, "%s%s", sign,
				    trimmed_fraction(a, (double)v / 1e3, "\302\265s"));
	if (v < 1000000000)
		return arena_printf(a, "%s%s", sign, trimmed_fraction(a, (double)v / 1e6, "ms"));
	h = v / (3600 * (uint64_t)DUR_SEC);
	m = v / (60 * (uint64_t)DUR_SEC) % 60;
	s = trimmed_fraction(a, (double)(v % (60 * (uint64_t)DUR_SEC)) / 1e9, "s");
	if (h)
		return arena_printf(a, "%s%lluh%llum%s", sign, (unsigned long long)h,
				    (unsigned long long)m, s);
	if (m)
		return arena_printf(a, "%s%llum%s", sign, (unsigned long long)m, s);
	return arena_printf(a, "%s%s", sign, s);
}

char *dur_human(struct arena *a, int64_t ns)
{
	if (ns < DUR_SEC)
		return arena_printf(a, "%lld ms", (long long)(ns / DUR_MS));
	if (ns < 60 * DUR_SEC)
		return arena_printf(a, "%.1f s", (double)ns / 1e9);
	return arena_printf(a, "%lld min %lld s", (long long)(ns / (60 * DUR_SEC)),
			    (long long)(ns / DUR_SEC % 60));
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * DUR_SEC + t.tv_nsec;
}

int64_t dur_now(void)
{
	return now(CLOCK_MONOTONIC);
}

int64_t dur_wall(void)
{
	return now(CLOCK_REALTIME);
}

char *dur_utc(struct arena *a, int64_t seconds, const char *form)
{
	const time_t at = seconds;
	struct tm tm = { 0 };
	char text[32] = "";

	(void)gmtime_r(&at, &tm);
	(void)strftime(text, sizeof(text), form, &tm);
	return arena_str(a, text);
}

char *dur_clock(struct arena *a, int64_t wall_ns)
{
	return dur_utc(a, wall_ns / DUR_SEC, "%T");
}

int64_t dur_of_http_date(const char *text)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);

	return end && *end == '\0' ? timegm(&tm) : -1;
}

char *dur_date(struct arena *a, int64_t wall_ns)
{
	return dur_utc(a, wall_ns / DUR_SEC, "%F %T");
}
