#include "nodeup/config/accepts_kubelet.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"

#define MINUTE_NS (60 * DUR_SEC)
#define USUAL_CFS_NS (100 * DUR_MS)

static int64_t usual_high(const struct rule_values *v)
{
	return v->minor < 7 ? 90 : 85;
}

static bool is_low_above_high(const struct rule_values *v)
{
	return rules_int(v, "imageGCLowThresholdPercent", 80) >
	       rules_int(v, "imageGCHighThresholdPercent", usual_high(v));
}

static bool is_low_not_below_high(const struct rule_values *v)
{
	return rules_int(v, "imageGCLowThresholdPercent", 80) >=
	       rules_int(v, "imageGCHighThresholdPercent", usual_high(v));
}

/* The words of a text; none: it is not there. */
static struct strv words_of(struct arena *a, const struct rule_values *v, const char *key)
{
	const char *text = rules_text(v, key, "");

	return *text ? strv_split(a, text, ',') : (struct strv){ 0 };
}

static bool has_text(const struct rule_values *v, const char *key)
{
	return *rules_text(v, key, "") != '\0';
}

/* Of words "signal<value" or "signal=value". */
static struct strv signals_of(struct arena *a, const struct rule_values *v, const char *key,
			      char op)
{
	const struct strv words = words_of(a, v, key);
	struct strv signals = { 0 };

	for (size_t i = 0; i < words.n; i++)
		strv_add(a, &signals, kubelet_signal(a, words.v[i], op));
	return signals;
}

static bool lacks_grace(const struct rule_values *v)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv soft = signals_of(a, v, "evictionSoft", '<');
	const struct strv periods = signals_of(a, v, "evictionSoftGracePeriod", '=');

	for (size_t i = 0; i < soft.n; i++)
		if (!strv_has(&periods, soft.v[i]))
			return true;
	return false;
}

static bool is_twice(const struct rule_values *v, const char *key, char op)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv all = signals_of(a, v, key, op);
	struct strv seen = { 0 };

	for (size_t i = 0; i < all.n; i++) {
		if (strv_has(&seen, all.v[i]))
			return true;
		strv_add(a, &seen, all.v[i]);
	}
	return false;
}

static bool is_hard_twice(const struct rule_values *v)
{
	return is_twice(v, "evictionHard", '<');
}

static bool is_soft_twice(const struct rule_values *v)
{
	return is_twice(v, "evictionSoft", '<');
}

static bool is_period_twice(const struct rule_values *v)
{
	return is_twice(v, "evictionSoftGracePeriod", '=');
}

static bool is_reclaim_twice(const struct rule_values *v)
{
	return is_twice(v, "evictionMinimumReclaim", '=');
}

static double cpu_of(const struct rule_values *v, const char *key)
{
	const struct tree *map = rules_value(v, key), *cpu;

	cpu = map && map->kind == TREE_MAP ? tree_get(map, "cpu") : NULL;
	return cpu && cpu->kind == TREE_SCALAR ? strtod(cpu->scalar, NULL) : 0;
}

static bool lacks_cpus(const struct rule_values *v)
{
	return str_eq(rules_text(v, "cpuManagerPolicy", ""), "static") &&
	       cpu_of(v, "kubeReserved") <= 0 && cpu_of(v, "systemReserved") <= 0;
}

/* Where kops 1.8 has no section of the cluster's, one with a root is made up. */
static bool lacks_root(const struct rule_values *v)
{
	return v->sections[0].map && has_text(v, "systemCgroups") && !has_text(v, "cgroupRoot");
}

static bool enforces(const struct rule_values *v, const char *what)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv levels = words_of(a, v, "enforceNodeAllocatable");

	return strv_has(&levels, what);
}

static bool lacks_system_cgroup(const struct rule_values *v)
{
	return !has_text(v, "systemReservedCgroup") &&
	       (enforces(v, "system-reserved") || enforces(v, "system-reserved-compressible"));
}

