/* list_kubelet.h - the keys of kubelet; see specs.h
 * kops up to 1.35 writes most of them as flags (IN_FLAGS), later versions write them in kubelet.conf (IN_FILE). A
 * row that changed says how: MOVED (a flag, then a place in the file), LEFT (a place, then a flag), GONE (a flag,
 * then nothing), CAME (nothing, then a place).
 * Owner: constants. Errors: none. Threads: all. Source: kops 1.35 and 1.37 pkg/apis/kops/componentconfig.go. */
#pragma once

/* clang-format off */
#define KOPS_KUBELET(X) \
	X(const char *, api_servers, "apiServers", FLAG("api-servers"), .until = 7) \
	X(struct opt_bool, anonymous_auth, "anonymousAuth", \
	  MOVED("anonymous-auth", "authentication.anonymous.enabled")) \
	X(const char *, authorization_mode, "authorizationMode", MOVED("authorization-mode", "authorization.mode"), .accepts = &kubelet_authorization_mode) \
	X(const char *, bootstrap_kubeconfig, "bootstrapKubeconfig", FLAG("bootstrap-kubeconfig")) \
	X(const char *, client_ca_file, "clientCAFile", MOVED("client-ca-file", "authentication.x509.clientCAFile")) \
	X(const char *, tls_cert_file, "tlsCertFile", GONE("tls-cert-file")) \
	X(const char *, tls_private_key_file, "tlsPrivateKeyFile", GONE("tls-private-key-file")) \
	X(struct strv, tls_cipher_suites, "tlsCipherSuites", MOVED("tls-cipher-suites", "tlsCipherSuites"), .accepts = &accepts_tls_ciphers) \
	X(const char *, tls_min_version, "tlsMinVersion", MOVED("tls-min-version", "tlsMinVersion"), .accepts = &accepts_tls_version) \
	X(const char *, kubeconfig_path, "kubeconfigPath", FLAG("kubeconfig")) \
	X(struct opt_bool, require_kubeconfig, "requireKubeconfig", FLAG("require-kubeconfig"), .until = 9) \
	X(const char *, log_format, "logFormat", MOVED("logging-format", "logging.format"), .flag_empty = IN_FLAGS("text"), .accepts = &accepts_log_format) \
	X(struct opt_int, log_level, "logLevel", FLAG("v"), .flag_empty = "0", .accepts = &accepts_log_level) \
	X(const char *, pod_manifest_path, "podManifestPath", MOVED("pod-manifest-path", "staticPodPath"), .format = &format_path, .filled = true) \
	X(const char *, hostname_override, "hostnameOverride", FLAG("hostname-override")) \
	X(const char *, pod_infra_container_image, "podInfraContainerImage", GONE("pod-infra-container-image")) \
	X(struct opt_bool, seccomp_default, "seccompDefault", MOVED("seccomp-default", "seccompDefault")) \
	X(const char *, seccomp_profile_root, "seccompProfileRoot", FLAG("seccomp-profile-root"), .accepts = &kubelet_no_flag) \
	X(struct opt_bool, allow_privileged, "allowPrivileged", FLAG("allow-privileged"), .accepts = &kubelet_no_flag) \
	X(struct opt_bool, enable_debugging_handlers, "enableDebuggingHandlers", \
	  MOVED("enable-debugging-handlers", "enableDebuggingHandlers")) \
	X(struct opt_bool, register_node, "registerNode", FLAG("register-node")) \
	X(struct opt_dur, node_status_update_frequency, "nodeStatusUpdateFrequency", \
	  MOVED("node-status-update-frequency", "nodeStatusUpdateFrequency")) \
	X(const char *, cluster_domain, "clusterDomain", MOVED("cluster-domain", "clusterDomain")) \
	X(const char *, cluster_dns, "clusterDNS", MOVED("cluster-dns", "clusterDNS")) \
	X(const char *, network_plugin_name, "networkPluginName", FLAG("network-plugin"), .until = 23) \
	X(const char *, cloud_provider, "cloudProvider", FLAG("cloud-provider"), .accepts = &kubelet_cloud_provider) \
	X(const char *, kubelet_cgroups, "kubeletCgroups", MOVED("kubelet-cgroups", "kubeletCgroups"), .format = &format_slice) \
	X(const char *, runtime_cgroups, "runtimeCgroups", FLAG("runtime-cgroups"), .format = &format_slice) \
	X(struct opt_int, read_only_port, "readOnlyPort", MOVED("read-only-port", "readOnlyPort"), .flag_empty = IN_FILE("0"), .accepts = &kubelet_port) \
	X(const char *, system_cgroups, "systemCgroups", MOVED("system-cgroups", "systemCgroups"), .format = &format_slice) \
	X(const char *, cgroup_root, "cgroupRoot", MOVED("cgroup-root", "cgroupRoot"), .format = &format_cgroup) \
	X(struct opt_bool, configure_cbr0, "configureCbr0", FLAG("configure-cbr0"), .until = 5) \
	X(const char *, hairpin_mode, "hairpinMode", MOVED("hairpin-mode", "hairpinMode"), .accepts = &kubelet_hairpin) \
	X(struct opt_bool, babysit_daemons, "babysitDaemons", FLAG("babysit-daemons"), .until = 6) \
	X(struct opt_int, max_pods, "maxPods", MOVED("max-pods", "maxPods"), .flag_empty = IN_FILE("0"), .accepts = &accepts_not_negative) \
	X(int64_t, nvidia_gp_us, "nvidiaGPUs", \
	  FLAG("experimental-nvidia-gpus"), .flag_empty = "0", .accepts = &kubelet_no_flag) \
	X(const char *, pod_cidr, "podCIDR", MOVED("pod-cidr", "podCIDR"), .format = &format_cidrs) \
	X(const char *, resolv_conf, "resolvConf", MOVED("resolv-conf", "resolvConf"), .pointer = true, .include_empty = IN_FLAGS(true)) \
	X(struct opt_bool, reconcile_cidr, "reconcileCIDR", FLAG("reconcile-cidr"), .until = 5) \
	X(struct opt_bool, register_schedulable, "registerSchedulable", \
	  FLAG("register-schedulable")) \
	X(struct opt_bool, serialize_image_pulls, "serializeImagePulls", \
	  MOVED("serialize-image-pulls", "serializeImagePulls")) \
	X(struct strmap, node_labels, "nodeLabels", FLAG("node-labels"), .accepts = &accepts_given_labels) \
	X(const char *, non_masquerade_cidr, "nonMasqueradeCIDR", FLAG("non-masquerade-cidr"), .until = 23, .format = &format_cidr) \
	X(struct opt_bool, enable_custom_metrics, "enableCustomMetrics", \
	  FLAG("enable-custom-metrics"), .accepts = &kubelet_no_flag) \
	X(struct opt_int, network_plugin_mtu, "networkPluginMTU", FLAG("network-plugin-mtu"), .until = 23) \
	X(struct opt_dur, image_minimum_gc_age, "imageMinimumGCAge", LEFT("imageMinimumGCAge", "image-minimum-gc-age"), .accepts = IN_FILE(&kubelet_no_flag)) \
	X(struct opt_dur, image_maximum_gc_age, "imageMaximumGCAge", CONF("imageMaximumGCAge"), .accepts = &kubelet_image_age) \
	X(struct opt_int, max_parallel_image_pulls, "maxParallelImagePulls", \
	  CONF("maxParallelImagePulls"), .accepts = &kubelet_pulls) \
	X(struct opt_int, image_gc_high_threshold_percent, "imageGCHighThresholdPercent", \
	  MOVED("image-gc-high-threshold", "imageGCHighThresholdPercent"), .accepts = &kubelet_percent) \
	X(struct opt_int, image_gc_low_threshold_percent, "imageGCLowThresholdPercent", \
	  MOVED("image-gc-low-threshold", "imageGCLowThresholdPercent"), .accepts = &kubelet_percent) \
	X(struct opt_dur, image_pull_progress_deadline, "imagePullProgressDeadline", \
	  FLAG("image-pull-progress-deadline"), .until = 23) \
	X(const char *, eviction_hard, "evictionHard", \
	  MOVED("eviction-hard", "evictionHard"), .format = &format_thresholds_today, .accepts = &kubelet_thresholds) \
	X(const char *, eviction_soft, "evictionSoft", \
	  MOVED("eviction-soft", "evictionSoft"), .format = &format_thresholds_today, .accepts = &kubelet_thresholds) \
	X(const char *, eviction_soft_grace_period, "evictionSoftGracePeriod", \
	  MOVED("eviction-soft-grace-period", "evictionSoftGracePeriod"), .format = &format_periods_today, .accepts = &kubelet_periods) \
	X(struct opt_dur, eviction_pressure_transition_period, "evictionPressureTransitionPeriod", \
	  MOVED("eviction-pressure-transition-period", "evictionPressureTransitionPeriod"), .flag_empty = IN_FLAGS("0s")) \
	X(int64_t, eviction_max_pod_grace_period, "evictionMaxPodGracePeriod", \
	  MOVED("eviction-max-pod-grace-period", "evictionMaxPodGracePeriod"), .flag_empty = "0") \
	X(const char *, eviction_minimum_reclaim, "evictionMinimumReclaim", \
	  MOVED("eviction-minimum-reclaim", "evictionMinimumReclaim"), .format = &format_reclaims_today, .accepts = &kubelet_reclaims) \
	X(const char *, volume_plugin_directory, "volumePluginDirectory", MOVED("volume-plugin-dir", "volumePluginDir"), .format = &format_path) \
	X(struct strv, taints, "taints", MOVED("register-with-taints", "registerWithTaints"), .format = &format_taint_today, .accepts = &accepts_taints) \
	X(struct strmap, feature_gates, "featureGates", MOVED("feature-gates", "featureGates"), .format = &format_switch, .accepts = &accepts_gates) \
	X(struct opt_bool, kernel_memcg_notification, "kernelMemcgNotification", \
	  MOVED("kernel-memcg-notification", "kernelMemcgNotification"), .flag_empty = IN_FILE("false")) \
	X(struct strmap, kube_reserved, "kubeReserved", MOVED("kube-reserved", "kubeReserved"), .accepts = &kubelet_reserved) \
	X(const char *, kube_reserved_cgroup, "kubeReservedCgroup", MOVED("kube-reserved-cgroup", "kubeReservedCgroup"), .format = &format_cgroup) \
	X(struct strmap, system_reserved, "systemReserved", MOVED("system-reserved", "systemReserved"), .accepts = &kubelet_reserved) \
	X(const char *, system_reserved_cgroup, "systemReservedCgroup", \
	  MOVED("system-reserved-cgroup", "systemReservedCgroup"), .format = &format_cgroup) \
	X(const char *, enforce_node_allocatable, "enforceNodeAllocatable", \
	  MOVED("enforce-node-allocatable", "enforceNodeAllocatable"), .accepts = &kubelet_enforced) \
	X(struct opt_dur, runtime_request_timeout, "runtimeRequestTimeout", \
	  FLAG("runtime-request-timeout")) \
	X(struct opt_dur, volume_stats_agg_period, "volumeStatsAggPeriod", \
	  FLAG("volume-stats-agg-period")) \
	X(struct opt_bool, fail_swap_on, "failSwapOn", MOVED("fail-swap-on", "failSwapOn")) \
	X(struct strv, experimental_allowed_unsafe_sysctls, "experimentalAllowedUnsafeSysctls", \
	  FLAG("experimental-allowed-unsafe-sysctls"), .accepts = &kubelet_no_flag) \
	X(struct strv, allowed_unsafe_sysctls, "allowedUnsafeSysctls", \
	  MOVED("allowed-unsafe-sysctls", "allowedUnsafeSysctls"), .accepts = &kubelet_sysctls) \
	X(struct opt_dur, streaming_connection_idle_timeout, "streamingConnectionIdleTimeout", \
	  FLAG("streaming-connection-idle-timeout")) \
	X(const char *, root_dir, "rootDir", FLAG("root-dir")) \
	X(struct opt_bool, authentication_token_webhook, "authenticationTokenWebhook", \
	  MOVED("authentication-token-webhook", "authentication.webhook.enabled")) \
	X(struct opt_dur, authentication_token_webhook_cache_ttl, "authenticationTokenWebhookCacheTTL", \
	  FLAG("authentication-token-webhook-cache-ttl")) \
	X(struct opt_bool, cpu_cfs_quota, "cpuCFSQuota", MOVED("cpu-cfs-quota", "cpuCFSQuota")) \
	X(struct opt_dur, cpu_cfs_quota_period, "cpuCFSQuotaPeriod", MOVED("cpu-cfs-quota-period", "cpuCFSQuotaPeriod"), .accepts = &kubelet_cfs_period) \
	X(const char *, cpu_manager_policy, "cpuManagerPolicy", MOVED("cpu-manager-policy", "cpuManagerPolicy"), .accepts = &kubelet_cpu_policy) \
	X(struct opt_int, registry_pull_qps, "registryPullQPS", MOVED("registry-qps", "registryPullQPS"), .accepts = &accepts_not_negative) \
	X(struct opt_int, registry_burst, "registryBurst", FLAG("registry-burst"), .accepts = &accepts_not_negative) \
	X(const char *, topology_manager_policy, "topologyManagerPolicy", \
	  MOVED("topology-manager-policy", "topologyManagerPolicy"), .accepts = &kubelet_topology_policy) \
	X(struct opt_bool, rotate_certificates, "rotateCertificates", MOVED("rotate-certificates", "rotateCertificates"), .flag_empty = IN_FILE("false")) \
	X(struct opt_bool, protect_kernel_defaults, "protectKernelDefaults", \
	  MOVED("protect-kernel-defaults", "protectKernelDefaults"), .flag_empty = IN_FILE("false")) \
	X(const char *, cgroup_driver, "cgroupDriver", MOVED("cgroup-driver", "cgroupDriver")) \
	X(struct opt_dur, housekeeping_interval, "housekeepingInterval", \
	  FLAG("housekeeping-interval")) \
	X(struct opt_int, event_qps, "eventQPS", MOVED("event-qps", "eventRecordQPS"), .flag_empty = IN_FLAGS("0"), .accepts = &accepts_not_negative) \
	X(struct opt_int, event_burst, "eventBurst", FLAG("event-burst"), .accepts = &accepts_not_negative) \
	X(const char *, container_log_max_size, "containerLogMaxSize", \
	  MOVED("container-log-max-size", "containerLogMaxSize"), .accepts = &kubelet_log_size) \
	X(struct opt_int, container_log_max_files, "containerLogMaxFiles", \
	  MOVED("container-log-max-files", "containerLogMaxFiles"), .accepts = &kubelet_log_files) \
	X(struct opt_bool, enable_cadvisor_json_endpoints, "enableCadvisorJsonEndpoints", \
	  FLAG("enable-cadvisor-json-endpoints"), .accepts = &kubelet_no_flag) \
	X(struct opt_int, pod_pids_limit, "podPidsLimit", MOVED("pod-max-pids", "podPidsLimit"), .wide = true) \
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
	X(struct opt_int, kube_apiqps, "kubeAPIQPS", CAME(FLAG("kube-api-qps")), .accepts = &accepts_not_negative) \
	X(struct opt_int, event_record_qps, "eventRecordQPS", CAME(CONF("eventRecordQPS")), .accepts = &accepts_not_negative) \
	X(struct opt_int, node_lease_duration_seconds, "nodeLeaseDurationSeconds", \
	  CAME(CONF("nodeLeaseDurationSeconds")), .flag_empty = "0", .accepts = &kubelet_lease)
/* clang-format on */
