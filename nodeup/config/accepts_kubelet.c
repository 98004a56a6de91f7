#include "nodeup/config/accepts_kubelet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/config/feature_gates.h"

enum { SYSCTL_MAX = 253, IP_MAX = 63, PORT_MAX = 65535 };

#define SIGNALS                                                                      \
	"memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, " \
	"imagefs.inodesFree, containerfs.available, containerfs.inodesFree or "      \
	"pid.available"
#define SIGNALS_OLD                                                                    \
	"memory.available, nodefs.available, nodefs.inodesFree, imagefs.available or " \
	"imagefs.inodesFree"

static const char *const signals[] = { "memory.available",
				       "nodefs.available",
				       "nodefs.inodesFree",
				       "imagefs.available",
				       "imagefs.inodesFree",
				       "containerfs.available",
				       "containerfs.inodesFree",
				       "pid.available",
				       "allocatableMemory.available",
				       NULL };
/* Each came with one of these versions. */
static const char *const signals_old[] = { "memory.available",
					   "nodefs.available",
					   "nodefs.inodesFree",
					   "imagefs.available",
					   "imagefs.inodesFree",
					   "pid.available",
					   "allocatableMemory.available",
					   "allocatableNodeFs.available",
					   NULL };

/* Which zeros of a statement "signal<value" are no value. */
enum zero { ANY, NO_AMOUNT, NO_SHARE, NONE };

const char *kubelet_signal(struct arena *a, const char *statement, char op)
{
	const char *at = strchr(statement, op);

	return str_trim(a, at ? arena_strn(a, statement, (size_t)(at - statement)) : statement);
}

/* What does not parse the reader has told. */
static bool is_statement(const char *s, char op, const char *const *known, enum zero zero)
{
	autoarena struct arena *a = arena_new_empty();
	const char *at = strchr(s, op);
	const enum zero kind = strchr(s, '%') ? NO_SHARE : NO_AMOUNT;

	if (!at || !str_is_one_of(kubelet_signal(a, s, op), known))
		return false;
	return (zero != kind && zero != NONE) || strtod(at + 1, NULL) > 0;
}

/* 0% and 100% are no thresholds, but taken. */
static bool is_threshold(const char *s)
{
	return is_statement(s, '<', signals, NO_AMOUNT);
}

static bool is_period(const char *s)
{
	return is_statement(s, '=', signals, ANY);
}

static bool is_reclaim(const char *s)
{
	return is_statement(s, '=', signals, NO_SHARE);
}

static bool is_threshold_old(const char *s)
{
	return is_statement(s, '<', signals_old, NO_AMOUNT);
}

static bool is_above_zero(const char *s)
{
	return is_statement(s, '<', signals_old, NONE);
}

static bool is_period_old(const char *s)
{
	return is_statement(s, '=', signals_old, ANY);
}

static bool is_reclaim_old(const char *s)
{
	return is_statement(s, '=', signals_old, NO_SHARE);
}

static bool is_amount(const char *s)
{
	return format_is_valid(&format_quantity, s);
}

/* With one below zero logs stay as they are. */
static bool is_log_size(const char *s)
{
	return is_amount(s + (*s == '-'));
}

static bool is_grace(const char *s)
{
	struct err ignored;
	int64_t ns;

	return dur_parse(s, &ns, &ignored) < 0 || ns == 0 || ns >= DUR_SEC;
}

/* One that the kernel keeps apart for pods, or the beginning of some with a star behind it. '/' is taken for '.'. */
static bool is_sysctl(const char *s)
{
	static const char *const apart[] = {
		"net.",       "user.",      "fs.mqueue.",       "kernel.sem",
		"kernel.shm", "kernel.msg", "kernel.domainname"
	};
	char dotted[SYSCTL_MAX + 1];
	size_t n = 0;

	for (; s[n]; n++) {
		if (n == SYSCTL_MAX ||
		    (!islower((unsigned char)s[n]) && !isdigit((unsigned char)s[n]) &&
		     !strchr("-_./", s[n]) && (s[n] != '*' || s[n + 1])))
			return false;
		dotted[n] = (char)(s[n] == '/' ? '.' : s[n]);
	}
	dotted[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(apart); i++)
		if (str_has_prefix(dotted, apart[i]))
			return true;
	return false;
}

/* As Go's programs read it: 010.0.0.1 is 10.0.0.1. */
static bool is_ip_of(const char *s, size_t len)
{
	char plain[IP_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const bool leads = s[i] == '0' && i + 1 < len && isdigit((unsigned char)s[i + 1]) &&
				   (n == 0 || plain[n - 1] == '.');

		if (n == IP_MAX)
			return false;
		if (!leads)
			plain[n++] = s[i];
	}
	plain[n] = '\0';
	return format_is_valid(&format_ip, plain);
}

/* kops puts the machine's own address in place of @aws. */
static bool is_ip(const char *s)
{
	return str_eq(s, "@aws") || is_ip_of(s, strlen(s));
}

/* "0.0.0.0", "0.0.0.0:10249", "[::]:10249". */
static bool is_ip_port(const char *s)
{
	const char *colon = strrchr(s, ':');
	size_t n = colon ? (size_t)(colon - s) : 0;
	char *end;

	if (is_ip(s))
		return true;
	if (!colon || !isdigit((unsigned char)colon[1]) || strtol(colon + 1, &end, 10) > PORT_MAX ||
	    *end)
		return false;
	return n > 2 && *s == '[' && s[n - 1] == ']' ? is_ip_of(s + 1, n - 2)
						     : !memchr(s, ':', n) && is_ip_of(s, n);
}

