#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/lib/volume_world.h"
#include "nodeup/tasks/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STORE "Amazon EC2 NVMe Instance Storage"
#define EBS "Amazon Elastic Block Store"

int volume_world_new(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	disk_box_new(&w->box);
	w->ctx = (struct task_ctx){ .root_fd = w->box.root.fd,
				    .disks = &w->box.host,
				    .machine = MACHINE };
	w->want = (struct node_volume){
		.name = "/data",
		.path = "/data",
		.filesystem = "ext4",
		.disks = NODE_DISKS_INSTANCE_STORE,
		.nth = -1,
		.pos = { .file = "ig_spec.yaml", .line = 18, .column = 5 },
	};
	w->task = (struct task){
		.kind = TASK_VOLUME,
		.ops = &task_volume_ops,
		.name = "/data",
		.volume = { .want = &w->want,
			    .uuid = volume_uuid(w->box.arena, MACHINE, "/data"),
			    .machine = MACHINE },
	};
	*state = w;
	return 0;
}

int volume_world_done(void **state)
{
	struct world *w = *state;

	disk_box_done(&w->box);
	free(w);
	return 0;
}

void plug_sized(struct world *w, const char *name, uint64_t size)
{
	disk_box_add(&w->box, &(struct box_disk){
				      .name = name,
				      .model = STORE,
				      .serial = arena_printf(w->box.arena, "AWS-%s", name),
				      .size = size,
			      });
}

void plug(struct world *w, const char *name)
{
	plug_sized(w, name, 32 * MIB);
}

void put_tool(struct world *w, const char *name, const char *text)
{
	const char *at = arena_printf(w->box.arena, "/tools/%s", name);

	scratch_write(&w->box.root, at, text);
	assert_int_equal(fchmodat(w->box.root.fd, at + 1, 0755, 0), 0);
}

void plug_ebs(struct world *w)
{
	disk_box_add(&w->box, &(struct box_disk){
				      .name = "nvme1n1",
				      .model = EBS,
				      .serial = "vol0abc",
				      .ec2_name = "sdf",
				      .size = 64 * MIB,
			      });
	w->want.disks = NODE_DISKS_VOLUME_ID;
	w->want.volume_id = "vol-0abc";
	w->want.persist = true;
}

int check(struct world *w)
{
	int r;

	w->diff.why[0] = '\0';
	w->e = (struct err){ 0 };
	r = task_volume_ops.check(&w->task, &w->ctx, &w->diff, &w->e);
	if (r == TASK_DIFFERS)
		assert_string_not_equal(w->diff.why, "");
	return r;
}

int apply(struct world *w)
{
	w->e = (struct err){ 0 };
	return task_volume_ops.apply(&w->task, &w->ctx, &w->run, &w->e);
}

void apply_well(struct world *w)
{
	if (apply(w) != TASK_DONE)
		fail_msg("%s%s", w->e.msg, w->run.waiting);
}

struct timespec touched(struct world *w, const char *name)
{
	struct stat st;

	assert_int_equal(stat(disk_box_file(&w->box, name), &st), 0);
	return st.st_mtim;
}

void assert_untouched(struct world *w, const char *name, struct timespec since)
{
	const struct timespec now = touched(w, name);

	assert_memory_equal(&now, &since, sizeof(now));
}

void assert_left_alone(struct world *w, const char *name, enum err_kind kind, const char *text)
{
	const struct timespec before = touched(w, name);

	assert_true(check(w) < 0);
	assert_int_equal(w->e.kind, kind);
	if (!strstr(w->e.msg, text))
		fail_msg("'%s' lacks '%s'", w->e.msg, text);
	assert_true(apply(w) < 0);
	assert_int_equal(w->e.kind, kind);
	assert_untouched(w, name, before);
}

const char *note(const struct world *w, const char *label)
{
	for (size_t i = 0; i < w->e.nnotes; i++)
		if (strcmp(w->e.notes[i].label, label) == 0)
			return w->e.notes[i].text;
	return "";
}
