#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/volumes/disk_format.h"
#include "tests/unit/lib/volume_world.h"

#define EBS "Amazon Elastic Block Store"
#define STORE "Amazon EC2 NVMe Instance Storage"

static void plug_as(struct world *w, const char *name, const char *model, const char *serial)
{
	disk_box_add(&w->box,
		     &(struct box_disk){
			     .name = name, .model = model, .serial = serial, .size = 64 * MIB });
}

/* What kops' own form asks for: whatever has a name, and it persists. */
static void ask_by_name(struct world *w, const char *path)
{
	w->want.disks = NODE_DISKS_PATHS;
	w->want.devices = (struct strv){ 0 };
	strv_add(w->box.arena, &w->want.devices, path);
	w->want.persist = true;
}

/* As a run begins: the plan's UUID is what is known before it. */
static const char *plan(struct world *w)
{
	const char *known = volume_recorded_uuid(&w->want, &w->ctx, w->box.arena);

	w->task.volume.uuid = known ? known : volume_uuid(w->box.arena, MACHINE, "/data");
	return known;
}

static void forget(struct world *w)
{
	assert_int_equal(unlinkat(w->box.root.fd, "var/lib/nodeup/volumes/data", 0), 0);
}

static bool has_record(struct world *w)
{
	struct disk_record rec;

	return disk_record_get(w->ctx.root_fd, w->box.arena, "/data", &rec);
}

static const char *of_volume(struct world *w, const char *id)
{
	return volume_uuid(w->box.arena, id, "/data");
}

static void copy_back(struct world *w, const char *serial)
{
	char *kept = arena_printf(w->box.arena, "%s/kept", w->box.root.path);
	char *at = disk_box_file(&w->box, "nvme1n1");

	plug_as(w, "nvme1n1", EBS, serial);
	assert_int_equal(rename(kept, at), 0);
}

static void keep(struct world *w)
{
	char *kept = arena_printf(w->box.arena, "%s/kept", w->box.root.path);
	char *at = disk_box_file(&w->box, "nvme1n1");

	assert_int_equal(rename(at, kept), 0);
	disk_box_forget(&w->box, "nvme1n1");
}

