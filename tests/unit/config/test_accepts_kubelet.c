#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/accepts.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kubeup/kubeup.h"
#include "nodeup/config/kops18/model.h"
#include "tests/unit/lib/ends.h"

enum { TAKEN, REFUSED, WARNED };

#define A49 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct sample {
	const char *key;
	int minor;
	const char *value; /* YAML */
	int result;
};

/* Of each range the smallest and the largest that is taken, and one beyond each. */
static const struct sample kubelet_today[] = {
	{ "authorizationMode", 36, "Webhook", TAKEN },
	{ "authorizationMode", 36, "AlwaysAllow", TAKEN },
	{ "authorizationMode", 36, "RBAC", REFUSED },
	{ "tlsCipherSuites", 36, "[TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_RC4_128_SHA]", TAKEN },
	{ "tlsCipherSuites", 36, "[TLS_AES_128_GCM_SHA512]", WARNED },
	{ "tlsMinVersion", 36, "VersionTLS10", TAKEN },
	{ "tlsMinVersion", 36, "VersionTLS13", TAKEN },
	{ "tlsMinVersion", 36, "VersionTLS14", REFUSED },
	{ "tlsMinVersion", 36, "TLS1.2", REFUSED },
	{ "logFormat", 36, "json", TAKEN },
	{ "logFormat", 36, "text", TAKEN },
	{ "logFormat", 36, "logfmt", REFUSED },
	{ "logLevel", 36, "0", TAKEN },
	{ "logLevel", 36, "2147483647", TAKEN },
	{ "logLevel", 36, "2147483648", REFUSED },
	{ "logLevel", 36, "-1", REFUSED },
	{ "cloudProvider", 33, "external", TAKEN },
	{ "cloudProvider", 33, "aws", REFUSED },
	{ "cloudProvider", 34, "aws", TAKEN },
	{ "readOnlyPort", 36, "0", TAKEN },
	{ "readOnlyPort", 36, "1", TAKEN },
	{ "readOnlyPort", 36, "65535", TAKEN },
	{ "readOnlyPort", 36, "-1", REFUSED },
	{ "readOnlyPort", 36, "65536", REFUSED },
	{ "hairpinMode", 36, "promiscuous-bridge", TAKEN },
	{ "hairpinMode", 36, "hairpin-veth", TAKEN },
	{ "hairpinMode", 36, "none", TAKEN },
	{ "hairpinMode", 36, "veth", REFUSED },
	{ "maxPods", 36, "0", TAKEN },
	{ "maxPods", 36, "2147483647", TAKEN },
	{ "maxPods", 36, "2147483648", REFUSED },
	{ "maxPods", 36, "-1", REFUSED },
	{ "imageMaximumGCAge", 36, "0s", TAKEN },
	{ "imageMaximumGCAge", 36, "8760h", TAKEN },
	{ "imageMaximumGCAge", 36, "-1ns", REFUSED },
	{ "maxParallelImagePulls", 36, "1", TAKEN },
	{ "maxParallelImagePulls", 36, "2147483647", TAKEN },
	{ "maxParallelImagePulls", 36, "2147483648", REFUSED },
	{ "maxParallelImagePulls", 36, "0", REFUSED },
	{ "imageGCHighThresholdPercent", 36, "0", TAKEN },
	{ "imageGCHighThresholdPercent", 36, "100", TAKEN },
	{ "imageGCHighThresholdPercent", 36, "-1", REFUSED },
	{ "imageGCHighThresholdPercent", 36, "101", REFUSED },
	{ "imageGCLowThresholdPercent", 36, "0", TAKEN },
	{ "imageGCLowThresholdPercent", 36, "100", TAKEN },
	{ "imageGCLowThresholdPercent", 36, "-1", REFUSED },
	{ "imageGCLowThresholdPercent", 36, "101", REFUSED },
	{ "evictionHard", 36, "'memory.available<1n,nodefs.inodesFree<0%,pid.available < 100%'",
	  TAKEN },
	{ "evictionHard", 36, "'containerfs.available<1Gi, imagefs.available<0.5%'", TAKEN },
	{ "evictionHard", 36, "'memory.available<0'", REFUSED },
	{ "evictionHard", 36, "'memory.available<1Gi,nodefs.available<0.0Mi'", REFUSED },
	{ "evictionHard", 36, "'memory.avaible<1Gi'", REFUSED },
	{ "evictionHard", 36, "'allocatableNodeFs.available<1Gi'", REFUSED },
	{ "evictionSoft", 36, "'memory.available<1Gi'", TAKEN },
	{ "evictionSoft", 36, "'Memory.available<1Gi'", REFUSED },
	{ "evictionSoftGracePeriod", 36, "'memory.available=0s,nodefs.available = 1m'", TAKEN },
	{ "evictionSoftGracePeriod", 36, "'memory=1m'", REFUSED },
	{ "evictionMinimumReclaim", 36, "'memory.available=0Mi,nodefs.available=0.1%'", TAKEN },
	{ "evictionMinimumReclaim", 36, "'nodefs.available=0%'", REFUSED },
	{ "evictionMinimumReclaim", 36, "'disk=1Gi'", REFUSED },
	{ "featureGates", 31,
	  "{AllAlpha: 'true', AppArmor: 'true', CustomCPUCFSQuotaPeriod: 'true'}", TAKEN },
	{ "featureGates", 32, "{AppArmor: 'true', KubeletCrashLoopBackOffMax: 'true'}", TAKEN },
	{ "featureGates", 31, "{KubeletCrashLoopBackOffMax: 'true'}", WARNED },
	{ "featureGates", 32, "{NoSuchGate: 'true'}", WARNED },
	{ "featureGates", 33, "{AppArmor: 'true'}", WARNED },
	{ "featureGates", 34,
	  "{ContainerRestartRules: 'true', CronJobsScheduledAnnotation: 'true'}", TAKEN },
	{ "featureGates", 34, "{NoSuchGate: 'true'}", WARNED },
	{ "featureGates", 35, "{CronJobsScheduledAnnotation: 'true'}", WARNED },
	{ "featureGates", 35, "{GangScheduling: 'true', MemoryManager: 'true'}", TAKEN },
	{ "featureGates", 36, "{NodeSwap: 'true', PodsAPI: 'true'}", TAKEN },
	{ "featureGates", 36, "{NoSuchGate: 'true'}", WARNED },
	{ "seccompProfileRoot", 31, "null", TAKEN },
	{ "allowPrivileged", 31, "null", TAKEN },
	{ "enableCustomMetrics", 31, "null", TAKEN },
	{ "imageMinimumGCAge", 31, "null", TAKEN },
	{ "experimentalAllowedUnsafeSysctls", 31, "null", TAKEN },
	{ "enableCadvisorJsonEndpoints", 31, "null", TAKEN },
	{ "seccompProfileRoot", 31, "/a", REFUSED },
	{ "allowPrivileged", 31, "false", REFUSED },
	{ "nvidiaGPUs", 31, "0", TAKEN },
	{ "nvidiaGPUs", 31, "1", REFUSED },
	{ "enableCustomMetrics", 31, "true", REFUSED },
	{ "imageMinimumGCAge", 31, "2m", REFUSED },
	{ "experimentalAllowedUnsafeSysctls", 31, "[net.core.somaxconn]", REFUSED },
	{ "enableCadvisorJsonEndpoints", 31, "true", REFUSED },
	{ "featureGates", 33, "{NodeSwap: 'false', MemoryManager: 'true'}", TAKEN },
	{ "featureGates", 33, "{MemoryManager: 'false'}", WARNED },
	{ "featureGates", 34, "{NodeSwap: 'false'}", WARNED },
	{ "featureGates", 36, "{NodeSwap: f}", WARNED },
	{ "featureGates", 31, "{StructuredAuthorizationConfiguration: 'false'}", TAKEN },
	{ "featureGates", 31, "{AppArmor: 'false'}", WARNED },
	{ "featureGates", 32, "{StructuredAuthorizationConfiguration: 'false'}", WARNED },
	{ "featureGates", 34, "{PodObservedGenerationTracking: 'false'}", TAKEN },
	{ "featureGates", 35, "{PodObservedGenerationTracking: 'false', DRAAdminAccess: 'true'}",
	  WARNED },
	{ "featureGates", 35, "{DRAAdminAccess: 'false'}", TAKEN },
	{ "featureGates", 36, "{DRAAdminAccess: 'false'}", WARNED },
	{ "featureGates", 37, "{NodeSwap: 'true', PodsAPI: 'true'}", TAKEN },
	{ "featureGates", 37, "{NoSuchGate: 'true'}", WARNED },
	{ "kubeReserved", 36, "{cpu: 100m, memory: 1Gi, ephemeral-storage: 0, pid: '100'}", TAKEN },
	{ "kubeReserved", 36, "{cpu: -1}", REFUSED },
	{ "kubeReserved", 36, "{cpu: all}", REFUSED },
	{ "kubeReserved", 36, "{storage: 1Gi}", REFUSED },
	{ "systemReserved", 36, "{cpu: 1, memory: 0.5Gi}", TAKEN },
	{ "systemReserved", 36, "{memory: 1GB}", REFUSED },
	{ "systemReserved", 36, "{mem: 1Gi}", REFUSED },
	{ "enforceNodeAllocatable", 31, "pods,system-reserved,kube-reserved", TAKEN },
	{ "enforceNodeAllocatable", 31, "none", TAKEN },
	{ "enforceNodeAllocatable", 31, "system-reserved-compressible", REFUSED },
	{ "enforceNodeAllocatable", 32,
	  "pods,system-reserved-compressible,kube-reserved-compressible", TAKEN },
	{ "enforceNodeAllocatable", 32, "none", TAKEN },
	{ "enforceNodeAllocatable", 36, "pods,nodes", REFUSED },
	{ "enforceNodeAllocatable", 36, "'pods, kube-reserved'", REFUSED },
	{ "allowedUnsafeSysctls", 36,
	  "[net.core.somaxconn, net.*, kernel.shm*, kernel.msgmax, 'net/ipv4/vlan.1/x']", TAKEN },
	{ "allowedUnsafeSysctls", 36,
	  "[kernel.sem, fs.mqueue.msg_max, user.max_ns, net." A50 A50 A50 A50 A49 "]", TAKEN },
	{ "allowedUnsafeSysctls", 36, "[net." A50 A50 A50 A50 A50 "]", REFUSED },
	{ "allowedUnsafeSysctls", 36, "['--net.ipv4.tcp_keepalive_time=\"600\"']", REFUSED },
	{ "allowedUnsafeSysctls", 36, "[net.core.somaxconn=1024]", REFUSED },
	{ "allowedUnsafeSysctls", 36, "[kernel.*]", REFUSED },
	{ "allowedUnsafeSysctls", 36, "['*']", REFUSED },
	{ "allowedUnsafeSysctls", 36, "[net.*.x]", REFUSED },
	{ "allowedUnsafeSysctls", 36, "[vm.swappiness]", REFUSED },
	{ "allowedUnsafeSysctls", 36, "[NET.core.somaxconn]", REFUSED },
	{ "cpuCFSQuotaPeriod", 36, "1ms", TAKEN },
	{ "cpuCFSQuotaPeriod", 36, "1s", TAKEN },
	{ "cpuCFSQuotaPeriod", 36, "999999ns", REFUSED },
	{ "cpuCFSQuotaPeriod", 36, "1000000001ns", REFUSED },
	{ "cpuManagerPolicy", 36, "none", TAKEN },
	{ "cpuManagerPolicy", 36, "static", TAKEN },
	{ "cpuManagerPolicy", 36, "statc", REFUSED },
	{ "registryPullQPS", 36, "0", TAKEN },
	{ "registryPullQPS", 36, "2147483647", TAKEN },
	{ "registryPullQPS", 36, "2147483648", REFUSED },
	{ "registryPullQPS", 36, "-1", REFUSED },
	{ "registryBurst", 36, "0", TAKEN },
	{ "registryBurst", 36, "2147483647", TAKEN },
	{ "registryBurst", 36, "2147483648", REFUSED },
	{ "registryBurst", 36, "-1", REFUSED },
	{ "topologyManagerPolicy", 36, "none", TAKEN },
	{ "topologyManagerPolicy", 36, "best-effort", TAKEN },
	{ "topologyManagerPolicy", 36, "restricted", TAKEN },
	{ "topologyManagerPolicy", 36, "single-numa-node", TAKEN },
	{ "topologyManagerPolicy", 36, "single-numa", REFUSED },
	{ "eventQPS", 36, "0", TAKEN },
	{ "eventQPS", 36, "2147483647", TAKEN },
	{ "eventQPS", 36, "2147483648", REFUSED },
	{ "eventQPS", 36, "-1", REFUSED },
	{ "eventBurst", 36, "0", TAKEN },
	{ "eventBurst", 36, "2147483647", TAKEN },
	{ "eventBurst", 36, "2147483648", REFUSED },
	{ "eventBurst", 36, "-1", REFUSED },
	{ "eventRecordQPS", 36, "0", TAKEN },
	{ "eventRecordQPS", 36, "2147483647", TAKEN },
	{ "eventRecordQPS", 36, "2147483648", REFUSED },
	{ "eventRecordQPS", 36, "-1", REFUSED },
	{ "containerLogMaxSize", 36, "10Mi", TAKEN },
	{ "containerLogMaxSize", 36, "'0'", TAKEN },
	{ "containerLogMaxSize", 36, "'-1'", TAKEN },
	{ "containerLogMaxSize", 36, "10MB", REFUSED },
	{ "containerLogMaxSize", 36, "10 Mi", REFUSED },
	{ "containerLogMaxFiles", 36, "2", TAKEN },
	{ "containerLogMaxFiles", 36, "2147483647", TAKEN },
	{ "containerLogMaxFiles", 36, "2147483648", REFUSED },
	{ "containerLogMaxFiles", 36, "1", REFUSED },
	{ "containerLogMaxFiles", 36, "0", REFUSED },
	{ "shutdownGracePeriod", 36, "0s", TAKEN },
	{ "shutdownGracePeriod", 36, "1s", TAKEN },
	{ "shutdownGracePeriod", 36, "999999999ns", REFUSED },
	{ "shutdownGracePeriod", 36, "-1s", REFUSED },
	{ "shutdownGracePeriodCriticalPods", 36, "0s", TAKEN },
	{ "shutdownGracePeriodCriticalPods", 36, "1s", TAKEN },
	{ "shutdownGracePeriodCriticalPods", 36, "999999999ns", REFUSED },
	{ "shutdownGracePeriodCriticalPods", 36, "-1s", REFUSED },
	{ "memorySwapBehavior", 36, "LimitedSwap", TAKEN },
	{ "memorySwapBehavior", 36, "NoSwap", TAKEN },
	{ "memorySwapBehavior", 36, "''", TAKEN },
	{ "memorySwapBehavior", 36, "UnlimitedSwap", REFUSED },
	{ "memorySwapBehavior", 30, "UnlimitedSwap", REFUSED },
	{ "memorySwapBehavior", 29, "UnlimitedSwap", TAKEN },
	{ "cloudProvider", 26, "aws", TAKEN },
	{ "cloudProvider", 27, "aws", REFUSED },
	{ "cloudProvider", 27, "external", TAKEN },
	{ "cloudProvider", 30, "vsphere", TAKEN },
	{ "cpuCFSQuotaPeriod", 30, "500us", TAKEN },
	{ "shutdownGracePeriod", 30, "1ms", TAKEN },
	{ "imageMaximumGCAge", 30, "-1s", TAKEN },
	{ "allowedUnsafeSysctls", 30, "[debug.exception-trace]", TAKEN },
	{ "allowedUnsafeSysctls", 31, "[debug.exception-trace]", REFUSED },
	{ "crashLoopBackOffMaxContainerRestartPeriod", 36, "1s", TAKEN },
	{ "crashLoopBackOffMaxContainerRestartPeriod", 36, "300s", TAKEN },
	{ "crashLoopBackOffMaxContainerRestartPeriod", 36, "999999999ns", REFUSED },
	{ "crashLoopBackOffMaxContainerRestartPeriod", 36, "300000000001ns", REFUSED },
	{ "crashLoopBackOffMaxContainerRestartPeriod", 31, "301s", TAKEN },
	{ "kubeAPIQPS", 36, "0", TAKEN },
	{ "kubeAPIQPS", 36, "2147483647", TAKEN },
	{ "kubeAPIQPS", 36, "2147483648", REFUSED },
	{ "kubeAPIQPS", 36, "-1", REFUSED },
	{ "nodeLeaseDurationSeconds", 36, "0", TAKEN },
	{ "nodeLeaseDurationSeconds", 36, "1", TAKEN },
	{ "nodeLeaseDurationSeconds", 36, "2147483647", TAKEN },
	{ "nodeLeaseDurationSeconds", 36, "2147483648", REFUSED },
	{ "nodeLeaseDurationSeconds", 36, "-1", REFUSED },
};

