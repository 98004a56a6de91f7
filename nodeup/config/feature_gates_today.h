/* feature_gates_today.h - the feature gates of Kubernetes 1.31 to 1.37, of all its programs
 * A gate that no program knows stops it at once. GATES_31_33 are the gates whose first version here is 1.31 and
 * whose last version here is 1.33. Each program knows the gates of all programs, as they read one list. Names were
 * read from the sources of 1.31.14, 1.32.13, 1.33.13, 1.34.9, 1.35.6 and 1.36.3. The names of 1.37 are from a state
 * of 29 July 2026, before its release: 1.37 may get more.
 * Owner: none. Source: pkg/features, and features of apiserver, apiextensions-apiserver, client-go, component-base
 * and controller-manager. */
#pragma once

/* clang-format off */
#define GATES_31_31 \
	"CloudDualStackNodeIPs|DRAControlPlaneController|HPAContainerMetrics|KMSv2|KMSv2KDF|" \
	"LegacyServiceAccountTokenCleanUp|MinDomainsInPodTopologySpread|" \
	"NewVolumeManagerReconstruction|NodeOutOfServiceVolumeDetach|PodHostIPs|ServerSideApply|" \
	"ServerSideFieldValidation|StableLoadBalancerNodeSet|ValidatingAdmissionPolicy|" \
	"ZeroLimitedNominalConcurrencyShares|"
#define GATES_31_32 \
	"AdmissionWebhookMatchConditions|AggregatedDiscoveryEndpoint|APIListChunking|AppArmor|" \
	"AppArmorFields|CPUManager|DisableCloudProviders|DisableKubeletCloudCredentialProviders|" \
	"EfficientWatchResumption|JobPodFailurePolicy|KubeProxyDrainingTerminatingNodes|" \
	"PDBUnhealthyPodEvictionPolicy|PersistentVolumeLastPhaseTransitionTime|" \
	"RemainingItemCount|VolumeCapacityPriority|WatchBookmark|"
#define GATES_31_33 \
	"DevicePluginCDIDevices|ElasticIndexedJob|PodDisruptionConditions|" \
	"StatefulSetStartOrdinal|"
#define GATES_31_34 \
	"AllowServiceLBStatusOnNonLB|ComponentSLIs|CronJobsScheduledAnnotation|" \
	"LoadBalancerIPMode|PodIndexLabel|SizeMemoryBackedVolumes|StatefulSetAutoDeletePVC|" \
	"StrictCostEnforcementForVAP|StrictCostEnforcementForWebhooks|" \
	"UserNamespacesPodSecurityStandards|"
#define GATES_31_35 \
	"CSIMigrationPortworx|HonorPVReclaimPolicy|InTreePluginPortworxUnregister|MemoryManager|" \
	"ServiceTrafficDistribution|StructuredAuthorizationConfiguration|TopologyAwareHints|" \
	"WatchFromStorageWithoutResourceVersion|"
#define GATES_31_36 \
	"AnonymousAuthConfigurableEndpoints|AnyVolumeDataSource|APIServerTracing|" \
	"AuthorizeNodeWithSelectors|AuthorizeWithSelectors|ConsistentListFromCache|" \
	"JobBackoffLimitPerIndex|JobPodReplacementPolicy|JobSuccessPolicy|LogarithmicScaleDown|" \
	"OrderedNamespaceDeletion|PodLifecycleSleepAction|ResilientWatchCacheInitialization|" \
	"RetryGenerateName|SchedulerQueueingHints|SidecarContainers|" \
	"StreamingCollectionEncodingToJSON|StreamingCollectionEncodingToProtobuf|" \
	"StructuredAuthenticationConfiguration|"
