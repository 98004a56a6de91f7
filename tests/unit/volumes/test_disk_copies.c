#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "nodeup/base/proc.h"
#include "nodeup/volumes/discover.h"
#include "nodeup/volumes/disk_probe.h"
#include "tests/unit/lib/disk_box.h"

#define MIB ((uint64_t)1 << 20)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

/* A file system whose head is gone is still there: each keeps copies further in, by which its tools
 * bring it back.  All are made by the real tools, on sparse files. */
struct world {
	struct disk_box box;
	uint64_t reads, bytes;
	struct probe p;
};

static ssize_t counted(void *arg, int fd, void *data, size_t n, off_t at)
{
	struct world *w = arg;

	w->reads++;
	w->bytes += n;
	return pread(fd, data, n, at);
}

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	disk_box_new(&w->box);
	w->box.host.pread = counted;
	w->box.host.arg = w;
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	disk_box_done(&w->box);
	free(w);
	return 0;
}

static void plug(struct world *w, const char *name, uint64_t size)
{
	disk_box_add(&w->box, &(struct box_disk){ .name = name, .size = size });
}

static enum probe_state probe(struct world *w, const char *name, bool persist)
{
	struct disk_want want = { .by = DISK_BY_PATHS };
	const char *missing;
	struct disks found;
	struct err e;

	strv_add(w->box.arena, &want.paths, name);
	if (disk_find(&w->box.host, w->box.arena, &want, &found, &missing, &e) < 0)
		fail_msg("%s", e.msg);
	disk_probe(&w->box.host, w->box.arena, &found.v[0], persist, &w->p);
	return w->p.state;
}

static void make(struct world *w, const char *name, const char *command)
{
	const char *script =
		arena_printf(w->box.arena, "PATH=/usr/sbin:/sbin:$PATH; %s \"$0\" >&2", command);
	const char *const argv[] = { "/bin/sh", "-c", script, disk_box_file(&w->box, name), NULL };
	const struct proc_req req = { .argv = argv, .stdin_fd = -1 };
	struct err e;

	if (proc_run(&req, NULL, &e) < 0)
		fail_msg("%s: %s", command, e.msg);
}

static void zero_head(struct world *w, const char *name, uint64_t n)
{
	const int fd = open(disk_box_file(&w->box, name), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)n), 0);
	assert_int_equal(close(fd), 0);
}

/* Make it, wipe its head, and see that neither kind of volume takes the disk for blank. */
static void refused_without_its_head(struct world *w, const char *command, uint64_t size,
				     uint64_t head)
{
	const char *name = "xvdb";

	plug(w, name, size);
	make(w, name, command);
	zero_head(w, name, head);
	for (int persist = 0; persist < 2; persist++) {
		if (probe(w, name, persist) != PROBE_DATA)
			fail_msg("%s on %llu MiB, the first %llu MiB wiped, %s: taken for %s",
				 command, (unsigned long long)(size / MIB),
				 (unsigned long long)(head / MIB), persist ? "persist" : "store",
				 w->p.has);
		assert_true(w->p.unknown);
	}
	disk_box_remove(&w->box, name);
}

static const uint64_t sizes[] = {
	320 * MIB, 8 * GIB,          37 * GIB, 100 * GIB, 333 * GIB + 7 * MIB + 512,
	2 * TIB,   9 * TIB + 5 * GIB
};

static void xfs_by_its_other_groups(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		refused_without_its_head(w, "mkfs.xfs -q -K -l size=64m", sizes[i], 16 * MIB);
}

/* As an array has it, as many groups as processors, blocks of other sizes, stripes. */
static void xfs_by_other_geometries(void **state)
{
	static const char *const commands[] = {
		"mkfs.xfs -q -K -l size=64m -d agcount=6",
		"mkfs.xfs -q -K -l size=64m -d agcount=16",
		"mkfs.xfs -q -K -l size=64m -d agcount=32",
		"mkfs.xfs -q -K -l size=64m -d agcount=96",
		"mkfs.xfs -q -K -l size=64m -d agcount=191",
		"mkfs.xfs -q -K -l size=64m -b size=1024",
		"mkfs.xfs -q -K -l size=64m -b size=65536",
		"mkfs.xfs -q -K -l size=64m -d su=64k,sw=3",
		"mkfs.xfs -q -K -l size=64m -d su=256k,sw=4",
		"mkfs.xfs -q -K -l size=64m -d su=512k,sw=2",
		"mkfs.xfs -q -K -l size=64m -d su=1m,sw=8",
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		refused_without_its_head(w, commands[i], 99 * GIB + 12288, 16 * MIB);
		refused_without_its_head(w, commands[i], 937 * GIB, 16 * MIB);
	}
}

