#include "nodeup/config/kops18/storage.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/volumes_check.h"

/* How long a disk may take: one that is there at boot, and one that is attached meanwhile. */
#define TIMEOUT_NS (60 * DUR_SEC)
#define ATTACH_TIMEOUT_NS (300 * DUR_SEC)

enum { NTH_MAX = 63, VOLUMES_MAX = 100 };

/* A bind of a mount, as it stands in the document. */
struct bind {
	const char *source, *target;
	struct strv units;
};

/* One item of volumeMounts. */
struct mount {
	const char *device, *instance_store, *volume_id, *tag;
	struct strv devices;
	const char *path, *filesystem, *raid, *label;
	struct strv format_options, mount_options;
	struct opt_bool persist;
	struct opt_dur device_timeout;
	struct {
		struct bind *v;
		size_t n;
	} binds;
};

/* clang-format off */
static const struct field bind_fields[] = {
#define F(m, ...) FIELD(struct bind, m, __VA_ARGS__)
	F(source, .key = "source", .required = true, .doc = "folder of the volume, relative"),
	F(target, .key = "target", .required = true, .doc = "where it is seen too"),
	F(units, .key = "units", .doc = "services that use the target"),
#undef F
};
static const struct schema bind_schema =
	SCHEMA(struct bind, "VolumeBind", bind_fields);

/* source: kops pkg/apis/kops/instancegroup.go VolumeMountSpec, and what it lacks */
static const struct field mount_fields[] = {
#define F(m, ...) FIELD(struct mount, m, __VA_ARGS__)
	F(device, .key = "device", .doc = "the disk by its path; /dev/sdf is /dev/xvdf"),
	F(devices, .key = "devices", .doc = "or several of them"),
	F(instance_store, .key = "instanceStore", .doc = "or the instance store: all, or a number from 0"),
	F(volume_id, .key = "volumeID", .doc = "or the EBS volume with this id"),
	F(tag, .key = "tag", .doc = "or the attached EBS volume with this tag: KEY=VALUE"),
	F(path, .key = "path", .doc = "mount point; none for swap"),
	F(filesystem, .key = "filesystem", .oneof = "ext4|xfs|btrfs|swap|", .doc = "ext4 unless given"),
	F(format_options, .key = "formatOptions", .doc = "arguments for mkfs"),
	F(mount_options, .key = "mountOptions", .doc = "noatime unless given"),
	F(raid, .key = "raid", .oneof = "raid0|raid1|raid10|", .doc = "of several disks; raid0 unless given"),
	F(label, .key = "label", .doc = "label of the file system"),
	F(persist, .key = "persist", .doc = "outlives the instance: formatted only if it reads as zeros"),
	F(device_timeout, .key = "deviceTimeout", .doc = "how long the disk may take to appear"),
	FIELD_LIST_OF(struct mount, binds, &bind_schema, .key = "binds",
		      .doc = "folders of it that are seen elsewhere; content there is moved "
			     "first; none at /mnt/master-pd on a master: /var/etcd, "
			     "/srv/kubernetes and /srv/sshproxy"),
#undef F
};
/* clang-format on */

const struct schema storage_mount_schema = SCHEMA(struct mount, "VolumeMountSpec", mount_fields);

/* One item of volumeMounts on its way into the model. */
struct item {
	struct kops18_build *b;
	const struct tree *tree;
	const char *path; /* "volumeMounts[0]" */
	struct mount m;
	struct node_volume v;
};

static int fail_item(struct item *it, const char *key, const char *fmt, ...) printf_like(3, 4);

static int fail_item(struct item *it, const char *key, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return err_config(it->b->err, "%s%s.%s: %s", kops18_where(it->b->arena, it->tree, key),
			  it->path, key, text ? text : "");
}