#define GATES_31_37 \
	"AllAlpha|AllBeta|AllowDNSOnlyNodeCSR|AllowInsecureKubeletCertificateSigningRequests|" \
	"APIResponseCompression|APIServerIdentity|APIServingWithRoutine|" \
	"CloudControllerManagerWebhook|ClusterTrustBundle|ClusterTrustBundleProjection|" \
	"ConcurrentWatchObjectDecode|ContainerCheckpoint|ContextualLogging|" \
	"CoordinatedLeaderElection|CPUManagerPolicyAlphaOptions|CPUManagerPolicyBetaOptions|" \
	"CPUManagerPolicyOptions|CRDValidationRatcheting|CrossNamespaceVolumeDataSource|" \
	"CSIVolumeHealth|CustomCPUCFSQuotaPeriod|CustomResourceFieldSelectors|" \
	"DisableAllocatorDualWrite|DisableNodeKubeProxyVersion|DynamicResourceAllocation|" \
	"EventedPLEG|ExecProbeTimeout|GracefulNodeShutdown|" \
	"GracefulNodeShutdownBasedOnPodPriority|HPAScaleToZero|ImageMaximumGCAge|ImageVolume|" \
	"InformerResourceVersion|InPlacePodVerticalScaling|JobManagedBy|KMSv1|" \
	"KubeletCgroupDriverFromCRI|KubeletInUserNamespace|KubeletPodResourcesDynamicResources|" \
	"KubeletPodResourcesGet|KubeletSeparateDiskGC|KubeletTracing|" \
	"LocalStorageCapacityIsolationFSQuotaMonitoring|LoggingAlphaOptions|LoggingBetaOptions|" \
	"LoggingStableOptions|MatchLabelKeysInPodAffinity|MatchLabelKeysInPodTopologySpread|" \
	"MaxUnavailableStatefulSet|MemoryQoS|MultiCIDRServiceAllocator|MutatingAdmissionPolicy|" \
	"NFTablesProxyMode|NodeInclusionPolicyInPodTopologySpread|NodeLogQuery|NodeSwap|" \
	"OpenAPIEnums|PodAndContainerStatsFromCRI|PodDeletionCost|" \
	"PodReadyToStartContainersCondition|PodSchedulingReadiness|PortForwardWebsockets|" \
	"ProcMountType|QOSReserved|RecoverVolumeExpansionFailure|RecursiveReadOnlyMounts|" \
	"RelaxedEnvironmentVariableValidation|ReloadKubeletServerCertificateFile|" \
	"ResourceHealthStatus|RotateKubeletServerCertificate|RuntimeClassInImageCriApi|" \
	"SELinuxMount|SELinuxMountReadWriteOncePod|SeparateCacheWatchRPC|" \
	"SeparateTaintEvictionController|ServiceAccountTokenJTI|ServiceAccountTokenNodeBinding|" \
	"ServiceAccountTokenNodeBindingValidation|ServiceAccountTokenPodNodeInfo|" \
	"StorageNamespaceIndex|StorageVersionAPI|StorageVersionHash|StorageVersionMigrator|" \
	"SupplementalGroupsPolicy|TopologyManagerPolicyAlphaOptions|" \
	"TopologyManagerPolicyBetaOptions|TopologyManagerPolicyOptions|" \
	"TranslateStreamCloseWebsocketRequests|UnauthenticatedHTTP2DOSMitigation|" \
	"UnknownVersionInteroperabilityProxy|UserNamespacesSupport|VolumeAttributesClass|" \
	"WatchCacheInitializationPostStartHook|WatchList|WatchListClient|WindowsHostNetwork|" \
	"WinDSR|WinOverlay"
#define GATES_32_35 \
	"InPlacePodVerticalScalingAllocatedStatus|"
#define GATES_32_36 \
	"BtreeWatchCache|PodLifecycleSleepActionAllowZero|RelaxedDNSSearchValidation|"
#define GATES_32_37 \
	"AllowOverwriteTerminationGracePeriodSeconds|AllowUnsafeMalformedObjectDeletion|" \
	"CBORServingAndStorage|ClientsAllowCBOR|ClientsPreferCBOR|ComponentFlagz|" \
	"ComponentStatusz|DRAAdminAccess|DRAResourceClaimDeviceStatus|" \
	"ExternalServiceAccountTokenSigner|InPlacePodVerticalScalingExclusiveCPUs|" \
	"KubeletCrashLoopBackOffMax|KubeletFineGrainedAuthz|KubeletRegistrationGetOnExistsOnly|" \
	"PodLevelResources|PodLogsQuerySplitStreams|RemoteRequestHeaderUID|" \
	"SchedulerAsyncPreemption|SELinuxChangePolicy|ServiceAccountNodeAudienceRestriction|" \
	"WindowsCPUAndMemoryAffinity|WindowsGracefulNodeShutdown|"
