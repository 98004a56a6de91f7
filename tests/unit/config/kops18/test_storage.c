#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/storage_docker.h"
#include "tests/unit/lib/kops18_world.h"

/* A worker with these lines in its instance group, on a kernel with what Debian has. */
static struct world group(struct arena *a, const char *ig)
{
	struct world w = world_small(a, "", "", ig);

	strv_add(a, &w.facts.filesystems, "btrfs");
	strv_add(a, &w.facts.filesystems, "xfs");
	return w;
}

/* A worker with these lines in kube_env.yaml. */
static struct world flat(struct arena *a, const char *env)
{
	struct world w = world_small(a, env, "", "");

	strv_add(a, &w.facts.filesystems, "btrfs");
	return w;
}

/* The seed's master with these lines in kube_env.yaml. */
static struct world seed_master(struct arena *a, const char *env)
{
	struct world w = world_master(a);
	size_t n;
	const char *text = world_load(a, SEED "master/kube_env.yaml", &n);

	w.env_doc = world_text(&w, "env", arena_printf(a, "%s\n%s", text, env));
	return w;
}

static void refused(struct world w, const char *message)
{
	assert_true(world_build(&w) < 0);
	assert_int_equal(w.e.kind, ERR_CONFIG);
	assert_string_equal(w.e.msg, message);
}

static void kops_volume_mounts(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w =
		group(a, "volumeMounts:\n- device: /dev/xvdf\n  path: /data\n"
			 "- device: /dev/xvdg\n  path: /logs\n  filesystem: xfs\n"
			 "  formatOptions: [-K]\n  mountOptions: [\"nodev,nosuid\", nodev]\n");
	const struct node_volume *v;

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.node.volumes.n, 2);
	v = w.node.volumes.v;
	assert_string_equal(v->name, "/data");
	assert_string_equal(v->path, "/data");
	assert_string_equal(v->filesystem, "ext4");
	assert_int_equal(v->disks, NODE_DISKS_PATHS);
	assert_string_equal(v->devices.v[0], "/dev/xvdf");
	assert_string_equal(strv_join(a, &v->mount_options, ","), "noatime");
	assert_true(v->persist);
	assert_int_equal(v->device_timeout_ns, 60 * DUR_SEC);
	assert_int_equal(v->binds.n, 0);
	v++;
	assert_string_equal(v->filesystem, "xfs");
	assert_string_equal(strv_join(a, &v->mount_options, ","), "nodev,nosuid");
	assert_string_equal(strv_join(a, &v->format_options, ","), "-K");
	assert_int_equal(v->pos.line, 4);
}

/* kube-up's place for all data of a master, which on a worker is a place like others. */
static void master_pd(void **state)
{
	static const char mounts[] = "volumeMounts:\n- {device: /dev/xvdb, path: /mnt/master-pd}\n";
	static const char *const targets[] = { "/var/etcd", "/srv/kubernetes", "/srv/sshproxy" };
	autoarena struct arena *a = arena_new_empty();
	struct world w = group(a, mounts);
	const struct node_volume *v;

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.node.volumes.v[0].binds.n, 0);
	w = seed_master(a, mounts);
	world_must_build(&w);
	v = w.node.volumes.v;
	assert_int_equal(v->binds.n, ARRAY_LEN(targets));
	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		assert_string_equal(v->binds.v[i].target, targets[i]);
		assert_string_equal(v->binds.v[i].source, targets[i] + 1);
		assert_string_equal(v->binds.v[i].units.v[0], "kubelet.service");
	}
	/* who says what is to be seen where says all of it */
	w = seed_master(a, "volumeMounts:\n- {device: /dev/xvdb, path: /mnt/master-pd, "
			   "binds: [{source: x, target: /x}]}\n");
	world_must_build(&w);
	assert_int_equal(w.node.volumes.v[0].binds.n, 1);
}

