#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/proc.h"
#include "nodeup/volumes/extfs.h"
#include "tests/unit/lib/disk_box.h"

#define MIB ((uint64_t)1 << 20)

struct world {
	struct disk_box box;
	const char *file;
	const char *why;
};

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	disk_box_new(&w->box);
	/* in memory: hundreds are made */
	w->file = arena_printf(w->box.arena, "/dev/shm/%s", strrchr(w->box.root.path, '/') + 1);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	(void)unlink(w->file);
	disk_box_done(&w->box);
	free(w);
	return 0;
}

static void run(struct world *w, const char *command)
{
	const char *const argv[] = { "sh", "-ec", command, NULL };
	struct proc_req req = { .argv = argv, .stdin_fd = -1 };
	struct err e = { 0 };

	if (proc_run(&req, NULL, &e) < 0)
		fail_msg("%s: %s", command, e.msg);
	(void)w;
}

/* A file of that size, on which mkfs ran with these arguments. */
static void make(struct world *w, uint64_t size, const char *kind, const char *args)
{
	run(w, arena_printf(w->box.arena,
			    "rm -f %s; truncate -s %llu %s; mkfs.%s -q -F %s %s 2>/dev/null",
			    w->file, (unsigned long long)size, w->file, kind, args, w->file));
}

/* As a tool of e2fsprogs changes it; one command a line. */
static void change(struct world *w, const char *commands)
{
	run(w,
	    arena_printf(w->box.arena, "printf '%%b' '%s\\n' | debugfs -w -f - %s >/dev/null 2>&1",
			 commands, w->file));
}

static int look(struct world *w, bool mounted)
{
	autoclose int fd = open(w->file, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return extfs_new(&w->box.host, fd, (uint64_t)lseek(fd, 0, SEEK_END), mounted, &w->why);
}

static void must_be_new(struct world *w, const char *what)
{
	if (look(w, false) != 0 || look(w, true) != 0)
		fail_msg("%s: %s", what, w->why ? w->why : "unreadable");
}

static void must_be_refused(struct world *w, const char *what, const char *why)
{
	const int r = look(w, false);

	if (r != 1 || !strstr(w->why, why))
		fail_msg("%s: %d, %s", what, r, w->why ? w->why : "");
}

/* Sizes at which mkfs chooses otherwise: its blocks, its journal, a last group that it leaves out. */
static void what_mkfs_makes_is_new(void **state)
{
	static const char *const args[] = {
		"",
		"-b 1024",
		"-b 2048",
		"-b 4096",
		"-I 128",
		"-i 65536",
		"-m 0 -q",
		"-O ^resize_inode",
		"-O ^sparse_super,^resize_inode",
		"-T largefile",
		"-J size=4",
	};
	static const uint64_t sizes[] = {
		16 * MIB,         40 * MIB,          64 * MIB,         100 * MIB + 1536,
		129 * MIB,        131 * MIB + 65536, 257 * MIB + 4096, 512 * MIB,
		600 * MIB,        1200 * MIB,        1025 * MIB,       4096 * MIB - 1024,
		4100 * MIB + 512, 9000 * MIB,
	};
	static const char *const kinds[] = { "ext3", "ext4" };
	struct world *w = *state;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			/* tables of inodes are zeros that take their time */
			make(w, sizes[i], kinds[k], sizes[i] > 1200 * MIB ? "-i 1048576" : "");
			must_be_new(w, arena_printf(w->box.arena, "%s %zu", kinds[k], i));
		}
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		for (size_t i = 0; i < ARRAY_LEN(args); i++) {
			make(w, 300 * MIB, kinds[k], args[i]);
			must_be_new(w, args[i]);
		}
}

/* A store as the instances had that came with such file systems. */
static void a_large_one_is_new(void **state)
{
	struct world *w = *state;

	make(w, 420000 * MIB, "ext3", "-T largefile4");
	must_be_new(w, "420 GB");
}

