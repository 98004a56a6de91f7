#include "assets/fetch/mismatch.h"

#include <stdlib.h>
#include <string.h>
#include "assets/fetch/range.h"
#include "nodeup/base/print.h"

static const struct cache_mismatch *row_of(const struct fetch_job *j, size_t mirror)
{
	return cache_mismatches_find(j->mismatches, j->mirrors[mirror].url);
}

void fetch_mismatch_load(struct fetch_job *j)
{
	free(j->mismatches);
	j->mismatches = cache_mismatches_load(j->fetcher->cache, &j->digest);
}

/* Returns whether one mirror of this run sent all bytes. */
static bool is_of_one(const struct fetch_job *j)
{
	return j->source < j->nmirrors;
}

struct cache_mismatch fetch_mismatch_name(const struct fetch_job *j)
{
	struct cache_mismatch row = { .size = cache_spans(j->entry)->sum };
	const struct cache_mark *mark =
		is_of_one(j) ? range_mark_of(cache_origin_of(j->entry), j->mirrors[j->source].url)
			     : NULL;

	if (mark) {
		memcpy(row.etag, mark->etag, sizeof(row.etag));
		memcpy(row.modified, mark->modified, sizeof(row.modified));
	}
	return row;
}

void fetch_mismatch_note(struct fetch_job *j, const struct cache_mismatch *name,
			 const struct err_note *got)
{
	struct cache_mismatch row = *name;

	if (!got || !is_of_one(j) || (!row.etag[0] && !row.modified[0]))
		return;
	memcpy(row.got, got->text, sizeof(row.got));
	cache_mismatches_note(j->fetcher->cache, &j->digest, j->mirrors[j->source].url, &row);
}

void fetch_mismatch_ask(const struct fetch_job *j, size_t mirror, struct arena *a,
			struct strv *headers)
{
	const struct cache_mismatch *row = row_of(j, mirror);

	if (!row)
		return;
	if (row->etag[0])
		strv_add(a, headers, arena_printf(a, "If-None-Match: %s", row->etag));
	else
		strv_add(a, headers, arena_printf(a, "If-Modified-Since: %s", row->modified));
}

bool fetch_mismatch_is(const struct fetch_job *j, size_t mirror)
{
	return row_of(j, mirror);
}

bool fetch_mismatch_is_same(const struct fetch_job *j, size_t mirror,
			    const struct cache_origin *now)
{
	const struct cache_mismatch *row = row_of(j, mirror);
	const struct cache_mark *mark = row ? range_mark_of(now, j->mirrors[mirror].url) : NULL;

	if (!mark || (now->total >= 0 && (uint64_t)now->total != row->size))
		return false;
	if (row->etag[0])
		return strcmp(row->etag, mark->etag) == 0;
	/* a date is exact to a second only, so the length must be known too */
	return now->total >= 0 && strcmp(row->modified, mark->modified) == 0;
}

const char *fetch_mismatch_mark(const struct fetch_job *j, size_t mirror,
				char out[static ERR_NOTE_MAX])
{
	const struct cache_mismatch *row = row_of(j, mirror);
	const bool tagged = row && row->etag[0];

	(void)print_to(out, ERR_NOTE_MAX, "%s %.200s", tagged ? "ETag" : "Last-Modified",
		       !row     ? "unknown"
		       : tagged ? row->etag
				: row->modified);
	return out;
}

int fetch_mismatch_fail(const struct fetch_job *j, size_t mirror, struct err *e)
{
	const struct cache_mismatch *row = row_of(j, mirror);
	char mark[ERR_NOTE_MAX];
	int r = err_fail(e, ERR_INTEGRITY, FETCH_MISMATCH,
			 "GET '%s': the mirror still has the same wrong file, %s",
			 j->mirrors[mirror].public, fetch_mismatch_mark(j, mirror, mark));

	err_note(e, "got", "%s", row ? row->got : "");
	err_note(e, "size", "%llu bytes, not downloaded again",
		 row ? (unsigned long long)row->size : 0);
	return r;
}
