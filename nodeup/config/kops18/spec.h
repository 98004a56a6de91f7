/* spec.h - the documents of kops 1.8 as they stand, and the steps that make a node of them
 * Internal to the dialect: kops18*.c alone include it. A key the node does not need is kept as a
 * tree, so that each key kops 1.8 knows has a row and a typo is told from a section of no use here.
 * Bodies: assets.c, defaults.c, extras.c, merge.c, network.c, version.c.
 * Owner: the arena. Errors: CONFIG with file:line:column.
 * Source: kops 1.8.1 pkg/apis/kops/v1alpha2/{cluster,instancegroup,networking}.go. */
#pragma once

#include "nodeup/config/kops18/kops18.h"

struct kops18_load_balancer {
	const char *type;
	struct opt_int idle_timeout_seconds;
};

struct kops18_api {
	const struct tree *dns;
	struct kops18_load_balancer load_balancer;
};

/* Their addons read these from the cluster spec; a node does not. */
struct kops18_network_options {
	struct opt_int mtu, conn_limit, prometheus_metrics_port;
	const char *backend, *default_endpoint_to_host_action, *chain_insert_mode;
	const char *daemon_service_ip, *etcd_service_ip;
	struct opt_bool cross_subnet, prometheus_metrics_enabled;
	struct opt_bool prometheus_go_metrics_enabled, prometheus_process_metrics_enabled;
};

struct kops18_networking {
	struct kops18_network_options options;
	bool classic, kubenet, external, cni, kopeio, weave, flannel, calico, canal, kuberouter;
	bool romana;
};

struct kops18_etcd_member {
	const char *name, *instance_group, *volume_type, *kms_key_id;
	struct opt_int volume_size;
	struct opt_bool encrypted_volume;
};

struct kops18_egress_proxy {
	struct {
		const char *host;
		struct opt_int port;
	} http;
	const char *excludes;
};

struct kops18_etcd_cluster {
	const char *name, *version, *image;
	struct {
		struct kops18_etcd_member *v;
		size_t n;
	} members;
	struct opt_bool enable_etcd_tls;
	struct opt_dur leader_election_timeout, heartbeat_interval;
};

struct kops18_cloud_config {
	struct opt_bool disable_security_group_ingress;
	const char *elb_security_group;
	struct opt_bool multizone;
	const char *node_tags, *node_instance_prefix, *vsphere[7];
};

struct kops18_cluster {
	const char *cloud_provider, *kubernetes_version, *master_public_name, *master_internal_name;
	const char *secret_store, *key_store, *dns_zone, *cluster_dns_domain;
	const char *service_cluster_ip_range, *non_masquerade_cidr;
	struct opt_bool encryption_config, isolate_masters;
	struct kops18_api api;
	struct {
		const struct tree *kopeio;
	} authentication;
	struct {
		const struct tree *always_allow, *rbac;
	} authorization;
	struct {
		const char *container_registry, *file_repository;
	} assets;
	struct kops18_egress_proxy egress_proxy;
	struct kops18_networking networking;
	struct kops18_cloud_config cloud_config;
	struct {
		struct kops18_etcd_cluster *v;
		size_t n;
	} etcd_clusters;
	struct docker_spec docker;
	struct kubelet_spec kubelet, master_kubelet;
	struct kube_proxy_spec kube_proxy;
	struct kube_apiserver_spec kube_apiserver;
	struct kube_controller_manager_spec kube_controller_manager;
	struct kube_scheduler_spec kube_scheduler;
	bool has_api, has_networking, has_cloud_config, has_docker, has_kubelet, has_master_kubelet;
	bool has_kube_proxy, has_kube_apiserver, has_kube_controller_manager, has_kube_scheduler;
	bool has_egress_proxy;
	const struct tree *cloud_controller_manager; /* NULL: the cloud is the controllers' own */
	const struct tree *hooks, *file_assets;      /* read by kops18_extras() */
	/* of no use to a node */
	const struct tree *unused;
};

struct kops18_ig {
	const char *role;
	struct strmap node_labels;
	struct strv taints;
	struct kubelet_spec kubelet;
	bool has_kubelet;
	const struct tree *hooks, *file_assets, *volume_mounts;
	const struct tree *unused;
};

/* v1alpha2 wraps a spec in an object. */
struct kops18_object {
	const char *api_version, *kind;
	const struct tree *metadata, *spec, *status;
};

extern const struct schema kops18_env_schema, kops18_image_schema, kops18_cluster_schema,
	kops18_ig_schema, kops18_object_schema, kops18_networking_schema, kops18_hook_schema,
	kops18_file_asset_schema, kops18_etcd_cluster_schema;

/* Everything that was read, and where it goes. */
struct kops18_build {
	struct arena *arena;
	const struct kube_env *env;
	const struct facts *facts;
	const struct dialect_opts *opts;
	const struct tree *cluster_spec, *ig_spec; /* unwrapped, for positions */
	struct kops18_cluster cluster;
	struct kops18_ig ig;
	struct node *node;
	struct err *err;
};

/* Read a map by its schema; unknown keys become warnings, or with strict one error. */
int kops18_read(struct arena *a, const struct schema *s, const struct tree *t, const char *path,
		const struct dialect_opts *o, void *obj, struct err *e) must_check;
/* What a step came to, or 0 where errors are kept and this one was. */
int kops18_go_on(struct kops18_build *b, int r) must_check;
/* Whether a list (NULL is fine) has no more items than a node needs: each costs memory and time. */
int kops18_at_most(struct arena *a, const struct tree *list, const char *key, size_t most,
		   struct err *e) must_check;
/* The entries of Assets: a text, or a map of asset (or hash and url) and signature. */
int kops18_assets(struct arena *a, const struct kube_env *env, const struct dialect_opts *o,
		  struct node_texts *ret, struct err *e) must_check;
/* A network that no kops 1.8 has is an error, before anything else of the spec is looked at. */
int kops18_known_networks(struct kops18_build *b) must_check;
/* Which network: its own section, else what kubelet's plugin tells. */
int kops18_networking(struct kops18_build *b) must_check;
/* The proxy as a URL. */
int kops18_egress_proxy(struct kops18_build *b) must_check;
/* Of which Kubernetes these nodes are. */
extern const struct version kops18_oldest, kops18_newest;
/* kubernetesVersion, else an image tag, else kubelet's URL; checked against what is supported. */
int kops18_version(struct kops18_build *b) must_check;
/* "gcr.io/google_containers/<name>:<tag>", or where the cluster keeps its images. */
const char *kops18_image(struct kops18_build *b, const char *name, const char *tag);
/* Give sections that no document has the values kops would have written. */
void kops18_default_sections(struct kops18_build *b);
/* Hooks and fileAssets that are meant for this role; the instance group's hide the cluster's. */
int kops18_extras(struct kops18_build *b) must_check;
/* Merge kubelet's sections for this role, and settle host names and docker's storage driver. */
int kops18_merge(struct kops18_build *b) must_check;
