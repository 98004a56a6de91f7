/* Tests: test_flags.py. */
#include "nodeup/config/kops18/model.h"

#include <stddef.h>
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/accepts_common.h"
#include "nodeup/config/accepts_kubelet.h"
#include "nodeup/config/feature_gates.h"

/* clang-format off */
const struct schema docker_schema = SCHEMA_OF_LIST(struct docker_spec, "DockerConfig", DOCKER_SPEC);
const struct schema kubelet_schema = SCHEMA_OF_LIST(struct kubelet_spec, "KubeletConfigSpec", KUBELET_SPEC);
const struct schema kube_proxy_schema = SCHEMA_OF_LIST(struct kube_proxy_spec, "KubeProxyConfig", KUBE_PROXY_SPEC);
const struct schema kube_apiserver_schema = SCHEMA_OF_LIST(struct kube_apiserver_spec, "KubeAPIServerConfig", KUBE_APISERVER_SPEC);
const struct schema leader_election_schema = SCHEMA_OF_LIST(struct leader_election_spec, "LeaderElectionConfiguration", LEADER_ELECTION_SPEC);
const struct schema kube_controller_manager_schema = SCHEMA_OF_LIST(struct kube_controller_manager_spec, "KubeControllerManagerConfig", KCM_SPEC);
const struct schema kube_scheduler_schema = SCHEMA_OF_LIST(struct kube_scheduler_spec, "KubeSchedulerConfig", SCHEDULER_SPEC);
/* clang-format on */
