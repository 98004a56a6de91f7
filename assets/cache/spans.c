#include "assets/cache/spans.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/mem.h"

/* Returns the first span that ends at `at` or later. */
static size_t find_span(const struct spans *s, uint64_t at)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid].end < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void insert_span(struct spans *s, size_t i, uint64_t first, uint64_t end)
{
	if (s->n == s->max) {
		s->max = s->max ? 2 * s->max : 8;
		s->v = xrealloc(s->v, s->max * sizeof(*s->v));
	}
	memmove(&s->v[i + 1], &s->v[i], (s->n - i) * sizeof(*s->v));
	s->v[i] = (struct span){ first, end };
	s->n++;
	s->sum += end - first;
}

void spans_add(struct spans *s, uint64_t first, uint64_t end)
{
	size_t i = find_span(s, first), last = i;

	if (first >= end)
		return;
	/* merges all spans that touch the new one */
	for (; last < s->n && s->v[last].first <= end; last++) {
		if (s->v[last].first < first)
			first = s->v[last].first;
		if (s->v[last].end > end)
			end = s->v[last].end;
		s->sum -= s->v[last].end - s->v[last].first;
	}
	if (last > i)
		memmove(&s->v[i], &s->v[last], (s->n - last) * sizeof(*s->v));
	s->n -= last - i;
	insert_span(s, i, first, end);
}

uint64_t spans_missing(const struct spans *s, uint64_t from)
{
	size_t i = find_span(s, from);

	return i < s->n && s->v[i].first <= from ? s->v[i].end : from;
}

uint64_t spans_present(const struct spans *s, uint64_t from)
{
	size_t i = find_span(s, from);

	if (i < s->n && s->v[i].end == from)
		i++;
	if (i == s->n)
		return UINT64_MAX;
	return s->v[i].first > from ? s->v[i].first : from;
}

void spans_done(struct spans *s)
{
	free(s->v);
	*s = (struct spans){ 0 };
}
