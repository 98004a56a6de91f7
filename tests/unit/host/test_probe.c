#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "nodeup/host/probe.h"
#include "tests/unit/lib/cloud.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/scratch.h"

static const char debian[] = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\n"
			     "VERSION_CODENAME=bookworm\nID=debian\n";

struct fixture {
	struct scratch root;
	struct arena *a;
};

static int setup(void **state)
{
	struct fixture *fx = xcalloc(1, sizeof(*fx));

	scratch_new(&fx->root);
	fx->a = arena_new_empty();
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	scratch_done(&fx->root);
	arena_free(fx->a);
	free(fx);
	return 0;
}

static struct facts probe(struct fixture *fx, bool running, struct facts f)
{
	struct err e;

	if (probe_host(fx->a, fx->root.fd, running, &f, &e) < 0)
		fail_msg("%s", e.msg);
	return f;
}

static void test_running(void **state)
{
	struct fixture *fx = *state;
	struct utsname host;
	struct facts f;

	assert_int_equal(uname(&host), 0);
	scratch_write(&fx->root, "/etc/os-release", debian);
	scratch_write(&fx->root, "/proc/filesystems", "nodev\tsysfs\n\text4\nnodev\toverlay\n");
	scratch_write(&fx->root, arena_printf(fx->a, "/lib/modules/%s/modules.dep", host.release),
		      "kernel/fs/xfs/xfs.ko.xz: kernel/lib/crc.ko\nkernel/fs/nls/nls_utf8.ko:\n"
		      "kernel/net/x.ko: kernel/fs/no.ko\nkernel/fs/overlayfs/overlay.ko:\n");
	scratch_write(&fx->root, "/sys/class/dmi/id/board_asset_tag", "i-0abc\n");
	f = probe(fx, true, (struct facts){ 0 });
	assert_string_equal(f.distribution, "debian");
	assert_string_equal(f.version, "12");
	assert_string_equal(f.codename, "bookworm");
	assert_non_null(f.arch);
	assert_string_equal(strv_join(fx->a, &f.filesystems, " "), "ext4 overlay sysfs xfs");
	assert_string_equal(f.instance_id, "i-0abc");
	assert_null(f.region);
}

/* The builder's machine says nothing about an image. */
static void test_image(void **state)
{
	Elf64_Ehdr header = { .e_ident = ELFMAG, .e_machine = EM_AARCH64 };
	struct fixture *fx = *state;
	struct facts f;

	scratch_write(&fx->root, "/usr/lib/os-release", debian);
	scratch_write(&fx->root, "/proc/filesystems", "\text4\n");
	scratch_write(&fx->root, "/sys/class/dmi/id/board_asset_tag", "i-0abc\n");
	f = probe(fx, false, (struct facts){ 0 });
	assert_string_equal(f.distribution, "debian");
	assert_null(f.arch);
	assert_null(f.instance_id);
	assert_int_equal(f.filesystems.n, 0);
	tmp_write(fx->root.path, "bin/sh", &header, sizeof(header));
	f = probe(fx, false, (struct facts){ 0 });
	assert_string_equal(f.arch, "arm64");
}

