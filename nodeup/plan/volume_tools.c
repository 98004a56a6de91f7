#include "nodeup/plan/volumes.h"

#include <string.h>
#include "nodeup/plan/environment.h"
#include "nodeup/plan/questions.h"
#include "nodeup/plan/release.h"
#include "nodeup/plan/tasklist.h"
#include "nodeup/volumes/mkfs.h"

static const char mdadm[] = "mdadm";

/* Returns whether the volume may lie on more than one disk, as far as the documents say. */
static bool is_over_several(const struct plan *p, const struct node_volume *v)
{
	const struct opt_int *store = &p->req->facts->instance_store;

	if (v->disks == NODE_DISKS_PATHS)
		return v->devices.n > 1;
	return v->disks == NODE_DISKS_INSTANCE_STORE && v->nth < 0 && store->set && store->v > 1;
}

static const char *package_of(const struct release *r, const struct mkfs_kind *kind)
{
	return r->btrfs && strcmp(kind->fs, "btrfs") == 0 ? r->btrfs : kind->package;
}

static void add_package(struct plan *p, const char *package, const char *program,
			struct strv *programs)
{
	const char *name = arena_printf(p->arena, "%s for %s", package, program);
	struct task *t;

	strv_add(p->arena, programs, program);
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_PACKAGE && strcmp(p->tasks[i]->name, name) == 0)
			return;
	t = plan_new_task(p, TASK_PACKAGE, name);
	t->package = (struct task_package){
		.family = plan_distro(p)->family,
		.env = plan_proxy_words(p),
		.program = program,
	};
	strv_add(p->arena, &t->package.names, package);
}

struct strv volume_tools(struct plan *p, const struct node_volume *v)
{
	const struct mkfs_kind *kind = mkfs_kind(v->filesystem);
	const struct distro *d = plan_distro(p);
	struct strv programs = { 0 };

	/* without a package manager the host must have the tools, or mkfs reports what is missing */
	if (!kind || d->family == PACKAGE_NONE)
		return programs;
	/* every Linux host has e2fsprogs and util-linux */
	if (strcmp(kind->fs, "xfs") == 0 || strcmp(kind->fs, "btrfs") == 0)
		add_package(p, package_of(plan_release(p), kind), kind->tool, &programs);
	if (kind->on_raid && is_over_several(p, v))
		add_package(p, mdadm, mdadm, &programs);
	return programs;
}

bool volume_tools_is_for(const struct task *volume, const struct task *package)
{
	return package->package.program &&
	       strv_has(&volume->volume.programs, package->package.program);
}

/* Returns whether the file comes before the package. Files may lie on a volume that needs the package first, so such
 * a package waits only for settings of apt. */
bool volume_tools_is_before(const struct task *package, const struct task *file)
{
	return !package->package.program || str_has_prefix(file->name, "/etc/apt/");
}
