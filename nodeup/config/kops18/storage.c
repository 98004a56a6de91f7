/* storage.c - what the documents say about disks, and docker's storage driver
 * kops' volumeMounts with selectors beyond a path, and the two settings of kube-up; both become volumes of the
 * model. A value that makes no sense is an error with its place, before anything is changed.
 * Source: kops pkg/apis/kops VolumeMountSpec; kube-up 1.2 to 1.5 format-disks.sh. */
#include "nodeup/config/kops18/spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/volume_item.h"

/* How long a disk may take to appear: a disk that exists at boot, and a disk that is attached later. */
#define TIMEOUT_NS (60 * DUR_SEC)
#define ATTACH_TIMEOUT_NS (300 * DUR_SEC)

enum { NTH_MAX = 63, VOLUMES_MAX = 100 };

/* clang-format off */
/* A bind mount, as the document has it. */
#define BIND(X) \
	X(const char *, source, "source", .required = true, .doc = "folder of the volume, relative") \
	X(const char *, target, "target", .required = true, .doc = "where it is seen too") \
	X(struct strv, units, "units", .doc = "services that use the target")

/* One item of volumeMounts, with keys that kops lacks.
 * source: kops pkg/apis/kops/instancegroup.go VolumeMountSpec */
#define MOUNT(X) \
	X(const char *, device, "device", .doc = "the disk by its path; /dev/sdf is /dev/xvdf") \
	X(struct strv, devices, "devices", .doc = "or several of them") \
	X(const char *, instance_store, "instanceStore", .doc = "or the instance store: all, or a number from 0") \
	X(const char *, volume_id, "volumeID", .doc = "or the EBS volume with this id") \
	X(const char *, tag, "tag", .doc = "not used: name the volumeID or the device") \
	X(const char *, path, "path", .doc = "mount point; none for swap") \
	X(const char *, filesystem, "filesystem", .oneof = "ext4|xfs|btrfs|swap|", .usual = "ext4", .doc = "what it is formatted as") \
	X(struct strv, format_options, "formatOptions", .doc = "arguments for mkfs") \
	X(struct strv, mount_options, "mountOptions", .doc = "noatime unless given") \
	X(const char *, raid, "raid", .oneof = "raid0|raid1|raid10|", .doc = "of several disks; raid0 unless given") \
	X(const char *, label, "label", .doc = "label of the file system") \
	X(struct opt_bool, persist, "persist", .doc = "outlives the instance: formatted only if it reads as zeros") \
	X(struct opt_dur, device_timeout, "deviceTimeout", .doc = "how long the disk may take to appear") \
	X##_LIST(struct bind, binds, &bind_schema, "binds", \
	  .doc = "folders of it that are seen elsewhere; content there is moved first; none at /mnt/master-pd on a " \
		 "master: /var/etcd, /srv/kubernetes and /srv/sshproxy")
/* clang-format on */

struct bind {
	BIND(FIELD_MEMBER)
};

struct mount {
	MOUNT(FIELD_MEMBER)
};

static const struct schema bind_schema = SCHEMA_OF_LIST(struct bind, "VolumeBind", BIND);
const struct schema storage_mount_schema = SCHEMA_OF_LIST(struct mount, "VolumeMountSpec", MOUNT);

/* One item of volumeMounts on its way into the model. */
struct item {
	struct kops18_build *b;
	struct volume_item i;
	struct mount m;
};

static int set_devices(struct item *it)
{
	const struct mount *m = &it->m;

	if (m->device)
		strv_add(it->i.arena, &it->i.v.devices, m->device);
	strv_add_all(it->i.arena, &it->i.v.devices, &m->devices);
	return volume_item_devices(&it->i, m->device ? "device" : "devices");
}

static int set_instance_store(struct item *it)
{
	const char *text = it->m.instance_store;
	char *end = NULL;
	long nth = -1;

	it->i.v.disks = NODE_DISKS_INSTANCE_STORE;
	it->i.v.nth = -1;
	if (strcmp(text, "all") == 0)
		return 0;
	if (isdigit((unsigned char)*text))
		nth = strtol(text, &end, 10);
	if (nth < 0 || nth > NTH_MAX || *end != '\0')
		return volume_item_fail(&it->i, "instanceStore",
					"expected all or a number from 0, found '%s'", text);
	it->i.v.nth = nth;
	return 0;
}

static int set_volume_id(struct item *it)
{
	static const char hex[] = "0123456789abcdef";
	const char *id = it->m.volume_id;

	it->i.v.disks = NODE_DISKS_VOLUME_ID;
	it->i.v.volume_id = id;
	if (str_has_prefix(id, "vol-") && id[4] && strspn(id + 4, hex) == strlen(id + 4))
		return 0;
	return volume_item_fail(&it->i, "volumeID",
				"expected vol- and hexadecimal digits, found '%s'", id);
}

