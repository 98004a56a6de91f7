#include "nodeup/config/kops/kops.h"

/* clang-format off */
#define F(m, ...) FIELD(SPEC, m, __VA_ARGS__)

#define SPEC struct kops_containerd
#define PACKAGES(name, member) \
static const struct field name##_fields[] = { \
	F(member.hash_amd64, .key = "hashAmd64", .doc = "hash of the one for amd64"), \
	F(member.hash_arm64, .key = "hashArm64", .doc = "hash of the one for arm64"), \
	F(member.url_amd64, .key = "urlAmd64", .secret = true, .doc = "the one for amd64"), \
	F(member.url_arm64, .key = "urlArm64", .secret = true, .doc = "the one for arm64"), \
}; \
static const struct schema name##_schema = SCHEMA(SPEC, "PackagesConfig", name##_fields)
PACKAGES(packages, packages);
PACKAGES(runc_packages, runc_packages);
static const struct field runc_fields[] = {
	F(runc_version, .key = "version", .doc = "version of runc"),
	FIELD_INSIDE(&runc_packages_schema, .key = "packages", .doc = "another runc"),
};
static const struct schema runc_schema = SCHEMA(SPEC, "Runc", runc_fields);
static const struct field nri_fields[] = {
	F(nri_enabled, .key = "enabled", .doc = "false turns NRI off"),
	F(nri_registration_timeout, .key = "pluginRegistrationTimeout", .doc = "how long a plugin may take to register"),
	F(nri_request_timeout, .key = "pluginRequestTimeout", .doc = "how long a plugin may take to answer"),
};
static const struct schema nri_schema = SCHEMA(SPEC, "NRIConfig", nri_fields);
#undef SPEC

#define SPEC struct kops_gpu
static const struct field gpu_fields[] = {
	F(package, .key = "package", .doc = "package of the driver"),
	F(enabled, .key = "enabled", .doc = "make instances with such a GPU ready for it"),
	F(image, .key = "image", .doc = "image of the device plugin; an addon's"),
	F(dcgm_exporter, .key = "dcgmExporter", .shape = TREE_MAP, .doc = "an addon's"),
};
static const struct schema gpu_schema = SCHEMA(SPEC, "NvidiaGPUConfig", gpu_fields);
#undef SPEC

#define SPEC struct kops_gvisor
static const struct field gvisor_fields[] = {
	F(enabled, .key = "enabled", .doc = "install runsc"),
	F(platform, .key = "platform", .oneof = "systrap|kvm|", .doc = "how runsc catches system calls"),
};
static const struct schema gvisor_schema = SCHEMA(SPEC, "GVisorConfig", gvisor_fields);
#undef SPEC

#define SPEC struct kops_containerd
static const struct field containerd_fields[] = {
	F(address, .key = "address", .flag = "address", .doc = "flag --address"),
	F(config_additions, .key = "configAdditions", .shape = TREE_MAP, .doc = "settings by their path in config.toml"),
	F(config_override, .key = "configOverride", .doc = "config.toml as it is to be"),
	F(log_level, .key = "logLevel", .flag = "log-level", .doc = "flag --log-level"),
	FIELD_INSIDE(&packages_schema, .key = "packages", .doc = "another containerd"),
	F(registry_mirrors, .key = "registryMirrors", .shape = TREE_MAP, .secret = true, .doc = "mirrors by registry"),
	F(root, .key = "root", .flag = "root", .doc = "flag --root"),
	F(skip_install, .key = "skipInstall", .doc = "leave containerd alone"),
	F(state, .key = "state", .flag = "state", .doc = "flag --state"),
	F(version, .key = "version", .doc = "version of containerd"),
	FIELD_NESTED_IF(SPEC, nvidia_gpu, has_nvidia_gpu, &gpu_schema, .key = "nvidiaGPU", .doc = "GPUs of Nvidia"),
	FIELD_NESTED_IF(SPEC, gvisor, has_gvisor, &gvisor_schema, .key = "gvisor", .doc = "gVisor"),
	FIELD_INSIDE(&runc_schema, .key = "runc", .doc = "runc"),
	F(selinux_enabled, .key = "selinuxEnabled", .doc = "label containers for SELinux"),
	FIELD_INSIDE_IF(SPEC, has_nri, &nri_schema, .key = "nri", .doc = "plugins of the runtime"),
	F(use_ecr_credentials_for_mirrors, .key = "useECRCredentialsForMirrors", .doc = "mirrors are logged in to as ECR is"),
	F(install_crictl, .key = "installCriCtl", .doc = "install crictl"),
	F(install_nerdctl, .key = "installNerdCtl", .doc = "install nerdctl"),
	F(sandbox_image, .key = "sandboxImage", .doc = "image of each pod's first container"),
};
const struct schema kops_containerd_schema = SCHEMA(SPEC, "ContainerdConfig", containerd_fields);
#undef SPEC

