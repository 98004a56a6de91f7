#include "nodeup/config/specs.h"

#include <stddef.h>
#include "nodeup/config/feature_gates.h"

/* clang-format off */
#define SPEC struct docker_spec
static const struct field docker_fields[] = { DOCKER_SPEC(FIELD_ROW) };
#undef SPEC
#define SPEC struct kubelet_spec
static const struct field kubelet_fields[] = { KUBELET_SPEC(FIELD_ROW) };
#undef SPEC
#define SPEC struct kube_proxy_spec
static const struct field proxy_fields[] = { KUBE_PROXY_SPEC(FIELD_ROW) };
#undef SPEC
#define SPEC struct kube_apiserver_spec
static const struct field apiserver_fields[] = { KUBE_APISERVER_SPEC(FIELD_ROW) };
#undef SPEC
#define SPEC struct leader_election_spec
static const struct field leader_election_fields[] = { LEADER_ELECTION_SPEC(FIELD_ROW) };
#undef SPEC
#define SPEC struct kube_controller_manager_spec
static const struct field kcm_fields[] = { KCM_SPEC(FIELD_ROW, FIELD_ROW_NESTED) };
#undef SPEC
#define SPEC struct kube_scheduler_spec
static const struct field scheduler_fields[] = { SCHEDULER_SPEC(FIELD_ROW, FIELD_ROW_NESTED) };
#undef SPEC
/* clang-format on */

const struct schema docker_schema = SCHEMA(struct docker_spec, "DockerConfig", docker_fields);
const struct schema kubelet_schema =
	SCHEMA(struct kubelet_spec, "KubeletConfigSpec", kubelet_fields);
const struct schema kube_proxy_schema =
	SCHEMA(struct kube_proxy_spec, "KubeProxyConfig", proxy_fields);
const struct schema kube_apiserver_schema =
	SCHEMA(struct kube_apiserver_spec, "KubeAPIServerConfig", apiserver_fields);
const struct schema leader_election_schema =
	SCHEMA(struct leader_election_spec, "LeaderElectionConfiguration", leader_election_fields);
const struct schema kube_controller_manager_schema =
	SCHEMA(struct kube_controller_manager_spec, "KubeControllerManagerConfig", kcm_fields);
const struct schema kube_scheduler_schema =
	SCHEMA(struct kube_scheduler_spec, "KubeSchedulerConfig", scheduler_fields);
