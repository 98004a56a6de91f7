#include "nodeup/config/storage_docker.h"

#include <string.h>
#include "nodeup/base/dur.h"

#define TIMEOUT_NS (60 * DUR_SEC)

const char storage_kube_up_name[] = "/mnt/ephemeral";

/* The present meaning of each value of DOCKER_STORAGE. kube-up joined disks by LVM for aufs; several disks are now
 * striped. kube-up's aufs-nolvm used only one disk. */
static const struct kube_up {
	const char *name, *driver, *filesystem;
	int64_t nth;
} kube_up[] = {
	{ "aufs", "aufs", "ext4", -1 },         { "aufs-nolvm", "aufs", "ext4", 0 },
	{ "btrfs", "btrfs", "btrfs", -1 },      { "overlay", "overlay", "ext4", -1 },
	{ "overlay2", "overlay2", "ext4", -1 }, { "devicemapper", "devicemapper", "ext4", -1 },
};

/* Paths at which kube-up had symbolic links; docker's comes first. */
static const struct {
	const char *source, *target;
} links[] = {
	{ "docker", "/var/lib/docker" },
	{ "containerd", "/var/lib/containerd" },
	{ "kubernetes/kubelet", "/var/lib/kubelet" },
	{ "kubernetes/pods", "/var/log/pods" },
};

struct node_volume storage_on_store(struct arena *a, const char *name, const char *filesystem,
				    int64_t nth, bool docker, struct tree_pos pos)
{
	struct node_volume v = {
		.name = name,
		.path = name,
		.filesystem = filesystem,
		.disks = NODE_DISKS_INSTANCE_STORE,
		.nth = nth,
		.device_timeout_ns = TIMEOUT_NS,
		.pos = pos,
	};

	strv_add(a, &v.mount_options, "noatime");
	for (size_t i = docker ? 0 : 1; i < ARRAY_LEN(links); i++)
		arena_push(a, v.binds.v, v.binds.n,
			   (struct node_bind){ links[i].source, links[i].target,
					       volumes_users(a, links[i].target), v.pos });
	return v;
}

static void add_volume(const struct storage_docker *s, const struct kube_up *k)
{
	arena_push(s->arena, s->node->volumes.v, s->node->volumes.n,
		   storage_on_store(s->arena, storage_kube_up_name, k->filesystem, k->nth, true,
				    s->pos));
}

/* Returns the node's facts. If only documents are checked, this machine is not the node, so all facts are unknown. */
static const struct facts *host_of(const struct storage_docker *s)
{
	static const struct facts unknown;

	return s->opts->no_host ? &unknown : s->facts;
}

/* Returns whether docker and kubelet are on the instance store already. If so, docker and kubelet stay there:
 * otherwise their units would wait for a disk that is empty after a stop. A volume of the same name in the documents
 * is another volume. */
static bool stays_on_store(const struct storage_docker *s)
{
	const struct node_volumes *volumes = &s->node->volumes;

	if (!host_of(s)->instance_store_used.v)
		return false;
	for (size_t i = 0; i < volumes->n; i++)
		if (str_eq(volumes->v[i].name, storage_kube_up_name))
			return false;
	dialect_warn(s->arena, s->opts,
		     "%sKUBE_AWS_STORAGE: docker and kubelet of this instance are on its instance "
		     "store and stay there; ebs is for new instances",
		     s->where);
	return true;
}

/* Returns whether the instance has an instance store. It is no error if the instance's type has none; kube-up does
 * the same. */
static bool has_instance_store(const struct storage_docker *s)
{
	const struct opt_int *n = &host_of(s)->instance_store;

	if (!n->set || n->v > 0)
		return true;
	dialect_warn(s->arena, s->opts,
		     "%sthis instance has no instance store: docker and kubelet "
		     "stay on the root volume",
		     s->where);
	return false;
}

static const struct kube_up *kube_up_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kube_up); i++)
		if (strcmp(kube_up[i].name, name) == 0)
			return &kube_up[i];
	return NULL;
}