#define SPEC struct kops_networking
static const struct schema nothing_schema = { .name = "Networking", .size = sizeof(SPEC) };
static const struct field calico_fields[] = {
	F(calico_wireguard, .key = "wireguardEnabled", .doc = "encrypt what goes between nodes"),
};
static const struct schema calico_schema = SCHEMA(SPEC, "CalicoNetworkingSpec", calico_fields);
static const struct field cilium_fields[] = {
	F(cilium_ipam, .key = "ipam", .doc = "where addresses of pods come from"),
};
static const struct schema cilium_schema = SCHEMA(SPEC, "CiliumNetworkingSpec", cilium_fields);
static const struct field cni_fields[] = {
	F(cni_secondary_ip, .key = "usesSecondaryIP", .doc = "pods have addresses of the instance"),
};
static const struct schema cni_schema = SCHEMA(SPEC, "CNINetworkingSpec", cni_fields);
static const struct field http_proxy_fields[] = {
	F(proxy_host, .key = "host", .secret = true, .doc = "name or address of the proxy"),
	F(proxy_port, .key = "port", .max = 65535, .doc = "its port; 0: that of http"),
};
static const struct schema http_proxy_schema = SCHEMA(SPEC, "HTTPProxy", http_proxy_fields);
static const struct field egress_proxy_fields[] = {
	FIELD_INSIDE(&http_proxy_schema, .key = "httpProxy", .doc = "the proxy"),
	F(proxy_excludes, .key = "excludes", .doc = "what is reached without it"),
};
static const struct schema egress_proxy_schema = SCHEMA(SPEC, "EgressProxySpec", egress_proxy_fields);
static const struct field networking_fields[] = {
	F(non_masquerade_cidr, .key = "nonMasqueradeCIDR", .format = &format_cidr, .doc = "addresses inside the cluster"),
	F(service_cluster_ip_range, .key = "serviceClusterIPRange", .format = &format_cidrs, .doc = "addresses of services"),
	FIELD_INSIDE_IF(SPEC, amazonvpc, &nothing_schema, .key = "amazonVPC", .doc = "Amazon VPC CNI"),
	FIELD_INSIDE_IF(SPEC, calico, &calico_schema, .key = "calico", .doc = "Calico"),
	FIELD_INSIDE_IF(SPEC, cilium, &cilium_schema, .key = "cilium", .doc = "Cilium"),
	FIELD_INSIDE_IF(SPEC, cni, &cni_schema, .key = "cni", .doc = "any CNI plugin"),
	FIELD_INSIDE_IF(SPEC, flannel, &nothing_schema, .key = "flannel", .doc = "flannel"),
	FIELD_INSIDE_IF(SPEC, kuberouter, &nothing_schema, .key = "kubeRouter", .doc = "kube-router"),
	FIELD_INSIDE_IF(SPEC, kindnet, &nothing_schema, .key = "kindnet", .doc = "kindnet"),
	FIELD_INSIDE_IF(SPEC, has_proxy, &egress_proxy_schema, .key = "egressProxy", .doc = "the way to the outside"),
};
static const struct schema networking_schema = SCHEMA(SPEC, "NetworkingSpec", networking_fields);
#undef SPEC

