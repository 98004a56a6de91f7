#include "assets/cache/map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"

enum {
	RUN_LINE = 34, /* "first end\n", 16 hexadecimal digits each */
	FILE_MAX = 4 * 1024 * 1024,
};

static const char version[] = "v2";

static void render_origin(const struct cache_origin *o, struct buf *b)
{
	(void)buf_addf(b, "%s\n%" PRId64 "\n", version, o->total);
	for (size_t i = 0; i < CACHE_MARKS; i++)
		(void)buf_addf(b, "%s\n%s\n%s\n", o->marks[i].url, o->marks[i].etag,
			       o->marks[i].modified);
	(void)buf_addf(b, "end\n");
}

static void render_run(const struct span *s, char out[static RUN_LINE + 1])
{
	(void)print_to(out, RUN_LINE + 1, "%016" PRIx64 " %016" PRIx64 "\n", s->first, s->end);
}

static bool parse_origin(const char **p, struct cache_origin *ret)
{
	char word[32], *stop;

	if (!cache_take_line(p, word, sizeof(word)) || strcmp(word, version) != 0 ||
	    !cache_take_line(p, word, sizeof(word)))
		return false;
	ret->total = strtoll(word, &stop, 10);
	if (stop == word || *stop)
		return false;
	for (size_t i = 0; i < CACHE_MARKS; i++) {
		struct cache_mark *m = &ret->marks[i];

		if (!cache_take_line(p, m->url, sizeof(m->url)) ||
		    !cache_take_line(p, m->etag, sizeof(m->etag)) ||
		    !cache_take_line(p, m->modified, sizeof(m->modified)))
			return false;
	}
	return cache_take_line(p, word, sizeof(word)) && strcmp(word, "end") == 0;
}

/* Reads one run. False for a line that is not written exactly as a run is rendered. */
static bool parse_run(const char *p, size_t n, struct span *ret)
{
	char again[RUN_LINE + 1];

	if (n < RUN_LINE)
		return false;
	ret->first = strtoull(p, NULL, 16);
	ret->end = strtoull(p + 17, NULL, 16);
	render_run(ret, again);
	return memcmp(p, again, RUN_LINE) == 0 && ret->first <= ret->end;
}

static void add_run(struct cache_map *m, uint64_t first, uint64_t end)
{
	if (m->n == m->max) {
		m->max = m->max ? 2 * m->max : 16;
		m->runs = xrealloc(m->runs, m->max * sizeof(*m->runs));
	}
	m->runs[m->n++] = (struct cache_run){ .span = { first, end } };
}

const char *cache_map_name(const struct digest *d, char out[static CACHE_NAME_MAX])
{
	char part[CACHE_NAME_MAX];

	(void)print_to(out, CACHE_NAME_MAX, "%.*s.from", CACHE_NAME_MAX - 6,
		       cache_side_name("partial", d, part));
	return out;
}

/* Extends the last run to the file's end: bytes that arrived after its line was written belong to it, since each run
 * is noted before its first byte. */
static void mend_last(struct cache_map *m, uint64_t size, int64_t total)
{
	struct span *last = NULL;

	for (size_t i = 0; i < m->n; i++)
		if (!last || m->runs[i].span.first > last->first)
			last = &m->runs[i].span;
	if (last && size > last->end && (total < 0 || size <= (uint64_t)total))
		last->end = size;
}

/* Returns the end of those bytes of a run that are on the disk. */
static uint64_t solid_end(int data, const struct span *s)
{
	off_t hole = lseek(data, (off_t)s->first, SEEK_HOLE);

	return hole >= 0 && (uint64_t)hole < s->end ? (uint64_t)hole : s->end;
}

