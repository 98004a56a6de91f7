/* list_config.h - the keys of NodeupConfig and BootConfig
 * kops.h has the structs; fields.c and boot.c make the tables. A key of a section without its own struct is a member
 * of the struct around it. A row may use a format or a schema that is static in fields.c or boot.c.
 * Owner: constants.
 * Errors: none. Threads: all.
 * Source: kops 1.37 pkg/apis/nodeup/config.go, pkg/apis/kops. */
#pragma once

/* clang-format off */
#define KOPS_CONFIG_SERVER(X) \
	X(struct strv, servers, "servers", .format = &https, .doc = "URLs of kops-controller; one of them wins over ConfigBase") \
	X(const char *, tls_server_name, "tlsServerName", .format = &format_name, \
	  .doc = "name in the controller's certificate; the URL's host if empty") \
	X(const char *, ca_certificates, "CACertificates", .doc = "PEM of the CAs that may have signed the controller's certificate")

#define KOPS_BOOT(X) \
	X(const char *, cloud_provider, "CloudProvider", .required = true, .doc = "the cloud: aws") \
	X(const char *, config_base, "ConfigBase", .doc = "URL of the cluster in the state store") \
	X##_IF(struct kops_config_server, config_server, has_config_server, &kops_config_server_schema, "ConfigServer", \
	  .doc = "where a node asks for NodeupConfig and certificates") \
	X(struct strv, apiserver_ips, "APIServerIPs", .format = &format_ip, .doc = "addresses of the API server, for /etc/hosts") \
	X(const char *, cluster_name, "ClusterName", .required = true, .format = &format_name, .doc = "name of the cluster") \
	X(const char *, instance_group_name, "InstanceGroupName", .required = true, .format = &format_name, \
	  .doc = "name of the instance group") \
	X(const char *, instance_group_role, "InstanceGroupRole", .required = true, .doc = "ControlPlane, APIServer or Node") \
	X(const char *, nodeup_config_hash, "NodeupConfigHash", .required = true, .doc = "base64 of the sha256 of NodeupConfig") \
	X(struct strv, etcd_ips, "EtcdIPs", .format = &format_ip, .doc = "addresses of etcd, for /etc/hosts of an API server")

#define KOPS_CALICO(X) \
	X(struct opt_bool, calico_wireguard, "wireguardEnabled", .doc = "encrypt what goes between nodes")

#define KOPS_CILIUM(X) \
	X(const char *, cilium_ipam, "ipam", .doc = "where addresses of pods come from")

#define KOPS_CNI(X) \
	X(bool, cni_secondary_ip, "usesSecondaryIP", .doc = "pods have addresses of the instance")

#define KOPS_HTTP_PROXY(X) \
	X(const char *, proxy_host, "host", .secret = true, .doc = "name or address of the proxy") \
	X(int64_t, proxy_port, "port", .max = 65535, .doc = "its port; 0: that of http")

#define KOPS_EGRESS_PROXY(X) \
	X##_INSIDE(&http_proxy_schema, "httpProxy", .doc = "the proxy") \
	X(const char *, proxy_excludes, "excludes", .doc = "what is reached without it")

#define KOPS_NETWORKING(X) \
	X(const char *, non_masquerade_cidr, "nonMasqueradeCIDR", .format = &format_cidr, .doc = "addresses inside the cluster") \
	X(const char *, service_cluster_ip_range, "serviceClusterIPRange", .format = &format_cidrs, .doc = "addresses of services") \
	X##_INSIDE_IF(amazonvpc, &nothing_schema, "amazonVPC", .doc = "Amazon VPC CNI") \
	X##_INSIDE_IF(calico, &calico_schema, "calico", .doc = "Calico") \
	X##_INSIDE_IF(cilium, &cilium_schema, "cilium", .doc = "Cilium") \
	X##_INSIDE_IF(cni, &cni_schema, "cni", .doc = "any CNI plugin") \
	X##_INSIDE_IF(flannel, &nothing_schema, "flannel", .doc = "flannel") \
	X##_INSIDE_IF(kuberouter, &nothing_schema, "kubeRouter", .doc = "kube-router") \
	X##_INSIDE_IF(kindnet, &nothing_schema, "kindnet", .doc = "kindnet") \
	X##_INSIDE_IF(has_proxy, &egress_proxy_schema, "egressProxy", .doc = "the way to the outside")

#define KOPS_VOLUME_MOUNT(X) \
	X(const char *, device, "device", .doc = "the disk") \
	X(const char *, filesystem, "filesystem", .doc = "what it is formatted as; btfs means btrfs") \
	X(struct strv, format_options, "formatOptions", .doc = "options of mkfs") \
	X(struct strv, mount_options, "mountOptions", .doc = "options of mount") \
	X(const char *, path, "path", .doc = "where it is mounted")

#define KOPS_FILE_ASSET(X) \
	X(const char *, name, "name", .doc = "not used") \
	X(const char *, path, "path", .doc = "where the file goes") \
	X(const char *, content, "content", .secret = true, .doc = "its text") \
	X(bool, is_base64, "isBase64", .doc = "the text is base64") \
	X(const char *, mode, "mode", .doc = "its mode; 0440 if empty")

