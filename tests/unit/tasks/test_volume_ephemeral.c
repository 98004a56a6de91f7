#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/proc.h"
#include "nodeup/volumes/disk_record.h"
#include "nodeup/volumes/disk_format.h"
#include "tests/unit/lib/volume_world.h"

#define LINE "/dev/xvdb\t/mnt\tauto\tdefaults,nofail,comment=cloudconfig\t0\t2\n"
#define ROOT_LINE "UUID=1234 / ext4 rw,discard 0 1\n"
#define SELF "/proc/self/mountinfo"
#define ROOT_MOUNT "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
#define AT_MNT "30 22 259:0 / /mnt rw - ext3 /dev/xvdb rw\n"
#define TABLE ROOT_MOUNT AT_MNT

static void make(struct world *w, const char *name, const char *kind, const char *args)
{
	const char *command = arena_printf(w->box.arena, "mkfs.%s -q -F %s %s 2>/dev/null", kind,
					   args, disk_box_file(&w->box, name));
	const char *const argv[] = { "sh", "-ec", command, NULL };
	struct proc_req req = { .argv = argv, .stdin_fd = -1 };

	if (proc_run(&req, NULL, &w->e) < 0)
		fail_msg("%s: %s", command, w->e.msg);
}

/* As the oldest instances come: xvdb is ephemeral0, with a file system, and cloud-init has written its line. */
static void plug_ephemeral(struct world *w)
{
	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdb", .size = 64 * MIB });
	strmap_set(w->box.arena, &w->box.host.mapping, "ami", "sda1");
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral0", "sdb");
	w->box.host.instance_type = "m3.medium";
	make(w, "xvdb", "ext3", "");
	scratch_write(&w->box.root, "/etc/fstab", ROOT_LINE LINE "# end\n");
	scratch_write(&w->box.root, SELF, ROOT_MOUNT);
}

static const char *fstab(struct world *w)
{
	const char *text = io_text(w->box.arena, w->box.root.fd, "/etc/fstab", 4096);

	return text ? text : "";
}

static void what_ec2_made_is_blank(void **state)
{
	struct world *w = *state;

	plug_ephemeral(w);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(
		w->diff.why,
		"xvdb (instance store, 64 MiB) is as EC2 made it, and empty: mkfs.ext4");
	assert_string_equal(fstab(w), ROOT_LINE LINE "# end\n");
	apply_well(w);
	assert_string_equal(fstab(w), ROOT_LINE "# end\n");
	assert_int_equal(check(w), TASK_EQUAL);
}

static void every_kind_is_made_of_it(void **state)
{
	static const char *const kinds[] = { "xfs", "btrfs", "swap" };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		disk_box_add(&w->box,
			     &(struct box_disk){ .name = "nvme1n1",
						 .model = DISK_MODEL_STORE,
						 .serial = arena_printf(w->box.arena, "A%zu", i),
						 .size = 320 * MIB });
		make(w, "nvme1n1", "ext4", "");
		w->want.filesystem = kinds[i];
		apply_well(w);
		assert_int_equal(check(w), TASK_EQUAL);
		disk_box_remove(&w->box, "nvme1n1");
		assert_int_equal(disk_record_remove(w->box.root.fd, "/data", &w->e), 0);
	}
}

/* A process as /proc shows it, that uses nothing. */
static void process(struct world *w, const char *table)
{
	const char *root = w->box.root.path;
	struct arena *a = w->box.arena;

	scratch_write(&w->box.root, "/proc/7/comm", "shim\n");
	scratch_write(&w->box.root, "/proc/7/maps", "");
	scratch_write(&w->box.root, "/proc/7/mountinfo", table);
	scratch_write(&w->box.root, "/proc/7/ns/x", "");
	assert_int_equal(io_mkdirs(w->box.root.fd, "/proc/7/fd", 0755, &w->e), 0);
	assert_int_equal(io_mkdirs(w->box.root.fd, "/proc/7/map_files", 0755, &w->e), 0);
	assert_int_equal(symlink("mnt:[1]", arena_printf(a, "%s/proc/7/ns/mnt", root)), 0);
	assert_int_equal(symlink("/", arena_printf(a, "%s/proc/7/cwd", root)), 0);
}

static void write_file(struct world *w, const char *path, const char *text)
{
	scratch_write(&w->box.root, path, text);
}

static void is_mounted(struct world *w, const char *arg)
{
	write_file(w, SELF, arena_printf(w->box.arena, ROOT_MOUNT "%s", arg));
}

