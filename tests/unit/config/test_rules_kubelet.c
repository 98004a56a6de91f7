#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/accepts_kubelet.h"

#define LOW_OLD                                                             \
	"imageGCLowThresholdPercent (80 where it is not given) of at most " \
	"imageGCHighThresholdPercent (85)"
#define LOW \
	"imageGCLowThresholdPercent (80 where it is not given) below imageGCHighThresholdPercent (85)"
#define OLDEST "more than imageMinimumGCAge (2m where it is not given)"
#define CRITICAL "shutdownGracePeriodCriticalPods of at most shutdownGracePeriod"
#define IPVS "ipvsMinSyncPeriod from 0s to ipvsSyncPeriod (30s where it is not given)"
#define GATES "featureGates: {"
#define WAITS_FOR_EVER(signal)                                              \
	{                                                                   \
		36, "evictionSoft: '" signal "<1'", "evictionSoft",         \
			"a period of " signal " in evictionSoftGracePeriod" \
	}

/* Of each rule what is just taken, and one beyond. */
static const struct sample {
	int minor;
	const char *text, *key, *expected; /* NULL: no rule is broken */
} samples[] = {
	{ 36, "imageGCLowThresholdPercent: 84", NULL, NULL },
	{ 36, "imageGCLowThresholdPercent: 85", "imageGCLowThresholdPercent", LOW },
	{ 36, "imageGCHighThresholdPercent: 81", NULL, NULL },
	{ 36, "imageGCHighThresholdPercent: 80", "imageGCHighThresholdPercent", LOW },
	{ 36, "imageGCHighThresholdPercent: 80\nimageGCLowThresholdPercent: 90",
	  "imageGCLowThresholdPercent", LOW },
	{ 31, "imageGCHighThresholdPercent: 2\nimageGCLowThresholdPercent: 1", NULL, NULL },
	{ 8, "imageGCLowThresholdPercent: 85", NULL, NULL },
	{ 8, "imageGCLowThresholdPercent: 86", "imageGCLowThresholdPercent", LOW_OLD },
	{ 7, "imageGCLowThresholdPercent: 86", "imageGCLowThresholdPercent", LOW_OLD },
	{ 6, "imageGCLowThresholdPercent: 90", NULL, NULL },
	{ 6, "imageGCHighThresholdPercent: 79", "imageGCHighThresholdPercent", LOW_OLD },
	{ 36, "evictionSoft: 'memory.available<300Mi'", "evictionSoft",
	  "a period of memory.available in evictionSoftGracePeriod" },
	{ 6,
	  "evictionSoft: 'memory.available<300Mi'\nevictionSoftGracePeriod: 'nodefs.available=1m'",
	  "evictionSoft", "a period of memory.available in evictionSoftGracePeriod" },
	{ 36,
	  "evictionSoft: 'memory.available < 300Mi,nodefs.available<1Gi'\n"
	  "evictionSoftGracePeriod: 'nodefs.available=1m, memory.available = 1m,pid.available=1s'",
	  NULL, NULL },
	WAITS_FOR_EVER("allocatableMemory.available"),
	WAITS_FOR_EVER("pid.available"),
	WAITS_FOR_EVER("nodefs.available"),
	WAITS_FOR_EVER("nodefs.inodesFree"),
	WAITS_FOR_EVER("allocatableNodeFs.available"),
	WAITS_FOR_EVER("imagefs.available"),
	WAITS_FOR_EVER("imagefs.inodesFree"),
	WAITS_FOR_EVER("containerfs.available"),
	WAITS_FOR_EVER("containerfs.inodesFree"),
	{ 36, "evictionSoftGracePeriod: 'nodefs.available=1m'", NULL, NULL },
	{ 36, "evictionSoft: ''", NULL, NULL },
	{ 8, "evictionHard: 'memory.available<1Gi,memory.available<2Gi'", "evictionHard",
	  "each signal once" },
	{ 9, "evictionHard: 'memory.available<1Gi,memory.available<2Gi'", NULL, NULL },
	{ 8, "evictionSoftGracePeriod: 'memory.available=1m,memory.available=2m'",
	  "evictionSoftGracePeriod", "each signal once" },
	{ 8, "evictionMinimumReclaim: 'memory.available=1Gi,memory.available=2Gi'",
	  "evictionMinimumReclaim", "each signal once" },
	{ 8, "evictionMinimumReclaim: 'memory.available=1Gi,nodefs.available=2Gi'", NULL, NULL },
	{ 8,
	  "evictionSoft: 'memory.available<1Gi,memory.available<2Gi'\n"
	  "evictionSoftGracePeriod: 'memory.available=1m'",
	  "evictionSoft", "each signal once" },
	{ 36, "systemCgroups: /system", "systemCgroups", "cgroupRoot with it" },
	{ 6, "systemCgroups: /system", "systemCgroups", "cgroupRoot with it" },
	{ 36, "systemCgroups: /system\ncgroupRoot: /", NULL, NULL },
	{ 36, "cpuManagerPolicy: static", "cpuManagerPolicy",
	  "cpu in kubeReserved or systemReserved with static" },
	{ 36,
	  "cpuManagerPolicy: static\nkubeReserved: {cpu: 0, memory: 1Gi}\nsystemReserved: {cpu: 0m}",
	  "cpuManagerPolicy", "cpu in kubeReserved or systemReserved with static" },
	{ 36, "cpuManagerPolicy: static\nkubeReserved: {cpu: 1m}", NULL, NULL },
	{ 36, "cpuManagerPolicy: static\nsystemReserved: {cpu: '0.1'}", NULL, NULL },
	{ 36, "cpuManagerPolicy: none", NULL, NULL },
	{ 36, "enforceNodeAllocatable: 'pods,system-reserved'", "enforceNodeAllocatable",
	  "systemReservedCgroup with system-reserved" },
	{ 36, "enforceNodeAllocatable: 'system-reserved-compressible'", "enforceNodeAllocatable",
	  "systemReservedCgroup with system-reserved" },
	{ 36, "enforceNodeAllocatable: 'pods,system-reserved'\nsystemReservedCgroup: /system.slice",
	  NULL, NULL },
	{ 36, "enforceNodeAllocatable: kube-reserved", "enforceNodeAllocatable",
	  "kubeReservedCgroup with kube-reserved" },
	{ 36, "enforceNodeAllocatable: kube-reserved\nkubeReservedCgroup: /podruntime.slice", NULL,
	  NULL },
	{ 8, "enforceNodeAllocatable: kube-reserved", NULL, NULL },
	{ 36, "enforceNodeAllocatable: none", NULL, NULL },
	{ 36, "enforceNodeAllocatable: 'pods,none'", "enforceNodeAllocatable",
	  "none to stand alone" },
	{ 32,
	  "enforceNodeAllocatable: 'kube-reserved,kube-reserved-compressible'\n"
	  "kubeReservedCgroup: /podruntime.slice",
	  "enforceNodeAllocatable", "either all of a reservation or the compressible part" },
	{ 32,
	  "enforceNodeAllocatable: 'system-reserved,system-reserved-compressible'\n"
	  "systemReservedCgroup: /system.slice",
	  "enforceNodeAllocatable", "either all of a reservation or the compressible part" },
	{ 32,
	  "enforceNodeAllocatable: 'kube-reserved,system-reserved-compressible'\n"
	  "kubeReservedCgroup: /podruntime.slice\nsystemReservedCgroup: /system.slice",
	  NULL, NULL },
	{ 36, "maxParallelImagePulls: 2\nserializeImagePulls: true", "maxParallelImagePulls",
	  "1 as serializeImagePulls is true" },
	{ 36, "maxParallelImagePulls: 2\nserializeImagePulls: false", NULL, NULL },
	{ 36, "maxParallelImagePulls: 2", NULL, NULL },
	{ 36, "maxParallelImagePulls: 1\nserializeImagePulls: true", NULL, NULL },
	{ 36, "imageMaximumGCAge: 2m", "imageMaximumGCAge", OLDEST },
	{ 36, "imageMaximumGCAge: 2m1s", NULL, NULL },
	{ 36, "imageMaximumGCAge: 0s", NULL, NULL },
	{ 36, "imageMaximumGCAge: 1h\nimageMinimumGCAge: 1h", "imageMaximumGCAge", OLDEST },
	{ 36, "imageMaximumGCAge: 61m\nimageMinimumGCAge: 1h", NULL, NULL },
	{ 31, "imageMaximumGCAge: 1h\n" GATES "ImageMaximumGCAge: 'false'}", "imageMaximumGCAge",
	  "the feature gate ImageMaximumGCAge with it" },
	{ 36, "shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 10s", NULL, NULL },
	{ 36, "shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 11s",
	  "shutdownGracePeriodCriticalPods", CRITICAL },
	{ 36, "shutdownGracePeriodCriticalPods: 1s", "shutdownGracePeriodCriticalPods", CRITICAL },
	{ 36, "shutdownGracePeriod: 10s\n" GATES "GracefulNodeShutdown: 'false'}",
	  "shutdownGracePeriod", "the feature gate GracefulNodeShutdown with it" },
	{ 36, "shutdownGracePeriod: 0s\n" GATES "GracefulNodeShutdown: 'false'}", NULL, NULL },
	{ 33, "memorySwapBehavior: LimitedSwap\n" GATES "NodeSwap: 'false'}", "memorySwapBehavior",
	  "the feature gate NodeSwap with it" },
	{ 33, "memorySwapBehavior: LimitedSwap\n" GATES "NodeSwap: 'true'}", NULL, NULL },
	{ 33, "memorySwapBehavior: LimitedSwap", NULL, NULL },
	{ 35, "cpuCFSQuotaPeriod: 100ms", NULL, NULL },
	{ 35, "cpuCFSQuotaPeriod: 99ms", "cpuCFSQuotaPeriod",
	  "100ms without the feature gate CustomCPUCFSQuotaPeriod" },
	{ 35, "cpuCFSQuotaPeriod: 101ms", "cpuCFSQuotaPeriod",
	  "100ms without the feature gate CustomCPUCFSQuotaPeriod" },
	{ 35, "cpuCFSQuotaPeriod: 99ms\n" GATES "CustomCPUCFSQuotaPeriod: t}", NULL, NULL },
	{ 35, "cpuCFSQuotaPeriod: 99ms\n" GATES "AllAlpha: 'true'}", NULL, NULL },
	{ 36, "cpuCFSQuotaPeriod: 99ms", NULL, NULL },
	{ 36, "cpuCFSQuotaPeriod: 99ms\n" GATES "CustomCPUCFSQuotaPeriod: 'false'}",
	  "cpuCFSQuotaPeriod", "100ms without the feature gate CustomCPUCFSQuotaPeriod" },
	{ 36, "cpuCFSQuotaPeriod: 101ms\n" GATES "CustomCPUCFSQuotaPeriod: 'false'}",
	  "cpuCFSQuotaPeriod", "100ms without the feature gate CustomCPUCFSQuotaPeriod" },
	{ 36, "cpuCFSQuotaPeriod: 100ms\n" GATES "CustomCPUCFSQuotaPeriod: 'false'}", NULL, NULL },
	{ 34, "crashLoopBackOffMaxContainerRestartPeriod: 60s",
	  "crashLoopBackOffMaxContainerRestartPeriod",
	  "the feature gate KubeletCrashLoopBackOffMax with it" },
	{ 34,
	  "crashLoopBackOffMaxContainerRestartPeriod: 60s\n" GATES
	  "KubeletCrashLoopBackOffMax: 'true'}",
	  NULL, NULL },
	{ 31, "crashLoopBackOffMaxContainerRestartPeriod: 60s", NULL, NULL },
	{ 35, "crashLoopBackOffMaxContainerRestartPeriod: 60s", NULL, NULL },
	{ 35,
	  "crashLoopBackOffMaxContainerRestartPeriod: 60s\n" GATES
	  "KubeletCrashLoopBackOffMax: 'false'}",
	  "crashLoopBackOffMaxContainerRestartPeriod",
	  "the feature gate KubeletCrashLoopBackOffMax with it" },
	/* kube-proxy's */
	{ 36, "proxyMode: ipvs\nipvsMinSyncPeriod: 30s", NULL, NULL },
	{ 36, "proxyMode: ipvs\nipvsMinSyncPeriod: 31s", "ipvsMinSyncPeriod", IPVS },
	{ 36, "proxyMode: ipvs\nipvsMinSyncPeriod: 0s\nipvsSyncPeriod: 1ns", NULL, NULL },
	{ 36, "proxyMode: ipvs\nipvsMinSyncPeriod: -1s", "ipvsMinSyncPeriod", IPVS },
	{ 36, "proxyMode: ipvs\nipvsMinSyncPeriod: 2s\nipvsSyncPeriod: 1s", "ipvsMinSyncPeriod",
	  IPVS },
	{ 36, "proxyMode: ipvs\nipvsSyncPeriod: 0s", "ipvsSyncPeriod", "a duration above 0s" },
	{ 36, "proxyMode: iptables\nipvsMinSyncPeriod: 31s", NULL, NULL },
};

