/* Tests: test_build_volumes.c. */
#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/plan/volumes.h"
#include "nodeup/tasks/volume_uuid.h"

/* Since this version JobRunningTimeoutSec= limits the job only while it runs. In older versions the limit counts
 * from when the job is queued. */
enum { SYSTEMD_RUNNING_TIMEOUT = 233 };

static const char mount_options_always[] = "nofail";

static const char *unit_of(struct plan *p, const char *path, const char *type)
{
	return arena_printf(p->arena, "%s.%s", unit_escape_path(p->arena, path), type);
}

/* The unit starts early, so that it stops late. The unit never delays the boot: local-fs.target and swap.target want
 * it, but do not wait for it. */
#define HEAD                            \
	"[Unit]\n"                      \
	"Description=%s\n"              \
	"Documentation=man:nodeup(8)\n" \
	"DefaultDependencies=no\n"      \
	"Conflicts=umount.target\n"     \
	"Before=umount.target\n"

/* Limits how long systemd waits for the device. x-systemd.device-timeout= works only in fstab, so the limit goes to
 * the job of the device itself. */
static void add_device_limit(struct plan *p, const struct node_volume *v, const char *device)
{
	const int64_t systemd = p->req->facts->systemd;
	const char *key = systemd && systemd < SYSTEMD_RUNNING_TIMEOUT ? "JobTimeoutSec"
								       : "JobRunningTimeoutSec";

	plan_unit_file(p,
		       arena_printf(p->arena, "%s.d/50-nodeup.conf", unit_of(p, device, "device")),
		       arena_printf(p->arena, "[Unit]\n%s=%lds\n", key,
				    (long)(v->device_timeout_ns / DUR_SEC)));
}

static void add_swap(struct plan *p, const struct node_volume *v, const char *device)
{
	const char *text = arena_printf(p->arena,
					HEAD "\n"
					     "[Swap]\n"
					     "What=%s\n"
					     "Options=%s\n"
					     "\n"
					     "[Install]\n"
					     "WantedBy=swap.target\n",
					arena_printf(p->arena, "Volume %s", v->name), device,
					mount_options_always);
	struct task *t = plan_service(p, unit_of(p, device, "swap"), text, true);

	/* a mount is not restarted when its text changes: the services that use it would have to stop */
	t->unit.inputs = (struct strv){ 0 };
	t->unit.volume = v->name;
}

static const char *mount_options(struct plan *p, const struct node_volume *v)
{
	struct strv all = { 0 };

	strv_add_all(p->arena, &all, &v->mount_options);
	strv_add_once(p->arena, &all, mount_options_always);
	return strv_join(p->arena, &all, ",");
}

/* A mount unit that boot pulls in. */
struct mount {
	const char *description, *orders; /* lines of [Unit] */
	const char *what, *where, *type, *options;
};

static struct task *add_mount(struct plan *p, const struct mount *m)
{
	const char *text = arena_printf(p->arena,
					HEAD "%s"
					     "\n"
					     "[Mount]\n"
					     "What=%s\n"
					     "Where=%s\n"
					     "Type=%s\n"
					     "Options=%s\n"
					     "\n"
					     "[Install]\n"
					     "WantedBy=local-fs.target\n",
					m->description, m->orders, m->what, m->where, m->type,
					m->options);
	struct task *t = plan_service(p, unit_of(p, m->where, "mount"), text, true);

	t->unit.inputs = (struct strv){ 0 };
	t->unit.where = m->where;
	return t;
}

/* Returns the lines that systemd generates for a line of fstab with a pass number. A file system that fsck could not
 * repair is not mounted. All kinds but ext4 repair themselves when they are mounted. */
static const char *fsck_orders(struct plan *p, const struct node_volume *v, const char *device)
{
	const char *name = unit_escape_path(p->arena, device);

	if (strcmp(v->filesystem, "ext4") != 0)
		return "";
	return arena_printf(p->arena,
			    "Requires=systemd-fsck@%s.service\n"
			    "After=systemd-fsck@%s.service\n",
			    name, name);
}

static void add_file_system(struct plan *p, const struct node_volume *v, const char *device)
{
	const struct mount m = {
		.description = arena_printf(p->arena, "Volume %s", v->name),
		.orders = arena_printf(p->arena, "After=local-fs-pre.target\n%s",
				       fsck_orders(p, v, device)),
		.what = device,
		.where = v->path,
		.type = v->filesystem,
		.options = mount_options(p, v),
	};

	add_mount(p, &m)->unit.volume = v->name;
}