/* Refuses the key tag: nodeup does not ask EC2 for the volume's id, as its older versions did. */
static int refuse_tag(struct item *it)
{
	return volume_item_fail(&it->i, "tag", "name its volumeID or device");
}

/* Exactly one of these keys selects the disks. */
static int set_disks(struct item *it)
{
	const struct mount *m = &it->m;
	const struct {
		bool there;
		const char *key;
		int (*set)(struct item *it);
	} selectors[] = {
		{ m->device || m->devices.n, "device", set_devices },
		{ m->instance_store, "instanceStore", set_instance_store },
		{ m->volume_id, "volumeID", set_volume_id },
		{ m->tag, "tag", refuse_tag },
	};
	size_t which = ARRAY_LEN(selectors);

	for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
		if (!selectors[i].there)
			continue;
		if (which < ARRAY_LEN(selectors))
			return volume_item_fail(&it->i, selectors[i].key,
						"%s says already which disk is meant",
						selectors[which].key);
		which = i;
	}
	if (which == ARRAY_LEN(selectors))
		return volume_item_fail(
			&it->i, "device",
			"no disk is named: one of device, devices, instanceStore, volumeID");
	return selectors[which].set(it);
}

static bool is_swap(const struct item *it)
{
	return strcmp(it->i.v.filesystem, "swap") == 0;
}

static int set_path(struct item *it)
{
	struct kops18_build *b = it->b;
	size_t swaps = 0;

	if (is_swap(it)) {
		if (it->m.path)
			return volume_item_fail(&it->i, "path", "swap is not mounted anywhere");
		for (size_t i = 0; i < b->in->node->volumes.n; i++)
			swaps += b->in->node->volumes.v[i].path == NULL;
		it->i.v.name = swaps ? arena_printf(b->in->arena, "swap-%zu", swaps + 1) : "swap";
		return 0;
	}
	return volume_item_path(&it->i, it->m.path);
}

static int set_binds(struct item *it)
{
	struct arena *a = it->b->in->arena;

	for (size_t i = 0; i < it->m.binds.n; i++) {
		const struct bind *s = &it->m.binds.v[i];
		struct node_bind bind = { s->source, s->target, { 0 }, it->i.v.pos };
		const char *source = arena_printf(a, "/%s", s->source);
		const char *what = arena_printf(a, "%s.binds[%zu]", it->i.path, i);
		struct err *e = it->b->in->err;
		struct err ignored;
		int r;

		if (is_swap(it))
			return volume_item_fail(&it->i, "binds", "swap has no folders");
		if (*s->source == '/' || str_is_empty(s->source) ||
		    volumes_check_path(a, &it->i.v.pos, what, arena_printf(a, "/mnt/x%s", source),
				       &ignored) < 0)
			return volume_item_fail(&it->i, "binds",
						"source '%s' is not a folder of the volume",
						s->source);
		r = volumes_check_path(a, &it->i.v.pos, arena_printf(a, "%s.target", what),
				       s->target, e);
		if (r < 0)
			return r;
		for (size_t k = 0; k < s->units.n; k++)
			strv_add(a, &bind.units,
				 strchr(s->units.v[k], '.')
					 ? s->units.v[k]
					 : arena_printf(a, "%s.service", s->units.v[k]));
		if (bind.units.n == 0)
			bind.units = volumes_users(a, s->target);
		arena_push(a, it->i.v.binds.v, it->i.v.binds.n, bind);
	}
	/* binds the usual directories, unless the document names the directories that the volume keeps */
	if (it->b->in->node->is_master && str_eq(it->i.v.path, node_master_pd) && !it->i.v.binds.n)
		storage_master_pd(a, &it->i.v);
	return 0;
}

static int set_persist(struct item *it)
{
	const bool store = it->i.v.disks == NODE_DISKS_INSTANCE_STORE;

	it->i.v.persist = it->m.persist.set ? it->m.persist.v : !store && !is_swap(it);
	if (it->i.v.persist && store)
		return volume_item_fail(&it->i, "persist",
					"the instance store is empty after each stop and start");
	it->i.v.device_timeout_ns = it->m.device_timeout.set ? it->m.device_timeout.ns
				    : it->i.v.volume_id      ? ATTACH_TIMEOUT_NS
							     : TIMEOUT_NS;
	if (it->i.v.device_timeout_ns < DUR_SEC)
		return volume_item_fail(&it->i, "deviceTimeout", "less than a second");
	return 0;
}

static int set_options(struct item *it)
{
	int r = volume_item_options(&it->i, &it->m.format_options, &it->m.mount_options);

	if (r == 0 && !it->i.v.path && it->m.mount_options.n)
		r = volume_item_fail(&it->i, "mountOptions", "'%s' is of no use to swap",
				     it->m.mount_options.v[0]);
	return r;
}

