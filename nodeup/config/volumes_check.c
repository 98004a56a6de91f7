#include "nodeup/config/volume.h"

#include <string.h>
#include "nodeup/base/paths.h"

/* Lists services that keep files open below a directory. These services must stop before a mount, because a running
 * service does not see a new mount. Containers use directories of pods and logs too; the containers end with their
 * runtime, or the run waits for their end. */
static const struct {
	const char *path, *units;
} users[] = {
	{ "/var/lib/docker", "docker.socket docker.service" },
	{ "/var/lib/containerd", "docker.socket docker.service containerd.service" },
	{ "/var/lib/kubelet", "kubelet.service docker.socket docker.service containerd.service" },
	{ "/var/log/pods", "kubelet.service docker.socket docker.service containerd.service" },
};

/* Lists directories of the system and of nodeup, on which nothing may be mounted. If the name ends with a slash,
 * nothing may be mounted below it either. */
static const char *const taken[] = {
	"/",        "/bin/",      "/boot/",         "/dev/",         "/etc/",     "/lib/",
	"/lib64/",  "/proc/",     "/root",          "/run/",         "/sbin/",    "/sys/",
	"/usr",     "/usr/bin/",  "/usr/lib/",      "/usr/sbin/",    "/var",      "/var/lib",
	"/var/log", "/var/cache", "/var/lib/dpkg/", "/var/lib/rpm/", OWN_LIB "/", OWN_CACHE "/",
	"/opt",     "/home",      "/tmp",
};

struct strv volumes_users(struct arena *a, const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (str_eq(users[i].path, path))
			return strv_split(a, users[i].units, ' ');
	return (struct strv){ 0 };
}

const char *volumes_device(struct arena *a, const char *device)
{
	if (str_has_prefix(device, "/dev/sd"))
		return arena_printf(a, "/dev/xvd%s", device + strlen("/dev/sd"));
	return device;
}

static bool is_taken(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
		const bool whole = taken[i][1] && str_has_suffix(taken[i], "/");

		if (strcmp(path, taken[i]) == 0 || (whole && str_is_within(path, taken[i])))
			return true;
	}
	return false;
}

static const char *prefix_of(struct arena *a, const struct tree_pos *pos)
{
	const char *where = tree_where(a, pos);

	return *where ? arena_printf(a, "%s: ", where) : "";
}

int volumes_check_path(struct arena *a, const struct tree_pos *pos, const char *what,
		       const char *path, struct err *e)
{
	const char *where = prefix_of(a, pos);

	if (*path != '/')
		return err_config(e, "%s%s: '%s' is not absolute", where, what, path);
	if (!str_has_only(path, "/._+:@=-"))
		return err_config(e, "%s%s: '%s' has a character that no mount point may have",
				  where, what, path);
	if (strcmp(path, "/") != 0 && (!str_is_path(path) || str_has_suffix(path, "/")))
		return err_config(e, "%s%s: '%s' has an empty, '.' or '..' component", where, what,
				  path);
	if (is_taken(path))
		return err_config(e, "%s%s: '%s' is in use by the system", where, what, path);
	return 0;
}

/* A mount point, in the order of the document. */
struct point {
	const char *path;
	const struct tree_pos *pos;
};

static int check_points(struct arena *a, const struct point *p, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			const char *where = prefix_of(a, p[k].pos);

			if (strcmp(p[i].path, p[k].path) == 0)
				return err_config(e, "%s'%s' is mounted twice, first by %s", where,
						  p[k].path, tree_where(a, p[i].pos));
			if (str_is_within(p[i].path, p[k].path))
				return err_config(e,
						  "%s'%s' would hide '%s', which stands before it: "
						  "put the outer one first",
						  where, p[k].path, p[i].path);
		}
	return 0;
}

/* A directory of a volume that is also mounted elsewhere. */
struct source {
	const char *path;
	const struct node_volume *of;
	const struct tree_pos *pos;
};