/* Adds the bind mount of a folder on the volume. The unit asserts that the copy is complete. A condition would not
 * be enough: if it fails, a service that requires the mount still starts, on the bare directory. The bare directory
 * is right only while content that could not be moved is still there. */
static void add_bind_mount(struct plan *p, const struct node_volume *v, const struct node_bind *b)
{
	const char *machine = p->req->facts->instance_id;
	const char *marker = volumes_specifier_free(p->arena, b->target);
	const struct mount m = {
		.description = arena_printf(p->arena, "%s of volume %s", b->source, v->name),
		.orders = arena_printf(p->arena,
				       "RequiresMountsFor=%s\n"
				       "ConditionPathExists=!" OWN_UNMOVED_DIR "/%s\n"
				       "AssertPathExists=%s/.nodeup/%s@%s\n",
				       v->path, marker, v->path, marker,
				       machine ? machine : "unknown"),
		.what = arena_printf(p->arena, "%s/%s", v->path, b->source),
		.where = b->target,
		.type = "none",
		.options = arena_printf(p->arena, "bind,%s", mount_options_always),
	};

	strv_add(p->arena, &add_mount(p, &m)->unit.needs_mounts, v->path);
}

static void add_bind(struct plan *p, const struct node_volume *v, const struct node_bind *b)
{
	static const enum task_kind kinds[] = { TASK_STOP, TASK_MOVE, TASK_RESUME };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct task *t = plan_new_task(p, kinds[i], b->target);

		t->move = (struct task_move){
			.source = b->target,
			.target = arena_printf(p->arena, "%s/%s", v->path, b->source),
			.mount_point = v->path,
			.machine = p->req->facts->instance_id,
			.units = b->units,
			.aside = b->aside,
		};
		t->always = kinds[i] == TASK_RESUME;
	}
	add_bind_mount(p, v, b);
}

/* Adds drop-ins, so that the services that use a volume never see the bare directory. */
static void add_dropins(struct plan *p)
{
	const struct strv services = volumes_services(p);

	for (size_t i = 0; i < services.n; i++) {
		const struct strv mounts = volumes_of_service(p, services.v[i]);

		plan_unit_file(p,
			       arena_printf(p->arena, "%s.d/20-nodeup-volumes.conf", services.v[i]),
			       arena_printf(p->arena, "[Unit]\nRequiresMountsFor=%s\n",
					    strv_join(p->arena, &mounts, " ")));
	}
}

/* Makes etcd's data private to its owner. Through the bind mount the directory on the volume gets this mode. */
static void add_private(struct plan *p, const struct node_volume *v)
{
	for (size_t i = 0; i < v->binds.n; i++)
		if (str_eq(v->binds.v[i].target, "/var/etcd"))
			plan_dir(p, v->binds.v[i].target, 0700)->dir.any_owner = true;
}

static void add_volume(struct plan *p, const struct node_volume *v)
{
	const char *uuid = volumes_uuid(p, v);
	const char *device = arena_printf(p->arena, "/dev/disk/by-uuid/%s", uuid);
	const struct strv programs = volume_tools(p, v);
	struct task *t = plan_new_task(p, TASK_VOLUME, v->name);

	t->volume = (struct task_volume){
		.want = v,
		.uuid = uuid,
		.machine = p->req->facts->instance_id,
		.programs = programs,
	};
	add_device_limit(p, v, device);
	if (v->path)
		add_file_system(p, v, device);
	else
		add_swap(p, v, device);
	for (size_t i = 0; i < v->binds.n; i++)
		add_bind(p, v, &v->binds.v[i]);
	add_private(p, v);
}

void build_volumes(struct plan *p)
{
	const struct node_volumes *volumes = &p->req->node->volumes;

	for (size_t i = 0; i < volumes->n; i++) {
		const struct node_volume *v = &volumes->v[i];

		p->asked = tree_where(p->arena, &v->pos);
		if (volumes_uuid(p, v)) {
			add_volume(p, v);
		} else if (p->req->image_mode) {
			plan_warn(p,
				  "volume %s: an image has no instance id; its units "
				  "are written where it boots",
				  v->name);
		} else {
			plan_refuse(p, "volume %s: the fact instanceID is not known", v->name);
		}
	}
	add_dropins(p);
}