static void fstab_is(struct world *w, const char *arg)
{
	write_file(w, "/etc/fstab", arg);
}

static void is_mounted_without_line(struct world *w, const char *arg)
{
	is_mounted(w, AT_MNT);
	fstab_is(w, arg);
}

static void other_namespace(struct world *w, const char *arg)
{
	is_mounted(w, AT_MNT);
	process(w, arg);
}

static void unseen(struct world *w, const char *arg)
{
	other_namespace(w, TABLE);
	assert_int_equal(rmdir(arena_printf(w->box.arena, "%s%s", w->box.root.path, arg)), 0);
}

static void cwd(struct world *w, const char *arg)
{
	const char *at = arena_printf(w->box.arena, "%s/proc/7/cwd", w->box.root.path);

	is_mounted(w, AT_MNT);
	process(w, TABLE);
	assert_int_equal(unlink(at), 0);
	assert_int_equal(symlink(arg, at), 0);
}

static void mapped_as(struct world *w, const char *arg)
{
	w->box.host.mapping = (struct strmap){ 0 };
	if (*arg)
		strmap_set(w->box.arena, &w->box.host.mapping, arg, "sdb");
	w->want.disks = NODE_DISKS_PATHS;
	strv_add(w->box.arena, &w->want.devices, "/dev/xvdb");
}

static void also_ebs(struct world *w, const char *arg)
{
	strmap_set(w->box.arena, &w->box.host.mapping, arg, "/dev/sdb");
}

static void is_type(struct world *w, const char *arg)
{
	w->box.host.instance_type = arg;
}

/* The kernel has two disks of that name. */
static void twin(struct world *w, const char *arg)
{
	disk_box_add(&w->box, &(struct box_disk){ .name = arg, .size = 64 * MIB });
	make(w, arg, "ext3", "");
}

static void volume_has_the_name(struct world *w, const char *arg)
{
	disk_box_add(&w->box, &(struct box_disk){ .name = "nvme1n1",
						  .model = "Amazon Elastic Block Store",
						  .serial = "vol0abc",
						  .ec2_name = arg });
}

/* As a disk is on a kernel that counts none. */
static void has_no_number(struct world *w, const char *arg)
{
	write_file(w, "/sys/block/xvdb/diskseq", arg);
}

/* No disk that the hypervisor has put there itself. */
static void has_model(struct world *w, const char *arg)
{
	mapped_as(w, "ephemeral0");
	write_file(w, "/sys/block/xvdb/device/model", arg);
}

static void made_as(struct world *w, const char *arg)
{
	const char *blank = strchr(arg, ' ');

	make(w, "xvdb", arena_strn(w->box.arena, arg, (size_t)(blank - arg)), blank);
}

static void swap_is(struct world *w, const char *arg)
{
	write_file(w, "/proc/swaps", arena_printf(w->box.arena, "Filename\n%s\n", arg));
}

static void loop_over(struct world *w, const char *arg)
{
	is_mounted(w, AT_MNT);
	write_file(w, "/sys/block/loop0/loop/backing_file", arg);
}

static void record(struct world *w, const char *arg)
{
	struct disk_record rec = {
		.done = true, .machine = "i-other", .fs = "ext4", .uuid = "1-2-3", .label = ""
	};
	struct disks all;

	assert_int_equal(disk_list(&w->box.host, w->box.arena, &all, &w->e), 0);
	strv_add(w->box.arena, &rec.disks, disk_identity(w->box.arena, &w->box.host, &all.v[0]));
	assert_int_equal(disk_record_set(w->box.root.fd, arg, &rec, &w->e), 0);
}

static void record_file(struct world *w, const char *arg)
{
	write_file(w, arg, "state form");
}

static void unreadable(struct world *w, const char *arg)
{
	w->box.bad_from = strtoull(arg, NULL, 10);
	w->box.bad_to = w->box.bad_from + 1;
}

static void persists(struct world *w, const char *arg)
{
	(void)arg;
	w->want.persist = true;
}

