/* specs.h - the component specs of kops 1.8: what a document says about each program of a node
 * A member is named after its document key; its row in fields_*.c carries key, flag and doc.
 * `const char *` is Go's string and *string (NULL: absent), struct opt_* its pointers, a plain
 * int64_t its plain int.
 * Owner: the arena they were read into. Errors: none; data only.
 * Source: kops 1.8.1 pkg/apis/kops/componentconfig.go and dockerconfig.go. */
#pragma once

#include "nodeup/base/field.h"

struct docker_spec {
	struct strv authorization_plugins;
	const char *bridge;
	const char *bridge_ip;
	struct strv default_ulimit;
	struct opt_bool ip_masq;
	struct opt_bool ip_tables;
	const char *insecure_registry;
	const char *log_driver;
	const char *log_level;
	struct strv log_opt;
	struct opt_int mtu;
	struct strv registry_mirrors;
	const char *storage;
	struct strv storage_opts;
	const char *version;
};

struct kubelet_spec {
	const char *api_servers;
	struct opt_bool anonymous_auth;
	const char *client_ca_file;
	const char *kubeconfig_path;
	struct opt_bool require_kubeconfig;
	struct opt_int log_level;
	const char *pod_manifest_path;
	const char *hostname_override;
	const char *pod_infra_container_image;
	const char *seccomp_profile_root;
	struct opt_bool allow_privileged;
	struct opt_bool enable_debugging_handlers;
	struct opt_bool register_node;
	const char *cluster_domain;
	const char *cluster_dns;
	const char *network_plugin_name;
	const char *cloud_provider;
	const char *kubelet_cgroups;
	const char *runtime_cgroups;
	struct opt_int read_only_port;
	const char *system_cgroups;
	const char *cgroup_root;
	struct opt_bool configure_cbr0;
	const char *hairpin_mode;
	struct opt_bool babysit_daemons;
	struct opt_int max_pods;
	int64_t nvidia_gpus;
	const char *pod_cidr;
	const char *resolv_conf;
	struct opt_bool reconcile_cidr;
	struct opt_bool register_schedulable;
	struct opt_bool serialize_image_pulls;
	struct strmap node_labels;
	const char *non_masquerade_cidr;
	struct opt_bool enable_custom_metrics;
	struct opt_int network_plugin_mtu;
	struct opt_int image_gc_high_threshold_percent;
	struct opt_int image_gc_low_threshold_percent;
	const char *eviction_hard;
	const char *eviction_soft;
	const char *eviction_soft_grace_period;
	struct opt_dur eviction_pressure_transition_period;
	int64_t eviction_max_pod_grace_period;
	const char *eviction_minimum_reclaim;
	const char *volume_plugin_directory;
	struct strv taints;
	struct strmap feature_gates;
	struct strmap kube_reserved;
	const char *kube_reserved_cgroup;
	struct strmap system_reserved;
	const char *system_reserved_cgroup;
	const char *enforce_node_allocatable;
	struct opt_dur runtime_request_timeout;
	struct opt_dur volume_stats_agg_period;
	struct opt_bool fail_swap_on;
	struct opt_bool docker_disable_shared_pid;
};

struct kube_proxy_spec {
	const char *image;
	const char *cpu_request;
	int64_t log_level;
	const char *cluster_cidr;
	const char *hostname_override;
	const char *master;
	struct opt_bool enabled;
	struct strmap feature_gates;
};

struct leader_election_spec {
	struct opt_bool leader_elect;
};

struct kube_apiserver_spec {
	const char *image;
	int64_t log_level;
	const char *cloud_provider;
	int64_t secure_port;
	int64_t insecure_port;
	const char *address;
	struct strv admission_control;
	const char *service_cluster_ip_range;
	const char *service_node_port_range;
	struct strv etcd_servers;
	struct strv etcd_servers_overrides;
	const char *etcd_ca_file;
	const char *etcd_cert_file;
	const char *etcd_key_file;
	const char *basic_auth_file;
	const char *client_ca_file;
	const char *tls_cert_file;
	const char *tls_private_key_file;
	const char *token_auth_file;
	struct opt_bool allow_privileged;
	struct opt_int api_server_count;
	struct strmap runtime_config;
	const char *kubelet_client_certificate;
	const char *kubelet_client_key;
	struct opt_bool anonymous_auth;
	struct strv kubelet_preferred_address_types;
	const char *storage_backend;
	const char *oidc_username_claim;
	const char *oidc_groups_claim;
	const char *oidc_issuer_url;
	const char *oidc_client_id;
	const char *oidc_ca_file;
	const char *proxy_client_cert_file;
	const char *proxy_client_key_file;
	const char *audit_log_path;
	struct opt_int audit_log_max_age;
	struct opt_int audit_log_max_backups;
	struct opt_int audit_log_max_size;
	const char *audit_policy_file;
	const char *authentication_token_webhook_config_file;
	struct opt_dur authentication_token_webhook_cache_ttl;
	const char *authorization_mode;
	const char *authorization_rbac_super_user;
	const char *experimental_encryption_provider_config;
	struct strv requestheader_username_headers;
	struct strv requestheader_group_headers;
	struct strv requestheader_extra_header_prefixes;
	const char *requestheader_client_ca_file;
	struct strv requestheader_allowed_names;
	struct strmap feature_gates;
};

struct kube_controller_manager_spec {
	const char *master;
	int64_t log_level;
	const char *service_account_private_key_file;
	const char *image;
	const char *cloud_provider;
	const char *cluster_name;
	const char *cluster_cidr;
	struct opt_bool allocate_node_cidrs;
	struct opt_bool configure_cloud_routes;
	const char *root_ca_file;
	struct leader_election_spec leader_election;
	struct opt_dur attach_detach_reconcile_sync_period;
	struct opt_int terminated_pod_gc_threshold;
	struct opt_bool use_service_account_credentials;
	struct opt_dur horizontal_pod_autoscaler_sync_period;
	struct opt_dur horizontal_pod_autoscaler_downscale_delay;
	struct opt_dur horizontal_pod_autoscaler_upscale_delay;
	struct opt_bool horizontal_pod_autoscaler_use_rest_clients;
	struct strmap feature_gates;
};

struct kube_scheduler_spec {
	const char *master;
	int64_t log_level;
	const char *image;
	struct leader_election_spec leader_election;
	struct opt_bool use_policy_config_map;
	struct strmap feature_gates;
};

/* One table a spec; field_parse, field_flags, field_overlay and field_docs walk them. */
extern const struct schema docker_schema;
extern const struct schema kubelet_schema;
extern const struct schema kube_proxy_schema;
extern const struct schema kube_apiserver_schema;
extern const struct schema kube_controller_manager_schema;
extern const struct schema kube_scheduler_schema;
extern const struct schema leader_election_schema;
