#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "nodeup/host/disks.h"
#include "nodeup/volumes/disk_record.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/disk_box.h"

static const struct box_disk ebs = { .name = "nvme0n1",
				     .model = "Amazon Elastic Block Store",
				     .serial = "vol0abc" };

/* How many disks of the instance store a machine has, by what it shows and by what IMDS promises. */
static int64_t count(struct disk_box *b, struct imds *m, struct facts *f)
{
	struct err e = { 0 };

	if (probe_instance_store(b->arena, b->host.root_fd, m, "/mnt/ephemeral", f, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(f->instance_store.set);
	return f->instance_store.v;
}

static void what_the_machine_shows(void **state)
{
	struct disk_box b;
	struct facts none = { 0 }, some = { 0 }, given = { .instance_store = { true, 7 } };

	(void)state;
	disk_box_new(&b);
	disk_box_add(&b, &ebs);
	assert_int_equal(count(&b, NULL, &none), 0);
	/* a controller that has no disk yet will have one */
	scratch_write(&b.root, "/sys/class/nvme/nvme1/model", "Amazon EC2 NVMe Instance Storage\n");
	none = (struct facts){ 0 };
	assert_int_equal(count(&b, NULL, &none), 1);
	for (int i = 1; i <= 2; i++)
		disk_box_add(&b, &(struct box_disk){
					 .name = i == 1 ? "nvme1n1" : "nvme2n1",
					 .model = "Amazon EC2 NVMe Instance Storage",
					 .serial = i == 1 ? "AWS1" : "AWS2",
				 });
	assert_int_equal(count(&b, NULL, &some), 2);
	/* one whose node is late counts */
	some = (struct facts){ 0 };
	assert_int_equal(unlink(disk_box_file(&b, "nvme2n1")), 0);
	assert_int_equal(count(&b, NULL, &some), 2);
	assert_int_equal(count(&b, NULL, &given), 7);
	disk_box_done(&b);
}

static void what_imds_promises(void **state)
{
	struct cloud *c = cloud_start(NULL);
	struct imds *m = imds_new(c->http);
	struct facts f = { 0 };
	struct disk_box b;

	(void)state;
	disk_box_new(&b);
	disk_box_add(&b, &ebs);
	cloud_tell(c, CLOUD_IMDS, "/__set?path=block-device-mapping/ephemeral0&value=sdb");
	cloud_tell(c, CLOUD_IMDS, "/__set?path=block-device-mapping/root&value=sda1");
	assert_int_equal(count(&b, m, &f), 1);
	disk_box_done(&b);
	imds_free(m);
	cloud_stop(c);
}

/* Disks that were here and are late are not a reason to start docker on the root volume. */
static void what_this_machine_had(void **state)
{
	struct disk_record before = { .machine = "i-1", .fs = "ext4", .uuid = "u" };
	struct facts nobody = { 0 }, own = { .instance_id = "i-1" },
		     other = { .instance_id = "i-2" }, new = own;
	struct disk_box b;
	struct err e;

	(void)state;
	disk_box_new(&b);
	disk_box_add(&b, &ebs);
	assert_int_equal(count(&b, NULL, &new), 0);
	assert_true(new.instance_store_used.set && !new.instance_store_used.v);
	strv_add(b.arena, &before.disks, "serial:AWS1");
	strv_add(b.arena, &before.disks, "serial:AWS2");
	assert_int_equal(disk_record_set(b.root.fd, "/mnt/ephemeral", &before, &e), 0);
	assert_int_equal(count(&b, NULL, &own), 2);
	assert_int_equal(count(&b, NULL, &other), 0);
	assert_int_equal(count(&b, NULL, &nobody), 0);
	assert_true(own.instance_store_used.v && nobody.instance_store_used.v);
	assert_true(other.instance_store_used.set && !other.instance_store_used.v);
	disk_box_done(&b);
}

/* Whether several disks are to be one by md. */
static bool stripes(struct disk_box *b, const char *distribution)
{
	struct facts f = { .distribution = distribution };

	(void)count(b, NULL, &f);
	assert_true(f.raid.set);
	return f.raid.v;
}

static void md_takes_a_kernel_and_a_tool(void **state)
{
	const struct disk_record md = { .done = true, .machine = "i-1", .fs = "ext4", .uuid = "u" };
	const struct disk_record btrfs = { .machine = "i-1", .fs = "btrfs", .uuid = "u" };
	struct disk_box b;
	struct err e;

	(void)state;
	disk_box_new(&b);
	disk_box_add(&b, &ebs);
	assert_false(stripes(&b, "debian"));
	scratch_write(&b.root, "/proc/mdstat", "Personalities : [raid1]\n");
	assert_false(stripes(&b, "debian"));
	scratch_write(&b.root, "/proc/mdstat", "Personalities : [raid1] [raid0]\n");
	assert_true(stripes(&b, "debian"));
	assert_false(stripes(&b, "flatcar"));
	scratch_write(&b.root, "/usr/sbin/mdadm", "");
	assert_true(stripes(&b, "flatcar"));
	/* what is made already stays what it is */
	assert_int_equal(disk_record_set(b.root.fd, "/mnt/ephemeral", &btrfs, &e), 0);
	assert_false(stripes(&b, "debian"));
	scratch_write(&b.root, "/proc/mdstat", "");
	assert_int_equal(disk_record_set(b.root.fd, "/mnt/ephemeral", &md, &e), 0);
	assert_true(stripes(&b, "debian"));
	disk_box_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_machine_shows),
		cmocka_unit_test(what_imds_promises),
		cmocka_unit_test(what_this_machine_had),
		cmocka_unit_test(md_takes_a_kernel_and_a_tool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
