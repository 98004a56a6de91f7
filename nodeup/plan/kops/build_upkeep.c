/* Tests: test_kops_host.c, test_kops_masked.c. */
#include "nodeup/plan/upkeep.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/plan/environment.h"
#include "nodeup/plan/kops/kops.h"
#include "nodeup/plan/kops/release.h"

enum { BASE = 10 };

/* source: kops 1.37 nodeup/pkg/model/sysctls.go; kops has the same blanks */
static const char kernel_text[] =
	"# Kubernetes Settings\n"
	"\n"
	"vm.max_map_count = 1048576\n"
	"\n"
	"kernel.softlockup_panic = 1\n"
	"kernel.softlockup_all_cpu_backtrace = 1\n"
	"\n"
	"net.ipv4.ip_local_reserved_ports = %s\n"
	"\n"
	"# Increase the number of connections\n"
	"net.core.somaxconn = 32768\n"
	"\n"
	"# Maximum Socket Receive Buffer\n"
	"net.core.rmem_max = 16777216\n"
	"\n"
	"# Maximum Socket Send Buffer\n"
	"net.core.wmem_max = 16777216\n"
	"\n"
	"# Increase the maximum total buffer-space allocatable\n"
	"net.ipv4.tcp_wmem = 4096 87380 16777216\n"
	"net.ipv4.tcp_rmem = 4096 87380 16777216\n"
	"\n"
	"# Increase the number of outstanding syn requests allowed\n"
	"net.ipv4.tcp_max_syn_backlog = 8096\n"
	"\n"
	"# For persistent HTTP connections\n"
	"net.ipv4.tcp_slow_start_after_idle = 0\n"
	"\n"
	"# Allow to reuse TIME_WAIT sockets for new connections\n"
	"# when it is safe from protocol viewpoint\n"
	"net.ipv4.tcp_tw_reuse = 1\n"
	"\n"
	"# Max number of packets that can be queued on interface input\n"
	"# If kernel is receiving packets faster than can be processed\n"
	"# this queue increases\n"
	"net.core.netdev_max_backlog = 16384\n"
	"\n"
	"# Increase size of file handles and inode cache\n"
	"fs.file-max = 2097152\n"
	"\n"
	"# Max number of inotify instances%s for a user\n"
	"# Since dockerd runs as a single user, the default instances value of 128 per user is too low\n"
	"# e.g. uses of inotify: nginx ingress controller, kubectl logs -f\n"
	"fs.inotify.max_user_instances = 8192\n"
	"%s"
	"# Additional sysctl flags that kubelet expects\n"
	"vm.overcommit_memory = 1\n"
	"kernel.panic = 10\n"
	"kernel.panic_on_oops = 1\n"
	"\n"
	"# AWS settings\n"
	"\n"
	"# Issue #23395\n"
	"net.ipv4.neigh.default.gc_thresh1=0\n"
	"\n"
	"%s"
	"%s"
	"%s"
	"%s";

static const char forward_text[] =
	"# Prevent docker from changing iptables: https://github.com/kubernetes/kubernetes/issues/40182\n"
	"net.ipv4.ip_forward=1\n"
	"\n";
static const char forward_ipv6_text[] =
	"# Enable IPv6 forwarding for network plugins that don't do it themselves\n"
	"net.ipv6.conf.all.forwarding=1\n"
	"\n";
static const char cilium_text[] =
	"# Depending on systemd version, cloud and distro, rp_filters may be enabled.\n"
	"# Cilium requires this to be disabled. See https://github.com/cilium/cilium/issues/10645\n"
	"net.ipv4.conf.all.rp_filter=0\n"
	"net.ipv4.conf.lxc*.rp_filter=0\n"
	"net.ipv4.conf.cilium_*.rp_filter=0\n"
	"\n";

/* The default of kube-apiserver. */
static const char node_ports[] = "30000-32767";

/* Turns FROM+MORE, which the kernel does not know, into FROM-TO. */
static const char *reserved_ports(struct arena *a, const char *range)
{
	const char *plus = strchr(range, '+');
	const long from = strtol(range, NULL, BASE);

	return plus ? arena_printf(a, "%ld-%ld", from, from + strtol(plus + 1, NULL, BASE)) : range;
}

/* Sets each existing interface by itself: a setting for all interfaces counts only for those that come later. */
static const char *routes_told(const struct plan *p)
{
	const struct strmap *interfaces = &p->req->facts->interfaces;
	struct strv lines = { 0 };

	strv_add(p->arena, &lines, "# Enable Router Advertisements to get the default IPv6 route");
	for (size_t i = 0; i < interfaces->n; i++)
		if (str_has_prefix(interfaces->v[i].key, "ens"))
			strv_addf(p->arena, &lines, "net.ipv6.conf.%s.accept_ra=2",
				  interfaces->v[i].key);
	return arena_printf(p->arena, "%s\n", strv_join(p->arena, &lines, "\n"));
}

