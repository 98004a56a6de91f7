#include "nodeup/volumes/extfs.h"

#include <string.h>
#include "nodeup/volumes/blank.h"

enum {
	SUPER_AT = 1024,
	SUPER_SIZE = 1024,
	BLOCK_MIN = 1024,
	BLOCK_MAX = 4096,
	INODE_MIN = 128,
	MAGIC = 0xef53,
	VALID = 1, /* superblock state: unmounted, and no error */
};

/* inodes that mkfs makes */
enum { ROOT = 2, RESIZE = 7, JOURNAL = 8, LOST = 11, DIRECTS = 12 };

enum { COMPAT_JOURNAL = 0x4, COMPAT_RESIZE = 0x10 };
enum { INCOMPAT_RECOVER = 0x4, INCOMPAT_64BIT = 0x80 };
enum { RO_SPARSE_SUPER = 0x1 };
/* uninit_bg and metadata_csum: if the file system has neither, a group's flags about its bitmaps do not count */
enum { RO_GROUP_FLAGS = 0x10 | 0x400 };

/* Features that are understood here. A file system with any other feature was made by somebody's choice, not by
 * default. */
#define COMPAT_KNOWN (COMPAT_JOURNAL | 0x8 /* ext_attr */ | COMPAT_RESIZE | 0x20 /* dir_index */)
#define INCOMPAT_KNOWN \
	(0x2 /* filetype */ | 0x40 /* extent */ | INCOMPAT_64BIT | 0x200 /* flex_bg */)
#define RO_KNOWN                                                                               \
	(RO_SPARSE_SUPER | 0x2 /* large_file */ | 0x8 /* huge_file */ | 0x20 /* dir_nlink */ | \
	 0x40 /* extra_isize */ | RO_GROUP_FLAGS)

enum { MODE_DIR = 0x4000, MODE_KIND = 0xf000, FLAG_EXTENTS = 0x80000 };
enum { EXTENT_MAGIC = 0xf30a, EXTENT_DEPTH_MAX = 5, EXTENT_SIZE = 12 };
enum { GROUP_INODES_UNSET = 1, GROUP_BLOCKS_UNSET = 2, GROUP_ZEROED = 4 };

#define JOURNAL_MAGIC 0xc03b3998u

struct ext {
	const struct disk_host *h;
	int fd;
	uint64_t size; /* bytes of the device */
	bool mounted;
	uint32_t magic; /* the magic number that the superblock must have */
	const char **why;

	uint32_t compat, incompat, ro;
	uint32_t block, inode, group; /* sizes: of a block, of an inode and of a descriptor */
	uint32_t first;               /* first block of the first group */
	uint32_t blocks_per_group, inodes_per_group, groups;
	uint32_t inodes, free_inodes;
	uint64_t blocks, free_blocks;
	/* blocks of one group's inodes; blocks of all descriptors */
	uint32_t table_blocks, group_blocks;
	uint32_t reserved;  /* blocks after the descriptors, reserved for growth */
	uint64_t inodes_at; /* first block of the first group's inodes */
	uint64_t used;      /* blocks in use in all groups */
};

struct inode {
	uint32_t mode, links, flags;
	uint64_t size, blocks; /* blocks: in units of 512 bytes */
	/* not 0: the inode has extended attributes, in this block or in the inode itself */
	uint64_t attributes;
	unsigned char map[60];
};

static uint32_t le16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const unsigned char *p)
{
	return le16(p) | le16(p + 2) << 16;
}

