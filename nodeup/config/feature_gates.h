/* feature_gates.h - the feature gates of Kubernetes 1.6 to 1.10
 * A gate that no component knows stops it at once, so nodeup reports a misspelt gate beforehand. A gate of a later
 * version is unknown to all of these, and so is not listed.
 * Each name was compared with pkg/features/kube_features.go of Kubernetes: a state between 1.6 and 1.7, 1.8, 1.9
 * with its later fixes, and a state of 1.10 before its release. Of 1.7 only the table of defaults was available. The
 * gates of apiserver were compared with its own file of 1.7, 1.12 and 1.14. The gates of apiextensions-apiserver are
 * repeated in the files of 1.8 to 1.10.
 * AllAlpha belongs to the parser of the flag, which was read only in later versions.
 * Two names are missing in that state of 1.10. By the file of 1.12, RunAsGroup is of 1.10. VolumeSubpath came with
 * 1.10.0, and with the fixes 1.7.14, 1.8.9 and 1.9.4.
 * Owner: none. Source: Kubernetes, pkg/features and staging/src/k8s.io/apiserver/pkg/features. */
#pragma once

/* clang-format off */
#define FEATURE_GATES \
	"AllAlpha|Accelerators|AdvancedAuditing|AffinityInAnnotations|AllowExtTrafficLocalEndpoints|" \
	"APIListChunking|APIResponseCompression|AppArmor|BlockVolume|CPUManager|" \
	"CRIContainerLogRotation|CSIPersistentVolume|CustomPodDNS|CustomResourceSubresources|" \
	"CustomResourceValidation|DebugContainers|DevicePlugins|DynamicKubeletConfig|" \
	"DynamicVolumeProvisioning|EnableEquivalenceClassCache|ExpandPersistentVolumes|" \
	"ExperimentalCriticalPodAnnotation|ExperimentalHostUserNamespaceDefaulting|" \
	"GCERegionalPersistentDisk|HugePages|HyperVContainer|" \
	"Initializers|KubeletConfigFile|LocalStorageCapacityIsolation|MountContainers|" \
	"MountPropagation|NoDaemonSetScheduler|PersistentLocalVolumes|PodPriority|" \
	"PodShareProcessNamespace|PVCProtection|ReadOnlyAPIDataVolumes|ResourceLimitsPriorityFunction|" \
	"RotateKubeletClientCertificate|RotateKubeletServerCertificate|RunAsGroup|" \
	"ServiceNodeExclusion|ServiceProxyAllowExternalIPs|StorageObjectInUseProtection|" \
	"StreamingProxyRedirects|SupportIPVSProxyMode|" \
	"SupportPodPidsLimit|TaintBasedEvictions|TaintNodesByCondition|TokenRequest|" \
	"VolumeScheduling|VolumeSubpath"
/* clang-format on */
