#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/plan/volume_tools.h"
#include "nodeup/plan/volumes.h"
#include "nodeup/tasks/volume_uuid.h"

/* JobRunningTimeoutSec= is of this version; before it the whole life of the job has a limit. */
enum { SYSTEMD_RUNNING_TIMEOUT = 233 };

static const char mount_options_always[] = "nofail";

/* What a volume's own units are called after. */
struct naming {
	const char *uuid, *what; /* "/dev/disk/by-uuid/..." */
};

static const char *unit_of(struct plan *p, const char *path, const char *type)
{
	return arena_printf(p->arena, "%s.%s", unit_escape_path(p->arena, path), type);
}

/* Early enough to be stopped late, and never in the way of boot: local-fs.target and swap.target
 * want it, and neither waits for it. */
static void add_head(struct plan *p, struct unit *u, const char *description)
{
	unit_set(p->arena, u, "Unit", "Description", description);
	unit_set(p->arena, u, "Unit", "Documentation", "man:nodeup(8)");
	unit_set(p->arena, u, "Unit", "DefaultDependencies", "no");
	unit_set(p->arena, u, "Unit", "Conflicts", "umount.target");
	unit_set(p->arena, u, "Unit", "Before", "umount.target");
}

/* x-systemd.device-timeout= counts in fstab only: the limit belongs to the device's own job. */
static int add_device_limit(struct plan *p, const struct node_volume *v, const struct naming *n,
			    struct err *e)
{
	const int64_t systemd = p->req->facts->systemd;
	const char *key = systemd && systemd < SYSTEMD_RUNNING_TIMEOUT ? "JobTimeoutSec"
								       : "JobRunningTimeoutSec";
	struct unit u = { 0 };

	unit_set(p->arena, &u, "Unit", key,
		 arena_printf(p->arena, "%lds", (long)(v->device_timeout_ns / DUR_SEC)));
	return plan_unit_file(p,
			      arena_printf(p->arena, "%s.d/50-nodeup.conf",
					   unit_of(p, n->what, "device")),
			      &u, e)
		       ? 0
		       : -EINVAL;
}

static int add_swap(struct plan *p, const struct node_volume *v, const struct naming *n,
		    struct err *e)
{
	const char *name = unit_of(p, n->what, "swap");
	struct unit u = { 0 };
	struct task *t;

	add_head(p, &u, arena_printf(p->arena, "Volume %s", v->name));
	unit_set(p->arena, &u, "Swap", "What", n->what);
	unit_set(p->arena, &u, "Swap", "Options", mount_options_always);
	unit_set(p->arena, &u, "Install", "WantedBy", "swap.target");
	if (!plan_unit_file(p, name, &u, e))
		return -EINVAL;
	t = plan_unit(p, name, true, e);
	if (!t)
		return -EINVAL;
	/* a mount is not restarted because its text changed: the services that use it would have to stop */
	t->unit.inputs = (struct strv){ 0 };
	t->unit.volume = v->name;
	return 0;
}

static const char *options(struct plan *p, const struct node_volume *v)
{
	struct strv all = { 0 };

	for (size_t i = 0; i < v->mount_options.n; i++)
		strv_add(p->arena, &all, v->mount_options.v[i]);
	if (!strv_has(&all, mount_options_always))
		strv_add(p->arena, &all, mount_options_always);
	return strv_join(p->arena, &all, ",");
}

/* A mount unit that is wanted at boot; NULL with *e filled. */
static struct task *add_mount(struct plan *p, struct unit *u, const char *where, struct err *e)
{
	const char *name = unit_of(p, where, "mount");
	struct task *t;

	unit_set(p->arena, u, "Install", "WantedBy", "local-fs.target");
	if (!plan_unit_file(p, name, u, e))
		return NULL;
	t = plan_unit(p, name, true, e);
	if (!t)
		return NULL;
	t->unit.inputs = (struct strv){ 0 };
	t->unit.where = where;
	return t;
}

/* As systemd does for a line of fstab with a pass number; the others repair themselves when they are
 * mounted. What could not be repaired is not mounted. */
static void add_fsck(struct plan *p, struct unit *u, const struct node_volume *v,
		     const struct naming *n)
{
	const char *check = arena_printf(p->arena, "systemd-fsck@%s.service",
					 unit_escape_path(p->arena, n->what));

	if (strcmp(v->filesystem, "ext4") != 0)
		return;
	unit_set(p->arena, u, "Unit", "Requires", check);
	unit_set(p->arena, u, "Unit", "After", check);
}

static int add_file_system(struct plan *p, const struct node_volume *v, const struct naming *n,
			   struct err *e)
{
	struct unit u = { 0 };
	struct task *t;

	add_head(p, &u, arena_printf(p->arena, "Volume %s", v->name));
	unit_set(p->arena, &u, "Unit", "After", "local-fs-pre.target");
	add_fsck(p, &u, v, n);
	unit_set(p->arena, &u, "Mount", "What", n->what);
	unit_set(p->arena, &u, "Mount", "Where", v->path);
	unit_set(p->arena, &u, "Mount", "Type", v->filesystem);
	unit_set(p->arena, &u, "Mount", "Options", options(p, v));
	t = add_mount(p, &u, v->path, e);
	if (!t)
		return -EINVAL;
	t->unit.volume = v->name;
	return 0;
}

