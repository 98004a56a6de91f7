#include "nodeup/plan/volumes.h"

#include <string.h>
#include "nodeup/tasks/volume_uuid.h"

static const char kubelet[] = "kubelet.service";

/* Returns the owner of the disks: an EBS volume is its own owner, all other disks belong to this machine. */
static const char *disk_owner(const struct plan *p, const struct node_volume *v)
{
	if (v->disks == NODE_DISKS_VOLUME_ID)
		return v->volume_id;
	return p->req->facts->instance_id;
}

const char *volumes_uuid(const struct plan *p, const struct node_volume *v)
{
	const char *known = strmap_get(&p->req->volume_uuids, v->name);
	const char *of = disk_owner(p, v);

	if (known)
		return known;
	return of ? volume_uuid(p->arena, of, v->name) : NULL;
}

/* Returns whether a unit of ours mounts the volume by its UUID. */
static bool is_mounted(const struct plan *p, const struct node_volume *v)
{
	return v->path && volumes_uuid(p, v);
}

struct strv volumes_services(const struct plan *p)
{
	const struct node_volumes *all = &p->req->node->volumes;
	struct strv out = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct node_volume *v = &all->v[i];

		if (!is_mounted(p, v))
			continue;
		strv_add_once(p->arena, &out, kubelet);
		for (size_t k = 0; k < v->binds.n; k++)
			for (size_t u = 0; u < v->binds.v[k].units.n; u++)
				if (str_has_suffix(v->binds.v[k].units.v[u], ".service"))
					strv_add_once(p->arena, &out, v->binds.v[k].units.v[u]);
	}
	return out;
}

struct strv volumes_of_service(const struct plan *p, const char *service)
{
	const struct node_volumes *all = &p->req->node->volumes;
	struct strv out = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct node_volume *v = &all->v[i];

		if (!is_mounted(p, v))
			continue;
		if (strcmp(service, kubelet) == 0)
			strv_add_once(p->arena, &out, v->path);
		for (size_t k = 0; k < v->binds.n; k++)
			if (strcmp(service, kubelet) == 0 ||
			    strv_has(&v->binds.v[k].units, service))
				strv_add_once(p->arena, &out, v->binds.v[k].target);
	}
	return out;
}

const char *volumes_specifier_free(struct arena *a, const char *target)
{
	const char *name = unit_escape_path(a, target);
	char *text = arena_alloc(a, 2 * strlen(name) + 1), *out = text;

	for (; *name; name++) {
		if (*name == '%')
			*out++ = '%';
		*out++ = *name;
	}
	return text;
}

bool volumes_is_mount(const struct task *unit)
{
	return unit->unit.where || unit->unit.volume;
}

bool volumes_needs_mount(const struct task *t, const struct task *unit)
{
	if (!unit->unit.where)
		return false;
	if (strv_has(&t->unit.needs_mounts, unit->unit.where))
		return true;
	return t->unit.where && strcmp(t->unit.where, unit->unit.where) != 0 &&
	       str_is_within(t->unit.where, unit->unit.where);
}

bool volumes_is_below(const struct task *t, const struct task *unit)
{
	return unit->unit.where && str_is_within(task_path(t), unit->unit.where);
}

bool volumes_is_bind(const struct task *unit)
{
	return unit->unit.where && !unit->unit.volume;
}
