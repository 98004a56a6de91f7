#include "nodeup/plan/docker.h"

#include <stdlib.h>
#include <string.h>

static const char docker_unit[] = "docker.service";
static const char containerd_unit[] = "containerd.service";

/* A version is one number: "20.10.24" is 20 * 1000 + 10. */
enum { MAJOR = 1000 };

static bool is_before(const struct plan *p, int minor)
{
	return !node_k8s_at_least(p->req->node, 1, minor);
}

static bool is_used(const struct plan *p, const char *unit)
{
	return str_eq(p->req->runtime.unit, unit);
}

/* Returns the version as a number; 0: it is another runtime, or the version is not known. */
static int runtime_version(const struct plan *p, const char *unit)
{
	const struct runtime *r = &p->req->runtime;
	char *rest;
	long major;

	if (!is_used(p, unit) || !r->version)
		return 0;
	major = strtol(r->version, &rest, 10);
	if (major < 0 || major > MAJOR)
		return 0;
	return (int)major * MAJOR + (int)(*rest == '.' ? strtol(rest + 1, NULL, 10) % MAJOR : 0);
}

static bool needs_cgroup_v1(const struct plan *p)
{
	return p->req->runtime.cgroup == 2 && is_before(p, 19);
}

/* these versions of kubelet use cgroupfs unless a flag says otherwise, and kops 1.8 has no key for the flag */
static bool has_other_driver(const struct plan *p, const char *unit)
{
	return is_used(p, unit) && str_eq(p->req->runtime.cgroup_driver, "systemd");
}

static bool has_docker_by_systemd(const struct plan *p)
{
	return has_other_driver(p, docker_unit);
}

static bool has_containerd_by_systemd(const struct plan *p)
{
	return has_other_driver(p, containerd_unit);
}

static bool has_docker_too_old(const struct plan *p)
{
	const int v = runtime_version(p, docker_unit);

	return v && v < 1 * MAJOR + 11 && !is_before(p, 6);
}

/* kubelet up to 1.5 speaks version 1.21 of docker's API */
static bool has_docker_of_before_1_9(const struct plan *p)
{
	const int v = runtime_version(p, docker_unit);

	return v && v < 1 * MAJOR + 9 && is_before(p, 6);
}

static bool has_docker_too_new(const struct plan *p)
{
	return runtime_version(p, docker_unit) >= 29 * MAJOR && is_before(p, 24);
}

static bool has_containerd_too_old(const struct plan *p)
{
	const int v = runtime_version(p, containerd_unit);

	return v && v < 1 * MAJOR + 1;
}

static bool has_containerd_too_new(const struct plan *p)
{
	return runtime_version(p, containerd_unit) >= 2 * MAJOR && is_before(p, 20);
}

/* Returns the third number: 16 for "1.6.16-1". */
static long patch_of(const char *version)
{
	const char *dot = strchr(version, '.');

	dot = dot ? strchr(dot + 1, '.') : NULL;
	return dot ? strtol(dot + 1, NULL, 10) : 0;
}

/* If the kernel has AppArmor but its parser is missing, a runtime must notice that and start its containers without
 * AppArmor. dockerd asks libcontainer, which left out this test in 1.0.0-rc93 (opencontainers/runc#2554). Debian
 * builds docker 20.10 with such a libcontainer; docker's own packages do not have it. docker 23.0 asks containerd's
 * package, which had left the test out as well: see below (moby/moby#44970). */
static bool has_docker_that_needs_apparmor_parser(const struct plan *p)
{
	const struct runtime *r = &p->req->runtime;
	const int v = runtime_version(p, docker_unit);

	return r->lacks_apparmor_parser &&
	       (v == 23 * MAJOR ||
		(v >= 20 * MAJOR + 10 && v < 23 * MAJOR && strstr(r->version, "+dfsg")));
}

/* Returns whether this containerd lacks the test: from 1.6.0 until the fix of containerd/containerd#8087. */
static bool has_containerd_that_needs_apparmor_parser(const struct plan *p)
{
	const struct runtime *r = &p->req->runtime;

	return r->lacks_apparmor_parser && runtime_version(p, containerd_unit) == 1 * MAJOR + 6 &&
	       patch_of(r->version) < 17;
}

static bool lacks_version1(const struct plan *p)
{
	return p->req->imds_lacks_version1 && is_before(p, 18);
}

#define NO_PARSER(runtime)                                         \
	"AppArmor is on, and apparmor_parser, which this " runtime \
	" starts no container without, is missing"
#define WANT_PARSER "the package apparmor, or a boot with apparmor=0"

/* clang-format off */
const struct host_check host_checks_of_docker[] = {
	{ needs_cgroup_v1, "this host has cgroup v2",
	  "cgroup v1, or Kubernetes 1.19: boot with systemd.unified_cgroup_hierarchy=0" },
	{ has_docker_by_systemd, "docker puts containers into systemd's cgroups, kubelet does not",
	  "native.cgroupdriver=cgroupfs in docker's options" },
	{ has_containerd_by_systemd, "containerd puts containers into systemd's cgroups, kubelet does not",
	  "SystemdCgroup = false in /etc/containerd/config.toml" },
	{ has_docker_too_old, "this docker's API is older than kubelet's", "docker 1.11 or later" },
	{ has_docker_of_before_1_9, "this docker's API is older than kubelet's", "docker 1.9 or later" },
	{ has_docker_too_new, "this docker refuses an API as old as kubelet's", "docker 28 or earlier" },
	{ has_containerd_too_old, "this containerd has no CRI", "containerd 1.1 or later" },
	{ has_containerd_too_new, "this containerd refuses a CRI as old as kubelet's",
	  "containerd 1.7 or earlier" },
	{ has_docker_that_needs_apparmor_parser, NO_PARSER("docker"), WANT_PARSER },
	{ has_containerd_that_needs_apparmor_parser, NO_PARSER("containerd"), WANT_PARSER },
	{ lacks_version1, "this instance's metadata service wants tokens, kubelet before 1.18 sends none",
	  "IMDSv1 allowed as well", .is_metadata = true },
	{ NULL, NULL, NULL },
};
/* clang-format on */