static const struct sample proxy_today[] = {
	{ "logLevel", 36, "0", TAKEN },
	{ "logLevel", 36, "2147483647", TAKEN },
	{ "logLevel", 36, "2147483648", REFUSED },
	{ "logLevel", 36, "-1", REFUSED },
	{ "clusterCIDR", 36, "100.96.0.0/11", TAKEN },
	{ "clusterCIDR", 36, "'100.96.0.0/11,fd00::/64'", TAKEN },
	{ "clusterCIDR", 36, "'fd00::/64,100.96.0.0/11'", TAKEN },
	{ "clusterCIDR", 36, "'100.96.0.0/11,10.0.0.0/8'", REFUSED },
	{ "clusterCIDR", 36, "'fd00::/64,100.96.0.0/11,10.0.0.0/8'", REFUSED },
	{ "bindAddress", 36, "0.0.0.0", TAKEN },
	{ "bindAddress", 36, "'::'", TAKEN },
	{ "bindAddress", 36, "010.000.0.1", TAKEN },
	{ "bindAddress", 36, "'@aws'", TAKEN },
	{ "bindAddress", 36, "eth0", REFUSED },
	{ "bindAddress", 36, "0.0.0.0:1", REFUSED },
	{ "bindAddress", 36, "1.2.3.256", REFUSED },
	{ "metricsBindAddress", 36, "0.0.0.0", TAKEN },
	{ "metricsBindAddress", 36, "0.0.0.0:10249", TAKEN },
	{ "metricsBindAddress", 36, "1.2.3.4:65535", TAKEN },
	{ "metricsBindAddress", 36, "'[::1]:10249'", TAKEN },
	{ "metricsBindAddress", 36, "'::'", TAKEN },
	{ "metricsBindAddress", 36, "0.0.0.0:65536", REFUSED },
	{ "metricsBindAddress", 36, "0.0.0.0:http", REFUSED },
	{ "metricsBindAddress", 36, "'0.0.0.0:'", REFUSED },
	{ "metricsBindAddress", 36, "localhost:10249", REFUSED },
	{ "metricsBindAddress", 36, "'[]:1'", REFUSED },
	{ "proxyMode", 36, "iptables", TAKEN },
	{ "proxyMode", 36, "ipvs", TAKEN },
	{ "proxyMode", 31, "nftables", TAKEN },
	{ "proxyMode", 36, "userspace", REFUSED },
	{ "proxyMode", 26, "userspace", REFUSED },
	{ "proxyMode", 25, "userspace", TAKEN },
	{ "clusterCIDR", 30, "'100.96.0.0/11,10.0.0.0/8'", TAKEN },
	{ "metricsBindAddress", 30, "localhost:10249", TAKEN },
	{ "featureGates", 36, "{NFTablesProxyMode: 'true'}", TAKEN },
	{ "featureGates", 36, "{NoSuchGate: 'true'}", WARNED },
	{ "conntrackMaxPerCore", 36, "0", TAKEN },
	{ "conntrackMaxPerCore", 36, "2147483647", TAKEN },
	{ "conntrackMaxPerCore", 36, "2147483648", REFUSED },
	{ "conntrackMaxPerCore", 36, "-1", REFUSED },
	{ "conntrackMin", 36, "0", TAKEN },
	{ "conntrackMin", 36, "2147483647", TAKEN },
	{ "conntrackMin", 36, "2147483648", REFUSED },
	{ "conntrackMin", 36, "-1", REFUSED },
};

