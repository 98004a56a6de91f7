#include "nodeup/run/waiting.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"
#include "nodeup/run/footer.h"

/* a line with the same words is repeated after this time */
#define REPEAT_NS (60 * DUR_SEC)
/* a shorter wait is reported without its duration, unless the line counts attempts */
#define SOON_NS DUR_SEC

enum { REASON_MAX = ERR_MSG_MAX, FOOTER_BYTES = 4096 };

struct said {
	char *text; /* what the line said: the object of the wait, and the reason */
	int64_t at_ns;
};

struct waits {
	struct footer footer;
	struct said *said; /* lines of the last minute */
	size_t n;
};

struct waits *waits_new(void)
{
	struct waits *w = xcalloc(1, sizeof(*w));

	w->footer = footer_look();
	return w;
}

/* Forgets lines that are old enough to be repeated. */
static void forget(struct waits *w, int64_t before_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->said[i].at_ns <= before_ns)
			free(w->said[i].text);
		else
			w->said[left++] = w->said[i];
	w->n = left;
}

void waits_over(struct waits *w)
{
	forget(w, INT64_MAX);
	log_set_footer(NULL);
}

void waits_free(struct waits *w)
{
	if (!w)
		return;
	waits_over(w);
	free(w->said);
	free(w);
}

/* Returns the end of an amount that begins here: "12 ms", "3.5 MB", "3 of" or "03:12:40"; NULL: none. */
static const char *amount_end(const char *p)
{
	/* some words are in curl's messages: "after 2009 milliseconds with 0 out of 9 bytes received" */
	static const char *const units[] = {
		"ms", "milliseconds", "s",  "seconds", "min", "h",   "d",  "bytes",
		"kB", "MB",           "GB", "KiB",     "MiB", "GiB", "of", "out",
	};
	size_t digits = strspn(p, "0123456789.,");
	const char *unit = p + digits;

	if (digits == 2 && *unit == ':' && strspn(p, "0123456789:") == strlen("03:12:40"))
		return p + strlen("03:12:40");
	if (digits == 0 || *unit++ != ' ')
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i]);

		if (strncmp(unit, units[i], n) == 0 && !isalnum((unsigned char)unit[n]))
			return unit + n;
	}
	return NULL;
}

/* Adds a reason without its amounts. "1 min 2 s" counts as one, like "2 s". */
static void add_reason(char *text, size_t size, const char *reason)
{
	size_t n = strlen(text);
	bool word = false;

	for (const char *p = reason; *p && n + 2 < size;) {
		const char *end = word ? NULL : amount_end(p);

		if (!end) {
			word = isalnum((unsigned char)*p);
			text[n++] = *p++;
			continue;
		}
		if (n < 2 || text[n - 1] != ' ' || text[n - 2] != '#')
			text[n++] = '#';
		else
			n--;
		p = end;
	}
	text[n] = '\0';
}

bool waits_is_same(const char *reason, const char *other)
{
	char text[2 * REASON_MAX] = "", second[2 * REASON_MAX] = "";

	add_reason(text, sizeof(text), reason);
	add_reason(second, sizeof(second), other);
	return str_eq(text, second);
}

bool waits_due(struct waits *w, const char *what, const char *reason, int64_t now_ns)
{
	char text[2 * REASON_MAX];

	forget(w, now_ns - REPEAT_NS);
	(void)print_to(text, sizeof(text), "%.*s: ", REASON_MAX - 3, what);
	add_reason(text, sizeof(text), reason);
	for (size_t i = 0; i < w->n; i++)
		if (str_eq(w->said[i].text, text))
			return false;
	w->said = xrealloc(w->said, (w->n + 1) * sizeof(*w->said));
	w->said[w->n++] = (struct said){ .text = xstrdup(text), .at_ns = now_ns };
	return true;
}

/* Words a monotonic time as the time of day, as the log has it. */
static char *time_of(struct arena *a, int64_t then_ns)
{
	return dur_clock(a, dur_wall() + then_ns - dur_now());
}

void waits_show(struct waits *w, const struct wait *wait)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = BUF_INIT(FOOTER_BYTES);
	const char *attempt = wait->attempt ? arena_printf(a, ", attempt %u", wait->attempt) : "";
	const char *next =
		wait->next_ns ? arena_printf(a, ", next try %s", time_of(a, wait->next_ns)) : "";

	if (!w->footer.redraws)
		return;
	footer_measure(&w->footer);
	footer_add(&b, &w->footer, wait->what, strlen(wait->what),
		   arena_printf(a, "since %s%s%s: %s", time_of(a, wait->since_ns), attempt, next,
				wait->reason),
		   true);
	log_set_footer(buf_str(&b));
}

void waits_tell(struct waits *w, const struct wait *wait)
{
	const enum log_level level = wait->expected ? LOG_NOTICE : LOG_WARNING;
	autoarena struct arena *a = arena_new_empty();
	const int64_t now = dur_now(), lasts = now - wait->since_ns;
	const char *since = "";

	if (wait->attempt)
		since = arena_printf(a, "for %s, attempt %u: ", dur_human(a, lasts), wait->attempt);
	else if (lasts >= SOON_NS)
		since = arena_printf(a, "for %s: ", dur_human(a, lasts));
	if (waits_due(w, wait->what, wait->reason, now)) {
		log_line(level, NULL, 0, "%s %s: %s%s", wait->works ? "WORKING" : "WAITING",
			 wait->what, since, wait->reason);
		for (size_t i = 0; wait->why && i < wait->why->nnotes; i++)
			log_line(level, NULL, 0, "  %-9s %s", wait->why->notes[i].label,
				 wait->why->notes[i].text);
	}
	waits_show(w, wait);
}
