/* list_keys.h - the keys that kube-up writes into kube_env.yaml; see kubeup.h for the struct and fields.c for the table
 * Owner: constants. Errors: none. Threads: all.
 * Source: kubernetes v1.2.0 to v1.5.8 cluster/common.sh build-kube-env. */
#pragma once

/* clang-format off */
#define KUBEUP_KEYS(X) \
	X(const char *, kubernetes_master, "KUBERNETES_MASTER", .oneof = "true|false", .required = true, .doc = "whether this is a master") \
	X(const char *, kubernetes_master_name, "KUBERNETES_MASTER_NAME", .doc = NOTHING) \
	X(const char *, server_binary_tar_url, "SERVER_BINARY_TAR_URL", SECRET, .format = &line, .doc = "URL of the programs and images, with a comma before each mirror") \
	X(const char *, server_binary_tar_hash, "SERVER_BINARY_TAR_HASH", .format = &sha1, .doc = "its sha1") \
	X(const char *, salt_tar_url, "SALT_TAR_URL", SECRET, .format = &line, .doc = "URL of the templates, with a comma before each mirror") \
	X(const char *, salt_tar_hash, "SALT_TAR_HASH", .format = &sha1, .doc = "its sha1") \
	X(const char *, api_servers, "API_SERVERS", .format = &name, .doc = "the master, of a node: 172.20.0.9") \
	X(const char *, kubelet_apiserver, "KUBELET_APISERVER", .format = &name, .doc = "the API server that a master's kubelet registers at") \
	X(const char *, env_timestamp, "ENV_TIMESTAMP", .doc = NOTHING) \
	X(const char *, instance_prefix, "INSTANCE_PREFIX", .format = &name, .doc = "name of the cluster") \
	X(const char *, node_instance_prefix, "NODE_INSTANCE_PREFIX", .doc = NOTHING) \
	X(const char *, node_tags, "NODE_TAGS", .doc = NOTHING) \
	X(const char *, zone, "ZONE", .doc = NOTHING) \
	X(const char *, multizone, "MULTIZONE", .doc = NOTHING) \
	X(const char *, kube_uid, "KUBE_UID", .doc = NOTHING) \
	/* the network */ \
	X(const char *, cluster_ip_range, "CLUSTER_IP_RANGE", .format = &format_cidr, .doc = "addresses of pods") \
	X(const char *, service_cluster_ip_range, "SERVICE_CLUSTER_IP_RANGE", .format = &format_cidr, .doc = "addresses of services") \
	X(const char *, master_ip_range, "MASTER_IP_RANGE", .format = &format_cidr, .doc = "addresses of a master's pods") \
	X(const char *, non_masquerade_cidr, "NON_MASQUERADE_CIDR", .format = &format_cidr, .doc = "addresses that pods reach under their own") \
	X(const char *, allocate_node_cidrs, "ALLOCATE_NODE_CIDRS", BOOL, .doc = "the controller manager gives each node its addresses") \
	X(const char *, network_provider, "NETWORK_PROVIDER", .oneof = "none|kubenet|cni|opencontrail|flannel|", .doc = "the network of pods; opencontrail and flannel are refused") \
	X(const char *, network_policy_provider, "NETWORK_POLICY_PROVIDER", .oneof = "calico|none|", .doc = "what keeps pods apart, on nodes") \
	X(const char *, hairpin_mode, "HAIRPIN_MODE", .oneof = "promiscuous-bridge|hairpin-veth|none|", .doc = "how a pod reaches itself by its service, on nodes") \
	X(const char *, opencontrail_tag, "OPENCONTRAIL_TAG", .doc = NOTHING) \
	X(const char *, opencontrail_kubernetes_tag, "OPENCONTRAIL_KUBERNETES_TAG", .doc = NOTHING) \
	X(const char *, opencontrail_public_subnet, "OPENCONTRAIL_PUBLIC_SUBNET", .doc = NOTHING) \
	X(const char *, kubernetes_configure_cbr0, "KUBERNETES_CONFIGURE_CBR0", .doc = NOTHING) \
	X(const char *, enable_l7_loadbalancing, "ENABLE_L7_LOADBALANCING", .doc = NOTHING) \
	/* the control plane */ \
	X(const char *, admission_control, "ADMISSION_CONTROL", .format = &line, .doc = "the API server's --admission-control", .accepts = &accepts_admission_plugin_old) \
	X(const char *, runtime_config, "RUNTIME_CONFIG", .format = &line, .doc = "the API server's --runtime-config") \
	X(const char *, kube_apiserver_request_timeout, "KUBE_APISERVER_REQUEST_TIMEOUT", .format = &number, .doc = "the API server's --min-request-timeout") \
	X(const char *, num_nodes, "NUM_NODES", .format = &number, .doc = "how many nodes the master is for") \
	X(const char *, terminated_pod_gc_threshold, "TERMINATED_POD_GC_THRESHOLD", .format = &signed_number, .doc = "the controller manager's --terminated-pod-gc-threshold; none below 1") \
	X(const char *, feature_gates, "FEATURE_GATES", .format = &line, .doc = "--feature-gates of all programs", .accepts = &gate_pairs_old) \
	X(const char *, master_advertise_address, "MASTER_ADVERTISE_ADDRESS", .doc = NOTHING) \
	X(const char *, enable_apiserver_basic_audit, "ENABLE_APISERVER_BASIC_AUDIT", .doc = NOTHING) \
	X(const char *, enable_garbage_collector, "ENABLE_GARBAGE_COLLECTOR", .doc = NOTHING) \
	X(const char *, scheduling_algorithm_provider, "SCHEDULING_ALGORITHM_PROVIDER", .doc = NOTHING) \
	X(const char *, enable_manifest_url, "ENABLE_MANIFEST_URL", BOOL, .doc = "kubelet asks MANIFEST_URL for pods") \
	X(const char *, manifest_url, "MANIFEST_URL", SECRET, .format = &line, .doc = "kubelet's --manifest-url") \
	X(const char *, manifest_url_header, "MANIFEST_URL_HEADER", SECRET, .format = &line, .doc = "kubelet's --manifest-url-header") \
	/* etcd */ \
	X(const char *, storage_backend, "STORAGE_BACKEND", .oneof = "etcd2|etcd3|", .doc = "how the API server stores") \
	X(const char *, etcd_image, "ETCD_IMAGE", .format = &name, .doc = "tag of etcd's image: 2.2.1") \
	X(const char *, test_etcd_version, "TEST_ETCD_VERSION", .format = &name, .doc = "the same, to 1.4.5") \
	X(const char *, etcd_version, "ETCD_VERSION", .format = &name, .doc = "etcd's TARGET_VERSION") \
	X(const char *, etcd_quorum_read, "ETCD_QUORUM_READ", BOOL, .doc = "the API server's --etcd-quorum-read") \
	X(const char *, initial_etcd_cluster, "INITIAL_ETCD_CLUSTER", .format = &line, .doc = "etcd's members, with a comma between each") \
	X(const char *, initial_etcd_cluster_state, "INITIAL_ETCD_CLUSTER_STATE", .oneof = "new|existing|", .doc = "etcd's --initial-cluster-state") \
	X(const char *, etcd_ca_key, "ETCD_CA_KEY", SECRET, .doc = "etcd's TLS takes all four of these") \
	X(const char *, etcd_ca_cert, "ETCD_CA_CERT", SECRET, .doc = "the CA of etcd's peers") \
	X(const char *, etcd_peer_key, "ETCD_PEER_KEY", SECRET, .doc = "the key of etcd's peers") \
	X(const char *, etcd_peer_cert, "ETCD_PEER_CERT", SECRET, .doc = "the certificate of etcd's peers") \
	/* authentication and authorisation */ \
	X(const char *, ca_cert, "CA_CERT", SECRET, .doc = "the cluster's CA, base64 of PEM as the next six") \
	X(const char *, kubelet_cert, "KUBELET_CERT", SECRET, .doc = "kubelet's certificate") \
	X(const char *, kubelet_key, "KUBELET_KEY", SECRET, .doc = "its key") \
	X(const char *, master_cert, "MASTER_CERT", SECRET, .doc = "the API server's certificate") \
	X(const char *, master_key, "MASTER_KEY", SECRET, .doc = "its key") \
	X(const char *, kubecfg_cert, "KUBECFG_CERT", SECRET, .doc = "an administrator's certificate") \
	X(const char *, kubecfg_key, "KUBECFG_KEY", SECRET, .doc = "its key") \
	X(const char *, kube_user, "KUBE_USER", SECRET, .format = &csv, .doc = "the administrator's name") \
	X(const char *, kube_password, "KUBE_PASSWORD", SECRET, .format = &csv, .doc = "the administrator's password") \
	X(const char *, kube_bearer_token, "KUBE_BEARER_TOKEN", SECRET, .format = &csv, .doc = "the administrator's token") \
	X(const char *, kubelet_token, "KUBELET_TOKEN", SECRET, .format = &csv, .doc = "the token of kubelets") \
	X(const char *, kube_proxy_token, "KUBE_PROXY_TOKEN", SECRET, .format = &csv, .doc = "the token of kube-proxies") \
	/* addons */ \
	X(const char *, enable_cluster_dns, "ENABLE_CLUSTER_DNS", BOOL, .doc = "addon: DNS of services") \
	X(const char *, dns_server_ip, "DNS_SERVER_IP", .format = &format_ip, .doc = "its address") \
	X(const char *, dns_domain, "DNS_DOMAIN", .format = &name, .doc = "its domain") \
	X(const char *, dns_replicas, "DNS_REPLICAS", .format = &number, .doc = "its pods, to 1.4") \
	X(const char *, enable_dns_horizontal_autoscaler, "ENABLE_DNS_HORIZONTAL_AUTOSCALER", BOOL, .doc = "addon: as many of its pods as it takes") \
	X(const char *, enable_cluster_monitoring, "ENABLE_CLUSTER_MONITORING", .oneof = "none|influxdb|google|googleinfluxdb|standalone|", .doc = "addon: heapster, and where it writes") \
	X(const char *, enable_cluster_logging, "ENABLE_CLUSTER_LOGGING", BOOL, .doc = "addon: a store of logs") \
	X(const char *, enable_node_logging, "ENABLE_NODE_LOGGING", BOOL, .doc = "a pod on each node that sends its logs there") \
	X(const char *, logging_destination, "LOGGING_DESTINATION", .oneof = "elasticsearch|gcp|", .doc = "which store") \
	X(const char *, elasticsearch_logging_replicas, "ELASTICSEARCH_LOGGING_REPLICAS", .format = &number, .doc = "its pods") \
	X(const char *, enable_cluster_ui, "ENABLE_CLUSTER_UI", BOOL, .doc = "addon: the dashboard") \
	X(const char *, enable_cluster_registry, "ENABLE_CLUSTER_REGISTRY", BOOL, .doc = "addon: a registry of images") \
	X(const char *, cluster_registry_disk, "CLUSTER_REGISTRY_DISK", .format = &line, .doc = "its disk") \
	X(const char *, cluster_registry_disk_size, "CLUSTER_REGISTRY_DISK_SIZE", .format = &line, .doc = "and its size") \
	X(const char *, enable_node_problem_detector, "ENABLE_NODE_PROBLEM_DETECTOR", BOOL, .doc = "addon: it tells of faults of nodes") \
	X(const char *, enable_rescheduler, "ENABLE_RESCHEDULER", BOOL, .doc = "a pod of the master that makes room for addons") \
	X(const char *, prepull_e2e_images, "PREPULL_E2E_IMAGES", BOOL, .doc = "a pod on each node that pulls images of tests") \
	X(const char *, enable_cluster_autoscaler, "ENABLE_CLUSTER_AUTOSCALER", BOOL, .doc = "not on AWS") \
	X(const char *, autoscaler_mig_config, "AUTOSCALER_MIG_CONFIG", .doc = NOTHING) \
	X(const char *, federation, "FEDERATION", BOOL, .doc = "the cluster's DNS is one of a federation") \
	X(const char *, federations_domain_map, "FEDERATIONS_DOMAIN_MAP", .format = &line, .doc = "name=domain of each federation") \
	X(const char *, federation_name, "FEDERATION_NAME", .format = &line, .doc = "the federation's name") \
	X(const char *, dns_zone_name, "DNS_ZONE_NAME", .format = &line, .doc = "the federation's domain") \
	/* docker, images and kubelet */ \
	X(const char *, docker_storage, "DOCKER_STORAGE", .oneof = "aufs|aufs-nolvm|btrfs|devicemapper|overlay|", .usual = "aufs", .doc = "docker's storage, on the instance store") \
	X(const char *, kube_aws_storage, "KUBE_AWS_STORAGE", .oneof = "ephemeral|ebs|", .usual = "ephemeral", .doc = "ebs leaves the instance store alone; not of kube-up's document") \
	X(const char *, extra_docker_opts, "EXTRA_DOCKER_OPTS", SECRET, .format = &line, .doc = "more options of docker, on nodes") \
	X(const char *, docker_registry_mirror_url, "DOCKER_REGISTRY_MIRROR_URL", SECRET, .format = &line, .doc = "docker's --registry-mirror, on nodes") \
	X(const char *, kube_docker_registry, "KUBE_DOCKER_REGISTRY", .format = &line, .usual = "gcr.io/google_containers", .doc = "registry of Kubernetes' images") \
	X(const char *, kube_image_tag, "KUBE_IMAGE_TAG", .format = &name, .doc = "their tag: what the programs' archive says") \
	X(const char *, kube_addon_registry, "KUBE_ADDON_REGISTRY", .format = &line, .doc = "registry of the addons' images") \
	X(const char *, node_labels, "NODE_LABELS", .format = &line, .accepts = &accepts_label_pairs, .doc = "kubelet's --node-labels") \
	X(const char *, eviction_hard, "EVICTION_HARD", .format = &format_thresholds, .doc = "kubelet's --eviction-hard", .accepts = &kubelet_thresholds_old) \
	X(const char *, kubelet_port, "KUBELET_PORT", .format = &number, .doc = "kubelet's --port", .accepts = &kubelet_port) \
	X(const char *, enable_custom_metrics, "ENABLE_CUSTOM_METRICS", BOOL, .doc = "kubelet's --enable-custom-metrics") \
	/* the host, and tests */ \
	X(const char *, auto_upgrade, "AUTO_UPGRADE", BOOL, .usual = "false", .doc = "updates of the distribution install themselves") \
	X(const char *, e2e_storage_test_environment, "E2E_STORAGE_TEST_ENVIRONMENT", BOOL, .doc = "what tests of storage need") \
	X(const char *, softlockup_panic, "SOFTLOCKUP_PANIC", BOOL, .doc = "the kernel panics when it hangs") \
	X(const char *, test_cluster, "TEST_CLUSTER", .doc = NOTHING) \
	X(const char *, kubelet_test_args, "KUBELET_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of kubelet") \
	X(const char *, kubelet_test_log_level, "KUBELET_TEST_LOG_LEVEL", .format = &line, .doc = "instead of --v=2, as all of these but docker's") \
	X(const char *, docker_test_log_level, "DOCKER_TEST_LOG_LEVEL", .format = &line, .doc = "instead of --log-level=warn") \
	X(const char *, apiserver_test_args, "APISERVER_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of the API server") \
	X(const char *, apiserver_test_log_level, "APISERVER_TEST_LOG_LEVEL", .doc = "has no effect: kube-up asks for another key") \
	X(const char *, controller_manager_test_args, "CONTROLLER_MANAGER_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of the controller manager") \
	X(const char *, controller_manager_test_log_level, "CONTROLLER_MANAGER_TEST_LOG_LEVEL", .format = &line, .doc = "its --v") \
	X(const char *, scheduler_test_args, "SCHEDULER_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of the scheduler") \
	X(const char *, scheduler_test_log_level, "SCHEDULER_TEST_LOG_LEVEL", .format = &line, .doc = "its --v") \
	X(const char *, kubeproxy_test_args, "KUBEPROXY_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of kube-proxy") \
	X(const char *, kubeproxy_test_log_level, "KUBEPROXY_TEST_LOG_LEVEL", .format = &line, .doc = "its --v")
/* clang-format on */