static bool lacks_kube_cgroup(const struct rule_values *v)
{
	return !has_text(v, "kubeReservedCgroup") &&
	       (enforces(v, "kube-reserved") || enforces(v, "kube-reserved-compressible"));
}

static bool is_none_and_more(const struct rule_values *v)
{
	return enforces(v, "none") && !str_eq(rules_text(v, "enforceNodeAllocatable", ""), "none");
}

static bool is_both(const struct rule_values *v)
{
	return (enforces(v, "system-reserved") && enforces(v, "system-reserved-compressible")) ||
	       (enforces(v, "kube-reserved") && enforces(v, "kube-reserved-compressible"));
}

static bool is_serial(const struct rule_values *v)
{
	return rules_int(v, "maxParallelImagePulls", 1) > 1 &&
	       rules_bool(v, "serializeImagePulls", false);
}

static bool is_oldest_too_young(const struct rule_values *v)
{
	const int64_t most = rules_duration(v, "imageMaximumGCAge", 0);

	return most > 0 && most <= rules_duration(v, "imageMinimumGCAge", 2 * MINUTE_NS);
}

static bool is_critical_longer(const struct rule_values *v)
{
	return rules_duration(v, "shutdownGracePeriodCriticalPods", 0) >
	       rules_duration(v, "shutdownGracePeriod", 0);
}

/* Whether a gate may be open. `usual` says it where the document does not; AllAlpha and AllBeta move others. */
static bool is_open(const struct rule_values *v, const char *name, bool usual)
{
	const struct tree *gates = rules_value(v, "featureGates"), *gate;

	if (!gates || gates->kind != TREE_MAP)
		return usual;
	gate = tree_get(gates, name);
	if (gate && gate->kind == TREE_SCALAR)
		return *gate->scalar && strchr("1tT", *gate->scalar);
	return usual || tree_get(gates, "AllAlpha") || tree_get(gates, "AllBeta");
}

static bool is_shutdown_closed(const struct rule_values *v)
{
	return !is_open(v, "GracefulNodeShutdown", true) &&
	       (rules_duration(v, "shutdownGracePeriod", 0) > 0 ||
		rules_duration(v, "shutdownGracePeriodCriticalPods", 0) > 0);
}

static bool is_age_closed(const struct rule_values *v)
{
	return !is_open(v, "ImageMaximumGCAge", true) &&
	       rules_duration(v, "imageMaximumGCAge", 0) != 0;
}

static bool is_swap_closed(const struct rule_values *v)
{
	return !is_open(v, "NodeSwap", true) && has_text(v, "memorySwapBehavior");
}

static bool is_cfs_closed(const struct rule_values *v)
{
	return !is_open(v, "CustomCPUCFSQuotaPeriod", v->minor >= 36) &&
	       rules_duration(v, "cpuCFSQuotaPeriod", USUAL_CFS_NS) != USUAL_CFS_NS;
}

static bool is_restart_closed(const struct rule_values *v)
{
	return !is_open(v, "KubeletCrashLoopBackOffMax", v->minor >= 35) &&
	       has_text(v, "crashLoopBackOffMaxContainerRestartPeriod");
}

static bool is_ipvs(const struct rule_values *v)
{
	return str_eq(rules_text(v, "proxyMode", ""), "ipvs");
}

static bool is_ipvs_period_none(const struct rule_values *v)
{
	return is_ipvs(v) && rules_duration(v, "ipvsSyncPeriod", 1) <= 0;
}

static bool is_ipvs_minimum_wrong(const struct rule_values *v)
{
	const int64_t least = rules_duration(v, "ipvsMinSyncPeriod", 0);

	return is_ipvs(v) &&
	       (least < 0 || least > rules_duration(v, "ipvsSyncPeriod", 30 * DUR_SEC));
}

#define GC_KEYS "imageGCLowThresholdPercent|imageGCHighThresholdPercent"
#define SHUTDOWN_KEYS "shutdownGracePeriodCriticalPods|shutdownGracePeriod"
#define ONCE "expected each signal once"