static void selectors_beyond_a_path(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = group(
		a, "volumeMounts:\n"
		   "- {instanceStore: all, path: /a, filesystem: btrfs, raid: raid10}\n"
		   "- {volumeID: vol-0abc, path: /b, deviceTimeout: 2s, label: b, persist: false}\n"
		   "- {volumeID: vol-0c, path: /c}\n"
		   "- {devices: [/dev/sdf, /dev/xvdg], path: /d, filesystem: btrfs, raid: raid1}\n"
		   "- {device: /dev/sdh, filesystem: swap}\n"
		   "- {device: /dev/sdi, filesystem: swap}\n"
		   "kubelet:\n  failSwapOn: false\n");
	const struct node_volume *v;

	(void)state;
	world_must_build(&w);
	v = w.node.volumes.v;
	assert_int_equal(w.node.volumes.n, 6);
	assert_int_equal(v[0].disks, NODE_DISKS_INSTANCE_STORE);
	assert_int_equal(v[0].nth, -1);
	assert_string_equal(v[0].raid, "raid10");
	assert_false(v[0].persist);
	assert_int_equal(v[1].disks, NODE_DISKS_VOLUME_ID);
	assert_string_equal(v[1].volume_id, "vol-0abc");
	assert_int_equal(v[1].device_timeout_ns, 2 * DUR_SEC);
	assert_string_equal(v[1].label, "b");
	assert_false(v[1].persist);
	assert_int_equal(v[2].disks, NODE_DISKS_VOLUME_ID);
	assert_true(v[2].persist);
	assert_int_equal(v[2].device_timeout_ns, 300 * DUR_SEC);
	assert_int_equal(v[3].devices.n, 2);
	assert_string_equal(v[4].name, "swap");
	assert_null(v[4].path);
	assert_string_equal(v[5].name, "swap-2");
}

static void binds_and_their_users(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = group(a,
			       "volumeMounts:\n- instanceStore: 0\n  path: /mnt/d\n  binds:\n"
			       "  - {source: docker, target: /var/lib/docker}\n"
			       "  - {source: my/data, target: /srv/x, units: [nginx, y.socket]}\n");
	const struct node_binds *b;

	(void)state;
	world_must_build(&w);
	b = &w.node.volumes.v[0].binds;
	assert_int_equal(w.node.volumes.v[0].nth, 0);
	assert_int_equal(b->n, 2);
	assert_string_equal(b->v[0].source, "docker");
	assert_string_equal(strv_join(a, &b->v[0].units, " "), "docker.socket docker.service");
	assert_string_equal(b->v[1].target, "/srv/x");
	assert_string_equal(strv_join(a, &b->v[1].units, " "), "nginx.service y.socket");
}

static void a_service_s_own_directory_is_a_bind(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = group(a, "volumeMounts:\n- {device: /dev/sdf, path: /var/lib/docker}\n");
	const struct node_volume *v;

	(void)state;
	world_must_build(&w);
	v = w.node.volumes.v;
	assert_string_equal(v->name, "/var/lib/docker");
	assert_string_equal(v->path, "/mnt/var-lib-docker");
	assert_int_equal(v->binds.n, 1);
	assert_string_equal(v->binds.v[0].source, "docker");
	assert_string_equal(v->binds.v[0].target, "/var/lib/docker");
	assert_int_equal(v->binds.v[0].units.n, 2);
}

static void kube_env_has_volume_mounts_too(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = flat(a, "volumeMounts:\n- {device: /dev/sdf, path: /data}\n");

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.node.volumes.n, 1);
}

/* What kube-up's setting gives: driver, file system (NULL: no volume), nth disk. */
static void kube_up_is(const char *env, const char *driver, const char *filesystem, int nth)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = flat(a, env);
	const struct node_volume *v;

	world_must_build(&w);
	assert_string_equal(w.node.docker_storage, driver);
	assert_int_equal(w.node.volumes.n, filesystem != NULL);
	if (!filesystem)
		return;
	v = w.node.volumes.v;
	assert_string_equal(v->path, "/mnt/ephemeral");
	assert_string_equal(v->filesystem, filesystem);
	assert_int_equal(v->disks, NODE_DISKS_INSTANCE_STORE);
	assert_int_equal(v->nth, nth);
	assert_int_equal(v->binds.n, 4);
	assert_string_equal(v->binds.v[2].source, "kubernetes/kubelet");
	assert_string_equal(v->binds.v[2].target, "/var/lib/kubelet");
	assert_string_equal(v->binds.v[3].target, "/var/log/pods");
}

