#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/tasks/volume_uuid.h"
#include "tests/unit/lib/seed.h"

static const char kubelet_unit[] = "kubelet.service", docker_unit[] = "docker.service";

/* The seed's worker with these volumes, planned. */
struct box {
	struct world w;
	struct plan_req req;
	struct plan plan;
};

static struct node_volume volume(struct arena *a, const char *path)
{
	struct node_volume v = { .name = path ? path : "swap",
				 .path = path,
				 .filesystem = path ? "xfs" : "swap",
				 .disks = NODE_DISKS_INSTANCE_STORE,
				 .nth = -1,
				 .device_timeout_ns = 90 * DUR_SEC };

	if (path)
		strv_add(a, &v.mount_options, "noatime");
	return v;
}

static void add(struct arena *a, struct box *b, const struct node_volume *v)
{
	arena_push(a, b->w.node.volumes.v, b->w.node.volumes.n, *v);
}

static struct node_volume with_docker(struct arena *a)
{
	struct node_volume v = volume(a, "/mnt/disks");
	struct strv units = strv_split(a, "docker.socket docker.service", ' ');

	arena_push(a, v.binds.v, v.binds.n,
		   (struct node_bind){ "docker", "/var/lib/docker", units, { 0 } });
	return v;
}

static struct node_bind kubelet_bind(struct arena *a)
{
	return (struct node_bind){
		"kubelet", "/var/lib/kubelet", strv_split(a, kubelet_unit, ' '), { 0 }
	};
}

static struct box *box(struct arena *a)
{
	struct box *b = arena_new(a, struct box);

	b->w = seed_world(a, false);
	b->w.facts.instance_id = "i-0abc";
	b->req = seed_request(&b->w);
	return b;
}

static void build(struct arena *a, struct box *b)
{
	b->plan = seed_plan(a, &b->req);
}

static const char *text(const struct box *b, const char *unit)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "/etc/systemd/system/%s", unit);
	return plan_get(&b->plan, TASK_FILE, path)->file.content;
}

/* Whether t is done only after need, by any way. */
static bool is_after(const struct task *t, const struct task *need)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == need || is_after(t->needs[i], need))
			return true;
	return false;
}

static void a_volume_is_a_task_and_a_mount_unit(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	const struct node_volume v = volume(a, "/data/x-y");
	const char *uuid = volume_uuid(a, "i-0abc", "/data/x-y");
	const struct task *t, *unit;

	(void)state;
	add(a, b, &v);
	build(a, b);
	t = plan_get(&b->plan, TASK_VOLUME, "/data/x-y");
	assert_string_equal(t->volume.uuid, uuid);
	assert_string_equal(t->volume.machine, "i-0abc");
	assert_string_equal(
		text(b, "data-x\\x2dy.mount"),
		arena_printf(a,
			     "[Unit]\nDescription=Volume /data/x-y\nDocumentation=man:nodeup(8)\n"
			     "DefaultDependencies=no\nConflicts=umount.target\n"
			     "Before=umount.target\nAfter=local-fs-pre.target\n\n[Mount]\n"
			     "What=/dev/disk/by-uuid/%s\nWhere=/data/x-y\nType=xfs\n"
			     "Options=noatime,nofail\n\n[Install]\nWantedBy=local-fs.target\n",
			     uuid));
	unit = plan_get(&b->plan, TASK_UNIT, "data-x\\x2dy.mount");
	assert_true(unit->unit.enable);
	assert_int_equal(unit->unit.inputs.n, 0);
	assert_true(is_after(unit, t));
	assert_true(is_after(unit, plan_get(&b->plan, TASK_RELOAD, "systemd")));
	assert_true(is_after(plan_get(&b->plan, TASK_UNIT, kubelet_unit), unit));
	assert_false(is_after(plan_get(&b->plan, TASK_UNIT, docker_unit), unit));
}

