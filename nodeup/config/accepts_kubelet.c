#include "nodeup/config/accepts_kubelet.h"

#include "nodeup/base/dur.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/feature_gates.h"

#define SIGNALS                                                                      \
	"memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, " \
	"imagefs.inodesFree, containerfs.available, containerfs.inodesFree or "      \
	"pid.available"
#define SIGNALS_OLD                                                                    \
	"memory.available, nodefs.available, nodefs.inodesFree, imagefs.available or " \
	"imagefs.inodesFree"

/* clang-format off */
#define SIGNAL                                                                       \
	"memory[.]available|nodefs[.]available|nodefs[.]inodesFree|imagefs[.]available|" \
	"imagefs[.]inodesFree|pid[.]available|allocatableMemory[.]available"
#define SIGNAL_TODAY SIGNAL "|containerfs[.]available|containerfs[.]inodesFree"
/* signals of kubelet up to 1.10, which came with different versions */
#define SIGNAL_OLD SIGNAL "|allocatableNodeFs[.]available"
/* the usual signals in words, for messages */
#define NAMES_OLD \
	"memory.available|nodefs.available|nodefs.inodesFree|imagefs.available|imagefs.inodesFree"
#define NAMES NAMES_OLD "|containerfs.available|containerfs.inodesFree|pid.available"
/* A statement "signal<value". The reader reports values that are not valid. */
#define OF(signals, op) "^[[:space:]]*(" signals ")[[:space:]]*" op
#define ABOVE_ZERO "[[:space:]+]*[0.]*[1-9]"
/* 0% and 100% are accepted, and disable the threshold */
#define THRESHOLD(signals) OF(signals, "<") "(.*%|" ABOVE_ZERO ")"
#define PERIOD(signals) OF(signals, "=")
#define RECLAIM(signals) OF(signals, "=") "([^%]*$|" ABOVE_ZERO ")"
#define AMOUNT "([0-9]+[.]?[0-9]*|[.][0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$"
/* a sysctl that the kernel has per pod, or a prefix of some with a star; '/' counts as '.' */
#define SYSCTL \
	"^(net[./]|user[./]|fs[./]mqueue[./]|kernel[./](sem|shm|msg|domainname))[a-z0-9_./-]*[*]?$"
#define PORT "0*([0-9]{1,4}|[1-5][0-9]{4}|6([0-4][0-9]{3}|5([0-4][0-9]{2}|5([0-2][0-9]|3[0-5]))))"
/* clang-format on */

/* For kubelet of 1.24 and later. Rows without `since` were compared with the present table only; if `since` is 31,
 * an earlier version may have the same demand. */
const struct field_accepts kubelet_authorization_mode = { .oneof = "AlwaysAllow|Webhook" };
/* from 1.34 on kubelet accepts any value and ignores it */
static const struct field_accepts cloud_provider_31 = { .oneof = "external",
							.since = 31,
							.until = 33 };
const struct field_accepts kubelet_cloud_provider = { .wanted = "external",
						      .pattern = "!^aws$",
						      .since = 27,
						      .until = 30,
						      .next = &cloud_provider_31 };
const struct field_accepts kubelet_cpu_policy = { .oneof = "none|static" };
const struct field_accepts kubelet_cfs_period = { .wanted = "a duration from 1ms to 1s",
						  .min = DUR_MS,
						  .max = DUR_SEC,
						  .since = 31 };
static const struct field_accepts enforced_32 = {
	.wanted =
		"pods, system-reserved, kube-reserved, one of these two with -compressible, or none",
	.oneof = "pods|system-reserved|kube-reserved|system-reserved-compressible|"
		 "kube-reserved-compressible|none",
	.commas = true,
	.since = 32
};
const struct field_accepts kubelet_enforced = { .oneof = "pods|system-reserved|kube-reserved|none",
						.commas = true,
						.until = 31,
						.next = &enforced_32 };
const struct field_accepts kubelet_grace = { .wanted = "0s, or a duration of 1s or more",
					     .min = DUR_SEC,
					     .max = INT64_MAX,
					     .zero = true,
					     .since = 31 };
const struct field_accepts kubelet_hairpin = { .oneof = "promiscuous-bridge|hairpin-veth|none" };
const struct field_accepts kubelet_image_age = { .wanted = "a duration of 0s or more",
						 .max = INT64_MAX,
						 .since = 31 };
const struct field_accepts kubelet_lease = { ACCEPTS_OR_MORE(1) };
const struct field_accepts kubelet_log_files = { ACCEPTS_OR_MORE(2) };
const struct field_accepts kubelet_log_size = { .wanted = "an amount such as 10Mi",
						.pattern = "^[+-]?" AMOUNT };
const struct field_accepts kubelet_no_flag = { .wanted = "nothing, as kubelet has no such flag",
					       .pattern = "!." };
const struct field_accepts kubelet_percent = { ACCEPTS_FROM_TO(0, 100) };
const struct field_accepts kubelet_periods = { .wanted = "periods of " SIGNALS,
					       .pattern = PERIOD(SIGNAL_TODAY),
					       .near = NAMES,
					       .commas = true };
const struct field_accepts kubelet_port = { ACCEPTS_FROM_TO(0, 65535) };
const struct field_accepts kubelet_pulls = { ACCEPTS_OR_MORE(1) };
const struct field_accepts kubelet_reclaims = { .wanted =
							"amounts, or shares above 0%, of " SIGNALS,
						.pattern = RECLAIM(SIGNAL_TODAY),
						.near = NAMES,
						.commas = true };
