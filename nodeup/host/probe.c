#include "nodeup/host/probe.h"

#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/host/cgroup.h"
#include "nodeup/host/docker.h"

enum { FILE_MAX = 4 << 20 };

/* A small file's text, or NULL whatever the reason. */
static const char *read_text(struct arena *a, int root_fd, const char *path)
{
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	struct err ignored;

	if (io_read(root_fd, path, &b, &ignored) < 0)
		return NULL;
	return arena_strn(a, buf_str(&b), b.len);
}

static int probe_distribution(struct arena *a, int root_fd, struct facts *f, struct err *e)
{
	static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
	struct facts found = { 0 };
	const char *text = NULL;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(paths) && !text; i++)
		text = read_text(a, root_fd, paths[i]);
	if (!text && f->distribution)
		return 0;
	if (!text)
		return err_config(e, "unknown distribution: neither %s nor %s can be read",
				  paths[0], paths[1]);
	r = facts_os_release(a, text, &found, e);
	if (r < 0)
		return f->distribution ? 0 : r;
	/* a version given or found belongs to its own distribution only */
	if (f->distribution && !str_eq(f->distribution, found.distribution))
		return 0;
	f->distribution = found.distribution;
	if (!f->version)
		f->version = found.version;
	if (!f->codename)
		f->codename = found.codename;
	return 0;
}

/* What the programs below the root are made for: an image is not of its builder's kind. */
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

/* File systems that the kernel has now: the last word of a line. */
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

/* And those it can load: else the plan would change once something has mounted one. */
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
	const char *text = read_text(a, root_fd, "/proc/filesystems");
	struct utsname host;

	if (text)
		add_loaded(a, text, &f->filesystems);
	text = NULL;
	if (uname(&host) == 0)
		text = read_text(a, root_fd,
				 arena_printf(a, "/lib/modules/%s/modules.dep", host.release));
	if (text)
		add_loadable(a, text, &f->filesystems);
	strv_sort(&f->filesystems);
}

/* Nitro's firmware has the instance's id, so no request is needed. */
static void probe_firmware(struct arena *a, int root_fd, struct facts *f)
{
	const char *text = read_text(a, root_fd, "/sys/class/dmi/id/board_asset_tag");
	const char *id = text ? str_trim(a, text) : "";

	if (!f->instance_id && str_has_prefix(id, "i-"))
		f->instance_id = id;
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
	if (running)
		probe_firmware(a, root_fd, f);
	return 0;
}

/* clang-format off */
static const struct {
	const char *name, *path;
	size_t offset;
} instance_facts[] = {
	{ "region",           "meta-data/placement/region",            offsetof(struct facts, region) },
	{ "availabilityZone", "meta-data/placement/availability-zone", offsetof(struct facts, availability_zone) },
	{ "instanceID",       "meta-data/instance-id",                 offsetof(struct facts, instance_id) },
	{ "instanceType",     "meta-data/instance-type",               offsetof(struct facts, instance_type) },
	{ "localHostname",    "meta-data/local-hostname",              offsetof(struct facts, local_hostname) },
	{ "localIPv4",        "meta-data/local-ipv4",                  offsetof(struct facts, local_ipv4) },
};
/* clang-format on */

static int probe_one(struct arena *a, struct imds *m, size_t i, struct facts *f, struct err *e)
{
	const char **member = (const char **)(void *)((char *)f + instance_facts[i].offset);
	const char *text;
	int r;

	if (*member)
		return 0;
	r = imds_get(m, a, instance_facts[i].path, &text, e);
	if (r < 0)
		return err_wrap(e, "fact %s", instance_facts[i].name);
	/* some networks have several names for a host: kops takes the first, kubernetes/kops#3067 */
	text = arena_strn(a, text, strcspn(text, " \t\r\n"));
	if (*text == '\0')
		return err_fail(e, ERR_NET, ENODATA, "fact %s: instance metadata has it empty",
				instance_facts[i].name);
	*member = text;
	return 0;
}

int probe_instance(struct arena *a, struct imds *m, struct facts *f, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(instance_facts) && r >= 0; i++)
		r = probe_one(a, m, i, f, e);
	return r;
}

int probe_fact(struct arena *a, struct imds *m, const char *name, struct facts *f, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(instance_facts); i++)
		if (str_eq(instance_facts[i].name, name))
			return probe_one(a, m, i, f, e);
	assert(!"a fact that IMDS does not have");
	return -EINVAL;
}

/* Whether systemd would find the unit here: the first folder that has it decides, and a link to
 * /dev/null there means that it is masked. */
static bool has_unit(struct arena *a, int root_fd, const char *unit)
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
			return true;
		return io_open_parent(root_fd, path, &dir_fd, &name, &ignored) >= 0 &&
		       readlinkat(dir_fd, name, to, sizeof(to) - 1) > 0 && !str_eq(to, "/dev/null");
	}
	return false;
}

struct runtime probe_runtime(struct arena *a, int root_fd, bool running)
{
	static const char *const units[] = { "docker.service", "containerd.service" };
	struct runtime found = { 0 };
	const char *command = NULL;

	for (size_t i = 0; i < ARRAY_LEN(units) && !found.unit; i++)
		if (has_unit(a, root_fd, units[i]))
			found.unit = units[i];
	if (str_eq(found.unit, units[0]))
		command = probe_docker(a, root_fd, &found);
	if (running)
		probe_cgroup(a, root_fd, command, &found);
	return found;
}
