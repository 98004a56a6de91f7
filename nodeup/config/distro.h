/* distro.h - all that differs by distribution: one row each
 * Code asks the row of the host, and never compares a distribution's name. Differences by release are the planner's
 * (plan/release.h).
 * Owner: static tables. Errors: none. Threads: all functions.
 * Source: kops 1.8.1 nodeup/pkg/distros, nodeup/pkg/model, upup/models/nodeup.
 * Tests: test_matrix.py, test_facts.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum package_family { PACKAGE_NONE, PACKAGE_DEB, PACKAGE_RPM };

struct distro {
	const char *name;  /* as facts call it; NULL: every other */
	const char *os_id; /* ID of its os-release */
	enum package_family family;
	/* Directories for programs and data; no trailing slashes. */
	const char *kubelet_dir, *kubectl_dir, *cni_dir;
	const char *tools_dir;      /* of kubectl and of tools for people, since kops 1.29 */
	const char *srv, *sshproxy; /* keys and logins; what the API server's tunnels use */
	const char *assets_dir;     /* of file assets that name no path */
	const char *nodeup_dir; /* of nodeup itself: may be executed before this run did anything */
	const char *nodeup_link; /* where a login shell finds it; NULL: in nodeup_dir, or nowhere */
	const char *volume_plugins_dir; /* kubelet's by default; with its slash */
	const char *path_env;           /* PATH of kubelet's unit; NULL: systemd's own */
	const char *users; /* of its images of today: the first that is there gets a kubeconfig */
	bool readonly_usr;
	bool rotates_logs; /* by itself */
	bool has_mounter;  /* programs run only where kops' container mounts them */
	bool has_admin;    /* its images of kops 1.8's days have a user admin */
	bool has_resolved; /* systemd-resolved answers for /etc/resolv.conf in all of its releases */
	bool has_apt_conf;
	bool has_containerd; /* its own, which is configured and never installed */
};

extern const struct distro distros[];
extern const size_t n_distros; /* with the last one, which is for every other */

/* The row of a distribution; NULL is unknown, and has the row of every other. */
const struct distro *distro_of(const char *name);