static const struct sample kubelet_old[] = {
	{ "readOnlyPort", 8, "0", TAKEN },
	{ "readOnlyPort", 8, "65535", TAKEN },
	{ "readOnlyPort", 8, "-1", REFUSED },
	{ "readOnlyPort", 8, "65536", REFUSED },
	{ "hairpinMode", 8, "promiscuous-bridge", TAKEN },
	{ "hairpinMode", 8, "hairpin-veth", TAKEN },
	{ "hairpinMode", 8, "none", TAKEN },
	{ "hairpinMode", 8, "''", TAKEN },
	{ "hairpinMode", 8, "veth", REFUSED },
	{ "maxPods", 8, "0", TAKEN },
	{ "maxPods", 8, "2147483647", TAKEN },
	{ "maxPods", 8, "2147483648", REFUSED },
	{ "maxPods", 8, "-1", REFUSED },
	{ "nvidiaGPUs", 5, "0", TAKEN },
	{ "nvidiaGPUs", 5, "2147483647", TAKEN },
	{ "nvidiaGPUs", 5, "-1", REFUSED },
	{ "nvidiaGPUs", 5, "2147483648", REFUSED },
	{ "networkPluginMTU", 8, "0", TAKEN },
	{ "networkPluginMTU", 8, "65535", TAKEN },
	{ "networkPluginMTU", 8, "-1", REFUSED },
	{ "networkPluginMTU", 8, "65536", REFUSED },
	{ "imageGCHighThresholdPercent", 8, "0", TAKEN },
	{ "imageGCHighThresholdPercent", 8, "100", TAKEN },
	{ "imageGCHighThresholdPercent", 8, "-1", REFUSED },
	{ "imageGCHighThresholdPercent", 8, "101", REFUSED },
	{ "imageGCLowThresholdPercent", 8, "0", TAKEN },
	{ "imageGCLowThresholdPercent", 8, "100", TAKEN },
	{ "imageGCLowThresholdPercent", 8, "-1", REFUSED },
	{ "imageGCLowThresholdPercent", 8, "101", REFUSED },
	{ "cloudProvider", 8, "aws", TAKEN },
	{ "cloudProvider", 8, "vsphere", TAKEN },
	{ "cloudProvider", 8, "amazon", REFUSED },
	{ "cloudProvider", 11, "amazon", TAKEN },
	{ "networkPluginName", 8, "kubenet", TAKEN },
	{ "networkPluginName", 8, "cni", TAKEN },
	{ "networkPluginName", 8, "kubnet", WARNED },
	{ "evictionHard", 8, "'memory.available<1n,nodefs.inodesFree<100%'", TAKEN },
	{ "evictionHard", 7, "'allocatableNodeFs.available<1Gi'", TAKEN },
	{ "evictionHard", 8, "'memory.available<0'", REFUSED },
	{ "evictionHard", 8, "'memory.available<0%'", REFUSED },
	{ "evictionHard", 9, "'memory.available<0%'", TAKEN },
	{ "evictionHard", 8, "'memory<1Gi'", REFUSED },
	{ "evictionSoft", 8, "'memory.available<1Gi'", TAKEN },
	{ "evictionSoft", 8, "'memory<1Gi'", REFUSED },
	{ "evictionSoftGracePeriod", 8, "'memory.available=0s'", TAKEN },
	{ "evictionSoftGracePeriod", 8, "'memory=1m'", REFUSED },
	{ "evictionMinimumReclaim", 8, "'memory.available=0Mi,nodefs.available=0.1%'", TAKEN },
	{ "evictionMinimumReclaim", 8, "'nodefs.available=0%'", REFUSED },
	{ "kubeReserved", 6, "{cpu: 1, memory: 1Gi}", TAKEN },
	{ "kubeReserved", 6, "{storage: 1Gi}", REFUSED },
	{ "kubeReserved", 7, "{cpu: 1, memory: 1Gi, storage: 1Gi}", TAKEN },
	{ "kubeReserved", 7, "{ephemeral-storage: 1Gi}", REFUSED },
	{ "kubeReserved", 8, "{cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}", TAKEN },
	{ "kubeReserved", 8, "{storage: 1Gi}", REFUSED },
	{ "kubeReserved", 9, "{disk: 1Gi}", REFUSED },
	{ "systemReserved", 6, "{cpu: 1, memory: 1Gi}", TAKEN },
	{ "systemReserved", 6, "{storage: 1Gi}", REFUSED },
	{ "systemReserved", 7, "{storage: 1Gi}", TAKEN },
	{ "systemReserved", 7, "{ephemeral-storage: 1Gi}", REFUSED },
	{ "systemReserved", 8, "{ephemeral-storage: 1Gi}", TAKEN },
	{ "systemReserved", 8, "{storage: 1Gi}", REFUSED },
	{ "systemReserved", 9, "{cpu: 1, storage: 1Gi, ephemeral-storage: 1Gi, pid: 1}", TAKEN },
	{ "systemReserved", 10, "{disk: 1Gi}", REFUSED },
	{ "enforceNodeAllocatable", 6, "pods,system-reserved,kube-reserved", TAKEN },
	{ "enforceNodeAllocatable", 10, "none", REFUSED },
	{ "enforceNodeAllocatable", 5, "none", TAKEN },
};

