#include "nodeup/config/kubeup/kubeup.h"

#include <ctype.h>
#include <string.h>

enum { SHA1_HEX = 40, NUMBER_MAX = 9, TOKEN_MAX = 1024 };

static bool is_number(const char *s)
{
	const size_t n = strspn(s, "0123456789");

	return n > 0 && n <= NUMBER_MAX && s[n] == '\0';
}

static bool is_sha1(const char *s)
{
	return strspn(s, "0123456789abcdefABCDEF") == SHA1_HEX && s[SHA1_HEX] == '\0';
}

/* They become a field of a line of a file, between commas. */
static bool is_csv_field(const char *s)
{
	if (strlen(s) > TOKEN_MAX)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || strchr(",\"", *s))
			return false;
	return true;
}

/* It becomes a name of files and a part of flags. */
static bool is_name(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-._", *s))
			return false;
	return true;
}

/* Flags and URLs become words of a command line in a manifest. */
static bool is_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static const struct field_format number = { "a number", is_number };
static const struct field_format sha1 = { "a sha1 of 40 hex digits", is_sha1 };
static const struct field_format csv = { "a text without comma, quote and blank", is_csv_field };
static const struct field_format name = { "a name", is_name };
static const struct field_format line = { "a text of one line", is_line };

/* clang-format off */

#define BOOL .oneof = "true|false|"
#define SECRET .secret = true
#define NOTHING "has no effect on AWS"