#define KOPS_EXEC_CONTAINER(X) \
	X(const char *, image, "image", .doc = "image of the container") \
	X(struct strv, command, "command", .doc = "what runs in it; systemd reads % and $ first, so write %% and $$") \
	X(struct strmap, environment, "environment", .secret = true, .doc = "its environment")

#define KOPS_HOOK(X) \
	X(const char *, name, "name", .doc = "name of the unit") \
	X(struct opt_bool, enabled, "enabled", .doc = "false stops and disables the unit") \
	X(struct strv, requires, "requires", .doc = "units that it requires") \
	X(struct strv, before, "before", .doc = "units that start after it") \
	X##_INSIDE_IF(has_exec_container, &exec_container_schema, "execContainer", .doc = "a container to run") \
	X(const char *, manifest, "manifest", .doc = "the unit's [Service] section") \
	X(bool, use_raw_manifest, "useRawManifest", .doc = "the manifest is the whole unit")

#define KOPS_OIDC(X) \
	X(const char *, username_claim, "usernameClaim", FLAG("oidc-username-claim")) \
	X(const char *, username_prefix, "usernamePrefix", FLAG("oidc-username-prefix")) \
	X(struct strv, groups_claims, "groupsClaims", FLAG("oidc-groups-claim")) \
	X(const char *, groups_prefix, "groupsPrefix", FLAG("oidc-groups-prefix")) \
	X(const char *, issuer_url, "issuerURL", FLAG("oidc-issuer-url"), .accepts = &accepts_oidc_issuer) \
	X(const char *, client_id, "clientID", FLAG("oidc-client-id")) \
	X(struct strmap, required_claims, "requiredClaims", FLAG("oidc-required-claim"), .repeat = true)

#define KOPS_AUTHENTICATION(X) \
	X##_INSIDE(&auth_nothing_schema, "kopeio", .doc = "not used") \
	/* the state store has the values of this key */ \
	X##_INSIDE_IF(auth_aws, &auth_nothing_schema, "aws", .doc = "aws-iam-authenticator") \
	X##_IF(struct kops_oidc, oidc, has_oidc, &kops_oidc_schema, "oidc", .doc = "OpenID Connect")

#define KOPS_LOAD_BALANCER(X) \
	X(bool, use_for_internal_api, "useForInternalAPI", .doc = "nodes use it too")

#define KOPS_API(X) \
	X##_INSIDE_IF(api_dns, &auth_nothing_schema, "dns", .doc = "it has a name") \
	X##_INSIDE(&load_balancer_schema, "loadBalancer", .doc = "it has a load balancer") \
	X(const char *, public_name, "publicName", .doc = "its name for all") \
	X(struct strv, additional_sans, "additionalSANs", .doc = "more names in its certificate")

#define KOPS_APISERVER_CONFIG(X) \
	X(const char *, cluster_dns_domain, "ClusterDNSDomain", .doc = "where services have their names") \
	X##_NESTED(struct kops_kube_apiserver, kube_apiserver, &kops_kube_apiserver_schema, "KubeAPIServer", .doc = "kube-apiserver") \
	X##_INSIDE(&api_schema, "API", .doc = "how it is reached") \
	X##_INSIDE(&authentication_schema, "Authentication", .doc = "how users are known") \
	X(const char *, encryption_config_secret_hash, "EncryptionConfigSecretHash", .doc = "hash of the secret encryptionconfig") \
	X(const char *, service_account_public_keys, "ServiceAccountPublicKeys", .doc = "PEM of the keys of service accounts")

#define KOPS_STATIC_MANIFEST(X) \
	X(const char *, key, "key", .required = true, .doc = "name of the pod") \
	X(const char *, path, "path", .required = true, .format = &format_below, .filled = true, .doc = "where its manifest is, below ConfigBase")

#define KOPS_CONFIG_STORE(X) \
	/* NULL on a worker */ \
	X(const char *, keypair_store, "keypairs", .doc = "URL of the keysets") \
	X(const char *, secret_store, "secrets", .doc = "URL of the secrets")

#define KOPS_CONTROL_PLANE(X) \
	X##_NESTED(struct kops_kcm, kcm, &kops_kcm_schema, "KubeControllerManager", .doc = "kube-controller-manager") \
	X##_NESTED(struct kops_scheduler, scheduler, &kops_scheduler_schema, "KubeScheduler", .doc = "kube-scheduler")

#define KOPS_DISCOVERY(X) \
	X(const char *, discovery_service_url, "url", .doc = "URL of the discovery service")