static const struct sample kubeup[] = {
	{ "FEATURE_GATES", 4, "'AllAlpha=true, AppArmor = f,'", TAKEN },
	{ "FEATURE_GATES", 4, "AllAlpha", REFUSED },
	{ "FEATURE_GATES", 4, "AllAlpha=on", REFUSED },
	{ "FEATURE_GATES", 4, "AlAlpha=true", WARNED },
	{ "EVICTION_HARD", 4, "'memory.available<1n,nodefs.available<10%'", TAKEN },
	{ "EVICTION_HARD", 4, "'memory.available<0'", REFUSED },
	{ "EVICTION_HARD", 4, "'memory<100Mi'", REFUSED },
	{ "KUBELET_PORT", 4, "'0'", TAKEN },
	{ "KUBELET_PORT", 4, "'65535'", TAKEN },
	{ "KUBELET_PORT", 4, "'65536'", REFUSED },
	{ "KUBELET_PORT", 4, "'-1'", REFUSED },
};

static const struct table {
	const struct schema *schema;
	const struct sample *samples;
	size_t n;
	bool whole; /* each row with a demand has samples here */
} tables[] = {
	{ &kops_kubelet_schema, kubelet_today, ARRAY_LEN(kubelet_today), true },
	{ &kops_kube_proxy_schema, proxy_today, ARRAY_LEN(proxy_today), true },
	{ &kubelet_schema, kubelet_old, ARRAY_LEN(kubelet_old), true },
	{ &kubeup_env_schema, kubeup, ARRAY_LEN(kubeup), false },
};