static const struct {
	void (*change)(struct world *w, const char *arg);
	const char *arg, *why;
} near_misses[] = {
	/* whose disk it is */
	{ mapped_as, "ebs1", "nothing says that it is of the instance store" },
	{ mapped_as, "", "nothing says that it is of the instance store" },
	{ also_ebs, "ebs1", "nothing says that it is of the instance store" },
	{ also_ebs, "root", "nothing says that it is of the instance store" },
	{ is_type, NULL, "nothing says that instances of this type have that disk" },
	{ is_type, "t2.medium", "nothing says that instances of this type have" },
	{ is_type, "m3", "nothing says that instances of this type have that disk" },
	{ is_type, "m3.medium2", "nothing says that instances of this type have" },
	{ mapped_as, "ephemeral1", "nothing says that instances of this type have" },
	{ mapped_as, "ephemeral", "nothing says that instances of this type have" },
	{ mapped_as, "ephemeral00", "nothing says that instances of this type have" },
	{ mapped_as, "ephemeral0", "" },
	{ twin, "sdb", "another disk has its name" },
	{ volume_has_the_name, "sdb", "another disk has its name" },
	{ volume_has_the_name, "sdf", "" },
	{ record, "/data", "a record in /var/lib/nodeup/volumes" },
	{ record, "/other", "a record in /var/lib/nodeup/volumes" },
	{ record_file, "/var/lib/nodeup/volumes/other", "a record in" },
	{ record_file, "/var/lib/nodeup/volumes/.nodeup-4711", "" },
	{ persists, "", "is to outlive the instance" },
	{ has_model, "LIO-ORG lun\n", "nothing says that it is of the instance store" },
	{ has_no_number, "0\n", "" },
	/* what is on it */
	{ made_as, "ext3 -L scratch", "it has a label" },
	{ made_as, "ext2 -m 0", "EC2 makes no such file system" },
	{ made_as, "ext4 -O bigalloc", "features that nodeup does not know" },
	{ made_as, "ext3 -d /etc/apt", "its count of free inodes" },
	{ unreadable, "1024", "it cannot be read" },
	{ unreadable, "2048", "it cannot be read" },
	/* where it is mounted */
	{ is_mounted, "30 22 259:0 / /data2 rw - ext3 /dev/xvdb rw\n", "mounted at /data2" },
	{ is_mounted, "30 22 259:0 / /mnt/a rw - ext3 /dev/xvdb rw\n", "mounted at /mnt/a" },
	{ is_mounted, AT_MNT "31 22 259:0 / /srv rw - ext3 /dev/xvdb rw\n",
	  "mounted at /mnt, /srv" },
	{ is_mounted, AT_MNT "31 22 259:0 /lost+found /srv rw - ext3 /dev/xvdb rw\n",
	  "mounted at /mnt, /srv" },
	{ is_mounted, AT_MNT AT_MNT, "mounted at /mnt, /mnt" },
	{ is_mounted, "30 22 259:0 /lost+found /mnt rw - ext3 /dev/xvdb rw\n", "mounted at /mnt" },
	{ is_mounted_without_line, ROOT_LINE, "no line of cloud-init's" },
	{ is_mounted_without_line, "", "no line of cloud-init's" },
	/* what fstab says of it */
	{ fstab_is, "/dev/xvdb /mnt auto defaults,nofail 0 2\n", "not cloud-init's" },
	{ fstab_is, "/dev/sdb /scratch ext3 noauto 0 0\n" LINE, "not cloud-init's" },
	{ fstab_is, "/dev/xvdb /mnt auto comment=cloudconfigs 0 2\n", "not cloud-init's" },
	{ fstab_is, "/dev/xvdb /data auto comment=cloudconfig 0 2\n", "at another place" },
	{ fstab_is, LINE LINE, "at another place" },
	/* what uses it */
	{ swap_is, "/dev/xvdb", "swap space in use" },
	{ loop_over, "/mnt/file", "is the disk /dev/loop0" },
	{ loop_over, "/gone/file", "is the disk /dev/loop0" },
	{ loop_over, "/etc/fstab", "is the disk /dev/loop0" },
	{ unseen, "/proc/7/map_files", "what process 7 has open cannot be seen" },
	{ cwd, "/mnt", "as its working directory" },
	{ cwd, "/mnt/lost+found", "as its working directory" },
	{ other_namespace, TABLE, "" },
	{ other_namespace, ROOT_MOUNT "41 40 259:0 / /host/mnt rw - ext3 /dev/xvdb rw\n",
	  "mounted" },
	{ other_namespace, ROOT_MOUNT "41 40 259:0 / /mnt rw - ext3 /dev/xvdb rw\n", "mounted" },
};

