#include "assets/fetch/parts.h"

#include "nodeup/base/dur.h"

/* RANGE_S: how many seconds one range should take, once the mirror's rate is known. README.md explains the other
 * numbers. */
enum { RANGE_S = 2, RANGE_LEAST = 8, RANGE_MOST = 4, PATIENCE_UNKNOWN = 3 };

static const struct cache_origin *origin_of(const struct fetch_job *j)
{
	return cache_origin_of(j->entry);
}

bool fetch_parts_complete(const struct fetch_job *j, uint64_t *ret_size)
{
	int64_t size;

	if (!j->entry)
		return false;
	size = j->eof >= 0 ? j->eof : origin_of(j)->total;
	*ret_size = size < 0 ? 0 : (uint64_t)size;
	return size >= 0 && spans_missing(cache_spans(j->entry), 0) >= *ret_size;
}

static size_t count_parts(const struct fetch_job *j)
{
	size_t n = 0;

	for (const struct fetch_part *p = j->parts; p; p = p->next)
		n++;
	return n;
}

/* Returns whether mirror a should be asked before mirror b. Criteria, the most important one first: the host has not
 * failed, the mirror sends ranges, it has fewer connections, the host gave a whole object. */
static bool is_better(const struct fetch_mirror *a, const struct fetch_mirror *b)
{
	const bool a_bad = a->rank == FETCH_HOST_BAD, b_bad = b->rank == FETCH_HOST_BAD;

	if (a_bad != b_bad)
		return b_bad;
	if (a->whole_only != b->whole_only)
		return b->whole_only;
	return a->active != b->active ? a->active < b->active : a->rank < b->rank;
}

static bool has_room(const struct fetch_job *j, const struct fetch_mirror *m)
{
	/* a mirror that has given nothing yet may lack the object */
	size_t limit = m->gave ? j->fetcher->opts.mirror_connections : 1;

	return m->active < (m->limit < limit ? m->limit : limit);
}

static bool is_good_for_parts(const struct fetch_mirror *m)
{
	return m->rank != FETCH_HOST_BAD && !m->whole_only;
}

static bool has_good_one(const struct fetch_job *j, int64_t now)
{
	for (size_t i = 0; i < j->nmirrors; i++)
		if (fetch_job_may_ask(j, i, now) && is_good_for_parts(&j->mirrors[i]))
			return true;
	return false;
}

/* Chooses the mirror for another part. The first part may come from any mirror. Further parts need a mirror that
 * sends ranges and whose host has not failed, unless all hosts have failed. */
static bool pick_mirror(const struct fetch_job *j, int64_t now, size_t *ret)
{
	bool found = false, good = has_good_one(j, now);

	for (size_t i = 0; i < j->nmirrors; i++) {
		const struct fetch_mirror *m = &j->mirrors[i];

		if (!fetch_job_may_ask(j, i, now) || !has_room(j, m) ||
		    (j->parts && (m->whole_only || (good && m->rank == FETCH_HOST_BAD))))
			continue;
		if (!found || is_better(m, &j->mirrors[*ret]))
			*ret = i;
		found = true;
	}
	return found;
}

static uint64_t range_size(const struct fetch_job *j, const struct fetch_mirror *m)
{
	uint64_t usual = j->fetcher->opts.range_bytes, size = (uint64_t)m->rate * RANGE_S;

	if (m->rate <= 0)
		return usual;
	if (size < usual / RANGE_LEAST + 1)
		return usual / RANGE_LEAST + 1;
	return size > usual * RANGE_MOST ? usual * RANGE_MOST : size;
}

/* Finds the first gap: bytes that have not arrived and are not asked for. */
static bool next_gap(const struct fetch_job *j, uint64_t *ret_first, uint64_t *ret_end)
{
	const struct spans *have = cache_spans(j->entry);
	uint64_t total = (uint64_t)origin_of(j)->total, at = 0, before;

	do {
		before = at;
		at = spans_missing(have, at);
		for (const struct fetch_part *p = j->parts; p; p = p->next)
			if (p->pos <= at && at < p->end)
				at = p->end;
	} while (at != before);
	if (at >= total)
		return false;
	*ret_first = at;
	*ret_end = spans_present(have, at);
	if (*ret_end > total)
		*ret_end = total;
	for (const struct fetch_part *p = j->parts; p; p = p->next)
		if (p->pos > at && p->pos < *ret_end)
			*ret_end = p->pos;
	return true;
}

static bool is_silent(const struct fetch_job *j, const struct fetch_part *p, int64_t now)
{
	return !p->headed && now - p->began_ns > PATIENCE_UNKNOWN * j->fetcher->opts.patience_ns;
}

