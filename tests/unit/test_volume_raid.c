#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/tasks/volume.h"
#include "nodeup/tasks/volume_uuid.h"
#include "tests/unit/disk_box.h"

#define MIB ((uint64_t)1 << 20)
#define MACHINE "i-0a1b"

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
	"  -*) die \"unknown option $arg\" ;; *) nodes+=(\"$arg\") ;;\n"
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

struct world {
	struct disk_box box;
	struct task_ctx ctx;
	struct node_volume want;
	struct task task;
	struct task_diff diff;
	struct task_run run;
	struct err e;
	char *path;
};

static void plug(struct world *w, const char *name)
{
	disk_box_add(&w->box, &(struct box_disk){
				      .name = name,
				      .model = "Amazon EC2 NVMe Instance Storage",
				      .serial = arena_printf(w->box.arena, "AWS-%s", name),
				      .size = 32 * MIB,
			      });
}

static int world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	disk_box_new(&w->box);
	w->ctx = (struct task_ctx){ .root_fd = w->box.root.fd, .disks = &w->box.host };
	w->want = (struct node_volume){
		.name = "/data",
		.path = "/data",
		.filesystem = "ext4",
		.disks = NODE_DISKS_INSTANCE_STORE,
		.nth = -1,
	};
	w->task = (struct task){
		.kind = TASK_VOLUME,
		.name = "/data",
		.volume = { .want = &w->want,
			    .uuid = volume_uuid(w->box.arena, MACHINE, "/data"),
			    .machine = MACHINE },
	};
	plug(w, "nvme1n1");
	plug(w, "nvme2n1");
	w->path = xstrdup(getenv("PATH"));
	scratch_write(&w->box.root, "/tools/mdadm", fake_mdadm);
	assert_int_equal(
		chmod(arena_printf(w->box.arena, "%s/tools/mdadm", w->box.root.path), 0755), 0);
	assert_int_equal(setenv("ROOT", w->box.root.path, 1), 0);
	assert_int_equal(
		setenv("PATH", arena_printf(w->box.arena, "%s/tools:%s", w->box.root.path, w->path),
		       1),
		0);
	*state = w;
	return 0;
}

static int world_done(void **state)
{
	struct world *w = *state;

	assert_int_equal(setenv("PATH", w->path, 1), 0);
	free(w->path);
	disk_box_done(&w->box);
	free(w);
	return 0;
}

static int check(struct world *w)
{
	w->diff.why[0] = '\0';
	w->e = (struct err){ 0 };
	return task_volume_ops.check(&w->task, &w->ctx, &w->diff, &w->e);
}

static int apply(struct world *w)
{
	w->e = (struct err){ 0 };
	return task_volume_ops.apply(&w->task, &w->ctx, &w->run, &w->e);
}

static void apply_well(struct world *w)
{
	if (apply(w) != TASK_DONE)
		fail_msg("%s%s", w->e.msg, w->run.waiting);
}

static struct timespec touched(struct world *w, const char *name)
{
	struct stat st;

	assert_int_equal(stat(disk_box_file(&w->box, name), &st), 0);
	return st.st_mtim;
}

static void assert_untouched(struct world *w, const char *name, struct timespec since)
{
	const struct timespec now = touched(w, name);

	assert_memory_equal(&now, &since, sizeof(now));
}

static void assert_refused(struct world *w, const char *disk)
{
	const struct timespec before = touched(w, disk);

	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_REFUSED);
	assert_non_null(strstr(w->e.msg, disk));
	assert_untouched(w, disk, before);
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

static void without_mdadm_it_says_so(void **state)
{
	struct world *w = *state;
	const struct timespec before = touched(w, "nvme1n1");

	assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, ERR_CONFIG);
	assert_string_equal(w->e.msg, "mdadm is not installed: package mdadm has it; btrfs spans "
				      "disks without");
	assert_untouched(w, "nvme1n1", before);
}

static void mirrors_are_for_btrfs(void **state)
{
	struct world *w = *state;

	w->want.raid = "raid1";
	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, ERR_CONFIG);
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_new, world_done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(several_disks_become_an_array),
		T(one_disk_is_none),
		T(an_array_that_is_not_started_is_started),
		T(killed_in_mdadm_the_next_run_converges),
		T(killed_in_mkfs_the_next_run_converges),
		T(anothers_member_is_data),
		T(half_an_array_is_not_made_whole),
		T(data_on_our_array_is_data),
		T(one_with_data_spares_the_other),
		T(without_mdadm_it_says_so),
		T(mirrors_are_for_btrfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
