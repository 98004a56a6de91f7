/* kops.h - the dialect of today's kops, 1.37: BootConfig in kube_env.yaml, and NodeupConfig
 * BootConfig says which node this is, and where NodeupConfig comes from: the state store for a control
 * plane or an API server, kops-controller for a node. NodeupConfig is what the node is made of; its hash
 * stands in BootConfig.
 * Invariant: pure; no file, network or clock. Owner: the arena. Errors: CONFIG, all with file:line:column.
 * Bodies: boot.c, config.c, script.c.
 * Threads: all functions. Source: kops 1.37 pkg/apis/nodeup/config.go, pkg/apis/kops. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/config/kops/role.h"
#include "nodeup/config/kops/specs.h"

struct kops_config_server {
	struct strv servers;
	const char *tls_server_name, *ca_certificates;
};

/* BootConfig. A key that is not there is NULL. */
struct kops_boot {
	const char *cloud_provider, *config_base, *cluster_name, *instance_group_name;
	const char *instance_group_role, *nodeup_config_hash;
	struct kops_config_server config_server;
	bool has_config_server;
	struct strv apiserver_ips, etcd_ips;
	struct settings_doc settings; /* ours */
	const struct kops_role *role; /* of instance_group_role */
};

struct kops_static_manifest {
	const char *key, *path;
};

/* Name and file of a package by architecture, instead of the usual ones. */
struct kops_packages {
	const char *hash_amd64, *hash_arm64, *url_amd64, *url_arm64;
};

struct kops_gpu {
	const char *package, *image;
	struct opt_bool enabled;
	const struct tree *dcgm_exporter;
};

struct kops_gvisor {
	struct opt_bool enabled;
	const char *platform;
};

struct kops_containerd {
	const char *address, *config_override, *log_level, *root, *state, *version, *sandbox_image;
	const char *runc_version;
	const struct tree *config_additions; /* a map, its values texts, integers or booleans */
	const struct tree *registry_mirrors; /* a map of lists of URLs, in the order given */
	struct kops_packages packages, runc_packages;
	bool skip_install, selinux_enabled, use_ecr_credentials_for_mirrors;
	bool install_crictl, install_nerdctl;
	struct kops_gpu nvidia_gpu;
	struct kops_gvisor gvisor;
	struct opt_bool nri_enabled;
	struct opt_dur nri_registration_timeout, nri_request_timeout;
	bool has_nvidia_gpu, has_gvisor, has_nri;
};

/* What kops tells a node of its network; what else the cluster's spec says it keeps. */
struct kops_networking {
	const char *non_masquerade_cidr, *service_cluster_ip_range;
	struct opt_bool calico_wireguard;
	const char *cilium_ipam;
	bool cni_secondary_ip;
	bool amazonvpc, calico, cilium, cni, flannel, kuberouter, kindnet; /* the key is there */
	const char *proxy_host, *proxy_excludes;
	int64_t proxy_port;
	bool has_proxy;
};

struct kops_volume_mount {
	const char *device, *filesystem, *path;
	struct strv format_options, mount_options;
};

struct kops_file_asset {
	const char *name, *path, *content, *mode;
	bool is_base64;
};

struct kops_hook {
	const char *name, *manifest, *image;
	struct opt_bool enabled;
	bool use_raw_manifest, has_exec_container;
	struct strv requires, before, command;
	struct strmap environment;
};

struct kops_hooks {
	struct kops_hook *v;
	size_t n;
};

struct kops_oidc {
	const char *username_claim, *username_prefix, *groups_prefix, *issuer_url, *client_id;
	struct strv groups_claims;
	struct strmap required_claims;
};

/* On a control plane, and on an API server alone. */
struct kops_apiserver_config {
	const char *cluster_dns_domain, *public_name, *encryption_config_secret_hash;
	const char *service_account_public_keys; /* PEM */
	struct kops_kube_apiserver kube_apiserver;
	struct strv additional_sans;
	bool api_dns, use_for_internal_api;
	bool auth_aws; /* its values are in the state store */
	struct kops_oidc oidc;
	bool has_oidc;
};

