#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/volumes/mkfs.h"
#include "nodeup/volumes/disk_record.h"
#include "tests/unit/lib/scratch.h"

#define UUID "0b1e5c53-1f83-5c6e-9d35-0d5b4f1e7a11"

static struct strv words(struct arena *a, const char *text)
{
	return strv_split(a, text, '|');
}

static void assert_argv(const struct mkfs_req *req, const char *want)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv argv = mkfs_argv(a, req);

	assert_string_equal(strv_join(a, &argv, " "), want);
}

static void command_lines(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct mkfs_req req = { .fs = "ext4", .uuid = UUID, .nodes = words(a, "/dev/a") };

	(void)state;
	assert_argv(&req, "mkfs.ext4 -q -F -U " UUID
			  " -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 /dev/a");
	req.label = "pods";
	req.options = words(a, "-m0|-E|stride=16|-i 8192");
	assert_argv(&req, "mkfs.ext4 -q -F -U " UUID " -L pods -m0 -i 8192"
			  " -E nodiscard,lazy_itable_init=1,lazy_journal_init=1,stride=16 /dev/a");
	req = (struct mkfs_req){ .fs = "xfs", .uuid = UUID, .nodes = words(a, "/dev/a") };
	assert_argv(&req, "mkfs.xfs -q -K -m uuid=" UUID " /dev/a");
	req.again = true;
	assert_argv(&req, "mkfs.xfs -q -K -f -m uuid=" UUID " /dev/a");
	req = (struct mkfs_req){ .fs = "swap", .uuid = UUID, .nodes = words(a, "/dev/a") };
	assert_argv(&req, "mkswap -U " UUID " /dev/a");
}

static void command_lines_of_several_disks(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct mkfs_req req = { .fs = "btrfs", .uuid = UUID, .nodes = words(a, "/dev/a") };

	(void)state;
	assert_argv(&req, "mkfs.btrfs -q -K -U " UUID " /dev/a");
	req.nodes = words(a, "/dev/a|/dev/b");
	assert_argv(&req, "mkfs.btrfs -q -K -U " UUID " -d raid0 -m raid1 /dev/a /dev/b");
	req.raid = "raid1";
	assert_argv(&req, "mkfs.btrfs -q -K -U " UUID " -d raid1 -m raid1 /dev/a /dev/b");
	req.raid = "raid10";
	req.nodes = words(a, "/dev/a|/dev/b|/dev/c|/dev/d");
	assert_argv(&req,
		    "mkfs.btrfs -q -K -U " UUID " -d raid10 -m raid10 /dev/a /dev/b /dev/c /dev/d");
}

static int check_options(const char *fs, const char *options, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct mkfs_req req = { .fs = fs, .options = words(a, options) };

	return mkfs_check(&req, 1, e);
}

