#include "nodeup/volumes/blank.h"

#include <string.h>
#include <unistd.h>

#define KIB ((uint64_t)1 << 10)
#define MIB (KIB << 10)
#define GIB (MIB << 10)
#define TIB (GIB << 10)

/* f2fs has a checkpoint and its table of nodes after the first 4 MiB */
#define ENDS (16 * MIB)
#define STRIDE (64 * MIB)

enum { CHUNK = 128 * 1024, SPOT = 64 * 1024, STRIDES_MAX = 1024 };

/* Places where a copy of a superblock may be that are not at the head, the tail or a power of two. */
static const uint64_t spots[] = {
	512 * MIB - 64 * KIB, /* ext4's first copy, blocks of 8 KiB: 65528 make a group */
	1 * GIB - 128 * KIB,  /* ext4's first copy, blocks of 16 KiB */
	2 * GIB - 256 * KIB,  /* ext4's first copy, blocks of 32 KiB */
	4 * GIB - 512 * KIB,  /* ext4's first copy, blocks of 64 KiB */
	10 * GIB,             /* BlueStore's label, up to 1000 GiB */
	100 * GIB,
	1000 * GIB,
};

/* ext4's first copy is at the head of its second group: at 8, 32 or 128 MiB, depending on the size of its blocks.
 * With bigalloc that offset is multiplied by the number of blocks in a cluster. 64 MiB and 256 GiB are btrfs'
 * mirrors, 1 GiB is BlueStore's label. XFS' largest groups end one block before 1 TiB, and their second block is
 * never empty. */
#define POWERS_FROM (8 * MIB)
#define POWERS_TO (16 * TIB)

/* XFS divides a disk into groups of one size, and each begins with a copy of the superblock. */
#define XFS_GROUP_MIN (16 * MIB)
#define XFS_GROUP_MAX TIB
#define XFS_BLOCK (4 * KIB)
/* a stripe of up to 1 MiB may move the second group this far */
#define XFS_STRIPE MIB

/* mkfs.xfs makes a group for each processor, if that makes more groups than its own rule does */
enum { XFS_GROUPS = 192 };
/* groups by mkfs.xfs' own rule: 4 on one disk, up to 32 on several */
static const unsigned int xfs_groups[] = { 4, 8, 16, 32 };

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

/* Data without a signature, or with a wiped one, may be anywhere. So a volume to keep is sampled all over: every 64
 * MiB up to 64 GiB, and in 1024 places above that, which takes seconds. */
static int check_strides(const struct disk_host *h, int fd, uint64_t size, uint64_t *ret_at)
{
	const uint64_t step = STRIDE * ((size - 1) / (STRIDE * STRIDES_MAX) + 1);
	int r = 0;

	for (uint64_t at = step; at + SPOT <= size && r == 0; at += step)
		r = check_range(h, fd, at, at + SPOT, ret_at);
	return r;
}

/* Does the same as check_range, but ignores the part after the end of the device. */
static int check_within(const struct disk_host *h, int fd, uint64_t size, uint64_t from,
			uint64_t to, uint64_t *ret_at)
{
	return check_range(h, fd, from, to < size ? to : size, ret_at);
}

static int check_spots(const struct disk_host *h, int fd, uint64_t size, uint64_t *ret_at)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(spots) && r == 0; i++)
		r = check_within(h, fd, size, spots[i], spots[i] + SPOT, ret_at);
	for (uint64_t at = POWERS_FROM; at <= POWERS_TO && r == 0; at *= 2)
		r = check_within(h, fd, size, at, at + SPOT, ret_at);
	return r;
}

/* Checks where the second of n groups would begin. mkfs.xfs rounds the size of a group up to whole blocks, or down
 * if it makes a group for each processor. The disk's blocks may be smaller than XFS_BLOCK, the largest. */
static int check_xfs(const struct disk_host *h, int fd, uint64_t size, uint64_t *ret_at)
{
	int r = 0;

	for (unsigned int n = 2; n <= XFS_GROUPS && size / n >= XFS_GROUP_MIN && r == 0; n++) {
		const uint64_t at = size / n / XFS_BLOCK * XFS_BLOCK;

		if (at <= XFS_GROUP_MAX)
			r = check_within(h, fd, size, at, at + SPOT, ret_at);
	}
	for (size_t i = 0; i < ARRAY_LEN(xfs_groups) && r == 0; i++) {
		const uint64_t at = size / xfs_groups[i] / XFS_BLOCK * XFS_BLOCK;

		if (at >= XFS_GROUP_MIN && at <= XFS_GROUP_MAX)
			r = check_within(h, fd, size, at - XFS_STRIPE, at + 2 * XFS_STRIPE + SPOT,
					 ret_at);
	}
	return r;
}

int blank_check(const struct disk_host *h, int fd, uint64_t size, bool persist, uint64_t *ret_at)
{
	const uint64_t head = size < ENDS ? size : ENDS;
	int r = check_range(h, fd, 0, head, ret_at);

	if (r == 0)
		r = check_range(h, fd, size - head > head ? size - head : head, size, ret_at);
	if (r == 0)
		r = check_spots(h, fd, size, ret_at);
	if (r == 0)
		r = check_xfs(h, fd, size, ret_at);
	if (r == 0 && persist && size > 0)
		r = check_strides(h, fd, size, ret_at);
	return r;
}