static uint64_t le48(const unsigned char *low, const unsigned char *high)
{
	return le32(low) | (uint64_t)le16(high) << 32;
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t div_up(uint64_t n, uint64_t by)
{
	return (n + by - 1) / by;
}

static int no(const struct ext *x, const char *why)
{
	*x->why = why;
	return 1;
}

static int read_at(const struct ext *x, void *data, size_t n, uint64_t at)
{
	if (at > x->size || n > x->size - at)
		return -ENODATA;
	return blank_read(x->h, x->fd, data, n, at);
}

static int read_block(const struct ext *x, void *data, uint64_t number)
{
	return number < x->blocks ? read_at(x, data, x->block, number * x->block) : -ENODATA;
}

/* Returns whether mkfs puts a copy of the superblock and the descriptors into this group. */
static bool has_super(const struct ext *x, uint32_t group)
{
	static const uint32_t bases[] = { 3, 5, 7 };

	if (!(x->ro & RO_SPARSE_SUPER) || group <= 1)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		uint64_t power = bases[i];

		while (power < group)
			power *= bases[i];
		if (power == group)
			return true;
	}
	return false;
}

static uint64_t count_supers(const struct ext *x)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < x->groups; i++)
		n += has_super(x, i);
	return n;
}

static void take_sizes(struct ext *x, const unsigned char *s)
{
	const bool wide = x->incompat & INCOMPAT_64BIT;

	x->block = (uint32_t)BLOCK_MIN << le32(s + 0x18);
	x->inodes = le32(s);
	x->free_inodes = le32(s + 0x10);
	x->blocks = le32(s + 0x4) | (wide ? (uint64_t)le32(s + 0x150) << 32 : 0);
	x->free_blocks = le32(s + 0xc) | (wide ? (uint64_t)le32(s + 0x158) << 32 : 0);
	x->first = le32(s + 0x14);
	x->blocks_per_group = le32(s + 0x20);
	x->inodes_per_group = le32(s + 0x28);
	x->inode = le16(s + 0x58);
	x->group = wide ? le16(s + 0xfe) : 32;
	x->reserved = le16(s + 0xce);
}

/* Checks which program made the file system, its features, and its state since. */
static int check_super(struct ext *x, const unsigned char *s)
{
	static const unsigned char no_label[16];

	x->compat = le32(s + 0x5c);
	x->incompat = le32(s + 0x60);
	x->ro = le32(s + 0x64);
	if (le16(s + EXTFS_MAGIC_AT - SUPER_AT) != x->magic || le32(s + 0x4c) != 1 ||
	    le32(s + 0x48) != 0)
		return no(x, "its superblock is not one of Linux");
	if (x->compat & ~(uint32_t)COMPAT_KNOWN || x->ro & ~(uint32_t)RO_KNOWN ||
	    x->incompat & ~(uint32_t)(INCOMPAT_KNOWN | INCOMPAT_RECOVER))
		return no(x, "it has features that nodeup does not know");
	if (!(x->compat & COMPAT_JOURNAL) || le32(s + 0xe0) != JOURNAL || le32(s + 0xe4) != 0)
		return no(x, "it has no journal of its own");
	if (memcmp(s + 0x78, no_label, sizeof(no_label)) != 0)
		return no(x, "it has a label");
	if (le16(s + 0x3a) != VALID || le32(s + 0xe8) != 0 || le32(s + 0x194) != 0)
		return no(x, "it was not unmounted, or had errors");
	if (x->incompat & INCOMPAT_RECOVER && !x->mounted)
		return no(x, "its journal is to be replayed");
	return 0;
}

/* Returns how many blocks mkfs reserves after each copy of the superblock. The reserved blocks are for the
 * descriptors of a file system that grows a thousandfold. If a file system has grown already, fewer are left. */
static uint64_t room_to_grow(const struct ext *x)
{
	const uint64_t limit = UINT32_MAX;
	const uint64_t most = x->blocks < limit / 1024 ? x->blocks * 1024 : limit;
	const uint64_t groups = div_up(most - x->first, x->blocks_per_group);
	const uint64_t blocks = div_up(groups, x->block / x->group);
	const uint64_t room = blocks > x->group_blocks ? blocks - x->group_blocks : 0;

	return room < x->block / 4 ? room : x->block / 4;
}

