/* distro.h - the differences between distributions: one row each
 * Code asks the host's row, and never compares a distribution's name. Differences between releases are the planner's
 * (plan/release.h).
 * Owner: static tables. Errors: none. Threads: all functions.
 * Source: kops 1.8.1 nodeup/pkg/distros, nodeup/pkg/model, upup/models/nodeup.
 * Tests: test_matrix.py, test_facts.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum package_family { PACKAGE_NONE, PACKAGE_DEB, PACKAGE_RPM };

struct distro {
	const char *name;  /* name in facts; NULL: any distribution without a row */
	const char *os_id; /* ID of its os-release */
	enum package_family family;
	/* Directories for programs and data; no trailing slashes. */
	const char *kubelet_dir, *kubectl_dir, *cni_dir;
	const char *tools_dir;      /* for kubectl and tools that people use, since kops 1.29 */
	const char *srv, *sshproxy; /* keys and logins; files of the API server's tunnels */
	const char *assets_dir;     /* directory for file assets that name no path */
	/* nodeup's own directory; its programs may run before this run has done anything */
	const char *nodeup_dir;
	const char *nodeup_link;        /* link on a login shell's PATH; NULL: no link is made */
	const char *volume_plugins_dir; /* kubelet's default, with a slash at its end */
	const char *path_env;           /* PATH of kubelet's unit; NULL: systemd's own */
	const char *users;              /* the first of these users that exists gets a kubeconfig */
	bool readonly_usr;
	bool rotates_logs; /* the image rotates logs itself */
	bool has_mounter;  /* kubelet mounts volumes through kops' containerized mounter */
	bool has_admin;    /* images of the distribution had a user admin at the time of kops 1.8 */
	bool has_resolved; /* systemd-resolved manages /etc/resolv.conf in all releases */
	bool has_apt_conf;
	bool has_containerd; /* the image has its own containerd, which nodeup configures and never installs */
};

extern const struct distro distros[];
extern const size_t n_distros; /* counts the last row too, which is for all other distributions */

/* Returns a distribution's row. For NULL or an unknown name, returns the last row. */
const struct distro *distro_of(const char *name);