static const struct field env_fields[] = {
#define F(m, k, ...) FIELD(struct kubeup_env, m, .key = k, __VA_ARGS__)
	F(kubernetes_master, "KUBERNETES_MASTER", .oneof = "true|false", .required = true, .doc = "whether this is a master"),
	F(kubernetes_master_name, "KUBERNETES_MASTER_NAME", .doc = NOTHING),
	F(server_binary_tar_url, "SERVER_BINARY_TAR_URL", SECRET, .format = &line, .doc = "URL of the programs and images, with a comma before each mirror"),
	F(server_binary_tar_hash, "SERVER_BINARY_TAR_HASH", .format = &sha1, .doc = "its sha1"),
	F(salt_tar_url, "SALT_TAR_URL", SECRET, .format = &line, .doc = "URL of the templates, with a comma before each mirror"),
	F(salt_tar_hash, "SALT_TAR_HASH", .format = &sha1, .doc = "its sha1"),
	F(api_servers, "API_SERVERS", .format = &name, .doc = "the master, of a node: 172.20.0.9"),
	F(kubelet_apiserver, "KUBELET_APISERVER", .format = &name, .doc = "the API server that a master's kubelet registers at"),
	F(env_timestamp, "ENV_TIMESTAMP", .doc = NOTHING),
	F(instance_prefix, "INSTANCE_PREFIX", .format = &name, .doc = "name of the cluster"),
	F(node_instance_prefix, "NODE_INSTANCE_PREFIX", .doc = NOTHING),
	F(node_tags, "NODE_TAGS", .doc = NOTHING),
	F(zone, "ZONE", .doc = NOTHING),
	F(multizone, "MULTIZONE", .doc = NOTHING),
	F(kube_uid, "KUBE_UID", .doc = NOTHING),

	F(cluster_ip_range, "CLUSTER_IP_RANGE", .format = &format_cidr, .doc = "addresses of pods"),
	F(service_cluster_ip_range, "SERVICE_CLUSTER_IP_RANGE", .format = &format_cidr, .doc = "addresses of services"),
	F(master_ip_range, "MASTER_IP_RANGE", .format = &format_cidr, .doc = "addresses of a master's pods"),
	F(non_masquerade_cidr, "NON_MASQUERADE_CIDR", .format = &format_cidr, .doc = "addresses that pods reach under their own"),
	F(allocate_node_cidrs, "ALLOCATE_NODE_CIDRS", BOOL, .doc = "the controller manager gives each node its addresses"),
	F(network_provider, "NETWORK_PROVIDER", .oneof = "none|kubenet|cni|opencontrail|flannel|", .doc = "the network of pods; opencontrail and flannel are refused"),
	F(network_policy_provider, "NETWORK_POLICY_PROVIDER", .oneof = "calico|none|", .doc = "what keeps pods apart, on nodes"),
	F(hairpin_mode, "HAIRPIN_MODE", .oneof = "promiscuous-bridge|hairpin-veth|none|", .doc = "how a pod reaches itself by its service, on nodes"),
	F(opencontrail_tag, "OPENCONTRAIL_TAG", .doc = NOTHING),
	F(opencontrail_kubernetes_tag, "OPENCONTRAIL_KUBERNETES_TAG", .doc = NOTHING),
	F(opencontrail_public_subnet, "OPENCONTRAIL_PUBLIC_SUBNET", .doc = NOTHING),
	F(kubernetes_configure_cbr0, "KUBERNETES_CONFIGURE_CBR0", .doc = NOTHING),
	F(enable_l7_loadbalancing, "ENABLE_L7_LOADBALANCING", .doc = NOTHING),

	F(admission_control, "ADMISSION_CONTROL", .format = &line, .doc = "the API server's --admission-control"),
	F(runtime_config, "RUNTIME_CONFIG", .format = &line, .doc = "the API server's --runtime-config"),
	F(kube_apiserver_request_timeout, "KUBE_APISERVER_REQUEST_TIMEOUT", .format = &number, .doc = "the API server's --min-request-timeout"),
	F(num_nodes, "NUM_NODES", .format = &number, .doc = "how many nodes the master is for"),
	F(terminated_pod_gc_threshold, "TERMINATED_POD_GC_THRESHOLD", .format = &number, .doc = "the controller manager's --terminated-pod-gc-threshold"),
	F(feature_gates, "FEATURE_GATES", .format = &line, .doc = "--feature-gates of all programs"),
	F(master_advertise_address, "MASTER_ADVERTISE_ADDRESS", .doc = NOTHING),
	F(enable_apiserver_basic_audit, "ENABLE_APISERVER_BASIC_AUDIT", .doc = NOTHING),
	F(enable_garbage_collector, "ENABLE_GARBAGE_COLLECTOR", .doc = NOTHING),
	F(scheduling_algorithm_provider, "SCHEDULING_ALGORITHM_PROVIDER", .doc = NOTHING),
	F(enable_manifest_url, "ENABLE_MANIFEST_URL", BOOL, .doc = "kubelet asks MANIFEST_URL for pods"),
	F(manifest_url, "MANIFEST_URL", SECRET, .format = &line, .doc = "kubelet's --manifest-url"),
	F(manifest_url_header, "MANIFEST_URL_HEADER", SECRET, .format = &line, .doc = "kubelet's --manifest-url-header"),

	F(storage_backend, "STORAGE_BACKEND", .oneof = "etcd2|etcd3|", .doc = "how the API server stores"),
	F(etcd_image, "ETCD_IMAGE", .format = &name, .doc = "tag of etcd's image: 2.2.1"),
	F(test_etcd_version, "TEST_ETCD_VERSION", .format = &name, .doc = "the same, to 1.4.5"),
	F(etcd_version, "ETCD_VERSION", .format = &name, .doc = "etcd's TARGET_VERSION"),
	F(etcd_quorum_read, "ETCD_QUORUM_READ", BOOL, .doc = "the API server's --etcd-quorum-read"),
	F(initial_etcd_cluster, "INITIAL_ETCD_CLUSTER", .format = &line, .doc = "etcd's members, with a comma between each"),
	F(initial_etcd_cluster_state, "INITIAL_ETCD_CLUSTER_STATE", .oneof = "new|existing|", .doc = "etcd's --initial-cluster-state"),
	F(etcd_ca_key, "ETCD_CA_KEY", SECRET, .doc = "etcd's TLS takes all four of these"),
	F(etcd_ca_cert, "ETCD_CA_CERT", SECRET, .doc = "the CA of etcd's peers"),
	F(etcd_peer_key, "ETCD_PEER_KEY", SECRET, .doc = "the key of etcd's peers"),
	F(etcd_peer_cert, "ETCD_PEER_CERT", SECRET, .doc = "the certificate of etcd's peers"),

	F(ca_cert, "CA_CERT", SECRET, .doc = "the cluster's CA, base64 of PEM as the next six"),
	F(kubelet_cert, "KUBELET_CERT", SECRET, .doc = "kubelet's certificate"),
	F(kubelet_key, "KUBELET_KEY", SECRET, .doc = "its key"),
	F(master_cert, "MASTER_CERT", SECRET, .doc = "the API server's certificate"),
	F(master_key, "MASTER_KEY", SECRET, .doc = "its key"),
	F(kubecfg_cert, "KUBECFG_CERT", SECRET, .doc = "an administrator's certificate"),
	F(kubecfg_key, "KUBECFG_KEY", SECRET, .doc = "its key"),
	F(kube_user, "KUBE_USER", SECRET, .format = &csv, .doc = "the administrator's name"),
	F(kube_password, "KUBE_PASSWORD", SECRET, .format = &csv, .doc = "the administrator's password"),
	F(kube_bearer_token, "KUBE_BEARER_TOKEN", SECRET, .format = &csv, .doc = "the administrator's token"),
	F(kubelet_token, "KUBELET_TOKEN", SECRET, .format = &csv, .doc = "the token of kubelets"),
	F(kube_proxy_token, "KUBE_PROXY_TOKEN", SECRET, .format = &csv, .doc = "the token of kube-proxies"),

	F(enable_cluster_dns, "ENABLE_CLUSTER_DNS", BOOL, .doc = "addon: DNS of services"),
	F(dns_server_ip, "DNS_SERVER_IP", .format = &format_ip, .doc = "its address"),
	F(dns_domain, "DNS_DOMAIN", .format = &name, .doc = "its domain"),
	F(dns_replicas, "DNS_REPLICAS", .format = &number, .doc = "its pods, to 1.4"),
	F(enable_dns_horizontal_autoscaler, "ENABLE_DNS_HORIZONTAL_AUTOSCALER", BOOL, .doc = "addon: as many of its pods as it takes"),
	F(enable_cluster_monitoring, "ENABLE_CLUSTER_MONITORING", .oneof = "none|influxdb|google|googleinfluxdb|standalone|", .doc = "addon: heapster, and where it writes"),
	F(enable_cluster_logging, "ENABLE_CLUSTER_LOGGING", BOOL, .doc = "addon: a store of logs"),
	F(enable_node_logging, "ENABLE_NODE_LOGGING", BOOL, .doc = "a pod on each node that sends its logs there"),
	F(logging_destination, "LOGGING_DESTINATION", .oneof = "elasticsearch|gcp|", .doc = "which store"),
	F(elasticsearch_logging_replicas, "ELASTICSEARCH_LOGGING_REPLICAS", .format = &number, .doc = "its pods"),
	F(enable_cluster_ui, "ENABLE_CLUSTER_UI", BOOL, .doc = "addon: the dashboard"),
	F(enable_cluster_registry, "ENABLE_CLUSTER_REGISTRY", BOOL, .doc = "addon: a registry of images"),
	F(cluster_registry_disk, "CLUSTER_REGISTRY_DISK", .format = &line, .doc = "its disk"),
	F(cluster_registry_disk_size, "CLUSTER_REGISTRY_DISK_SIZE", .format = &line, .doc = "and its size"),
	F(enable_node_problem_detector, "ENABLE_NODE_PROBLEM_DETECTOR", BOOL, .doc = "addon: it tells of faults of nodes"),
	F(enable_rescheduler, "ENABLE_RESCHEDULER", BOOL, .doc = "a pod of the master that makes room for addons"),
	F(prepull_e2e_images, "PREPULL_E2E_IMAGES", BOOL, .doc = "a pod on each node that pulls images of tests"),
	F(enable_cluster_autoscaler, "ENABLE_CLUSTER_AUTOSCALER", BOOL, .doc = "not on AWS"),
	F(autoscaler_mig_config, "AUTOSCALER_MIG_CONFIG", .doc = NOTHING),
	F(federation, "FEDERATION", BOOL, .doc = "the cluster's DNS is one of a federation"),
	F(federations_domain_map, "FEDERATIONS_DOMAIN_MAP", .format = &line, .doc = "name=domain of each federation"),
	F(federation_name, "FEDERATION_NAME", .format = &line, .doc = "the federation's name"),
	F(dns_zone_name, "DNS_ZONE_NAME", .format = &line, .doc = "the federation's domain"),

	F(docker_storage, "DOCKER_STORAGE", .oneof = "aufs|aufs-nolvm|btrfs|devicemapper|overlay|", .usual = "aufs", .doc = "docker's storage, on the instance store"),
	F(extra_docker_opts, "EXTRA_DOCKER_OPTS", SECRET, .format = &line, .doc = "more options of docker, on nodes"),
	F(docker_registry_mirror_url, "DOCKER_REGISTRY_MIRROR_URL", SECRET, .format = &line, .doc = "docker's --registry-mirror, on nodes"),
	F(kube_docker_registry, "KUBE_DOCKER_REGISTRY", .format = &line, .usual = "gcr.io/google_containers", .doc = "registry of Kubernetes' images"),
	F(kube_image_tag, "KUBE_IMAGE_TAG", .format = &name, .doc = "their tag: what the programs' archive says"),
	F(kube_addon_registry, "KUBE_ADDON_REGISTRY", .format = &line, .doc = "registry of the addons' images"),
	F(node_labels, "NODE_LABELS", .format = &line, .doc = "kubelet's --node-labels"),
	F(eviction_hard, "EVICTION_HARD", .format = &format_thresholds, .doc = "kubelet's --eviction-hard"),
	F(kubelet_port, "KUBELET_PORT", .format = &number, .doc = "kubelet's --port"),
	F(enable_custom_metrics, "ENABLE_CUSTOM_METRICS", BOOL, .doc = "kubelet's --enable-custom-metrics"),

	F(auto_upgrade, "AUTO_UPGRADE", BOOL, .usual = "false", .doc = "updates of the distribution install themselves"),
	F(e2e_storage_test_environment, "E2E_STORAGE_TEST_ENVIRONMENT", BOOL, .doc = "what tests of storage need"),
	F(softlockup_panic, "SOFTLOCKUP_PANIC", BOOL, .doc = "the kernel panics when it hangs"),
	F(test_cluster, "TEST_CLUSTER", .doc = NOTHING),
	F(kubelet_test_args, "KUBELET_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of kubelet"),
	F(kubelet_test_log_level, "KUBELET_TEST_LOG_LEVEL", .format = &line, .doc = "instead of --v=2, as all of these but docker's"),
	F(docker_test_log_level, "DOCKER_TEST_LOG_LEVEL", .format = &line, .doc = "instead of --log-level=warn"),
	F(apiserver_test_args, "APISERVER_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of the API server"),
	F(apiserver_test_log_level, "APISERVER_TEST_LOG_LEVEL", .doc = "has no effect: kube-up asks for another key"),
	F(controller_manager_test_args, "CONTROLLER_MANAGER_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of the controller manager"),
	F(controller_manager_test_log_level, "CONTROLLER_MANAGER_TEST_LOG_LEVEL", .format = &line, .doc = "its --v"),
	F(scheduler_test_args, "SCHEDULER_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of the scheduler"),
	F(scheduler_test_log_level, "SCHEDULER_TEST_LOG_LEVEL", .format = &line, .doc = "its --v"),
	F(kubeproxy_test_args, "KUBEPROXY_TEST_ARGS", SECRET, .format = &line, .doc = "more flags of kube-proxy"),
	F(kubeproxy_test_log_level, "KUBEPROXY_TEST_LOG_LEVEL", .format = &line, .doc = "its --v"),
#undef F
#define F(m, ...) FIELD(struct kubeup_env, settings.m, __VA_ARGS__)
	F(url_rewrites, .key = "urlRewrites", .shape = TREE_SEQ, SECRET, .doc = "as in nodeup.d; not of kube-up, nor are the next eight"),
	F(mirrors, .key = "mirrors", .shape = TREE_SEQ, SECRET, .doc = "as in nodeup.d"),
	F(ca_bundle, .key = "caBundle", .doc = "as in nodeup.d"),
	F(public_keys, .key = "publicKeys", .shape = TREE_SEQ, .doc = "as in nodeup.d"),
	F(require_signatures, .key = "requireSignatures", .doc = "as in nodeup.d"),
	F(ignore_host_checks, .key = "ignoreHostChecks", .doc = "as in nodeup.d"),
	F(quiet_console, .key = "quietConsole", .doc = "as in nodeup.d"),
	F(console_after, .key = "consoleAfter", .doc = "as in nodeup.d"),
	F(status_url, .key = "statusURL", .doc = "as in nodeup.d"),
#undef F
};
/* clang-format on */

const struct schema kubeup_env_schema =
	SCHEMA(struct kubeup_env, "kube_env.yaml of kube-up", env_fields);
