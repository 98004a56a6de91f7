/* list_others.h - the keys of kube-proxy, kube-scheduler and all static pods; see specs.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.37 pkg/apis/kops/componentconfig.go. */
#pragma once

/* clang-format off */
/* Lists the settings of every static pod that kops writes itself. */
#define KOPS_POD_RESOURCES(X) \
	X(const char *, cpu_request, "cpuRequest", \
	  .doc = "CPU request of the pod", .format = &format_quantity) \
	X(const char *, cpu_limit, "cpuLimit", \
	  .doc = "CPU limit of the pod", .format = &format_quantity) \
	X(const char *, memory_request, "memoryRequest", \
	  .doc = "memory request of the pod", .format = &format_quantity) \
	X(const char *, memory_limit, "memoryLimit", \
	  .doc = "memory limit of the pod", .format = &format_quantity)

#define KOPS_KUBE_PROXY(X) \
	X(const char *, image, "image", .doc = "container image") \
	KOPS_POD_RESOURCES(X) \
	X(int64_t, log_level, "logLevel", FLAG("v"), .accepts = &accepts_log_level) \
	X(const char *, cluster_cidr, "clusterCIDR", FLAG("cluster-cidr"), .format = &format_cidrs, .accepts = &proxy_cidrs) \
	X(const char *, hostname_override, "hostnameOverride", FLAG("hostname-override")) \
	X(const char *, bind_address, "bindAddress", FLAG("bind-address"), .accepts = &proxy_address) \
	X(const char *, master, "master", FLAG("master")) \
	X(const char *, metrics_bind_address, "metricsBindAddress", FLAG("metrics-bind-address"), .accepts = &proxy_metrics) \
	X(struct opt_bool, enabled, "enabled", .doc = "false leaves it out") \
	X(const char *, proxy_mode, "proxyMode", FLAG("proxy-mode"), .accepts = &proxy_mode) \
	X(struct strv, ipvs_exclude_cid_rs, "ipvsExcludeCIDRs", FLAG("ipvs-exclude-cidrs"), .format = &format_cidr) \
	X(struct opt_dur, ipvs_min_sync_period, "ipvsMinSyncPeriod", FLAG("ipvs-min-sync-period")) \
	X(const char *, ipvs_scheduler, "ipvsScheduler", FLAG("ipvs-scheduler")) \
	X(struct opt_dur, ipvs_sync_period, "ipvsSyncPeriod", FLAG("ipvs-sync-period")) \
	X(struct strmap, feature_gates, "featureGates", FLAG("feature-gates"), .format = &format_switch, .accepts = &accepts_gates) \
	X(struct opt_int, conntrack_max_per_core, "conntrackMaxPerCore", \
	  FLAG("conntrack-max-per-core"), .accepts = &accepts_not_negative) \
	X(struct opt_int, conntrack_min, "conntrackMin", FLAG("conntrack-min"), .accepts = &accepts_not_negative)

#define KOPS_SCHEDULER(X) \
	X(const char *, master, "master", FLAG("master")) \
	X(const char *, log_format, "logFormat", FLAG("logging-format"), .flag_empty = "text", .accepts = &accepts_log_format) \
	X(int64_t, log_level, "logLevel", FLAG("v"), .accepts = &accepts_log_level) \
	X(const char *, image, "image", .doc = "container image") \
	X(struct opt_bool, use_policy_config_map, "usePolicyConfigMap", .doc = "not used") \
	X(struct strmap, feature_gates, "featureGates", FLAG("feature-gates"), .format = &format_switch, .accepts = &accepts_gates) \
	X(struct opt_int, max_persistent_volumes, "maxPersistentVolumes", \
	  .doc = "KUBE_MAX_PD_VOLS of the pod") \
	X(const char *, qps, "qps", \
	  .doc = "clientConnection.qps of its configuration", .format = &format_quantity) \
	X(int64_t, burst, "burst", .doc = "clientConnection.burst of its configuration", .accepts = &accepts_not_negative) \
	X(const char *, kube_apiqps, "kubeAPIQPS", \
	  FLAG("kube-api-qps"), .format = &format_quantity) \
	X(struct opt_int, kube_api_burst, "kubeAPIBurst", FLAG("kube-api-burst")) \
	X(const char *, authentication_kubeconfig, "authenticationKubeconfig", \
	  FLAG("authentication-kubeconfig"), .file = FIELD_FILE) \
	X(const char *, authorization_kubeconfig, "authorizationKubeconfig", \
	  FLAG("authorization-kubeconfig"), .file = FIELD_FILE) \
	X(struct strv, authorization_always_allow_paths, "authorizationAlwaysAllowPaths", \
	  FLAG("authorization-always-allow-paths"), .accepts = &accepts_allowed_path) \
	X(struct opt_bool, enable_profiling, "enableProfiling", FLAG("profiling")) \
	X(struct opt_bool, enable_contention_profiling, "enableContentionProfiling", \
	  FLAG("contention-profiling")) \
	X(const char *, tls_cert_file, "tlsCertFile", FLAG("tls-cert-file"), .file = FIELD_FILE) \
	X(const char *, tls_private_key_file, "tlsPrivateKeyFile", FLAG("tls-private-key-file"), .file = FIELD_FILE) \
	KOPS_POD_RESOURCES(X) \
	X##_NESTED(struct kops_leader_election, leader_election, &kops_leader_election_schema, \
	  "leaderElection", .doc = "which of several does the work")
/* clang-format on */
