/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/upkeep.h"

#include "nodeup/plan/kops18/builders.h"
#include "nodeup/plan/release.h"

/* source: kops 1.8.1 nodeup/pkg/model/sysctls.go; kops has the same blanks */
static const char text[] = "vm.max_map_count = 262144\n"
			   "kernel.softlockup_panic = 1\n"
			   "kernel.softlockup_all_cpu_backtrace = 1\n"
			   "net.core.somaxconn = 32768\n"
			   "net.core.rmem_max = 16777216\n"
			   "net.core.wmem_max = 16777216\n"
			   "net.ipv4.tcp_wmem = 4096 12582912 16777216\n"
			   "net.ipv4.tcp_rmem = 4096 12582912 16777216\n"
			   "net.ipv4.tcp_max_syn_backlog = 8096\n"
			   "net.ipv4.tcp_slow_start_after_idle = 0\n"
			   "net.ipv4.tcp_tw_reuse = 1\n"
			   "net.core.netdev_max_backlog = 16384\n"
			   "fs.file-max = 2097152\n"
			   "fs.inotify.max_user_instances = 8192\n"
			   "fs.inotify.max_user_watches = 524288\n";

/* AWS answers no ARP, so the neighbour table may forget at once */
static const char text_aws[] = "net.ipv4.neigh.default.gc_thresh1=0\n";
static const char text_forward[] = "net.ipv4.ip_forward=1\n";

static const char script_path[] = "/home/kubernetes/bin/iptables-setup";

/* Container-Optimized OS drops incoming and forwarded packets, which a node needs. A rule that exists is not added
 * again. */
static const char script[] =
	"#!/bin/bash\n"
	"# Written by nodeup\n"
	"for chain in INPUT FORWARD; do\n"
	"\tif iptables -w -S \"$chain\" 2>/dev/null | grep -q -- \"^-P $chain DROP\"; then\n"
	"\t\tfor protocol in TCP UDP ICMP; do\n"
	"\t\t\tiptables -w -C \"$chain\" -p \"$protocol\" -j ACCEPT 2>/dev/null ||\n"
	"\t\t\t\tiptables -w -A \"$chain\" -p \"$protocol\" -j ACCEPT || exit 1\n"
	"\t\tdone\n"
	"\tfi\n"
	"done\n";

/* kops writes all these files, whatever the role */
static const char *const logs[] = {
	"docker",     "kube-addons",    "kube-apiserver", "kube-controller-manager",
	"kube-proxy", "kube-scheduler", "kubelet",
};

void build_sysctl(struct plan *p)
{
	const bool aws = str_eq(p->req->node->cloud_provider, "aws");

	plan_sysctl(p, arena_printf(p->arena, "%s%s%s", text, aws ? text_aws : "", text_forward),
		    "");
}

void build_firewall(struct plan *p)
{
	plan_firewall(p, script_path, script);
}

const char *needs_packages(struct plan *p)
{
	return plan_release(p)->old.packages;
}

void build_upgrades(struct plan *p)
{
	if (p->req->node->auto_upgrades && plan_distro(p)->family == PACKAGE_DEB)
		plan_upgrades(p, true);
}

void build_logrotate(struct plan *p)
{
	/* an image without logrotate gets no unit that would fail each hour */
	static const char service[] = "[Unit]\n"
				      "Description=Rotate and Compress System Logs\n"
				      "ConditionPathExists=/usr/sbin/logrotate\n"
				      "\n"
				      "[Service]\n"
				      "ExecStart=/usr/sbin/logrotate /etc/logrotate.conf\n";

	if (plan_distro(p)->rotates_logs)
		return;
	for (size_t i = 0; i < ARRAY_LEN(logs); i++)
		plan_rotated_log(p, logs[i], "", "");
	/* CoreOS has its own service, in another place */
	plan_rotate_hourly(p, plan_distro(p)->family == PACKAGE_NONE ? NULL : service);
}

void build_users(struct plan *p)
{
	/* kops 1.8 gives etcd's data to this user; no program runs as it */
	static const struct task_user user = { "user", "/var/etcd", "/sbin/nologin" };

	if (plan_distro(p)->family != PACKAGE_NONE)
		plan_new_task(p, TASK_USER, user.name)->user = user;
}
