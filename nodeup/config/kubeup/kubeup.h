/* kubeup.h - the dialect of kube-up on AWS, Kubernetes 1.2 to 1.5: one flat kube_env.yaml
 * kube-up writes each value as a text in quotes. Its script exports them as variables of a shell, so
 * that a key counts in capitals alone. What the script would read as another text is an error here.
 * Invariant: pure; no file, network or clock.
 * Bodies: env.c, script.c, version.c.
 * Owner: the arena. Errors: CONFIG with file:line:column; no message shows a value that may be a secret.
 * Threads: all functions. Source: kubernetes v1.2.0 to v1.5.8 cluster/common.sh build-kube-env,
 * cluster/aws/util.sh, cluster/gce/configure-vm.sh. */
#pragma once

#include "nodeup/config/dialect.h"

/* kube_env.yaml. A key that is not there is NULL. */
struct kubeup_env {
	const char *kubernetes_master, *kubernetes_master_name;
	const char *server_binary_tar_url, *server_binary_tar_hash, *salt_tar_url, *salt_tar_hash;
	const char *api_servers, *kubelet_apiserver;
	const char *env_timestamp, *instance_prefix, *node_instance_prefix, *node_tags, *zone,
		*multizone;
	const char *kube_uid;
	/* the network */
	const char *cluster_ip_range, *service_cluster_ip_range, *master_ip_range,
		*non_masquerade_cidr;
	const char *allocate_node_cidrs, *network_provider, *network_policy_provider, *hairpin_mode;
	const char *opencontrail_tag, *opencontrail_kubernetes_tag, *opencontrail_public_subnet;
	const char *kubernetes_configure_cbr0, *enable_l7_loadbalancing;
	/* the control plane */
	const char *admission_control, *runtime_config, *kube_apiserver_request_timeout, *num_nodes;
	const char *terminated_pod_gc_threshold, *feature_gates, *master_advertise_address;
	const char *enable_apiserver_basic_audit, *enable_garbage_collector;
	const char *scheduling_algorithm_provider, *enable_manifest_url, *manifest_url;
	const char *manifest_url_header;
	/* etcd */
	const char *storage_backend, *etcd_image, *test_etcd_version, *etcd_version,
		*etcd_quorum_read;
	const char *initial_etcd_cluster, *initial_etcd_cluster_state;
	const char *etcd_ca_key, *etcd_ca_cert, *etcd_peer_key, *etcd_peer_cert;
	/* who may do what */
	const char *ca_cert, *kubelet_cert, *kubelet_key, *master_cert, *master_key;
	const char *kubecfg_cert, *kubecfg_key;
	const char *kube_user, *kube_password, *kube_bearer_token, *kubelet_token,
		*kube_proxy_token;
	/* addons */
	const char *enable_cluster_dns, *dns_server_ip, *dns_domain, *dns_replicas;
	const char *enable_dns_horizontal_autoscaler, *enable_cluster_monitoring;
	const char *enable_cluster_logging, *enable_node_logging, *logging_destination;
	const char *elasticsearch_logging_replicas, *enable_cluster_ui, *enable_cluster_registry;
	const char *cluster_registry_disk, *cluster_registry_disk_size,
		*enable_node_problem_detector;
	const char *enable_rescheduler, *prepull_e2e_images, *enable_cluster_autoscaler;
	const char *autoscaler_mig_config, *federation, *federations_domain_map, *federation_name;
	const char *dns_zone_name;
	/* docker, images and kubelet */
	const char *docker_storage, *extra_docker_opts, *docker_registry_mirror_url;
	const char *kube_docker_registry, *kube_image_tag, *kube_addon_registry;
	const char *node_labels, *eviction_hard, *kubelet_port, *enable_custom_metrics;
	/* the host, and tests */
	const char *auto_upgrade, *e2e_storage_test_environment, *softlockup_panic, *test_cluster;
	const char *kubelet_test_args, *kubelet_test_log_level, *docker_test_log_level;
	const char *apiserver_test_args, *apiserver_test_log_level;
	const char *controller_manager_test_args, *controller_manager_test_log_level;
	const char *scheduler_test_args, *scheduler_test_log_level;
	const char *kubeproxy_test_args, *kubeproxy_test_log_level;

	struct settings_doc settings; /* ours */
	const struct tree *tree;      /* the document, for positions */
	bool is_master;
	struct version kubernetes; /* the oldest that writes such a document */
};

/* Its keys. */
extern const struct schema kubeup_env_schema;

/* Read kube_env.yaml and check it by itself. */
int kubeup_env(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	       struct kubeup_env *ret, struct err *e) must_check;
/* The place of a key for a message: "file:line:column: ", of the document where it has no such key. */
const char *kubeup_where(struct arena *a, const struct tree *t, const char *key);
/* Which Kubernetes writes such a document. Its keys say so: no value does. */
int kubeup_version(struct arena *a, const struct tree *t, struct version *ret,
		   struct err *e) must_check;
/* Whether every key is there without which that version's script ends, or makes a node that is none. */
int kubeup_has_all(struct arena *a, const struct kubeup_env *env, struct err *e) must_check;
/* Take the document out of kube-up's user data, with empty lines before it, so that its lines keep their
 * numbers. -ENOENT: this is not user data of kube-up. */
int kubeup_script(struct arena *a, const char *file, const char *text, const char **ret,
		  struct err *e) must_check;
/* Its row of dialects[]. */
extern const struct dialect kubeup_dialect;