/* Returns whether mkfs left out the last group, since that group would have held only tables. */
static bool is_short_of(const struct ext *x, uint64_t blocks)
{
	const uint64_t rest = (blocks - x->first) % x->blocks_per_group;
	const uint64_t tables = 2 + x->table_blocks + 1 + x->group_blocks + x->reserved + 50;

	/* mkfs counts the tables before it leaves the group out; without the group they are a little smaller */
	return rest > 0 && x->blocks == blocks - rest && rest < tables + 8;
}

/* mkfs clears the bytes before the superblock, and uses none after the last block. */
static int check_zeros(const struct ext *x, uint64_t at, uint64_t to)
{
	unsigned char data[BLOCK_MAX];

	while (at < to) {
		const size_t n = to - at < sizeof(data) ? (size_t)(to - at) : sizeof(data);
		int r = read_at(x, data, n, at);

		if (r < 0)
			return r;
		for (size_t i = 0; i < n; i++)
			if (data[i])
				return no(x, "there is data before its superblock or behind its "
					     "end");
		at += n;
	}
	return 0;
}

/* Checks that the file system fills the device as far as mkfs does, and that the rest is empty. */
static int check_end(const struct ext *x)
{
	const uint64_t page = BLOCK_MAX / x->block;
	const uint64_t blocks = x->size / x->block / page * page;

	if (x->blocks != blocks && !is_short_of(x, blocks))
		return no(x, "it is not of the size of its device");
	return check_zeros(x, x->blocks * x->block, x->size);
}

/* Checks for mkfs' default layout. */
static int check_layout(struct ext *x, const unsigned char *s)
{
	const uint32_t log = le32(s + 0x18);

	if (log > 2 || le32(s + 0x1c) != log)
		return no(x, "its blocks are not those of mkfs");
	take_sizes(x, s);
	if (x->first != (x->block == BLOCK_MIN) || x->blocks_per_group != 8 * x->block ||
	    x->blocks <= x->first || x->blocks > x->size / x->block)
		return no(x, "its groups are not those of mkfs");
	if (x->inode < INODE_MIN || x->inode > x->block || x->inode & (x->inode - 1) ||
	    (x->group != 32 && x->group != 64) || le32(s + 0x54) != LOST ||
	    x->inodes_per_group < 16 || x->inodes_per_group > 8 * x->block)
		return no(x, "its inodes are not those of mkfs");
	x->groups = (uint32_t)div_up(x->blocks - x->first, x->blocks_per_group);
	if ((uint64_t)x->groups * x->inodes_per_group != x->inodes)
		return no(x, "its inodes are not those of mkfs");
	x->table_blocks = (uint32_t)div_up((uint64_t)x->inodes_per_group * x->inode, x->block);
	x->group_blocks = (uint32_t)div_up(x->groups, x->block / x->group);
	if (x->reserved != (x->compat & COMPAT_RESIZE ? room_to_grow(x) : 0))
		return no(x, "it was resized");
	return check_end(x);
}

/* Returns how many of the first n bits are set. */
static uint64_t count_bits(const unsigned char *bits, uint64_t n)
{
	uint64_t set = 0;

	for (uint64_t i = 0; i < n / 8; i++)
		set += (uint64_t)__builtin_popcount(bits[i]);
	if (n % 8)
		set += (uint64_t)__builtin_popcount(bits[n / 8] & ((1u << n % 8) - 1));
	return set;
}

/* Checks that the first group uses exactly mkfs' inodes, and the other groups none. */
static int check_inode_bits(const struct ext *x, const unsigned char *bits, uint32_t number)
{
	const uint64_t used = number == 0 ? LOST : 0;

	if (count_bits(bits, x->inodes_per_group) != used || count_bits(bits, used) != used)
		return no(x, "it has inodes in use beside those of mkfs");
	return 0;
}

