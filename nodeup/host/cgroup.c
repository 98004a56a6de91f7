#include "nodeup/host/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/json.h"
#include "nodeup/base/proc.h"
#include "nodeup/host/kernel.h"

static const char daemon_json[] = "/etc/docker/daemon.json";
static const char containerd_toml[] = "/etc/containerd/config.toml";
static const char option[] = "native.cgroupdriver=";

#define ASK_NS (10 * DUR_SEC)

enum { STATUS_MAX = 64 << 20, FILE_MAX = 1 << 20, ANSWER_MAX = 4 << 10 };

static int cgroup_version(int root_fd)
{
	autoclose int fd = -1;
	struct err ignored;
	struct statfs fs;

	if (io_open(root_fd, "/sys/fs/cgroup", O_RDONLY | O_DIRECTORY, &fd, &ignored) < 0 ||
	    fstatfs(fd, &fs) < 0)
		return 0;
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		return 2;
	return fs.f_type == TMPFS_MAGIC ? 1 : 0;
}

/* Returns the value after the option's last occurrence in a text. */
static const char *driver_in(struct arena *a, const char *text)
{
	const char *found = NULL;

	while (text && (text = strstr(text, option))) {
		text += strlen(option);
		found = arena_strn(a, text, strspn(text, "abcdefghijklmnopqrstuvwxyz"));
	}
	return found;
}

static const char *driver_of_file(struct arena *a, const char *text)
{
	const struct tree *options;
	struct err ignored;
	struct tree *t;

	if (!text || json_parse(a, daemon_json, text, strlen(text), &t, &ignored) < 0)
		return NULL;
	options = tree_get(t, "exec-opts");
	for (size_t i = 0; options && options->kind == TREE_SEQ && i < options->n; i++)
		if (options->items[i].value->kind == TREE_SCALAR &&
		    driver_in(a, options->items[i].value->scalar))
			return driver_in(a, options->items[i].value->scalar);
	return NULL;
}

/* containerd: `SystemdCgroup = true` in runc's options, or `systemd_cgroup = true` before 1.3. */
static const char *driver_of_containerd(struct arena *a, const char *text)
{
	static const char *const keys[] = { "SystemdCgroup", "systemd_cgroup" };
	const struct strv lines = strv_split(a, text ? text : "", '\n');

	for (size_t i = 0; i < lines.n; i++) {
		const char *line = str_trim(a, lines.v[i]), *eq = strchr(line, '=');

		for (size_t k = 0; eq && k < ARRAY_LEN(keys); k++)
			if (str_eq(keys[k],
				   str_trim(a, arena_strn(a, line, (size_t)(eq - line)))) &&
			    str_has_prefix(str_trim(a, eq + 1), "true"))
				return "systemd";
	}
	return NULL;
}

/* Removes the epoch: "5:24.0.7-1~debian.12" becomes "24.0.7-1~debian.12". */
static const char *without_epoch(const char *version)
{
	const size_t n = strspn(version, "0123456789");

	return version[n] == ':' ? version + n + 1 : version;
}

/* Returns the version of the first of these packages that dpkg has installed. */
static const char *version_of_dpkg(struct arena *a, int root_fd, const char *const *packages)
{
	autobuf struct buf b = BUF_INIT(STATUS_MAX);
	struct err ignored;

	if (io_read(root_fd, "/var/lib/dpkg/status", &b, &ignored) < 0)
		return NULL;
	for (; *packages; packages++) {
		autofree char *head = xasprintf("\n\nPackage: %s\n", *packages);
		const char *stanza = strstr(buf_str(&b), head), *end, *version;
		const char *installed;

		if (!stanza)
			continue;
		end = strstr(stanza + 2, "\n\n");
		installed = strstr(stanza, " installed\n");
		if (!installed || (end && installed > end))
			continue;
		version = strstr(stanza, "\nVersion: ");
		if (version && (!end || version < end)) {
			version += strlen("\nVersion: ");
			return without_epoch(arena_strn(a, version, strcspn(version, "\n")));
		}
	}
	return NULL;
}

/* Reads "Docker version 24.0.7, build afdd53b", "containerd github.com/containerd/containerd v1.6.20 ..." */
static const char *version_said(struct arena *a, const char *program)
{
	const char *const argv[] = { program, "--version", NULL };
	const struct proc_req req = { .argv = argv, .stdin_fd = -1, .timeout_ns = ASK_NS };
	autobuf struct buf out = BUF_INIT(ANSWER_MAX);
	struct strv words;
	struct err ignored;

	if (proc_run(&req, &out, &ignored) < 0)
		return NULL;
	words = strv_split(a, buf_str(&out), ' ');
	for (size_t i = 1; i < words.n; i++) {
		const char *word = words.v[i] + (*words.v[i] == 'v');

		if (strspn(word, "0123456789") && strchr(word, '.'))
			return arena_strn(a, word, strcspn(word, ",\n"));
	}
	return NULL;
}

/* Checks for AppArmor as the container runtimes do. In a container AppArmor's folder is missing. */
static bool lacks_apparmor_parser(int root_fd)
{
	static const char *const programs[] = { "/sbin/apparmor_parser",
						"/usr/sbin/apparmor_parser" };
	autobuf struct buf b = BUF_INIT(FILE_MAX);
	struct err ignored;

	if (!io_is_there(root_fd, "/sys/kernel/security/apparmor") ||
	    io_read(root_fd, "/sys/module/apparmor/parameters/enabled", &b, &ignored) < 0 ||
	    buf_str(&b)[0] != 'Y')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (io_is_there(root_fd, programs[i]))
			return false;
	return true;
}

/* Returns the content of the path as it will be after this run. */
static const char *text_of(struct arena *a, int root_fd, const struct node_files *written,
			   const char *path)
{
	const struct node_file *f = node_files_find(written, path);

	return f ? f->content : io_text(a, root_fd, path, FILE_MAX);
}

void probe_cgroup(struct arena *a, int root_fd, const char *command,
		  const struct node_files *written, struct runtime *r)
{
	static const char *const dockers[] = { "docker-ce", "docker.io", "docker-engine",
					       "moby-engine", NULL };
	static const char *const containerds[] = { "containerd.io", "containerd", NULL };
	const bool is_docker = str_eq(r->unit, "docker.service");

	r->cgroup = cgroup_version(root_fd);
	r->lacks_apparmor_parser = lacks_apparmor_parser(root_fd);
	r->lacks_ipvs = kernel_lacks(root_fd, "ip_vs");
	if (!r->unit)
		return;
	r->version = version_of_dpkg(a, root_fd, is_docker ? dockers : containerds);
	if (!r->version)
		r->version = version_said(a, is_docker ? "dockerd" : "containerd");
	if (!is_docker) {
		r->cgroup_driver =
			driver_of_containerd(a, text_of(a, root_fd, written, containerd_toml));
		return;
	}
	r->cgroup_driver = driver_in(a, command);
	if (!r->cgroup_driver)
		r->cgroup_driver = driver_of_file(a, text_of(a, root_fd, written, daemon_json));
}
