#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_labels.h"
#include "nodeup/config/kops/changes.h"

#define FLAG(f) .flag = (f), .doc = "flag --" f
#define CONF(p) .config = (p), .doc = p " of its configuration"

/* clang-format off */
#define SPEC struct kops_leader_election
const struct schema kops_leader_election_schema = SCHEMA_OF_LIST("LeaderElectionConfiguration", KOPS_LEADER_ELECTION);
#undef SPEC
#define SPEC struct kops_kubelet
#define IN_FLAGS(v) 0
#define IN_FILE(v) (v)
#define MOVED(f, p) CONF(p)
#define LEFT(p, f) FLAG(f)
#define GONE(f) .doc = "flag --" f " to kops 1.35, then not used"
#define CAME(...) __VA_ARGS__
const struct schema kops_kubelet_schema = SCHEMA_OF_LIST("KubeletConfigSpec", KOPS_KUBELET);
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
const struct schema kops_kubelet_flags_schema = SCHEMA_OF_LIST("KubeletConfigSpec", KOPS_KUBELET);
#undef SPEC
#define SPEC struct kops_kube_proxy
const struct schema kops_kube_proxy_schema = SCHEMA_OF_LIST("KubeProxyConfig", KOPS_KUBE_PROXY);
#undef SPEC
#define SPEC struct kops_kube_apiserver
const struct schema kops_kube_apiserver_schema = SCHEMA_OF_LIST("KubeAPIServerConfig", KOPS_KUBE_APISERVER);
#undef SPEC
#define SPEC struct kops_kcm
const struct schema kops_kcm_schema = SCHEMA_OF_LIST("KubeControllerManagerConfig", KOPS_KCM);
#undef SPEC
#define SPEC struct kops_scheduler
const struct schema kops_scheduler_schema = SCHEMA_OF_LIST("KubeSchedulerConfig", KOPS_SCHEDULER);
#undef SPEC
#define SPEC struct kops_packages
static const struct schema packages_schema = SCHEMA_OF_LIST("PackagesConfig", KOPS_PACKAGES);
#undef SPEC
#define SPEC struct kops_gpu
static const struct schema gpu_schema = SCHEMA_OF_LIST("NvidiaGPUConfig", KOPS_GPU);
#undef SPEC
#define SPEC struct kops_gvisor
static const struct schema gvisor_schema = SCHEMA_OF_LIST("GVisorConfig", KOPS_GVISOR);
#undef SPEC
#define SPEC struct kops_containerd
static const struct schema runc_schema = SCHEMA_OF_LIST("Runc", KOPS_RUNC);
static const struct schema nri_schema = SCHEMA_OF_LIST("NRIConfig", KOPS_NRI);
const struct schema kops_containerd_schema = SCHEMA_OF_LIST("ContainerdConfig", KOPS_CONTAINERD);
#undef SPEC
#define SPEC struct kops_networking
static const struct schema nothing_schema = { .name = "Networking", .size = sizeof(SPEC) };
static const struct schema calico_schema = SCHEMA_OF_LIST("CalicoNetworkingSpec", KOPS_CALICO);
static const struct schema cilium_schema = SCHEMA_OF_LIST("CiliumNetworkingSpec", KOPS_CILIUM);
static const struct schema cni_schema = SCHEMA_OF_LIST("CNINetworkingSpec", KOPS_CNI);
static const struct schema http_proxy_schema = SCHEMA_OF_LIST("HTTPProxy", KOPS_HTTP_PROXY);
static const struct schema egress_proxy_schema = SCHEMA_OF_LIST("EgressProxySpec", KOPS_EGRESS_PROXY);
static const struct schema networking_schema = SCHEMA_OF_LIST("NetworkingSpec", KOPS_NETWORKING);
#undef SPEC
#define SPEC struct kops_volume_mount
const struct schema kops_volume_mount_schema = SCHEMA_OF_LIST("VolumeMountSpec", KOPS_VOLUME_MOUNT);
#undef SPEC
#define SPEC struct kops_file_asset
const struct schema kops_file_asset_schema = SCHEMA_OF_LIST("FileAssetSpec", KOPS_FILE_ASSET);
#undef SPEC
#define SPEC struct kops_hook
static const struct schema exec_container_schema = SCHEMA_OF_LIST("ExecContainerAction", KOPS_EXEC_CONTAINER);
const struct schema kops_hook_schema = SCHEMA_OF_LIST("HookSpec", KOPS_HOOK);
#undef SPEC
#define SPEC struct kops_oidc
const struct schema kops_oidc_schema = SCHEMA_OF_LIST("OIDCAuthenticationSpec", KOPS_OIDC);
#undef SPEC
#define SPEC struct kops_apiserver_config
static const struct schema auth_nothing_schema = { .name = "AuthenticationSpec", .size = sizeof(SPEC) };
static const struct schema authentication_schema = SCHEMA_OF_LIST("AuthenticationSpec", KOPS_AUTHENTICATION);
static const struct schema load_balancer_schema = SCHEMA_OF_LIST("LoadBalancerAccessSpec", KOPS_LOAD_BALANCER);
static const struct schema api_schema = SCHEMA_OF_LIST("APISpec", KOPS_API);
static const struct schema apiserver_schema = SCHEMA_OF_LIST("APIServerConfig", KOPS_APISERVER_CONFIG);
#undef SPEC
#define SPEC struct kops_static_manifest
static const struct schema static_manifest_schema = SCHEMA_OF_LIST("StaticManifest", KOPS_STATIC_MANIFEST);
#undef SPEC
#define SPEC struct kops_config
static const struct schema config_store_schema = SCHEMA_OF_LIST("ConfigStoreSpec", KOPS_CONFIG_STORE);
static const struct schema control_plane_schema = SCHEMA_OF_LIST("ControlPlaneConfig", KOPS_CONTROL_PLANE);
static const struct schema discovery_schema = SCHEMA_OF_LIST("DiscoveryServiceOptions", KOPS_DISCOVERY);
const struct schema kops_config_schema = SCHEMA_OF_LIST("NodeupConfig", KOPS_CONFIG);
#undef SPEC
/* clang-format on */

const struct schema *kops_kubelet_schema_of(const struct kops_config *c)
{
	return kops_does(c, KOPS_KUBELET_FILE) ? &kops_kubelet_schema : &kops_kubelet_flags_schema;
}
