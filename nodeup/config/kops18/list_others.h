/* list_others.h - the keys of docker, kube-proxy, kube-controller-manager and kube-scheduler; see model.h
 * Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.8.1 pkg/apis/kops/{dockerconfig,componentconfig}.go. */
#pragma once

/* clang-format off */
#define DOCKER_SPEC(X) \
	X(struct strv, authorization_plugins, "authorizationPlugins", \
	  .flag = "authorization-plugin", .repeat = true, \
	  .doc = "plugins that decide on API requests") \
	X(const char *, bridge, "bridge", .flag = "bridge", .pointer = true, \
	  .doc = "interface to attach containers to") \
	X(const char *, bridge_ip, "bridgeIP", .flag = "bip", .pointer = true, \
	  .format = &format_cidr, .doc = "address and mask of docker0") \
	X(struct strv, default_ulimit, "defaultUlimit", .flag = "default-ulimit", .repeat = true, \
	  .doc = "limits of every container, name=soft:hard", .accepts = &accepts_ulimit) \
	X(struct opt_bool, ip_masq, "ipMasq", .flag = "ip-masq", \
	  .doc = "masquerade container traffic") \
	X(struct opt_bool, ip_tables, "ipTables", .flag = "iptables", \
	  .doc = "let docker write iptables rules") \
	X(const char *, insecure_registry, "insecureRegistry", .flag = "insecure-registry", \
	  .pointer = true, .doc = "registry reached without TLS") \
	X(const char *, log_driver, "logDriver", .flag = "log-driver", \
	  .doc = "driver that keeps container output", .accepts = &accepts_log_driver) \
	X(const char *, log_level, "logLevel", .flag = "log-level", .pointer = true, \
	  .oneof = "debug|info|warn|error|fatal|", .doc = "debug, info, warn, error or fatal") \
	X(struct strv, log_opt, "logOpt", .flag = "log-opt", .repeat = true, .secret = true, \
	  .doc = "options of the log driver") \
	X(struct opt_int, mtu, "mtu", .flag = "mtu", .max = 65535, \
	  .doc = "MTU of container interfaces") \
	X(struct strv, registry_mirrors, "registryMirrors", .flag = "registry-mirror", \
	  .repeat = true, .secret = true, .doc = "mirrors of the default registry", .accepts = &accepts_mirror) \
	X(const char *, storage, "storage", .flag = "storage-driver", .pointer = true, \
	  .doc = "storage driver; of a list the first this kernel has") \
	X(struct strv, storage_opts, "storageOpts", .flag = "storage-opt", .repeat = true, \
	  .doc = "options of the storage driver") \
	X(const char *, version, "version", .pointer = true, .doc = "docker version to install")

#define KUBE_PROXY_SPEC(X) \
	X(const char *, image, "image", .doc = "container image") \
	X(const char *, cpu_request, "cpuRequest", .format = &format_quantity, \
	  .doc = "CPU request of the pod") \
	X(int64_t, log_level, "logLevel", .flag = "v", .doc = "log verbosity") \
	X(const char *, cluster_cidr, "clusterCIDR", .flag = "cluster-cidr", \
	  .format = &format_cidr, .doc = "pod addresses of the cluster") \
	X(const char *, hostname_override, "hostnameOverride", .flag = "hostname-override", \
	  .doc = "node name; @aws takes it from the instance's metadata") \
	X(const char *, master, "master", .flag = "master", .doc = "address of the API server") \
	X(struct opt_bool, enabled, "enabled", .doc = "false leaves kube-proxy out") \
	X(struct strmap, feature_gates, "featureGates", .flag = "feature-gates", \
	  .keys = FEATURE_GATES, .doc = "feature switches")