/* Those whose demands other tests look at. */
static const char *const elsewhere[] = { "taints", "nodeLabels", NULL };

/* What the programs refuse of a value; ret_refused: the reader refuses it. */
static struct accepts_findings check(struct arena *a, const struct schema *s,
				     const struct sample *v, bool *ret_refused)
{
	const char *text = arena_printf(a, "%s: %s\n", v->key, v->value);
	const struct accepts_opts o = { .minor = v->minor };
	struct accepts_findings found = { 0 };
	struct tree *doc;
	struct err e;

	if (yaml_parse(a, "f", text, strlen(text), &doc, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	accepts_check(a, s, doc, &o, &found);
	*ret_refused = doc->items[0].value->is_wrong;
	return found;
}

static void each_value_is_taken_or_refused(void **state)
{
	static const char *const words[] = { "taken", "refused", "warned about" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct sample *v = &tables[t].samples[i];
			bool refused;
			const struct accepts_findings found =
				check(a, tables[t].schema, v, &refused);
			const int got = refused            ? REFUSED
					: !found.n         ? TAKEN
					: found.v[0].names ? WARNED
							   : REFUSED;

			if (got != v->result)
				fail_msg("1.%d %s: %s is %s, not %s", v->minor, v->key, v->value,
					 words[got], words[v->result]);
		}
}

static void what_is_taken_can_be_read(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t].n; i++) {
			const struct sample *v = &tables[t].samples[i];
			const char *text = arena_printf(a, "%s: %s\n", v->key, v->value);
			void *obj = arena_alloc(a, tables[t].schema->size);
			const struct field_opts o = { .path = "", .errors = NULL };
			struct tree *doc;
			struct err e;

			if (v->result == REFUSED || !tables[t].whole)
				continue;
			if (yaml_parse(a, "f", text, strlen(text), &doc, &e) < 0 ||
			    field_parse(a, tables[t].schema, doc, obj, &o, &e) < 0)
				fail_msg("%s", e.msg);
		}
}

