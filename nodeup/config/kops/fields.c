#include "nodeup/config/kops/kops.h"

#define FLAG(f) .flag = (f), .doc = "flag --" f

/* clang-format off */
#define SPEC struct kops_packages
static const struct field packages_fields[] = { KOPS_PACKAGES(FIELD_ROW) };
static const struct schema packages_schema = SCHEMA(SPEC, "PackagesConfig", packages_fields);
#undef SPEC
#define SPEC struct kops_gpu
static const struct field gpu_fields[] = { KOPS_GPU(FIELD_ROW) };
static const struct schema gpu_schema = SCHEMA(SPEC, "NvidiaGPUConfig", gpu_fields);
#undef SPEC
#define SPEC struct kops_gvisor
static const struct field gvisor_fields[] = { KOPS_GVISOR(FIELD_ROW) };
static const struct schema gvisor_schema = SCHEMA(SPEC, "GVisorConfig", gvisor_fields);
#undef SPEC
#define SPEC struct kops_containerd
static const struct field runc_fields[] = { KOPS_RUNC(FIELD_ROW) };
static const struct schema runc_schema = SCHEMA(SPEC, "Runc", runc_fields);
static const struct field nri_fields[] = { KOPS_NRI(FIELD_ROW) };
static const struct schema nri_schema = SCHEMA(SPEC, "NRIConfig", nri_fields);
static const struct field containerd_fields[] = { KOPS_CONTAINERD(FIELD_ROW) };
const struct schema kops_containerd_schema = SCHEMA(SPEC, "ContainerdConfig", containerd_fields);
#undef SPEC
#define SPEC struct kops_networking
static const struct schema nothing_schema = { .name = "Networking", .size = sizeof(SPEC) };
static const struct field calico_fields[] = { KOPS_CALICO(FIELD_ROW) };
static const struct schema calico_schema = SCHEMA(SPEC, "CalicoNetworkingSpec", calico_fields);
static const struct field cilium_fields[] = { KOPS_CILIUM(FIELD_ROW) };
static const struct schema cilium_schema = SCHEMA(SPEC, "CiliumNetworkingSpec", cilium_fields);
static const struct field cni_fields[] = { KOPS_CNI(FIELD_ROW) };
static const struct schema cni_schema = SCHEMA(SPEC, "CNINetworkingSpec", cni_fields);
static const struct field http_proxy_fields[] = { KOPS_HTTP_PROXY(FIELD_ROW) };
static const struct schema http_proxy_schema = SCHEMA(SPEC, "HTTPProxy", http_proxy_fields);
static const struct field egress_proxy_fields[] = { KOPS_EGRESS_PROXY(FIELD_ROW) };
static const struct schema egress_proxy_schema = SCHEMA(SPEC, "EgressProxySpec", egress_proxy_fields);
static const struct field networking_fields[] = { KOPS_NETWORKING(FIELD_ROW) };
static const struct schema networking_schema = SCHEMA(SPEC, "NetworkingSpec", networking_fields);
#undef SPEC
#define SPEC struct kops_volume_mount
static const struct field volume_mount_fields[] = { KOPS_VOLUME_MOUNT(FIELD_ROW) };
const struct schema kops_volume_mount_schema = SCHEMA(SPEC, "VolumeMountSpec", volume_mount_fields);
#undef SPEC
#define SPEC struct kops_file_asset
static const struct field file_asset_fields[] = { KOPS_FILE_ASSET(FIELD_ROW) };
const struct schema kops_file_asset_schema = SCHEMA(SPEC, "FileAssetSpec", file_asset_fields);
#undef SPEC
#define SPEC struct kops_hook
static const struct field exec_container_fields[] = { KOPS_EXEC_CONTAINER(FIELD_ROW) };
static const struct schema exec_container_schema = SCHEMA(SPEC, "ExecContainerAction", exec_container_fields);
static const struct field hook_fields[] = { KOPS_HOOK(FIELD_ROW) };
const struct schema kops_hook_schema = SCHEMA(SPEC, "HookSpec", hook_fields);
#undef SPEC
#define SPEC struct kops_oidc
static const struct field oidc_fields[] = { KOPS_OIDC(FIELD_ROW) };
const struct schema kops_oidc_schema = SCHEMA(SPEC, "OIDCAuthenticationSpec", oidc_fields);
#undef SPEC
#define SPEC struct kops_apiserver_config
static const struct schema auth_nothing_schema = { .name = "AuthenticationSpec", .size = sizeof(SPEC) };
static const struct field authentication_fields[] = { KOPS_AUTHENTICATION(FIELD_ROW) };
static const struct schema authentication_schema = SCHEMA(SPEC, "AuthenticationSpec", authentication_fields);
static const struct field load_balancer_fields[] = { KOPS_LOAD_BALANCER(FIELD_ROW) };
static const struct schema load_balancer_schema = SCHEMA(SPEC, "LoadBalancerAccessSpec", load_balancer_fields);
static const struct field api_fields[] = { KOPS_API(FIELD_ROW) };
static const struct schema api_schema = SCHEMA(SPEC, "APISpec", api_fields);
static const struct field apiserver_fields[] = { KOPS_APISERVER_CONFIG(FIELD_ROW) };
static const struct schema apiserver_schema = SCHEMA(SPEC, "APIServerConfig", apiserver_fields);
#undef SPEC
#define SPEC struct kops_static_manifest
static const struct field static_manifest_fields[] = { KOPS_STATIC_MANIFEST(FIELD_ROW) };
static const struct schema static_manifest_schema = SCHEMA(SPEC, "StaticManifest", static_manifest_fields);
#undef SPEC
#define SPEC struct kops_config
static const struct field config_store_fields[] = { KOPS_CONFIG_STORE(FIELD_ROW) };
static const struct schema config_store_schema = SCHEMA(SPEC, "ConfigStoreSpec", config_store_fields);
static const struct field control_plane_fields[] = { KOPS_CONTROL_PLANE(FIELD_ROW) };
static const struct schema control_plane_schema = SCHEMA(SPEC, "ControlPlaneConfig", control_plane_fields);
static const struct field discovery_fields[] = { KOPS_DISCOVERY(FIELD_ROW) };
static const struct schema discovery_schema = SCHEMA(SPEC, "DiscoveryServiceOptions", discovery_fields);
static const struct field config_fields[] = { KOPS_CONFIG(FIELD_ROW) };
const struct schema kops_config_schema = SCHEMA(SPEC, "NodeupConfig", config_fields);
#undef SPEC
/* clang-format on */
