#include "nodeup/base/dur.h"

#include <math.h>
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

/* Nanoseconds of the unit that starts at *p, which is moved past it; 0 if there is none. */
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

int dur_parse(const char *text, int64_t *ret_ns, struct err *e)
{
	const char *p = text;
	double total = 0;
	int negative;

	negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	if (strcmp(p, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	if (*p == '\0')
		return err_config(e, "'%s' is not a duration such as 1m30s", text);
	while (*p) {
		size_t digits = strspn(p, "0123456789.");
		char *end;
		double v = strtod(p, &end);
		int64_t unit;

		if (digits == 0 || end != p + digits)
			return err_config(e, "'%s' is not a duration such as 1m30s", text);
		p = end;
		unit = take_unit(&p);
		if (!unit)
			return err_config(e, "'%s': a number without a unit (ns, us, ms, s, m, h)",
					  text);
		total += v * (double)unit;
	}
	if (total >= 9.2e18)
		return err_config(e, "'%s' is longer than 292 years", text);
	*ret_ns = (int64_t)llround(negative ? -total : total);
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