#define SPEC struct kops_volume_mount
static const struct field volume_mount_fields[] = {
	F(device, .key = "device", .doc = "the disk"),
	F(filesystem, .key = "filesystem", .doc = "what it is formatted as; btfs means btrfs"),
	F(format_options, .key = "formatOptions", .doc = "options of mkfs"),
	F(mount_options, .key = "mountOptions", .doc = "options of mount"),
	F(path, .key = "path", .doc = "where it is mounted"),
};
const struct schema kops_volume_mount_schema = SCHEMA(SPEC, "VolumeMountSpec", volume_mount_fields);
#undef SPEC

#define SPEC struct kops_file_asset
static const struct field file_asset_fields[] = {
	F(name, .key = "name", .doc = "not used"),
	F(path, .key = "path", .doc = "where the file goes"),
	F(content, .key = "content", .secret = true, .doc = "its text"),
	F(is_base64, .key = "isBase64", .doc = "the text is base64"),
	F(mode, .key = "mode", .doc = "its mode; 0440 if empty"),
};
const struct schema kops_file_asset_schema = SCHEMA(SPEC, "FileAssetSpec", file_asset_fields);
#undef SPEC

#define SPEC struct kops_hook
static const struct field exec_container_fields[] = {
	F(image, .key = "image", .doc = "image of the container"),
	F(command, .key = "command", .doc = "what runs in it"),
	F(environment, .key = "environment", .secret = true, .doc = "its environment"),
};
static const struct schema exec_container_schema = SCHEMA(SPEC, "ExecContainerAction", exec_container_fields);
static const struct field hook_fields[] = {
	F(name, .key = "name", .doc = "name of the unit"),
	F(enabled, .key = "enabled", .doc = "false stops and disables the unit"),
	F(requires, .key = "requires", .doc = "units that it requires"),
	F(before, .key = "before", .doc = "units that start after it"),
	FIELD_INSIDE_IF(SPEC, has_exec_container, &exec_container_schema, .key = "execContainer", .doc = "a container to run"),
	F(manifest, .key = "manifest", .doc = "the unit's [Service] section"),
	F(use_raw_manifest, .key = "useRawManifest", .doc = "the manifest is the whole unit"),
};
const struct schema kops_hook_schema = SCHEMA(SPEC, "HookSpec", hook_fields);
#undef SPEC

#define SPEC struct kops_apiserver_config
static const struct schema auth_nothing_schema = { .name = "AuthenticationSpec", .size = sizeof(SPEC) };
#define OIDC(m, k, f, ...) F(oidc.m, .key = (k), .flag = (f), .doc = "flag --" f, __VA_ARGS__)
static const struct field oidc_fields[] = {
	OIDC(username_claim, "usernameClaim", "oidc-username-claim"),
	OIDC(username_prefix, "usernamePrefix", "oidc-username-prefix"),
	OIDC(groups_claims, "groupsClaims", "oidc-groups-claim"),
	OIDC(groups_prefix, "groupsPrefix", "oidc-groups-prefix"),
	OIDC(issuer_url, "issuerURL", "oidc-issuer-url"),
	OIDC(client_id, "clientID", "oidc-client-id"),
	OIDC(required_claims, "requiredClaims", "oidc-required-claim", .repeat = true),
};
const struct schema kops_oidc_schema = SCHEMA(SPEC, "OIDCAuthenticationSpec", oidc_fields);
static const struct field authentication_fields[] = {
	FIELD_INSIDE(&auth_nothing_schema, .key = "kopeio", .doc = "not used"),
	FIELD_INSIDE_IF(SPEC, auth_aws, &auth_nothing_schema, .key = "aws", .doc = "aws-iam-authenticator"),
	FIELD_INSIDE_IF(SPEC, has_oidc, &kops_oidc_schema, .key = "oidc", .doc = "OpenID Connect"),
};
static const struct schema authentication_schema = SCHEMA(SPEC, "AuthenticationSpec", authentication_fields);
static const struct field load_balancer_fields[] = {
	F(use_for_internal_api, .key = "useForInternalAPI", .doc = "nodes use it too"),
};
static const struct schema load_balancer_schema = SCHEMA(SPEC, "LoadBalancerAccessSpec", load_balancer_fields);
static const struct field api_fields[] = {
	FIELD_INSIDE_IF(SPEC, api_dns, &auth_nothing_schema, .key = "dns", .doc = "it has a name"),
	FIELD_INSIDE(&load_balancer_schema, .key = "loadBalancer", .doc = "it has a load balancer"),
	F(public_name, .key = "publicName", .doc = "its name for all"),
	F(additional_sans, .key = "additionalSANs", .doc = "more names in its certificate"),
};
static const struct schema api_schema = SCHEMA(SPEC, "APISpec", api_fields);
static const struct field apiserver_fields[] = {
	F(cluster_dns_domain, .key = "ClusterDNSDomain", .doc = "where services have their names"),
	FIELD_NESTED(SPEC, kube_apiserver, &kops_kube_apiserver_schema, .key = "KubeAPIServer", .doc = "kube-apiserver"),
	FIELD_INSIDE(&api_schema, .key = "API", .doc = "how it is reached"),
	FIELD_INSIDE(&authentication_schema, .key = "Authentication", .doc = "how users are known"),
	F(encryption_config_secret_hash, .key = "EncryptionConfigSecretHash", .doc = "hash of the secret encryptionconfig"),
	F(service_account_public_keys, .key = "ServiceAccountPublicKeys", .doc = "PEM of the keys of service accounts"),
};
static const struct schema apiserver_schema = SCHEMA(SPEC, "APIServerConfig", apiserver_fields);
#undef SPEC

