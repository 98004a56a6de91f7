/* list_kubelet.h - the keys of kubelet; see model.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.8.1 pkg/apis/kops/componentconfig.go KubeletConfigSpec. */
#pragma once

/* clang-format off */
#define KUBELET_SPEC(X) \
	X(const char *, api_servers, "apiServers", .flag = "api-servers", .until = 7, \
	  .doc = "API servers") \
	X(struct opt_bool, anonymous_auth, "anonymousAuth", .flag = "anonymous-auth", \
	  .doc = "answer unauthenticated requests") \
	X(const char *, client_ca_file, "clientCaFile", .flag = "client-ca-file", \
	  .doc = "CA of client certificates") \
	X(const char *, kubeconfig_path, "kubeconfigPath", .flag = "kubeconfig", \
	  .doc = "how to reach the API server") \
	X(struct opt_bool, require_kubeconfig, "requireKubeconfig", .flag = "require-kubeconfig", \
	  .until = 9, .doc = "exit when there is no kubeconfig") \
	X(struct opt_int, log_level, "logLevel", .flag = "v", .flag_empty = "0", \
	  .doc = "log verbosity") \
	X(const char *, pod_manifest_path, "podManifestPath", .flag = "pod-manifest-path", \
	  .doc = "directory of static pods", .format = &format_path) \
	X(const char *, hostname_override, "hostnameOverride", .flag = "hostname-override", \
	  .doc = "node name; @aws takes it from the instance's metadata") \
	X(const char *, pod_infra_container_image, "podInfraContainerImage", \
	  .flag = "pod-infra-container-image", .doc = "image of the pause container") \
	X(const char *, seccomp_profile_root, "seccompProfileRoot", \
	  .flag = "seccomp-profile-root", .pointer = true, .doc = "directory of seccomp profiles") \
	X(struct opt_bool, allow_privileged, "allowPrivileged", .flag = "allow-privileged", \
	  .doc = "allow privileged containers") \
	X(struct opt_bool, enable_debugging_handlers, "enableDebuggingHandlers", \
	  .flag = "enable-debugging-handlers", .doc = "serve logs, exec and attach") \
	X(struct opt_bool, register_node, "registerNode", .flag = "register-node", \
	  .doc = "register with the API server") \
	X(const char *, cluster_domain, "clusterDomain", .flag = "cluster-domain", \
	  .doc = "DNS domain of the cluster") \
	X(const char *, cluster_dns, "clusterDNS", .flag = "cluster-dns", .format = &format_ips, \
	  .doc = "address of the cluster's DNS") \
	X(const char *, network_plugin_name, "networkPluginName", .flag = "network-plugin", \
	  .doc = "kubenet, cni, or none", .accepts = &kubelet_network_plugin_old) \
	X(const char *, cloud_provider, "cloudProvider", .flag = "cloud-provider", \
	  .doc = "cloud integration to use", .accepts = &kubelet_cloud_provider_old) \
	X(const char *, kubelet_cgroups, "kubeletCgroups", .flag = "kubelet-cgroups", \
	  .doc = "cgroup to run kubelet in", .format = &format_cgroup) \
	X(const char *, runtime_cgroups, "runtimeCgroups", .flag = "runtime-cgroups", \
	  .doc = "cgroup of the container runtime", .format = &format_cgroup) \
	X(struct opt_int, read_only_port, "readOnlyPort", .flag = "read-only-port", .accepts = &kubelet_port, \
	  .doc = "port of the unauthenticated API, 0 for none") \
	X(const char *, system_cgroups, "systemCgroups", .flag = "system-cgroups", \
	  .doc = "cgroup of other system processes", .format = &format_cgroup) \
	X(const char *, cgroup_root, "cgroupRoot", .flag = "cgroup-root", \
	  .doc = "cgroup that pods live under", .format = &format_cgroup) \
	X(struct opt_bool, configure_cbr0, "configureCbr0", .flag = "configure-cbr0", .until = 5, \
	  .doc = "let kubelet configure cbr0") \
	X(const char *, hairpin_mode, "hairpinMode", .flag = "hairpin-mode", \
	  .accepts = &kubelet_hairpin, \
	  .doc = "promiscuous-bridge, hairpin-veth or none") \
	X(struct opt_bool, babysit_daemons, "babysitDaemons", .flag = "babysit-daemons", \
	  .until = 6, .doc = "a babysitter watches docker and kubelet") \
	X(struct opt_int, max_pods, "maxPods", .flag = "max-pods", .accepts = &accepts_not_negative, \
	  .doc = "pods this node may run") \
	X(int64_t, nvidia_gpus, "nvidiaGPUs", .flag = "experimental-nvidia-gpus", .until = 5, \
	  .flag_empty = "0", .max = INT32_MAX, .doc = "NVIDIA devices on this node") \
	X(const char *, pod_cidr, "podCIDR", .flag = "pod-cidr", .format = &format_cidr, \
	  .doc = "pod addresses, standalone mode only") \
	X(const char *, resolv_conf, "resolvConf", .flag = "resolv-conf", .include_empty = true, \
	  .pointer = true, .doc = "resolver file for pods; empty means none") \
	X(struct opt_bool, reconcile_cidr, "reconcileCIDR", .flag = "reconcile-cidr", .until = 5, \
	  .doc = "follow the CIDR the API server gives") \
	X(struct opt_bool, register_schedulable, "registerSchedulable", \
	  .flag = "register-schedulable", .doc = "register as schedulable") \
	X(struct opt_bool, serialize_image_pulls, "serializeImagePulls", \
	  .flag = "serialize-image-pulls", .doc = "pull one image at a time") \
	X(struct strmap, node_labels, "nodeLabels", .flag = "node-labels", .accepts = &accepts_node_labels, \
	  .doc = "labels to register with") \
	X(const char *, non_masquerade_cidr, "nonMasqueradeCIDR", .flag = "non-masquerade-cidr", \
	  .format = &format_cidr, .doc = "destinations that are not masqueraded") \
	X(struct opt_bool, enable_custom_metrics, "enableCustomMetrics", \
	  .flag = "enable-custom-metrics", .doc = "collect custom metrics") \
	X(struct opt_int, network_plugin_mtu, "networkPluginMTU", .flag = "network-plugin-mtu", \
	  .max = 65535, .doc = "MTU given to the network plugin") \
	X(struct opt_int, image_gc_high_threshold_percent, "imageGCHighThresholdPercent", \
	  .flag = "image-gc-high-threshold", .accepts = &kubelet_percent, \
	  .doc = "disk use at which images are collected") \
	X(struct opt_int, image_gc_low_threshold_percent, "imageGCLowThresholdPercent", \
	  .flag = "image-gc-low-threshold", .accepts = &kubelet_percent, \
	  .doc = "disk use to collect images down to") \
	X(const char *, eviction_hard, "evictionHard", .flag = "eviction-hard", .pointer = true, \
	  .format = &format_thresholds, .doc = "thresholds that evict at once", .accepts = &kubelet_thresholds_old) \
	X(const char *, eviction_soft, "evictionSoft", .flag = "eviction-soft", \
	  .format = &format_thresholds, .doc = "thresholds that evict after a grace period", .accepts = &kubelet_thresholds_old) \
	X(const char *, eviction_soft_grace_period, "evictionSoftGracePeriod", \
	  .flag = "eviction-soft-grace-period", .format = &format_periods, \
	  .doc = "grace period of each soft threshold", .accepts = &kubelet_periods_old) \
	X(struct opt_dur, eviction_pressure_transition_period, "evictionPressureTransitionPeriod", \
	  .flag = "eviction-pressure-transition-period", .flag_empty = "0s", \
	  .doc = "wait before leaving a pressure condition") \
	X(int64_t, eviction_max_pod_grace_period, "evictionMaxPodGracePeriod", \
	  .flag = "eviction-max-pod-grace-period", .flag_empty = "0", \
	  .doc = "seconds a pod gets on a soft eviction") \
	X(const char *, eviction_minimum_reclaim, "evictionMinimumReclaim", \
	  .flag = "eviction-minimum-reclaim", .format = &format_reclaims, \
	  .doc = "least to reclaim on an eviction", .accepts = &kubelet_reclaims_old) \
	X(const char *, volume_plugin_directory, "volumePluginDirectory", \
	  .flag = "volume-plugin-dir", .doc = "directory of volume plugins") \
	X(struct strv, taints, "taints", .flag = "register-with-taints", .format = &format_taint, .accepts = &accepts_taints, \
	  .doc = "taints to register with") \
	X(struct strmap, feature_gates, "featureGates", .flag = "feature-gates", \
	  .keys = FEATURE_GATES, .doc = "feature switches") \
	X(struct strmap, kube_reserved, "kubeReserved", .flag = "kube-reserved", \
	  .format = &format_quantity, .doc = "resources kept for Kubernetes daemons", .accepts = &kubelet_reserved_old) \
	X(const char *, kube_reserved_cgroup, "kubeReservedCgroup", \
	  .flag = "kube-reserved-cgroup", .doc = "cgroup of Kubernetes daemons", .format = &format_cgroup) \
	X(struct strmap, system_reserved, "systemReserved", .flag = "system-reserved", \
	  .format = &format_quantity, .doc = "resources kept for the system", .accepts = &kubelet_reserved_old) \
	X(const char *, system_reserved_cgroup, "systemReservedCgroup", \
	  .flag = "system-reserved-cgroup", .doc = "cgroup of the system", .format = &format_cgroup) \
	X(const char *, enforce_node_allocatable, "enforceNodeAllocatable", \
	  .flag = "enforce-node-allocatable", .doc = "levels at which allocatable is enforced", .accepts = &kubelet_enforced_old) \
	X(struct opt_dur, runtime_request_timeout, "runtimeRequestTimeout", \
	  .flag = "runtime-request-timeout", .doc = "timeout of requests to the runtime") \
	X(struct opt_dur, volume_stats_agg_period, "volumeStatsAggPeriod", \
	  .flag = "volume-stats-agg-period", .doc = "interval of volume usage scans") \
	/* keys of later versions of kops; without failSwapOn, kubelet 1.8 does not start on a node with swap */ \
	X(struct opt_bool, fail_swap_on, "failSwapOn", .flag = "fail-swap-on", .since = 8, \
	  .doc = "refuse to start where there is swap; needed false for a volume of swap") \
	X(struct opt_bool, docker_disable_shared_pid, "dockerDisableSharedPID", \
	  .flag = "docker-disable-shared-pid", .since = 7, \
	  .doc = "containers of a pod see their own processes only")
/* clang-format on */