#define KCM_SPEC(X) \
	X(const char *, master, "master", .flag = "master", .doc = "address of the API server") \
	X(int64_t, log_level, "logLevel", .flag = "v", .flag_empty = "0", .doc = "log verbosity") \
	X(const char *, service_account_private_key_file, "serviceAccountPrivateKeyFile", \
	  .flag = "service-account-private-key-file", .file = FIELD_FILE, \
	  .doc = "key that signs service account tokens") \
	X(const char *, image, "image", .doc = "container image") \
	X(const char *, cloud_provider, "cloudProvider", .flag = "cloud-provider", \
	  .doc = "cloud integration to use") \
	X(const char *, cluster_name, "clusterName", .flag = "cluster-name", \
	  .doc = "prefix of the cluster's cloud resources") \
	X(const char *, cluster_cidr, "clusterCIDR", .flag = "cluster-cidr", \
	  .format = &format_cidr, .doc = "pod addresses of the cluster") \
	X(struct opt_bool, allocate_node_cidrs, "allocateNodeCIDRs", \
	  .flag = "allocate-node-cidrs", .doc = "give each node a pod range") \
	X(struct opt_bool, configure_cloud_routes, "configureCloudRoutes", \
	  .flag = "configure-cloud-routes", .doc = "route pod ranges in the cloud") \
	X(const char *, root_ca_file, "rootCAFile", .flag = "root-ca-file", .file = FIELD_FILE, \
	  .doc = "CA given to service accounts") \
	X##_NESTED(struct leader_election_spec, leader_election, &leader_election_schema, \
	  "leaderElection", .doc = "leader election") \
	X(struct opt_dur, attach_detach_reconcile_sync_period, "attachDetachReconcileSyncPeriod", \
	  .flag = "attach-detach-reconcile-sync-period", \
	  .doc = "interval of the volume reconciler", .accepts = &accepts_reconcile_period) \
	X(struct opt_int, terminated_pod_gc_threshold, "terminatedPodGCThreshold", \
	  .flag = "terminated-pod-gc-threshold", .doc = "finished pods to keep") \
	X(struct opt_bool, use_service_account_credentials, "useServiceAccountCredentials", \
	  .flag = "use-service-account-credentials", .doc = "one service account a controller") \
	X(struct opt_dur, horizontal_pod_autoscaler_sync_period, \
	  "horizontalPodAutoscalerSyncPeriod", .flag = "horizontal-pod-autoscaler-sync-period", \
	  .doc = "interval of the pod autoscaler") \
	X(struct opt_dur, horizontal_pod_autoscaler_downscale_delay, \
	  "horizontalPodAutoscalerDownscaleDelay", \
	  .flag = "horizontal-pod-autoscaler-downscale-delay", .since = 7, \
	  .doc = "wait before scaling down again") \
	X(struct opt_dur, horizontal_pod_autoscaler_upscale_delay, \
	  "horizontalPodAutoscalerUpscaleDelay", \
	  .flag = "horizontal-pod-autoscaler-upscale-delay", .since = 7, \
	  .doc = "wait before scaling up again") \
	X(struct opt_bool, horizontal_pod_autoscaler_use_rest_clients, \
	  "horizontalPodAutoscalerUseRestClients", \
	  .flag = "horizontal-pod-autoscaler-use-rest-clients", \
	  .doc = "use the custom metrics API") \
	X(struct strmap, feature_gates, "featureGates", .flag = "feature-gates", \
	  .keys = FEATURE_GATES, .doc = "feature switches")

#define SCHEDULER_SPEC(X) \
	X(const char *, master, "master", .flag = "master", .doc = "address of the API server") \
	X(int64_t, log_level, "logLevel", .flag = "v", .doc = "log verbosity") \
	X(const char *, image, "image", .doc = "container image") \
	X##_NESTED(struct leader_election_spec, leader_election, &leader_election_schema, \
	  "leaderElection", .doc = "leader election") \
	X(struct opt_bool, use_policy_config_map, "usePolicyConfigMap", \
	  .doc = "read the policy from a config map") \
	X(struct strmap, feature_gates, "featureGates", .flag = "feature-gates", \
	  .keys = FEATURE_GATES, .doc = "feature switches")

#define LEADER_ELECTION_SPEC(X) \
	X(struct opt_bool, leader_elect, "leaderElect", .flag = "leader-elect", \
	  .doc = "run only while being the leader")
/* clang-format on */