/* The marker of a complete copy is asserted, not a condition. A unit that requires a mount whose condition
 * does not hold starts all the same, on the bare directory. That is right only for content that could
 * not be moved, and is still there. */
static int add_bind_mount(struct plan *p, const struct node_volume *v, const struct node_bind *b,
			  struct err *e)
{
	const char *machine = p->req->facts->instance_id;
	struct arena *a = p->arena;
	struct unit u = { 0 };
	struct task *t;

	add_head(p, &u, arena_printf(a, "%s of volume %s", b->source, v->name));
	unit_set(a, &u, "Unit", "RequiresMountsFor", v->path);
	unit_set(a, &u, "Unit", "ConditionPathExists",
		 arena_printf(a, "!" OWN_UNMOVED_DIR "/%s", volumes_specifier_free(a, b->target)));
	unit_set(a, &u, "Unit", "AssertPathExists",
		 arena_printf(a, "%s/.nodeup/%s@%s", v->path, volumes_specifier_free(a, b->target),
			      machine ? machine : "unknown"));
	unit_set(a, &u, "Mount", "What", arena_printf(a, "%s/%s", v->path, b->source));
	unit_set(a, &u, "Mount", "Where", b->target);
	unit_set(a, &u, "Mount", "Type", "none");
	unit_set(a, &u, "Mount", "Options", arena_printf(a, "bind,%s", mount_options_always));
	t = add_mount(p, &u, b->target, e);
	if (!t)
		return -EINVAL;
	strv_add(a, &t->unit.needs_mounts, v->path);
	return 0;
}

static int add_bind(struct plan *p, const struct node_volume *v, const struct node_bind *b,
		    struct err *e)
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
	return add_bind_mount(p, v, b, e);
}

/* The services that a volume is mounted for never see the bare directory. */
static int add_dropins(struct plan *p, struct err *e)
{
	const struct strv services = volumes_services(p);

	for (size_t i = 0; i < services.n; i++) {
		const struct strv mounts = volumes_of_service(p, services.v[i]);
		struct unit u = { 0 };

		unit_set(p->arena, &u, "Unit", "RequiresMountsFor",
			 strv_join(p->arena, &mounts, " "));
		if (!plan_unit_file(
			    p, arena_printf(p->arena, "%s.d/20-nodeup-volumes.conf", services.v[i]),
			    &u, e))
			return -EINVAL;
	}
	return 0;
}

/* etcd's data is for root alone; through the bind, the volume's directory gets this mode. */
static int add_private(struct plan *p, const struct node_volume *v, struct err *e)
{
	for (size_t i = 0; i < v->binds.n; i++)
		if (str_eq(v->binds.v[i].target, "/var/etcd") &&
		    !plan_dir(p, v->binds.v[i].target, 0700, e))
			return -EINVAL;
	return 0;
}

static int add_volume(struct plan *p, const struct node_volume *v, struct err *e)
{
	const struct naming n = {
		.uuid = volumes_uuid(p, v),
		.what = arena_printf(p->arena, "/dev/disk/by-uuid/%s", volumes_uuid(p, v)),
	};
	const struct strv programs = volume_tools(p, v);
	struct task *t = plan_new_task(p, TASK_VOLUME, v->name);

	int r;

	t->volume = (struct task_volume){
		.want = v,
		.uuid = n.uuid,
		.machine = p->req->facts->instance_id,
		.programs = programs,
	};
	r = add_device_limit(p, v, &n, e);
	if (r == 0)
		r = v->path ? add_file_system(p, v, &n, e) : add_swap(p, v, &n, e);
	for (size_t i = 0; i < v->binds.n && r == 0; i++)
		r = add_bind(p, v, &v->binds.v[i], e);
	return r < 0 ? r : add_private(p, v, e);
}

static int make_volumes(struct plan *p, struct err *e)
{
	const struct node_volumes *volumes = plan_volumes(p->req);
	int r = 0;

	for (size_t i = 0; i < volumes->n; i++) {
		const struct node_volume *v = &volumes->v[i];

		if (volumes_uuid(p, v)) {
			r = add_volume(p, v, e);
		} else if (p->req->image_mode) {
			strv_add(p->arena, &p->warnings,
				 arena_printf(p->arena,
					      "volume %s: an image has no instance id; its units "
					      "are written where it boots",
					      v->name));
		} else {
			r = err_config(e, "volume %s: the fact instanceID is not known", v->name);
		}
		if (r < 0)
			return r;
	}
	return add_dropins(p, e);
}

const struct plan_builder build_volumes = { .name = "volumes", .build = make_volumes };

static int make_claims(struct plan *p, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < p->req->n_claims; i++) {
		const struct plan_claim *c = &p->req->claims[i];

		plan_new_task(p, TASK_ATTACH, c->what)->attach =
			(struct task_attach){ .is_here = c->is_here, .why = c->why };
	}
	return 0;
}

const struct plan_builder build_claims = { .name = "claims", .build = make_claims };
