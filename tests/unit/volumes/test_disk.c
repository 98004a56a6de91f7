#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/discover.h"
#include "tests/unit/lib/disk_box.h"

#define STORE "Amazon EC2 NVMe Instance Storage        "
#define EBS "Amazon Elastic Block Store              "

struct world {
	struct disk_box box;
	struct disks found;
	const char *missing;
	struct err e;
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

static void plug(struct world *w, const char *name, const char *model, const char *serial,
		 const char *ec2_name)
{
	disk_box_add(&w->box, &(struct box_disk){
				      .name = name,
				      .model = model,
				      .serial = serial,
				      .ec2_name = ec2_name,
			      });
}

static void put(struct world *w, const char *path, const char *text)
{
	scratch_write(&w->box.root, path, text);
}

/* c5d.xlarge as it may come up: the root is not the first, the data volume is not the last. */
static void be_c5d(struct world *w)
{
	plug(w, "nvme0n1", EBS, "vol0aaa", "/dev/sdf");
	plug(w, "nvme1n1", STORE, "AWS1111", NULL);
	disk_box_add(&w->box, &(struct box_disk){
				      .name = "nvme2n1",
				      .model = EBS,
				      .serial = "vol0bbb",
				      .ec2_name = "xvda",
				      .part = "nvme2n1p1",
			      });
	plug(w, "nvme3n1", EBS, "vol-0ccc", "sdba");
}

/* m3.xlarge: names of Xen, two disks of the instance store, a volume */
static void be_m3(struct world *w)
{
	plug(w, "xvda", NULL, NULL, NULL);
	plug(w, "xvdc", NULL, NULL, NULL);
	plug(w, "xvdb", NULL, NULL, NULL);
	plug(w, "xvdf", NULL, NULL, NULL);
	strmap_set(w->box.arena, &w->box.host.mapping, "ami", "sda1");
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral0", "sdc");
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral1", "sdb");
	strmap_set(w->box.arena, &w->box.host.mapping, "ebs1", "sdf");
}

static int find(struct world *w, const struct disk_want *want)
{
	w->missing = NULL;
	return disk_find(&w->box.host, w->box.arena, want, &w->found, &w->missing, &w->e);
}

static int find_path(struct world *w, const char *path)
{
	struct disk_want want = { .by = DISK_BY_PATHS };

	strv_add(w->box.arena, &want.paths, path);
	return find(w, &want);
}

static void assert_found(struct world *w, int r, const char *names)
{
	struct strv v = { 0 };

	if (r < 0)
		fail_msg("%s", w->e.msg);
	for (size_t i = 0; i < w->found.n; i++)
		strv_add(w->box.arena, &v, w->found.v[i].name);
	assert_string_equal(strv_join(w->box.arena, &v, " "), names);
}

static int find_volume(struct world *w, const char *id, const char *attached_as)
{
	return find(w, &(struct disk_want){
			       .by = DISK_BY_VOLUME_ID,
			       .volume_id = id,
			       .attached_as = attached_as,
		       });
}

static int find_store(struct world *w, int64_t nth)
{
	return find(w, &(struct disk_want){ .by = DISK_BY_STORE, .nth = nth });
}

static void nitro_volume_by_id(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	assert_found(w, find_volume(w, "vol-0aaa", NULL), "nvme0n1");
	assert_found(w, find_volume(w, "vol-0ccc", NULL), "nvme3n1");
	assert_int_equal(find_volume(w, "vol-0ddd", NULL), -ENODEV);
	assert_string_equal(w->e.msg, "vol-0ddd is not here");
}

static void nitro_volume_by_name(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	assert_found(w, find_path(w, "/dev/sdf"), "nvme0n1");
	assert_found(w, find_path(w, "/dev/xvdf"), "nvme0n1");
	assert_found(w, find_path(w, "/dev/xvdba"), "nvme3n1");
	assert_int_equal(find_path(w, "/dev/xvdb"), -ENODEV);
}

static void nitro_volume_by_link_without_udev(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	assert_found(w, find_path(w, "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0aaa"),
		     "nvme0n1");
	assert_int_equal(find_path(w, "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0eee"),
			 -ENODEV);
}

static void nitro_store_is_known_by_its_model(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	assert_found(w, find_store(w, -1), "nvme1n1");
	assert_int_equal(find_store(w, 1), -ENODEV);
}

/* An AMI that maps ephemeral0 for older types does not make a Nitro instance wait for sdb. */
static void a_mapping_says_nothing_where_the_store_is_nvme(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	strmap_set(w->box.arena, &w->box.host.mapping, "ephemeral0", "sdb");
	assert_found(w, find_store(w, -1), "nvme1n1");
	assert_null(w->missing);
}

/* i3en.24xlarge: eight disks, whose numbers say nothing: the order is that of the serials */
static void many_disks_have_an_order_that_lasts(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 8; i++)
		plug(w, arena_printf(w->box.arena, "nvme%dn1", i), STORE,
		     arena_printf(w->box.arena, "AWS%d", (i + 3) % 8), NULL);
	assert_found(w, find_store(w, -1),
		     "nvme5n1 nvme6n1 nvme7n1 nvme0n1 nvme1n1 nvme2n1 nvme3n1 nvme4n1");
	assert_found(w, find_store(w, 0), "nvme5n1");
	assert_found(w, find_store(w, 7), "nvme4n1");
}