#define GATES_33_33 \
	"LegacySidecarContainers|"
#define GATES_33_37 \
	"AggregatedDiscoveryRemoveBetaType|AllowParsingUserUIDFromCertAuth|ContainerStopSignals|" \
	"DeclarativeValidation|DeclarativeValidationTakeover|" \
	"DeploymentReplicaSetTerminatingReplicas|DisableCPUQuotaWithExclusiveCPUs|" \
	"DRADeviceTaints|DRAPartitionableDevices|DRAPrioritizedList|GitRepoVolumeDriver|" \
	"HPAConfigurableTolerance|InOrderInformers|KubeletEnsureSecretPulledImages|KubeletPSI|" \
	"KubeletServiceAccountTokenForCredentialProviders|ListFromCacheSnapshot|" \
	"MutableCSINodeAllocatableCount|PodObservedGenerationTracking|PodTopologyLabelsAdmission|" \
	"PreferSameTrafficDistribution|ReduceDefaultCrashLoopBackOffDecay|" \
	"SchedulerPopFromBackoffQ|StorageCapacityScoring|StrictIPCIDRValidation|"
#define GATES_34_34 \
	"ProbeHostPodSecurityStandards|"
#define GATES_34_36 \
	"PreventStaticPodAPIReferences|"
#define GATES_34_37 \
	"ClearingNominatedNodeNameAfterBinding|ContainerRestartRules|DetectCacheInconsistency|" \
	"DRAConsumableCapacity|DRADeviceBindingConditions|DRAExtendedResource|" \
	"DRASchedulerFilterTimeout|EnvFiles|HostnameOverride|" \
	"InPlacePodVerticalScalingExclusiveMemory|KubeletPodResourcesListUseActivePods|" \
	"MatchLabelKeysInPodTopologySpreadSelectorMerge|NominatedNodeNameForExpectation|" \
	"PodCertificateRequest|RelaxedServiceNameValidation|SchedulerAsyncAPICalls|" \
	"SizeBasedListCostEstimate|StructuredAuthenticationConfigurationEgressSelector|" \
	"TokenRequestServiceAccountUIDValidation|"
#define GATES_35_36 \
	"GangScheduling|"
#define GATES_35_37 \
	"AuthorizePodWebsocketUpgradeCreatePermission|" \
	"CloudControllerManagerWatchBasedRoutesReconciliation|ConstrainedImpersonation|" \
	"CRDObservedGenerationTracking|CSIServiceAccountTokenSecrets|DRADeviceTaintRules|" \
	"GenericWorkload|InOrderInformersBatchProcess|InPlacePodLevelResourcesVerticalScaling|" \
	"MutablePodResourcesForSuspendedJobs|MutablePVNodeAffinity|" \
	"MutableSchedulingDirectivesForSuspendedJobs|NodeDeclaredFeatures|OpportunisticBatching|" \
	"RestartAllContainersOnContainerExits|StructuredAuthenticationConfigurationJWKSMetrics|" \
	"TaintTolerationComparisonOperators|UserNamespacesHostNetworkSupport|VolumeLimitScaling|"
#define GATES_36_36 \
	"WorkloadAwarePreemption|"