static bool has(const struct table *t, const char *key, bool taken)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->samples[i].key, key) && (t->samples[i].result == TAKEN) == taken)
			return true;
	return false;
}

static void each_row_with_a_demand_is_tried(void **state)
{
	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; tables[t].whole && i < tables[t].schema->n; i++) {
			const struct field *f = &tables[t].schema->fields[i];

			if (f->accepts && !str_is_one_of(f->key, elsewhere) &&
			    (!has(&tables[t], f->key, true) || !has(&tables[t], f->key, false)))
				fail_msg("%s: %s", tables[t].schema->name, f->key);
		}
}

static void each_range_has_its_ends_tried(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		const struct table *table = &tables[t];
		struct ends_sample *all = arena_alloc(a, table->n * sizeof(*all));

		for (size_t i = 0; i < table->n; i++) {
			const struct sample *v = &table->samples[i];

			all[i] = (struct ends_sample){ v->key, v->value, v->minor,
						       v->result == TAKEN };
		}
		ends_are_tried(table->schema, all, table->n, elsewhere);
	}
}

static void what_was_meant_is_told(void **state)
{
	static const struct {
		const struct schema *schema;
		struct sample slip;
		const char *nearest;
	} rows[] = {
		{ &kops_kubelet_schema,
		  { "featureGates", 36, "{NodeSwop: 'true'}", WARNED },
		  "NodeSwap" },
		{ &kops_kubelet_schema,
		  { "evictionHard", 36, "' Memory.avaible <1Gi'", REFUSED },
		  "memory.available" },
		{ &kops_kubelet_schema,
		  { "evictionSoftGracePeriod", 36, "'nodefs.availabel=1m'", REFUSED },
		  "nodefs.available" },
		{ &kops_kubelet_schema,
		  { "evictionMinimumReclaim", 36, "'contanerfs.inodesFree=1'", REFUSED },
		  "containerfs.inodesFree" },
		{ &kubelet_schema,
		  { "evictionSoft", 9, "'imagefs.inodefree<1%'", REFUSED },
		  "imagefs.inodesFree" },
		{ &kubeup_env_schema, { "FEATURE_GATES", 5, "AlAlpha=true", WARNED }, "AllAlpha" },
		{ &kops_kcm_schema, { "controllers", 36, "['*', -nodeipm]", WARNED }, "nodeipam" },
		{ &kops_containerd_schema, { "logLevel", 36, "inf", REFUSED }, "info" },
		{ &docker_schema, { "defaultUlimit", 8, "['nofil=1024']", REFUSED }, "nofile" },
		{ &kops_kubelet_schema, { "maxPods", 36, "-1", REFUSED }, NULL },
		{ &kops_kubelet_schema,
		  { "evictionHard", 36, "'memory.available<0'", REFUSED },
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		bool refused;
		const struct accepts_findings found =
			check(a, rows[i].schema, &rows[i].slip, &refused);

		assert_int_equal(found.n, 1);
		if (!str_eq(found.v[0].nearest, rows[i].nearest))
			fail_msg("%s: %s", found.v[0].text,
				 found.v[0].nearest ? found.v[0].nearest : "");
	}
}

static void the_gates_of_a_version_are_told(void **state)
{
	static const struct sample slip = { "featureGates", 36, "{NodeSwop: 'true'}", WARNED };
	autoarena struct arena *a = arena_new_empty();
	bool refused;
	const struct accepts_findings found = check(a, &kops_kubelet_schema, &slip, &refused);

	(void)state;
	assert_string_equal(found.v[0].text,
			    "f:1:16: featureGates.NodeSwop: expected a feature gate of Kubernetes "
			    "1.36, found 'NodeSwop'");
}

/* What one takes at its check is a part of the peak of each run. */
static void no_expression_takes_much_memory(void **state)
{
	enum { MOST = 512 * 1024 };

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t].schema->n; i++) {
			const struct field *f = &tables[t].schema->fields[i];

			for (const struct field_accepts *d = f->accepts; d; d = d->next) {
				const size_t before = mallinfo2().uordblks;
				regex_t re;

				if (!d->pattern)
					continue;
				assert_int_equal(regcomp(&re, d->pattern, REG_EXTENDED | REG_NOSUB),
						 0);
				if (mallinfo2().uordblks - before > MOST)
					fail_msg("%s: %s", f->key, d->pattern);
				regfree(&re);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_is_taken_or_refused),
		cmocka_unit_test(what_is_taken_can_be_read),
		cmocka_unit_test(each_row_with_a_demand_is_tried),
		cmocka_unit_test(each_range_has_its_ends_tried),
		cmocka_unit_test(what_was_meant_is_told),
		cmocka_unit_test(the_gates_of_a_version_are_told),
		cmocka_unit_test(no_expression_takes_much_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