/* Refuses a directory inside the directory of another bind, because each directory is emptied before content moves
 * into it. Refuses another volume that is mounted inside this volume at, below or above the directory. */
static int check_source(struct arena *a, const struct node_volumes *v, const struct source *all,
			const struct source *s, struct err *e)
{
	const char *where = prefix_of(a, s->pos);

	for (const struct source *o = all; o < s; o++)
		if (str_is_within(o->path, s->path) || str_is_within(s->path, o->path))
			return err_config(e, "%sthe sources '%s' and '%s' overlap", where, s->path,
					  o->path);
	for (size_t i = 0; i < v->n; i++) {
		const char *path = v->v[i].path;

		if (path && &v->v[i] != s->of && str_is_within(path, s->of->path) &&
		    (str_is_within(path, s->path) || str_is_within(s->path, path)))
			return err_config(e, "%sthe source '%s' is where '%s' is mounted", where,
					  s->path, path);
	}
	return 0;
}

static int check_sources(struct arena *a, const struct node_volumes *v, struct err *e)
{
	struct source *all = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; v->v[i].path && k < v->v[i].binds.n; k++) {
			const struct node_bind *b = &v->v[i].binds.v[k];

			arena_push(
				a, all, n,
				(struct source){ arena_printf(a, "%s/%s", v->v[i].path, b->source),
						 &v->v[i], &b->pos });
		}
	for (size_t i = 0; i < n && r == 0; i++)
		r = check_source(a, v, all, &all[i], e);
	return r;
}

/* Adds the names of the volume's disks, such as "/dev/xvdf". The names show whether two volumes are on one disk. */
static void add_names(struct arena *a, const struct node_volume *v, struct strv *names)
{
	switch (v->disks) {
	case NODE_DISKS_PATHS:
		for (size_t i = 0; i < v->devices.n; i++)
			strv_add(a, names, volumes_device(a, v->devices.v[i]));
		break;
	case NODE_DISKS_INSTANCE_STORE:
		strv_add(a, names,
			 v->nth < 0 ? "instance store"
				    : arena_printf(a, "instance store %d", (int)v->nth));
		break;
	case NODE_DISKS_VOLUME_ID:
		strv_add(a, names, v->volume_id);
		break;
	}
}

/* Returns whether two names mean the same disk: the whole instance store includes each of its disks. */
static bool is_same_disk(const char *a, const char *b)
{
	static const char all[] = "instance store";

	return strcmp(a, b) == 0 || (strcmp(a, all) == 0 && str_has_prefix(b, all)) ||
	       (strcmp(b, all) == 0 && str_has_prefix(a, all));
}

static int check_disks(struct arena *a, const struct node_volumes *v, struct err *e)
{
	struct strv names = { 0 };
	size_t *owner = NULL, n = 0;

	for (size_t i = 0; i < v->n; i++) {
		const size_t before = names.n;

		add_names(a, &v->v[i], &names);
		for (size_t k = before; k < names.n; k++) {
			for (size_t old = 0; old < k; old++)
				if (is_same_disk(names.v[old], names.v[k]))
					return err_config(e,
							  "%s%s is asked for twice, first for %s",
							  prefix_of(a, &v->v[i].pos), names.v[k],
							  old < before ? v->v[owner[old]].name
								       : v->v[i].name);
			arena_push(a, owner, n, i);
		}
	}
	return 0;
}

int volumes_check(struct arena *a, const struct node_volumes *v, struct err *e)
{
	struct point *points = NULL;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < v->n; i++) {
		const struct node_volume *one = &v->v[i];

		if (one->path)
			arena_push(a, points, n, (struct point){ one->path, &one->pos });
		for (size_t k = 0; k < one->binds.n; k++)
			arena_push(a, points, n,
				   (struct point){ one->binds.v[k].target, &one->binds.v[k].pos });
	}
	r = check_points(a, points, n, e);
	if (r == 0)
		r = check_sources(a, v, e);
	return r < 0 ? r : check_disks(a, v, e);
}