static void another_disk_under_the_name_is_refused(void **state)
{
	struct world *w = *state;

	ask_by_name(w, "/dev/nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
	apply_well(w);
	keep(w);
	/* it has the wanted file system, and would be mounted in its place for all boots to come */
	plug_as(w, "nvme1n1", EBS, "vol0bbb");
	assert_int_equal(system(arena_printf(w->box.arena, "mkfs.ext4 -q %s", /* NOLINT: a test */
					     disk_box_file(&w->box, "nvme1n1"))),
			 0);
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
	assert_left_alone(w, "nvme1n1", ERR_REFUSED,
			  "disk nvme1n1 for /data: it is not the disk of before; nothing was "
			  "written");
	assert_int_equal(err_exit_status(&w->e), 73);
	assert_string_equal(note(w, "is"), "EBS vol-0bbb, 64 MiB; asked by ig_spec.yaml:18:5");
	assert_string_equal(note(w, "want"),
			    arena_printf(w->box.arena,
					 "ext4 with UUID %s, made on vol0aaa, says "
					 "/var/lib/nodeup/volumes/data",
					 of_volume(w, "vol-0aaa")));
	assert_non_null(strstr(note(w, "has"), "ext4 file system"));
	assert_non_null(strstr(note(w, "do"), "remove /var/lib/nodeup/volumes/data"));
	assert_string_equal(note(w, "got"), "");
	plug_as(w, "nvme2n1", EBS, "vol0aaa");
	assert_true(check(w) < 0);
	assert_string_equal(note(w, "got"), "nvme2n1 (EBS vol-0aaa, 64 MiB) is the one of before");
	disk_box_remove(&w->box, "nvme2n1");
	/* the right one comes back */
	disk_box_remove(&w->box, "nvme1n1");
	copy_back(w, "vol0aaa");
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
	assert_int_equal(check(w), TASK_EQUAL);
}

/* Where no serial number tells, as on Xen, the file system does. */
static void another_uuid_under_the_name_is_refused(void **state)
{
	struct world *w = *state;
	const char *before;

	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdf", .size = 64 * MIB });
	ask_by_name(w, "/dev/sdf");
	assert_null(plan(w));
	apply_well(w);
	before = plan(w);
	assert_string_equal(before, of_volume(w, MACHINE));
	disk_box_remove(&w->box, "xvdf");
	disk_box_add(&w->box, &(struct box_disk){ .name = "xvdf", .size = 64 * MIB });
	assert_int_equal(system(arena_printf(w->box.arena, "mkfs.ext4 -q %s", /* NOLINT: a test */
					     disk_box_file(&w->box, "xvdf"))),
			 0);
	assert_string_equal(plan(w), before);
	assert_left_alone(w, "xvdf", ERR_REFUSED, "it is not the disk of before");
	assert_non_null(strstr(note(w, "has"), "ext4 file system with UUID "));
	/* an admin says that it is meant */
	forget(w);
	assert_non_null(plan(w));
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_string_not_equal(plan(w), before);
}

static void an_exchanged_blank_disk_is_refused_and_gets_its_own_uuid(void **state)
{
	struct world *w = *state;

	ask_by_name(w, "/dev/nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	(void)plan(w);
	apply_well(w);
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0bbb");
	(void)plan(w);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "it is not the disk of before");
	assert_string_equal(note(w, "has"), "nothing");
	forget(w);
	/* the first may come back beside it */
	assert_string_equal(plan(w), of_volume(w, "vol-0bbb"));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void a_volume_asked_for_by_its_id_replaces_without_more(void **state)
{
	struct world *w = *state;

	ask_by_name(w, "/dev/nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	(void)plan(w);
	apply_well(w);
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0bbb");
	w->want.disks = NODE_DISKS_VOLUME_ID;
	w->want.volume_id = "vol-0bbb";
	assert_null(plan(w));
	w->task.volume.uuid = of_volume(w, "vol-0bbb");
	apply_well(w);
	assert_string_equal(plan(w), of_volume(w, "vol-0bbb"));
	assert_int_equal(check(w), TASK_EQUAL);
}

/* After stop and start, its serial number is another. */
static void a_store_under_a_name_is_fresh(void **state)
{
	struct world *w = *state;

	ask_by_name(w, "/dev/nvme1n1");
	plug_as(w, "nvme1n1", STORE, "AWS1111");
	(void)plan(w);
	apply_well(w);
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme1n1", STORE, "AWS2222");
	(void)plan(w);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	/* but no volume of EBS, nor one of the store for it */
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	(void)plan(w);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "it is not the disk of before");
	forget(w);
	(void)plan(w);
	apply_well(w);
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme1n1", STORE, "AWS3333");
	(void)plan(w);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "it is not the disk of before");
}

static void what_need_not_persist_is_made_anew_under_another_uuid(void **state)
{
	struct world *w = *state;

	ask_by_name(w, "/dev/nvme1n1");
	w->want.persist = false;
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
	apply_well(w);
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
	assert_int_equal(check(w), TASK_EQUAL);
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0bbb");
	/* planned while it was not here yet */
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "it is not the disk of before");
	assert_string_equal(plan(w), of_volume(w, "vol-0bbb"));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	/* made when nobody had seen it before, and the record is lost */
	disk_box_remove(&w->box, "nvme1n1");
	forget(w);
	assert_null(plan(w));
	plug_as(w, "nvme1n1", EBS, "vol0ccc");
	apply_well(w);
	forget(w);
	assert_string_equal(plan(w), of_volume(w, MACHINE));
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why, "ext4 of nvme1n1 has no record");
}

