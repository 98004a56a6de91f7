#include "tests/unit/lib/tar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { BLOCK = 512, MTIME = 1500000000 };

static void pad(struct buf *b)
{
	static const char zeros[BLOCK];
	size_t rest = b->len % BLOCK;

	if (rest)
		assert_int_equal(buf_add(b, zeros, BLOCK - rest), 0);
}

static void add_header(struct buf *b, const struct tar_entry *t, uint64_t size)
{
	unsigned char h[BLOCK] = { 0 };
	unsigned int mode = t->mode ? t->mode : t->type == '5' ? 0755 : 0644, sum = 0;

	memcpy(h, t->name, strnlen(t->name, 100));
	(void)snprintf((char *)h + 100, 8, "%07o", mode & 07777);
	(void)snprintf((char *)h + 108, 8, "%07o", 1234); /* an owner to be ignored */
	(void)snprintf((char *)h + 116, 8, "%07o", 1234);
	(void)snprintf((char *)h + 124, 12, "%011llo", (unsigned long long)size);
	(void)snprintf((char *)h + 136, 12, "%011o", MTIME);
	memset(h + 148, ' ', 8);
	h[156] = (unsigned char)t->type;
	if (t->link)
		memcpy(h + 157, t->link, strnlen(t->link, 100));
	memcpy(h + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += h[i];
	(void)snprintf((char *)h + 148, 8, "%06o", sum & 0777777);
	assert_int_equal(buf_add(b, h, BLOCK), 0);
}

static void add_long(struct buf *b, char type, const char *text)
{
	struct tar_entry t = { .name = "././@LongLink", .type = type };

	add_header(b, &t, strlen(text) + 1);
	assert_int_equal(buf_add(b, text, strlen(text) + 1), 0);
	pad(b);
}

void tar_add(struct buf *b, const struct tar_entry *t)
{
	uint64_t size = t->size ? t->size : t->data ? strlen(t->data) : 0;

	if (strlen(t->name) > 100)
		add_long(b, 'L', t->name);
	if (t->link && strlen(t->link) > 100)
		add_long(b, 'K', t->link);
	add_header(b, t, size);
	if (t->data)
		assert_int_equal(buf_adds(b, t->data), 0);
	pad(b);
}

void tar_end(struct buf *b)
{
	static const char zeros[2 * BLOCK];

	assert_int_equal(buf_add(b, zeros, sizeof(zeros)), 0);
}

static void replace(struct buf *b, const void *p, size_t n)
{
	buf_done(b);
	assert_int_equal(buf_add(b, p, n), 0);
}

void tar_gzip(struct buf *b)
{
	z_stream z = { .next_in = (unsigned char *)b->data, .avail_in = (unsigned int)b->len };
	size_t room = b->len + 4096;
	autofree unsigned char *out = xcalloc(room, 1);

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = out;
	z.avail_out = (unsigned int)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	replace(b, out, z.total_out);
	(void)deflateEnd(&z);
}

void tar_xz(struct buf *b)
{
	size_t room = b->len + 4096, n = 0;
	autofree unsigned char *out = xcalloc(room, 1);

	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL,
						 (unsigned char *)b->data, b->len, out, &n, room),
			 LZMA_OK);
	replace(b, out, n);
}

void tar_zstd(struct buf *b)
{
	size_t room = ZSTD_compressBound(b->len), n;
	autofree unsigned char *out = xcalloc(room, 1);

	n = ZSTD_compress(out, room, b->data, b->len, 1);
	assert_false(ZSTD_isError(n));
	replace(b, out, n);
}

int tar_extract(int fd, const char *name, const struct extract_limits *limits, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return extract_take(a, fd, name, limits, NULL, 0, e);
}