static void test_network(void **state)
{
	struct fixture *fx = *state;
	struct scratch *root = &fx->root;
	struct facts f;

	scratch_write(root, "/etc/os-release", debian);
	scratch_write(root, "/sys/devices/pci0/net/ens5/address", "06:11:22:33:44:55\n");
	scratch_write(root, "/sys/devices/pci0/net/ens5/device/vendor", "");
	scratch_write(root, "/sys/devices/virtual/net/cni0/address", "0a:00:00:00:00:01\n");
	scratch_write(root, "/sys/class/net/bonding_masters", "");
	assert_int_equal(symlinkat("../../devices/pci0/net/ens5", root->fd, "sys/class/net/ens5"),
			 0);
	assert_int_equal(
		symlinkat("../../devices/virtual/net/cni0", root->fd, "sys/class/net/cni0"), 0);
	scratch_write(root, "/proc/self/mounts", "bpf /sys/fs/bpf bpf rw 0 0\n");
	scratch_write(root, "/proc/meminfo", "MemTotal:        8000512 kB\nMemFree: 1 kB\n");
	f = probe(fx, true, (struct facts){ .arch = "amd64" });
	assert_int_equal(f.interfaces.n, 1);
	assert_string_equal(strmap_get(&f.interfaces, "ens5"), "06:11:22:33:44:55");
	assert_true(f.bpffs_mounted.set && f.bpffs_mounted.v);
	assert_true(f.resolved.set && !f.resolved.v);
	assert_true(f.memory_mib.set && f.memory_mib.v == 7813);
	assert_true(f.processors.v > 0 && f.boot_disk_gib.set);
	/* those of the machine that tests: it has one of its own */
	assert_true(strv_has(&f.addresses, "127.0.0.1/8"));
	scratch_write(root, "/run/systemd/resolve/resolv.conf", "");
	scratch_write(root, "/proc/self/mounts", "x / ext4 rw 0 0\n");
	f = probe(fx, false, (struct facts){ .arch = "amd64" });
	assert_int_equal(f.interfaces.n, 0);
	assert_int_equal(f.addresses.n, 0);
	assert_true(!f.memory_mib.set && !f.processors.set && !f.boot_disk_gib.set);
	assert_true(f.resolved.v && !f.bpffs_mounted.set);
	/* an image: nothing runs yet, and only what is masked never will */
	assert_int_equal(unlinkat(root->fd, "run/systemd/resolve/resolv.conf", 0), 0);
	f = probe(fx, false, (struct facts){ .arch = "amd64" });
	assert_false(f.resolved.set);
	scratch_write(root, "/etc/systemd/system/x", "");
	assert_int_equal(
		symlinkat("/dev/null", root->fd, "etc/systemd/system/systemd-resolved.service"), 0);
	f = probe(fx, false, (struct facts){ .arch = "amd64" });
	assert_true(f.resolved.set && !f.resolved.v);
}

static bool asks_itself(struct fixture *fx, const char *text)
{
	if (text)
		scratch_write(&fx->root, "/etc/resolv.conf", text);
	return probe(fx, false, (struct facts){ .arch = "amd64" }).asks_itself.v;
}

/* systemd-resolved may run beside a file that an admin wrote. */
static void test_servers_of_etc_resolv_conf(void **state)
{
	struct fixture *fx = *state;

	scratch_write(&fx->root, "/etc/os-release", debian);
	assert_false(probe(fx, true, (struct facts){ .arch = "amd64" }).asks_itself.set);
	scratch_write(&fx->root, "/run/systemd/resolve/resolv.conf", "nameserver 10.0.0.2\n");
	assert_true(asks_itself(fx, NULL));
	assert_true(asks_itself(fx, "# nameserver 10.0.0.2\nsearch example.com\n"));
	assert_true(asks_itself(fx, "nameserver 127.0.0.53\noptions edns0\n"));
	assert_true(asks_itself(fx, "nameserver 10.0.0.2\nnameserver\t::1\n"));
	assert_false(asks_itself(fx, "search x\nnameserver 10.0.0.2\nnameserver  fd00::1\n"));
}

/* As docker finds it: links are followed, and a mount counts. */
static void test_docker_filesystem(void **state)
{
	struct fixture *fx = *state;
	const struct facts none = { .arch = "amd64" };
	const struct facts given = { .arch = "amd64", .docker_filesystem = "zfs" };
	static const char *const nothing[] = { "{\"data-root\": \"a\"}",
					       "{\"data-root\": [\"/a\"]}", "[\"/a\"]", "{}", "{" };
	const char *at = arena_printf(fx->a, "%s/elsewhere", fx->root.path);

	scratch_write(&fx->root, "/etc/os-release", debian);
	scratch_write(&fx->root, "/elsewhere/x", "");
	scratch_write(&fx->root, "/var/lib/x", "");
	assert_int_equal(symlinkat("../../elsewhere", fx->root.fd, "var/lib/docker"), 0);
	assert_string_equal(probe(fx, true, given).docker_filesystem, "zfs");
	assert_null(probe(fx, false, none).docker_filesystem);
	assert_int_equal(mount("none", at, "tmpfs", 0, NULL), 0);
	assert_string_equal(probe(fx, true, none).docker_filesystem, "tmpfs");
	/* daemon.json may name another place, which may not be there yet */
	scratch_write(&fx->root, "/etc/docker/daemon.json", "{\"data-root\": \"/elsewhere/a/b\"}");
	assert_int_equal(unlinkat(fx->root.fd, "var/lib/docker", 0), 0);
	assert_string_equal(probe(fx, true, none).docker_root, "/elsewhere/a/b");
	assert_string_equal(probe(fx, true, none).docker_filesystem, "tmpfs");
	scratch_write(&fx->root, "/etc/docker/daemon.json", "{\"graph\": \"/elsewhere\"}");
	assert_string_equal(probe(fx, true, none).docker_filesystem, "tmpfs");
	assert_int_equal(umount2(at, MNT_DETACH), 0);
	for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
		scratch_write(&fx->root, "/etc/docker/daemon.json", nothing[i]);
		assert_null(probe(fx, true, none).docker_root);
	}
}

