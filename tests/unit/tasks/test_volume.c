#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/volumes/disk_format.h"
#include "tests/unit/lib/volume_world.h"

#define STORE "Amazon EC2 NVMe Instance Storage"
#define EBS "Amazon Elastic Block Store"

static void four_ways(void **state)
{
	struct world *w = *state;
	struct timespec before;

	/* absent */
	plug(w, "nvme9n1");
	disk_box_remove(&w->box, "nvme9n1");
	plug_sized(w, "xvda", MIB);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "no instance store"));
	assert_int_equal(apply(w), TASK_WAIT);
	assert_non_null(strstr(w->run.waiting, "no instance store"));
	assert_non_null(strstr(w->run.waiting, "waiting up to 5 min"));

	/* blank */
	plug(w, "nvme1n1");
	before = touched(w, "nvme1n1");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why,
			    "nvme1n1 (instance store AWS-nvme1n1, 32 MiB) is blank: mkfs.ext4");
	assert_untouched(w, "nvme1n1", before);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);

	/* applied twice */
	before = touched(w, "nvme1n1");
	apply_well(w);
	assert_untouched(w, "nvme1n1", before);
	assert_int_equal(check(w), TASK_EQUAL);

	/* different */
	w->want.filesystem = "xfs";
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

static void data_is_refused_in_the_one_form(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	disk_box_poke(&w->box, "nvme1n1", 5000, "precious", 8);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED,
			  "disk nvme1n1 for /data: not blank; nothing was written");
	assert_string_equal(note(w, "is"),
			    "instance store AWS-nvme1n1, 32 MiB; asked by ig_spec.yaml:18:5");
	assert_string_equal(note(w, "has"), "unknown data at byte 5000; wanted blank");
	assert_string_equal(note(w, "do"),
			    "name the right disk, or wipe it yourself: nodeup has no --force");
	assert_int_equal(err_exit_status(&w->e), 73);
}

static void what_cannot_be_read_is_not_blank(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	w->box.bad_from = 31 * MIB;
	w->box.bad_to = 32 * MIB;
	assert_left_alone(w, "nvme1n1", ERR_SYSTEM, "it cannot be read; nothing was written");
	assert_non_null(strstr(note(w, "got"), "read error at byte"));
}

static void bad_disks_are_one_clear_line(void **state)
{
	struct world *w = *state;

	disk_box_add(&w->box, &(struct box_disk){ .name = "nvme1n1",
						  .model = STORE,
						  .serial = "A",
						  .size = 32 * MIB,
						  .read_only = true });
	assert_left_alone(w, "nvme1n1", ERR_CONFIG, "it is read-only");
	disk_box_remove(&w->box, "nvme1n1");
	plug_sized(w, "nvme2n1", 8 * MIB);
	assert_left_alone(w, "nvme2n1", ERR_CONFIG, "too small: 8 MiB, ext4 needs 16 MiB");
	w->want.filesystem = "zfs";
	assert_left_alone(w, "nvme2n1", ERR_CONFIG, "'zfs' is none of");
}

static void a_disk_in_use_is_refused(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "30 22 259:0 / /mnt rw - ext3 /dev/nvme1n1 rw\n");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "mounted on /mnt");
	scratch_write(&w->box.root, "/proc/self/mountinfo", "");
	scratch_write(&w->box.root, "/sys/block/nvme1n1/holders/dm-0/x", "");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "in use by dm-0");
}

/* mounted, as it is at each run after the first */
static void ours_in_use_is_right(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	apply_well(w);
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "30 22 259:0 / /data rw - ext4 /dev/nvme1n1 rw\n");
	assert_int_equal(check(w), TASK_EQUAL);
}

/* A mount point that was mistyped must not show another file system at two places. */
static void ours_or_not_it_is_not_mounted_twice(void **state)
{
	struct world *w = *state;

	plug_ebs(w);
	w->task.volume.uuid = volume_uuid(w->box.arena, "somebody", "else");
	apply_well(w);
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "30 22 259:0 / /other rw - ext4 /dev/nvme1n1 rw\n");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "mounted on /other");
	w->task.volume.uuid = volume_uuid(w->box.arena, MACHINE, "/data");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "mounted on /other");
	/* in its place, and a folder of it elsewhere */
	w->task.volume.uuid = volume_uuid(w->box.arena, "somebody", "else");
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "31 22 259:0 /docker /var/lib/docker rw - ext4 /dev/nvme1n1 rw\n"
		      "30 22 259:0 / /data rw - ext4 /dev/nvme1n1 rw\n");
	assert_int_equal(check(w), TASK_EQUAL);
}

