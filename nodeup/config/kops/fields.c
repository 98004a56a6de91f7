#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/kops/changes.h"

#define FLAG(f) .flag = (f), .doc = "flag --" f
#define CONF(p) .config = (p), .doc = p " of its configuration"

/* clang-format off */
const struct schema kops_leader_election_schema = SCHEMA_OF_LIST(struct kops_leader_election, "LeaderElectionConfiguration", KOPS_LEADER_ELECTION);
#define IN_FLAGS(v) 0
#define IN_FILE(v) (v)
#define MOVED(f, p) CONF(p)
#define LEFT(p, f) FLAG(f)
#define GONE(f) .doc = "flag --" f " to kops 1.35, then not used"
#define CAME(...) __VA_ARGS__
const struct schema kops_kubelet_schema = SCHEMA_OF_LIST(struct kops_kubelet, "KubeletConfigSpec", KOPS_KUBELET);
#undef IN_FLAGS
#undef IN_FILE
#undef MOVED
#undef LEFT
#undef GONE
#undef CAME
#define IN_FLAGS(v) (v)
#define IN_FILE(v) 0
#define MOVED(f, p) FLAG(f)
#define LEFT(p, f) CONF(p)
#define GONE(f) FLAG(f)
#define CAME(...) .doc = "not known"
const struct schema kops_kubelet_flags_schema = SCHEMA_OF_LIST(struct kops_kubelet, "KubeletConfigSpec", KOPS_KUBELET);
const struct schema kops_kube_proxy_schema = SCHEMA_OF_LIST(struct kops_kube_proxy, "KubeProxyConfig", KOPS_KUBE_PROXY);
const struct schema kops_kube_apiserver_schema = SCHEMA_OF_LIST(struct kops_kube_apiserver, "KubeAPIServerConfig", KOPS_KUBE_APISERVER);
const struct schema kops_kcm_schema = SCHEMA_OF_LIST(struct kops_kcm, "KubeControllerManagerConfig", KOPS_KCM);
const struct schema kops_scheduler_schema = SCHEMA_OF_LIST(struct kops_scheduler, "KubeSchedulerConfig", KOPS_SCHEDULER);
static const struct schema packages_schema = SCHEMA_OF_LIST(struct kops_packages, "PackagesConfig", KOPS_PACKAGES);
static const struct schema gpu_schema = SCHEMA_OF_LIST(struct kops_gpu, "NvidiaGPUConfig", KOPS_GPU);
static const struct schema gvisor_schema = SCHEMA_OF_LIST(struct kops_gvisor, "GVisorConfig", KOPS_GVISOR);
static const struct schema runc_schema = SCHEMA_OF_LIST(struct kops_containerd, "Runc", KOPS_RUNC);
static const struct schema nri_schema = SCHEMA_OF_LIST(struct kops_containerd, "NRIConfig", KOPS_NRI);
const struct schema kops_containerd_schema = SCHEMA_OF_LIST(struct kops_containerd, "ContainerdConfig", KOPS_CONTAINERD);
static const struct schema nothing_schema = { .name = "Networking", .size = sizeof(struct kops_networking) };
static const struct schema calico_schema = SCHEMA_OF_LIST(struct kops_networking, "CalicoNetworkingSpec", KOPS_CALICO);
static const struct schema cilium_schema = SCHEMA_OF_LIST(struct kops_networking, "CiliumNetworkingSpec", KOPS_CILIUM);
static const struct schema cni_schema = SCHEMA_OF_LIST(struct kops_networking, "CNINetworkingSpec", KOPS_CNI);
static const struct schema http_proxy_schema = SCHEMA_OF_LIST(struct kops_networking, "HTTPProxy", KOPS_HTTP_PROXY);
static const struct schema egress_proxy_schema = SCHEMA_OF_LIST(struct kops_networking, "EgressProxySpec", KOPS_EGRESS_PROXY);
static const struct schema networking_schema = SCHEMA_OF_LIST(struct kops_networking, "NetworkingSpec", KOPS_NETWORKING);
const struct schema kops_volume_mount_schema = SCHEMA_OF_LIST(struct kops_volume_mount, "VolumeMountSpec", KOPS_VOLUME_MOUNT);
const struct schema kops_file_asset_schema = SCHEMA_OF_LIST(struct kops_file_asset, "FileAssetSpec", KOPS_FILE_ASSET);
static const struct schema exec_container_schema = SCHEMA_OF_LIST(struct kops_hook, "ExecContainerAction", KOPS_EXEC_CONTAINER);
const struct schema kops_hook_schema = SCHEMA_OF_LIST(struct kops_hook, "HookSpec", KOPS_HOOK);
const struct schema kops_oidc_schema = SCHEMA_OF_LIST(struct kops_oidc, "OIDCAuthenticationSpec", KOPS_OIDC);
static const struct schema auth_nothing_schema = { .name = "AuthenticationSpec", .size = sizeof(struct kops_apiserver_config) };
static const struct schema authentication_schema = SCHEMA_OF_LIST(struct kops_apiserver_config, "AuthenticationSpec", KOPS_AUTHENTICATION);
static const struct schema load_balancer_schema = SCHEMA_OF_LIST(struct kops_apiserver_config, "LoadBalancerAccessSpec", KOPS_LOAD_BALANCER);
static const struct schema api_schema = SCHEMA_OF_LIST(struct kops_apiserver_config, "APISpec", KOPS_API);
static const struct schema apiserver_schema = SCHEMA_OF_LIST(struct kops_apiserver_config, "APIServerConfig", KOPS_APISERVER_CONFIG);
static const struct schema static_manifest_schema = SCHEMA_OF_LIST(struct kops_static_manifest, "StaticManifest", KOPS_STATIC_MANIFEST);
static const struct schema config_store_schema = SCHEMA_OF_LIST(struct kops_config, "ConfigStoreSpec", KOPS_CONFIG_STORE);
static const struct schema control_plane_schema = SCHEMA_OF_LIST(struct kops_config, "ControlPlaneConfig", KOPS_CONTROL_PLANE);
static const struct schema discovery_schema = SCHEMA_OF_LIST(struct kops_config, "DiscoveryServiceOptions", KOPS_DISCOVERY);
const struct schema kops_config_schema = SCHEMA_OF_LIST(struct kops_config, "NodeupConfig", KOPS_CONFIG);
/* clang-format on */

const struct schema *kops_kubelet_schema_of(const struct kops_config *c)
{
	return kops_does(c, KOPS_KUBELET_FILE) ? &kops_kubelet_schema : &kops_kubelet_flags_schema;
}
