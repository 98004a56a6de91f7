#include "nodeup/run/timeline.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/show.h"

/* Pixels: the scale, its place, the room for names on its right; a row, the bar in it, and the head. */
enum { WIDTH = 1000, LEFT = 20, NAMES = 460, ROW = 14, BAR = 10, HEAD = 52, LANE_HEAD = 20 };
/* the room of a lane's name */
enum { LANE_NAME = 120 };
/* a scale has no more lines */
enum { TICKS_MAX = 12 };

/* The colours of bars, by lane; the ground of a lane is a pale one of the same colour. */
static const char *const colours[TIMELINE_LANES] = {
	[LANE_NET] = "#3b7dd8",      [LANE_PROCESSOR] = "#d98b1f", [LANE_DISK] = "#4c9a52",
	[LANE_SERVICES] = "#8a5cc2", [TIMELINE_BOOT] = "#8a8f98",
};
/* the colour of the critical path */
static const char critical[] = "#d0021b";

struct picture {
	struct arena *arena;
	const struct timeline *t;
	struct buf *b;
	int64_t total_ms;
	double *rows; /* the middle of each span's row */
	double y;
};

/* Adds a text of others, so that it is one for XML too. */
static void add_text(struct picture *p, const char *text)
{
	for (const char *c = show_clean(arena_str(p->arena, text)); *c; c++)
		switch (*c) {
		case '&':
			(void)buf_adds(p->b, "&amp;");
			break;
		case '<':
			(void)buf_adds(p->b, "&lt;");
			break;
		case '>':
			(void)buf_adds(p->b, "&gt;");
			break;
		case '\t':
			(void)buf_addc(p->b, ' ');
			break;
		default:
			(void)buf_addc(p->b, *c);
		}
}