static void a_lost_record_is_written_again(void **state)
{
	struct world *w = *state;
	struct timespec before;

	plug(w, "nvme1n1");
	apply_well(w);
	assert_int_equal(unlinkat(w->box.root.fd, "var/lib/nodeup/volumes/data", 0), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "ext4 of nvme1n1 has no record");
	before = touched(w, "nvme1n1");
	apply_well(w);
	assert_untouched(w, "nvme1n1", before);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* Stop and start: the record is that of the disk before, the new one is blank. */
static void a_fresh_disk_gets_the_same_uuid(void **state)
{
	struct world *w = *state;
	struct disk_record rec;

	plug(w, "nvme1n1");
	apply_well(w);
	disk_box_remove(&w->box, "nvme1n1");
	plug(w, "nvme2n1");
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_true(disk_record_get(w->ctx.root_fd, w->box.arena, "/data", &rec));
	assert_string_equal(rec.uuid, w->task.volume.uuid);
	assert_true(rec.done);
}

static void every_kind_is_made(void **state)
{
	static const struct {
		const char *fs;
		uint64_t size;
	} kinds[] = { { "xfs", 320 * MIB }, { "btrfs", 128 * MIB }, { "swap", 4 * MIB } };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const char *name = arena_printf(w->box.arena, "nvme%zun1", i);

		w->want.filesystem = kinds[i].fs;
		w->want.label = "pods";
		w->want.name = kinds[i].fs;
		plug_sized(w, name, kinds[i].size);
		apply_well(w);
		assert_int_equal(check(w), TASK_EQUAL);
		disk_box_remove(&w->box, name);
	}
}

static void several_disks_are_one_btrfs(void **state)
{
	struct world *w = *state;

	w->want.filesystem = "btrfs";
	plug_sized(w, "nvme1n1", 128 * MIB);
	plug_sized(w, "nvme2n1", 128 * MIB);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "nvme1n1, nvme2n1"));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	disk_box_remove(&w->box, "nvme2n1");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED,
			  "AWS-nvme2n1 of the volume's disks is not here");
	/* one of them came back blank: half a file system is not ours to make whole */
	plug_sized(w, "nvme3n1", 128 * MIB);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED,
			  "AWS-nvme2n1 of the volume's disks is not here");
}

static void one_with_data_spares_them_all(void **state)
{
	struct world *w = *state;
	struct timespec before;

	w->want.filesystem = "btrfs";
	plug_sized(w, "nvme1n1", 128 * MIB);
	plug_sized(w, "nvme2n1", 128 * MIB);
	disk_box_poke(&w->box, "nvme2n1", -1, "x", 1);
	before = touched(w, "nvme1n1");
	assert_left_alone(w, "nvme2n1", ERR_REFUSED, "disk nvme2n1 for /data: not blank");
	assert_untouched(w, "nvme1n1", before);
}

static void what_persists_is_adopted(void **state)
{
	struct world *w = *state;
	const char *mine = w->task.volume.uuid;
	const char *theirs = volume_uuid(w->box.arena, "somebody", "else");

	plug_ebs(w);
	assert_null(volume_recorded_uuid(&w->want, &w->ctx, w->box.arena));
	w->task.volume.uuid = theirs;
	apply_well(w);
	w->task.volume.uuid = mine;
	assert_string_equal(volume_recorded_uuid(&w->want, &w->ctx, w->box.arena), theirs);
	assert_int_equal(unlinkat(w->box.root.fd, "var/lib/nodeup/volumes/data", 0), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, theirs));
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_BUSY);
	assert_true(w->run.final);

	/* the next run knows, even before the disk is here */
	disk_box_remove(&w->box, "nvme1n1");
	plug_sized(w, "nvme7n1", MIB);
	assert_string_equal(volume_recorded_uuid(&w->want, &w->ctx, w->box.arena), theirs);
}