static const struct field_rules *const tables[] = { &kubelet_rules, &kube_proxy_rules };

/* Append what rules tell of a sample. */
static void find(struct arena *a, const struct field_rules *rules, const struct sample *s,
		 struct accepts_findings *ret)
{
	struct rule_section section = { .path = "K" };
	const struct rule_values v = { &section, 1, s->minor };
	struct tree *doc;
	struct err e;

	if (yaml_parse(a, "f", s->text, strlen(s->text), &doc, &e) < 0)
		fail_msg("%s: %s", s->text, e.msg);
	section.map = doc;
	rules_find(a, rules, &v, ret);
}

static void each_rule_has_its_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct sample *s = &samples[i];
		struct accepts_findings found = { 0 };

		for (size_t t = 0; t < ARRAY_LEN(tables); t++)
			find(a, tables[t], s, &found);
		if (found.n != (s->key ? 1 : 0))
			fail_msg("1.%d '%s': %zu are broken: %s", s->minor, s->text, found.n,
				 found.n ? found.v[0].text : "");
		if (!s->key)
			continue;
		assert_string_equal(found.v[0].key, arena_printf(a, "K.%s", s->key));
		assert_string_equal(strstr(found.v[0].text, "expected ") + strlen("expected "),
				    s->expected);
	}
}

static void each_rule_is_tried(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct field_rule *r = &tables[t]->v[i];
			const struct field_rules one = { r, 1, tables[t]->sections };
			struct accepts_findings found = { 0 };

			for (size_t k = 0; k < ARRAY_LEN(samples) && !found.n; k++)
				find(a, &one, &samples[k], &found);
			if (!found.n)
				fail_msg("%s: %s, %d to %d", r->keys, r->when, r->since, r->until);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_its_ends),
		cmocka_unit_test(each_rule_is_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