static const char *device_dropin(struct arena *a, const struct box *b, const char *name)
{
	const char *path = arena_printf(a, "/dev/disk/by-uuid/%s", volume_uuid(a, "i-0abc", name));

	return text(b, arena_printf(a, "%s.device.d/50-nodeup.conf", unit_escape_path(a, path)));
}

static void the_limit_is_the_device_s(void **state)
{
	static const struct {
		int systemd;
		const char *text;
	} rows[] = {
		{ 0, "[Unit]\nJobRunningTimeoutSec=90s\n" },
		{ 252, "[Unit]\nJobRunningTimeoutSec=90s\n" },
		{ 215, "[Unit]\nJobTimeoutSec=90s\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct box *b = box(a);
		const struct node_volume v = volume(a, "/data");

		b->w.facts.systemd = rows[i].systemd;
		add(a, b, &v);
		build(a, b);
		assert_string_equal(device_dropin(a, b, "/data"), rows[i].text);
	}
}

static void a_bind_asserts_that_its_content_was_moved(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	const struct node_volume v = with_docker(a);

	(void)state;
	add(a, b, &v);
	build(a, b);
	assert_string_equal(text(b, "var-lib-docker.mount"),
			    "[Unit]\nDescription=docker of volume /mnt/disks\n"
			    "Documentation=man:nodeup(8)\nDefaultDependencies=no\n"
			    "Conflicts=umount.target\nBefore=umount.target\n"
			    "RequiresMountsFor=/mnt/disks\n"
			    "ConditionPathExists=!/var/lib/nodeup/unmoved/var-lib-docker\n"
			    "AssertPathExists=/mnt/disks/.nodeup/var-lib-docker@i-0abc\n\n[Mount]\n"
			    "What=/mnt/disks/docker\nWhere=/var/lib/docker\nType=none\n"
			    "Options=bind,nofail\n\n[Install]\nWantedBy=local-fs.target\n");
	assert_string_equal(text(b, "docker.service.d/20-nodeup-volumes.conf"),
			    "[Unit]\nRequiresMountsFor=/var/lib/docker\n");
	assert_string_equal(text(b, "kubelet.service.d/20-nodeup-volumes.conf"),
			    "[Unit]\nRequiresMountsFor=/mnt/disks /var/lib/docker\n");
	assert_null(plan_look(&b->plan, TASK_FILE,
			      "/etc/systemd/system/docker.socket.d/20-nodeup-volumes.conf"));
}

static void the_order_of_a_move(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	struct node_volume v = with_docker(a);
	const struct task *chain[8];
	size_t n = 0;

	(void)state;
	arena_push(a, v.binds.v, v.binds.n, kubelet_bind(a));
	add(a, b, &v);
	build(a, b);
	chain[n++] = plan_get(&b->plan, TASK_VOLUME, "/mnt/disks");
	chain[n++] = plan_get(&b->plan, TASK_UNIT, "mnt-disks.mount");
	chain[n++] = plan_get(&b->plan, TASK_STOP, "/var/lib/docker");
	chain[n++] = plan_get(&b->plan, TASK_MOVE, "/var/lib/docker");
	chain[n++] = plan_get(&b->plan, TASK_UNIT, "var-lib-docker.mount");
	chain[n++] = plan_get(&b->plan, TASK_RESUME, "/var/lib/docker");
	chain[n++] = plan_get(&b->plan, TASK_UNIT, docker_unit);
	for (size_t i = 0; i + 1 < n; i++)
		assert_true(is_after(chain[i + 1], chain[i]));
	assert_true(chain[5]->always);
	assert_string_equal(chain[3]->move.source, "/var/lib/docker");
	assert_string_equal(chain[3]->move.target, "/mnt/disks/docker");
	assert_string_equal(chain[3]->move.mount_point, "/mnt/disks");
	assert_int_equal(chain[3]->move.units.n, 2);
	/* docker may use more than one directory that is moved */
	assert_true(is_after(chain[5], plan_get(&b->plan, TASK_UNIT, "var-lib-kubelet.mount")));
}

static void what_is_below_a_mount_is_written_after_it(void **state)
{
	static const char kubeconfig[] = "/var/lib/kubelet/kubeconfig";
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	struct node_volume v = volume(a, "/mnt/disks");
	const struct task *mount;

	(void)state;
	arena_push(a, v.binds.v, v.binds.n, kubelet_bind(a));
	add(a, b, &v);
	build(a, b);
	mount = plan_get(&b->plan, TASK_UNIT, "var-lib-kubelet.mount");
	assert_true(is_after(plan_get(&b->plan, TASK_FILE, kubeconfig), mount));
	assert_false(is_after(plan_get(&b->plan, TASK_FILE, "/etc/sysconfig/kubelet"), mount));
}

static void an_inner_mount_waits_for_the_outer(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	const struct node_volume outer = volume(a, "/data"), inner = volume(a, "/data/inner"),
				 other = volume(a, "/data2");

	(void)state;
	add(a, b, &outer);
	add(a, b, &inner);
	add(a, b, &other);
	build(a, b);
	assert_true(is_after(plan_get(&b->plan, TASK_UNIT, "data-inner.mount"),
			     plan_get(&b->plan, TASK_UNIT, "data.mount")));
	assert_false(is_after(plan_get(&b->plan, TASK_UNIT, "data2.mount"),
			      plan_get(&b->plan, TASK_UNIT, "data.mount")));
}

static void swap_is_a_swap_unit(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	const struct node_volume v = volume(a, NULL);
	const char *what;
	const char *name;

	(void)state;
	what = arena_printf(a, "/dev/disk/by-uuid/%s", volume_uuid(a, "i-0abc", "swap"));
	name = arena_printf(a, "%s.swap", unit_escape_path(a, what));
	add(a, b, &v);
	build(a, b);
	assert_string_equal(
		text(b, name),
		arena_printf(a,
			     "[Unit]\nDescription=Volume swap\nDocumentation=man:nodeup(8)\n"
			     "DefaultDependencies=no\nConflicts=umount.target\n"
			     "Before=umount.target\n\n[Swap]\nWhat=%s\nOptions=nofail\n\n"
			     "[Install]\nWantedBy=swap.target\n",
			     what));
	assert_true(is_after(plan_get(&b->plan, TASK_UNIT, name),
			     plan_get(&b->plan, TASK_VOLUME, "swap")));
	assert_null(plan_look(&b->plan, TASK_FILE,
			      "/etc/systemd/system/kubelet.service.d/20-nodeup-volumes.conf"));
}

static void whose_the_uuid_is(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	struct node_volume id = volume(a, "/id"), known = volume(a, "/known");

	(void)state;
	id.disks = NODE_DISKS_VOLUME_ID;
	id.volume_id = "vol-1";
	add(a, b, &id);
	add(a, b, &known);
	strmap_set(a, &b->req.volume_uuids, "/known", "11111111-2222-3333-4444-555555555555");
	build(a, b);
	assert_string_equal(plan_get(&b->plan, TASK_VOLUME, "/id")->volume.uuid,
			    volume_uuid(a, "vol-1", "/id"));
	assert_string_equal(plan_get(&b->plan, TASK_VOLUME, "/known")->volume.uuid,
			    "11111111-2222-3333-4444-555555555555");
	assert_non_null(strstr(text(b, "known.mount"), "by-uuid/11111111-2222"));
}

/* What could not be repaired is not mounted; xfs and btrfs need nobody for that. */
static void ext4_is_checked_before_it_is_mounted(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	struct node_volume v = volume(a, "/data"), xfs = volume(a, "/x");
	const char *what, *check;

	(void)state;
	v.filesystem = "ext4";
	add(a, b, &v);
	add(a, b, &xfs);
	build(a, b);
	what = arena_printf(a, "/dev/disk/by-uuid/%s", volume_uuid(a, "i-0abc", "/data"));
	check = arena_printf(a, "systemd-fsck@%s.service", unit_escape_path(a, what));
	assert_non_null(strstr(text(b, "data.mount"), arena_printf(a, "\nRequires=%s\n", check)));
	assert_non_null(strstr(text(b, "data.mount"), arena_printf(a, "\nAfter=%s\n", check)));
	assert_null(strstr(text(b, "x.mount"), "fsck"));
}

static const struct task *tool(const struct box *b, const char *name)
{
	return plan_look(&b->plan, TASK_PACKAGE, name);
}

/* Programs that a minimal image lacks come before the disks, and before all files: some of those lie
 * on the disks. */
static void what_makes_a_volume_is_installed_first(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	struct node_volume xfs = volume(a, "/x"), md = volume(a, "/m"), plain = volume(a, "/p");
	const struct task *t;

	(void)state;
	arena_push(a, xfs.binds.v, xfs.binds.n, kubelet_bind(a));
	strv_add(a, &md.devices, "/dev/xvdb");
	strv_add(a, &md.devices, "/dev/xvdc");
	md.disks = plain.disks = NODE_DISKS_PATHS;
	strv_add(a, &plain.devices, "/dev/xvdd");
	md.filesystem = plain.filesystem = "ext4";
	add(a, b, &xfs);
	add(a, b, &md);
	add(a, b, &plain);
	build(a, b);
	t = tool(b, "xfsprogs for mkfs.xfs");
	assert_non_null(t);
	assert_string_equal(t->package.program, "mkfs.xfs");
	assert_string_equal(t->package.names.v[0], "xfsprogs");
	assert_true(is_after(plan_get(&b->plan, TASK_VOLUME, "/x"), t));
	assert_true(is_after(plan_get(&b->plan, TASK_FILE, "/var/lib/kubelet/kubeconfig"), t));
	assert_false(is_after(plan_get(&b->plan, TASK_VOLUME, "/p"), t));
	/* for the volume alone: nobody needs it when that is right */
	assert_true(task_serves(t, plan_get(&b->plan, TASK_VOLUME, "/x")));
	t = tool(b, "mdadm for mdadm");
	assert_non_null(t);
	assert_true(is_after(plan_get(&b->plan, TASK_VOLUME, "/m"), t));

	/* a distribution without a package manager */
	b = box(a);
	b->w.facts.distribution = "flatcar";
	add(a, b, &xfs);
	build(a, b);
	assert_null(tool(b, "xfsprogs for mkfs.xfs"));
}

static void without_an_instance_id(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct box *b = box(a);
	const struct node_volume v = with_docker(a);
	struct err e;

	(void)state;
	b->w.facts.instance_id = NULL;
	add(a, b, &v);
	assert_true(plan_build(a, &b->req, &b->plan, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "volume /mnt/disks: the fact instanceID is not known");
	b->req.image_mode = true;
	build(a, b);
	assert_true(
		strv_has(&b->plan.warnings,
			 "volume /mnt/disks: an image has no instance id; its units are written "
			 "where it boots"));
	assert_null(plan_look(&b->plan, TASK_VOLUME, "/mnt/disks"));
	assert_null(plan_look(&b->plan, TASK_FILE,
			      "/etc/systemd/system/docker.service.d/20-nodeup-volumes.conf"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_volume_is_a_task_and_a_mount_unit),
		cmocka_unit_test(the_limit_is_the_device_s),
		cmocka_unit_test(a_bind_asserts_that_its_content_was_moved),
		cmocka_unit_test(the_order_of_a_move),
		cmocka_unit_test(what_is_below_a_mount_is_written_after_it),
		cmocka_unit_test(an_inner_mount_waits_for_the_outer),
		cmocka_unit_test(swap_is_a_swap_unit),
		cmocka_unit_test(whose_the_uuid_is),
		cmocka_unit_test(ext4_is_checked_before_it_is_mounted),
		cmocka_unit_test(what_makes_a_volume_is_installed_first),
		cmocka_unit_test(without_an_instance_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