static void ext4_of_clusters_by_its_first_copy(void **state)
{
	/* a disk no larger than one group has no copy */
	static const struct {
		const char *options;
		uint64_t group;
	} cases[] = {
		{ "", 2 * GIB },
		{ "-C 32768", GIB },
		{ "-C 1048576", 32 * GIB },
		{ "-b 1024 -C 16384", 128 * MIB },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
			const char *command =
				arena_printf(w->box.arena,
					     "mke2fs -q -F -t ext4 -N 4096 -E nodiscard "
					     "-O bigalloc,^has_journal,^resize_inode %s",
					     cases[i].options);

			if (sizes[k] > cases[i].group && sizes[k] <= cases[i].group * 1024)
				refused_without_its_head(w, command, sizes[k],
							 cases[i].group - MIB);
		}
	refused_without_its_head(w, "mke2fs -q -F -t ext4 -O bigalloc -E nodiscard", 320 * MIB,
				 4 * MIB);
}

static void ext4_of_large_blocks_by_its_first_copy(void **state)
{
	static const unsigned int blocks[] = { 8192, 16384, 32768, 65536 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		refused_without_its_head(w,
					 arena_printf(w->box.arena,
						      "mke2fs -q -F -t ext4 -N 4096 -b %u "
						      "-E nodiscard -O ^has_journal,^resize_inode",
						      blocks[i]),
					 37 * GIB, 256 * MIB);
}

static void f2fs_by_its_checkpoint(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < 4; i++)
		refused_without_its_head(w, "mkfs.f2fs -q -f -t 0", sizes[i], 4 * MIB);
	refused_without_its_head(w, "mkfs.f2fs -q -f -t 0 -s 8", 8 * GIB, 16 * MIB);
}

/* BlueStore writes its label at each of these that the device has. */
static void bluestore_by_each_copy_of_its_label(void **state)
{
	static const uint64_t places[] = { 1, 10, 100, 1000 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		plug(w, "xvdb", 1501 * GIB);
		disk_box_poke(&w->box, "xvdb", (int64_t)(places[i] * GIB),
			      "bluestore block device\n", 23);
		assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
		assert_string_equal(w->p.has,
				    arena_printf(w->box.arena, "unknown data at byte %llu",
						 (unsigned long long)(places[i] * GIB)));
		assert_int_equal(probe(w, "xvdb", true), PROBE_DATA);
		disk_box_remove(&w->box, "xvdb");
	}
}

/* What is blank is found so with a number of reads that does not grow with the disk. */
static void a_blank_one_is_read_quickly(void **state)
{
	static const uint64_t blank[] = { 64 * 1024, 3 * MIB, 320 * MIB, 8 * GIB,  37 * GIB,
					  937 * GIB, 9 * TIB, 64 * TIB,  100 * TIB };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(blank); i++)
		for (int persist = 0; persist < 2; persist++) {
			struct disk d = { .size = blank[i] };
			/* no file of ext4 is that long: its zeros need none */
			const int fd = memfd_create("disk", MFD_CLOEXEC);

			w->reads = w->bytes = 0;
			assert_int_equal(ftruncate(fd, (off_t)d.size), 0);
			disk_probe_fd(&w->box.host, w->box.arena, fd, d.size, persist, &w->p);
			assert_int_equal(w->p.state, PROBE_BLANK);
			assert_true(w->bytes >= (d.size < 32 * MIB ? d.size : 32 * MIB));
			assert_true(w->bytes <= (persist ? 160 : 64) * MIB);
			assert_true(w->reads <= (persist ? 1800 : 600));
			assert_int_equal(close(fd), 0);
		}
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(xfs_by_its_other_groups),
		T(xfs_by_other_geometries),
		T(ext4_of_clusters_by_its_first_copy),
		T(ext4_of_large_blocks_by_its_first_copy),
		T(f2fs_by_its_checkpoint),
		T(bluestore_by_each_copy_of_its_label),
		T(a_blank_one_is_read_quickly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
