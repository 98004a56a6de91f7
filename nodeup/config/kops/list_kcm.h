/* list_kcm.h - the keys of kube-controller-manager, and how one of several is elected; see specs.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.37 pkg/apis/kops/componentconfig.go; of `until` Kubernetes' own option files and changelogs. */
#pragma once

/* clang-format off */
#define KOPS_KCM(X) \
	X(const char *, master, "master", FLAG("master")) \
	X(const char *, log_format, "logFormat", FLAG("logging-format"), .flag_empty = "text", .accepts = &accepts_log_format) \
	X(int64_t, log_level, "logLevel", FLAG("v"), .flag_empty = "0", .accepts = &accepts_log_level) \
	X(const char *, service_account_private_key_file, "serviceAccountPrivateKeyFile", \
	  FLAG("service-account-private-key-file"), .file = FIELD_FILE) \
	X(const char *, image, "image", .doc = "container image") \
	X(const char *, cloud_provider, "cloudProvider", FLAG("cloud-provider")) \
	X(const char *, cluster_name, "clusterName", FLAG("cluster-name")) \
	X(const char *, cluster_cidr, "clusterCIDR", FLAG("cluster-cidr"), .format = &format_cidrs) \
	X(struct opt_bool, allocate_node_cid_rs, "allocateNodeCIDRs", FLAG("allocate-node-cidrs")) \
	X(struct opt_int, node_cidr_mask_size, "nodeCIDRMaskSize", FLAG("node-cidr-mask-size")) \
	X(struct opt_bool, configure_cloud_routes, "configureCloudRoutes", \
	  FLAG("configure-cloud-routes")) \
	X(struct strv, controllers, "controllers", FLAG("controllers"), .accepts = &accepts_controller) \
	X(const char *, cidr_allocator_type, "cidrAllocatorType", FLAG("cidr-allocator-type")) \
	X(const char *, root_ca_file, "rootCAFile", FLAG("root-ca-file"), .file = FIELD_FILE) \
	X(struct opt_dur, attach_detach_reconcile_sync_period, "attachDetachReconcileSyncPeriod", \
	  FLAG("attach-detach-reconcile-sync-period"), .accepts = &accepts_reconcile_period) \
	X(struct opt_bool, disable_attach_detach_reconcile_sync, "disableAttachDetachReconcileSync", \
	  FLAG("disable-attach-detach-reconcile-sync")) \
	X(struct opt_int, terminated_pod_gc_threshold, "terminatedPodGCThreshold", \
	  FLAG("terminated-pod-gc-threshold")) \
	X(struct opt_dur, node_monitor_period, "nodeMonitorPeriod", FLAG("node-monitor-period")) \
	X(struct opt_dur, node_monitor_grace_period, "nodeMonitorGracePeriod", \
	  FLAG("node-monitor-grace-period")) \
	X(struct opt_dur, pod_eviction_timeout, "podEvictionTimeout", \
	  FLAG("pod-eviction-timeout"), .until = 26) \
	X(struct opt_bool, use_service_account_credentials, "useServiceAccountCredentials", \
	  FLAG("use-service-account-credentials")) \
	X(struct opt_dur, horizontal_pod_autoscaler_sync_period, "horizontalPodAutoscalerSyncPeriod", \
	  FLAG("horizontal-pod-autoscaler-sync-period")) \
	X(struct opt_dur, horizontal_pod_autoscaler_downscale_delay, "horizontalPodAutoscalerDownscaleDelay", \
	  FLAG("horizontal-pod-autoscaler-downscale-delay"), .until = 30) \
	X(struct opt_dur, horizontal_pod_autoscaler_downscale_stabilization, "horizontalPodAutoscalerDownscaleStabilization", \
	  FLAG("horizontal-pod-autoscaler-downscale-stabilization")) \
	X(struct opt_dur, horizontal_pod_autoscaler_upscale_delay, "horizontalPodAutoscalerUpscaleDelay", \
	  FLAG("horizontal-pod-autoscaler-upscale-delay"), .until = 30) \
	X(struct opt_dur, horizontal_pod_autoscaler_initial_readiness_delay, "horizontalPodAutoscalerInitialReadinessDelay", \
	  FLAG("horizontal-pod-autoscaler-initial-readiness-delay")) \
	X(struct opt_dur, horizontal_pod_autoscaler_cpu_initialization_period, "horizontalPodAutoscalerCpuInitializationPeriod", \
	  FLAG("horizontal-pod-autoscaler-cpu-initialization-period")) \
	X(const char *, horizontal_pod_autoscaler_tolerance, "horizontalPodAutoscalerTolerance", \
	  FLAG("horizontal-pod-autoscaler-tolerance"), .format = &format_quantity) \
	X(struct opt_bool, horizontal_pod_autoscaler_use_rest_clients, "horizontalPodAutoscalerUseRestClients", \
	  FLAG("horizontal-pod-autoscaler-use-rest-clients"), .until = 21) \
	X(struct opt_dur, experimental_cluster_signing_duration, "experimentalClusterSigningDuration", \
	  FLAG("experimental-cluster-signing-duration"), .until = 24) \
	X(struct opt_dur, cluster_signing_duration, "ClusterSigningDuration", \
	  FLAG("cluster-signing-duration")) \
	X(struct strmap, feature_gates, "featureGates", FLAG("feature-gates"), .format = &format_switch, .accepts = &accepts_gates) \
	X(const char *, tls_cert_file, "tlsCertFile", FLAG("tls-cert-file"), .file = FIELD_FILE) \
	X(struct strv, tls_cipher_suites, "tlsCipherSuites", FLAG("tls-cipher-suites"), .accepts = &accepts_tls_ciphers) \
	X(const char *, tls_min_version, "tlsMinVersion", FLAG("tls-min-version"), .accepts = &accepts_tls_version) \
	X(const char *, tls_private_key_file, "tlsPrivateKeyFile", FLAG("tls-private-key-file"), .file = FIELD_FILE) \
	X(const char *, min_resync_period, "minResyncPeriod", FLAG("min-resync-period"), .accepts = &accepts_period_text) \
	X(const char *, kube_apiqps, "kubeAPIQPS", \
	  FLAG("kube-api-qps"), .format = &format_quantity) \
	X(struct opt_int, kube_api_burst, "kubeAPIBurst", FLAG("kube-api-burst")) \
	X(struct opt_int, concurrent_deployment_syncs, "concurrentDeploymentSyncs", \
	  FLAG("concurrent-deployment-syncs")) \
	X(struct opt_int, concurrent_endpoint_syncs, "concurrentEndpointSyncs", \
	  FLAG("concurrent-endpoint-syncs")) \
	X(struct opt_int, concurrent_namespace_syncs, "concurrentNamespaceSyncs", \
	  FLAG("concurrent-namespace-syncs")) \
	X(struct opt_int, concurrent_replicaset_syncs, "concurrentReplicasetSyncs", \
	  FLAG("concurrent-replicaset-syncs")) \
	X(struct opt_int, concurrent_service_syncs, "concurrentServiceSyncs", \
	  FLAG("concurrent-service-syncs")) \
	X(struct opt_int, concurrent_resource_quota_syncs, "concurrentResourceQuotaSyncs", \
	  FLAG("concurrent-resource-quota-syncs")) \
	X(struct opt_int, concurrent_serviceaccount_token_syncs, "concurrentServiceaccountTokenSyncs", \
	  FLAG("concurrent-serviceaccount-token-syncs")) \
	X(struct opt_int, concurrent_rc_syncs, "concurrentRCSyncs", FLAG("concurrent-rc-syncs")) \
	X(struct opt_int, concurrent_horizontal_pod_austoscaler_syncs, "concurrentHorizontalPodAustoscalerSyncs", \
	  FLAG("concurrent-horizontal-pod-autoscaler-syncs"), .accepts = &accepts_one_or_more) \
	X(struct opt_int, concurrent_job_syncs, "concurrentJobSyncs", \
	  FLAG("concurrent-job-syncs"), .accepts = &accepts_one_or_more) \
	X(const char *, authentication_kubeconfig, "authenticationKubeconfig", \
	  FLAG("authentication-kubeconfig"), .file = FIELD_FILE) \
	X(const char *, authorization_kubeconfig, "authorizationKubeconfig", \
	  FLAG("authorization-kubeconfig"), .file = FIELD_FILE) \
	X(struct strv, authorization_always_allow_paths, "authorizationAlwaysAllowPaths", \
	  FLAG("authorization-always-allow-paths"), .accepts = &accepts_allowed_path) \
	X(const char *, external_cloud_volume_plugin, "externalCloudVolumePlugin", \
	  FLAG("external-cloud-volume-plugin")) \
	X(struct opt_dur, endpoint_updates_batch_period, "endpointUpdatesBatchPeriod", \
	  FLAG("endpoint-updates-batch-period")) \
	X(struct opt_dur, endpoint_slice_updates_batch_period, "endpointSliceUpdatesBatchPeriod", \
	  FLAG("endpointslice-updates-batch-period")) \
	X(struct opt_bool, enable_profiling, "enableProfiling", FLAG("profiling")) \
	X(struct opt_bool, enable_contention_profiling, "enableContentionProfiling", \
	  FLAG("contention-profiling")) \
	X(struct opt_bool, enable_leader_migration, "enableLeaderMigration", \
	  FLAG("enable-leader-migration")) \
	KOPS_POD_RESOURCES(X) \
	X##_NESTED(struct kops_leader_election, leader_election, &kops_leader_election_schema, \
	  "leaderElection", .doc = "which of several does the work")

#define KOPS_LEADER_ELECTION(X) \
	X(struct opt_bool, leader_elect, "leaderElect", FLAG("leader-elect")) \
	X(struct opt_dur, leader_elect_lease_duration, "leaderElectLeaseDuration", \
	  FLAG("leader-elect-lease-duration")) \
	X(struct opt_dur, leader_elect_renew_deadline_duration, "leaderElectRenewDeadlineDuration", \
	  FLAG("leader-elect-renew-deadline")) \
	X(const char *, leader_elect_resource_lock, "leaderElectResourceLock", \
	  FLAG("leader-elect-resource-lock")) \
	X(const char *, leader_elect_resource_name, "leaderElectResourceName", \
	  FLAG("leader-elect-resource-name")) \
	X(const char *, leader_elect_resource_namespace, "leaderElectResourceNamespace", \
	  FLAG("leader-elect-resource-namespace")) \
	X(struct opt_dur, leader_elect_retry_period, "leaderElectRetryPeriod", \
	  FLAG("leader-elect-retry-period"))
/* clang-format on */