#define SPEC struct kops_static_manifest
static const struct field static_manifest_fields[] = {
	F(key, .key = "key", .doc = "name of the pod"),
	F(path, .key = "path", .doc = "where its manifest is, below ConfigBase"),
};
static const struct schema static_manifest_schema = SCHEMA(SPEC, "StaticManifest", static_manifest_fields);
#undef SPEC

#define SPEC struct kops_config
static const struct field config_store_fields[] = {
	F(keypair_store, .key = "keypairs", .doc = "URL of the keysets"),
	F(secret_store, .key = "secrets", .doc = "URL of the secrets"),
};
static const struct schema config_store_schema = SCHEMA(SPEC, "ConfigStoreSpec", config_store_fields);
static const struct field control_plane_fields[] = {
	FIELD_NESTED(SPEC, kcm, &kops_kcm_schema, .key = "KubeControllerManager", .doc = "kube-controller-manager"),
	FIELD_NESTED(SPEC, scheduler, &kops_scheduler_schema, .key = "KubeScheduler", .doc = "kube-scheduler"),
};
static const struct schema control_plane_schema = SCHEMA(SPEC, "ControlPlaneConfig", control_plane_fields);
static const struct field discovery_fields[] = {
	F(discovery_service_url, .key = "url", .doc = "URL of the discovery service"),
};
static const struct schema discovery_schema = SCHEMA(SPEC, "DiscoveryServiceOptions", discovery_fields);
static const struct field config_fields[] = {
	F(assets, .key = "Assets", .shape = TREE_MAP, .secret = true, .doc = "by architecture: HASH@url[,mirror] of each file"),
	F(images, .key = "images", .shape = TREE_MAP, .secret = true, .doc = "by architecture: images to load"),
	F(cluster_name, .key = "ClusterName", .required = true, .doc = "name of the cluster"),
	F(apiserver_additional_ips, .key = "ApiserverAdditionalIPs", .format = &format_ip, .doc = "addresses in the API server's certificate"),
	F(kubernetes_version_text, .key = "KubernetesVersion", .required = true, .doc = "version of Kubernetes"),
	F(packages, .key = "packages", .doc = "more packages of the distribution"),
	FIELD_INSIDE(&config_store_schema, .key = "configStore", .doc = "where keysets and secrets are"),
	F(etcd_cluster_names, .key = "EtcdClusterNames", .doc = "etcd's clusters"),
	F(etcd_manifests, .key = "etcdManifests", .doc = "URLs of etcd-manager's static pods"),
	F(channels_manifest, .key = "channelsManifest", .doc = "URL of the static pod that applies addons"),
	F(cas, .key = "CAs", .doc = "PEM of the CAs, by name"),
	F(keypair_ids, .key = "KeypairIDs", .doc = "id of the key that signs, by name of the CA"),
	F(default_machine_type, .key = "DefaultMachineType", .doc = "type of the instance if EC2 does not say it"),
	F(enable_lifecycle_hook, .key = "EnableLifecycleHook", .doc = "tell the warm pool when all is done"),
	FIELD_LIST_OF(SPEC, static_manifests, &static_manifest_schema, .key = "staticManifests", .doc = "more static pods"),
	FIELD_NESTED(SPEC, kubelet, &kops_kubelet_schema, .key = "KubeletConfig", .doc = "kubelet"),
	FIELD_NESTED_IF(SPEC, kube_proxy, has_kube_proxy, &kops_kube_proxy_schema, .key = "KubeProxy", .doc = "kube-proxy; null: none"),
	FIELD_NESTED(SPEC, networking, &networking_schema, .key = "Networking", .doc = "the network"),
	F(install_cni_assets, .key = "InstallCNIAssets", .doc = "install the CNI plugins"),
	F(use_cilium_etcd, .key = "UseCiliumEtcd", .doc = "Cilium has an etcd of its own"),
	F(uses_kubenet, .key = "UsesKubenet", .doc = "the network is kubenet's, or made of it"),
	F(ntp_unmanaged, .key = "NTPUnmanaged", .doc = "leave the clock's service alone"),
	F(service_node_port_range, .key = "ServiceNodePortRange", .format = &format_port_range, .doc = "ports of services on nodes"),
	F(sysctl_parameters, .key = "SysctlParameters", .doc = "more lines for sysctl"),
	F(update_policy, .key = "UpdatePolicy", .oneof = "automatic|external|", .doc = "who installs updates"),
	FIELD_LIST_OF(SPEC, volume_mounts, &kops_volume_mount_schema, .key = "VolumeMounts", .doc = "disks"),
	FIELD_LIST_OF(SPEC, file_assets, &kops_file_asset_schema, .key = "FileAssets", .doc = "more files"),
	F(hooks_tree, .key = "Hooks", .shape = TREE_SEQ, .doc = "two lists of units, the group's and the cluster's"),
	FIELD_NESTED_IF(SPEC, containerd, has_containerd, &kops_containerd_schema, .key = "containerdConfig", .doc = "containerd"),
	FIELD_NESTED_IF(SPEC, apiserver, has_apiserver, &apiserver_schema, .key = "APIServerConfig", .doc = "the API server"),
	FIELD_INSIDE_IF(SPEC, has_control_plane, &control_plane_schema, .key = "ControlPlaneConfig", .doc = "the rest of a control plane"),
	F(dns_zone, .key = "DNSZone", .doc = "where the cluster has its names"),
	FIELD_NESTED_IF(SPEC, nvidia_gpu, has_nvidia_gpu, &gpu_schema, .key = "NvidiaGPU", .doc = "GPUs of Nvidia"),
	FIELD_NESTED_IF(SPEC, gvisor, has_gvisor, &gvisor_schema, .key = "GVisor", .doc = "gVisor"),
	F(disable_security_group_ingress, .key = "disableSecurityGroupIngress", .doc = "in cloud.config"),
	F(elb_security_group, .key = "elbSecurityGroup", .doc = "in cloud.config"),
	F(nlb_security_group_mode, .key = "nlbSecurityGroupMode", .doc = "in cloud.config"),
	F(node_ip_families, .key = "nodeIPFamilies", .doc = "in cloud.config"),
	F(use_ip_based_node_names, .key = "useIPBasedNodeNames", .doc = "name the node after its address"),
	F(warm_pool_images, .key = "warmPoolImages", .doc = "images to pull in a warm pool"),
	F(uses_none_dns, .key = "usesNoneDNS", .doc = "names are in /etc/hosts"),
	FIELD_INSIDE(&discovery_schema, .key = "discoveryServiceWithUniverse", .doc = "not used"),
};
const struct schema kops_config_schema = SCHEMA(SPEC, "NodeupConfig", config_fields);
#undef SPEC
/* clang-format on */