static void options_that_pass(void **state)
{
	static const struct {
		const char *fs, *options;
	} good[] = {
		{ "ext4", "-m0" },
		{ "ext4", "-m|0" },
		{ "ext4", "-i 8192|-I|256" },
		{ "ext4", "-O|^has_journal,metadata_csum" },
		{ "ext4", "-T|largefile4" },
		{ "ext4", "-J|size=64" },
		{ "ext4", "-E|lazy_itable_init=0,root_owner=0:0" },
		{ "xfs", "-i|size=512,maxpct=25" },
		{ "xfs", "-d|su=64k,sw=4" },
		{ "xfs", "-dagcount=8" },
		{ "xfs", "-K|-i|size=512" },
		{ "btrfs", "--nodesize=16k" },
		{ "btrfs", "--csum|xxhash" },
		{ "swap", "-p|4096" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (check_options(good[i].fs, good[i].options, &e) < 0)
			fail_msg("%s %s: %s", good[i].fs, good[i].options, e.msg);
}

static void options_that_never_pass(void **state)
{
	static const struct {
		const char *fs, *options;
	} bad[] = {
		{ "ext4", "-F" },
		{ "ext4", "-FF" },
		{ "ext4", "-n" },
		{ "ext4", "-S" },
		{ "ext4", "-U|random" },
		{ "ext4", "-L|x" },
		{ "ext4", "-O|journal_dev" },
		{ "ext4", "-O|metadata_csum,journal_dev" },
		{ "ext4", "-Ojournal_dev" },
		{ "ext4", "-E|offset=4096" },
		{ "ext4", "-E|nodiscard,offset=4096" },
		{ "ext4", "-E|stride=16," },
		{ "ext4", "-J|device=/dev/xvda" },
		{ "ext4", "-d|/etc" },
		{ "ext4", "-b" },
		{ "ext4", "-b|/dev/xvda" },
		{ "ext4", "-m|-1" },
		{ "ext4", "/dev/xvda" },
		{ "ext4", "10240" },
		{ "ext4", "-T|-F" },
		{ "xfs", "-f" },
		{ "xfs", "-K1" },
		{ "xfs", "-Kf" },
		{ "xfs", "-N" },
		{ "xfs", "-d|name=/dev/xvda" },
		{ "xfs", "-d|file,name=x,size=1g" },
		{ "xfs", "-l|logdev=/dev/xvda" },
		{ "xfs", "-r|rtdev=/dev/xvda" },
		{ "xfs", "-m|uuid=" UUID },
		{ "xfs", "-p|/etc/passwd" },
		{ "btrfs", "-f" },
		{ "btrfs", "--rootdir=/etc" },
		{ "btrfs", "--nodesizex=1" },
		{ "btrfs", "-b|1g" },
		{ "btrfs", "-d|raid5" },
		{ "swap", "-f" },
		{ "swap", "-c" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (check_options(bad[i].fs, bad[i].options, &e) >= 0)
			fail_msg("%s %s passes", bad[i].fs, bad[i].options);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, "formatOptions: '"));
	}
}

static void what_cannot_be_asked_for(void **state)
{
	struct mkfs_req req = { .fs = "zfs" };
	struct err e;

	(void)state;
	assert_int_equal(mkfs_check(&req, 1, &e), -EINVAL);
	assert_string_equal(e.msg, "file system 'zfs' is none of ext4, xfs, btrfs, swap");
	req = (struct mkfs_req){ .fs = "xfs", .label = "thirteen-long" };
	assert_int_equal(mkfs_check(&req, 1, &e), -EINVAL);
	req.label = "twelve-long1";
	assert_int_equal(mkfs_check(&req, 1, &e), 0);
	req.label = "a b";
	assert_int_equal(mkfs_check(&req, 1, &e), -EINVAL);
	req.label = "";
	assert_int_equal(mkfs_check(&req, 1, &e), -EINVAL);
	req = (struct mkfs_req){ .fs = "swap" };
	assert_int_equal(mkfs_check(&req, 2, &e), -EINVAL);
	assert_int_equal(e.kind, ERR_CONFIG);
	req = (struct mkfs_req){ .fs = "ext4" };
	assert_int_equal(mkfs_check(&req, 2, &e), 0);
	req.raid = "raid1";
	assert_int_equal(mkfs_check(&req, 0, &e), -EINVAL);
	req = (struct mkfs_req){ .fs = "btrfs", .raid = "raid1" };
	assert_int_equal(mkfs_check(&req, 0, &e), 0);
	assert_int_equal(mkfs_check(&req, 1, &e), -EINVAL);
	assert_int_equal(mkfs_check(&req, 2, &e), 0);
	req.raid = "raid10";
	assert_int_equal(mkfs_check(&req, 3, &e), -EINVAL);
	assert_string_equal(e.msg, "raid10 needs 4 disks, here are 3");
	req.raid = "raid5";
	assert_int_equal(mkfs_check(&req, 8, &e), -EINVAL);
	req.raid = "raid0";
	assert_int_equal(mkfs_check(&req, 1, &e), 0);
}

static void a_tool_that_is_not_there_is_named(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct mkfs_req req = { .fs = "xfs", .uuid = UUID, .nodes = words(a, "/nowhere") };
	autofree char *path = xstrdup(getenv("PATH"));
	struct err e;

	(void)state;
	assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
	assert_true(mkfs_run(&req, &e) < 0);
	assert_int_equal(setenv("PATH", path, 1), 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "mkfs.xfs is not installed: package xfsprogs has it");
}

static void a_tool_that_fails_says_why(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct mkfs_req req = { .fs = "ext4", .uuid = UUID, .nodes = words(a, "/nowhere/x") };
	struct err e;

	(void)state;
	assert_true(mkfs_run(&req, &e) < 0);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "mkfs.ext4 exited with status 1"));
	assert_non_null(strstr(e.msg, "/nowhere/x"));
}