static void test_homes(void **state)
{
	struct fixture *fx = *state;
	struct facts f;

	scratch_write(&fx->root, "/etc/os-release", debian);
	scratch_write(&fx->root, "/etc/passwd",
		      "root:x:0:0:root:/root:/bin/bash\nother:x:1:1::/home/other:/bin/sh\n"
		      "admin:x:1000:1000::/home/admin:/bin/bash\n");
	f = probe(fx, false, (struct facts){ .arch = "amd64" });
	assert_int_equal(f.homes.n, 2);
	assert_string_equal(strmap_get(&f.homes, "admin"), "/home/admin");
	assert_string_equal(strmap_get(&f.homes, "root"), "/root");
}

static void test_given_facts_win(void **state)
{
	struct fixture *fx = *state;
	const struct facts given = { .distribution = "debian",
				     .codename = "given",
				     .arch = "arm64",
				     .instance_id = "i-given" };
	struct facts f;

	scratch_write(&fx->root, "/etc/os-release", debian);
	scratch_write(&fx->root, "/sys/class/dmi/id/board_asset_tag", "i-0abc");
	f = probe(fx, true, given);
	assert_string_equal(f.codename, "given");
	assert_string_equal(f.version, "12");
	assert_string_equal(f.arch, "arm64");
	assert_string_equal(f.instance_id, "i-given");
	/* a version of another distribution is none */
	f = probe(fx, true, (struct facts){ .distribution = "flatcar" });
	assert_string_equal(f.distribution, "flatcar");
	assert_null(f.version);
}