static void adopted_is_right_and_untouched(void **state)
{
	struct world *w = *state;
	struct timespec before;

	plug_ebs(w);
	w->task.volume.uuid = volume_uuid(w->box.arena, "somebody", "else");
	apply_well(w);
	before = touched(w, "nvme1n1");
	assert_int_equal(check(w), TASK_EQUAL);
	apply_well(w);
	assert_untouched(w, "nvme1n1", before);
	/* another kind is not what was wanted */
	w->want.filesystem = "xfs";
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
	assert_non_null(strstr(note(w, "has"), "ext4 file system; wanted blank or xfs"));
}

/* The store is as fresh as its instance: what is on it and not ours is somebody's. */
static void the_store_is_not_adopted(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	apply_well(w);
	w->task.volume.uuid = volume_uuid(w->box.arena, "i-other", "/data");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

static void what_persists_must_be_blank_further_in(void **state)
{
	struct world *w = *state;

	plug_ebs(w);
	assert_int_equal(truncate(disk_box_file(&w->box, "nvme1n1"), 320 * MIB), 0);
	scratch_write(&w->box.root, "/sys/block/nvme1n1/size", "655360\n");
	disk_box_poke(&w->box, "nvme1n1", 192 * MIB, "x", 1);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
	w->want.persist = false;
	assert_int_equal(check(w), TASK_DIFFERS);
}

/* As a run leaves it that was killed while mkfs wrote. */
static void begin_and_be_killed(struct world *w, const char *name)
{
	const struct volume_req req =
		volume_req_of(w->box.arena, &w->want, w->task.volume.uuid, MACHINE);
	const char *missing;
	struct disks disks;

	if (volume_disks(&w->want, &w->ctx, w->box.arena, &disks, &missing, &w->e) < 0 ||
	    disk_format_record(&w->box.host, w->box.arena, &req, &disks, req.mkfs.uuid, false,
			       &w->e) < 0)
		fail_msg("%s", w->e.msg);
	disk_box_poke(&w->box, name, 70000, "half written", 12);
}

static void an_interrupted_mkfs_is_begun_again(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	begin_and_be_killed(w, "nvme1n1");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "was being formatted by us"));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void an_interrupted_xfs_and_btrfs_too(void **state)
{
	struct world *w = *state;

	w->want.filesystem = "xfs";
	plug_sized(w, "nvme1n1", 320 * MIB);
	apply_well(w);
	disk_box_poke(&w->box, "nvme1n1", 126, "\1", 1);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
	begin_and_be_killed(w, "nvme1n1");
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	disk_box_remove(&w->box, "nvme1n1");

	w->want.filesystem = "btrfs";
	plug_sized(w, "nvme2n1", 128 * MIB);
	plug_sized(w, "nvme3n1", 128 * MIB);
	begin_and_be_killed(w, "nvme3n1");
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void an_interrupted_mkfs_excuses_nothing_else(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	begin_and_be_killed(w, "nvme1n1");

	/* another machine's record: it was baked into an image */
	w->task.volume.machine = "i-other";
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
	w->task.volume.machine = MACHINE;

	/* somebody used it since */
	disk_box_poke(&w->box, "nvme1n1", 4086, "SWAPSPACE2", 10);
	disk_box_poke(&w->box, "nvme1n1", 1024, "\1\0\0\0\377\0\0\0", 8);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
	assert_non_null(strstr(note(w, "has"), "swap"));
}

static void another_disk_is_not_the_one_we_began_on(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	begin_and_be_killed(w, "nvme1n1");
	disk_box_remove(&w->box, "nvme1n1");
	plug(w, "nvme2n1");
	disk_box_poke(&w->box, "nvme2n1", 70000, "half written", 12);
	assert_left_alone(w, "nvme2n1", ERR_REFUSED, "not blank");
}

/* A volume may have been written elsewhere between two boots. */
static void a_volume_we_began_on_is_not_trusted_after_a_boot(void **state)
{
	struct world *w = *state;

	plug_ebs(w);
	begin_and_be_killed(w, "nvme1n1");
	assert_int_equal(check(w), TASK_DIFFERS);
	scratch_write(&w->box.root, "/proc/sys/kernel/random/boot_id", "boot-2\n");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

static void forget_seq(struct world *w, const char *name)
{
	assert_int_equal(unlink(arena_printf(w->box.arena, "%s/sys/block/%s/diskseq",
					     w->box.root.path, name)),
			 0);
}

/* A kernel before 5.15 counts no disks: of two without a number the second has the first one's name. */
static void what_nothing_tells_apart_is_not_excused(void **state)
{
	struct world *w = *state;
	struct disks all;

	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdf", .size = 32 * MIB });
	w->want.disks = NODE_DISKS_PATHS;
	strv_add(w->box.arena, &w->want.devices, "/dev/xvdf");
	begin_and_be_killed(w, "xvdf");
	assert_int_equal(check(w), TASK_DIFFERS);
	forget_seq(w, "xvdf");
	assert_int_equal(disk_list(&w->box.host, w->box.arena, &all, &w->e), 0);
	assert_null(disk_identity(w->box.arena, &w->box.host, &all.v[0]));
	assert_left_alone(w, "xvdf", ERR_REFUSED, "not blank");
	/* nor by a record that was made without */
	begin_and_be_killed(w, "xvdf");
	assert_left_alone(w, "xvdf", ERR_REFUSED, "not blank");
}

static void copy_disk(struct world *w, const char *from, const char *to)
{
	char *cmd = arena_printf(w->box.arena, "cp --sparse=always %s %s",
				 disk_box_file(&w->box, from), disk_box_file(&w->box, to));

	assert_int_equal(system(cmd), 0); /* NOLINT: a test */
}

/* A volume made from a snapshot stands beside its original: by UUID either would be mounted. */
static void a_copy_beside_its_original_is_refused(void **state)
{
	struct world *w = *state;

	plug_ebs(w);
	apply_well(w);
	disk_box_add(&w->box, &(struct box_disk){ .name = "nvme2n1",
						  .model = EBS,
						  .serial = "vol0def",
						  .size = 64 * MIB });
	assert_int_equal(check(w), TASK_EQUAL);
	copy_disk(w, "nvme1n1", "nvme2n1");
	assert_left_alone(
		w, "nvme1n1", ERR_REFUSED,
		"disk nvme1n1 for /data: nvme2n1 (EBS vol-0def, 64 MiB) has the same UUID");
	/* adopted or not */
	w->task.volume.uuid = volume_uuid(w->box.arena, "somebody", "else");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "has the same UUID");
	/* while the right one is mounted nothing is guessed */
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "30 22 259:0 / /data rw - ext4 /dev/nvme1n1 rw\n");
	assert_int_equal(check(w), TASK_DIFFERS);
	w->task.volume.uuid = volume_uuid(w->box.arena, MACHINE, "/data");
	assert_int_equal(check(w), TASK_EQUAL);
}

