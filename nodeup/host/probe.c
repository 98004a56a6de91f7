#include "nodeup/host/probe.h"

#include <arpa/inet.h>
#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/walk.h"
#include "nodeup/config/distro.h"
#include "nodeup/host/cgroup.h"
#include "nodeup/host/docker.h"
#include "nodeup/host/kernel.h"
#include "nodeup/host/swap.h"

enum { FILE_MAX = 4 << 20 };

static int probe_distribution(struct arena *a, int root_fd, struct facts *f, struct err *e)
{
	static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
	struct facts found = { 0 };
	const char *text = NULL;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(paths) && !text; i++)
		text = io_text(a, root_fd, paths[i], FILE_MAX);
	if (!text && f->distribution)
		return 0;
	if (!text)
		return err_config(e, "unknown distribution: neither %s nor %s can be read",
				  paths[0], paths[1]);
	r = facts_os_release(a, text, &found, e);
	if (r < 0)
		return f->distribution ? 0 : r;
	/* version and codename belong only to the distribution that they came with */
	if (f->distribution && !str_eq(f->distribution, found.distribution))
		return 0;
	f->distribution = found.distribution;
	if (!f->version)
		f->version = found.version;
	if (!f->codename)
		f->codename = found.codename;
	return 0;
}

/* Returns the architecture of the programs below the root: an image may be for another architecture than its
 * builder's. */
static const char *machine_of_image(int root_fd)
{
	static const char *const programs[] = { "/bin/sh", "/usr/bin/env", "/sbin/init" };
	static const struct {
		uint16_t machine;
		const char *name;
	} machines[] = { { EM_X86_64, "x86_64" }, { EM_AARCH64, "aarch64" } };

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		autoclose int fd = -1;
		struct err ignored;
		Elf64_Ehdr header;

		if (io_open_file(root_fd, programs[i], &fd, &ignored) < 0 ||
		    read(fd, &header, sizeof(header)) != sizeof(header) ||
		    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(machines); k++)
			if (machines[k].machine == header.e_machine)
				return machines[k].name;
	}
	return NULL;
}

static int probe_arch(int root_fd, bool running, struct facts *f, struct err *e)
{
	struct utsname host;
	const char *machine;

	if (f->arch)
		return 0;
	if (!running) {
		machine = machine_of_image(root_fd);
		return machine ? facts_arch(machine, f, e) : 0;
	}
	if (uname(&host) < 0)
		return err_sys(e, "ask for the machine's name");
	return facts_arch(host.machine, f, e);
}

static void add_filesystem(struct arena *a, struct strv *v, const char *name, size_t n)
{
	char *copy = arena_strn(a, name, n);

	if (n && !strv_has(v, copy))
		strv_add(a, v, copy);
}

/* Lists the file systems that the kernel has now: the last word of each line. */
static void add_loaded(struct arena *a, const char *text, struct strv *v)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), start = n;

		while (start && line[start - 1] != '\t' && line[start - 1] != ' ')
			start--;
		add_filesystem(a, v, line + start, n - start);
		line += n + (line[n] == '\n');
	}
}

/* Adds file systems that the kernel can load. Without these file systems the plan would change after the first
 * mount. */
static void add_loadable(struct arena *a, const char *text, struct strv *v)
{
	static const char folder[] = "kernel/fs/";

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), end = strcspn(line, ":\n");

		if (str_has_prefix(line, folder) && !str_has_prefix(line, "kernel/fs/nls/")) {
			const char *name = memrchr(line, '/', end);

			add_filesystem(a, v, name + 1, strcspn(name + 1, ".:\n"));
		}
		line += n + (line[n] == '\n');
	}
}

static void probe_filesystems(struct arena *a, int root_fd, struct facts *f)
{
	const char *text = io_text(a, root_fd, "/proc/filesystems", FILE_MAX);

	if (text)
		add_loaded(a, text, &f->filesystems);
	text = kernel_list(a, root_fd, "modules.dep");
	if (text)
		add_loadable(a, text, &f->filesystems);
	strv_sort(&f->filesystems);
}

static const char daemon_json[] = "/etc/docker/daemon.json", usual_root[] = "/var/lib/docker";
static const char resolv_conf[] = "/etc/resolv.conf";

static const char *root_of_daemon(struct arena *a, const char *text)
{
	const char *root;
	struct err ignored;
	struct tree *t;

	if (!text || json_parse(a, daemon_json, text, strlen(text), &t, &ignored) < 0 ||
	    t->kind != TREE_MAP)
		return NULL;
	root = tree_text(t, "data-root");
	if (!root)
		root = tree_text(t, "graph");
	return root && *root == '/' ? root : NULL;
}