static int check_group(struct ext *x, const unsigned char *g, uint32_t number)
{
	const bool wide = x->group == 64;
	const uint64_t left = x->blocks - x->first - (uint64_t)number * x->blocks_per_group;
	const uint64_t n = left < x->blocks_per_group ? left : x->blocks_per_group;
	const uint64_t free_blocks = le16(g + 0xc) | (wide ? le16(g + 0x2c) << 16 : 0);
	const uint64_t free_inodes = le16(g + 0xe) | (wide ? le16(g + 0x2e) << 16 : 0);
	const uint64_t dirs = le16(g + 0x10) | (wide ? le16(g + 0x30) << 16 : 0);
	const uint64_t blocks_at = le32(g) | (wide ? (uint64_t)le32(g + 0x20) << 32 : 0);
	const uint64_t bits_at = le32(g + 4) | (wide ? (uint64_t)le32(g + 0x24) << 32 : 0);
	const uint32_t flags = x->ro & RO_GROUP_FLAGS ? le16(g + 0x12) : 0;
	unsigned char bits[BLOCK_MAX];
	int r = 0;

	if (number == 0)
		x->inodes_at = le32(g + 8) | (wide ? (uint64_t)le32(g + 0x28) << 32 : 0);
	if (flags & ~(uint32_t)(GROUP_INODES_UNSET | GROUP_BLOCKS_UNSET | GROUP_ZEROED) ||
	    free_blocks > n)
		return no(x, "its groups are not those of mkfs");
	if (free_inodes != x->inodes_per_group - (number == 0 ? LOST : 0) ||
	    dirs != (number == 0 ? 2 : 0))
		return no(x, "its count of free inodes is not that of mkfs");
	x->used += n - free_blocks;
	if (!(flags & GROUP_INODES_UNSET)) {
		r = read_block(x, bits, bits_at);
		if (r == 0)
			r = check_inode_bits(x, bits, number);
	}
	if (r == 0 && !(flags & GROUP_BLOCKS_UNSET)) {
		r = read_block(x, bits, blocks_at);
		if (r == 0 && count_bits(bits, n) != n - free_blocks)
			r = no(x, "its count of free blocks is not that of its bitmaps");
	}
	return r;
}

static int check_groups(struct ext *x)
{
	const uint32_t in_block = x->block / x->group;
	unsigned char data[BLOCK_MAX];
	int r = 0;

	for (uint32_t i = 0; i < x->groups && r == 0; i++) {
		if (i % in_block == 0)
			r = read_block(x, data, x->first + 1 + i / in_block);
		if (r == 0)
			r = check_group(x, data + (size_t)(i % in_block) * x->group, i);
	}
	return r;
}

static int read_inode(const struct ext *x, uint32_t number, struct inode *ret)
{
	const uint64_t at = x->inodes_at * x->block + (uint64_t)(number - 1) * x->inode;
	unsigned char i[BLOCK_MAX];
	size_t rest = INODE_MIN;
	int r;

	if (x->inodes_at >= x->blocks)
		return -ENODATA;
	r = read_at(x, i, x->inode, at);
	if (r < 0)
		return r;
	*ret = (struct inode){
		.mode = le16(i),
		.links = le16(i + 0x1a),
		.flags = le32(i + 0x20),
		.size = le32(i + 0x4) | (uint64_t)le32(i + 0x6c) << 32,
		.blocks = le48(i + 0x1c, i + 0x74),
		.attributes = le48(i + 0x68, i + 0x76),
	};
	memcpy(ret->map, i + 0x28, sizeof(ret->map));
	/* attributes follow the inode's own part */
	if (x->inode > INODE_MIN)
		rest += le16(i + INODE_MIN);
	for (size_t k = rest; k < x->inode; k++)
		ret->attributes |= i[k];
	ret->attributes |= rest > x->inode;
	return 0;
}

