#include "nodeup/plan/builders.h"

#include "nodeup/plan/assets.h"
#include "nodeup/plan/volumes.h"

static const char service[] = "kubernetes-mounts.service";
static const char script_path[] = "/etc/kubernetes/containeros-mounts";

#define HOME "/home/kubernetes/containerized_mounter"

/* source: kops 1.8.1 nodeup/pkg/model/kubelet.go addContainerizedMounter */
static const char mounter_tar[] = "8003b798cf33c7f91320cd6ee5cec4fa22244571@"
				  "https://storage.googleapis.com/kubernetes-release/gci-mounter/"
				  "mounter.tar";

/* The script keeps its mounts when it is run again. The script renames the tree to its final name only when the tree
 * is whole. Nothing ever removes the tree, because kubelet's volumes are mounted in it. */
static const char script[] =
	"#!/bin/bash\n"
	"# Written by nodeup: Container-Optimized OS lets nothing run from what can be written to,\n"
	"# and has no mount.nfs and no mount.glusterfs but those in mounter.tar\n"
	"set -o errexit -o nounset\n"
	"\n"
	"bin=/home/kubernetes/bin\n"
	"home=" HOME "\n"
	"root=$home/rootfs\n"
	"\n"
	"is_mounted() {\n"
	"\tlocal at\n"
	"\twhile read -r _ _ _ _ at _; do\n"
	"\t\tif [ \"$at\" = \"$1\" ]; then return 0; fi\n"
	"\tdone </proc/self/mountinfo\n"
	"\treturn 1\n"
	"}\n"
	"\n"
	"# bind FROM TO OPTIONS\n"
	"bind() {\n"
	"\tis_mounted \"$2\" || mount --bind \"$1\" \"$2\"\n"
	"\tmount -o \"remount,bind,$3\" \"$2\"\n"
	"}\n"
	"\n"
	"mkdir -p \"$bin\" \"$home\" /var/lib/kubelet\n"
	"bind \"$bin\" \"$bin\" exec,nosuid,nodev\n"
	"bind \"$home\" \"$home\" exec,nosuid,nodev\n"
	"if [ ! -d \"$root\" ]; then\n"
	"\trm -rf \"$root.new\"\n"
	"\tmkdir \"$root.new\"\n"
	"\ttar -xf \"$home/mounter.tar\" -C \"$root.new\"\n"
	"\tsync\n"
	"\tmv -T \"$root.new\" \"$root\"\n"
	"fi\n"
	"mkdir -p \"$root/proc\" \"$root/dev\" \"$root/etc\" \"$root/var/lib/kubelet\"\n"
	"if ! is_mounted \"$root/etc/resolv.conf\"; then\n"
	"\trm -f \"$root/etc/resolv.conf\"\n"
	"\t: >\"$root/etc/resolv.conf\"\n"
	"fi\n"
	"is_mounted \"$root/var/lib/kubelet\" || mount --rbind /var/lib/kubelet \"$root/var/lib/kubelet\"\n"
	"mount --make-rshared \"$root/var/lib/kubelet\"\n"
	"bind /proc \"$root/proc\" ro,nosuid,nodev,noexec\n"
	"bind /dev \"$root/dev\" ro,nosuid,noexec\n"
	"bind /etc/resolv.conf \"$root/etc/resolv.conf\" ro,nosuid,nodev,noexec\n";

/* Lists the mounts that the script leaves behind. */
static const char *const mounts[] = {
	"/home/kubernetes/bin",
	HOME,
	HOME "/rootfs/var/lib/kubelet",
	HOME "/rootfs/proc",
	HOME "/rootfs/dev",
	HOME "/rootfs/etc/resolv.conf",
};

static void add_unit(struct plan *p)
{
	/* Lists the units that run programs from that folder. */
	static const char *const users[] = { "kubelet.service", "kubernetes-iptables-setup.service",
					     "protokube.service" };
	static const char *const inputs[] = { script_path, HOME "/mounter.tar" };
	const char *text = arena_printf(
		p->arena,
		"[Unit]\n"
		"Description=Mount what Kubernetes runs on Container-Optimized OS\n"
		"Documentation=man:nodeup(8)\n"
		"Before=kubelet.service kubernetes-iptables-setup.service protokube.service\n"
		"RequiresMountsFor=/var/lib/kubelet\n"
		"\n"
		"[Service]\n"
		"Type=oneshot\n"
		"RemainAfterExit=yes\n"
		"ExecStart=/bin/bash %s\n"
		"\n"
		"[Install]\n"
		"WantedBy=multi-user.target\n",
		script_path);
	struct task *t;

	plan_file(p, script_path, 0755, script);
	t = plan_service(p, service, text, true);
	strv_add_array(p->arena, &t->unit.before, users);
	/* the mounter's root does not see a volume that is mounted below the mounter later */
	t->unit.needs_mounts = volumes_of_service(p, "kubelet.service");
	strv_add_array(p->arena, &t->unit.inputs, inputs);
	strv_add_array(p->arena, &t->unit.mounted, mounts);
}

void build_containeros(struct plan *p)
{
	if (!plan_distro(p)->has_mounter)
		return;
	plan_dir(p, plan_distro(p)->kubelet_dir, 0755);
	plan_dir(p, HOME, 0755);
	plan_install_member(p, "gci-mounter", HOME "/mounter", 0755);
	plan_install_known(p, "mounter.tar", mounter_tar, HOME "/mounter.tar", 0644);
	add_unit(p);
}

const char *plan_mounter_flag(const struct plan *p)
{
	return plan_distro(p)->has_mounter ? "--experimental-mounter-path=" HOME "/mounter" : NULL;
}
