#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/proc.h"
#include "nodeup/config/instance_store.h"
#include "nodeup/config/storage_docker.h"
#include "nodeup/tasks/volume.h"
#include "nodeup/volumes/discover.h"
#include "nodeup/volumes/disk_probe.h"
#include "nodeup/volumes/judge.h"
#include "tests/unit/lib/disk_box.h"
#include "tests/unit/lib/repeats.h"

#define MIB ((uint64_t)1 << 20)
#define SIZE (320 * MIB)

struct world {
	struct disk_box box;
	struct probe p;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	disk_box_new(&w->box);
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

static struct disk find_disk(struct world *w, const char *name)
{
	struct disk_want want = { .by = DISK_BY_PATHS };
	const char *missing;
	struct disks found;
	struct err e;

	strv_add(w->box.arena, &want.paths, name);
	if (disk_find(&w->box.host, w->box.arena, &want, &found, &missing, &e) < 0)
		fail_msg("%s", e.msg);
	return found.v[0];
}

static enum probe_state probe(struct world *w, const char *name, bool persist)
{
	const struct disk d = find_disk(w, name);

	disk_probe(&w->box.host, w->box.arena, &d, persist, &w->p);
	return w->p.state;
}

/* What each of them leaves on a disk, by bytes; at < 0 counts from the end. */
static const struct {
	const char *name;
	int64_t at;
	const char *bytes;
	size_t n;
} signatures[] = {
#define S(name, at, bytes)                         \
	{                                          \
		name, at, bytes, sizeof(bytes) - 1 \
	}
	S("MBR", 510, "\x55\xaa"),
	S("GPT", 512, "EFI PART"),
	S("GPT's copy at the end", -512, "EFI PART"),
	S("LVM2", 512, "LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001"),
	S("LVM2 in sector 3", 3 * 512, "LABELONE\3\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001"),
	S("md 0.90", -65536, "\xfc\x4e\x2b\xa9\0\0\0\0\x5a\0\0\0"),
	S("md 1.0", -8192, "\xfc\x4e\x2b\xa9\1\0\0\0"),
	S("md 1.1", 0, "\xfc\x4e\x2b\xa9\1\0\0\0"),
	S("md 1.2", 4096, "\xfc\x4e\x2b\xa9\1\0\0\0"),
	S("LUKS", 0, "LUKS\xba\xbe\0\1"),
	S("LUKS2's copy", 16384, "SKUL\xba\xbe\0\2"),
	S("ZFS at the head", 128 * 1024, "\x0c\xb1\xba\0\0\0\0\0"),
	S("ZFS at the tail", -(int64_t)(256 * 1024 - 128 * 1024), "\x0c\xb1\xba\0\0\0\0\0"),
	S("swap", 4086, "SWAPSPACE2"),
	S("suspended swap", 4086, "S1SUSPEND"),
	S("bcache", 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
	S("DRBD", -4096 + 60, "\x83\x74\x02\x6b"),
	S("ext4", 1080, "\x53\xef"),
	S("ext4's copy in block group 1", 128 * 1024 * 1024 + 56, "\x53\xef"),
	S("ext4's copy, blocks of 1 KiB", 8193 * 1024 + 56, "\x53\xef"),
	S("xfs", 0, "XFSB\0\0\x10\0"),
	S("btrfs", 65536 + 64, "_BHRfS_M"),
	S("btrfs' mirror", 64 * 1024 * 1024 + 64, "_BHRfS_M"),
	S("NTFS", 3, "NTFS    "),
	S("FAT", 54, "FAT16   "),
	S("exFAT", 3, "EXFAT   "),
	S("ISO 9660", 32769, "CD001"),
	S("squashfs", 0, "hsqs"),
	S("HFS+", 1024, "H+\0\4"),
	S("reiserfs", 65536 + 52, "ReIsEr2Fs"),
	S("jfs", 32768, "JFS1"),
	S("f2fs", 1024, "\x10\x20\xf5\xf2"),
	S("ocfs2", 8192, "OCFSV2"),
	S("gfs2", 65536, "\x01\x16\x19\x70"),
	S("VMFS", 1 << 20, "\x0d\xd0\x01\xc0"),
	S("Ceph bluestore", 0, "bluestore block device"),
	S("a tar archive", 257, "ustar"),
	S("one bit of a plain dm-crypt", 77777, "\x40"),
	S("the last byte", -1, "\1"),
#undef S
};

static void every_signature_is_data(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(signatures); i++) {
		const char *name = arena_printf(w->box.arena, "xvd%zu", i);

		plug(w, name, SIZE);
		disk_box_poke(&w->box, name, signatures[i].at, signatures[i].bytes,
			      signatures[i].n);
		if (probe(w, name, false) != PROBE_DATA)
			fail_msg("%s is taken for %s", signatures[i].name, w->p.has);
		assert_int_equal(unlink(disk_box_file(&w->box, name)), 0);
	}
}

static void run_tool(const char *const *argv)
{
	const struct proc_req req = { .argv = argv, .stdin_fd = -1 };
	struct err e;

	if (proc_run(&req, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

#define UUID "0b1e5c53-1f83-5c6e-9d35-0d5b4f1e7a11"

/* Made by the real tools; what else needs a kernel's driver is above, by bytes. */
static void real_file_systems_are_named(void **state)
{
	struct world *w = *state;
	const char *file;

	plug(w, "xvdb", SIZE);
	file = disk_box_file(&w->box, "xvdb");
	run_tool((const char *[]){ "mkfs.ext4", "-q", "-F", "-U", UUID, "-L", "kept", file, NULL });
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
	assert_string_equal(w->p.fs, "ext4");
	assert_string_equal(w->p.uuid, UUID);
	assert_string_equal(w->p.label, "kept");
	assert_string_equal(w->p.has, "ext4 file system labelled 'kept'");

	plug(w, "xvdc", SIZE);
	file = disk_box_file(&w->box, "xvdc");
	run_tool((const char *[]){ "mkswap", "-q", "-U", UUID, file, NULL });
	assert_int_equal(probe(w, "xvdc", false), PROBE_DATA);
	assert_string_equal(w->p.fs, "swap");
	assert_string_equal(w->p.uuid, UUID);
	assert_string_equal(w->p.has, "swap space");
}

/* A superblock whose checksum is wrong was somebody's file system. */
static void a_damaged_superblock_is_data(void **state)
{
	struct world *w = *state;

	plug(w, "xvdb", SIZE);
	run_tool((const char *[]){ "mkfs.ext4", "-q", "-F", disk_box_file(&w->box, "xvdb"), NULL });
	disk_box_poke(&w->box, "xvdb", 1024 + 0x3fc, "\1\2\3\4", 4);
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
	disk_box_poke(&w->box, "xvdb", 1024, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
	disk_box_poke(&w->box, "xvdb", 1080, "\0\0", 2);
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
}

/* Its superblock, UUID and all, is on the disk before the rest is. */
static void an_xfs_that_is_being_made_is_incomplete(void **state)
{
	struct world *w = *state;

	plug(w, "xvdb", SIZE);
	run_tool((const char *[]){ "mkfs.xfs", "-q", "-K", "-m", "uuid=" UUID,
				   disk_box_file(&w->box, "xvdb"), NULL });
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
	assert_string_equal(w->p.fs, "xfs");
	assert_string_equal(w->p.uuid, UUID);
	assert_false(w->p.incomplete);
	disk_box_poke(&w->box, "xvdb", 126, "\1", 1);
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
	assert_true(w->p.incomplete);
}

static void partitions_the_kernel_knows_are_data(void **state)
{
	struct world *w = *state;

	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdb", .part = "xvdb1" });
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
	assert_string_equal(w->p.has, "1 partition: xvdb1");
}

static void an_error_anywhere_is_unreadable(void **state)
{
	static const uint64_t places[] = {
		0,        512,       MIB,      4 * MIB - 1,     SIZE - 1, SIZE - 4 * MIB,
		64 * MIB, 128 * MIB, 12 * MIB, SIZE - 16 * MIB, SIZE / 4, SIZE / 3
	};
	struct world *w = *state;

	plug(w, "xvdb", SIZE);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		w->box.bad_from = places[i];
		w->box.bad_to = places[i] + 1;
		assert_int_equal(probe(w, "xvdb", false), PROBE_UNREADABLE);
		assert_non_null(strstr(w->p.has, "read error at byte"));
	}
	w->box.bad_from = 192 * MIB;
	w->box.bad_to = 192 * MIB + 1;
	assert_int_equal(probe(w, "xvdb", false), PROBE_BLANK);
	assert_int_equal(probe(w, "xvdb", true), PROBE_UNREADABLE);
	w->box.bad_to = 0;
	assert_int_equal(probe(w, "xvdb", true), PROBE_BLANK);
}

static void a_device_shorter_than_it_says_is_unreadable(void **state)
{
	struct world *w = *state;

	plug(w, "xvdb", SIZE);
	assert_int_equal(truncate(disk_box_file(&w->box, "xvdb"), SIZE - 512), 0);
	assert_int_equal(probe(w, "xvdb", false), PROBE_UNREADABLE);
	assert_string_equal(w->p.has, "it ends at byte 335543808, its size is 335544320");
	assert_int_equal(truncate(disk_box_file(&w->box, "xvdb"), 0), 0);
	assert_int_equal(probe(w, "xvdb", false), PROBE_UNREADABLE);
}

static void a_device_that_went_away_is_unreadable(void **state)
{
	struct world *w = *state;
	struct disk d;

	plug(w, "xvdb", SIZE);
	d = find_disk(w, "xvdb");
	assert_int_equal(unlink(disk_box_file(&w->box, "xvdb")), 0);
	disk_probe(&w->box.host, w->box.arena, &d, false, &w->p);
	assert_int_equal(w->p.state, PROBE_UNREADABLE);
}

static void both_ends_are_zeros_whatever_the_volume(void **state)
{
	static const int64_t places[] = { 10 * (int64_t)MIB, 16 * (int64_t)MIB - 1,
					  -10 * (int64_t)MIB, -16 * (int64_t)MIB };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		plug(w, "xvdb", SIZE);
		disk_box_poke(&w->box, "xvdb", places[i], "x", 1);
		assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
		assert_int_equal(probe(w, "xvdb", true), PROBE_DATA);
		assert_string_equal(
			w->p.has, arena_printf(w->box.arena, "unknown data at byte %lld",
					       (long long)places[i] + (places[i] < 0 ? SIZE : 0)));
		disk_box_remove(&w->box, "xvdb");
	}
}

static void small_disks_are_read_whole(void **state)
{
	struct world *w = *state;

	plug(w, "xvdb", 65536);
	assert_int_equal(probe(w, "xvdb", true), PROBE_BLANK);
	disk_box_poke(&w->box, "xvdb", 40000, "x", 1);
	assert_int_equal(probe(w, "xvdb", false), PROBE_DATA);
}

/* Raw data, an encrypted volume whose header is elsewhere, what is left of one whose head was wiped. */
static void volumes_that_persist_are_looked_at_all_over(void **state)
{
	static const struct {
		uint64_t size, at;
		bool seen;
	} cases[] = {
		{ 20 * 1024 * MIB, 64 * MIB, true },
		{ 20 * 1024 * MIB, 64 * MIB + 65535, true },
		{ 20 * 1024 * MIB, 64 * MIB + 65536, false },
		{ 20 * 1024 * MIB, 192 * MIB, true },
		{ 20 * 1024 * MIB, 19 * 1024 * MIB + 64 * MIB, true },
		{ 64 * 1024 * MIB, 63 * 1024 * MIB + 64 * MIB, true },
		{ 65 * 1024 * MIB, 192 * MIB, false },
		{ 65 * 1024 * MIB, 384 * MIB, true },
		{ 8 * 1024 * 1024 * MIB, 7 * 1024 * 1024 * MIB, true },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *name = arena_printf(w->box.arena, "xvd%zu", i);

		plug(w, name, cases[i].size);
		disk_box_poke(&w->box, name, (int64_t)cases[i].at, "x", 1);
		if (probe(w, name, true) != (cases[i].seen ? PROBE_DATA : PROBE_BLANK))
			fail_msg("case %zu: %s", i, w->p.has);
		if (cases[i].seen)
			assert_non_null(
				strstr(w->p.has, arena_printf(w->box.arena, "at byte %llu",
							      (unsigned long long)cases[i].at)));
		/* of one that is made anew with each instance this may be anything */
		if (cases[i].at != 64 * MIB && cases[i].at != 64 * MIB + 65535)
			assert_int_equal(probe(w, name, false), PROBE_BLANK);
		assert_int_equal(unlink(disk_box_file(&w->box, name)), 0);
		disk_box_forget(&w->box, name);
	}
}

/* xorshift: the same layouts each time */
static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* As nodeup/volumes/README.md has it. */
static bool is_looked_at(uint64_t at, uint64_t size, bool persist)
{
	const uint64_t spot = 65536;

	if (at < 16 * MIB || at + 16 * MIB >= size)
		return true;
	for (uint64_t from = 8 * MIB; from <= at; from *= 2)
		if (at - from < spot)
			return true;
	for (uint64_t n = 2; n <= 192 && size / n >= 16 * MIB; n++) {
		const uint64_t from = size / n / 4096 * 4096;
		const bool usual = n == 4 || n == 8 || n == 16 || n == 32;

		if (at + (usual ? MIB : 0) >= from && at < from + spot + (usual ? 2 * MIB : 0))
			return true;
	}
	return persist && at % (64 * MIB) < spot && at - at % (64 * MIB) + spot <= size;
}

/* Somewhere, mostly near the ends; a byte or a signature. Whether it must be seen. */
static bool scribble(struct world *w, const char *name, uint64_t size, bool persist, uint64_t *seed)
{
	const size_t which = next(seed) % (2 * ARRAY_LEN(signatures));
	uint64_t at = next(seed) % size;

	if (which < ARRAY_LEN(signatures) && size > 160 * MIB) {
		disk_box_poke(&w->box, name, signatures[which].at, signatures[which].bytes,
			      signatures[which].n);
		return true;
	}
	if (next(seed) % 3 == 0)
		at = next(seed) % 2 ? at % (64 * 1024) : size - 1 - at % (64 * 1024);
	disk_box_poke(&w->box, name, (int64_t)at, "\x80", 1);
	return is_looked_at(at, size, persist);
}

/* Plugs in a disk of the layout and scribbles on it. Returns whether that must be seen. */
static bool plug_any(struct world *w, const char *name, const char *model, uint64_t size,
		     uint64_t *seed)
{
	/* the instance store never outlives its instance */
	const bool persist = strcmp(model, DISK_MODEL_STORE) != 0 && next(seed) % 4 == 0;
	bool seen = false;

	disk_box_add(&w->box, &(struct box_disk){ .name = name,
						  .model = model,
						  .serial = arena_printf(w->box.arena, "A%s", name),
						  .size = size });
	for (uint64_t k = next(seed) % 3; k > 0; k--)
		seen |= scribble(w, name, size, persist, seed);
	if (probe(w, name, persist) != (seen ? PROBE_DATA : PROBE_BLANK))
		fail_msg("%s, %llu bytes: %s", name, (unsigned long long)size, w->p.has);
	return seen;
}

/* The setting instanceStorePolicy formats the disks of the instance store, all of them, and only if all are blank. */
static bool is_formatted(struct world *w, size_t stores)
{
	struct arena *a = w->box.arena;
	const struct node_volume v =
		storage_on_store(a, instance_store_name, "ext4", -1, false, (struct tree_pos){ 0 });
	const struct volume_req req = volume_req_of(a, &v, "0b1e5c53-1f83", "i-0a1b");
	const struct disk_want want = { .by = DISK_BY_STORE, .nth = -1 };
	const char *missing;
	struct disks found;
	struct judged j;
	struct err e;
	int r = disk_find(&w->box.host, a, &want, &found, &missing, &e);

	assert_int_equal(r, stores ? 0 : -ENODEV);
	if (stores == 0)
		return false;
	assert_int_equal(found.n, stores);
	for (size_t i = 0; i < found.n; i++)
		assert_int_equal(found.v[i].kind, DISK_INSTANCE_STORE);
	r = judge_disks(&w->box.host, a, &req, &found, &j, &e);
	if (r == 0)
		assert_int_equal(j.verdict, VERDICT_FORMAT);
	return r == 0;
}

/* The long check has LAYOUTS=1000. */
static void any_layout_is_judged_by_each_of_its_bytes(void **state)
{
	const int n_layouts = (int)repeats("LAYOUTS", 200);
	static const char *const models[] = { DISK_MODEL_STORE, "Amazon Elastic Block Store", "" };
	static const char *const names[] = { "nvme0n1", "nvme1n1", "nvme2n1" };
	struct world *w = *state;
	uint64_t seed = 0x9e3779b97f4a7c15;
	int blank = 0, formatted = 0;

	for (int i = 0; i < n_layouts; i++) {
		const uint64_t size =
			i % 16 ? (i % 8 ? 128 * 1024 : 16 * MIB) +
					 next(&seed) % (6 * MIB) / 512 * 512
			       : 160 * MIB + next(&seed) % (160 * MIB) / 512 * 512 + 512;
		const size_t n = 1 + next(&seed) % ARRAY_LEN(names);
		bool spoilt = size < 16 * MIB; /* too small for ext4 */
		size_t stores = 0;

		for (size_t k = 0; k < n; k++) {
			const size_t kind = next(&seed) % ARRAY_LEN(models);
			const bool seen = plug_any(w, names[k], models[kind], size, &seed);

			blank += k == 0 && !seen;
			stores += kind == 0;
			spoilt |= kind == 0 && seen;
		}
		if (is_formatted(w, stores) != (stores && !spoilt))
			fail_msg("layout %d", i);
		formatted += stores && !spoilt;
		for (size_t k = 0; k < n; k++)
			disk_box_remove(&w->box, names[k]);
	}
	/* the dice were not loaded */
	assert_in_range(blank, n_layouts / 5, n_layouts * 4 / 5);
	assert_in_range(formatted, n_layouts / 100, n_layouts / 20);
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_signature_is_data),
		T(real_file_systems_are_named),
		T(a_damaged_superblock_is_data),
		T(an_xfs_that_is_being_made_is_incomplete),
		T(partitions_the_kernel_knows_are_data),
		T(an_error_anywhere_is_unreadable),
		T(a_device_shorter_than_it_says_is_unreadable),
		T(a_device_that_went_away_is_unreadable),
		T(both_ends_are_zeros_whatever_the_volume),
		T(volumes_that_persist_are_looked_at_all_over),
		T(small_disks_are_read_whole),
		T(any_layout_is_judged_by_each_of_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