static void what_would_have_a_copy_is_not_made(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	apply_well(w);
	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdz", .size = 32 * MIB });
	copy_disk(w, "nvme1n1", "xvdz");
	disk_box_remove(&w->box, "nvme1n1");
	plug(w, "nvme2n1");
	assert_left_alone(w, "nvme2n1", ERR_REFUSED, "xvdz (disk, 32 MiB) has the same UUID");
}

/* Written between our judgement and mkfs: by who knows no lock, while the record is made. */
static ssize_t late_pread(void *arg, int fd, void *data, size_t n, off_t at)
{
	struct world *w = arg;
	static const char mark[] = "late";

	if (io_stat(w->box.root.fd, "/var/lib/nodeup/volumes/data", &(struct stat){ 0 },
		    &(struct err){ 0 }) == 0 &&
	    !w->run.stage) {
		w->run.stage = 1;
		disk_box_poke(&w->box, "nvme1n1", 2 * MIB, mark, sizeof(mark));
	}
	return pread(fd, data, n, at);
}

static void data_that_comes_between_judgement_and_mkfs(void **state)
{
	struct world *w = *state;
	char byte = 0;
	int fd;

	plug(w, "nvme1n1");
	w->box.host.pread = late_pread;
	w->box.host.arg = w;
	w->box.host.ioctl = NULL;
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_int_equal(w->run.stage, 1);
	fd = open(disk_box_file(&w->box, "nvme1n1"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, 2 * MIB), 1);
	assert_int_equal(byte, 'l');
	assert_int_equal(pread(fd, &byte, 1, 1080), 1);
	assert_int_equal(byte, 0);
	assert_int_equal(close(fd), 0);
	/* nor does the next run take it for what mkfs left */
	w->box.host.pread = NULL;
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

static void data_that_comes_between_check_and_apply(void **state)
{
	struct world *w = *state;
	struct timespec before;

	plug(w, "nvme1n1");
	assert_int_equal(check(w), TASK_DIFFERS);
	disk_box_poke(&w->box, "nvme1n1", 0, "LUKS\xba\xbe", 6);
	before = touched(w, "nvme1n1");
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_untouched(w, "nvme1n1", before);
}

static void a_second_process_finds_the_disk_locked(void **state)
{
	struct world *w = *state;
	struct timespec before;
	autoclose int other = -1;

	plug(w, "nvme1n1");
	before = touched(w, "nvme1n1");
	other = open(disk_box_file(&w->box, "nvme1n1"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_BUSY);
	assert_false(w->run.final);
	assert_untouched(w, "nvme1n1", before);
	assert_int_equal(flock(other, LOCK_UN), 0);
	apply_well(w);
}

/* Both saw it blank; the second one has the lock only when the first is done. */
static void what_was_made_meanwhile_is_left(void **state)
{
	struct world *w = *state;
	const struct volume_req req =
		volume_req_of(w->box.arena, &w->want, w->task.volume.uuid, MACHINE);
	struct timespec before;
	const char *missing;
	struct disks disks;

	plug(w, "nvme1n1");
	assert_int_equal(volume_disks(&w->want, &w->ctx, w->box.arena, &disks, &missing, &w->e), 0);
	apply_well(w);
	before = touched(w, "nvme1n1");
	assert_int_equal(disk_format(&w->box.host, w->box.arena, &req, &disks, &w->e), 0);
	assert_untouched(w, "nvme1n1", before);
}

static void patience_has_an_end(void **state)
{
	struct world *w = *state;

	plug_sized(w, "xvda", MIB);
	w->want.disks = NODE_DISKS_VOLUME_ID;
	w->want.volume_id = "vol-0abc";
	w->want.device_timeout_ns = 90 * DUR_SEC;
	assert_int_equal(apply(w), TASK_WAIT);
	assert_string_equal(w->run.waiting, "vol-0abc is not here, waiting up to 1 min 30 s");
	w->run.since_ns = dur_now();
	assert_int_equal(apply(w), TASK_WAIT);
	w->run.since_ns = dur_now() - 91 * DUR_SEC;
	assert_int_equal(apply(w), -ENODEV);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_string_equal(w->e.msg, "vol-0abc is not here");
	assert_string_equal(note(w, "got"), "no such disk for 1 min 30 s");
	assert_true(w->run.final);
}

/* It is unreadable only once there is something to read. */
static int ours_alone(void *arg, const struct node_volume *want, const struct disks *disks,
		      struct err *e)
{
	(void)arg;
	(void)want;
	(void)disks;
	(void)e;
	return 0;
}

static void a_disk_without_its_node_is_waited_for(void **state)
{
	struct world *w = *state;
	struct volume_guard guard = { .may_use = ours_alone };

	plug_sized(w, "xvdb", 32 * MIB);
	w->want.disks = NODE_DISKS_VOLUME_ID;
	w->want.volume_id = "vol-0abc";
	strmap_set(w->box.arena, &guard.attached_as, "vol-0abc", "/dev/sdb");
	w->ctx.guard = &guard;
	assert_int_equal(rename(disk_box_file(&w->box, "xvdb"), disk_box_file(&w->box, "later")),
			 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "disk xvdb is here, but not its node /dev/xvdb");
	assert_int_equal(apply(w), TASK_WAIT);
	assert_int_equal(rename(disk_box_file(&w->box, "later"), disk_box_file(&w->box, "xvdb")),
			 0);
	apply_well(w);
}

static void promised_disks_are_waited_for_not_required(void **state)
{
	struct world *w = *state;

	plug_sized(w, "xvdb", 32 * MIB);
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral0", "sdb");
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral1", "sdc");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "sdc is not here yet");
	assert_int_equal(apply(w), TASK_WAIT);
	w->run.since_ns = dur_now() - 301 * DUR_SEC;
	apply_well(w);
	/* and never again */
	assert_int_equal(check(w), TASK_EQUAL);
}

/* Without a server nobody tells which disk of Xen a volume is. */
static void the_guard_does_not_judge_what_only_a_server_names(void **state)
{
	struct world *w = *state;

	w->want.disks = NODE_DISKS_VOLUME_ID;
	w->want.volume_id = "vol-0abc";
	plug_sized(w, "xvda", MIB);
	plug_sized(w, "xvdf", 32 * MIB);
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "30 22 202:80 / /data rw - ext4 /dev/xvdf rw\n");
	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	w->ctx.spares_runtime = true;
	assert_int_equal(check(w), TASK_EQUAL);
	w->want.disks = NODE_DISKS_INSTANCE_STORE;
	assert_int_equal(check(w), TASK_EQUAL);
	/* by its own name, and where disks show their ids */
	w->want.disks = NODE_DISKS_PATHS;
	strv_add(w->box.arena, &w->want.devices, "/dev/sdg");
	scratch_write(&w->box.root, "/proc/self/mountinfo", "");
	assert_int_equal(check(w), TASK_DIFFERS);
	plug_ebs(w);
	w->want.volume_id = "vol-0def";
	assert_int_equal(check(w), TASK_DIFFERS);
}

static void an_image_has_no_disks(void **state)
{
	struct world *w = *state;

	w->ctx.disks = NULL;
	w->ctx.image_mode = true;
	assert_int_equal(check(w), TASK_EQUAL);
}

static void plan_tells_disk_by_disk(void **state)
{
	struct world *w = *state;
	struct strv lines = { 0 };

	plug(w, "nvme1n1");
	plug(w, "nvme2n1");
	disk_box_poke(&w->box, "nvme2n1", 9, "x", 1);
	volume_describe(&w->task, &w->ctx, w->box.arena, &lines);
	assert_int_equal(lines.n, 2);
	assert_string_equal(lines.v[0], "nvme1n1: instance store AWS-nvme1n1, 32 MiB, has nothing: "
					"it is blank");
	assert_string_equal(
		lines.v[1],
		"nvme2n1: instance store AWS-nvme2n1, 32 MiB, has unknown data at byte 9");
}

#define T(f) cmocka_unit_test_setup_teardown(f, volume_world_new, volume_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(four_ways),
		T(data_is_refused_in_the_one_form),
		T(what_cannot_be_read_is_not_blank),
		T(bad_disks_are_one_clear_line),
		T(a_disk_in_use_is_refused),
		T(ours_in_use_is_right),
		T(ours_or_not_it_is_not_mounted_twice),
		T(a_lost_record_is_written_again),
		T(a_fresh_disk_gets_the_same_uuid),
		T(every_kind_is_made),
		T(several_disks_are_one_btrfs),
		T(one_with_data_spares_them_all),
		T(what_persists_is_adopted),
		T(adopted_is_right_and_untouched),
		T(the_store_is_not_adopted),
		T(what_persists_must_be_blank_further_in),
		T(an_interrupted_mkfs_is_begun_again),
		T(an_interrupted_xfs_and_btrfs_too),
		T(an_interrupted_mkfs_excuses_nothing_else),
		T(what_nothing_tells_apart_is_not_excused),
		T(a_copy_beside_its_original_is_refused),
		T(what_would_have_a_copy_is_not_made),
		T(data_that_comes_between_judgement_and_mkfs),
		T(another_disk_is_not_the_one_we_began_on),
		T(a_volume_we_began_on_is_not_trusted_after_a_boot),
		T(data_that_comes_between_check_and_apply),
		T(a_second_process_finds_the_disk_locked),
		T(what_was_made_meanwhile_is_left),
		T(patience_has_an_end),
		T(a_disk_without_its_node_is_waited_for),
		T(promised_disks_are_waited_for_not_required),
		T(the_guard_does_not_judge_what_only_a_server_names),
		T(an_image_has_no_disks),
		T(plan_tells_disk_by_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