static int set_devices(struct item *it)
{
	const struct mount *m = &it->m;
	struct arena *a = it->b->arena;

	it->v.disks = NODE_DISKS_PATHS;
	if (m->device)
		strv_add(a, &it->v.devices, m->device);
	for (size_t i = 0; i < m->devices.n; i++)
		strv_add(a, &it->v.devices, m->devices.v[i]);
	for (size_t i = 0; i < it->v.devices.n; i++) {
		const char *d = it->v.devices.v[i];

		if (!str_has_prefix(d, "/dev/") || strstr(d, "/../") || str_has_suffix(d, "/"))
			return fail_item(it, m->device ? "device" : "devices",
					 "'%s' is not a device: expected a path in /dev", d);
		if (str_has_prefix(d, "/dev/nvme") && it->b->opts->warnings)
			strv_add(a, it->b->opts->warnings,
				 arena_printf(a,
					      "%s%s: the number in %s changes from boot to boot; "
					      "volumeID or instanceStore say which disk is meant",
					      kops18_where(a, it->tree, "device"), it->path, d));
	}
	return it->v.devices.n ? 0 : fail_item(it, "devices", "an empty list");
}

static int set_instance_store(struct item *it)
{
	const char *text = it->m.instance_store;
	char *end = NULL;
	long nth = -1;

	it->v.disks = NODE_DISKS_INSTANCE_STORE;
	it->v.nth = -1;
	if (strcmp(text, "all") == 0)
		return 0;
	if (isdigit((unsigned char)*text))
		nth = strtol(text, &end, 10);
	if (nth < 0 || nth > NTH_MAX || *end != '\0')
		return fail_item(it, "instanceStore", "expected all or a number from 0, found '%s'",
				 text);
	it->v.nth = nth;
	return 0;
}

static int set_volume_id(struct item *it)
{
	static const char hex[] = "0123456789abcdef";
	const char *id = it->m.volume_id;

	it->v.disks = NODE_DISKS_VOLUME_ID;
	it->v.volume_id = id;
	if (str_has_prefix(id, "vol-") && id[4] && strspn(id + 4, hex) == strlen(id + 4))
		return 0;
	return fail_item(it, "volumeID", "expected vol- and hexadecimal digits, found '%s'", id);
}

static int set_tag(struct item *it)
{
	const char *eq = strchr(it->m.tag, '=');

	it->v.disks = NODE_DISKS_TAG;
	if (!eq || eq == it->m.tag)
		return fail_item(it, "tag", "expected KEY=VALUE, found '%s'", it->m.tag);
	it->v.tag_key = arena_strn(it->b->arena, it->m.tag, (size_t)(eq - it->m.tag));
	it->v.tag_value = eq + 1;
	return 0;
}

/* Exactly one of them says which disks are meant. */
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
		{ m->tag, "tag", set_tag },
	};
	size_t which = ARRAY_LEN(selectors);

	for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
		if (!selectors[i].there)
			continue;
		if (which < ARRAY_LEN(selectors))
			return fail_item(it, selectors[i].key,
					 "%s says already which disk is meant",
					 selectors[which].key);
		which = i;
	}
	if (which == ARRAY_LEN(selectors))
		return fail_item(
			it, "device",
			"no disk is named: one of device, devices, instanceStore, volumeID, tag");
	return selectors[which].set(it);
}

static bool is_swap(const struct item *it)
{
	return strcmp(it->v.filesystem, "swap") == 0;
}

/* A service that has files open at the mount point sees the disk through a bind of a folder, so that
 * what the service has there already can be moved first. */
static void bind_users(struct item *it)
{
	struct arena *a = it->b->arena;
	const struct strv units = volumes_users(a, it->v.path);

	if (units.n == 0)
		return;
	arena_push(a, it->v.binds.v, it->v.binds.n,
		   (struct node_bind){ str_basename(it->v.path), it->v.path, units, it->v.pos });
	for (size_t i = 0; i < it->v.binds.n; i++)
		it->v.binds.v[i].aside = true;
	it->v.path = arena_strn(a, it->v.path, strlen(it->v.path));
	for (char *p = (char *)it->v.path + 1; *p; p++)
		if (*p == '/')
			*p = '-';
	it->v.path = arena_printf(a, "/mnt/%s", it->v.path + 1);
}

