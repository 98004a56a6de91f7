#include "assets/unpack/source.h"

#include <archive.h>
#include <archive_entry.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/unpack/inflate.h"
#include "nodeup/base/mem.h"

/* START: enough bytes to recognise the format. */
enum {
	CHUNK = 512 * 1024,
	PARENT_EVERY = 4, /* pieces */
	START = 8,
	/* length of magic and size, with which a zstd frame without content begins */
	SKIP_HEAD = 8,
	RATIO_MAX = 256,
	RATIO_FREE = 16 * 1024 * 1024,
	MEMORY_MAX = 24 * 1024 * 1024, /* limit on memory, without the program and its buffers */
};

static const char too_much_memory[] =
	"it takes more than 32 MiB of memory to unpack; xz -7 and zstd -19 make what does not";

struct extract_reader {
	struct extract_source *source;
	int fd;
	pid_t parent;
	unsigned int pieces; /* pieces read so far */
	ssize_t have; /* bytes in `chunk` that were read to recognise the format and are not used yet */
	struct inflate *inflate;
	struct archive *filter;
	const void *last; /* the bytes that were used last */
	size_t last_n;
	char chunk[CHUNK];
};

/* Fills chunk, which has `have` bytes, up to at least `least`, unless the archive ends. */
static ssize_t fill_up(struct extract_reader *rd, size_t have, size_t least)
{
	const size_t had = have;

	/* the parent has ended, so the work is useless */
	if (rd->pieces++ % PARENT_EVERY == 0 && getppid() != rd->parent)
		return -(rd->source->errnum = ECANCELED);
	while (have < least) {
		ssize_t n = read(rd->fd, rd->chunk + have, CHUNK - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -(rd->source->errnum = errno);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	rd->source->in += have - had;
	return (ssize_t)have;
}

static ssize_t read_raw(void *arg, const void **ret)
{
	struct extract_reader *rd = arg;
	ssize_t n = rd->have;

	*ret = rd->chunk;
	if (n < 0)
		return fill_up(rd, 0, 1);
	rd->have = -1;
	return n;
}

static la_ssize_t on_read(struct archive *ar, void *arg, const void **ret)
{
	ssize_t n = read_raw(arg, ret);

	if (n < 0)
		archive_set_error(ar, (int)-n, "read");
	return n < 0 ? -1 : n;
}

static ssize_t filter_failed(struct extract_reader *rd)
{
	const char *why = archive_error_string(rd->filter);

	if (rd->source->errnum)
		return -rd->source->errnum;
	/* libarchive gives no errno for zstd's messages */
	rd->source->bomb = archive_errno(rd->filter) == ENOMEM || (why && strstr(why, "memory"));
	if (rd->source->bomb)
		why = too_much_memory;
	rd->source->why = why ? why : "it cannot be decompressed";
	return -EBADMSG;
}

static ssize_t read_filtered(struct extract_reader *rd, const void **ret)
{
	int64_t at;
	size_t n = 0;
	int r;

	/* an empty block does not mean the end */
	do
		r = archive_read_data_block(rd->filter, ret, &n, &at);
	while (r == ARCHIVE_OK && n == 0);
	if (r == ARCHIVE_EOF)
		return 0;
	return r == ARCHIVE_OK ? (ssize_t)n : filter_failed(rd);
}

/* Opens an archive that xz or zstd has compressed once. */
static int open_filter(struct extract_reader *rd)
{
	struct archive_entry *entry;

	rd->filter = archive_read_new();
	if (!rd->filter)
		abort();
	if (archive_read_support_format_raw(rd->filter) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(rd->filter) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(rd->filter) != ARCHIVE_OK ||
	    archive_read_open(rd->filter, rd, NULL, on_read, NULL) != ARCHIVE_OK ||
	    archive_read_next_header(rd->filter, &entry) != ARCHIVE_OK)
		return (int)filter_failed(rd);
	/* one is the filter, one the reader below it */
	if (archive_filter_count(rd->filter) > 2) {
		rd->source->why = "it is compressed more than once";
		return -EBADMSG;
	}
	return 0;
}

static bool starts_with(const struct extract_reader *rd, const char *magic, size_t n)
{
	return rd->have >= (ssize_t)n && memcmp(rd->chunk, magic, n) == 0;
}

static uint32_t little_endian(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* Skips zstd frames without content: pzstd writes one first, which libarchive does not expect. */
static void skip_frames(struct extract_reader *rd)
{
	while (rd->have >= SKIP_HEAD && (little_endian(rd->chunk) & ~15U) == 0x184d2a50) {
		uint64_t n = SKIP_HEAD + (uint64_t)little_endian(rd->chunk + 4);

		while (rd->have > 0 && n >= (uint64_t)rd->have) {
			n -= (uint64_t)rd->have;
			rd->have = fill_up(rd, 0, 1);
		}
		if (rd->have <= 0)
			return;
		rd->have -= (ssize_t)n;
		memmove(rd->chunk, rd->chunk + n, (size_t)rd->have);
		rd->have = fill_up(rd, (size_t)rd->have, START);
	}
}

/* Recognises the format by the first bytes, so that the error can name a format that is not supported. */
static int detect_format(struct extract_reader *rd, const char *name, struct err *e)
{
	int r = 0;

	rd->have = fill_up(rd, 0, START);
	skip_frames(rd);
	if (rd->have < 0)
		return err_fail(e, ERR_SYSTEM, (int)-rd->have, "archive '%s': read: %s", name,
				strerror((int)-rd->have));
	if (rd->have == 0)
		return err_fail(e, ERR_INTEGRITY, EBADMSG, "archive '%s' is empty", name);
	if (starts_with(rd, "PK\3\4", 4))
		return err_fail(e, ERR_INTEGRITY, EBADMSG,
				"archive '%s' is a zip file, wanted tar with gzip, xz or zstd",
				name);
	if (starts_with(rd, "\x1f\x8b", 2))
		rd->inflate = inflate_new(read_raw, rd);
	else if (starts_with(rd,
			     "\xfd"
			     "7zXZ",
			     5) ||
		 starts_with(rd, "\x28\xb5\x2f\xfd", 4))
		r = open_filter(rd);
	if (r < 0 && rd->source->bomb)
		return err_fail(e, ERR_INTEGRITY, EBADMSG, "archive '%s' refused: %s", name,
				rd->source->why);
	if (r < 0)
		return err_fail(e, rd->source->errnum ? ERR_SYSTEM : ERR_INTEGRITY, -r,
				"archive '%s': broken or truncated: %s", name,
				rd->source->errnum ? strerror(-r) : rd->source->why);
	return 0;
}

int extract_source_open(struct extract_source *s, int fd, const char *name, struct err *e)
{
	int r;

	*s = (struct extract_source){ .reader = xrealloc(NULL, sizeof(*s->reader)) };
	*s->reader = (struct extract_reader){ .source = s, .fd = fd, .parent = getppid() };
	/* begins at the start: the offset is still where the writer of the file stopped */
	(void)lseek(fd, 0, SEEK_SET);
	r = detect_format(s->reader, name, e);
	if (r < 0)
		extract_source_done(s);
	return r;
}

void extract_source_done(struct extract_source *s)
{
	inflate_free(s->reader->inflate);
	if (s->reader->filter)
		(void)archive_read_free(s->reader->filter);
	free(s->reader);
	s->reader = NULL;
}

bool extract_source_is_bomb(struct extract_source *s, uint64_t bytes)
{
	s->bomb = bytes > RATIO_FREE && (bytes - RATIO_FREE) / RATIO_MAX > s->in;
	if (s->bomb)
		s->why = "the archive unpacks to more than 256 times its size";
	return s->bomb;
}

/* libarchive allocates a window as a whole, but only the part with output counts as used. */
static bool takes_too_much(struct extract_source *s)
{
	const struct mallinfo2 m = mallinfo2();
	const uint64_t window = m.hblkhd < s->out ? m.hblkhd : s->out;

	s->bomb = m.uordblks + window > MEMORY_MAX;
	if (s->bomb)
		s->why = too_much_memory;
	return s->bomb;
}

ssize_t extract_source_read(struct extract_source *s, const void **ret)
{
	struct extract_reader *rd = s->reader;
	ssize_t n;

	if (rd->inflate)
		n = inflate_read(rd->inflate, ret, &s->why);
	else if (rd->filter)
		n = read_filtered(rd, ret);
	else
		n = read_raw(rd, ret);
	if (n <= 0)
		return n;
	s->out += (uint64_t)n;
	rd->last = *ret;
	rd->last_n = (size_t)n;
	return extract_source_is_bomb(s, s->out) || takes_too_much(s) ? -EBADMSG : n;
}

static bool is_zero(const char *p, size_t n)
{
	return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

int extract_source_end(struct extract_source *s, uint64_t taken)
{
	const uint64_t left = s->out - taken;
	const size_t n = left < s->reader->last_n ? (size_t)left : s->reader->last_n;
	const void *p = (const char *)s->reader->last + s->reader->last_n - n;
	ssize_t more = (ssize_t)n;

	do
		if (!is_zero(p, (size_t)more)) {
			s->why = "something follows the end of the tar archive";
			return -EBADMSG;
		}
	while ((more = extract_source_read(s, &p)) > 0);
	return (int)more;
}