static void kube_up(void **state)
{
	(void)state;
	kube_up_is("DOCKER_STORAGE: aufs\n", "overlay2", "ext4", -1);
	kube_up_is("DOCKER_STORAGE: aufs-nolvm\n", "overlay2", "ext4", 0);
	kube_up_is("DOCKER_STORAGE: btrfs\n", "btrfs", "btrfs", -1);
	kube_up_is("DOCKER_STORAGE: overlay\n", "overlay", "ext4", -1);
	kube_up_is("DOCKER_STORAGE: overlay2\nKUBE_AWS_STORAGE: ephemeral\n", "overlay2", "ext4",
		   -1);
	kube_up_is("KUBE_AWS_STORAGE: ephemeral\n", "overlay2", "ext4", -1);
	kube_up_is("DOCKER_STORAGE: overlay2\nKUBE_AWS_STORAGE: ebs\n", "overlay2", NULL, 0);
	kube_up_is("DOCKER_STORAGE: aufs\nKUBE_AWS_STORAGE: ebs\n", "overlay2", NULL, 0);
}

/* KUBE_AWS_STORAGE: ebs came into the documents of a node that has docker on its instance store. */
static void what_is_on_the_store_stays(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = flat(a, "DOCKER_STORAGE: btrfs\nKUBE_AWS_STORAGE: ebs\n");
	struct world own = flat(a, "KUBE_AWS_STORAGE: ebs\nvolumeMounts:\n"
				   "- {instanceStore: all, path: /mnt/ephemeral}\n");

	(void)state;
	w.facts.instance_store_used = own.facts.instance_store_used =
		(struct opt_bool){ true, true };
	world_must_build(&w);
	assert_int_equal(w.node.volumes.n, 1);
	assert_string_equal(w.node.volumes.v[0].name, "/mnt/ephemeral");
	assert_string_equal(w.node.docker_storage, "btrfs");
	assert_int_equal(w.warnings.n, 1);
	assert_non_null(strstr(
		w.warnings.v[0],
		"docker and kubelet of this instance are on its instance store and stay there"));
	/* one that was asked for in another way is no layout of kube-up's */
	world_must_build(&own);
	assert_int_equal(own.node.volumes.n, 1);
	assert_int_equal(own.node.volumes.v[0].binds.n, 0);
}

static void an_instance_without_a_store_goes_on(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = flat(a, "DOCKER_STORAGE: btrfs\n");

	(void)state;
	w.facts.instance_store = (struct opt_int){ true, 0 };
	world_must_build(&w);
	assert_int_equal(w.node.volumes.n, 0);
	assert_int_equal(w.warnings.n, 2);
	assert_string_equal(w.warnings.v[0],
			    "env:5:17: this instance has no instance store: docker and kubelet "
			    "stay on the root volume");
	assert_string_equal(w.warnings.v[1],
			    "env:5:17: docker's storage driver btrfs does not work where docker's "
			    "directory is, on a file system that is not known: it is overlay2");
	assert_string_equal(w.node.docker_storage, "overlay2");
	w.warnings.n = 0;
	w.facts.docker_filesystem = "ext4";
	world_must_build(&w);
	assert_string_equal(w.warnings.v[1],
			    "env:5:17: docker's storage driver btrfs does not work where docker's "
			    "directory is, on ext4: it is overlay2");
}

/* Disks, whether md can stripe them, and what becomes of DOCKER_STORAGE; no driver: it is refused. */
static void spans(const char *env, int disks, bool raid, bool btrfs, const char *driver,
		  const char *filesystem)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = btrfs ? flat(a, env) : world_small(a, env, "", "");

	w.facts.instance_store = (struct opt_int){ true, disks };
	w.facts.raid = (struct opt_bool){ true, raid };
	if (!driver) {
		refused(w, "env:5:17: DOCKER_STORAGE: 2 disks are one by md or by btrfs, and this "
			   "host has neither");
		return;
	}
	world_must_build(&w);
	assert_string_equal(w.node.docker_storage, driver);
	assert_string_equal(w.node.volumes.v[0].filesystem, filesystem);
}

