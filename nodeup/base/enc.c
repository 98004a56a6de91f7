#include "nodeup/base/enc.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *enc_hex(struct arena *a, const void *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *in = data;
	char *out = arena_alloc(a, 2 * n + 1);

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[in[i] >> 4];
		out[2 * i + 1] = digits[in[i] & 15];
	}
	return out;
}

char *enc_base64(struct arena *a, const void *data, size_t n)
{
	const uint8_t *in = data;
	char *out = arena_alloc(a, (n + 2) / 3 * 4 + 1), *p = out;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t v = (uint32_t)in[i] << 16;

		if (left > 1)
			v |= (uint32_t)in[i + 1] << 8;
		if (left > 2)
			v |= in[i + 2];
		*p++ = base64_digits[v >> 18];
		*p++ = base64_digits[v >> 12 & 63];
		*p++ = left > 1 ? base64_digits[v >> 6 & 63] : '=';
		*p++ = left > 2 ? base64_digits[v & 63] : '=';
	}
	return out;
}

int enc_unbase64(struct arena *a, const char *text, char **ret_data, size_t *ret_n, struct err *e)
{
	char *out = arena_alloc(a, strlen(text) / 4 * 3 + 4);
	size_t n = 0, digits = 0, pads = 0;
	uint32_t v = 0;

	for (; *text; text++) {
		const char *digit;

		if (isspace((unsigned char)*text))
			continue;
		digit = strchr(base64_digits, *text);
		if (*text == '=' && digits % 4 >= 2 && pads < 2)
			pads++;
		else if (!digit || pads)
			return err_config(e, "not base64");
		v = v << 6 | (digit ? (uint32_t)(digit - base64_digits) : 0);
		if (++digits % 4 == 0) {
			out[n++] = (char)(v >> 16);
			out[n++] = (char)(v >> 8);
			out[n++] = (char)v;
		}
	}
	if (digits % 4)
		return err_config(e, "not base64: its length is not a multiple of four");
	n -= pads;
	out[n] = '\0';
	*ret_data = out;
	*ret_n = n;
	return 0;
}

const char *enc_text(struct arena *a, const char *base64)
{
	struct err ignored;
	char *text;
	size_t n;

	return base64 && enc_unbase64(a, base64, &text, &n, &ignored) == 0 && strlen(text) == n
		       ? text
		       : NULL;
}

char *enc_url(struct arena *a, const char *text, int keep_slash)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = arena_alloc(a, 3 * strlen(text) + 1), *p = out;

	for (; *text; text++) {
		uint8_t c = (uint8_t)*text;

		if (isalnum(c) || strchr("-_.~", c) || (c == '/' && keep_slash)) {
			*p++ = (char)c;
			continue;
		}
		*p++ = '%';
		*p++ = digits[c >> 4];
		*p++ = digits[c & 15];
	}
	return out;
}

char *enc_gzip(struct arena *a, const void *data, size_t n, size_t *ret_n)
{
	enum { GZIP_WINDOW = MAX_WBITS + 16 /* asks zlib for a gzip header */, MEMORY = 9 };
	z_stream z = { .next_in = data, .avail_in = (uInt)n };
	char *out;
	size_t max;

	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	max = deflateBound(&z, n);
	out = arena_alloc(a, max);
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)max;
	/* a buffer of deflateBound() bytes takes all output at once */
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	*ret_n = z.total_out;
	(void)deflateEnd(&z);
	return out;
}

int enc_gunzip(struct arena *a, const void *data, size_t n, size_t most, char **ret, struct err *e)
{
	enum { GZIP_WINDOW = MAX_WBITS + 16 };
	z_stream z = { .next_in = data, .avail_in = (uInt)n };
	char *out = arena_alloc(a, most + 1);
	int r;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		abort();
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)most;
	r = inflate(&z, Z_FINISH);
	out[z.total_out] = '\0';
	(void)inflateEnd(&z);
	if (r != Z_STREAM_END)
		return err_config(e, "broken gzip, or more than %zu bytes", most);
	*ret = out;
	return 0;
}