static void put_text(struct picture *p, double x, double y, const char *attributes,
		     const char *text)
{
	(void)buf_addf(p->b, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
	add_text(p, text);
	(void)buf_adds(p->b, "</text>\n");
}

static double place(const struct picture *p, int64_t ms)
{
	return LEFT + (double)ms * WIDTH / (double)p->total_ms;
}

/* Returns the distance of the scale's lines: 1, 2 or 5 with zeros. */
static int64_t tick_of(int64_t total_ms)
{
	int64_t tick = 1;

	for (size_t i = 0; total_ms / tick > TICKS_MAX; i++)
		tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
	return tick;
}

/* Adds the numbers of the scale, from this place on. */
static void add_numbers(struct picture *p, double from, double y)
{
	for (int64_t ms = 0; ms <= p->total_ms; ms += tick_of(p->total_ms))
		if (place(p, ms) >= from)
			put_text(p, place(p, ms), y, " class=\"small\" text-anchor=\"middle\"",
				 ms ? dur_human(p->arena, ms * DUR_MS) : "0");
}

static void add_scale(struct picture *p, double bottom)
{
	for (int64_t ms = 0; ms <= p->total_ms; ms += tick_of(p->total_ms))
		(void)buf_addf(p->b, "<path d=\"M%.1f %dV%.1f\" class=\"tick\"/>\n", place(p, ms),
			       HEAD, bottom);
	add_numbers(p, LEFT, HEAD - 4);
}

/* Adds a text beside a place: on its right, or on its left near the end of the scale. */
static void put_name(struct picture *p, double from, double to, const char *class, const char *text)
{
	const bool is_right = from < LEFT + WIDTH * 2.0 / 3;

	put_text(p, is_right ? to + 4 : from - 4, p->y + BAR - 1,
		 arena_printf(p->arena, "%s%s", class, is_right ? "" : " text-anchor=\"end\""),
		 text);
}

/* Adds the moments, a row each, with a line down to the bottom. */
static void add_marks(struct picture *p, double bottom)
{
	for (size_t i = 0; i < MARK_MAX; i++) {
		const int64_t at = p->t->marks[i];
		const char *name = timeline_mark_name((enum timeline_mark)i);
		const double x = place(p, at < 0 ? 0 : at);

		if (at < 0)
			continue;
		(void)buf_addf(p->b, "<path d=\"M%.1f %.1fV%.1f\" class=\"mark\"/>\n", x, p->y,
			       bottom);
		put_name(p, x, x, "",
			 arena_printf(p->arena, "%s, %s", name, dur_human(p->arena, at * DUR_MS)));
		p->y += ROW;
	}
}

static void add_bar(struct picture *p, const struct timeline_span *span)
{
	struct arena *a = p->arena;
	const double from = place(p, span->start_ms), to = place(p, span->end_ms);
	const char *took = dur_human(a, (span->end_ms - span->start_ms) * DUR_MS);

	p->rows[span - p->t->v] = p->y + BAR / 2.0 + 1;
	(void)buf_addf(p->b,
		       "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"%s>",
		       from, p->y + 1, to - from < 1 ? 1.0 : to - from, BAR, colours[span->lane],
		       span->critical ? " class=\"critical\"" : "");
	(void)buf_adds(p->b, "<title>");
	add_text(p, arena_printf(a, "%s: %s%sfrom %s on, for %s%s%s", span->task, span->state,
				 *span->state ? ", " : "", dur_human(a, span->start_ms * DUR_MS),
				 took, *span->why ? "; " : "", span->why));
	(void)buf_adds(p->b, "</title></rect>\n");
	put_name(p, from, to, span->critical ? " class=\"on\"" : "",
		 arena_printf(a, "%s (%s)", span->task, took));
	p->y += ROW;
}

static void add_lane(struct picture *p, size_t lane)
{
	size_t n;
	const struct timeline_span **v = timeline_sort(p->arena, p->t, lane, false, &n);

	if (!n)
		return;
	(void)buf_addf(
		p->b,
		"<rect x=\"0\" y=\"%.1f\" width=\"%d\" height=\"%zu\" fill=\"%s\" class=\"ground\"/>\n",
		p->y, LEFT + WIDTH + NAMES, LANE_HEAD + n * ROW, colours[lane]);
	put_text(p, LEFT, p->y + LANE_HEAD - 6, " class=\"lane\"",
		 arena_printf(p->arena, "%s (%zu)", timeline_lane_name(lane), n));
	/* behind the lane's name; many lanes are taller than a screen */
	add_numbers(p, LEFT + LANE_NAME, p->y + LANE_HEAD - 6);
	p->y += LANE_HEAD;
	for (size_t i = 0; i < n; i++)
		add_bar(p, v[i]);
}

/* Adds the critical path from bar to bar. */
static void add_path(struct picture *p)
{
	for (size_t i = 0; i < p->t->n; i++) {
		const struct timeline_span *to = &p->t->v[i], *from;

		if (!to->critical || to->after == TIMELINE_NONE)
			continue;
		from = &p->t->v[to->after];
		(void)buf_addf(p->b, "<path d=\"M%.1f %.1fV%.1fH%.1f\" class=\"path\"/>\n",
			       place(p, from->end_ms), p->rows[to->after], p->rows[i],
			       place(p, to->start_ms));
	}
}

/* Returns the height of it all. */
static double height_of(const struct timeline *t)
{
	bool seen[TIMELINE_LANES] = { 0 };
	size_t rows = t->n, lanes = 0;

	for (size_t i = 0; i < MARK_MAX; i++)
		rows += t->marks[i] >= 0;
	for (size_t i = 0; i < t->n; i++) {
		lanes += !seen[t->v[i].lane];
		seen[t->v[i].lane] = true;
	}
	return (double)(HEAD + rows * ROW + lanes * LANE_HEAD + ROW);
}

void timeline_svg(struct arena *a, const struct timeline *t, struct buf *b)
{
	const double height = height_of(t);
	struct picture p = { .arena = a, .t = t, .b = b, .total_ms = 1, .y = HEAD };

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].end_ms > p.total_ms)
			p.total_ms = t->v[i].end_ms;
	for (size_t i = 0; i < MARK_MAX; i++)
		if (t->marks[i] > p.total_ms)
			p.total_ms = t->marks[i];
	p.rows = arena_alloc(a, (t->n + 1) * sizeof(*p.rows));
	(void)buf_addf(
		b,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\">\n"
		"<style>text { font: 10px sans-serif; fill: #222 } .lane { font: bold 12px "
		"sans-serif } .small { fill: #666 } .on { font-weight: bold; fill: %s } "
		".ground { opacity: 0.1 } .tick { stroke: #ddd } .mark { stroke: #555; stroke-dasharray: 2 3; "
		"opacity: 0.5 } .critical { stroke: %s; stroke-width: 1.5 } .path { fill: "
		"none; stroke: %s; opacity: 0.4 }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		LEFT + WIDTH + NAMES, height, critical, critical, critical);
	put_text(&p, LEFT, 16, " class=\"lane\"", timeline_title(a, t->run));
	put_text(&p, LEFT, 30, "",
		 "red: the critical path, which ends last; each bar waited for the bar before");
	add_scale(&p, height);
	add_marks(&p, height);
	add_lane(&p, TIMELINE_BOOT);
	for (size_t lane = 0; lane < LANE_MAX; lane++)
		add_lane(&p, lane);
	add_path(&p);
	(void)buf_adds(b, "</svg>\n");
}