void probe_docker_filesystem(struct arena *a, int root_fd, const char *directory, struct facts *f)
{
	static const struct {
		long magic;
		const char *name;
	} names[] = {
		{ EXT4_SUPER_MAGIC, "ext4" },         { XFS_SUPER_MAGIC, "xfs" },
		{ BTRFS_SUPER_MAGIC, "btrfs" },       { 0x2fc12fc1, "zfs" },
		{ OVERLAYFS_SUPER_MAGIC, "overlay" }, { TMPFS_MAGIC, "tmpfs" },
	};
	char *at = arena_str(a, directory);
	autoclose int fd = -1;
	struct err ignored;
	struct statfs fs;

	f->docker_filesystem = NULL;
	while (io_open(root_fd, *at ? at : "/", O_RDONLY | O_DIRECTORY, &fd, &ignored) < 0 && *at)
		*strrchr(at, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names) && fd >= 0 && fstatfs(fd, &fs) == 0; i++)
		if (fs.f_type == names[i].magic)
			f->docker_filesystem = names[i].name;
}

/* Nitro's firmware has the instance's id, so no request is needed. */
static void probe_firmware(struct arena *a, int root_fd, struct facts *f)
{
	const char *text = io_text(a, root_fd, "/sys/class/dmi/id/board_asset_tag", FILE_MAX);
	const char *id = text ? str_trim(a, text) : "";

	if (!f->instance_id && str_has_prefix(id, "i-"))
		f->instance_id = id;
}

/* Lists the interfaces with a device, and their MACs. A network plugin's bridge or tunnel has no device. */
static void probe_interfaces(struct arena *a, int root_fd, struct facts *f)
{
	static const char folder[] = "/sys/class/net";
	struct strv names = { 0 };
	struct err ignored;

	if (f->interfaces.n || walk_names_at(a, root_fd, folder, &names, &ignored) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *at = arena_printf(a, "%s/%s", folder, names.v[i]);
		const char *mac = io_text(a, root_fd, arena_printf(a, "%s/address", at), FILE_MAX);

		if (mac && io_is_there(root_fd, arena_printf(a, "%s/device", at)))
			strmap_set(a, &f->interfaces, names.v[i], str_trim(a, mac));
	}
}

static int bits_of(const unsigned char *mask, size_t n)
{
	int bits = 0;

	for (size_t i = 0; i < n; i++)
		bits += __builtin_popcount(mask[i]);
	return bits;
}

/* Writes the address as "10.0.0.7/24"; NULL: the address is of another family. */
static const char *address_of(struct arena *a, const struct ifaddrs *i)
{
	static const struct {
		sa_family_t family;
		size_t at, n;
	} kinds[] = {
		{ AF_INET, offsetof(struct sockaddr_in, sin_addr), sizeof(struct in_addr) },
		{ AF_INET6, offsetof(struct sockaddr_in6, sin6_addr), sizeof(struct in6_addr) },
	};
	char text[INET6_ADDRSTRLEN];

	for (size_t k = 0; i->ifa_addr && i->ifa_netmask && k < ARRAY_LEN(kinds); k++) {
		const unsigned char *address = (const unsigned char *)i->ifa_addr + kinds[k].at;
		const unsigned char *mask = (const unsigned char *)i->ifa_netmask + kinds[k].at;

		if (i->ifa_addr->sa_family == kinds[k].family &&
		    inet_ntop(kinds[k].family, address, text, sizeof(text)))
			return arena_printf(a, "%s/%d", text, bits_of(mask, kinds[k].n));
	}
	return NULL;
}

static void probe_addresses(struct arena *a, struct facts *f)
{
	struct ifaddrs *all;

	if (f->addresses.n || getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		const char *text = address_of(a, i);

		if (text)
			strv_add(a, &f->addresses, text);
	}
	freeifaddrs(all);
	strv_sort(&f->addresses);
}

/* Finds the homes of root, and of the users that today's distributions have in their images. source: kops 1.37
 * util/pkg/distributions DefaultUsers */
static void probe_homes(struct arena *a, int root_fd, struct facts *f)
{
	const char *text = io_text(a, root_fd, "/etc/passwd", FILE_MAX);
	struct strv users = { 0 }, lines = { 0 };

	for (const struct distro *d = distros; d->name; d++) {
		const struct strv own = strv_split(a, d->users ? d->users : "", ' ');

		strv_add_all(a, &users, &own);
	}
	if (text && f->homes.n == 0)
		lines = strv_split(a, text, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const struct strv fields = strv_split(a, lines.v[i], ':');

		if (fields.n == 7 && strv_has(&users, fields.v[0]) && *fields.v[5] == '/')
			strmap_set(a, &f->homes, fields.v[0], fields.v[5]);
	}
}