static void other_choices_of_mkfs_are_refused(void **state)
{
	static const struct {
		const char *kind, *args, *why;
	} rows[] = {
		{ "ext2", "", "no journal" },
		{ "ext4", "-O ^has_journal", "no journal" },
		{ "ext3", "-L data", "a label" },
		{ "ext4", "-O bigalloc", "features" },
		{ "ext4", "-O quota", "features" },
		{ "ext4", "-O encrypt", "features" },
		{ "ext4", "-O casefold", "features" },
		{ "ext4", "-O inline_data", "features" },
		{ "ext4", "-O mmp", "features" },
		{ "ext4", "-O verity", "features" },
		{ "ext4", "-O meta_bg,^resize_inode", "features" },
		{ "ext4", "-O sparse_super2,^resize_inode", "features" },
		{ "ext3", "-g 4096 -b 4096", "its groups" },
		{ "ext3", "-E resize=10G", "resized" },
		{ "ext3", "-b 4096 FILE 40000", "size of its device" },
		{ "ext3", "-b 4096 FILE 76799", "size of its device" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *file = strstr(rows[i].args, "FILE ");

		if (!file) {
			make(w, 300 * MIB, rows[i].kind, rows[i].args);
		} else {
			run(w, arena_printf(
				       w->box.arena,
				       "rm -f %s; truncate -s 300M %s; mkfs.%s -q -F -b 4096 %s %s",
				       w->file, w->file, rows[i].kind, w->file, file + 5));
		}
		must_be_refused(w, rows[i].args, rows[i].why);
	}
}

/* One change to a new one, by the tools of e2fsprogs. */
static void what_was_used_is_refused(void **state)
{
	static const struct {
		const char *kind, *commands, *why;
	} rows[] = {
		{ "ext3", "mkdir /a", "its count of free inodes" },
		{ "ext4", "mkdir /a", "its count of free inodes" },
		{ "ext3", "write /etc/passwd a", "" },
		{ "ext3", "write /etc/passwd lost+found/a", "" },
		{ "ext4", "mknod p p", "" },
		{ "ext3", "symlink a /etc/passwd", "" },
		/* what is deleted and still counted */
		{ "ext3", "write /etc/passwd a\nunlink a", "" },
		{ "ext3", "ln lost+found b", "" },
		{ "ext3", "unlink lost+found", "" },
		{ "ext3", "unlink lost+found\nln <11> other", "something beside lost+found" },
		{ "ext3", "setb 40000", "bitmaps" },
		{ "ext4", "setb 70000", "bitmaps" },
		{ "ext3", "seti <12>", "inodes in use" },
		{ "ext3", "seti <40000>", "inodes in use" },
		{ "ext3", "clri <11>", "lost+found" },
		{ "ext3", "ssv free_blocks_count 60000", "its counts of free" },
		{ "ext3", "ssv free_inodes_count 76788", "its counts of free" },
		{ "ext3", "set_bg 1 free_blocks_count 100", "" },
		{ "ext3", "set_bg 1 free_inodes_count 100", "" },
		{ "ext3", "set_bg 0 used_dirs_count 3", "" },
		{ "ext3", "ssv volume_name x", "a label" },
		{ "ext3", "ssv state 0", "not unmounted, or had errors" },
		{ "ext3", "ssv state 3", "had errors" },
		{ "ext3", "ssv error_count 1", "had errors" },
		{ "ext3", "ssv last_orphan 12", "had errors" },
		{ "ext3", "ssv feature_incompat 6", "is to be replayed" },
		{ "ext4", "feature needs_recovery", "is to be replayed" },
		{ "ext3", "ssv rev_level 0", "superblock" },
		{ "ext3", "ssv creator_os 1", "superblock" },
		{ "ext3", "ssv first_ino 20", "its inodes" },
		{ "ext3", "ssv journal_inum 0", "no journal" },
		{ "ext3", "ssv blocks_count 70000", "" },
		{ "ext3", "ssv inodes_per_group 100", "its inodes" },
		{ "ext3", "ssv blocks_per_group 1024", "its groups" },
		{ "ext3", "ssv reserved_gdt_blocks 10", "resized" },
		{ "ext3", "sif <9> size 4096", "reserved inodes" },
		{ "ext3", "sif <1> blocks 8", "reserved inodes" },
		{ "ext3", "sif <7> blocks 8", "reserved inodes" },
		{ "ext3", "sif <8> blocks 8", "" },
		{ "ext3", "sif <2> links_count 4", "its root" },
		{ "ext3", "sif <2> flags 0x10", "its root" },
		{ "ext3", "sif <11> file_acl 5000", "lost+found" },
		{ "ext3", "sif <11> size 1000000", "lost+found" },
		{ "ext4", "sif <11> mode 0100644", "lost+found" },
		/* attributes that are beside their inode, and those that are in it */
		{ "ext3", "ea_set <2> user.owner someone", "its root" },
		{ "ext4", "ea_set <2> user.owner someone", "its root" },
		{ "ext4", "ea_set <11> security.x y", "lost+found" },
		{ "ext4", "sif <2> extra_isize 2000", "its root" },
		/* without checksums of the groups the kernel reads each bitmap, whatever a group says of its own */
		{ "ext3", "seti <40000>\nset_bg 1 flags 1", "inodes in use" },
		{ "ext3", "setb 40000\nset_bg 1 flags 2", "bitmaps" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		make(w, 300 * MIB, rows[i].kind, "-b 4096");
		must_be_new(w, "before");
		change(w, rows[i].commands);
		must_be_refused(w, rows[i].commands, rows[i].why);
	}
}

/* A block more is in use, all counts agree on that, and no inode has it. */
static void blocks_that_are_nobodys_are_refused(void **state)
{
	/* of the second group's descriptor, and of the superblock */
	static const off_t counts[] = { 4096 + 32 + 12, 1024 + 12 };
	struct world *w = *state;
	autoclose int fd = -1;

	make(w, 300 * MIB, "ext3", "-b 4096");
	change(w, "setb 40000");
	fd = open(w->file, O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		uint16_t n;

		assert_int_equal(pread(fd, &n, sizeof(n), counts[i]), sizeof(n));
		n--;
		assert_int_equal(pwrite(fd, &n, sizeof(n), counts[i]), sizeof(n));
	}
	must_be_refused(w, "setb", "its count of free blocks is not that of mkfs");
}

/* It has room for others than mkfs leaves. */
static void one_that_grew_is_refused(void **state)
{
	struct world *w = *state;

	make(w, 300 * MIB, "ext3", "-b 4096");
	run(w,
	    arena_printf(
		    w->box.arena,
		    "truncate -s 600M %s; e2fsck -fp %s >/dev/null; resize2fs %s 2>/dev/null >&2",
		    w->file, w->file, w->file));
	must_be_refused(w, "resize2fs", "resized");
}

/* Bytes of the tail that mkfs leaves out, as an md array has its superblock there, and of the head. */
static void data_around_it_is_refused(void **state)
{
	static const uint64_t places[] = { 510, 300 * MIB + 3000 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		make(w, 300 * MIB + 3072, "ext3", "-b 4096");
		must_be_new(w, "before");
		run(w, arena_printf(w->box.arena,
				    "printf x | dd of=%s bs=1 seek=%llu conv=notrunc 2>/dev/null",
				    w->file, (unsigned long long)places[i]));
		must_be_refused(w, "around", "behind its end");
	}
}

/* Whatever part of what is read cannot be read. */
static void what_cannot_be_read_is_no_proof(void **state)
{
	static const uint64_t blocks[] = { 0, 1, 20, 21, 22 };
	struct world *w = *state;

	make(w, 300 * MIB, "ext3", "-b 4096");
	must_be_new(w, "before");
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		w->box.bad_from = blocks[i] * 4096 + (i == 0 ? 1024 : 0);
		w->box.bad_to = w->box.bad_from + 1;
		assert_int_equal(look(w, false), -EIO);
	}
}

/* A damaged one may say anything, of any place: it is not followed out of the device, and ends. */
static void no_damage_makes_a_used_one_new(void **state)
{
	struct world *w = *state;
	autoclose int fd = -1;
	unsigned char was[4];

	make(w, 64 * MIB, "ext4", "-b 1024");
	change(w, "write /etc/passwd a");
	fd = open(w->file, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	for (off_t at = 1024; at < 5 * 1024; at += 2) {
		for (int k = 0; k < 3; k++) {
			static const char damage[][2] = { { 0, 0 }, { -1, -1 }, { 1, 127 } };

			assert_int_equal(pread(fd, was, 2, at), 2);
			assert_int_equal(pwrite(fd, damage[k], 2, at), 2);
			assert_true(look(w, false) != 0);
			assert_true(look(w, true) != 0);
			assert_int_equal(pwrite(fd, was, 2, at), 2);
		}
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_new, world_done)
	const struct CMUnitTest tests[] = {
		T(what_mkfs_makes_is_new),
		T(a_large_one_is_new),
		T(other_choices_of_mkfs_are_refused),
		T(what_was_used_is_refused),
		T(blocks_that_are_nobodys_are_refused),
		T(one_that_grew_is_refused),
		T(data_around_it_is_refused),
		T(what_cannot_be_read_is_no_proof),
		T(no_damage_makes_a_used_one_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