/* NodeupConfig, `Config` of kops. A key that is not there is NULL, 0 or an unset has_... */
struct kops_config {
	const struct tree *tree; /* as it stands, for places in messages */
	const char *cluster_name, *kubernetes_version_text;
	struct version kubernetes;
	const struct tree *assets; /* by architecture, lists of "HASH@url,mirror" */
	const struct tree *images; /* by architecture, lists of {name, sources, hash} */
	struct strv apiserver_additional_ips, packages, etcd_cluster_names, etcd_manifests;
	const char *keypair_store, *secret_store; /* URLs; NULL on a worker */
	const char *channels_manifest, *default_machine_type, *service_node_port_range, *dns_zone;
	const char *update_policy;
	struct strmap cas, keypair_ids;
	struct kops_static_manifests {
		struct kops_static_manifest *v;
		size_t n;
	} static_manifests;
	struct kops_kubelet kubelet;
	struct kops_kube_proxy kube_proxy;
	bool has_kube_proxy;
	struct kops_networking networking;
	bool enable_lifecycle_hook, install_cni_assets, use_cilium_etcd, uses_kubenet;
	bool ntp_unmanaged, uses_none_dns, use_ip_based_node_names;
	struct strv sysctl_parameters, node_ip_families, warm_pool_images;
	struct kops_volume_mounts {
		struct kops_volume_mount *v;
		size_t n;
	} volume_mounts;
	struct kops_file_assets {
		struct kops_file_asset *v;
		size_t n;
	} file_assets;
	const struct tree *hooks_tree; /* as it stands; the two below are it, read */
	struct kops_hooks hooks_of_group, hooks_of_cluster;
	struct kops_containerd containerd;
	bool has_containerd;
	struct kops_apiserver_config apiserver;
	bool has_apiserver;
	struct kops_kcm kcm;             /* with has_control_plane */
	struct kops_scheduler scheduler; /* with has_control_plane */
	bool has_control_plane;
	struct kops_gpu nvidia_gpu;
	struct kops_gvisor gvisor;
	bool has_nvidia_gpu, has_gvisor;
	struct opt_bool disable_security_group_ingress;
	const char *elb_security_group, *nlb_security_group_mode;
	const char *discovery_service_url;
};

/* Their keys. */
extern const struct schema kops_boot_schema, kops_config_server_schema, kops_config_schema,
	kops_hook_schema, kops_file_asset_schema, kops_volume_mount_schema, kops_containerd_schema;
/* Of struct kops_apiserver_config: flags of the API server. */
extern const struct schema kops_oidc_schema;

/* Which kops writes these documents, and of which Kubernetes. */
extern const char kops_title[];
extern const struct version kops_oldest, kops_newest;
/* Read BootConfig and check it by itself. An unknown key is an error. */
int kops_boot(struct arena *a, const struct tree *t, const struct dialect_opts *o,
	      struct kops_boot *ret, struct err *e) must_check;
/* Whether these are the bytes of NodeupConfig that BootConfig means; `from` is their place. ESTALE: they are not. */
int kops_config_check_hash(struct arena *a, const struct kops_boot *boot, const char *from,
			   const char *text, size_t n, struct err *e) must_check;
/* Read NodeupConfig and check it. An unknown key is an error, and so is one of
 * another cloud or of an older kops. */
int kops_config(struct arena *a, const struct tree *t, const struct kops_boot *boot,
		const struct dialect_opts *o, struct kops_config *ret, struct err *e) must_check;
/* Whether how many pods there may be follows from the addresses of the instance. */
bool kops_wants_max_pods(const struct kops_config *c);
/* Whether containers may use the instance's GPUs, if its type has any of NVIDIA. */
bool kops_wants_gpus(const struct kops_config *c);
/* Whether the network plugin gives the host several addresses. */
bool kops_has_addresses(const struct kops_config *c);
/* Take BootConfig out of kops' user data; in the clear its lines keep their numbers. -ENOENT: this is not
 * user data of today's kops. */
int kops_script(struct arena *a, const char *file, const char *text, const char **ret,
		struct err *e) must_check;
/* Its row of dialects[]. */
extern const struct dialect kops_dialect;