static bool kernel_has(const struct storage_docker *s, const char *driver)
{
	return strv_has(&host_of(s)->filesystems,
			strcmp(driver, "overlay2") == 0 ? "overlay" : driver);
}

/* Joins several disks by md, or by btrfs, which needs no md. Old versions of docker have no overlay on btrfs, so the
 * driver becomes btrfs too. */
static int span_disks(const struct storage_docker *s, const struct kube_up **k)
{
	const struct facts *f = host_of(s);
	const char *at = s->where;

	if ((*k)->nth >= 0 || f->instance_store.v < 2 || !f->raid.set || f->raid.v ||
	    strcmp((*k)->filesystem, "btrfs") == 0)
		return 0;
	if (f->filesystems.n && !kernel_has(s, "btrfs")) {
		int r = err_config(s->err,
				   "%sDOCKER_STORAGE: %lld disks are one by md or by btrfs, and "
				   "this host has neither",
				   at, (long long)f->instance_store.v);

		err_note(s->err, "do", "install mdadm, or take aufs-nolvm, which uses one disk");
		return r;
	}
	dialect_warn(s->arena, s->opts,
		     "%sthis host cannot stripe %lld disks by md: they are one btrfs, and "
		     "docker's storage driver is btrfs",
		     at, (long long)f->instance_store.v);
	*k = kube_up_of("btrfs");
	return 0;
}

int storage_kube_up(const struct storage_docker *s)
{
	const char *docker = s->docker_storage, *disks = s->kube_aws_storage;
	const struct kube_up *k;
	bool on_store;

	if (str_is_empty(docker) && str_is_empty(disks))
		return 0;
	/* kube-up's own default */
	if (str_is_empty(docker))
		docker = "aufs";
	k = kube_up_of(docker);
	if (!k)
		return err_config(s->err,
				  "%sDOCKER_STORAGE: expected aufs, aufs-nolvm, btrfs, overlay, "
				  "overlay2 or devicemapper, found '%s'",
				  s->where, docker);
	on_store = strcmp(k->driver, "devicemapper") != 0 &&
		   (!str_eq(disks, "ebs") || stays_on_store(s)) && has_instance_store(s);
	if (on_store && span_disks(s, &k) < 0)
		return err_code(s->err);
	s->node->docker_storage = k->driver;
	if (on_store)
		add_volume(s, k);
	return 0;
}

static int refuse_devicemapper(const struct storage_docker *s)
{
	int r = err_config(
		s->err,
		"%sdocker storage driver devicemapper: docker 25 removed it, and on loop "
		"files it loses data",
		s->driver_where);

	err_note(s->err, "do", "use overlay2, or btrfs on disks of its own");
	return r;
}

/* The file systems of docker's directory on which each driver of docker works. source: moby daemon/graphdriver, Init
 * of each driver */
static const struct {
	const char *driver;
	const char *only;  /* the only file system on which the driver works; NULL: see `never` */
	const char *never; /* file systems on which the driver does not work */
} places[] = {
	{ "btrfs", "btrfs", "" },    { "zfs", "zfs", "" },      { "overlay", NULL, "btrfs zfs" },
	{ "overlay2", NULL, "zfs" }, { "aufs", NULL, "btrfs" },
};

static const char usual_root[] = "/var/lib/docker";

static const char *root_of(const struct storage_docker *s)
{
	const char *of_host = host_of(s)->docker_root;

	return s->root ? s->root : of_host ? of_host : usual_root;
}

const char *storage_docker_root(struct arena *a, const char *options)
{
	static const char *const names[] = { "--data-root", "--graph", "-g" };
	const struct strv words = strv_split(a, options ? options : "", ' ');
	const char *root = NULL;

	for (size_t i = 0; i < words.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			const char *value = words.v[i] + strlen(names[k]);

			if (!str_has_prefix(words.v[i], names[k]))
				continue;
			if (!*value && i + 1 < words.n)
				value = words.v[i + 1];
			value += *value == '=';
			if (str_is_path(value))
				root = value;
		}
	return root;
}

