/* feature_gates.h - the feature gates of Kubernetes 1.6 to 1.10
 * A gate that no component knows stops it at once, so a misspelt one is told beforehand.
 * Owner: none. Source: Kubernetes 1.6 to 1.10, pkg/features and staging/src/k8s.io/{apiserver,
 * apiextensions-apiserver}/pkg/features. */
#pragma once

/* clang-format off */
#define FEATURE_GATES \
	"AllAlpha|Accelerators|AdvancedAuditing|AffinityInAnnotations|AllowExtTrafficLocalEndpoints|" \
	"APIListChunking|APIResponseCompression|AppArmor|BlockVolume|CPUManager|" \
	"CRIContainerLogRotation|CSIPersistentVolume|CustomPodDNS|CustomResourceSubresources|" \
	"CustomResourceValidation|DebugContainers|DevicePlugins|DynamicKubeletConfig|" \
	"DynamicVolumeProvisioning|EnableAggregatedDiscoveryTimeout|EnableEquivalenceClassCache|" \
	"ExpandPersistentVolumes|ExperimentalCriticalPodAnnotation|" \
	"ExperimentalHostUserNamespaceDefaulting|GCERegionalPersistentDisk|HugePages|HyperVContainer|" \
	"Initializers|KubeletConfigFile|LocalStorageCapacityIsolation|MountContainers|" \
	"MountPropagation|NoDaemonSetScheduler|PersistentLocalVolumes|PodPriority|" \
	"PodShareProcessNamespace|PVCProtection|ReadOnlyAPIDataVolumes|ResourceLimitsPriorityFunction|" \
	"RotateKubeletClientCertificate|RotateKubeletServerCertificate|RunAsGroup|" \
	"ScheduleDaemonSetPods|ServiceNodeExclusion|ServiceProxyAllowExternalIPs|" \
	"StorageObjectInUseProtection|StreamingProxyRedirects|SupportIPVSProxyMode|" \
	"SupportPodPidsLimit|TaintBasedEvictions|TaintNodesByCondition|TokenRequest|" \
	"ValidateProxyRedirects|VolumeScheduling|VolumeSubpath"
/* clang-format on */