#define GATES_36_37 \
	"AllowServiceExternalIPs|AtomicFIFO|ChangeContainerStatusOnKubeletRestart|" \
	"ClientsAllowCARotation|ClientsAllowTLSCacheGC|" \
	"ControllerManagerReleaseLeaderElectionLockOnExit|CRIListStreaming|" \
	"DeclarativeValidationBeta|DRAListTypeAttributes|DRANodeAllocatableResources|" \
	"DRAResourceClaimGranularStatusAuthorization|DRAResourcePoolStatus|" \
	"DRAWorkloadResourceClaims|ExtendWebSocketsToKubelet|ImageVolumeWithDigest|" \
	"InPlacePodVerticalScalingInitContainers|ManifestBasedAdmissionControlConfig|" \
	"NativeHistograms|PersistentVolumeClaimUnusedSinceTime|PLEGOnDemandRelist|" \
	"PodLevelResourceManagers|PodsAPI|ResourceHealthStatusMessage|" \
	"ServiceCIDRStatusFieldWiping|ShardedListAndWatch|StaleControllerConsistencyDaemonSet|" \
	"StaleControllerConsistencyJob|StaleControllerConsistencyReplicaSet|" \
	"StaleControllerConsistencyStatefulSet|StatefulSetSemanticRevisionComparison|" \
	"TopologyAwareWorkloadScheduling|UnlockWhileProcessingFIFO|WorkloadWithJob|"
#define GATES_37_37 \
	"APIServerWebhookAuthenticationToken|AtomicWriteVolumeUserFields|CompositePodGroup|" \
	"ConsistentListFromCacheSkipTimeoutFallback|DefaultPodSysctls|DRADerivedAttributes|" \
	"DRADeviceCompatibilityGroups|DRAFractionalCapacityRange|DRAOptionalNodeOperations|" \
	"DRAPartitionableDevicesType|EmptyDirVolumeMode|EtcdRangeStream|EvictionRequestAPI|" \
	"ExcludeAdmissionWebhookVirtualResources|GRPCContainerProbeTLS|H2CContainerProbe|" \
	"HPAGeneration|HPAOptimizedSelectorStore|HugepageAwareEviction|" \
	"InPlacePodVerticalScalingMemoryBackedVolumes|" \
	"InPlacePodVerticalScalingSchedulerPreemption|InterPodAffinityHostnameFastPath|" \
	"KubeletAllocatedPodsEndpoint|KubeProxyIPVS|KubeProxyNFTablesLocalhostNodePorts|" \
	"NFTablesNetlink|NodeControllerLeaseCircuitBreaker|NodeLifecycleConditions|" \
	"PodGroupPreemptionPolicy|PodLevelResourcesFixDefaulting|" \
	"PodLevelResourcesFixKubeletQOSClass|SchedulerPreQueueingHints|" \
	"StaleControllerConsistencyHPA|StatefulSetRecreateStrategy|VolumeBindMountOptions|" \
	"WatchListCompression|WebhookRoundTripLoadBalancing|"

/* Gates of one version. */
#define GATES_OF_31 \
	GATES_31_31 GATES_31_32 GATES_31_33 GATES_31_34 GATES_31_35 GATES_31_36 GATES_31_37
#define GATES_OF_32 \
	GATES_31_32 GATES_31_33 GATES_31_34 GATES_31_35 GATES_31_36 GATES_32_35 GATES_32_36 \
	GATES_32_37 GATES_31_37
#define GATES_OF_33 \
	GATES_31_33 GATES_31_34 GATES_31_35 GATES_31_36 GATES_32_35 GATES_32_36 GATES_32_37 \
	GATES_33_33 GATES_33_37 GATES_31_37
#define GATES_OF_34 \
	GATES_31_34 GATES_31_35 GATES_31_36 GATES_32_35 GATES_32_36 GATES_32_37 GATES_33_37 \
	GATES_34_34 GATES_34_36 GATES_34_37 GATES_31_37
#define GATES_OF_35 \
	GATES_31_35 GATES_31_36 GATES_32_35 GATES_32_36 GATES_32_37 GATES_33_37 GATES_34_36 \
	GATES_34_37 GATES_35_36 GATES_35_37 GATES_31_37
#define GATES_OF_36 \
	GATES_31_36 GATES_32_36 GATES_32_37 GATES_33_37 GATES_34_36 GATES_34_37 GATES_35_36 \
	GATES_35_37 GATES_36_36 GATES_36_37 GATES_31_37
#define GATES_OF_37 \
	GATES_32_37 GATES_33_37 GATES_34_37 GATES_35_37 GATES_36_37 GATES_37_37 GATES_31_37
/* clang-format on */