#define KOPS_CONFIG(X) \
	/* lists of "HASH@url,mirror", and of {name, sources, hash} */ \
	X(const struct tree *, assets, "Assets", .shape = TREE_MAP, .secret = true, .doc = "by architecture: HASH@url[,mirror] of each file") \
	X(const struct tree *, images, "images", .shape = TREE_MAP, .secret = true, .doc = "by architecture: images to load") \
	X(const char *, cluster_name, "ClusterName", .required = true, .doc = "name of the cluster") \
	X(struct strv, apiserver_additional_ips, "ApiserverAdditionalIPs", .format = &format_host, \
	  .doc = "more names and addresses in the API server's certificate: those of its load balancer") \
	X(const char *, kubernetes_version_text, "KubernetesVersion", .required = true, .doc = "version of Kubernetes") \
	X(struct strv, packages, "packages", .doc = "more packages of the distribution") \
	X##_INSIDE(&config_store_schema, "configStore", .doc = "where keysets and secrets are") \
	X(struct strv, etcd_cluster_names, "EtcdClusterNames", .doc = "etcd's clusters", .format = &format_name) \
	X(struct strv, etcd_manifests, "etcdManifests", .doc = "URLs of etcd-manager's static pods") \
	X(struct strv, channels, "channels", .doc = "URLs of addons, which protokube applies, to kops 1.35") \
	X(const char *, channels_manifest, "channelsManifest", .doc = "URL of the static pod that applies addons") \
	X(struct strmap, cas, "CAs", .doc = "PEM of the CAs, by name") \
	X(struct strmap, keypair_ids, "KeypairIDs", .doc = "id of the key that signs, by name of the CA") \
	X(const char *, default_machine_type, "DefaultMachineType", .doc = "type of the instance if EC2 does not say it") \
	X(bool, enable_lifecycle_hook, "EnableLifecycleHook", .doc = "tell the warm pool when all is done") \
	X##_LIST(struct kops_static_manifest, static_manifests, &static_manifest_schema, "staticManifests", .doc = "more static pods") \
	X##_NESTED(struct kops_kubelet, kubelet, &kops_kubelet_schema, "KubeletConfig", .doc = "kubelet") \
	X##_IF(struct kops_kube_proxy, kube_proxy, has_kube_proxy, &kops_kube_proxy_schema, "KubeProxy", .doc = "kube-proxy; null: none") \
	X##_NESTED(struct kops_networking, networking, &networking_schema, "Networking", .doc = "the network") \
	X(bool, install_cni_assets, "InstallCNIAssets", .doc = "install the CNI plugins") \
	X(bool, use_cilium_etcd, "UseCiliumEtcd", .doc = "Cilium has an etcd of its own") \
	X(bool, uses_kubenet, "UsesKubenet", .doc = "the network is kubenet's, or made of it") \
	X(bool, ntp_unmanaged, "NTPUnmanaged", .doc = "leave the clock's service alone") \
	X(const char *, service_node_port_range, "ServiceNodePortRange", .format = &format_port_range_today, .doc = "ports of services on nodes") \
	X(struct strv, sysctl_parameters, "SysctlParameters", .format = &format_sysctl, .doc = "more lines for sysctl") \
	X(const char *, update_policy, "UpdatePolicy", .oneof = "automatic|external|", .doc = "who installs updates") \
	X##_LIST(struct kops_volume_mount, volume_mounts, &kops_volume_mount_schema, "VolumeMounts", .doc = "disks") \
	X##_LIST(struct kops_file_asset, file_assets, &kops_file_asset_schema, "FileAssets", .doc = "more files") \
	X(const struct tree *, hooks_tree, "Hooks", .shape = TREE_SEQ, .doc = "two lists of units, the group's and the cluster's") \
	X##_IF(struct kops_containerd, containerd, has_containerd, &kops_containerd_schema, "containerdConfig", .doc = "containerd") \
	X##_IF(struct kops_apiserver_config, apiserver, has_apiserver, &apiserver_schema, "APIServerConfig", .doc = "the API server") \
	X##_INSIDE_IF(has_control_plane, &control_plane_schema, "ControlPlaneConfig", .doc = "the rest of a control plane") \
	X(const char *, dns_zone, "DNSZone", .doc = "where the cluster has its names") \
	X##_IF(struct kops_gpu, nvidia_gpu, has_nvidia_gpu, &gpu_schema, "NvidiaGPU", .doc = "GPUs of Nvidia") \
	X##_IF(struct kops_gvisor, gvisor, has_gvisor, &gvisor_schema, "GVisor", .doc = "gVisor") \
	X(struct opt_bool, disable_security_group_ingress, "disableSecurityGroupIngress", .doc = "in cloud.config") \
	X(const char *, elb_security_group, "elbSecurityGroup", .doc = "in cloud.config") \
	X(const char *, nlb_security_group_mode, "nlbSecurityGroupMode", .doc = "in cloud.config") \
	X(struct strv, node_ip_families, "nodeIPFamilies", .doc = "in cloud.config") \
	X(bool, use_ip_based_node_names, "useIPBasedNodeNames", .doc = "name the node after its address") \
	X(struct strv, warm_pool_images, "warmPoolImages", .doc = "images to pull in a warm pool") \
	X(bool, uses_none_dns, "usesNoneDNS", .doc = "names are in /etc/hosts") \
	X##_INSIDE(&discovery_schema, "discoveryServiceWithUniverse", .doc = "not used")
/* clang-format on */