static void near_misses_are_data(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(near_misses); i++) {
		const char *lines;
		struct world *w;
		void *new;

		volume_world_new(&new);
		w = new;
		plug_ephemeral(w);
		assert_int_equal(check(w), TASK_DIFFERS);
		near_misses[i].change(w, near_misses[i].arg);
		lines = fstab(w);
		if (near_misses[i].why && !*near_misses[i].why) {
			/* no near miss: what shows only that the change before it is not what is refused */
			if (check(w) != TASK_DIFFERS)
				fail_msg("%s: %s", w->e.msg, note(w, "ruled out"));
		} else {
			assert_left_alone(w, "xvdb", near_misses[i].why ? ERR_REFUSED : ERR_SYSTEM,
					  "nothing was written");
			if (near_misses[i].why && !strstr(note(w, "ruled out"), near_misses[i].why))
				fail_msg("%zu: %s", i, note(w, "ruled out"));
			assert_string_equal(fstab(w), lines);
		}
		volume_world_done(&new);
	}
}

static void holders_and_partitions_are_in_use(void **state)
{
	struct world *w = *state;

	plug_ephemeral(w);
	scratch_write(&w->box.root, "/sys/block/xvdb/holders/md0/x", "");
	assert_left_alone(w, "xvdb", ERR_REFUSED, "not blank");
	assert_string_equal(strrchr(note(w, "ruled out"), ':'), ": in use by md0");
}

/* The refusal of what looks like it says what could be done; of others it says nothing of the kind. */
static void the_hint(void **state)
{
	struct world *w = *state;

	plug_ephemeral(w);
	make(w, "xvdb", "ext3", "-L x");
	assert_left_alone(w, "xvdb", ERR_REFUSED, "not blank");
	assert_string_equal(note(w, "next"), "if nothing on it is yours: umount /mnt, remove its "
					     "line of /etc/fstab, wipefs -a /dev/xvdb");
	disk_box_poke(&w->box, "xvdb", 0, (const char[4096]){ 0 }, 4096);
	assert_left_alone(w, "xvdb", ERR_REFUSED, "not blank");
	assert_string_equal(note(w, "next"), "");
}

/* A LUN may be called as the instance store is, and comes before it. */
static void a_lun_of_that_name_is_left_alone(void **state)
{
	struct world *w = *state;
	struct timespec made;

	plug_ephemeral(w);
	disk_box_add(&w->box,
		     &(struct box_disk){ .name = "sdb", .model = "LIO-ORG lun", .size = 64 * MIB });
	made = touched(w, "sdb");
	apply_well(w);
	assert_untouched(w, "sdb", made);
	assert_string_equal(fstab(w), ROOT_LINE "# end\n");
}

/* A run that cannot write fstab: a file that is a mount point is not replaced. */
static void apply_without_fstab(struct world *w)
{
	const char *lines = arena_printf(w->box.arena, "%s/etc/fstab", w->box.root.path);
	struct timespec before = touched(w, "xvdb");

	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount(lines, lines, NULL, MS_BIND, NULL), 0);
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_untouched(w, "xvdb", before);
	assert_int_equal(umount2(lines, MNT_DETACH), 0);
}

/* A record that a run began would excuse whatever is on the disk later. */
static void what_was_not_begun_has_no_record(void **state)
{
	struct world *w = *state;
	struct disk_record rec;

	plug_ephemeral(w);
	apply_without_fstab(w);
	assert_false(disk_record_get(w->box.root.fd, w->box.arena, "/data", &rec));
	disk_box_poke(&w->box, "xvdb", 0, "somebody's", 10);
	disk_box_poke(&w->box, "xvdb", 1024, (const char[4096]){ "no superblock" }, 4096);
	assert_left_alone(w, "xvdb", ERR_REFUSED, "not blank");
}

/* As a run records it that begins. */
static void begin(struct world *w, const char *machine, bool done)
{
	struct volume_req req = volume_req_of(w->box.arena, &w->want, w->task.volume.uuid, machine);
	struct disks all;

	assert_int_equal(disk_list(&w->box.host, w->box.arena, &all, &w->e), 0);
	assert_int_equal(disk_format_record(&w->box.host, w->box.arena, &req, &all, req.mkfs.uuid,
					    done, &w->e),
			 0);
}

/* And what it takes then: the magic number of the superblock. */
static void take(struct world *w, const char *name)
{
	disk_box_poke(&w->box, name, 1080, (const char[2]){ 0 }, 2);
}

