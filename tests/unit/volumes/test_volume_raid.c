#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/volumes/disk_record.h"
#include "tests/unit/lib/volume_world.h"

/* Stands in for mdadm, since no kernel of a test machine need have md: knows the two command lines
 * of ours, refuses others, writes a superblock 1.2 on each member and shows the array in $ROOT/sys.
 * With $ROOT/half it is killed after the first member. */
static const char fake_mdadm[] =
	"#!/bin/bash\n"
	"set -eu\n"
	"die() { echo \"mdadm: $*\" >&2; exit 2; }\n"
	"verb=$1 name=$2; shift 2\n"
	"nodes=() uuid= run= level= n=\n"
	"for arg; do case $arg in\n"
	"  --run) run=1 ;; --level=0) level=0 ;; --metadata=1.2|--homehost=any|--name=nodeup-*) ;;\n"
	"  --uuid=*) uuid=${arg#*=} ;; --raid-devices=*) n=${arg#*=} ;;\n"
	"  -*) die \"unknown option $arg\" ;;\n"
	"  /proc/*/fd/*) nodes+=(\"$(readlink -f $arg)\") ;; *) die \"by name: $arg\" ;;\n"
	"esac; done\n"
	"[[ $uuid =~ ^[0-9a-f]{8}(:[0-9a-f]{8}){3}$ ]] || die \"bad uuid $uuid\"\n"
	"[[ $name == /dev/md/nodeup-* ]] || die \"bad name $name\"\n"
	"hex=${uuid//:/}\n"
	"if [ $verb = --create ]; then\n"
	"  [ \"$run$level\" = 10 ] && [ $n = ${#nodes[@]} ] || die 'bad arguments'\n"
	"  rm -f \"$ROOT/dev/md127\"\n"
	"  for node in \"${nodes[@]}\"; do\n"
	"    printf '\\xfc\\x4e\\x2b\\xa9\\x01\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0%b' "
	"\"$(sed 's/../\\\\x&/g' <<<$hex)\" | dd of=$node bs=1 seek=4096 conv=notrunc status=none\n"
	"    printf '\\x08' | dd of=$node bs=1 seek=4240 conv=notrunc status=none\n"
	"    [ ! -e \"$ROOT/half\" ] || die killed\n"
	"  done\n"
	"elif [ $verb != --assemble ]; then die \"unknown $verb\"; fi\n"
	"mkdir -p $ROOT/sys/block/md127\n"
	"echo 9:127 >$ROOT/sys/block/md127/dev; echo 131072 >$ROOT/sys/block/md127/size\n"
	"[ -e $ROOT/dev/md127 ] || truncate -s 64M $ROOT/dev/md127\n"
	"for node in \"${nodes[@]}\"; do mkdir -p $ROOT/sys/block/${node##*/}/holders/md127; done\n";

/* Where PATH was before the stand-in was put in front. */
static char *path_before;

static int raid_new(void **state)
{
	const char *root;
	struct world *w;

	assert_int_equal(volume_world_new(state), 0);
	w = *state;
	root = w->box.root.path;
	plug(w, "nvme1n1");
	plug(w, "nvme2n1");
	scratch_write(&w->box.root, "/proc/mdstat", "Personalities : [raid0]\n");
	path_before = xstrdup(getenv("PATH"));
	put_tool(w, "mdadm", fake_mdadm);
	assert_int_equal(setenv("ROOT", root, 1), 0);
	assert_int_equal(
		setenv("PATH", arena_printf(w->box.arena, "%s/tools:%s", root, path_before), 1), 0);
	return 0;
}

static int raid_done(void **state)
{
	assert_int_equal(setenv("PATH", path_before, 1), 0);
	free(path_before);
	return volume_world_done(state);
}

static void assert_refused(struct world *w, const char *disk)
{
	assert_left_alone(w, disk, ERR_REFUSED, disk);
}

/* A plan shows the message and no note. */
static void assert_lost(struct world *w, const char *disks)
{
	assert_non_null(
		strstr(w->e.msg, arena_printf(w->box.arena, "%s; nothing was written", disks)));
}

/* As after a reboot without mdadm's udev rules. */
static void stop_array(struct world *w)
{
	static const char *const dirs[] = { "nvme1n1/holders/md127", "nvme2n1/holders/md127" };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		assert_int_equal(rmdir(arena_printf(w->box.arena, "%s/sys/block/%s",
						    w->box.root.path, dirs[i])),
				 0);
	assert_int_equal(unlinkat(w->box.root.fd, "sys/block/md127/dev", 0), 0);
}