/* A module that cannot be loaded is only a warning, as it is for kops. source: kops 1.37
 * upup/pkg/fi/nodeup/command.go loadKernelModules */
static void add_modules(struct plan *p)
{
	const bool kindnet = kops_of(p)->config->networking.kindnet;
	const struct release_today *r = kops_release(p);
	struct task_package extra = { .family = plan_distro(p)->family,
				      .env = plan_proxy_words(p) };
	struct strv *all = &extra.modules;
	struct task *t;

	strv_add(p->arena, all, kindnet ? "nfnetlink_queue" : "br_netfilter");
	if (r->modules && kops_has(p, KOPS_NFTABLES_HOSTS)) {
		const struct strv own = strv_split(p->arena, r->modules, ' ');

		strv_add_all(p->arena, all, &own);
	}
	for (size_t i = 0; i < all->n; i++)
		plan_new_task(p, TASK_MODULE, all->v[i])->optional = true;
	if (!r->modules_package || !kops_has(p, KOPS_NFTABLES_HOSTS))
		return;
	strv_add(p->arena, &extra.names, r->modules_package);
	t = plan_new_task(p, TASK_PACKAGE, r->modules_package);
	t->package = extra;
	t->optional = true;
}

void build_kops_sysctl(struct plan *p)
{
	const struct kops_config *c = kops_of(p)->config;
	const char *ports = c->service_node_port_range;
	const bool watches = kops_has(p, KOPS_INOTIFY_WATCHES);
	const char *own = strv_join(p->arena, &c->sysctl_parameters, "\n");
	const char *text = arena_printf(
		p->arena, kernel_text,
		reserved_ports(p->arena, str_is_empty(ports) ? node_ports : ports),
		watches ? " and watches" : "",
		watches ? "fs.inotify.max_user_watches = 524288\n" : "",
		kops_is_ipv6_only(p) && kops_release(p)->is_told_routes ? routes_told(p) : "",
		kops_is_ipv6_only(p) ? forward_ipv6_text : forward_text,
		c->networking.cilium ? cilium_text : "", own);

	/* without lines of the documents, kops writes no line break at the end */
	if (c->sysctl_parameters.n == 0)
		text = arena_strn(p->arena, text, strlen(text) - 1);
	plan_sysctl(p, text, own)->sysctl.keeps_defaults = c->kubelet.protect_kernel_defaults.v;
	add_modules(p);
}

static void stop_for_good(struct plan *p, const char *unit)
{
	plan_unit_off(p, unit);
	plan_unit_mask(p, unit);
}

/* Masks the host's own firewall, which rejects everything that it did not allow itself. */
static void mask_firewall(struct plan *p, const char *unit)
{
	const char *name = arena_strn(p->arena, unit, strcspn(unit, "."));

	plan_file(p, arena_printf(p->arena, "/etc/kops/%s-disabled", name), 0644,
		  arena_printf(p->arena,
			       "# Marker: %s disabled by kops to avoid conflicts with the "
			       "Kubernetes CNI dataplane.\n",
			       name));
	stop_for_good(p, unit);
}

void build_kops_firewall(struct plan *p)
{
	/* source: kops 1.37 nodeup/pkg/model/firewall.go */
	plan_firewall(
		p, "/opt/kops/bin/iptables-setup",
		"#!/bin/bash\n"
		"# Built by kops - do not edit\n"
		"\n"
		"# The GCI image has host firewall which drop most inbound/forwarded packets.\n"
		"# We need to add rules to accept all TCP/UDP/ICMP packets.\n"
		"if iptables -w -L INPUT | grep \"Chain INPUT (policy DROP)\" > /dev/null; then\n"
		"echo \"Add rules to accept all inbound TCP/UDP/ICMP packets\"\n"
		"iptables -A INPUT -w -p TCP -j ACCEPT\n"
		"iptables -A INPUT -w -p UDP -j ACCEPT\n"
		"iptables -A INPUT -w -p ICMP -j ACCEPT\n"
		"fi\n"
		"if iptables -w -L FORWARD | grep \"Chain FORWARD (policy DROP)\" > /dev/null; then\n"
		"echo \"Add rules to accept all forwarded TCP/UDP/ICMP packets\"\n"
		"iptables -A FORWARD -w -p TCP -j ACCEPT\n"
		"iptables -A FORWARD -w -p UDP -j ACCEPT\n"
		"iptables -A FORWARD -w -p ICMP -j ACCEPT\n"
		"fi\n");
	if (kops_release(p)->masked && kops_has(p, KOPS_NFTABLES_HOSTS))
		mask_firewall(p, kops_release(p)->masked);
}

