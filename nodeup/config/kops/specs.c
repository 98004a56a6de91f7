#include "nodeup/config/kops/specs.h"

#include <stddef.h>

#define FLAG(f) .flag = (f), .doc = "flag --" f
#define CONF(p) .config = (p), .doc = p " of its configuration"
#define LEADER_ELECTION                                                                            \
	FIELD_NESTED(SPEC, leader_election, &kops_leader_election_schema, .key = "leaderElection", \
		     .doc = "which of several does the work")

/* clang-format off */
#define SPEC struct kops_leader_election
static const struct field leader_election_fields[] = { KOPS_LEADER_ELECTION(FIELD_ROW) };
#undef SPEC
#define SPEC struct kops_kubelet
static const struct field kubelet_fields[] = { KOPS_KUBELET(FIELD_ROW) };
#undef SPEC
#define SPEC struct kops_kube_proxy
static const struct field kube_proxy_fields[] = { KOPS_KUBE_PROXY(FIELD_ROW) };
#undef SPEC
#define SPEC struct kops_kube_apiserver
static const struct field kube_apiserver_fields[] = {
	KOPS_KUBE_APISERVER(FIELD_ROW)
	FIELD(SPEC, env, .key = "env", .shape = TREE_SEQ, .secret = true, .doc = "environment of the pod"),
};
#undef SPEC
#define SPEC struct kops_kcm
static const struct field kcm_fields[] = { KOPS_KCM(FIELD_ROW) LEADER_ELECTION };
#undef SPEC
#define SPEC struct kops_scheduler
static const struct field scheduler_fields[] = { KOPS_SCHEDULER(FIELD_ROW) LEADER_ELECTION };
#undef SPEC
/* clang-format on */

const struct schema kops_leader_election_schema =
	SCHEMA(struct kops_leader_election, "LeaderElectionConfiguration", leader_election_fields);
const struct schema kops_kubelet_schema =
	SCHEMA(struct kops_kubelet, "KubeletConfigSpec", kubelet_fields);
const struct schema kops_kube_proxy_schema =
	SCHEMA(struct kops_kube_proxy, "KubeProxyConfig", kube_proxy_fields);
const struct schema kops_kube_apiserver_schema =
	SCHEMA(struct kops_kube_apiserver, "KubeAPIServerConfig", kube_apiserver_fields);
const struct schema kops_kcm_schema =
	SCHEMA(struct kops_kcm, "KubeControllerManagerConfig", kcm_fields);
const struct schema kops_scheduler_schema =
	SCHEMA(struct kops_scheduler, "KubeSchedulerConfig", scheduler_fields);