static void several_disks_become_an_array(void **state)
{
	struct world *w = *state;
	struct timespec member, array;

	assert_int_equal(check(w), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "nvme1n1, nvme2n1"));
	assert_non_null(strstr(w->diff.why, "are blank: mdadm, mkfs.ext4"));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	member = touched(w, "nvme1n1");
	array = touched(w, "md127");
	apply_well(w);
	assert_untouched(w, "nvme1n1", member);
	assert_untouched(w, "md127", array);
}

static void one_disk_is_none(void **state)
{
	struct world *w = *state;

	w->want.nth = 0;
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_int_not_equal(access(disk_box_file(&w->box, "md127"), F_OK), 0);
}

static void an_array_that_is_not_started_is_started(void **state)
{
	struct world *w = *state;
	struct timespec array;

	apply_well(w);
	array = touched(w, "md127");
	stop_array(w);
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_string_equal(w->diff.why,
			    "nvme1n1, nvme2n1 are members of an array that is not started");
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_untouched(w, "md127", array);
}

static void killed_in_mdadm_the_next_run_converges(void **state)
{
	struct world *w = *state;

	scratch_write(&w->box.root, "/half", "");
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_non_null(strstr(w->e.msg, "mdadm: killed"));
	assert_int_equal(unlinkat(w->box.root.fd, "half", 0), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* As at a boot that finds the disks in another order, each with its own content and serial number. */
static void an_array_is_found_under_other_names(void **state)
{
	static const char *const moves[][2] = { { "nvme1n1", "nvme9n1" },
						{ "nvme2n1", "nvme1n1" },
						{ "nvme9n1", "nvme2n1" } };
	static const char *const folders[] = { "dev", "sys/block" };
	struct world *w = *state;
	struct timespec array;

	apply_well(w);
	array = touched(w, "md127");
	stop_array(w);
	for (size_t i = 0; i < ARRAY_LEN(moves) * ARRAY_LEN(folders); i++) {
		const char *const *move = moves[i / 2], *folder = folders[i % 2];

		assert_int_equal(renameat(w->box.root.fd,
					  arena_printf(w->box.arena, "%s/%s", folder, move[0]),
					  w->box.root.fd,
					  arena_printf(w->box.arena, "%s/%s", folder, move[1])),
				 0);
	}
	assert_int_equal(check(w), TASK_DIFFERS);
	assert_non_null(strstr(w->diff.why, "are members of an array that is not started"));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_untouched(w, "md127", array);
}

/* The members are ours, and what the array carries is half a file system of ours. */
static void killed_in_mkfs_the_next_run_converges(void **state)
{
	struct world *w = *state;
	char *mkfs = arena_printf(w->box.arena, "%s/tools/mkfs.ext4", w->box.root.path);

	scratch_write(
		&w->box.root, "/tools/mkfs.ext4",
		"#!/bin/bash\necho half | dd of=${!#} bs=1 seek=5000 conv=notrunc status=none\n"
		"exit 1\n");
	assert_int_equal(chmod(mkfs, 0755), 0);
	assert_true(apply(w) < 0);
	assert_int_equal(unlink(mkfs), 0);
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void boot(struct world *w)
{
	scratch_write(&w->box.root, "/proc/sys/kernel/random/boot_id", "boot-2\n");
}

/* Somebody may have written to the disk while this machine was off. */
static void the_power_goes_in_mdadm(void **state)
{
	struct world *w = *state;

	scratch_write(&w->box.root, "/half", "");
	assert_true(apply(w) < 0);
	assert_int_equal(unlinkat(w->box.root.fd, "half", 0), 0);
	boot(w);
	assert_refused(w, "nvme1n1");
}

/* The members are whole and ours, and their array is blank. */
static void the_power_goes_between_mdadm_and_mkfs(void **state)
{
	struct world *w = *state;

	put_tool(w, "mkfs.ext4", "#!/bin/sh\nexit 1\n");
	assert_true(apply(w) < 0);
	assert_int_equal(unlinkat(w->box.root.fd, "tools/mkfs.ext4", 0), 0);
	stop_array(w);
	boot(w);
	assert_int_equal(check(w), TASK_DIFFERS);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

/* The record says that mkfs began, and the file system is whole. */
static void the_power_goes_after_mkfs(void **state)
{
	struct world *w = *state;
	struct timespec array;

	put_tool(w, "mkfs.ext4", "#!/bin/sh\nPATH=${PATH#*:}\nmkfs.ext4 \"$@\"\nexit 1\n");
	assert_true(apply(w) < 0);
	assert_int_equal(unlinkat(w->box.root.fd, "tools/mkfs.ext4", 0), 0);
	array = touched(w, "md127");
	stop_array(w);
	boot(w);
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
	assert_untouched(w, "md127", array);
}

/* Both tools have the lock of the disks for as long as they live, as their standard input. */
static void a_tool_that_outlives_us_keeps_the_lock(void **state)
{
	static const char asks[] = "#!/bin/bash\nPATH=${PATH#*:}\n"
				   "flock -n 0 && ! flock -n /dev/stdin true || exit 7\n"
				   "[ /dev/stdin -ef $ROOT/dev/nvme1n1 ] || exit 8\n";
	struct world *w = *state;
	char *fake = scratch_read(&w->box.root, "/tools/mdadm");

	assert_non_null(fake);
	put_tool(w, "mdadm", arena_printf(w->box.arena, "%s%s", asks, strchr(fake, '\n') + 1));
	free(fake);
	put_tool(w, "mkfs.ext4", arena_printf(w->box.arena, "%sexec mkfs.ext4 \"$@\"\n", asks));
	apply_well(w);
	assert_int_equal(check(w), TASK_EQUAL);
}

static void anothers_member_is_data(void **state)
{
	struct world *w = *state;

	apply_well(w);
	stop_array(w);
	assert_int_equal(unlinkat(w->box.root.fd, "var/lib/nodeup/volumes/data", 0), 0);
	w->task.volume.uuid = volume_uuid(w->box.arena, "i-other", "/data");
	assert_refused(w, "nvme1n1");
}

static void half_an_array_is_not_made_whole(void **state)
{
	struct world *w = *state;

	apply_well(w);
	stop_array(w);
	disk_box_remove(&w->box, "nvme2n1");
	plug(w, "nvme3n1");
	assert_refused(w, "nvme1n1");
	assert_lost(w, "AWS-nvme2n1 of the volume's disks is not here");
}

static void a_lost_disk_is_named(void **state)
{
	struct world *w = *state;

	plug(w, "nvme3n1");
	apply_well(w);
	stop_array(w);
	disk_box_remove(&w->box, "nvme1n1");
	assert_refused(w, "nvme2n1");
	assert_lost(w, "AWS-nvme1n1 of the volume's disks is not here");
	/* also if one alone is left */
	disk_box_remove(&w->box, "nvme3n1");
	assert_refused(w, "nvme2n1");
	assert_lost(w, "AWS-nvme1n1, AWS-nvme3n1 of the volume's disks are not here");
}

static void data_on_our_array_is_data(void **state)
{
	struct world *w = *state;

	apply_well(w);
	w->want.filesystem = "xfs";
	assert_refused(w, "md127");
}

static void one_with_data_spares_the_other(void **state)
{
	struct world *w = *state;
	const struct timespec before = touched(w, "nvme1n1");

	disk_box_poke(&w->box, "nvme2n1", 3 * MIB, "x", 1);
	assert_refused(w, "nvme2n1");
	assert_untouched(w, "nvme1n1", before);
}

/* A link to each program but one: what a small image has. */
static void hide_program(struct world *w, const char *name)
{
	static const char *const programs[] = { "mdadm", "mkfs.ext4" };
	const char *root = w->box.root.path;
	const char *folder = arena_printf(w->box.arena, "%s/few", root);

	assert_int_equal(mkdir(folder, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (strcmp(programs[i], name) != 0)
			assert_int_equal(symlink("/bin/true", arena_printf(w->box.arena, "%s/%s",
									   folder, programs[i])),
					 0);
	assert_int_equal(setenv("PATH", folder, 1), 0);
}

static void assert_no_record(struct world *w)
{
	assert_int_not_equal(access(arena_printf(w->box.arena, "%s%s", w->box.root.path,
						 disk_record_path(w->box.arena, "/data")),
				    F_OK),
			     0);
}

static void without_mdadm_nothing_is_begun(void **state)
{
	struct world *w = *state;

	hide_program(w, "mdadm");
	assert_left_alone(w, "nvme1n1", ERR_CONFIG,
			  "volume /data: mdadm is not installed, to make one of 2 disks for ext4: "
			  "package mdadm has it; btrfs spans disks without");
	assert_no_record(w);
	/* a task installs it before */
	strv_add(w->box.arena, &w->task.volume.programs, "mdadm");
	assert_int_equal(check(w), TASK_DIFFERS);
}

static void without_mkfs_nothing_is_begun(void **state)
{
	struct world *w = *state;

	hide_program(w, "mkfs.ext4");
	assert_left_alone(w, "nvme1n1", ERR_CONFIG,
			  "volume /data: mkfs.ext4 is not installed: package e2fsprogs has it");
	assert_no_record(w);
}

/* An array that runs, with its file system, needs neither. */
static void what_is_made_needs_no_tool(void **state)
{
	struct world *w = *state;

	apply_well(w);
	assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
	assert_int_equal(check(w), TASK_EQUAL);
	stop_array(w);
	assert_true(check(w) < 0);
	assert_non_null(strstr(w->e.msg, "mdadm is not installed"));
}

/* Written by who knows no lock, when the record is made and mdadm would be next. */
static ssize_t late_pread(void *arg, int fd, void *data, size_t n, off_t at)
{
	struct world *w = arg;
	struct disk_record rec;

	if (!w->run.stage && disk_record_get(w->ctx.root_fd, w->box.arena, "/data", &rec)) {
		w->run.stage = 1;
		disk_box_poke(&w->box, "nvme2n1", 2 * MIB, "late", 4);
	}
	return pread(fd, data, n, at);
}

static void data_that_comes_between_judgement_and_mdadm(void **state)
{
	struct world *w = *state;
	const struct timespec before = touched(w, "nvme1n1");

	w->box.host.pread = late_pread;
	w->box.host.arg = w;
	w->box.host.ioctl = NULL;
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_int_equal(w->run.stage, 1);
	assert_untouched(w, "nvme1n1", before);
	assert_no_record(w);
	w->box.host.pread = NULL;
	assert_refused(w, "nvme2n1");
}

/* What fails at once leaves no excuse for what somebody writes later. */
static void a_mdadm_that_left_nothing_excuses_nothing(void **state)
{
	struct world *w = *state;

	put_tool(w, "mdadm", "#!/bin/sh\necho no; exit 1\n");
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_SYSTEM);
	assert_no_record(w);
	disk_box_poke(&w->box, "nvme1n1", MIB, "somebody's", 10);
	assert_refused(w, "nvme1n1");
}

static void without_md_in_the_kernel_nothing_is_begun(void **state)
{
	struct world *w = *state;

	scratch_write(&w->box.root, "/proc/mdstat", "Personalities : [raid1]\n");
	assert_left_alone(w, "nvme1n1", ERR_CONFIG,
			  "volume /data: this kernel has no md to make one of 2 disks for ext4; "
			  "btrfs spans disks without");
	assert_no_record(w);
}

static void mirrors_are_for_btrfs(void **state)
{
	struct world *w = *state;

	w->want.raid = "raid1";
	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_CONFIG);
}

#define T(f) cmocka_unit_test_setup_teardown(f, raid_new, raid_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(several_disks_become_an_array),
		T(one_disk_is_none),
		T(an_array_that_is_not_started_is_started),
		T(an_array_is_found_under_other_names),
		T(killed_in_mdadm_the_next_run_converges),
		T(killed_in_mkfs_the_next_run_converges),
		T(the_power_goes_in_mdadm),
		T(the_power_goes_between_mdadm_and_mkfs),
		T(the_power_goes_after_mkfs),
		T(a_tool_that_outlives_us_keeps_the_lock),
		T(anothers_member_is_data),
		T(half_an_array_is_not_made_whole),
		T(a_lost_disk_is_named),
		T(data_on_our_array_is_data),
		T(one_with_data_spares_the_other),
		T(without_mdadm_nothing_is_begun),
		T(without_mkfs_nothing_is_begun),
		T(what_is_made_needs_no_tool),
		T(data_that_comes_between_judgement_and_mdadm),
		T(a_mdadm_that_left_nothing_excuses_nothing),
		T(without_md_in_the_kernel_nothing_is_begun),
		T(mirrors_are_for_btrfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