static bool has_upgrades(const struct plan *p)
{
	return !str_eq(kops_of(p)->config->update_policy, "external");
}

static bool has_hook(const struct plan *p, const char *name)
{
	const struct node_hooks *hooks = &p->req->node->hooks;
	const char *unit = arena_printf(p->arena, "%s.service", name);

	for (size_t i = 0; i < hooks->n; i++)
		if (str_eq(hooks->v[i].name, name) || str_eq(hooks->v[i].name, unit))
			return true;
	return false;
}

/* Lets updates of the whole system wait until somebody reboots the host. A hook with the name of kops' unit does
 * this instead. source: kops 1.37 nodeup/pkg/model/update_service.go buildFlatcarSystemdService */
static void stay_up(struct plan *p, const struct release_today *r)
{
	static const char name[] = "update-service";

	if (has_hook(p, name))
		return;
	plan_unit_file(p, "update-service.service",
		       arena_printf(p->arena,
				    "[Unit]\n"
				    "Description=Disable OS Update Scheduler\n"
				    "Before=%s\n"
				    "\n"
				    "[Service]\n"
				    "Type=oneshot\n"
				    "ExecStart=/usr/bin/systemctl mask --now %s\n",
				    r->reboots, r->reboots));
	stop_for_good(p, r->reboots);
	if (!has_upgrades(p))
		stop_for_good(p, r->updates);
}

void build_kops_upgrades(struct plan *p)
{
	const struct release_today *r = kops_release(p);

	if (r->upgrades)
		plan_upgrades(p, has_upgrades(p));
	if (r->reboots)
		stay_up(p, r);
}

const char *needs_kops_upgrades(struct plan *p)
{
	return has_upgrades(p) ? kops_release(p)->upgrades : NULL;
}

/* Runs the package's own service, with the clock of the VPC. */
void build_kops_ntp(struct plan *p)
{
	const struct release_today *r = kops_release(p);
	struct task *unit;

	if (kops_of(p)->config->ntp_unmanaged || !r->chrony_conf)
		return;
	/* source: kops 1.37 nodeup/pkg/model/ntp.go */
	plan_file(p, r->chrony_conf, 0644,
		  "# Built by kOps - do NOT edit\n"
		  "\n"
		  "pool 169.254.169.123 prefer iburst\n"
		  "driftfile /var/lib/chrony/drift\n"
		  "leapsectz right/UTC\n"
		  "logdir /var/log/chrony\n"
		  "makestep 1.0 3\n"
		  "maxupdateskew 100.0\n"
		  "rtcsync\n");
	/* an image without the package does not have its unit */
	unit = plan_unit(p, r->chrony_unit, !p->req->image_mode);
	strv_add(p->arena, &unit->unit.inputs, r->chrony_conf);
}

const char *needs_kops_ntp(struct plan *p)
{
	return kops_of(p)->config->ntp_unmanaged ? NULL : "chrony";
}

void build_kops_logrotate(struct plan *p)
{
	/* kops rotates all these logs on every role */
	static const char *const logs[] = {
		"docker",      "kube-addons",    "kube-apiserver", "kube-controller-manager",
		"kube-proxy",  "kube-scheduler", "kubelet",        "etcd",
		"etcd-events",
	};

	static const char service[] = "[Unit]\n"
				      "Description=Rotate and Compress System Logs\n"
				      "\n"
				      "[Service]\n"
				      "ExecStart=/usr/sbin/logrotate /etc/logrotate.conf\n";
	const char *date = kops_release(p)->log_date;

	date = date ? arena_printf(p->arena, "  dateformat %s\n", date) : "";
	for (size_t i = 0; i < ARRAY_LEN(logs); i++)
		plan_rotated_log(p, logs[i], date, "\n");
	if (kops_has(p, KOPS_ETCD_LEASES))
		plan_rotated_log(p, "etcd-leases", date, "\n");
	if (kops_of(p)->config->use_cilium_etcd)
		plan_rotated_log(p, "etcd-cilium", date, "\n");
	plan_rotate_hourly(p, plan_distro(p)->family == PACKAGE_NONE ? NULL : service);
}

const char *needs_kops_logrotate(struct plan *p)
{
	(void)p;
	return "logrotate";
}