/* Lists the blocks of a small directory; false: the inode is no small directory. */
static bool map_directory(const struct inode *i, size_t n, uint64_t ret[static DIRECTS])
{
	const unsigned char *map = i->map;
	const size_t extents = le16(map + 2);
	size_t known = 0;

	if (!(i->flags & FLAG_EXTENTS)) {
		for (size_t k = 0; k < n; k++)
			ret[k] = le32(map + 4 * k);
		return true;
	}
	if (le16(map) != EXTENT_MAGIC || le16(map + 6) != 0 || extents > 4)
		return false;
	for (size_t k = 1; k <= extents; k++) {
		const unsigned char *extent = map + k * EXTENT_SIZE;
		const uint64_t start = le48(extent + 8, extent + 6);

		if (le32(extent) != known || le16(extent + 4) > n - known)
			return false;
		for (uint32_t j = 0; j < le16(extent + 4); j++)
			ret[known++] = start + j;
	}
	return known == n;
}

/* Checks that a directory's block has no entries but ".", ".." and, in the root, lost+found. */
static int check_entries(const struct ext *x, const unsigned char *data, uint32_t self,
			 bool is_first, uint32_t *ret_found)
{
	const struct {
		const char *name;
		uint32_t inode;
		bool here;
	} known[] = {
		{ ".", self, is_first },
		{ "..", ROOT, is_first },
		{ "lost+found", LOST, self == ROOT },
	};
	uint32_t size;

	for (uint32_t at = 0; at < x->block; at += size) {
		const unsigned char *entry = data + at;
		const uint32_t inode = x->block - at < 8 ? 0 : le32(entry);
		const uint32_t length = x->block - at < 8 ? 0 : entry[6];
		size_t k = 0;

		size = x->block - at < 8 ? 0 : le16(entry + 4);
		if (size < 8 || size % 4 || size > x->block - at || (inode && length > size - 8))
			return no(x, "a directory of it is damaged");
		if (inode == 0)
			continue;
		while (k < ARRAY_LEN(known) && !(known[k].here && known[k].inode == inode &&
						 strlen(known[k].name) == length &&
						 memcmp(known[k].name, entry + 8, length) == 0))
			k++;
		if (k == ARRAY_LEN(known))
			return no(x, self == ROOT ? "it has something beside lost+found"
						  : "its lost+found is not empty");
		(*ret_found)++;
	}
	return 0;
}

/* Checks a directory of at most that many entries; *ret_blocks is the number of its blocks. */
static int check_directory(const struct ext *x, uint32_t number, uint32_t entries, uint64_t most,
			   uint64_t *ret_blocks)
{
	uint64_t at[DIRECTS] = { 0 };
	unsigned char data[BLOCK_MAX];
	uint32_t found = 0;
	struct inode i;
	size_t n;
	int r = read_inode(x, number, &i);

	if (r < 0)
		return r;
	n = (size_t)(i.size / x->block);
	if ((i.mode & MODE_KIND) != MODE_DIR || i.links != entries || i.attributes != 0 ||
	    i.flags & ~(uint32_t)FLAG_EXTENTS || i.size % x->block || n < 1 || n > most ||
	    i.blocks != n * (x->block / 512) || !map_directory(&i, n, at))
		return no(x, number == ROOT ? "its root is not that of mkfs"
					    : "its lost+found is not that of mkfs");
	for (size_t k = 0; k < n && r == 0; k++) {
		r = read_block(x, data, at[k]);
		if (r == 0)
			r = check_entries(x, data, number, k == 0, &found);
	}
	if (r == 0 && found != entries)
		r = no(x, "a directory of it is damaged");
	*ret_blocks += n;
	return r;
}

/* Finds the first block of a file that may be large. */
static int first_block(const struct ext *x, const struct inode *i, uint64_t *ret)
{
	unsigned char data[BLOCK_MAX];

	memcpy(data, i->map, sizeof(i->map));
	if (!(i->flags & FLAG_EXTENTS)) {
		*ret = le32(data);
		return 0;
	}
	for (int depth = 0; depth < EXTENT_DEPTH_MAX; depth++) {
		const unsigned char *extent = data + EXTENT_SIZE;
		int r;

		if (le16(data) != EXTENT_MAGIC || le16(data + 2) == 0 || le32(extent) != 0)
			break;
		*ret = le16(data + 6) ? le48(extent + 4, extent + 8) : le48(extent + 8, extent + 6);
		if (le16(data + 6) == 0)
			return 0;
		r = read_block(x, data, *ret);
		if (r < 0)
			return r;
	}
	return no(x, "its journal is not that of mkfs");
}