/* An image has it from the machine that it was made on. */
static void a_record_of_its_builder_says_nothing(void **state)
{
	struct world *w = *state;
	const struct disk_record builders = { .done = true,
					      .machine = "i-builder",
					      .fs = "ext4",
					      .uuid = of_volume(w, "i-builder") };

	ask_by_name(w, "/dev/nvme1n1");
	assert_int_equal(disk_record_set(w->ctx.root_fd, "/data", &builders, &w->e), 0);
	plug_as(w, "nvme9n1", EBS, "vol0zzz");
	assert_null(plan(w));
	disk_box_remove(&w->box, "nvme9n1");
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
	apply_well(w);
	/* nor of a volume by its id, nor of one that the builder had */
	w->want.disks = NODE_DISKS_VOLUME_ID;
	w->want.volume_id = "vol-0aaa";
	assert_int_equal(check(w), TASK_EQUAL);
	assert_int_equal(disk_record_set(w->ctx.root_fd, "/data",
					 &(struct disk_record){ .done = true,
								.machine = "i-builder",
								.fs = "ext4",
								.uuid = of_volume(w, "vol-0aaa") },
					 &w->e),
			 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	disk_box_remove(&w->box, "nvme1n1");
	plug_as(w, "nvme9n1", EBS, "vol0zzz");
	assert_string_equal(plan(w), of_volume(w, "vol-0aaa"));
}

/* It is the file system that was recorded, as a mount by UUID finds it. */
static void one_made_from_a_snapshot_takes_its_place(void **state)
{
	struct world *w = *state;
	struct disk_record rec;

	ask_by_name(w, "/dev/nvme1n1");
	plug_as(w, "nvme1n1", EBS, "vol0aaa");
	(void)plan(w);
	apply_well(w);
	keep(w);
	copy_back(w, "vol0bbb");
	(void)plan(w);
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_true(disk_record_get(w->ctx.root_fd, w->box.arena, "/data", &rec));
	assert_true(disk_record_rules_out(w->box.arena, &rec, "vol0aaa"));
	assert_false(disk_record_rules_out(w->box.arena, &rec, "vol-0bbb"));
}

static void tool(struct world *w, const char *name, const char *text)
{
	put_tool(w, name, arena_printf(w->box.arena, "#!/bin/bash\n%s", text));
}

/* As the plan tells them, with our own tools in front. */
static char *before_path;

static int tools_new(void **state)
{
	struct world *w;

	assert_int_equal(volume_world_new(state), 0);
	w = *state;
	before_path = xstrdup(getenv("PATH"));
	return setenv("PATH",
		      arena_printf(w->box.arena, "%s/tools:%s", w->box.root.path, before_path), 1);
}

static int tools_done(void **state)
{
	assert_int_equal(setenv("PATH", before_path, 1), 0);
	free(before_path);
	return volume_world_done(state);
}

static void a_mkfs_that_left_nothing_excuses_nothing(void **state)
{
	struct world *w = *state;
	static const char *const failures[] = { "echo no space; exit 1\n", "exit 0\n" };

	plug(w, "nvme1n1");
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		tool(w, "mkfs.ext4", failures[i]);
		assert_true(apply(w) < 0);
		assert_int_equal(w->e.kind, ERR_SYSTEM);
		assert_false(has_record(w));
	}
	/* somebody gives up on us and uses the disk raw */
	disk_box_poke(&w->box, "nvme1n1", MIB, "somebody's", 10);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

static void a_mkfs_that_failed_half_way_is_begun_again(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	tool(w, "mkfs.ext4",
	     "echo half | dd of=${!#} bs=1 seek=5000 conv=notrunc status=none\nexit 1\n");
	assert_true(apply(w) < 0);
	assert_true(has_record(w));
	tool(w, "mkfs.ext4", "exec /sbin/mkfs.ext4 \"$@\"\n");
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void what_was_begun_is_of_its_boot(void **state)
{
	struct world *w = *state;

	plug(w, "nvme1n1");
	tool(w, "mkfs.ext4",
	     "echo half | dd of=${!#} bs=1 seek=5000 conv=notrunc status=none\nexit 1\n");
	assert_true(apply(w) < 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	scratch_write(&w->box.root, "/proc/sys/kernel/random/boot_id", "boot-2\n");
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
	assert_non_null(strstr(note(w, "ruled out"), "an interrupted mkfs.ext4 of ours: /var/lib"));
	/* nor when nothing tells boots apart */
	assert_int_equal(unlinkat(w->box.root.fd, "proc/sys/kernel/random/boot_id", 0), 0);
	assert_left_alone(w, "nvme1n1", ERR_REFUSED, "not blank");
}

#define T(f) cmocka_unit_test_setup_teardown(f, volume_world_new, volume_world_done)
#define TOOLS(f) cmocka_unit_test_setup_teardown(f, tools_new, tools_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(another_disk_under_the_name_is_refused),
		T(another_uuid_under_the_name_is_refused),
		T(an_exchanged_blank_disk_is_refused_and_gets_its_own_uuid),
		T(a_volume_asked_for_by_its_id_replaces_without_more),
		T(a_store_under_a_name_is_fresh),
		T(what_need_not_persist_is_made_anew_under_another_uuid),
		T(a_record_of_its_builder_says_nothing),
		T(one_made_from_a_snapshot_takes_its_place),
		TOOLS(a_mkfs_that_left_nothing_excuses_nothing),
		TOOLS(a_mkfs_that_failed_half_way_is_begun_again),
		TOOLS(what_was_begun_is_of_its_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