static void test_unknown_distribution(void **state)
{
	struct fixture *fx = *state;
	struct facts f = { 0 };
	struct err e = { 0 };

	assert_true(probe_host(fx->a, fx->root.fd, true, &f, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "/etc/os-release"));
	scratch_write(&fx->root, "/etc/os-release", "ID=plan9\n");
	assert_true(probe_host(fx->a, fx->root.fd, true, &f, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_non_null(strstr(e.msg, "plan9"));
	f = probe(fx, true, (struct facts){ .distribution = "debian" });
	assert_null(f.version);
}

static void test_instance(void **state)
{
	static const char *const names[] = { "region",       "availabilityZone", "instanceID",
					     "instanceType", "localHostname",    "localIPv4",
					     "publicIPv4" };
	struct cloud *c = cloud_start(NULL);
	struct imds *m = imds_new(c->http);
	struct facts f = { .instance_type = "given" };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(probe_fact(c->arena, m, "localHostname", &f, &e), 0);
	/* the first of several names */
	assert_string_equal(f.local_hostname, "ip-10-0-0-7.us-west-2.compute.internal");
	assert_null(f.region);
	assert_int_equal(cloud_count(c, CLOUD_IMDS, NULL), 2);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (probe_fact(c->arena, m, names[i], &f, &e) < 0)
			fail_msg("%s: %s", names[i], e.msg);
	assert_null(f.public_ipv4);
	assert_string_equal(f.region, "us-west-2");
	assert_string_equal(f.availability_zone, "us-west-2a");
	assert_string_equal(f.instance_id, "i-0123456789abcdef0");
	assert_string_equal(f.instance_type, "given");
	assert_string_equal(f.local_ipv4, "10.0.0.7");
	assert_int_equal(cloud_count(c, CLOUD_IMDS, "/latest/meta-data/local-hostname"), 1);

	f = (struct facts){ 0 };
	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/local-hostname", "status=200&body=%0a");
	assert_true(probe_fact(c->arena, m, "localHostname", &f, &e) < 0);
	assert_null(f.local_hostname);
	cloud_fault(c, CLOUD_IMDS, "/latest/meta-data/local-hostname", "status=500");
	assert_true(probe_fact(c->arena, m, "localHostname", &f, &e) < 0);
	assert_int_equal(e.kind, ERR_NET);
	assert_true(str_has_prefix(e.msg, "fact localHostname: instance metadata: GET "));
	imds_free(m);
	cloud_stop(c);
}

static void test_runtime(void **state)
{
	struct fixture *fx = *state;
	struct scratch *root = &fx->root;

	assert_null(probe_runtime(fx->a, root->fd, false, NULL).unit);
	scratch_write(root, "/lib/systemd/system/containerd.service", "");
	assert_string_equal(probe_runtime(fx->a, root->fd, false, NULL).unit, "containerd.service");
	scratch_write(root, "/usr/lib/systemd/system/docker.service", "");
	assert_string_equal(probe_runtime(fx->a, root->fd, false, NULL).unit, "docker.service");
	assert_null(probe_runtime(fx->a, root->fd, false, NULL).masked);
	scratch_write(root, "/etc/systemd/system/x", "");
	/* masked */
	assert_int_equal(symlinkat("/dev/null", root->fd, "etc/systemd/system/docker.service"), 0);
	assert_string_equal(probe_runtime(fx->a, root->fd, false, NULL).unit, "containerd.service");
	assert_string_equal(probe_runtime(fx->a, root->fd, false, NULL).masked, "docker.service");
	assert_int_equal(unlinkat(root->fd, "etc/systemd/system/docker.service", 0), 0);
	assert_int_equal(
		symlinkat("/opt/docker.service", root->fd, "etc/systemd/system/docker.service"), 0);
	assert_string_equal(probe_runtime(fx->a, root->fd, false, NULL).unit, "docker.service");
}

static void test_swaps(void **state)
{
	static const char fstab[] = "# /off none swap sw 0 0\nUUID=1 / ext4 defaults 0 1\n"
				    "/swap\\040file\tnone\tswap\tsw 0 0\n"
				    "/later none swap sw,noauto 0 0\n";
	struct fixture *fx = *state;
	struct facts f;

	scratch_write(&fx->root, "/etc/os-release", debian);
	scratch_write(&fx->root, "/proc/swaps", "Filename\tType\n/dev/zram0 partition 1 0 5\n");
	scratch_write(&fx->root, "/etc/fstab", fstab);
	scratch_write(&fx->root, "/etc/systemd/system/data.swap", "");
	scratch_write(&fx->root, "/etc/systemd/system/swap.target.wants/b.swap", "");
	f = probe(fx, true, (struct facts){ .arch = "amd64" });
	assert_string_equal(strv_join(fx->a, &f.swaps, " "), "/dev/zram0");
	assert_string_equal(strv_join(fx->a, &f.boot_swaps, ", "),
			    "/swap file of /etc/fstab, b.swap");
	/* those of its builder are not an image's */
	f = probe(fx, false, (struct facts){ .arch = "amd64" });
	assert_int_equal(f.swaps.n, 0);
	assert_int_equal(f.boot_swaps.n, 2);
}

/* An admin's drop-in of kubelet's, or the file of variables that it names. */
static void test_kubelet_that_takes_swap(void **state)
{
	static const struct {
		const char *dropin, *file;
		bool takes;
	} rows[] = {
		{ "[Service]\nEnvironment=X=--fail-swap-on=false\n", NULL, true },
		{ "[Service]\nExecStartPre=/sbin/swapoff -a\n", NULL, true },
		{ "[Service]\n EnvironmentFile=-/etc/default/kubelet \n", "X=--fail-swap-on=false",
		  true },
		{ "[Service]\nEnvironmentFile=/etc/default/kubelet\n", "X=--fail-swap-on=true",
		  false },
		{ "[Service]\nEnvironmentFile=-etc/default/kubelet\n", "X=--fail-swap-on=false",
		  false },
		{ "[Service]\nEnvironmentFile=-/etc/default/none\n", "X=--fail-swap-on=false",
		  false },
		{ "", NULL, false },
	};
	struct fixture *fx = *state;

	scratch_write(&fx->root, "/etc/os-release", debian);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		scratch_write(&fx->root, "/usr/lib/systemd/system/kubelet.service.d/a.conf",
			      rows[i].dropin);
		scratch_write(&fx->root, "/etc/default/kubelet", rows[i].file ? rows[i].file : "");
		if (probe(fx, false, (struct facts){ .arch = "amd64" }).kubelet_takes_swap.v !=
		    rows[i].takes)
			fail_msg("row %zu", i);
	}
}

/* kops' own program of 1.35 and of 1.36, and files of others. */
static void test_what_kops_left(void **state)
{
#define CONFIG "--config=/var/lib/kubelet/kubelet.conf"
	static const struct {
		const char *sysconfig, *toml;
		struct opt_bool flags;
		int version;
	} rows[] = {
		{ "DAEMON_ARGS=\"--client-ca-file=/srv/kubernetes/ca.crt " CONFIG "\"\n",
		  "version = 2\n",
		  { true, true },
		  2 },
		{ "DAEMON_ARGS=\"--cloud-provider=external " CONFIG "\"\n",
		  "imports = []\n version=3\n\n[a]\nversion = 4\n",
		  { true, false },
		  3 },
		/* as a distribution's package brings it */
		{ "KUBELET_EXTRA_ARGS=" CONFIG "\n", "version = 2\n", { 0 }, 0 },
		{ "DAEMON_ARGS=\"--config=/etc/kubelet.yaml\"\n", "", { 0 }, 0 },
	};
	struct fixture *fx = *state;
	struct facts f = { 0 };

	probe_left(fx->a, fx->root.fd, &f);
	assert_false(f.kubelet_flags.set || f.containerd_config.set);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		scratch_write(&fx->root, "/etc/sysconfig/kubelet", rows[i].sysconfig);
		scratch_write(&fx->root, "/etc/containerd/config.toml", rows[i].toml);
		f = (struct facts){ 0 };
		probe_left(fx->a, fx->root.fd, &f);
		assert_int_equal(f.kubelet_flags.set, rows[i].flags.set);
		assert_int_equal(f.kubelet_flags.v, rows[i].flags.v);
		assert_int_equal(f.containerd_config.set, rows[i].flags.set);
		assert_int_equal(f.containerd_config.v, rows[i].version);
	}
	f = (struct facts){ .kubelet_flags = { true, true }, .containerd_config = { true, 4 } };
	probe_left(fx->a, fx->root.fd, &f);
	assert_true(f.kubelet_flags.v && f.containerd_config.v == 4);
}