static int check_journal(const struct ext *x, uint64_t *ret_blocks)
{
	unsigned char data[BLOCK_MAX];
	uint64_t at = 0;
	struct inode i;
	int r = read_inode(x, JOURNAL, &i);

	if (r == 0)
		r = first_block(x, &i, &at);
	if (r == 0)
		r = read_block(x, data, at);
	if (r != 0)
		return r;
	*ret_blocks += i.blocks / (x->block / 512);
	if (be32(data) != JOURNAL_MAGIC || i.flags & ~(uint32_t)FLAG_EXTENTS ||
	    i.blocks % (x->block / 512))
		return no(x, "its journal is not that of mkfs");
	/* the journal's start and its last error must be 0 */
	if (!x->mounted && (be32(data + 28) != 0 || be32(data + 32) != 0))
		return no(x, "its journal is to be replayed");
	return 0;
}

/* Checks mkfs' inodes that are no files. */
static int check_reserved(const struct ext *x, uint64_t supers, uint64_t *ret_blocks)
{
	const uint64_t room = supers * x->reserved;
	int r = 0;

	for (uint32_t number = 1; number < LOST && r == 0; number++) {
		struct inode i;
		uint64_t blocks;

		if (number == ROOT || number == JOURNAL)
			continue;
		r = read_inode(x, number, &i);
		if (r < 0)
			break;
		blocks = i.blocks / (x->block / 512);
		/* the inode RESIZE has the reserved blocks, and one block that lists them */
		if (number == RESIZE && blocks == room + 1)
			*ret_blocks += 1;
		else if (blocks != (number == RESIZE ? room : 0) ||
			 (number != RESIZE && (i.size != 0 || i.links != 0)))
			r = no(x, "one of its reserved inodes is in use");
	}
	return r;
}

/* Checks that exactly mkfs' blocks are in use, in every place that counts them. */
static int check_counts(const struct ext *x)
{
	const uint64_t supers = count_supers(x);
	uint64_t used = supers * (1 + x->group_blocks + x->reserved) +
			(uint64_t)x->groups * (2 + x->table_blocks);
	int r = check_directory(x, ROOT, 3, 1, &used);

	if (r == 0)
		r = check_directory(x, LOST, 2, DIRECTS, &used);
	if (r == 0)
		r = check_journal(x, &used);
	if (r == 0)
		r = check_reserved(x, supers, &used);
	if (r != 0)
		return r;
	if (used != x->used)
		return no(x, "its count of free blocks is not that of mkfs");
	if (!x->mounted &&
	    (x->free_blocks != x->blocks - x->first - used || x->free_inodes != x->inodes - LOST))
		return no(x, "its counts of free blocks and inodes are not those of mkfs");
	return 0;
}

int extfs_new(const struct disk_host *h, int fd, uint64_t size, enum extfs_as as,
	      const char **ret_why)
{
	struct ext x = {
		.h = h,
		.fd = fd,
		.size = size,
		.mounted = as == EXTFS_MOUNTED,
		.magic = as == EXTFS_CUT ? 0 : MAGIC,
		.why = ret_why,
	};
	unsigned char super[SUPER_SIZE];
	int r = read_at(&x, super, sizeof(super), SUPER_AT);

	*ret_why = NULL;
	if (r == 0)
		r = check_super(&x, super);
	if (r == 0)
		r = check_layout(&x, super);
	if (r == 0)
		r = check_zeros(&x, 0, SUPER_AT);
	if (r == 0)
		r = check_groups(&x);
	if (r == 0)
		r = check_counts(&x);
	return r;
}