static int set_path(struct item *it)
{
	struct kops18_build *b = it->b;
	size_t swaps = 0;

	if (is_swap(it)) {
		if (it->m.path)
			return fail_item(it, "path", "swap is not mounted anywhere");
		for (size_t i = 0; i < b->node->volumes.n; i++)
			swaps += b->node->volumes.v[i].path == NULL;
		it->v.name = swaps ? arena_printf(b->arena, "swap-%zu", swaps + 1) : "swap";
		return 0;
	}
	if (str_is_empty(it->m.path))
		return fail_item(it, "path", "missing: where is it to be mounted?");
	it->v.name = it->v.path = it->m.path;
	return 0;
}

static int set_binds(struct item *it)
{
	struct arena *a = it->b->arena;

	for (size_t i = 0; i < it->m.binds.n; i++) {
		const struct bind *s = &it->m.binds.v[i];
		struct node_bind bind = { s->source, s->target, { 0 }, it->v.pos };
		const char *source = arena_printf(a, "/%s", s->source);
		const char *what = arena_printf(a, "%s.binds[%zu]", it->path, i);
		struct err *e = it->b->err;
		struct err ignored;
		int r;

		if (is_swap(it))
			return fail_item(it, "binds", "swap has no folders");
		if (*s->source == '/' || str_is_empty(s->source) ||
		    volumes_check_path(a, &it->v.pos, what, arena_printf(a, "/mnt/x%s", source),
				       &ignored) < 0)
			return fail_item(it, "binds", "source '%s' is not a folder of the volume",
					 s->source);
		r = volumes_check_path(a, &it->v.pos, arena_printf(a, "%s.target", what), s->target,
				       e);
		if (r < 0)
			return r;
		for (size_t k = 0; k < s->units.n; k++)
			strv_add(a, &bind.units,
				 strchr(s->units.v[k], '.')
					 ? s->units.v[k]
					 : arena_printf(a, "%s.service", s->units.v[k]));
		if (bind.units.n == 0)
			bind.units = volumes_users(a, s->target);
		arena_push(a, it->v.binds.v, it->v.binds.n, bind);
	}
	return 0;
}

/* Unless the document says itself what is kept there. */
static void set_master_pd(struct item *it)
{
	if (it->b->node->is_master && str_eq(it->v.path, node_master_pd) && !it->v.binds.n)
		storage_master_pd(it->b->arena, &it->v);
}

static int set_persist(struct item *it)
{
	const bool store = it->v.disks == NODE_DISKS_INSTANCE_STORE;

	it->v.persist = it->m.persist.set ? it->m.persist.v : !store && !is_swap(it);
	if (it->v.persist && store)
		return fail_item(it, "persist",
				 "the instance store is empty after each stop and start");
	it->v.device_timeout_ns = it->m.device_timeout.set           ? it->m.device_timeout.ns
				  : it->v.volume_id || it->v.tag_key ? ATTACH_TIMEOUT_NS
								     : TIMEOUT_NS;
	if (it->v.device_timeout_ns < DUR_SEC)
		return fail_item(it, "deviceTimeout", "less than a second");
	return 0;
}

/* Options that a unit would not obey, or that contradict what it is for. */
static const struct {
	const char *option, *why;
} bad_options[] = {
	{ "x-systemd.", "has no effect in a unit file; there is deviceTimeout" },
	{ "noauto", "contradicts volumeMounts: it would never be mounted" },
	{ "bind", "is not an option of a file system; there is binds" },
	{ "rbind", "is not an option of a file system; there is binds" },
	{ "remount", "is not an option of a first mount" },
	{ "loop", "is for files; a disk is meant" },
};

