/* feature_gates_locked.h - the feature gates that Kubernetes 1.31 to 1.36 lock as open
 * A program stops if a document closes such a gate. LOCKED_ON_33 lists the gates that 1.33 was the first to lock;
 * they stay locked. The gates of 1.32 were read in part. Gates locked as closed are not listed.
 * Owner: none. Source: as feature_gates_today.h; LockToDefault at each version, of openshift/microshift release-4.18
 * to 4.23. */
#pragma once

/* clang-format off */
#define LOCKED_ON_31 \
	"APIListChunking|AdmissionWebhookMatchConditions|AggregatedDiscoveryEndpoint|" \
	"AppArmor|AppArmorFields|CPUManager|CloudDualStackNodeIPs|DevicePluginCDIDevices|" \
	"DisableCloudProviders|DisableKubeletCloudCredentialProviders|" \
	"EfficientWatchResumption|ElasticIndexedJob|HPAContainerMetrics|JobPodFailurePolicy|" \
	"KMSv2|KMSv2KDF|KubeProxyDrainingTerminatingNodes|LegacyServiceAccountTokenCleanUp|" \
	"LogarithmicScaleDown|MinDomainsInPodTopologySpread|NewVolumeManagerReconstruction|" \
	"NodeOutOfServiceVolumeDetach|PDBUnhealthyPodEvictionPolicy|" \
	"PersistentVolumeLastPhaseTransitionTime|PodDisruptionConditions|PodHostIPs|" \
	"PodSchedulingReadiness|RemainingItemCount|ServerSideApply|" \
	"ServerSideFieldValidation|StableLoadBalancerNodeSet|StatefulSetStartOrdinal|" \
	"ValidatingAdmissionPolicy|WatchBookmark|ZeroLimitedNominalConcurrencyShares"
#define LOCKED_ON_32 \
	"CustomResourceFieldSelectors|RetryGenerateName|StrictCostEnforcementForVAP|" \
	"StrictCostEnforcementForWebhooks|StructuredAuthorizationConfiguration"
#define LOCKED_ON_33 \
	"AnyVolumeDataSource|BtreeWatchCache|CPUManagerPolicyOptions|" \
	"CRDValidationRatcheting|CSIMigrationPortworx|CronJobsScheduledAnnotation|" \
	"HonorPVReclaimPolicy|JobBackoffLimitPerIndex|JobSuccessPolicy|LoadBalancerIPMode|" \
	"MatchLabelKeysInPodAffinity|MemoryManager|NFTablesProxyMode|" \
	"NodeInclusionPolicyInPodTopologySpread|PodIndexLabel|RecursiveReadOnlyMounts|" \
	"ServiceAccountTokenJTI|ServiceAccountTokenNodeBinding|" \
	"ServiceAccountTokenNodeBindingValidation|ServiceAccountTokenPodNodeInfo|" \
	"ServiceTrafficDistribution|SidecarContainers|SizeMemoryBackedVolumes|" \
	"StatefulSetAutoDeletePVC|TopologyAwareHints"
#define LOCKED_ON_34 \
	"APIServerTracing|AnonymousAuthConfigurableEndpoints|AuthorizeNodeWithSelectors|" \
	"AuthorizeWithSelectors|ConsistentListFromCache|JobPodReplacementPolicy|" \
	"KubeletCgroupDriverFromCRI|KubeletTracing|MultiCIDRServiceAllocator|NodeSwap|" \
	"OrderedNamespaceDeletion|PodLifecycleSleepAction|PodLifecycleSleepActionAllowZero|" \
	"ProbeHostPodSecurityStandards|RecoverVolumeExpansionFailure|" \
	"RelaxedDNSSearchValidation|RelaxedEnvironmentVariableValidation|" \
	"ResilientWatchCacheInitialization|SchedulerQueueingHints|" \
	"SeparateTaintEvictionController|StreamingCollectionEncodingToJSON|" \
	"StreamingCollectionEncodingToProtobuf|StructuredAuthenticationConfiguration|WinDSR|" \
	"WinOverlay"
#define LOCKED_ON_35 \
	"AggregatedDiscoveryRemoveBetaType|DisableAllocatorDualWrite|" \
	"DynamicResourceAllocation|ExecProbeTimeout|ImageMaximumGCAge|" \
	"InPlacePodVerticalScaling|JobManagedBy|PodObservedGenerationTracking|" \
	"PreferSameTrafficDistribution|SupplementalGroupsPolicy"
#define LOCKED_ON_36 \
	"CSIServiceAccountTokenSecrets|DRAAdminAccess|DeclarativeValidation|" \
	"DisableNodeKubeProxyVersion|ExternalServiceAccountTokenSigner|ImageVolume|" \
	"KubeletFineGrainedAuthz|KubeletPSI|KubeletPodResourcesDynamicResources|" \
	"KubeletPodResourcesGet|MutableCSINodeAllocatableCount|NodeLogQuery|ProcMountType|" \
	"SELinuxChangePolicy|SELinuxMountReadWriteOncePod|TopologyManagerPolicyOptions|" \
	"UserNamespacesSupport|VolumeAttributesClass"
/* clang-format on */