static void probe_bpffs(struct arena *a, int root_fd, struct facts *f)
{
	const char *text = io_text(a, root_fd, "/proc/self/mounts", FILE_MAX);

	if (text && !f->bpffs_mounted.set)
		f->bpffs_mounted =
			(struct opt_bool){ true, strstr(text, " /sys/fs/bpf bpf ") != NULL };
}

static bool has_file(int root_fd, const char *path)
{
	autoclose int fd = -1;
	struct err ignored;

	return io_open_file(root_fd, path, &fd, &ignored) == 0;
}

/* Finds whether systemd-resolved runs: it writes its file before the network counts as up. In an image
 * systemd-resolved has never run: there only a masked unit (a link to a device) shows that it will not run. */
static void probe_resolved(int root_fd, bool running, struct facts *f)
{
	static const char unit[] = "/etc/systemd/system/systemd-resolved.service";
	const bool runs = has_file(root_fd, "/run/systemd/resolve/resolv.conf");

	if (f->resolved.set)
		return;
	if (runs || running || (io_is_there(root_fd, unit) && !has_file(root_fd, unit)))
		f->resolved = (struct opt_bool){ true, runs };
}

/* Pods use the servers of /etc/resolv.conf too, except servers on the loopback interface. An admin may have written
 * that file while systemd-resolved runs. source: resolv.conf(5) */
static void probe_servers(struct arena *a, const char *text, struct facts *f)
{
	const struct strv lines = strv_split(a, text ? text : "", '\n');
	size_t n = 0, loops = 0;

	for (size_t i = 0; i < lines.n; i++) {
		const char *server = lines.v[i] + strlen("nameserver");

		if (!str_has_prefix(lines.v[i], "nameserver") || !strchr(" \t", *server))
			continue;
		server += strspn(server, " \t");
		n += *server != '\0';
		loops += str_has_prefix(server, "127.") ||
			 str_eq(arena_strn(a, server, strcspn(server, " \t")), "::1");
	}
	f->asks_itself = (struct opt_bool){ true, n == 0 || loops > 0 };
}

/* Fills the sizes that kubelet counts itself. */
static void probe_size(struct arena *a, int root_fd, struct facts *f)
{
	static const char total[] = "MemTotal:";
	const char *text = io_text(a, root_fd, "/proc/meminfo", FILE_MAX);
	const char *memory = text ? strstr(text, total) : NULL;
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct statfs fs;

	if (!f->processors.set && processors > 0)
		f->processors = (struct opt_int){ true, processors };
	if (!f->memory_mib.set && memory)
		f->memory_mib =
			(struct opt_int){ true, strtoll(memory + strlen(total), NULL, 10) >> 10 };
	if (!f->boot_disk_gib.set && fstatfs(root_fd, &fs) == 0)
		f->boot_disk_gib =
			(struct opt_int){ true,
					  (int64_t)(fs.f_blocks * (uint64_t)fs.f_frsize >> 30) };
}

int probe_host(struct arena *a, int root_fd, bool running, struct facts *f, struct err *e)
{
	int r;

	r = probe_distribution(a, root_fd, f, e);
	if (r >= 0)
		r = probe_arch(root_fd, running, f, e);
	if (r < 0)
		return r;
	if (running && f->filesystems.n == 0)
		probe_filesystems(a, root_fd, f);
	if (!f->docker_root)
		f->docker_root = root_of_daemon(a, io_text(a, root_fd, daemon_json, FILE_MAX));
	if (running && !f->docker_filesystem)
		probe_docker_filesystem(a, root_fd, f->docker_root ? f->docker_root : usual_root,
					f);
	if (running) {
		probe_firmware(a, root_fd, f);
		probe_interfaces(a, root_fd, f);
		probe_addresses(a, f);
		probe_bpffs(a, root_fd, f);
		probe_size(a, root_fd, f);
	}
	probe_swaps(a, root_fd, running, f);
	probe_resolved(root_fd, running, f);
	if (f->resolved.v && !f->asks_itself.set)
		probe_servers(a, io_text(a, root_fd, resolv_conf, FILE_MAX), f);
	probe_homes(a, root_fd, f);
	return 0;
}

void probe_written(struct arena *a, int root_fd, bool running, const struct node_files *written,
		   struct facts *f)
{
	const struct node_file *daemon = node_files_find(written, daemon_json),
			       *servers = node_files_find(written, resolv_conf);
	const char *before = f->docker_root;