/* Of each interface, as a certificate may have them. */
static void test_names(void **state)
{
	static const char at[] = "network/interfaces/macs/02:00:00:00:00:02/";
	static const char *const set[][2] = {
		{ "public-hostname", "ec2-203-0-113-9.example" },
		{ "local-ipv4s", "10.0.0.8%0a10.0.0.9" },
		{ "public-ipv4s", "203.0.113.9" },
		{ "ipv6s", "2001:db8::9" },
	};
	struct cloud *c = cloud_start(NULL);
	struct imds *m = imds_new(c->http);
	struct strv names = { 0 };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		cloud_tell(c, CLOUD_IMDS,
			   arena_printf(c->arena, "/__set?path=%s%s&value=%s", at, set[i][0],
					set[i][1]));
	if (probe_names(c->arena, m, "i-0123456789abcdef0", &names, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		assert_true(strv_has(&names, i == 1 ? "10.0.0.9" : set[i][1]));
	assert_true(strv_has(&names, "ip-10-0-0-7.us-west-2.compute.internal"));
	names = (struct strv){ 0 };
	assert_int_equal(probe_names(c->arena, m, "i-other", &names, &e), 0);
	assert_int_equal(names.n, 0);
	cloud_fault(c, CLOUD_IMDS, arena_printf(c->arena, "/latest/meta-data/%sipv6s", at),
		    "status=500");
	assert_true(probe_names(c->arena, m, "i-0123456789abcdef0", &names, &e) < 0);
	assert_int_equal(e.kind, ERR_NET);
	assert_int_equal(names.n, 0);
	imds_free(m);
	cloud_stop(c);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_running),
		T(test_image),
		T(test_given_facts_win),
		T(test_unknown_distribution),
		T(test_instance),
		T(test_runtime),
		T(test_network),
		T(test_homes),
		T(test_servers_of_etc_resolv_conf),
		T(test_docker_filesystem),
		T(test_names),
		T(test_swaps),
		T(test_kubelet_that_takes_swap),
		T(test_what_kops_left),
	};

	/* what is mounted here is nobody else's */
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		abort();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
