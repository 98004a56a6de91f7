#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "tests/unit/lib/volume_world.h"

/* A btrfs has a number of its own, and its mount names one disk, by whatever link. */
static void a_mount_by_another_name_is_seen(void **state)
{
	static const char by_link[] = "30 22 0:40 / /mnt rw - btrfs /dev/sdf rw\n";
	struct world *w = *state;

	plug(w, "nvme1n1");
	scratch_write(&w->box.root, "/proc/self/mountinfo", by_link);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_int_equal(symlinkat("nvme1n1", w->box.root.fd, "dev/sdf"), 0);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "mounted on /mnt");
	/* the disk beside it */
	assert_int_equal(unlinkat(w->box.root.fd, "dev/sdf", 0), 0);
	scratch_write(&w->box.root, "/dev/nvme2n1", "");
	assert_int_equal(symlinkat("nvme2n1", w->box.root.fd, "dev/sdf"), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	scratch_write(&w->box.root, "/sys/fs/btrfs/uuid/devices/nvme1n1/x", "");
	scratch_write(&w->box.root, "/sys/fs/btrfs/uuid/devices/nvme2n1/x", "");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "mounted on /mnt");
}

/* What apply would refuse of the mount point is refused by the look already. */
static void a_place_in_use_is_refused(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	scratch_write(&w->box.root, "/data/file", "");
	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_string_equal(w->e.msg, "/data is in use; nothing was written");
	assert_string_equal(note(w, "has"), "files that a mount would hide: move them away");
	assert_int_equal(unlinkat(w->box.root.fd, "data/file", 0), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "30 22 0:50 / /data rw - tmpfs none rw\n");
	assert_true(check(w) < 0);
	assert_string_equal(note(w, "has"), "none mounted there");
	/* a disk that is late excuses nothing */
	disk_box_remove(&w->box, "nvme1n1");
	plug_ebs(w);
	w->want.volume_id = "vol-0def";
	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
}

static void one_disk_is_not_for_two(void **state)
{
	struct world *w = *state;
	struct node_volume both[2];

	plug_ebs(w);
	both[0] = w->want;
	both[1] = (struct node_volume){
		.name = "/other",
		.path = "/other",
		.filesystem = "ext4",
		.disks = NODE_DISKS_PATHS,
		.pos = { .file = "ig_spec.yaml", .line = 20, .column = 5 },
	};
	strv_add(w->box.arena, &both[1].devices, "/dev/sdf");
	w->ctx.volumes = &(const struct node_volumes){ .v = both, .n = 2 };
	assert_left_alone(w, "nvme1n1", ERR_REFUSED,
			  "disk nvme1n1 for /data: it is asked for /other as well; nothing was "
			  "written");
	assert_string_equal(note(w, "is"), "asked by ig_spec.yaml:18:5 and ig_spec.yaml:20:5");
	/* also while another disk of that one has no node */
	plug_sized(w, "xvdq", 32 * MIB);
	assert_int_equal(unlink(disk_box_file(&w->box, "xvdq")), 0);
	strv_add(w->box.arena, &both[1].devices, "/dev/sdq");
	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	both[1].devices.n = 1;
	/* one that is not here is nobody's */
	both[1].devices.v[0] = "/dev/sdg";
	assert_int_equal(check(w), TASK_DIFFERS);
}

/* Two volumes, each of one disk of the instance store, and the task that is for one of them. */
static struct node_volume both[2];

static void want(struct world *w, int i)
{
	w->want = both[i];
	w->task.name = both[i].name;
	w->task.volume.uuid = volume_uuid(w->box.arena, MACHINE, both[i].name);
	w->run = (struct task_run){ 0 };
}

static void want_two(struct world *w)
{
	static const struct node_volumes all = { .v = both, .n = 2 };

	both[0] = both[1] = w->want;
	both[0].name = both[0].path = "/a";
	both[1].name = both[1].path = "/b";
	both[0].nth = 0;
	both[1].nth = 1;
	w->ctx.volumes = &all;
	want(w, 0);
}

/* What is left moves up, and is still what it was. */
static void a_lost_disk_shifts_nothing(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	plug(w, "nvme2n1");
	want_two(w);
	apply_well(w);
	want(w, 1);
	apply_well(w);
	disk_box_remove(&w->box, "nvme1n1");
	assert_int_equal(check(w), TASK_EQUAL);
	want(w, 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "disk 0 of the instance store is not here: nvme2n1 in its "
					 "place is that of /b");
	assert_int_equal(apply(w), TASK_WAIT);
	/* a new one in the row */
	plug(w, "nvme1n1");
	apply_well(w);
	want(w, 1);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* As a controller is that has no disk yet. */
static void be_late(struct world *w, bool late)
{
	const char *at =
		arena_printf(w->box.arena, "%s/sys/class/nvme/nvme0/model", w->box.root.path);

	if (late)
		scratch_write(&w->box.root, "/sys/class/nvme/nvme0/model",
			      "Amazon EC2 NVMe Instance Storage\n");
	else
		assert_int_equal(unlink(at), 0);
}

static void a_late_disk_is_waited_for_and_none_guessed(void **state)
{
	struct world *w = *state;
	const char *const junk = "data";
	struct timespec before;

	plug(w, "nvme1n1");
	plug(w, "nvme2n1");
	want_two(w);
	be_late(w, true);
	before = touched(w, "nvme1n1");
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "nvme0 is not here yet");
	assert_int_equal(apply(w), TASK_WAIT);
	w->run.since_ns = dur_now() - 3600 * DUR_SEC;
	assert_true(apply(w) < 0);
	assert_true(w->run.final);
	assert_string_equal(w->e.msg, "which is disk 0 of the instance store cannot be told: nvme0 "
				      "has no disk");
	assert_untouched(w, "nvme1n1", before);
	/* what is in its place meanwhile is not a reason to end */
	want(w, 0);
	disk_box_poke(&w->box, "nvme1n1", 5000, junk, strlen(junk));
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_int_equal(apply(w), TASK_WAIT);
	be_late(w, false);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

/* A disk that came too late to be of a volume is left out of it from then on. */
static void a_blank_newcomer_is_left_out(void **state)
{
	struct world *w = *state;
	struct timespec before;

	plug(w, "nvme2n1");
	apply_well(w);
	plug(w, "nvme1n1");
	before = touched(w, "nvme1n1");
	assert_int_equal(check(w), TASK_EQUAL);
	apply_well(w);
	assert_untouched(w, "nvme1n1", before);
	disk_box_poke(&w->box, "nvme1n1", 5000, "data", 4);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

#define T(f) cmocka_unit_test_setup_teardown(f, volume_world_new, volume_world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_mount_by_another_name_is_seen),
		T(a_place_in_use_is_refused),
		T(one_disk_is_not_for_two),
		T(a_lost_disk_shifts_nothing),
		T(a_late_disk_is_waited_for_and_none_guessed),
		T(a_blank_newcomer_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