	if (servers && f->resolved.v)
		probe_servers(a, servers->content, f);
	if (!daemon)
		return;
	f->docker_root = root_of_daemon(a, daemon->content);
	if (running && !str_eq(f->docker_root, before))
		probe_docker_filesystem(a, root_fd, f->docker_root ? f->docker_root : usual_root,
					f);
}

/* Each version of kops gives kubelet the CA, by a flag or in its file. source: kops nodeup/pkg/model/kubelet.go of
 * 1.35 and 1.36 */
static void probe_kubelet_flags(struct arena *a, int root_fd, struct facts *f)
{
	const char *text = io_text(a, root_fd, "/etc/sysconfig/kubelet", FILE_MAX);
	const char *flags = text ? strstr(text, "DAEMON_ARGS=") : NULL;

	if (flags && strstr(flags, "--config=/var/lib/kubelet/kubelet.conf"))
		f->kubelet_flags =
			(struct opt_bool){ true, strstr(flags, "--client-ca-file=") != NULL };
}

void probe_left(struct arena *a, int root_fd, struct facts *f)
{
	const char *toml;

	if (!f->kubelet_flags.set)
		probe_kubelet_flags(a, root_fd, f);
	/* a distribution's package brings its own config.toml */
	toml = f->containerd_config.set || !f->kubelet_flags.set
		       ? NULL
		       : io_text(a, root_fd, "/etc/containerd/config.toml", FILE_MAX);
	if (toml)
		f->containerd_config = (struct opt_int){ true, version_of_toml(a, toml) };
}

/* clang-format off */
static const struct {
	const char *name, *path;
	size_t offset;
	bool optional; /* not every instance has the fact */
} instance_facts[] = {
	{ "region",           "meta-data/placement/region",            offsetof(struct facts, region) },
	{ "availabilityZone", "meta-data/placement/availability-zone", offsetof(struct facts, availability_zone) },
	{ "instanceID",       "meta-data/instance-id",                 offsetof(struct facts, instance_id) },
	{ "instanceType",     "meta-data/instance-type",               offsetof(struct facts, instance_type) },
	{ "localHostname",    "meta-data/local-hostname",              offsetof(struct facts, local_hostname) },
	{ "localIPv4",        "meta-data/local-ipv4",                  offsetof(struct facts, local_ipv4) },
	{ "publicIPv4",       "meta-data/public-ipv4",                 offsetof(struct facts, public_ipv4), true },
	{ "ipv6",             "meta-data/ipv6",                        offsetof(struct facts, ipv6), true },
	{ "mac",              "meta-data/mac",                         offsetof(struct facts, mac) },
	{ "targetLifecycleState", "meta-data/autoscaling/target-lifecycle-state",
	  offsetof(struct facts, target_lifecycle_state), true },
};
/* clang-format on */

static const char **member_of(const struct facts *f, size_t i)
{
	return (const char **)(void *)((char *)(uintptr_t)f + instance_facts[i].offset);
}

static int probe_one(struct arena *a, struct imds *m, size_t i, struct facts *f, struct err *e)
{
	const char **member = member_of(f, i);
	const char *text;
	int r;

	if (*member)
		return 0;
	r = imds_get(m, a, instance_facts[i].path, &text, e);
	if (r == -ENOENT && instance_facts[i].optional)
		return 0;
	if (r < 0)
		return err_wrap(e, "fact %s", instance_facts[i].name);
	/* some networks give a host several names: kops takes the first, kubernetes/kops#3067 */
	text = arena_strn(a, text, strcspn(text, " \t\r\n"));
	if (*text == '\0')
		return err_fail(e, ERR_NET, ENODATA, "fact %s: instance metadata has it empty",
				instance_facts[i].name);
	*member = text;
	return 0;
}

static size_t find_fact(const char *name)
{
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(instance_facts) && !str_eq(instance_facts[i].name, name))
		i++;
	assert(str_eq(instance_facts[i].name, name));
	return i;
}

int probe_fact(struct arena *a, struct imds *m, const char *name, struct facts *f, struct err *e)
{
	return probe_one(a, m, find_fact(name), f, e);
}

void probe_facts_ahead(struct imds *m, const char *const *names, size_t n, const struct facts *f)
{
	const char *paths[ARRAY_LEN(instance_facts)];
	size_t n_paths = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t k = find_fact(names[i]);

		if (!*member_of(f, k))
			paths[n_paths++] = instance_facts[k].path;
	}
	imds_ask_ahead(m, paths, n_paths);
}