/* One, or one of each family. Each alone is the reader's. */
static bool is_pair_of_cidrs(const char *s)
{
	const char *comma = strchr(s, ',');

	return !comma || (!strchr(comma + 1, ',') &&
			  !memchr(s, ':', (size_t)(comma - s)) != !strchr(comma, ':'));
}

static bool is_gate_pair(const char *s)
{
	autoarena struct arena *a = arena_new_empty();
	const char *value = strchr(s, '=');

	return !*s || (value && format_is_valid(&format_switch, str_trim(a, value + 1)));
}

static bool is_known_gate(const char *s)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv known = strv_split(a, FEATURE_GATES, '|');

	return !*s || strv_has(&known, kubelet_signal(a, s, '='));
}

/* Today's kubelet. Those without `since` are rows of today's table alone. */
const struct field_accepts kubelet_authorization_mode = { .oneof = "AlwaysAllow|Webhook" };
/* from 1.34 on it takes any, and does nothing with it */
const struct field_accepts kubelet_cloud_provider = { .oneof = "external", .until = 33 };
const struct field_accepts kubelet_cpu_policy = { .oneof = "none|static" };
const struct field_accepts kubelet_cfs_period = { .min = DUR_MS, .max = DUR_SEC };
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
					     .is_valid = is_grace };
const struct field_accepts kubelet_hairpin = { .oneof = "promiscuous-bridge|hairpin-veth|none" };
const struct field_accepts kubelet_image_age = { .max = INT64_MAX };
const struct field_accepts kubelet_lease = { .min = 1, .max = INT64_MAX };
const struct field_accepts kubelet_log_files = { .min = 2, .max = INT64_MAX };
const struct field_accepts kubelet_log_size = { .wanted = "an amount such as 10Mi",
						.is_valid = is_log_size };
const struct field_accepts kubelet_percent = { .max = 100 };
const struct field_accepts kubelet_periods = { .wanted = "periods of " SIGNALS,
					       .is_valid = is_period,
					       .commas = true };
const struct field_accepts kubelet_port = { .max = PORT_MAX };
const struct field_accepts kubelet_pulls = { .min = 1, .max = INT64_MAX };
const struct field_accepts kubelet_reclaims = { .wanted =
							"amounts, or shares above 0%, of " SIGNALS,
						.is_valid = is_reclaim,
						.commas = true };
static const struct field_accepts reserved_amount = { .wanted = "an amount such as 100m or 64Mi",
						      .is_valid = is_amount };
const struct field_accepts kubelet_reserved = { .oneof = "cpu|memory|ephemeral-storage|pid",
						.keys = true,
						.next = &reserved_amount };
/* 1.31 does not know the key, and goes on */
const struct field_accepts kubelet_restart_period = { .min = DUR_SEC,
						      .max = 300 * DUR_SEC,
						      .since = 32 };
const struct field_accepts kubelet_swap = { .oneof = "NoSwap|LimitedSwap" };
const struct field_accepts kubelet_sysctls = {
	.wanted = "a sysctl of pods, such as net.core.somaxconn, kernel.msgmax or kernel.shm*",
	.is_valid = is_sysctl
};
const struct field_accepts kubelet_thresholds = { .wanted = "thresholds above 0 of " SIGNALS,
						  .is_valid = is_threshold,
						  .commas = true };
const struct field_accepts kubelet_topology_policy = {
	.oneof = "none|best-effort|restricted|single-numa-node"
};

/* Today's kube-proxy. */
const struct field_accepts proxy_address = { .wanted = "an IP address", .is_valid = is_ip };
const struct field_accepts proxy_cidrs = { .wanted = "an address range, or one of each family",
					   .is_valid = is_pair_of_cidrs };
const struct field_accepts proxy_metrics = { .wanted = "an IP address, or one with a port",
					     .is_valid = is_ip_port };
const struct field_accepts proxy_mode = { .oneof = "iptables|ipvs|nftables" };

/* Up to 1.10. */
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
						   .is_valid = is_period_old,
						   .commas = true,
						   .until = 10 };
const struct field_accepts kubelet_reclaims_old = {
	.wanted = "amounts, or shares above 0%, of " SIGNALS_OLD,
	.is_valid = is_reclaim_old,
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
/* later ones take 0% for none */
static const struct field_accepts shares_old = { .wanted = "thresholds above 0",
						 .is_valid = is_above_zero,
						 .commas = true,
						 .since = 6,
						 .until = 8 };
const struct field_accepts kubelet_thresholds_old = { .wanted =
							      "thresholds above 0 of " SIGNALS_OLD,
						      .is_valid = is_threshold_old,
						      .commas = true,
						      .until = 10,
						      .next = &shares_old };
static const struct field_accepts gate_names_old = { .wanted = "feature gates of Kubernetes",
						     .is_valid = is_known_gate,
						     .commas = true,
						     .names = true,
						     .until = 10 };
const struct field_accepts gate_pairs_old = { .wanted = "feature gates such as AllAlpha=true",
					      .is_valid = is_gate_pair,
					      .commas = true,
					      .until = 10,
					      .next = &gate_names_old };