static const struct field_accepts reserved_amount = { .wanted = "an amount such as 100m or 64Mi",
						      .pattern = "^[+]?" AMOUNT };
const struct field_accepts kubelet_reserved = { .oneof = "cpu|memory|ephemeral-storage|pid",
						.keys = true,
						.next = &reserved_amount };
/* 1.31 does not know the key, and ignores it */
const struct field_accepts kubelet_restart_period = { .wanted = "a duration from 1s to 5m0s",
						      .min = DUR_SEC,
						      .max = 300 * DUR_SEC,
						      .since = 32 };
/* up to 1.29 kubelet accepts UnlimitedSwap too */
const struct field_accepts kubelet_swap = { .oneof = "NoSwap|LimitedSwap", .since = 30 };
static const struct field_accepts short_sysctl = { .wanted = "at most 253 letters",
						   .longest = 253,
						   .since = 31 };
const struct field_accepts kubelet_sysctls = {
	.wanted = "a sysctl of pods, such as net.core.somaxconn, kernel.msgmax or kernel.shm*",
	.pattern = SYSCTL,
	.since = 31,
	.next = &short_sysctl
};
const struct field_accepts kubelet_thresholds = { .wanted = "thresholds above 0 of " SIGNALS,
						  .pattern = THRESHOLD(SIGNAL_TODAY),
						  .near = NAMES,
						  .commas = true };
const struct field_accepts kubelet_topology_policy = {
	.oneof = "none|best-effort|restricted|single-numa-node"
};

/* Today's kube-proxy. */
const struct field_accepts proxy_address = { .wanted = "an IP address",
					     .pattern = "^(" IP_ADDRESS "|@aws)$" };
const struct field_accepts proxy_cidrs = { .wanted = "an address range, or one of each family",
					   .pattern = RANGES_DUAL,
					   .since = 31 };
const struct field_accepts proxy_metrics = { .wanted = "an IP address, or one with a port",
					     .pattern = "^((" IP_ADDRESS "|@aws)|(" IPV4_ADDRESS
							"|[[](" IP_ADDRESS ")[]]):" PORT ")$",
					     .since = 31 };
/* up to 1.25 kube-proxy accepts userspace too */
const struct field_accepts proxy_mode = { .oneof = "iptables|ipvs|nftables", .since = 26 };

/* Demands of kubelet up to 1.10. */
const struct field_accepts kubelet_cloud_provider_old = {
	.wanted = "aws, external, or another that Kubernetes has",
	.oneof = "aws|external|auto-detect|azure|cloudstack|fake|gce|mesos|openstack|ovirt|photon|"
		 "rackspace|vsphere",
	.since = 6,
	.until = 10
};
const struct field_accepts kubelet_enforced_old = { .oneof = "pods|system-reserved|kube-reserved",
						    .commas = true,
						    .since = 6,
						    .until = 10 };
const struct field_accepts kubelet_network_plugin_old = { .oneof = "kubenet|cni",
							  .names = true,
							  .until = 10 };
const struct field_accepts kubelet_periods_old = { .wanted = "periods of " SIGNALS_OLD,
						   .pattern = PERIOD(SIGNAL_OLD),
						   .near = NAMES_OLD,
						   .commas = true,
						   .until = 10 };
const struct field_accepts kubelet_reclaims_old = {
	.wanted = "amounts, or shares above 0%, of " SIGNALS_OLD,
	.pattern = RECLAIM(SIGNAL_OLD),
	.near = NAMES_OLD,
	.commas = true,
	.until = 10
};
static const struct field_accepts reserved_9 = { .oneof =
							 "cpu|memory|ephemeral-storage|storage|pid",
						 .keys = true,
						 .since = 9,
						 .until = 10 };
static const struct field_accepts reserved_8 = { .oneof = "cpu|memory|ephemeral-storage",
						 .keys = true,
						 .since = 8,
						 .until = 8,
						 .next = &reserved_9 };
static const struct field_accepts reserved_7 = { .oneof = "cpu|memory|storage",
						 .keys = true,
						 .since = 7,
						 .until = 7,
						 .next = &reserved_8 };
const struct field_accepts kubelet_reserved_old = { .oneof = "cpu|memory",
						    .keys = true,
						    .until = 6,
						    .next = &reserved_7 };
/* later versions accept 0%, which disables the threshold */
static const struct field_accepts shares_old = { .wanted = "thresholds above 0",
						 .pattern = OF(SIGNAL_OLD, "<") ABOVE_ZERO,
						 .commas = true,
						 .since = 6,
						 .until = 8 };
const struct field_accepts kubelet_thresholds_old = { .wanted =
							      "thresholds above 0 of " SIGNALS_OLD,
						      .pattern = THRESHOLD(SIGNAL_OLD),
						      .near = NAMES_OLD,
						      .commas = true,
						      .until = 10,
						      .next = &shares_old };
static const struct field_accepts gate_names_old = { .wanted = "feature gates of Kubernetes",
						     .pattern = "^$|^[[:space:]]*(" FEATURE_GATES
								")[[:space:]]*(=|$)",
						     .near = FEATURE_GATES,
						     .commas = true,
						     .names = true,
						     .until = 10 };
const struct field_accepts gate_pairs_old = { .wanted = "feature gates such as AllAlpha=true",
					      .pattern = "^$|=[[:space:]]*(" FLAG_BOOL
							 ")[[:space:]]*$",
					      .commas = true,
					      .until = 10,
					      .next = &gate_names_old };