static int check_mount_option(struct item *it, const char *option)
{
	static const char good[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=.:/+@-";

	if (*option == '\0' || *option == '-' || strspn(option, good) != strlen(option))
		return fail_item(it, "mountOptions", "'%s' is not a mount option", option);
	for (size_t i = 0; i < ARRAY_LEN(bad_options); i++) {
		const size_t n = strlen(bad_options[i].option);

		if (strncmp(option, bad_options[i].option, n) == 0 &&
		    (option[n] == '\0' || bad_options[i].option[n - 1] == '.'))
			return fail_item(it, "mountOptions", "'%s' %s", option, bad_options[i].why);
	}
	return 0;
}

/* kops' items may hold several, with commas between them. */
static int set_mount_options(struct item *it)
{
	const struct strv *given = &it->m.mount_options;
	struct strv *out = &it->v.mount_options;

	for (size_t i = 0; i < given->n; i++) {
		struct strv one = strv_split(it->b->arena, given->v[i], ',');

		if (one.n == 0)
			return fail_item(it, "mountOptions", "'' is not a mount option");
		for (size_t k = 0; k < one.n; k++) {
			int r = check_mount_option(it, one.v[k]);

			if (r < 0)
				return r;
			if (!strv_has(out, one.v[k]))
				strv_add(it->b->arena, out, one.v[k]);
		}
	}
	if (given->n == 0)
		strv_add(it->b->arena, out, "noatime");
	return 0;
}

/* How many disks are named; 0: as many as there are. */
static size_t count_disks(const struct node_volume *v)
{
	if (v->disks == NODE_DISKS_PATHS)
		return v->devices.n;
	return v->disks == NODE_DISKS_INSTANCE_STORE && v->nth < 0 ? 0 : 1;
}

/* One aspect after the other, so that each complaint has the place of its key. */
static int check_fit(struct item *it)
{
	struct node_volume bare = it->v, raid, label, options;
	const struct {
		const char *key;
		const struct node_volume *v;
	} aspects[] = {
		{ "filesystem", &bare },
		{ "raid", &raid },
		{ "label", &label },
		{ "formatOptions", &options },
	};

	bare.raid = bare.label = NULL;
	bare.format_options = (struct strv){ 0 };
	raid = label = options = bare;
	raid.raid = it->v.raid;
	label.label = it->v.label;
	options.format_options = it->m.format_options;
	for (size_t i = 0; i < ARRAY_LEN(aspects) && it->b->opts->volume_fits; i++) {
		struct err why;

		if (it->b->opts->volume_fits(aspects[i].v, count_disks(&it->v), &why) < 0)
			return err_config(it->b->err, "%s%s: %s",
					  kops18_where(it->b->arena, it->tree, aspects[i].key),
					  it->path, why.msg);
	}
	return 0;
}

/* Documents may be looked at on a machine that will not mount them. */
static int check_kernel(struct item *it)
{
	const struct strv *known = &it->b->facts->filesystems;

	if (it->b->opts->no_host || known->n == 0 || is_swap(it) ||
	    strv_has(known, it->v.filesystem))
		return 0;
	return fail_item(it, "filesystem", "'%s' is not a file system of this kernel",
			 it->v.filesystem);
}

static int set_options(struct item *it)
{
	int r = check_kernel(it);

	if (r == 0)
		r = check_fit(it);
	if (r == 0 && it->v.path)
		r = set_mount_options(it);
	if (r == 0 && !it->v.path && it->m.mount_options.n)
		r = fail_item(it, "mountOptions", "'%s' is of no use to swap",
			      it->m.mount_options.v[0]);
	it->v.format_options = it->m.format_options;
	return r;
}

static int read_item(struct item *it)
{
	struct kops18_build *b = it->b;
	int r = kops18_read(b->arena, &storage_mount_schema, it->tree, it->path, b->opts, &it->m,
			    b->err);

	if (r < 0)
		return r;
	it->v.pos = it->tree->pos;
	it->v.filesystem = str_is_empty(it->m.filesystem) ? "ext4" : it->m.filesystem;
	it->v.raid = str_is_empty(it->m.raid) ? NULL : it->m.raid;
	it->v.label = str_is_empty(it->m.label) ? NULL : it->m.label;
	r = set_disks(it);
	if (r == 0)
		r = set_path(it);
	if (r == 0 && it->v.path)
		r = volumes_check_path(b->arena, &it->v.pos,
				       arena_printf(b->arena, "%s.path", it->path), it->v.path,
				       b->err);
	if (r == 0)
		r = set_binds(it);
	if (r == 0)
		set_master_pd(it);
	if (r == 0)
		r = set_persist(it);
	if (r == 0)
		r = set_options(it);
	if (r == 0 && it->v.path)
		bind_users(it);
	return r;
}

/* Append what one list of volumeMounts wants; NULL: nothing. */
static int read_mounts(struct kops18_build *b, const struct tree *list)
{
	int r;

	if (!list)
		return 0;
	if (list->kind != TREE_SEQ)
		return err_config(b->err, "%s: volumeMounts: expected a list",
				  tree_where(b->arena, &list->pos));
	r = kops18_at_most(b->arena, list, "volumeMounts", VOLUMES_MAX, b->err);
	for (size_t i = 0; r == 0 && i < list->n; i++) {
		struct item it = { .b = b,
				   .tree = list->items[i].value,
				   .path = arena_printf(b->arena, "volumeMounts[%zu]", i) };
		int wrong;

		wrong = read_item(&it);
		r = kops18_go_on(b, wrong);
		if (wrong == 0)
			arena_push(b->arena, b->node->volumes.v, b->node->volumes.n, it.v);
	}
	return r;
}

/* --fail-swap-on came with 1.8, on unless said otherwise. */
static bool kubelet_refuses_swap(const struct node *n)
{
	const struct opt_bool *on = &n->kubelet.fail_swap_on;

	return node_k8s_at_least(n, 1, 8) && (!on->set || on->v);
}

/* kubelet of 1.8 and later does not start where there is swap, unless it is told to. */
static int check_swap(struct kops18_build *b)
{
	const struct node_volumes *v = &b->node->volumes;

	if (b->node->kubelet.fail_swap_on.set && !node_k8s_at_least(b->node, 1, 8))
		return err_config(b->err,
				  "kubelet.failSwapOn: kubelet has it since 1.8, this is %d.%d",
				  b->node->kubernetes.major, b->node->kubernetes.minor);
	for (size_t i = 0; i < v->n; i++)
		if (!v->v[i].path && kubelet_refuses_swap(b->node))
			return err_config(b->err,
					  "%s: %s: kubelet would not start with it; set "
					  "kubelet.failSwapOn to false, or leave it out",
					  tree_where(b->arena, &v->v[i].pos), v->v[i].name);
	return 0;
}

static const char *driver_place(struct kops18_build *b)
{
	const struct tree *docker = kops18_lookup(b->cluster_spec, "docker");

	if (b->env->docker_storage)
		return kops18_where(b->arena, b->env->tree, "DOCKER_STORAGE");
	return docker ? kops18_where(b->arena, docker, "storage") : "";
}

static struct storage_docker docker_of(struct kops18_build *b)
{
	const struct tree *key = kops18_lookup(b->env->tree, "DOCKER_STORAGE");

	return (struct storage_docker){
		.arena = b->arena,
		.facts = b->facts,
		.warnings = b->opts->warnings,
		.docker_storage = b->env->docker_storage,
		.kube_aws_storage = b->env->kube_aws_storage,
		.where = kops18_where(b->arena, b->env->tree, "DOCKER_STORAGE"),
		.driver_where = driver_place(b),
		.pos = key ? key->pos : b->env->tree->pos,
		.node = b->node,
		.err = b->err,
	};
}

int kops18_storage(struct kops18_build *b)
{
	const struct storage_docker docker = docker_of(b);
	int r = storage_kube_up(&docker);

	if (r == 0)
		r = storage_driver(&docker);
	if (r == 0)
		r = kops18_go_on(b, read_mounts(b, b->ig.volume_mounts));
	if (r == 0)
		r = kops18_go_on(b, read_mounts(b, b->env->volume_mounts));
	if (r == 0)
		r = volumes_check(b->arena, &b->node->volumes, b->err);
	return r < 0 ? r : check_swap(b);
}