static void several_disks_without_md_are_one_btrfs(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = flat(a, "DOCKER_STORAGE: overlay2\n");

	(void)state;
	spans("DOCKER_STORAGE: overlay2\n", 2, true, true, "overlay2", "ext4");
	spans("DOCKER_STORAGE: overlay2\n", 2, false, true, "btrfs", "btrfs");
	spans("DOCKER_STORAGE: aufs\n", 4, false, true, "btrfs", "btrfs");
	spans("DOCKER_STORAGE: overlay\n", 1, false, true, "overlay", "ext4");
	spans("DOCKER_STORAGE: aufs-nolvm\n", 2, false, false, "overlay2", "ext4");
	spans("DOCKER_STORAGE: overlay2\n", 2, false, false, NULL, NULL);
	w.facts.instance_store = (struct opt_int){ true, 2 };
	w.facts.raid = (struct opt_bool){ true, false };
	world_must_build(&w);
	assert_int_equal(w.warnings.n, 1);
	assert_string_equal(w.warnings.v[0],
			    "env:5:17: this host cannot stripe 2 disks by md: they are one btrfs, "
			    "and docker's storage driver is btrfs");
}

static void aufs_becomes_overlay2_with_one_line(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, "", "docker: {storage: aufs}\n", "");

	(void)state;
	world_must_build(&w);
	assert_string_equal(w.node.docker_storage, "overlay2");
	assert_int_equal(w.warnings.n, 1);
	assert_string_equal(w.warnings.v[0],
			    "cluster:1:19: this kernel has no aufs: docker's storage driver is "
			    "overlay2");
	w = world_small(a, "", "docker: {storage: aufs}\n", "");
	strv_add(a, &w.facts.filesystems, "aufs");
	world_must_build(&w);
	assert_string_equal(w.node.docker_storage, "aufs");
	assert_int_equal(w.warnings.n, 0);
}

static void of_a_list_the_first_that_the_kernel_has(void **state)
{
	static const char *const cases[][2] = {
		{ "overlay,aufs", "overlay" },    { "aufs, overlay", "overlay" },
		{ "btrfs,overlay2", "overlay2" }, { "devicemapper,overlay2", "overlay2" },
		{ "aufs,btrfs", "overlay2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(
			a, "", arena_printf(a, "docker: {storage: '%s'}\n", cases[i][0]), "");

		world_must_build(&w);
		assert_string_equal(w.node.docker_storage, cases[i][1]);
	}
}