static int read_item(struct item *it)
{
	static int (*const steps[])(struct item *) = { set_disks, set_path, set_binds, set_persist,
						       set_options };
	struct kops18_build *b = it->b;
	int r = kops18_read(b->in->arena, &storage_mount_schema, it->i.tree, it->i.path,
			    b->in->opts, &it->m, b->in->err);

	if (r < 0)
		return r;
	it->i.v.pos = it->i.tree->pos;
	field_fill(&storage_mount_schema, &it->m);
	it->i.v.filesystem = it->m.filesystem;
	it->i.v.raid = str_is_empty(it->m.raid) ? NULL : it->m.raid;
	it->i.v.label = str_is_empty(it->m.label) ? NULL : it->m.label;
	for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++)
		r = steps[i](it);
	if (r == 0 && it->i.v.path)
		volume_item_bind(&it->i);
	return r;
}

/* Appends the volumes of one list of volumeMounts; NULL: nothing. */
static int read_mounts(struct kops18_build *b, const struct tree *list)
{
	int r;

	if (!list)
		return 0;
	if (list->kind != TREE_SEQ)
		return err_config(b->in->err, "%s: volumeMounts: expected a list",
				  tree_where(b->in->arena, &list->pos));
	r = kops18_at_most(b->in->arena, list, "volumeMounts", VOLUMES_MAX, b->in->err);
	for (size_t i = 0; r == 0 && i < list->n; i++) {
		struct item it = {
			.b = b,
			.i = { .arena = b->in->arena,
			       .tree = list->items[i].value,
			       .path = arena_printf(b->in->arena, "volumeMounts[%zu]", i),
			       .is_extended = true,
			       .facts = b->in->facts,
			       .opts = b->in->opts,
			       .err = b->in->err },
		};
		int wrong;

		wrong = read_item(&it);
		r = kops18_go_on(b, wrong);
		/* the mount point is known although another key is wrong */
		if (r == 0 && wrong < 0 && !it.i.v.path && it.m.path)
			r = kops18_go_on(b, volume_item_path(&it.i, it.m.path));
		if (wrong < 0)
			it.i.v = (struct node_volume){ .path = it.i.v.path, .pos = it.i.tree->pos };
		if (r == 0 && (wrong == 0 || it.i.v.path))
			arena_push(b->in->arena, b->in->node->volumes.v, b->in->node->volumes.n,
				   it.i.v);
	}
	return r;
}

static int check_swap(struct kops18_build *b)
{
	const struct node_volumes *v = &b->in->node->volumes;

	if (b->own->kubelet.fail_swap_on.set && !node_k8s_at_least(b->in->node, 1, 8))
		return err_config(b->in->err,
				  "kubelet.failSwapOn: kubelet has it since 1.8, this is %d.%d",
				  b->in->node->kubernetes.major, b->in->node->kubernetes.minor);
	for (size_t i = 0; i < v->n; i++)
		if (!v->v[i].path && b->in->node->refuses_swap)
			return err_config(b->in->err,
					  "%s: %s: kubelet would not start with it; set "
					  "kubelet.failSwapOn to false, or leave it out",
					  tree_where(b->in->arena, &v->v[i].pos), v->v[i].name);
	return 0;
}

static const char *driver_place(struct kops18_build *b)
{
	const struct tree *docker = tree_lookup(b->cluster_spec, "docker");

	if (b->env->docker_storage)
		return tree_place(b->in->arena, b->env->tree, "DOCKER_STORAGE");
	return docker ? tree_place(b->in->arena, docker, "storage") : "";
}

static struct storage_docker docker_of(struct kops18_build *b)
{
	const struct tree *key = tree_lookup(b->env->tree, "DOCKER_STORAGE");

	return (struct storage_docker){
		.arena = b->in->arena,
		.facts = b->in->facts,
		.opts = b->in->opts,
		.docker_storage = b->env->docker_storage,
		.kube_aws_storage = b->env->kube_aws_storage,
		.where = tree_place(b->in->arena, b->env->tree, "DOCKER_STORAGE"),
		.driver_where = driver_place(b),
		.pos = key ? key->pos : b->env->tree->pos,
		.node = b->in->node,
		.err = b->in->err,
	};
}

/* Removes items with an error: only their paths were needed, to compare them with other items. */
static void drop_wrong(struct node_volumes *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].name)
			v->v[n++] = v->v[i];
	v->n = n;
}

int kops18_storage(struct kops18_build *b)
{
	const struct storage_docker docker = docker_of(b);
	int r = kops18_go_on(b, read_mounts(b, b->ig.volume_mounts));

	if (r == 0)
		r = kops18_go_on(b, read_mounts(b, b->env->volume_mounts));
	if (r == 0)
		r = storage_kube_up(&docker);
	if (r == 0)
		r = storage_driver(&docker);
	if (r == 0)
		r = volumes_check(b->in->arena, &b->in->node->volumes, b->in->err);
	drop_wrong(&b->in->node->volumes);
	return r < 0 ? r : check_swap(b);
}
