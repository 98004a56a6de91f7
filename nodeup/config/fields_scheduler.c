#include "nodeup/config/feature_gates.h"
#include "nodeup/config/specs.h"

#include <stddef.h>

/* source: kops 1.8.1 pkg/apis/kops/componentconfig.go KubeSchedulerConfig */
/* clang-format off */
static const struct field scheduler_fields[] = {
#define F(m, ...) FIELD(struct kube_scheduler_spec, m, __VA_ARGS__)
	F(master, .key = "master", .flag = "master", .doc = "address of the API server"),
	F(log_level, .key = "logLevel", .flag = "v", .doc = "log verbosity"),
	F(image, .key = "image", .doc = "container image"),
	FIELD_NESTED(struct kube_scheduler_spec, leader_election, &leader_election_schema, .key = "leaderElection",
		     .doc = "leader election"),
	F(use_policy_config_map, .key = "usePolicyConfigMap",
	  .doc = "read the policy from a config map"),
	F(feature_gates, .key = "featureGates", .flag = "feature-gates", .keys = FEATURE_GATES,
	  .doc = "feature switches"),
#undef F
};

/* source: the same file, LeaderElectionConfiguration */
static const struct field leader_election_fields[] = {
#define F(m, ...) FIELD(struct leader_election_spec, m, __VA_ARGS__)
	F(leader_elect, .key = "leaderElect", .flag = "leader-elect",
	  .doc = "run only while being the leader"),
#undef F
};
/* clang-format on */

const struct schema kube_scheduler_schema =
	SCHEMA(struct kube_scheduler_spec, "KubeSchedulerConfig", scheduler_fields);
const struct schema leader_election_schema =
	SCHEMA(struct leader_election_spec, "LeaderElectionConfiguration", leader_election_fields);