/* Splits IMDS's answer into words; it may be empty. */
static int add_words(struct arena *a, struct imds *m, const char *path, struct strv *ret,
		     struct err *e)
{
	static const char blanks[] = " \t\r\n";
	const char *text;
	int r = imds_get(m, a, path, &text, e);

	if (r == -ENOENT)
		return 0;
	for (const char *at = text; r == 0 && *(at += strspn(at, blanks));) {
		const size_t n = strcspn(at, blanks);

		strv_add(a, ret, arena_strn(a, at, n));
		at += n;
	}
	return r;
}

int probe_names(struct arena *a, struct imds *m, const char *instance, struct strv *ret,
		struct err *e)
{
	static const char macs[] = "meta-data/network/interfaces/macs/";
	static const char *const own[] = { "hostname", "local-hostname", "public-hostname" };
	static const char *const of_interface[] = { "local-hostname", "public-hostname",
						    "local-ipv4s", "public-ipv4s", "ipv6s" };
	struct strv id = { 0 }, interfaces = { 0 }, names = { 0 };
	int r = add_words(a, m, "meta-data/instance-id", &id, e);

	if (r == 0 && (!id.n || !str_eq(id.v[0], instance)))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(own) && r == 0; i++)
		r = add_words(a, m, arena_printf(a, "meta-data/%s", own[i]), &names, e);
	if (r == 0)
		r = add_words(a, m, macs, &interfaces, e);
	for (size_t i = 0; i < interfaces.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(of_interface) && r == 0; k++)
			r = add_words(a, m,
				      arena_printf(a, "%s%s%s%s", macs, interfaces.v[i],
						   str_has_suffix(interfaces.v[i], "/") ? "" : "/",
						   of_interface[k]),
				      &names, e);
	if (r == 0)
		*ret = names;
	return r;
}

struct tree *probe_instance(struct arena *a, const struct facts *f)
{
	const struct {
		const char *name;
		struct opt_int n;
	} of_type[] = { { "gpus", f->gpus }, { "enis", f->enis }, { "ipsPerENI", f->ips_per_eni } };
	struct tree *t = tree_map(a);

	for (size_t i = 0; i < ARRAY_LEN(instance_facts); i++)
		tree_set_text(a, t, instance_facts[i].name,
			      *(const char *const *)(const void *)((const char *)f +
								   instance_facts[i].offset));
	for (size_t i = 0; i < ARRAY_LEN(of_type); i++)
		if (of_type[i].n.set)
			tree_set_int(a, t, of_type[i].name, of_type[i].n.v);
	return t;
}

enum unit_place { UNIT_ABSENT, UNIT_MASKED, UNIT_FOUND };

/* Returns whether systemd would find the unit here. The first folder that has the unit decides; if its file there is
 * a link to /dev/null, the unit is masked. */
static enum unit_place find_unit(struct arena *a, int root_fd, const char *unit)
{
	static const char *const folders[] = { "/etc/systemd/system", "/run/systemd/system",
					       "/usr/lib/systemd/system", "/lib/systemd/system" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const char *path = arena_printf(a, "%s/%s", folders[i], unit), *name;
		autoclose int dir_fd = -1;
		struct err ignored;
		char to[16] = "";
		struct stat st;

		if (io_stat(root_fd, path, &st, &ignored) < 0)
			continue;
		if (!S_ISLNK(st.st_mode))
			return UNIT_FOUND;
		if (io_open_parent(root_fd, path, &dir_fd, &name, &ignored) < 0 ||
		    readlinkat(dir_fd, name, to, sizeof(to) - 1) <= 0)
			return UNIT_ABSENT;
		return str_eq(to, "/dev/null") ? UNIT_MASKED : UNIT_FOUND;
	}
	return UNIT_ABSENT;
}

struct runtime probe_runtime(struct arena *a, int root_fd, bool running,
			     const struct node_files *written)
{
	static const char *const units[] = { "docker.service", "containerd.service" };
	struct runtime found = { 0 };
	const char *command = NULL;

	for (size_t i = 0; i < ARRAY_LEN(units) && !found.unit; i++) {
		const enum unit_place place = find_unit(a, root_fd, units[i]);

		if (place == UNIT_FOUND)
			found.unit = units[i];
		else if (place == UNIT_MASKED && !found.masked)
			found.masked = units[i];
	}
	if (str_eq(found.unit, units[0]))
		command = probe_docker(a, root_fd, &found);
	if (running)
		probe_cgroup(a, root_fd, command, written, &found);
	return found;
}