/* What is asked for, the kernel's file systems, that of docker's directory, and the driver. */
static void a_driver_only_where_its_file_system_is(void **state)
{
	static const struct {
		const char *storage, *kernel, *on, *driver;
	} rows[] = {
		{ "btrfs", "btrfs,ext4,overlay", "btrfs", "btrfs" },
		{ "btrfs", "btrfs,ext4,overlay", "ext4", "overlay2" },
		{ "btrfs", "btrfs,ext4,overlay", NULL, "overlay2" },
		{ "btrfs", "ext4,overlay", NULL, "overlay2" },
		{ "zfs", "ext4,overlay,zfs", "xfs", "overlay2" },
		{ "zfs", "ext4,overlay,zfs", "zfs", "zfs" },
		{ "overlay2", "ext4,overlay,zfs", "zfs", "zfs" },
		{ "overlay", "btrfs,overlay", "btrfs", "overlay2" },
		{ "overlay2", "btrfs,overlay", "btrfs", "overlay2" },
		{ "aufs", "aufs,btrfs,overlay", "btrfs", "overlay2" },
		{ "aufs", "aufs,ext4,overlay", "ext4", "aufs" },
		{ "vfs", "ext4,overlay", "ext4", "vfs" },
		{ "btrfs,overlay", "btrfs,ext4,overlay", "ext4", "overlay" },
		{ "overlay,btrfs", "btrfs,ext4,overlay", "btrfs", "btrfs" },
		{ "devicemapper,btrfs", "btrfs,ext4,overlay", "ext4", "overlay2" },
		/* as kops, where nothing else is known to do */
		{ "btrfs,overlay", "ext4", NULL, "btrfs" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(
			a, "", arena_printf(a, "docker: {storage: '%s'}\n", rows[i].storage), "");

		w.facts.filesystems = strv_split(a, rows[i].kernel, ',');
		w.facts.docker_filesystem = rows[i].on;
		world_must_build(&w);
		if (strcmp(w.node.docker_storage, rows[i].driver) != 0 ||
		    w.warnings.n != (strstr(rows[i].storage, rows[i].driver) == NULL))
			fail_msg("row %zu: %s, %zu warnings", i, w.node.docker_storage,
				 w.warnings.n);
		/* what this machine has says nothing of a node where documents alone are looked at */
		w.opts.no_host = true;
		w.warnings.n = 0;
		world_must_build(&w);
		assert_int_equal(w.warnings.n, 0);
	}
}

/* By options of its command, or of its daemon.json: where the file system there is not known, what is asked for stays. */
static void docker_is_elsewhere(void **state)
{
	static const struct {
		const char *root, *on, *driver;
	} rows[] = {
		{ "/data/docker", NULL, "btrfs" },       { "/data/docker", "ext4", "overlay2" },
		{ "/data/docker", "btrfs", "btrfs" },    { "/vol/docker", "ext4", "btrfs" },
		{ "/var/lib/docker", NULL, "overlay2" },
	};
	static const char *const options[][2] = {
		{ "-g /a", "/a" },
		{ "--x --graph=/a -s aufs", "/a" },
		{ "-g /b --data-root /a", "/a" },
		{ "-g=/a", "/a" },
		{ "-g/a", "/a" },
		{ "--graph a --x=/b -g", NULL },
		{ "--graph-x /a", NULL },
		{ "", NULL },
		{ NULL, NULL },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		assert_true(str_eq(storage_docker_root(a, options[i][0]), options[i][1]));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = world_small(
			a, "", "docker: {storage: btrfs}\n",
			"volumeMounts: [{device: /dev/xvdf, path: /vol, filesystem: btrfs}]\n");

		w.facts.filesystems = strv_split(a, "btrfs,ext4,overlay", ',');
		w.facts.docker_root = rows[i].root;
		w.facts.docker_filesystem = rows[i].on;
		world_must_build(&w);
		if (strcmp(w.node.docker_storage, rows[i].driver) != 0)
			fail_msg("row %zu: %s", i, w.node.docker_storage);
	}
}

/* A volume of docker's counts, and not what is below its mount. */
static void of_docker_the_volume_counts(void **state)
{
	static const struct {
		const char *mount, *driver;
	} rows[] = {
		{ "path: /var/lib/docker, filesystem: btrfs", "btrfs" },
		{ "path: /a, filesystem: btrfs, binds: [{source: d, target: /var/lib/docker}]",
		  "btrfs" },
		{ "path: /var/lib/docker, filesystem: xfs", "overlay2" },
		{ "path: /var/lib/dockers, filesystem: btrfs", "overlay2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w =
			group(a, arena_printf(a, "volumeMounts: [{device: /dev/xvdf, %s}]\n",
					      rows[i].mount));

		w.cluster = world_text(&w, "cluster", "docker: {storage: btrfs}\n");
		w.facts.docker_filesystem = strcmp(rows[i].driver, "btrfs") == 0 ? "ext4" : NULL;
		world_must_build(&w);
		assert_string_equal(w.node.docker_storage, rows[i].driver);
	}
}

static void devicemapper_is_refused(void **state)
{
	static const char why[] =
		"docker storage driver devicemapper: docker 25 removed it, and on "
		"loop files it loses data";
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	refused(world_small(a, "", "docker: {storage: devicemapper}\n", ""),
		arena_printf(a, "cluster:1:19: %s", why));
	refused(flat(a, "DOCKER_STORAGE: devicemapper\n"), arena_printf(a, "env:5:17: %s", why));
}

/* What mkfs would refuse, validate refuses: one table tells both. */
static void bad_formats(void **state)
{
	static const char *const cases[][2] = {
		{ "device: /dev/sdf, path: /a, raid: raid1",
		  "1:51: volumeMounts[0]: ext4 has no raid1: of the file systems here btrfs has" },
		{ "device: /dev/sdf, path: /a, filesystem: btrfs, raid: raid1",
		  "1:70: volumeMounts[0]: raid1 needs 2 disks, here is 1" },
		{ "devices: [/dev/sdf, /dev/sdg], path: /a, filesystem: btrfs, raid: raid10",
		  "1:83: volumeMounts[0]: raid10 needs 4 disks, here are 2" },
		{ "devices: [/dev/sdf, /dev/sdg], filesystem: swap",
		  "1:60: volumeMounts[0]: swap cannot span 2 disks" },
		{ "device: /dev/sdf, path: /a, formatOptions: [/dev/sda]",
		  "1:60: volumeMounts[0]: formatOptions: '/dev/sda' is none that nodeup hands to the "
		  "tool of ext4 (-b -E -g -G -I -i -J -m -N -O -T)" },
		{ "device: /dev/sdf, path: /a, formatOptions: [-E, offset=1]",
		  "1:60: volumeMounts[0]: formatOptions: '-E' of ext4 cannot be 'offset=1'" },
		{ "device: /dev/sdf, path: /a, filesystem: xfs, formatOptions: [-T, small]",
		  "1:77: volumeMounts[0]: formatOptions: '-T' is none that nodeup hands to the tool "
		  "of xfs (-K -b -d -i -l -m -n -s)" },
		{ "device: /dev/sdf, path: /a, formatOptions: [-U, x]",
		  "1:60: volumeMounts[0]: formatOptions: '-U': the UUID is derived, so that the mount "
		  "unit knows it" },
		{ "device: /dev/sdf, path: /a, filesystem: xfs, label: 0123456789abc",
		  "1:69: volumeMounts[0]: label '0123456789abc': xfs takes 1 to 12 characters, no "
		  "blank, quote or slash" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();

		refused(group(a, arena_printf(a, "volumeMounts: [{%s}]\n", cases[i][0])),
			arena_printf(a, "ig:%s", cases[i][1]));
	}
}

/* Each is one item of volumeMounts in flow style, and what is wrong with it. */
static void bad_items(void **state)
{
	static const char *const cases[][2] = {
		{ "path: /a", "1:16: volumeMounts[0].device: no disk is named: one of device, "
			      "devices, instanceStore, volumeID" },
		{ "tag: k=v", "1:22: volumeMounts[0].tag: name its volumeID or device" },
		{ "path: /a, device: sdf",
		  "1:35: volumeMounts[0].device: 'sdf' is not a device: expected a path in /dev" },
		{ "path: /a, device: /dev/sdf, volumeID: vol-0",
		  "1:55: volumeMounts[0].volumeID: device says already which disk is meant" },
		{ "path: /a, instanceStore: some", "1:42: volumeMounts[0].instanceStore: expected "
						   "all or a number from 0, found 'some'" },
		{ "path: /a, instanceStore: -1",
		  "1:42: volumeMounts[0].instanceStore: expected all "
		  "or a number from 0, found '-1'" },
		{ "path: /a, volumeID: 0abc", "1:37: volumeMounts[0].volumeID: expected vol- and "
					      "hexadecimal digits, found '0abc'" },
		{ "device: /dev/sdf",
		  "1:16: volumeMounts[0].path: missing: where is it to be mounted?" },
		{ "device: /dev/sdf, path: data",
		  "1:16: volumeMounts[0].path: 'data' is not absolute" },
		{ "device: /dev/sdf, path: /a/../etc",
		  "1:16: volumeMounts[0].path: '/a/../etc' has an empty, '.' or '..' component" },
		{ "device: /dev/sdf, path: /etc/x",
		  "1:16: volumeMounts[0].path: '/etc/x' is in use by the system" },
		{ "device: /dev/sdf, path: /",
		  "1:16: volumeMounts[0].path: '/' is in use by the system" },
		{ "device: /dev/sdf, path: '/a b'",
		  "1:16: volumeMounts[0].path: '/a b' has a character that no mount point may have" },
		{ "device: /dev/sdf, path: /a, filesystem: zfs",
		  "1:57: volumeMounts[0].filesystem: expected one of ext4|xfs|btrfs|swap, found "
		  "'zfs'" },
		{ "device: /dev/sdf, path: /a, filesystem: swap",
		  "1:41: volumeMounts[0].path: swap is not mounted anywhere" },
		{ "device: /dev/sdf, path: /a, mountOptions: [x-systemd.device-timeout=1s]",
		  "1:59: volumeMounts[0].mountOptions: 'x-systemd.device-timeout=1s' has no effect "
		  "in a unit file; there is deviceTimeout" },
		{ "device: /dev/sdf, path: /a, mountOptions: ['a b']",
		  "1:59: volumeMounts[0].mountOptions: 'a b' is not a mount option" },
		{ "device: /dev/sdf, path: /a, mountOptions: [noauto]",
		  "1:59: volumeMounts[0].mountOptions: 'noauto' contradicts volumeMounts: it would "
		  "never be mounted" },
		{ "instanceStore: all, path: /a, persist: true",
		  "1:56: volumeMounts[0].persist: the instance store is empty after each stop and "
		  "start" },
		{ "device: /dev/sdf, path: /a, deviceTimeout: 0s",
		  "1:60: volumeMounts[0].deviceTimeout: less than a second" },
		{ "device: /dev/sdf, path: /a, binds: [{source: /x, target: /b}]",
		  "1:52: volumeMounts[0].binds: source '/x' is not a folder of the volume" },
		{ "device: /dev/sdf, path: /a, binds: [{source: ../x, target: /b}]",
		  "1:52: volumeMounts[0].binds: source '../x' is not a folder of the volume" },
		{ "device: /dev/sdf, path: /a, binds: [{source: x, target: b}]",
		  "1:16: volumeMounts[0].binds[0].target: 'b' is not absolute" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();

		refused(group(a, arena_printf(a, "volumeMounts: [{%s}]\n", cases[i][0])),
			arena_printf(a, "ig:%s", cases[i][1]));
	}
}

/* kubelet of 1.8 would be down, and nothing would say why but its journal. */
static void swap_and_a_kubelet_that_refuses_it(void **state)
{
	static const char swap[] = "volumeMounts:\n- {device: /dev/sdh, filesystem: swap}\n";
	autoarena struct arena *a = arena_new_empty();
	struct world w;

	(void)state;
	refused(group(a, swap), "ig:2:3: swap: kubelet would not start with it; set "
				"kubelet.failSwapOn to false, or leave it out");
	refused(group(a, arena_printf(a, "%skubelet:\n  failSwapOn: true\n", swap)),
		"ig:2:3: swap: kubelet would not start with it; set kubelet.failSwapOn to false, or "
		"leave it out");
	w = group(a, arena_printf(a, "%skubelet:\n  failSwapOn: false\n", swap));
	world_must_build(&w);
	assert_int_equal(w.node.volumes.n, 1);
	/* before, there was no such flag, and kubelet did not mind */
	w = world_small(a, "", "kubernetesVersion: 1.7.12\n", swap);
	world_must_build(&w);
	refused(world_small(a, "", "kubernetesVersion: 1.7.12\n",
			    "kubelet:\n  failSwapOn: false\n"),
		"kubelet.failSwapOn: kubelet has it since 1.8, this is 1.7");
}

/* Each is a list of volumeMounts, and what is wrong with it as a whole. */
static void bad_lists(void **state)
{
	static const char *const cases[][2] = {
		{ "- {device: /dev/sdf, path: /a}\n- {device: /dev/xvdf, path: /b}\n",
		  "3:3: /dev/xvdf is asked for twice, first for /a" },
		{ "- {instanceStore: all, path: /a}\n- {instanceStore: 1, path: /b}\n",
		  "3:3: instance store 1 is asked for twice, first for /a" },
		{ "- {devices: [/dev/sdf, /dev/sdf], path: /a}\n",
		  "2:3: /dev/xvdf is asked for twice, first for /a" },
		{ "- {volumeID: vol-1, path: /a}\n- {volumeID: vol-1, path: /b}\n",
		  "3:3: vol-1 is asked for twice, first for /a" },
		{ "- {device: /dev/sdf, path: /a}\n- {device: /dev/sdg, path: /a}\n",
		  "3:3: '/a' is mounted twice, first by ig:2:3" },
		{ "- {device: /dev/sdf, path: /a/b}\n- {device: /dev/sdg, path: /a}\n",
		  "3:3: '/a' would hide '/a/b', which stands before it: put the outer one first" },
		{ "- {device: /dev/sdf, path: /a, binds: [{source: x, target: /a}]}\n",
		  "2:3: '/a' is mounted twice, first by ig:2:3" },
		{ "- {device: /dev/sdf, path: /a, binds: [{source: x, target: /b},"
		  " {source: x, target: /c}]}\n",
		  "2:3: the sources '/a/x' and '/a/x' overlap" },
		{ "- {device: /dev/sdf, path: /a, binds: [{source: x/y, target: /b},"
		  " {source: x, target: /c}]}\n",
		  "2:3: the sources '/a/x' and '/a/x/y' overlap" },
		{ "- {device: /dev/sdf, path: /a, binds: [{source: x, target: /b}]}\n"
		  "- {device: /dev/sdg, path: /a/x}\n",
		  "2:3: the source '/a/x' is where '/a/x' is mounted" },
		{ "- {device: /dev/sdf, path: /a, binds: [{source: x, target: /b}]}\n"
		  "- {device: /dev/sdg, path: /a/x/y}\n",
		  "2:3: the source '/a/x' is where '/a/x/y' is mounted" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autoarena struct arena *a = arena_new_empty();

		refused(group(a, arena_printf(a, "volumeMounts:\n%s", cases[i][0])),
			arena_printf(a, "ig:%s", cases[i][1]));
	}
}

static void an_outer_mount_first_is_fine(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = group(a, "volumeMounts:\n- {device: /dev/sdf, path: /a}\n"
				  "- {device: /dev/sdg, path: /a/b}\n");

	(void)state;
	world_must_build(&w);
	assert_int_equal(w.node.volumes.n, 2);
}

static void a_file_system_the_kernel_lacks(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(
		a, "", "", "volumeMounts: [{device: /dev/sdf, path: /a, filesystem: xfs}]\n");

	(void)state;
	refused(w,
		"ig:1:57: volumeMounts[0].filesystem: 'xfs' is not a file system of this kernel");
	w.opts.no_host = true;
	world_must_build(&w);
}

static void a_name_that_changes_is_warned_of(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = group(a, "volumeMounts: [{device: /dev/nvme1n1, path: /a}]\n");

	(void)state;
	world_must_build(&w);
	assert_true(w.warnings.n > 0);
	assert_non_null(strstr(w.warnings.v[0], "changes from boot to boot"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swap_and_a_kubelet_that_refuses_it),
		cmocka_unit_test(kops_volume_mounts),
		cmocka_unit_test(master_pd),
		cmocka_unit_test(selectors_beyond_a_path),
		cmocka_unit_test(binds_and_their_users),
		cmocka_unit_test(a_service_s_own_directory_is_a_bind),
		cmocka_unit_test(kube_env_has_volume_mounts_too),
		cmocka_unit_test(kube_up),
		cmocka_unit_test(what_is_on_the_store_stays),
		cmocka_unit_test(an_instance_without_a_store_goes_on),
		cmocka_unit_test(several_disks_without_md_are_one_btrfs),
		cmocka_unit_test(aufs_becomes_overlay2_with_one_line),
		cmocka_unit_test(of_a_list_the_first_that_the_kernel_has),
		cmocka_unit_test(a_driver_only_where_its_file_system_is),
		cmocka_unit_test(docker_is_elsewhere),
		cmocka_unit_test(of_docker_the_volume_counts),
		cmocka_unit_test(devicemapper_is_refused),
		cmocka_unit_test(bad_formats),
		cmocka_unit_test(bad_items),
		cmocka_unit_test(bad_lists),
		cmocka_unit_test(an_outer_mount_first_is_fine),
		cmocka_unit_test(a_file_system_the_kernel_lacks),
		cmocka_unit_test(a_name_that_changes_is_warned_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