/* Returns whether the driver works on the file system. If the file system of docker's usual directory is unknown, it
 * counts as a common one. */
static bool works_on(const struct storage_docker *s, const char *driver, const char *filesystem)
{
	const char *on = filesystem ? filesystem : "";

	if (!filesystem && strcmp(root_of(s), usual_root) != 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const struct strv never = strv_split(s->arena, places[i].never, ' ');

		if (strcmp(places[i].driver, driver) == 0)
			return places[i].only ? strcmp(places[i].only, on) == 0
					      : !strv_has(&never, on);
	}
	return true;
}

/* Returns the file system that docker's directory will be on; NULL: not known. */
static const char *docker_filesystem(const struct storage_docker *s)
{
	const char *directory = root_of(s);
	const struct node_volumes *volumes = &s->node->volumes;

	for (size_t i = 0; i < volumes->n; i++) {
		const struct node_volume *v = &volumes->v[i];
		bool is_there = v->path && str_is_within(directory, v->path);

		for (size_t k = 0; k < v->binds.n; k++)
			is_there |= str_is_within(directory, v->binds.v[k].target);
		if (is_there)
			return v->filesystem;
	}
	return host_of(s)->docker_filesystem;
}

/* Replaces a driver with which docker would not start. If the kernel may lack the replacement, keeps the driver, as
 * kops does. */
static const char *replace_misplaced(const struct storage_docker *s, const char *driver)
{
	const char *on = docker_filesystem(s), *other = str_eq(on, "zfs") ? "zfs" : "overlay2";

	if (works_on(s, driver, on) || !kernel_has(s, other))
		return driver;
	dialect_warn(s->arena, s->opts,
		     "%sdocker's storage driver %s does not work where docker's directory is, on "
		     "%s: it is %s",
		     s->driver_where, driver, on ? on : "a file system that is not known", other);
	return other;
}

/* Kernels since Debian 10 and Ubuntu 20.10 have no aufs. */
static const char *replace_aufs(const struct storage_docker *s, const char *driver)
{
	if (strcmp(driver, "aufs") != 0 || host_of(s)->filesystems.n == 0 || kernel_has(s, "aufs"))
		return driver;
	dialect_warn(s->arena, s->opts,
		     "%sthis kernel has no aufs: docker's storage driver is overlay2",
		     s->driver_where);
	return "overlay2";
}

int storage_driver(const struct storage_docker *s)
{
	const char **driver = &s->node->docker_storage;
	const char *chosen = NULL, *on = docker_filesystem(s);
	struct strv drivers;

	if (str_is_empty(*driver))
		return 0;
	drivers = strv_split(s->arena, *driver, ',');
	for (size_t i = 0; i < drivers.n; i++)
		drivers.v[i] = str_trim(s->arena, drivers.v[i]);
	for (size_t i = 0; i < drivers.n && !chosen; i++)
		if (kernel_has(s, drivers.v[i]) && strcmp(drivers.v[i], "devicemapper") != 0 &&
		    works_on(s, drivers.v[i], on))
			chosen = drivers.v[i];
	/* if the host's drivers are unknown, takes the first driver that the host may have */
	for (size_t i = 0; i < drivers.n && !chosen; i++)
		if (strcmp(drivers.v[i], "devicemapper") != 0)
			chosen = drivers.v[i];
	if (!chosen)
		return refuse_devicemapper(s);
	*driver = replace_misplaced(s, replace_aufs(s, chosen));
	return 0;
}

void storage_master_pd(struct arena *a, struct node_volume *v)
{
	static const char *const kept[] = { "/var/etcd", "/srv/kubernetes", "/srv/sshproxy" };

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		arena_push(a, v->binds.v, v->binds.n,
			   (struct node_bind){ kept[i] + 1, kept[i],
					       strv_split(a, "kubelet.service", ' '), v->pos });
}