static void records_come_back(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct disk_record rec = { .machine = "i-1", .fs = "xfs", .uuid = UUID }, got;
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	assert_false(disk_record_get(root.fd, a, "/mnt/disks", &got));
	strv_add(a, &rec.disks, "serial=AWS1 size=4096");
	strv_add(a, &rec.disks, "serial= size=8192 name=xvdb seq=3 boot=b");
	assert_int_equal(disk_record_set(root.fd, "/mnt/disks", &rec, &e), 0);
	assert_true(disk_record_get(root.fd, a, "/mnt/disks", &got));
	assert_false(got.done);
	assert_string_equal(got.machine, "i-1");
	assert_string_equal(got.fs, "xfs");
	assert_string_equal(got.uuid, UUID);
	assert_string_equal(got.label, "");
	assert_int_equal(got.disks.n, 2);
	assert_string_equal(got.disks.v[1], "serial= size=8192 name=xvdb seq=3 boot=b");
	rec.done = true;
	rec.label = "pods";
	assert_int_equal(disk_record_set(root.fd, "/mnt/disks", &rec, &e), 0);
	assert_true(disk_record_get(root.fd, a, "/mnt/disks", &got));
	assert_true(got.done);
	assert_string_equal(got.label, "pods");
	scratch_done(&root);
}

static void a_damaged_record_is_none(void **state)
{
	static const char *const texts[] = {
		"",
		"garbage",
		"state done\nmachine i-1\nfs xfs\nuuid " UUID "\nlabel \n",
		"state perhaps\nmachine i-1\nfs xfs\nuuid " UUID "\nend\n",
		"state done\nfs xfs\nuuid " UUID "\nend\n",
		"state done\nmachine i-1\nfs xfs\nend\n",
	};
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct disk_record got;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		scratch_write(&root, "/var/lib/nodeup/volumes/data", texts[i]);
		assert_false(disk_record_get(root.fd, a, "/data", &got));
	}
	scratch_done(&root);
}

static void records_have_names_of_units(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(disk_record_path(a, "/mnt/disks"), "/var/lib/nodeup/volumes/mnt-disks");
	assert_string_equal(disk_record_path(a, "/mnt-disks"),
			    "/var/lib/nodeup/volumes/mnt\\x2ddisks");
	assert_string_equal(disk_record_path(a, "swap"), "/var/lib/nodeup/volumes/swap");
	assert_string_equal(disk_record_path(a, "/.x"), "/var/lib/nodeup/volumes/\\x2ex");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_lines),
		cmocka_unit_test(command_lines_of_several_disks),
		cmocka_unit_test(options_that_pass),
		cmocka_unit_test(options_that_never_pass),
		cmocka_unit_test(what_cannot_be_asked_for),
		cmocka_unit_test(a_tool_that_is_not_there_is_named),
		cmocka_unit_test(a_tool_that_fails_says_why),
		cmocka_unit_test(records_come_back),
		cmocka_unit_test(a_damaged_record_is_none),
		cmocka_unit_test(records_have_names_of_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