/* Chooses an idle mirror to help this part. Leaves out mirrors known to be as slow as the part. */
static bool pick_helper(const struct fetch_job *j, const struct fetch_part *slow, double rate,
			int64_t now, size_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < j->nmirrors; i++) {
		const struct fetch_mirror *m = &j->mirrors[i];

		if (i == slow->mirror || m->active > 0 || !fetch_job_may_ask(j, i, now) ||
		    m->rank == FETCH_HOST_BAD || (m->rate > 0 && m->rate < 2 * rate))
			continue;
		if (!found || m->rate > j->mirrors[*ret].rate)
			*ret = i;
		found = true;
	}
	return found;
}

/* Returns the end of those bytes of the part that no other connection brings. *ret_first is the first of these
 * bytes. */
static uint64_t left_of(const struct fetch_job *j, const struct fetch_part *part,
			uint64_t *ret_first)
{
	const struct spans *have = cache_spans(j->entry);
	uint64_t end = (uint64_t)origin_of(j)->total, first = spans_missing(have, part->pos);

	if (part->end < end)
		end = part->end;
	if (spans_present(have, first) < end)
		end = spans_present(have, first);
	for (const struct fetch_part *p = j->parts; p; p = p->next)
		if (p != part && p->end > first && p->pos < end)
			end = p->pos > first ? p->pos : first;
	*ret_first = first;
	return end;
}

/* Chooses bytes of this slow part for another mirror, if that is worth a connection. */
static bool help_part(struct fetch_job *j, struct fetch_part *p, int64_t now,
		      struct fetch_want *ret)
{
	const int64_t patience = j->fetcher->opts.patience_ns, age = now - p->began_ns;
	double rate = (double)p->came * DUR_SEC / (double)(age + 1), theirs, left_ns, left;
	uint64_t first, end = left_of(j, p, &first);

	if (first >= end || p->enough || age < patience || (!p->headed && !is_silent(j, p, now)) ||
	    !pick_helper(j, p, rate, now, &ret->mirror))
		return false;
	left = (double)(end - first);
	left_ns = p->came ? left / rate * DUR_SEC : (double)INT64_MAX;
	theirs = j->mirrors[ret->mirror].rate;
	if (left_ns < (double)(theirs > 0 ? patience : PATIENCE_UNKNOWN * patience))
		return false;
	ret->slow = p;
	ret->ranged = true;
	ret->first = first + (uint64_t)(left * rate / (rate + (theirs > 0 ? theirs : rate) + 1));
	ret->end = end;
	return true;
}

static bool help_any(struct fetch_job *j, int64_t now, struct fetch_want *ret)
{
	for (struct fetch_part *p = j->parts; p; p = p->next)
		if (help_part(j, p, now, ret))
			return true;
	return false;
}

/* Chooses bytes of an object of unknown size: the whole, its beginning, or the rest. */
static bool next_of_stream(struct fetch_job *j, int64_t now, struct fetch_want *ret)
{
	const struct fetch_part *p = j->parts;
	bool all;

	if (p) {
		/* before the part's first answer nothing is known about the object */
		if (j->whole || p->next || !is_silent(j, p, now) ||
		    !pick_helper(j, p, 0, now, &ret->mirror))
			return false;
	} else if (!pick_mirror(j, now, &ret->mirror)) {
		return false;
	}
	all = j->whole || j->mirrors[ret->mirror].whole_only;
	ret->slow = j->parts;
	ret->ranged = !all;
	ret->first = all ? 0 : spans_missing(cache_spans(j->entry), 0);
	ret->end = all || ret->first > 0 ? UINT64_MAX : range_size(j, &j->mirrors[ret->mirror]);
	return true;
}

bool fetch_parts_next(struct fetch_job *j, int64_t now_ns, struct fetch_want *ret)
{
	uint64_t size;

	*ret = (struct fetch_want){ 0 };
	if (j->whole || origin_of(j)->total < 0)
		return next_of_stream(j, now_ns, ret);
	if (!next_gap(j, &ret->first, &ret->end))
		return help_any(j, now_ns, ret);
	if (count_parts(j) >= j->fetcher->opts.job_connections ||
	    !pick_mirror(j, now_ns, &ret->mirror))
		return false;
	size = range_size(j, &j->mirrors[ret->mirror]);
	ret->ranged = !j->mirrors[ret->mirror].whole_only;
	if (ret->end - ret->first > size)
		ret->end = ret->first + size;
	if (!ret->ranged)
		ret->end = UINT64_MAX;
	return true;
}
