#include "nodeup/config/kops18/programs.h"

#include <stddef.h>
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/accepts_labels.h"
#include "nodeup/config/feature_gates.h"

/* clang-format off */
#define SPEC struct docker_spec
const struct schema docker_schema = SCHEMA_OF_LIST("DockerConfig", DOCKER_SPEC);
#undef SPEC
#define SPEC struct kubelet_spec
const struct schema kubelet_schema = SCHEMA_OF_LIST("KubeletConfigSpec", KUBELET_SPEC);
#undef SPEC
#define SPEC struct kube_proxy_spec
const struct schema kube_proxy_schema = SCHEMA_OF_LIST("KubeProxyConfig", KUBE_PROXY_SPEC);
#undef SPEC
#define SPEC struct kube_apiserver_spec
const struct schema kube_apiserver_schema = SCHEMA_OF_LIST("KubeAPIServerConfig", KUBE_APISERVER_SPEC);
#undef SPEC
#define SPEC struct leader_election_spec
const struct schema leader_election_schema = SCHEMA_OF_LIST("LeaderElectionConfiguration", LEADER_ELECTION_SPEC);
#undef SPEC
#define SPEC struct kube_controller_manager_spec
const struct schema kube_controller_manager_schema = SCHEMA_OF_LIST("KubeControllerManagerConfig", KCM_SPEC);
#undef SPEC
#define SPEC struct kube_scheduler_spec
const struct schema kube_scheduler_schema = SCHEMA_OF_LIST("KubeSchedulerConfig", SCHEDULER_SPEC);
#undef SPEC
/* clang-format on */
