/* disk_probe - one volume task from a command line, on disks of this machine
 *
 *   disk_probe check|apply ROOT MACHINE PATH FS store|persist DEVICE...
 *   ... vol-ID | instance-store | ephemeral0=sdb
 *
 * ROOT has /dev, /sys and /proc of the machine, and the records. The volume is called "/data" and to be
 * mounted at PATH. Says "equal", "differs: WHY", "done" or "waits: WHAT"; or KIND, message and notes. */
#include <stdio.h>
#include <string.h>
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/task.h"
#include "nodeup/tasks/volume_uuid.h"

static int tell_error(const struct err *e)
{
	printf("%s: %s\n", err_kind_name(e->kind), e->msg);
	for (size_t i = 0; i < e->nnotes; i++)
		printf("%s: %s\n", e->notes[i].label, e->notes[i].text);
	return err_exit_status(e);
}

static int run_task(struct task_ctx *ctx, const struct task *t, bool apply)
{
	struct task_diff diff = { "" };
	struct task_run run = { 0 };
	struct err e = { 0 };
	int r = apply ? task_volume_ops.apply(t, ctx, &run, &e)
		      : task_volume_ops.check(t, ctx, &diff, &e);

	if (r < 0)
		return tell_error(&e);
	if (apply)
		printf("%s%s\n", r == TASK_WAIT ? "waits: " : "done", run.waiting);
	else
		printf("%s%s\n", r == TASK_DIFFERS ? "differs: " : "equal", diff.why);
	return 0;
}

/* The kind says which disks where it names no devices. */
static void select_disks(struct arena *a, struct disk_host *host, struct node_volume *want,
			 const char *kind)
{
	const char *device = strchr(kind, '=');

	want->nth = -1;
	if (device) {
		/* as IMDS says it */
		want->disks = NODE_DISKS_INSTANCE_STORE;
		strmap_set(a, &host->mapping, arena_strn(a, kind, (size_t)(device - kind)),
			   device + 1);
		host->instance_type = "m3.xlarge";
	} else if (strcmp(kind, "instance-store") == 0) {
		want->disks = NODE_DISKS_INSTANCE_STORE;
	} else if (str_has_prefix(kind, "vol-")) {
		want->disks = NODE_DISKS_VOLUME_ID;
		want->volume_id = kind;
		want->persist = true;
	}
}

int main(int argc, char **argv)
{
	autoarena struct arena *a = arena_new_empty();
	struct node_volume want = { .name = "/data", .path = argc > 4 ? argv[4] : "" };
	const struct task t = {
		.kind = TASK_VOLUME,
		.name = "/data",
		.volume = { .want = &want,
			    .uuid = volume_uuid(a, argc > 3 ? argv[3] : "", "/data"),
			    .machine = argc > 3 ? argv[3] : "" },
	};
	struct disk_host host = { 0 };
	struct task_ctx ctx = { .disks = &host };
	struct err e = { 0 };

	if (argc < 7) {
		fputs("usage: disk_probe check|apply ROOT MACHINE PATH FS store|persist DEVICE...\n",
		      stderr);
		return 64;
	}
	if (io_open_root(argv[2], &host.root_fd, &e) < 0)
		return tell_error(&e);
	ctx.root_fd = host.root_fd;
	want.filesystem = argv[5];
	want.persist = strcmp(argv[6], "persist") == 0;
	for (int i = 7; i < argc; i++)
		strv_add(a, &want.devices, argv[i]);
	select_disks(a, &host, &want, argv[6]);
	return run_task(&ctx, &t, strcmp(argv[1], "apply") == 0);
}