static void boot_again(struct world *w)
{
	write_file(w, "/proc/sys/kernel/random/boot_id", "boot-2\n");
}

/* Another disk takes the number of the one that was looked at, at the n-th reading of it. */
static struct {
	struct world *w;
	int reads, when;
	const char *attr, *text;
} change_at;

static ssize_t read_and_change(void *arg, int fd, void *data, size_t n, off_t at)
{
	(void)arg;
	if (++change_at.reads == change_at.when)
		write_file(change_at.w, change_at.attr, change_at.text);
	return pread(fd, data, n, at);
}

static void another_disk_of_that_number_is_left(void **state)
{
	static const char *const attrs[][2] = {
		{ "/sys/block/xvdb/diskseq", "999\n" },
		{ "/sys/block/xvdb/device/serial", "other\n" },
		{ "/sys/block/xvdb/size", "8192\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(attrs); i++)
		/* before it is locked, and before it is held */
		for (int looks = 0; looks < 2; looks++) {
			struct timespec before;
			struct world *w;
			void *new;

			volume_world_new(&new);
			w = new;
			plug_ephemeral(w);
			change_at.w = w;
			change_at.reads = change_at.when = 0;
			change_at.attr = attrs[i][0];
			change_at.text = attrs[i][1];
			w->box.host.pread = read_and_change;
			assert_int_equal(check(w), TASK_DIFFERS);
			change_at.when = change_at.reads * looks + 1;
			change_at.reads = 0;
			before = touched(w, "xvdb");
			assert_true(apply(w) < 0);
			assert_non_null(strstr(w->e.msg, "went away"));
			assert_untouched(w, "xvdb", before);
			assert_string_equal(fstab(w), ROOT_LINE LINE "# end\n");
			volume_world_done(&new);
		}
}

/* Killed after the record was written, and after the superblock went. */
static void killed_anywhere_it_goes_on(void **state)
{
	struct world *w = *state;

	plug_ephemeral(w);
	begin(w, MACHINE, false);
	assert_int_equal(check(w), TASK_DIFFERS);
	/* but it is looked at as closely as before */
	is_mounted(w, "30 22 259:0 / /data2 rw - ext3 /dev/xvdb rw\n");
	assert_left_alone(w, "xvdb", ERR_REFUSED, "not blank");
	is_mounted(w, "");
	disk_box_poke(&w->box, "xvdb", 0, (const char[4096]){ 0 }, 4096);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* And the machine boots again, or its kernel does not number disks: nothing tells that it is the disk of before. */
static void killed_anywhere_it_goes_on_after_a_boot(void **state)
{
	struct world *w = *state;

	(void)state;
	for (int k = 0; k < 8; k++) {
		const bool nvme = k & 1, is_taken = k & 2, unnumbered = k & 4;
		const char *name = nvme ? "nvme1n1" : "xvdb";
		void *new;

		volume_world_new(&new);
		w = new;
		if (nvme) {
			plug_sized(w, name, 64 * MIB);
			make(w, name, "ext4", "");
			scratch_write(&w->box.root, SELF, ROOT_MOUNT);
		} else {
			plug_ephemeral(w);
		}
		if (unnumbered)
			write_file(w, arena_printf(w->box.arena, "/sys/block/%s/diskseq", name),
				   "0\n");
		begin(w, MACHINE, false);
		if (is_taken)
			take(w, name);
		boot_again(w);
		if (check(w) != TASK_DIFFERS)
			fail_msg("%d: %s: %s", k, w->e.msg, note(w, "ruled out"));
		if (is_taken)
			assert_non_null(strstr(w->diff.why, "was being formatted by us"));
		apply_well(w);
		assert_int_equal(check(w), TASK_EQUAL);
		volume_world_done(&new);
	}
}

/* It is looked at as closely as ever, and only where a run of this volume began on this machine. */
static void what_else_lacks_a_superblock_is_data(void **state)
{
	static const struct {
		const char *args, *machine;
		bool done;
		const char *mounts, *fstab, *why;
	} rows[] = {
		{ "", NULL, false, "", LINE, "" },
		{ "", "i-other", false, "", LINE, "" },
		{ "", MACHINE, true, "", LINE, "" },
		{ "-d /etc/apt", MACHINE, false, "", LINE, "its count of free inodes" },
		{ "-L scratch", MACHINE, false, "", LINE, "it has a label" },
		{ "-O quota", MACHINE, false, "", LINE, "features that nodeup does not know" },
		{ "", MACHINE, false, AT_MNT, LINE, "it is mounted at /mnt" },
		{ "", MACHINE, false, "", "/dev/sdb /mnt auto noauto 0 0\n", "not cloud-init's" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world *w;
		void *new;

		volume_world_new(&new);
		w = new;
		plug_ephemeral(w);
		make(w, "xvdb", "ext4", rows[i].args);
		if (rows[i].machine)
			begin(w, rows[i].machine, rows[i].done);
		boot_again(w);
		take(w, "xvdb");
		is_mounted(w, rows[i].mounts);
		fstab_is(w, rows[i].fstab);
		assert_left_alone(w, "xvdb", ERR_REFUSED, "not blank");
		if (!strstr(w->e.notes[w->e.nnotes - 2].text, rows[i].why))
			fail_msg("%zu: %s", i, w->e.notes[w->e.nnotes - 2].text);
		volume_world_done(&new);
	}
}

/* Of a disk that was begun on the record stays, whatever comes between. */
static void what_was_begun_keeps_its_record(void **state)
{
	struct world *w = *state;
	const char *path = arena_str(w->box.arena, getenv("PATH"));
	struct disk_record rec;

	plug_ephemeral(w);
	begin(w, MACHINE, false);
	take(w, "xvdb");
	boot_again(w);
	apply_without_fstab(w);
	assert_true(disk_record_get(w->box.root.fd, w->box.arena, "/data", &rec));
	put_tool(w, "mkfs.ext4", "#!/bin/sh\nexit 1\n");
	(void)setenv("PATH", arena_printf(w->box.arena, "%s/tools", w->box.root.path), 1);
	assert_true(apply(w) < 0);
	(void)setenv("PATH", path, 1);
	assert_true(disk_record_get(w->box.root.fd, w->box.arena, "/data", &rec));
	assert_false(rec.done);
	apply_well(w);
}

/* cloud-init writes its line for a blank disk as well: it would mount what we made. */
static void of_ours_the_line_alone_goes(void **state)
{
	struct world *w = *state;
	struct timespec made;

	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdb", .size = 64 * MIB });
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral0", "sdb");
	scratch_write(&w->box.root, "/etc/fstab", LINE);
	apply_well(w);
	assert_string_equal(fstab(w), "");
	made = touched(w, "xvdb");
	/* as its next boot finds it */
	scratch_write(&w->box.root, "/etc/fstab", ROOT_LINE LINE);
	scratch_write(&w->box.root, SELF, ROOT_MOUNT "30 22 259:0 / /mnt rw - ext4 /dev/xvdb rw\n");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "cloud-init's line of /etc/fstab for xvdb is to go");
	apply_well(w);
	assert_string_equal(fstab(w), ROOT_LINE);
	assert_untouched(w, "xvdb", made);
	/* whatever is mounted elsewhere, or by whom */
	assert_left_alone(w, "xvdb", ERR_REFUSED, "mounted on /mnt");
	scratch_write(&w->box.root, "/etc/fstab", ROOT_LINE LINE);
	scratch_write(&w->box.root, SELF, ROOT_MOUNT "30 22 259:0 / /srv rw - ext4 /dev/xvdb rw\n");
	assert_left_alone(w, "xvdb", ERR_REFUSED, "mounted on /srv");
	/* without its record it is not ours */
	scratch_write(&w->box.root, SELF, ROOT_MOUNT "30 22 259:0 / /mnt rw - ext4 /dev/xvdb rw\n");
	assert_int_equal(disk_record_remove(w->box.root.fd, "/data", &w->e), 0);
	assert_left_alone(w, "xvdb", ERR_REFUSED, "mounted on /mnt");
	assert_untouched(w, "xvdb", made);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, volume_world_new, volume_world_done)
	const struct CMUnitTest tests[] = {
		T(what_ec2_made_is_blank),
		T(every_kind_is_made_of_it),
		T(near_misses_are_data),
		T(holders_and_partitions_are_in_use),
		T(the_hint),
		T(a_lun_of_that_name_is_left_alone),
		T(what_was_not_begun_has_no_record),
		T(another_disk_of_that_number_is_left),
		T(killed_anywhere_it_goes_on),
		T(killed_anywhere_it_goes_on_after_a_boot),
		T(what_else_lacks_a_superblock_is_data),
		T(what_was_begun_keeps_its_record),
		T(of_ours_the_line_alone_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
