/* list_kubelet.h - the keys of kubelet; see specs.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.37 pkg/apis/kops/componentconfig.go. */
#pragma once

/* clang-format off */
#define KOPS_KUBELET(X) \
	X(const char *, api_servers, "apiServers", FLAG("api-servers"), .until = 7) \
	X(struct opt_bool, anonymous_auth, "anonymousAuth", \
	  CONF("authentication.anonymous.enabled")) \
	X(const char *, authorization_mode, "authorizationMode", CONF("authorization.mode"), .accepts = &kubelet_authorization_mode) \
	X(const char *, bootstrap_kubeconfig, "bootstrapKubeconfig", FLAG("bootstrap-kubeconfig")) \
	X(const char *, client_ca_file, "clientCAFile", CONF("authentication.x509.clientCAFile")) \
	X(const char *, tls_cert_file, "tlsCertFile", .doc = "not used: kops has one of its own") \
	X(const char *, tls_private_key_file, "tlsPrivateKeyFile", \
	  .doc = "not used: kops has one of its own") \
	X(struct strv, tls_cipher_suites, "tlsCipherSuites", CONF("tlsCipherSuites"), .accepts = &accepts_tls_ciphers) \
	X(const char *, tls_min_version, "tlsMinVersion", CONF("tlsMinVersion"), .accepts = &accepts_tls_version) \
	X(const char *, kubeconfig_path, "kubeconfigPath", FLAG("kubeconfig")) \
	X(struct opt_bool, require_kubeconfig, "requireKubeconfig", FLAG("require-kubeconfig"), .until = 9) \
	X(const char *, log_format, "logFormat", CONF("logging.format"), .accepts = &accepts_log_format) \
	X(struct opt_int, log_level, "logLevel", FLAG("v"), .flag_empty = "0", .accepts = &accepts_log_level) \
	X(const char *, pod_manifest_path, "podManifestPath", CONF("staticPodPath"), .format = &format_path, .filled = true) \
	X(const char *, hostname_override, "hostnameOverride", FLAG("hostname-override")) \
	X(const char *, pod_infra_container_image, "podInfraContainerImage", .doc = "not used") \
	X(struct opt_bool, seccomp_default, "seccompDefault", CONF("seccompDefault")) \
	X(const char *, seccomp_profile_root, "seccompProfileRoot", FLAG("seccomp-profile-root"), .accepts = &kubelet_no_flag) \
	X(struct opt_bool, allow_privileged, "allowPrivileged", FLAG("allow-privileged"), .accepts = &kubelet_no_flag) \
	X(struct opt_bool, enable_debugging_handlers, "enableDebuggingHandlers", \
	  CONF("enableDebuggingHandlers")) \
	X(struct opt_bool, register_node, "registerNode", FLAG("register-node")) \
	X(struct opt_dur, node_status_update_frequency, "nodeStatusUpdateFrequency", \
	  CONF("nodeStatusUpdateFrequency")) \
	X(const char *, cluster_domain, "clusterDomain", CONF("clusterDomain")) \
	X(const char *, cluster_dns, "clusterDNS", CONF("clusterDNS")) \
	X(const char *, network_plugin_name, "networkPluginName", FLAG("network-plugin"), .until = 23) \
	X(const char *, cloud_provider, "cloudProvider", FLAG("cloud-provider"), .accepts = &kubelet_cloud_provider) \
	X(const char *, kubelet_cgroups, "kubeletCgroups", CONF("kubeletCgroups"), .format = &format_slice) \
	X(const char *, runtime_cgroups, "runtimeCgroups", FLAG("runtime-cgroups"), .format = &format_slice) \
	X(struct opt_int, read_only_port, "readOnlyPort", CONF("readOnlyPort"), .flag_empty = "0", .accepts = &kubelet_port) \
	X(const char *, system_cgroups, "systemCgroups", CONF("systemCgroups"), .format = &format_slice) \
	X(const char *, cgroup_root, "cgroupRoot", CONF("cgroupRoot"), .format = &format_cgroup) \
	X(struct opt_bool, configure_cbr0, "configureCbr0", FLAG("configure-cbr0"), .until = 5) \
	X(const char *, hairpin_mode, "hairpinMode", CONF("hairpinMode"), .accepts = &kubelet_hairpin) \
	X(struct opt_bool, babysit_daemons, "babysitDaemons", FLAG("babysit-daemons"), .until = 6) \
	X(struct opt_int, max_pods, "maxPods", CONF("maxPods"), .flag_empty = "0", .accepts = &accepts_not_negative) \
	X(int64_t, nvidia_gp_us, "nvidiaGPUs", \
	  FLAG("experimental-nvidia-gpus"), .flag_empty = "0", .accepts = &kubelet_no_flag) \
	X(const char *, pod_cidr, "podCIDR", CONF("podCIDR"), .format = &format_cidrs) \
	X(const char *, resolv_conf, "resolvConf", CONF("resolvConf"), .pointer = true) \
	X(struct opt_bool, reconcile_cidr, "reconcileCIDR", FLAG("reconcile-cidr"), .until = 5) \
	X(struct opt_bool, register_schedulable, "registerSchedulable", \
	  FLAG("register-schedulable")) \
	X(struct opt_bool, serialize_image_pulls, "serializeImagePulls", \
	  CONF("serializeImagePulls")) \
	X(struct strmap, node_labels, "nodeLabels", FLAG("node-labels"), .accepts = &accepts_given_labels) \
	X(const char *, non_masquerade_cidr, "nonMasqueradeCIDR", FLAG("non-masquerade-cidr"), .until = 23, .format = &format_cidr) \
	X(struct opt_bool, enable_custom_metrics, "enableCustomMetrics", \
	  FLAG("enable-custom-metrics"), .accepts = &kubelet_no_flag) \
	X(struct opt_int, network_plugin_mtu, "networkPluginMTU", FLAG("network-plugin-mtu"), .until = 23) \
	X(struct opt_dur, image_minimum_gc_age, "imageMinimumGCAge", FLAG("image-minimum-gc-age"), .accepts = &kubelet_no_flag) \
	X(struct opt_dur, image_maximum_gc_age, "imageMaximumGCAge", CONF("imageMaximumGCAge"), .accepts = &kubelet_image_age) \
	X(struct opt_int, max_parallel_image_pulls, "maxParallelImagePulls", \
	  CONF("maxParallelImagePulls"), .accepts = &kubelet_pulls) \
	X(struct opt_int, image_gc_high_threshold_percent, "imageGCHighThresholdPercent", \
	  CONF("imageGCHighThresholdPercent"), .accepts = &kubelet_percent) \
	X(struct opt_int, image_gc_low_threshold_percent, "imageGCLowThresholdPercent", \
	  CONF("imageGCLowThresholdPercent"), .accepts = &kubelet_percent) \
	X(struct opt_dur, image_pull_progress_deadline, "imagePullProgressDeadline", \
	  FLAG("image-pull-progress-deadline"), .until = 23) \
	X(const char *, eviction_hard, "evictionHard", \
	  CONF("evictionHard"), .format = &format_thresholds_today, .accepts = &kubelet_thresholds) \
	X(const char *, eviction_soft, "evictionSoft", \
	  CONF("evictionSoft"), .format = &format_thresholds_today, .accepts = &kubelet_thresholds) \
	X(const char *, eviction_soft_grace_period, "evictionSoftGracePeriod", \
	  CONF("evictionSoftGracePeriod"), .format = &format_periods_today, .accepts = &kubelet_periods) \
	X(struct opt_dur, eviction_pressure_transition_period, "evictionPressureTransitionPeriod", \
	  CONF("evictionPressureTransitionPeriod")) \
	X(int64_t, eviction_max_pod_grace_period, "evictionMaxPodGracePeriod", \
	  CONF("evictionMaxPodGracePeriod"), .flag_empty = "0") \
	X(const char *, eviction_minimum_reclaim, "evictionMinimumReclaim", \
	  CONF("evictionMinimumReclaim"), .format = &format_reclaims_today, .accepts = &kubelet_reclaims) \
	X(const char *, volume_plugin_directory, "volumePluginDirectory", CONF("volumePluginDir"), .format = &format_path) \
	X(struct strv, taints, "taints", CONF("registerWithTaints"), .format = &format_taint_today, .accepts = &accepts_taints) \
	X(struct strmap, feature_gates, "featureGates", CONF("featureGates"), .format = &format_switch, .accepts = &accepts_gates) \
	X(struct opt_bool, kernel_memcg_notification, "kernelMemcgNotification", \
	  CONF("kernelMemcgNotification"), .flag_empty = "false") \
	X(struct strmap, kube_reserved, "kubeReserved", CONF("kubeReserved"), .accepts = &kubelet_reserved) \
	X(const char *, kube_reserved_cgroup, "kubeReservedCgroup", CONF("kubeReservedCgroup"), .format = &format_cgroup) \
	X(struct strmap, system_reserved, "systemReserved", CONF("systemReserved"), .accepts = &kubelet_reserved) \
	X(const char *, system_reserved_cgroup, "systemReservedCgroup", \
	  CONF("systemReservedCgroup"), .format = &format_cgroup) \
	X(const char *, enforce_node_allocatable, "enforceNodeAllocatable", \
	  CONF("enforceNodeAllocatable"), .accepts = &kubelet_enforced) \
	X(struct opt_dur, runtime_request_timeout, "runtimeRequestTimeout", \
	  FLAG("runtime-request-timeout")) \
	X(struct opt_dur, volume_stats_agg_period, "volumeStatsAggPeriod", \
	  FLAG("volume-stats-agg-period")) \
	X(struct opt_bool, fail_swap_on, "failSwapOn", CONF("failSwapOn")) \
	X(struct strv, experimental_allowed_unsafe_sysctls, "experimentalAllowedUnsafeSysctls", \
	  FLAG("experimental-allowed-unsafe-sysctls"), .accepts = &kubelet_no_flag) \
	X(struct strv, allowed_unsafe_sysctls, "allowedUnsafeSysctls", \
	  CONF("allowedUnsafeSysctls"), .accepts = &kubelet_sysctls) \
	X(struct opt_dur, streaming_connection_idle_timeout, "streamingConnectionIdleTimeout", \
	  FLAG("streaming-connection-idle-timeout")) \
	X(const char *, root_dir, "rootDir", FLAG("root-dir")) \
	X(struct opt_bool, authentication_token_webhook, "authenticationTokenWebhook", \
	  CONF("authentication.webhook.enabled")) \
	X(struct opt_dur, authentication_token_webhook_cache_ttl, "authenticationTokenWebhookCacheTTL", \
	  FLAG("authentication-token-webhook-cache-ttl")) \
	X(struct opt_bool, cpu_cfs_quota, "cpuCFSQuota", CONF("cpuCFSQuota")) \
	X(struct opt_dur, cpu_cfs_quota_period, "cpuCFSQuotaPeriod", CONF("cpuCFSQuotaPeriod"), .accepts = &kubelet_cfs_period) \
	X(const char *, cpu_manager_policy, "cpuManagerPolicy", CONF("cpuManagerPolicy"), .accepts = &kubelet_cpu_policy) \
	X(struct opt_int, registry_pull_qps, "registryPullQPS", CONF("registryPullQPS"), .accepts = &accepts_not_negative) \
	X(struct opt_int, registry_burst, "registryBurst", FLAG("registry-burst"), .accepts = &accepts_not_negative) \
	X(const char *, topology_manager_policy, "topologyManagerPolicy", \
	  CONF("topologyManagerPolicy"), .accepts = &kubelet_topology_policy) \
	X(struct opt_bool, rotate_certificates, "rotateCertificates", CONF("rotateCertificates"), .flag_empty = "false") \
	X(struct opt_bool, protect_kernel_defaults, "protectKernelDefaults", \
	  CONF("protectKernelDefaults"), .flag_empty = "false") \
	X(const char *, cgroup_driver, "cgroupDriver", CONF("cgroupDriver")) \
	X(struct opt_dur, housekeeping_interval, "housekeepingInterval", \
	  FLAG("housekeeping-interval")) \
	X(struct opt_int, event_qps, "eventQPS", CONF("eventRecordQPS"), .accepts = &accepts_not_negative) \
	X(struct opt_int, event_burst, "eventBurst", FLAG("event-burst"), .accepts = &accepts_not_negative) \
	X(const char *, container_log_max_size, "containerLogMaxSize", \
	  CONF("containerLogMaxSize"), .accepts = &kubelet_log_size) \
	X(struct opt_int, container_log_max_files, "containerLogMaxFiles", \
	  CONF("containerLogMaxFiles"), .accepts = &kubelet_log_files) \
	X(struct opt_bool, enable_cadvisor_json_endpoints, "enableCadvisorJsonEndpoints", \
	  FLAG("enable-cadvisor-json-endpoints"), .accepts = &kubelet_no_flag) \
	X(struct opt_int, pod_pids_limit, "podPidsLimit", CONF("podPidsLimit"), .wide = true) \
	X(struct opt_bool, experimental_allocatable_ignore_eviction, "experimentalAllocatableIgnoreEviction", \
	  FLAG("experimental-allocatable-ignore-eviction")) \
	X(struct opt_dur, shutdown_grace_period, "shutdownGracePeriod", \
	  CONF("shutdownGracePeriod"), .accepts = &kubelet_grace) \
	X(struct opt_dur, shutdown_grace_period_critical_pods, "shutdownGracePeriodCriticalPods", \
	  CONF("shutdownGracePeriodCriticalPods"), .accepts = &kubelet_grace) \
	X(const char *, memory_swap_behavior, "memorySwapBehavior", \
	  CONF("memorySwap.swapBehavior"), .accepts = &kubelet_swap) \
	X(struct opt_dur, crash_loop_back_off_max_container_restart_period, "crashLoopBackOffMaxContainerRestartPeriod", \
	  CONF("crashLoopBackOff.maxContainerRestartPeriod"), .accepts = &kubelet_restart_period) \
	X(struct opt_int, kube_apiqps, "kubeAPIQPS", FLAG("kube-api-qps"), .accepts = &accepts_not_negative) \
	X(struct opt_int, event_record_qps, "eventRecordQPS", CONF("eventRecordQPS"), .accepts = &accepts_not_negative) \
	X(struct opt_int, node_lease_duration_seconds, "nodeLeaseDurationSeconds", \
	  CONF("nodeLeaseDurationSeconds"), .flag_empty = "0", .accepts = &kubelet_lease)
/* clang-format on */
