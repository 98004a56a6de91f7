#include "assets/cache/mismatch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/cache/dir.h"

enum { RECORD_MAX = 16 * 1024, SIZE_TEXT_MAX = 32, DECIMAL = 10 };

static const char first_line[] = "v1\n", last_line[] = "end\n";

static bool parse_row(const char **p, struct cache_mismatch *ret)
{
	char size[SIZE_TEXT_MAX], *stop;

	if (!cache_take_line(p, ret->url, sizeof(ret->url)) ||
	    !cache_take_line(p, ret->got, sizeof(ret->got)) ||
	    !cache_take_line(p, ret->etag, sizeof(ret->etag)) ||
	    !cache_take_line(p, ret->modified, sizeof(ret->modified)) ||
	    !cache_take_line(p, size, sizeof(size)))
		return false;
	errno = 0;
	ret->size = strtoull(size, &stop, DECIMAL);
	return errno == 0 && stop != size && !*stop && (ret->etag[0] || ret->modified[0]);
}

static bool parse_rows(const char *text, struct cache_mismatches *ret)
{
	if (!str_has_prefix(text, first_line))
		return false;
	text += strlen(first_line);
	for (ret->n = 0; strcmp(text, last_line) != 0; ret->n++)
		if (ret->n == CACHE_MISMATCHES_MAX || !parse_row(&text, &ret->v[ret->n]))
			return false;
	return true;
}

struct cache_mismatches *cache_mismatches_load(const struct cache *c, const struct digest *d)
{
	autobuf struct buf b = BUF_INIT(RECORD_MAX);
	char name[CACHE_NAME_MAX];
	autofree struct cache_mismatches *w = NULL;

	if (!cache_read(c, cache_side_name("wrong", d, name), &b))
		return NULL;
	w = xcalloc(1, sizeof(*w));
	return parse_rows(buf_str(&b), w) ? TAKE(w) : NULL;
}

const struct cache_mismatch *cache_mismatches_find(const struct cache_mismatches *w,
						   const char *url)
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

static void remove_row(struct cache_mismatches *w, size_t at)
{
	w->n--;
	memmove(&w->v[at], &w->v[at + 1], (w->n - at) * sizeof(w->v[0]));
}

void cache_mismatches_note(struct cache *c, const struct digest *d, const char *url,
			   const struct cache_mismatch *row)
{
	autobuf struct buf b = BUF_INIT(RECORD_MAX);
	autofree struct cache_mismatches *w = cache_mismatches_load(c, d);
	const struct cache_mismatch *before = cache_mismatches_find(w, url);
	char name[CACHE_NAME_MAX];

	if (!c->writable)
		return;
	if (!w)
		w = xcalloc(1, sizeof(*w));
	if (before)
		remove_row(w, (size_t)(before - w->v));
	else if (w->n == CACHE_MISMATCHES_MAX)
		remove_row(w, 0);
	w->v[w->n] = *row;
	(void)digest_sha256_hex(url, strlen(url), w->v[w->n++].url);
	(void)buf_adds(&b, first_line);
	for (size_t i = 0; i < w->n; i++)
		(void)buf_addf(&b, "%s\n%s\n%s\n%s\n%" PRIu64 "\n", w->v[i].url, w->v[i].got,
			       w->v[i].etag, w->v[i].modified, w->v[i].size);
	(void)buf_adds(&b, last_line);
	/* without a record the file is downloaded again; that is no failure */
	(void)cache_put(c, cache_side_name("wrong", d, name), buf_str(&b), b.len, NULL);
}

void cache_mismatches_forget(struct cache *c, const struct digest *d)
{
	char name[CACHE_NAME_MAX];

	if (c->writable)
		(void)unlinkat(c->dir_fd, cache_side_name("wrong", d, name), 0);
}