static void xen_store_by_the_mapping(void **state)
{
	struct world *w = *state;

	be_m3(w);
	assert_found(w, find_store(w, -1), "xvdc xvdb");
	assert_found(w, find_store(w, 1), "xvdb");
	assert_int_equal(w->found.v[0].kind, DISK_INSTANCE_STORE);
	assert_null(w->missing);
}

static void xen_store_that_is_late_is_named(void **state)
{
	struct world *w = *state;

	be_m3(w);
	disk_box_remove(&w->box, "xvdb");
	assert_found(w, find_store(w, -1), "xvdc");
	assert_string_equal(w->missing, "sdb");
	disk_box_remove(&w->box, "xvdc");
	assert_int_equal(find_store(w, -1), -ENODEV);
	assert_non_null(strstr(w->e.msg, "sdc, sdb"));
}

/* Nobody says how many NVMe disks there will be, but their controllers are there before them. */
static void nvme_store_that_is_late_is_named(void **state)
{
	static const struct disk_want all = { .by = DISK_BY_STORE, .nth = -1 };
	struct world *w = *state;

	put(w, "/sys/class/nvme/nvme1/model", STORE "\n");
	put(w, "/sys/class/nvme/nvme1/nvme1n1/x", "");
	put(w, "/sys/class/nvme/nvme0/model", EBS "\n");
	plug(w, "nvme1n1", STORE, "AWS1", NULL);
	assert_int_equal(find(w, &all), 0);
	assert_null(w->missing);
	/* taken by the driver, but not looked through yet */
	put(w, "/sys/class/nvme/nvme2/model", STORE "\n");
	assert_int_equal(find(w, &all), 0);
	assert_string_equal(w->missing, "nvme2");
	put(w, "/sys/class/nvme/nvme2/nvme2c2n1/x", "");
	assert_int_equal(find(w, &all), 0);
	assert_null(w->missing);
	/* on the bus, and no driver yet; EBS has another number */
	put(w, "/sys/bus/pci/devices/0000:00:1e.0/vendor", "0x1d0f\n");
	put(w, "/sys/bus/pci/devices/0000:00:1e.0/device", "0x8061\n");
	put(w, "/sys/bus/pci/devices/0000:00:1e.0/class", "0x010802\n");
	assert_int_equal(find(w, &all), 0);
	assert_null(w->missing);
	put(w, "/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x1d0f\n");
	put(w, "/sys/bus/pci/devices/0000:00:1f.0/device", "0xcd01\n");
	put(w, "/sys/bus/pci/devices/0000:00:1f.0/class", "0x010802\n");
	assert_int_equal(find(w, &all), 0);
	assert_string_equal(w->missing, "0000:00:1f.0");
	disk_box_remove(&w->box, "nvme1n1");
	plug(w, "xvda", NULL, NULL, NULL);
	assert_int_equal(find(w, &all), -ENODEV);
	assert_string_equal(w->e.msg, "instance store 0000:00:1f.0 is there, but not its disk");
	put(w, "/sys/bus/pci/devices/0000:00:1f.0/nvme/nvme3/x", "");
	assert_int_equal(find(w, &all), -ENODEV);
	assert_null(w->missing);
}

static void xen_volume_by_name(void **state)
{
	struct world *w = *state;

	be_m3(w);
	assert_found(w, find_path(w, "/dev/sdf"), "xvdf");
	assert_found(w, find_path(w, "/dev/xvdf"), "xvdf");
	assert_int_equal(find_volume(w, "vol-0aaa", NULL), -ENODEV);
	assert_found(w, find_volume(w, "vol-0aaa", "/dev/sdf"), "xvdf");
}

/* Where disks tell their ids, a name that EC2 gave proves nothing. */
static void a_name_does_not_stand_in_for_an_id(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	assert_int_equal(find_volume(w, "vol-0ddd", "/dev/sdf"), -ENODEV);
}

static void a_partition_is_no_disk(void **state)
{
	struct world *w = *state;

	be_c5d(w);
	assert_int_equal(find_path(w, "/dev/nvme2n1p1"), -EINVAL);
	assert_int_equal(w->e.kind, ERR_CONFIG);
	assert_string_equal(w->e.msg, "/dev/nvme2n1p1 is partition 1 of a disk: name the disk, "
				      "which must be blank");
}

static void one_disk_by_two_names_is_refused(void **state)
{
	struct world *w = *state;
	struct disk_want want = { .by = DISK_BY_PATHS };

	be_c5d(w);
	strv_add(w->box.arena, &want.paths, "/dev/sdf");
	strv_add(w->box.arena, &want.paths, "/dev/nvme0n1");
	assert_int_equal(find(w, &want), -EINVAL);
	assert_int_equal(w->e.kind, ERR_CONFIG);
}

