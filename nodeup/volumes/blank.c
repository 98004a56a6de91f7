#include "nodeup/volumes/blank.h"

#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define ENDS (4 * MIB)
#define ENDS_PERSIST (16 * MIB)

#define STRIDE (64 * MIB)

enum { CHUNK = 128 * 1024, SPOT = 64 * 1024, STRIDES_MAX = 1024 };

/* Copies of superblocks that lie neither at the head nor at the tail. */
static const uint64_t spots[] = {
	8192 * (uint64_t)1024,  /* ext4's first copy, blocks of 1 KiB; they begin with block 1 */
	16384 * (uint64_t)2048, /* of 2 KiB */
	32768 * (uint64_t)4096, /* of 4 KiB: 128 MiB */
	64 * MIB,               /* btrfs' first mirror */
	256 * 1024 * MIB,       /* and its second: 256 GiB */
};

int blank_read(const struct disk_host *h, int fd, void *data, size_t n, uint64_t at)
{
	char *to = data;

	while (n > 0) {
		ssize_t got = h->pread ? h->pread(h->arg, fd, to, n, (off_t)at)
				       : pread(fd, to, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ENODATA;
		to += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static bool is_zero(const char *data, size_t n)
{
	return n == 0 || (data[0] == 0 && memcmp(data, data + 1, n - 1) == 0);
}

static size_t first_other(const char *data)
{
	size_t i = 0;

	while (data[i] == 0)
		i++;
	return i;
}

static int check_range(const struct disk_host *h, int fd, uint64_t from, uint64_t to,
		       uint64_t *ret_at)
{
	autofree char *data = xcalloc(1, CHUNK);

	while (from < to) {
		const size_t n = to - from < CHUNK ? (size_t)(to - from) : CHUNK;
		int r = blank_read(h, fd, data, n, from);

		*ret_at = from;
		if (r < 0)
			return r;
		if (!is_zero(data, n)) {
			*ret_at = from + first_other(data);
			return 1;
		}
		from += n;
	}
	return 0;
}

/* Data that has no signature, or whose signature was wiped, lies anywhere: a volume that is to be kept is
 * looked at all over. Every 64 MiB up to 64 GiB, above that in 1024 places, so that it takes seconds. */
static int check_strides(const struct disk_host *h, int fd, uint64_t size, uint64_t *ret_at)
{
	const uint64_t step = STRIDE * ((size - 1) / (STRIDE * STRIDES_MAX) + 1);
	int r = 0;

	for (uint64_t at = step; at + SPOT <= size && r == 0; at += step)
		r = check_range(h, fd, at, at + SPOT, ret_at);
	return r;
}

int blank_check(const struct disk_host *h, int fd, uint64_t size, bool persist, uint64_t *ret_at)
{
	const uint64_t ends = persist ? ENDS_PERSIST : ENDS;
	const uint64_t head = size < ends ? size : ends;
	int r = check_range(h, fd, 0, head, ret_at);

	if (r == 0)
		r = check_range(h, fd, size - head > head ? size - head : head, size, ret_at);
	for (size_t i = 0; i < ARRAY_LEN(spots) && r == 0; i++)
		if (spots[i] + SPOT <= size)
			r = check_range(h, fd, spots[i], spots[i] + SPOT, ret_at);
	if (r == 0 && persist && size > 0)
		r = check_strides(h, fd, size, ret_at);
	return r;
}