static bool take_runs(struct cache_map *m, int data, int64_t total, struct spans *ret)
{
	struct stat st;
	size_t kept = 0;

	if (fstat(data, &st) < 0)
		return false;
	mend_last(m, (uint64_t)st.st_size, total);
	for (size_t i = 0; i < m->n; i++) {
		struct span s = m->runs[i].span;

		if (total >= 0 && s.end > (uint64_t)total)
			return false;
		/* after a power loss the map may be newer than the data */
		if (s.end > (uint64_t)st.st_size)
			s.end = (uint64_t)st.st_size;
		if (s.end <= s.first)
			continue;
		s.end = solid_end(data, &s);
		if (s.end <= s.first)
			continue;
		spans_add(ret, s.first, s.end);
		m->runs[kept++].span = s;
	}
	m->n = kept;
	return true;
}

bool cache_map_load(struct cache *c, struct cache_map *m, int data, struct cache_origin *ret_origin,
		    struct spans *ret_have)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	struct cache_origin origin;
	const char *p, *end;
	struct span run;

	if (!cache_read(c, m->name, &b))
		return false;
	p = buf_str(&b);
	end = p + b.len;
	if (!parse_origin(&p, &origin))
		return false;
	for (; p < end; p += RUN_LINE)
		if (parse_run(p, (size_t)(end - p), &run))
			add_run(m, run.first, run.end);
	if (!take_runs(m, data, origin.total, ret_have))
		return false;
	*ret_origin = origin;
	return true;
}

void cache_map_save(struct cache *c, struct cache_map *m, const struct cache_origin *o)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	char line[RUN_LINE + 1];
	off_t begin;
	int r;

	if (!m->name[0])
		return;
	render_origin(o, &b);
	begin = (off_t)b.len;
	for (size_t i = 0; i < m->n; i++) {
		render_run(&m->runs[i].span, line);
		m->runs[i].written = m->runs[i].span.end;
		(void)buf_add(&b, line, RUN_LINE);
	}
	cleanup_closep(&m->fd);
	r = cache_put(c, m->name, buf_str(&b), b.len, &m->fd);
	m->full = r < 0 && io_is_full(-r) ? -r : 0;
	m->begin = begin;
}

/* After a failure other than lack of room, stops writing the map. */
static int write_run(struct cache_map *m, size_t i)
{
	char line[RUN_LINE + 1];
	ssize_t n;

	if (m->fd < 0)
		return 0;
	render_run(&m->runs[i].span, line);
	n = pwrite(m->fd, line, RUN_LINE, m->begin + (off_t)(i * RUN_LINE));
	if (n == RUN_LINE) {
		m->runs[i].written = m->runs[i].span.end;
		return 0;
	}
	if (n >= 0)
		return -ENOSPC;
	if (io_is_full(errno))
		return -errno;
	cleanup_closep(&m->fd);
	return 0;
}

int cache_map_run(struct cache_map *m, uint64_t first, size_t *ret)
{
	int r;

	/* begins with the newest runs, since one of them grows in most cases */
	for (size_t i = m->n; i > 0; i--)
		if (m->runs[i - 1].span.end == first) {
			*ret = i - 1;
			return 0;
		}
	if (m->full)
		return -m->full;
	add_run(m, first, first);
	r = write_run(m, m->n - 1);
	if (r < 0)
		m->n--;
	else
		*ret = m->n - 1;
	return r;
}

void cache_map_grow(struct cache_map *m, size_t run, uint64_t end)
{
	struct cache_run *r = &m->runs[run];
	const int64_t now = dur_now();

	r->span.end = end;
	if (now - r->written_ns < CACHE_LINE_MS * DUR_MS)
		return;
	r->written_ns = now;
	/* if this line cannot be written, the file's size shows where the last run ends */
	(void)write_run(m, run);
}

void cache_map_clear(struct cache *c, struct cache_map *m)
{
	if (m->name[0])
		(void)unlinkat(c->dir_fd, m->name, 0);
	cleanup_closep(&m->fd);
	m->n = 0;
}

void cache_map_done(struct cache_map *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->runs[i].written != m->runs[i].span.end)
			(void)write_run(m, i);
	cleanup_closep(&m->fd);
	free(m->runs);
	m->runs = NULL;
	m->n = m->max = 0;
}