/* clang-format off */
static const struct field_rule kubelet[] = {
	/* that equal ones are refused came later than 1.8 */
	{ .keys = GC_KEYS, .is_broken = is_low_above_high,
	  .text = "expected imageGCLowThresholdPercent (80 where it is not given) of at most "
	  "imageGCHighThresholdPercent (85)", .until = 29 },
	{ .keys = GC_KEYS, .is_broken = is_low_not_below_high,
	  .text = "expected imageGCLowThresholdPercent (80 where it is not given) below "
	  "imageGCHighThresholdPercent (85)", .since = 30 },
	{ .keys = "evictionSoft", .is_broken = lacks_grace,
	  .text = "expected a period in evictionSoftGracePeriod for each signal", .since = 6 },
	{ .keys = "evictionHard", .is_broken = is_hard_twice, .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "evictionSoft", .is_broken = is_soft_twice, .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "evictionSoftGracePeriod", .is_broken = is_period_twice, .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "evictionMinimumReclaim", .is_broken = is_reclaim_twice, .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "systemCgroups", .is_broken = lacks_root, .text = "expected cgroupRoot with it", .since = 6 },
	{ .keys = "cpuManagerPolicy", .is_broken = lacks_cpus,
	  .text = "expected cpu in kubeReserved or systemReserved with static", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .is_broken = lacks_system_cgroup,
	  .text = "expected systemReservedCgroup with system-reserved", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .is_broken = lacks_kube_cgroup,
	  .text = "expected kubeReservedCgroup with kube-reserved", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .is_broken = is_none_and_more, .text = "expected none to stand alone", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .is_broken = is_both,
	  .text = "expected either all of a reservation or the compressible part", .since = 32 },
	{ .keys = "maxParallelImagePulls", .is_broken = is_serial,
	  .text = "expected 1 as serializeImagePulls is true", .since = 31 },
	{ .keys = "imageMaximumGCAge", .is_broken = is_oldest_too_young,
	  .text = "expected more than imageMinimumGCAge (2m where it is not given)",
	  .since = 31 },
	{ .keys = "imageMaximumGCAge", .is_broken = is_age_closed,
	  .text = "expected the feature gate ImageMaximumGCAge with it", .since = 31 },
	{ .keys = SHUTDOWN_KEYS, .is_broken = is_critical_longer,
	  .text = "expected shutdownGracePeriodCriticalPods of at most shutdownGracePeriod",
	  .since = 31 },
	{ .keys = SHUTDOWN_KEYS, .is_broken = is_shutdown_closed,
	  .text = "expected the feature gate GracefulNodeShutdown with it", .since = 31 },
	{ .keys = "memorySwapBehavior", .is_broken = is_swap_closed,
	  .text = "expected the feature gate NodeSwap with it", .since = 31 },
	{ .keys = "cpuCFSQuotaPeriod", .is_broken = is_cfs_closed,
	  .text = "expected 100ms without the feature gate CustomCPUCFSQuotaPeriod",
	  .since = 31 },
	{ .keys = "crashLoopBackOffMaxContainerRestartPeriod", .is_broken = is_restart_closed,
	  .text = "expected the feature gate KubeletCrashLoopBackOffMax with it", .since = 32 },
};
static const struct field_rule proxy[] = {
	{ .keys = "ipvsSyncPeriod", .is_broken = is_ipvs_period_none, .text = "expected a duration above 0s", .since = 31 },
	{ .keys = "ipvsMinSyncPeriod|ipvsSyncPeriod", .is_broken = is_ipvs_minimum_wrong,
	  .text = "expected ipvsMinSyncPeriod from 0s to ipvsSyncPeriod (30s where it is not given)", .since = 31 },
};
/* clang-format on */

const struct field_rules kubelet_rules = { kubelet, ARRAY_LEN(kubelet) };
const struct field_rules kube_proxy_rules = { proxy, ARRAY_LEN(proxy) };
