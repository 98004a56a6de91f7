#include "nodeup/config/distro.h"

#include "nodeup/base/str.h"

/* The layout of most distributions. */
#define COMMON                                                                              \
	.kubelet_dir = "/usr/local/bin", .kubectl_dir = "/usr/local/bin",                   \
	.tools_dir = "/usr/local/bin", .cni_dir = "/opt/cni/bin", .srv = "/srv/kubernetes", \
	.sshproxy = "/srv/sshproxy", .assets_dir = "/srv/kubernetes/assets",                \
	.nodeup_dir = "/opt/nodeup/bin", .nodeup_link = "/usr/local/bin/nodeup",            \
	.volume_plugins_dir = "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/"

/* The layout where /usr is read-only. */
#define COREOS                                                                             \
	.kubelet_dir = "/opt/kubernetes/bin", .kubectl_dir = "/opt/bin",                   \
	.tools_dir = "/opt/kops/bin", .cni_dir = "/opt/cni/bin", .srv = "/srv/kubernetes", \
	.sshproxy = "/srv/sshproxy", .assets_dir = "/srv/kubernetes/assets",               \
	.nodeup_dir = "/opt/bin", .readonly_usr = true,                                    \
	.volume_plugins_dir = "/var/lib/kubelet/volumeplugins/",                           \
	.path_env = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:"   \
		    "/opt/kubernetes/bin"

/* Container-Optimized OS mounts everything without exec, except /home/kubernetes/bin. Apart from it, only /etc, /var
 * and /mnt/disks are writable. Until nodeup has mounted something, programs can run from /var/lib/toolbox, which
 * user data use too. */
#define COS                                                                                  \
	.kubelet_dir = "/home/kubernetes/bin", .kubectl_dir = "/home/kubernetes/bin",        \
	.tools_dir = "/home/kubernetes/bin", .cni_dir = "/home/kubernetes/bin",              \
	.srv = "/etc/srv/kubernetes", .sshproxy = "/etc/srv/sshproxy",                       \
	.volume_plugins_dir = "/home/kubernetes/flexvolume/",                                \
	.assets_dir = "/etc/srv/kubernetes/assets", .nodeup_dir = "/var/lib/toolbox/nodeup", \
	.readonly_usr = true, .rotates_logs = true, .has_mounter = true

/* clang-format off */
const struct distro distros[] = {
	{ "debian",      "debian",  PACKAGE_DEB,  COMMON, .users = "admin root", .has_apt_conf = true, .has_admin = true },
	{ "ubuntu",      "ubuntu",  PACKAGE_DEB,  COMMON, .users = "ubuntu root", .has_apt_conf = true, .has_resolved = true },
	{ "amazonlinux", "amzn",    PACKAGE_RPM,  COMMON, .users = "ec2-user" },
	{ "rhel",        "rhel",    PACKAGE_RPM,  COMMON, .users = "ec2-user" },
	{ "centos",      "centos",  PACKAGE_RPM,  COMMON, .users = "centos" },
	{ "rocky",       "rocky",   PACKAGE_RPM,  COMMON, .users = "rocky" },
	{ "fedora",      "fedora",  PACKAGE_RPM,  COMMON },
	{ "coreos",      "coreos",  PACKAGE_NONE, COREOS },
	{ "flatcar",     "flatcar", PACKAGE_NONE, COREOS, .users = "core", .has_resolved = true, .has_containerd = true },
	{ "containeros", "cos",     PACKAGE_NONE, COS },
	{ NULL,          NULL,      PACKAGE_NONE, COMMON },
};
/* clang-format on */
const size_t n_distros = ARRAY_LEN(distros);

const struct distro *distro_of(const char *name)
{
	const struct distro *d = distros;

	while (d->name && !str_eq(d->name, name))
		d++;
	return d;
}
