#include "nodeup/config/accepts_kubelet.h"

/* clang-format off */
#define GC_KEYS "imageGCLowThresholdPercent|imageGCHighThresholdPercent"
#define SHUTDOWN_KEYS "shutdownGracePeriodCriticalPods|shutdownGracePeriod"
#define ONCE "expected each signal once"

/* A soft threshold needs a grace period of the same signal. */
#define SOFT(signal) \
	{ .keys = "evictionSoft", .text = "expected a period of " signal " in evictionSoftGracePeriod", .since = 6, \
	  .when = "evictionSoft= *" signal " *<[^,]*&!evictionSoftGracePeriod= *" signal " *=[^,]*" }

#define HIGH "imageGCHighThresholdPercent"
#define LOW "imageGCLowThresholdPercent"
#define MOST "expected " LOW " (80 where it is not given) of at most " HIGH " (85)"
#define LEVEL "enforceNodeAllocatable="
#define EITHER "expected either all of a reservation or the compressible part"
#define RESTART "crashLoopBackOffMaxContainerRestartPeriod"
#define RESTART_GATE "expected the feature gate KubeletCrashLoopBackOffMax with it"
#define CFS "expected 100ms without the feature gate CustomCPUCFSQuotaPeriod"
#define CFS_PERIOD(gate, ...) \
	{ .keys = "cpuCFSQuotaPeriod", .when = "cpuCFSQuotaPeriod<~100ms&" gate, .text = CFS, __VA_ARGS__ }, \
	{ .keys = "cpuCFSQuotaPeriod", .when = "100ms<~cpuCFSQuotaPeriod&" gate, .text = CFS, __VA_ARGS__ }
#define IPVS "ipvsMinSyncPeriod|ipvsSyncPeriod"
#define IPVS_PERIODS "expected ipvsMinSyncPeriod from 0s to ipvsSyncPeriod (30s where it is not given)"
/* Gates that are open, or closed, by default; AllAlpha and AllBeta change others. */
#define CLOSED(gate) "featureGates." gate "=false|False|FALSE|f|F|0"
#define NOT_OPEN(gate) \
	"!featureGates." gate "=true|True|TRUE|t|T|1&!featureGates.AllAlpha&!featureGates.AllBeta"

static const struct field_rule kubelet[] = {
	/* versions after 1.8 refuse equal values too */
	{ .keys = GC_KEYS, .when = HIGH ":90<" LOW ":80", .text = MOST, .until = 6 },
	{ .keys = GC_KEYS, .when = HIGH ":85<" LOW ":80", .text = MOST, .since = 7, .until = 29 },
	{ .keys = GC_KEYS, .when = HIGH ":85<=" LOW ":80",
	  .text = "expected imageGCLowThresholdPercent (80 where it is not given) below "
	  "imageGCHighThresholdPercent (85)", .since = 30 },
	SOFT("memory.available"), SOFT("allocatableMemory.available"), SOFT("pid.available"),
	SOFT("nodefs.available"), SOFT("nodefs.inodesFree"), SOFT("allocatableNodeFs.available"),
	SOFT("imagefs.available"), SOFT("imagefs.inodesFree"),
	SOFT("containerfs.available"), SOFT("containerfs.inodesFree"),
	{ .keys = "evictionHard", .when = "evictionHard#", .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "evictionSoft", .when = "evictionSoft#", .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "evictionSoftGracePeriod", .when = "evictionSoftGracePeriod#", .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "evictionMinimumReclaim", .when = "evictionMinimumReclaim#", .text = ONCE, .since = 6, .until = 8 },
	{ .keys = "systemCgroups", .when = "!cgroupRoot", .text = "expected cgroupRoot with it", .since = 6 },
	{ .keys = "cpuManagerPolicy", .when = "cpuManagerPolicy=static&kubeReserved.cpu:0<=0&systemReserved.cpu:0<=0",
	  .text = "expected cpu in kubeReserved or systemReserved with static", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .when = "!systemReservedCgroup&" LEVEL "system-reserved|system-reserved-compressible",
	  .text = "expected systemReservedCgroup with system-reserved", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .when = "!kubeReservedCgroup&" LEVEL "kube-reserved|kube-reserved-compressible",
	  .text = "expected kubeReservedCgroup with kube-reserved", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .when = LEVEL "none&enforceNodeAllocatable~,", .text = "expected none to stand alone", .since = 31 },
	{ .keys = "enforceNodeAllocatable", .when = LEVEL "system-reserved&" LEVEL "system-reserved-compressible", .text = EITHER, .since = 32 },
	{ .keys = "enforceNodeAllocatable", .when = LEVEL "kube-reserved&" LEVEL "kube-reserved-compressible", .text = EITHER, .since = 32 },
	{ .keys = "maxParallelImagePulls", .when = "1<maxParallelImagePulls&serializeImagePulls=true",
	  .text = "expected 1 as serializeImagePulls is true", .since = 31 },
	{ .keys = "imageMaximumGCAge", .when = "0<~imageMaximumGCAge&imageMaximumGCAge<=~imageMinimumGCAge:2m",
	  .text = "expected more than imageMinimumGCAge (2m where it is not given)",
	  .since = 31 },
	{ .keys = "imageMaximumGCAge", .when = "0<~imageMaximumGCAge&" CLOSED("ImageMaximumGCAge"),
	  .text = "expected the feature gate ImageMaximumGCAge with it", .since = 31 },
	{ .keys = SHUTDOWN_KEYS, .when = "shutdownGracePeriod:0s<~shutdownGracePeriodCriticalPods",
	  .text = "expected shutdownGracePeriodCriticalPods of at most shutdownGracePeriod",
	  .since = 31 },
	{ .keys = "shutdownGracePeriod", .when = "0<~shutdownGracePeriod&" CLOSED("GracefulNodeShutdown"),
	  .text = "expected the feature gate GracefulNodeShutdown with it", .since = 31 },
	{ .keys = "memorySwapBehavior", .when = CLOSED("NodeSwap"),
	  .text = "expected the feature gate NodeSwap with it", .since = 31 },
	CFS_PERIOD(NOT_OPEN("CustomCPUCFSQuotaPeriod"), .since = 31, .until = 35),
	CFS_PERIOD(CLOSED("CustomCPUCFSQuotaPeriod"), .since = 36),
	{ .keys = RESTART, .when = NOT_OPEN("KubeletCrashLoopBackOffMax"), .text = RESTART_GATE, .since = 32, .until = 34 },
	{ .keys = RESTART, .when = CLOSED("KubeletCrashLoopBackOffMax"), .text = RESTART_GATE, .since = 35 },
};
static const struct field_rule proxy[] = {
	{ .keys = "ipvsSyncPeriod", .when = "proxyMode=ipvs&ipvsSyncPeriod<=~0", .text = "expected a duration above 0s", .since = 31 },
	{ .keys = IPVS, .when = "proxyMode=ipvs&ipvsMinSyncPeriod<~0", .text = IPVS_PERIODS, .since = 31 },
	{ .keys = IPVS, .when = "proxyMode=ipvs&0<=~ipvsMinSyncPeriod&ipvsSyncPeriod:30s<~ipvsMinSyncPeriod", .text = IPVS_PERIODS, .since = 31 },
};
/* clang-format on */

const struct field_rules kubelet_rules = { kubelet, ARRAY_LEN(kubelet), KUBELET_SECTIONS };
const struct field_rules kube_proxy_rules = { proxy, ARRAY_LEN(proxy), "KubeProxy" };
