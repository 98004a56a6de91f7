#include "assets/unpack/inflate.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdlib.h>
#include "nodeup/base/mem.h"

enum { OUT_BYTES = 256 * 1024 };

struct inflate {
	struct inflate_state state;
	inflate_read_fn *read;
	void *arg;
	bool inside; /* reading is inside a member's data */
	bool begun;  /* a first member was read */
	uint8_t out[OUT_BYTES];
};

struct inflate *inflate_new(inflate_read_fn *read, void *arg)
{
	struct inflate *z = xrealloc(NULL, sizeof(*z));

	/* `z` is not zeroed, as its largest part is written before it is read */
	z->read = read;
	z->arg = arg;
	z->inside = z->begun = false;
	isal_inflate_init(&z->state);
	return z;
}

void inflate_free(struct inflate *z)
{
	free(z);
}

/* Makes sure there is input. Returns the number of input bytes, 0 at the end. */
static ssize_t refill_input(struct inflate *z)
{
	const void *p;
	ssize_t n;

	if (z->state.avail_in > 0)
		return z->state.avail_in;
	n = z->read(z->arg, &p);
	if (n <= 0)
		return n;
	/* ISA-L's pointer lacks a const, and the bytes are only read */
	z->state.next_in = (uint8_t *)(uintptr_t)p;
	z->state.avail_in = (uint32_t)n;
	return n;
}

static ssize_t skip_zeros(struct inflate *z, const char **why)
{
	ssize_t n;

	while ((n = refill_input(z)) > 0)
		for (; z->state.avail_in > 0; z->state.next_in++, z->state.avail_in--)
			if (*z->state.next_in != 0) {
				*why = "something follows the end of the gzip data";
				return -EBADMSG;
			}
	return n;
}

/* Computes the checksum of a header, which is short. */
static uint32_t crc_of(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}

/* Reads the next n bytes of a header, the last four of them into *ret; < 0 if there are too few. */
static ssize_t take_header(struct inflate *z, size_t n, uint32_t *crc, uint32_t *ret)
{
	*ret = 0;
	while (n-- > 0) {
		ssize_t r = refill_input(z);

		if (r <= 0)
			return r < 0 ? r : -ENODATA;
		*ret = *ret >> 8 | (uint32_t)*z->state.next_in << 24;
		*crc = crc_of(*crc, *z->state.next_in);
		z->state.next_in++;
		z->state.avail_in--;
	}
	return 0;
}

static ssize_t skip_text(struct inflate *z, uint32_t *crc)
{
	uint32_t byte;
	ssize_t r;

	do
		r = take_header(z, 1, crc, &byte);
	while (r == 0 && byte != 0);
	return r;
}

/* Reads a header: 0, 1 if it is wrong, < 0. ISA-L's own reader computes a wrong checksum for a header that arrives
 * in pieces. */
static ssize_t read_header(struct inflate *z)
{
	uint32_t crc = UINT32_MAX, value, flags, rest;
	ssize_t r = take_header(z, 4, &crc, &value);

	flags = value >> 24;
	if (r < 0 || (value & 0xffffff) != 0x088b1f || flags & 0xe0)
		return r < 0 ? r : 1;
	r = take_header(z, 6, &crc, &value);
	if (r == 0 && flags & 4) {
		r = take_header(z, 2, &crc, &rest);
		if (r == 0)
			r = take_header(z, rest >> 16, &crc, &value);
	}
	if (r == 0 && flags & 8)
		r = skip_text(z, &crc);
	if (r == 0 && flags & 16)
		r = skip_text(z, &crc);
	if (r < 0 || !(flags & 2))
		return r;
	rest = ~crc & 0xffff;
	r = take_header(z, 2, &crc, &value);
	return r < 0 ? r : value >> 16 != rest;
}

/* Goes to the next gzip member. Returns 1 after its header, 0 at the end of the input. */
static ssize_t next_member(struct inflate *z, const char **why)
{
	ssize_t n = refill_input(z);

	if (n <= 0)
		return n;
	if (z->begun && *z->state.next_in != 0x1f)
		return skip_zeros(z, why);
	n = read_header(z);
	if (n == -ENODATA || n > 0) {
		*why = n > 0 ? "a gzip header is wrong" : "the gzip data is truncated";
		return -EBADMSG;
	}
	if (n < 0)
		return n;
	isal_inflate_reset(&z->state);
	z->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
	z->inside = z->begun = true;
	return 1;
}

/* Inflates the available input inside a member. Returns the number of bytes, < 0 on error. */
static ssize_t inflate_some(struct inflate *z, const char **why)
{
	ssize_t n = refill_input(z);
	int code;

	if (n < 0)
		return n;
	z->state.next_out = z->out;
	z->state.avail_out = OUT_BYTES;
	code = isal_inflate(&z->state);
	if (code < 0) {
		*why = code == ISAL_INCORRECT_CHECKSUM ? "the gzip checksum or length is wrong"
						       : "the gzip data is broken";
		return -EBADMSG;
	}
	z->inside = z->state.block_state != ISAL_BLOCK_FINISH;
	if (z->inside && n == 0 && z->state.avail_out == OUT_BYTES) {
		*why = "the gzip data is truncated";
		return -EBADMSG;
	}
	return OUT_BYTES - z->state.avail_out;
}

ssize_t inflate_read(struct inflate *z, const void **ret, const char **why)
{
	for (;;) {
		ssize_t n = z->inside ? 1 : next_member(z, why);

		if (n <= 0)
			return n;
		n = inflate_some(z, why);
		*ret = z->out;
		if (n != 0)
			return n;
	}
}
