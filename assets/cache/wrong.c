#include "assets/cache/wrong.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"

enum { RECORD_MAX = 16 * 1024, ROW_LINES = 5, DECIMAL = 10 };

static const char first_line[] = "v1", last_line[] = "end";

static bool copy_line(char *out, size_t size, const char *line)
{
	int n = snprintf(out, size, "%s", line);

	return n >= 0 && (size_t)n < size;
}

static bool parse_row(const char *const *lines, struct cache_wrong *ret)
{
	char *stop;

	errno = 0;
	ret->size = strtoull(lines[4], &stop, DECIMAL);
	return copy_line(ret->url, sizeof(ret->url), lines[0]) &&
	       copy_line(ret->got, sizeof(ret->got), lines[1]) &&
	       copy_line(ret->etag, sizeof(ret->etag), lines[2]) &&
	       copy_line(ret->modified, sizeof(ret->modified), lines[3]) && errno == 0 &&
	       stop != lines[4] && !*stop && (ret->etag[0] || ret->modified[0]);
}

static bool parse_rows(const char *text, struct cache_wrongs *ret)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv lines = strv_split(a, text, '\n');
	const size_t frame = 3; /* the first line, the last, and what follows its newline */

	if (lines.n < frame || (lines.n - frame) % ROW_LINES != 0 ||
	    (lines.n - frame) / ROW_LINES > CACHE_WRONGS_MAX || !str_eq(lines.v[0], first_line) ||
	    !str_eq(lines.v[lines.n - 2], last_line) || *lines.v[lines.n - 1])
		return false;
	ret->n = (lines.n - frame) / ROW_LINES;
	for (size_t i = 0; i < ret->n; i++)
		if (!parse_row(&lines.v[1 + i * ROW_LINES], &ret->v[i]))
			return false;
	return true;
}

struct cache_wrongs *cache_wrongs_load(const struct cache *c, const struct digest *d)
{
	autobuf struct buf b = BUF_INIT(RECORD_MAX);
	char name[CACHE_NAME_MAX];
	autofree struct cache_wrongs *w = NULL;

	if (!cache_read(c, cache_side_name("wrong", d, name), &b))
		return NULL;
	w = xcalloc(1, sizeof(*w));
	return parse_rows(buf_str(&b), w) ? TAKE(w) : NULL;
}

const struct cache_wrong *cache_wrongs_find(const struct cache_wrongs *w, const char *url)
{
	char name[DIGEST_TEXT_MAX];

	if (!w)
		return NULL;
	(void)digest_sha256_hex(url, strlen(url), name);
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].url, name) == 0)
			return &w->v[i];
	return NULL;
}

static void remove_row(struct cache_wrongs *w, size_t at)
{
	w->n--;
	memmove(&w->v[at], &w->v[at + 1], (w->n - at) * sizeof(w->v[0]));
}

void cache_wrongs_note(struct cache *c, const struct digest *d, const char *url,
		       const struct cache_wrong *row)
{
	autobuf struct buf b = BUF_INIT(RECORD_MAX);
	autofree struct cache_wrongs *w = cache_wrongs_load(c, d);
	const struct cache_wrong *before = cache_wrongs_find(w, url);
	char name[CACHE_NAME_MAX];

	if (!c->writable)
		return;
	if (!w)
		w = xcalloc(1, sizeof(*w));
	if (before)
		remove_row(w, (size_t)(before - w->v));
	else if (w->n == CACHE_WRONGS_MAX)
		remove_row(w, 0);
	w->v[w->n] = *row;
	(void)digest_sha256_hex(url, strlen(url), w->v[w->n++].url);
	(void)buf_addf(&b, "%s\n", first_line);
	for (size_t i = 0; i < w->n; i++)
		(void)buf_addf(&b, "%s\n%s\n%s\n%s\n%" PRIu64 "\n", w->v[i].url, w->v[i].got,
			       w->v[i].etag, w->v[i].modified, w->v[i].size);
	(void)buf_addf(&b, "%s\n", last_line);
	/* without a record the file is downloaded again: no reason to fail */
	(void)cache_put(c, cache_side_name("wrong", d, name), buf_str(&b), b.len, NULL);
}

void cache_wrongs_forget(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	if (c->writable)
		(void)unlinkat(c->dir_fd, cache_side_name("wrong", d, name), 0);
}