static void other_controllers_have_no_ec2_name(void **state)
{
	struct world *w = *state;

	plug(w, "nvme0n1", "QEMU NVMe Ctrl", "vol0aaa", "sdf");
	assert_int_equal(find_path(w, "/dev/sdf"), -ENODEV);
	assert_int_equal(find_volume(w, "vol-0aaa", NULL), -ENODEV);
	assert_int_equal(find_store(w, -1), -ENODEV);
	assert_found(w, find_path(w, "/dev/nvme0n1"), "nvme0n1");
}

/* It may have been used elsewhere since, or by others. */
static void identity_is_of_a_boot(void **state)
{
	struct world *w = *state;
	struct arena *a = w->box.arena;
	const char *ebs, *store;

	be_c5d(w);
	assert_found(w, find_path(w, "/dev/sdf"), "nvme0n1");
	ebs = disk_identity(a, &w->box.host, &w->found.v[0]);
	assert_string_equal(ebs, disk_identity(a, &w->box.host, &w->found.v[0]));
	assert_found(w, find_store(w, 0), "nvme1n1");
	store = disk_identity(a, &w->box.host, &w->found.v[0]);
	assert_string_equal(store, disk_identity(a, &w->box.host, &w->found.v[0]));

	scratch_write(&w->box.root, "/proc/sys/kernel/random/boot_id", "boot-2\n");
	assert_string_not_equal(store, disk_identity(a, &w->box.host, &w->found.v[0]));
	assert_found(w, find_path(w, "/dev/sdf"), "nvme0n1");
	assert_string_not_equal(ebs, disk_identity(a, &w->box.host, &w->found.v[0]));
	assert_int_equal(unlinkat(w->box.root.fd, "proc/sys/kernel/random/boot_id", 0), 0);
	assert_null(disk_identity(a, &w->box.host, &w->found.v[0]));
}

static void says_who_uses_a_disk(void **state)
{
	struct world *w = *state;
	struct arena *a = w->box.arena;

	be_m3(w);
	assert_found(w, find_path(w, "/dev/sdf"), "xvdf");
	assert_null(claim_of(&w->box.host, a, &w->found.v[0]));

	scratch_write(&w->box.root, "/proc/swaps",
		      "Filename Type Size Used Priority\n/dev/xvdf partition 1048572 0 -2\n");
	assert_string_equal(claim_of(&w->box.host, a, &w->found.v[0]), "swap space in use");

	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "22 1 259:0 / / rw - ext4 /dev/xvda rw\n"
		      "30 22 259:3 / /data rw,relatime shared:1 - ext4 /dev/xvdf rw\n");
	assert_string_equal(claim_of(&w->box.host, a, &w->found.v[0]), "mounted on /data");

	/* btrfs over several disks has a number of its own */
	scratch_write(&w->box.root, "/proc/self/mountinfo",
		      "31 22 0:45 / /pool rw shared:2 - btrfs /dev/xvdf rw\n");
	assert_string_equal(claim_of(&w->box.host, a, &w->found.v[0]), "mounted on /pool");
}

static void a_member_of_something_is_in_use(void **state)
{
	struct world *w = *state;

	plug(w, "xvdg", NULL, NULL, NULL);
	scratch_write(&w->box.root, "/sys/block/xvdg/holders/md127/x", "");
	assert_found(w, find_path(w, "/dev/sdg"), "xvdg");
	assert_string_equal(claim_of(&w->box.host, w->box.arena, &w->found.v[0]),
			    "in use by md127");
}

static void no_disk_at_all_is_said(void **state)
{
	struct world *w = *state;

	assert_int_equal(find_store(w, -1), -ENOENT);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
}

static void names_of_ec2(void **state)
{
	(void)state;
	assert_true(disk_name_eq("/dev/sdf", "xvdf"));
	assert_true(disk_name_eq("sdba", "/dev/xvdba"));
	assert_false(disk_name_eq("sdf", "xvdg"));
	assert_false(disk_name_eq("sdf", "nvme0n1"));
	assert_false(disk_name_eq("sdf", "sdf1"));
	assert_true(disk_name_eq("/dev/nvme0n1", "nvme0n1"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nitro_volume_by_id),
		T(nitro_volume_by_name),
		T(nitro_volume_by_link_without_udev),
		T(nitro_store_is_known_by_its_model),
		T(a_mapping_says_nothing_where_the_store_is_nvme),
		T(many_disks_have_an_order_that_lasts),
		T(xen_store_by_the_mapping),
		T(xen_store_that_is_late_is_named),
		T(nvme_store_that_is_late_is_named),
		T(xen_volume_by_name),
		T(a_name_does_not_stand_in_for_an_id),
		T(a_partition_is_no_disk),
		T(one_disk_by_two_names_is_refused),
		T(other_controllers_have_no_ec2_name),
		T(identity_is_of_a_boot),
		T(says_who_uses_a_disk),
		T(a_member_of_something_is_in_use),
		T(no_disk_at_all_is_said),
		cmocka_unit_test(names_of_ec2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
