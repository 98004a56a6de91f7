/* specs.h - what NodeupConfig says about each program of a node
 * Each spec has one list: C type, member, document key, and the flag (FLAG) or the place in the program's own
 * configuration (CONF) that the key becomes. The lists are in list_*.h; fields.c makes rows of the same lists. Keys
 * that are misspelt here are misspelt in kops. `const char *` stands for Go's string and *string (NULL: absent);
 * struct opt_bool, opt_int and opt_dur stand for Go's pointers to a bool, an integer and a duration. Values that no
 * document has are left out: kops fills oidc-* of the API server from APIServerConfig.Authentication.
 * Bodies: fields.c.
 * Owner: the arena they were read into. Errors: none; data only. Threads: all.
 * Source: kops 1.37 pkg/apis/kops/componentconfig.go, nodeup/pkg/model/kubelet.go kubeletConfiguration.
 * Tests: test_kops_config.c. */
#pragma once

#include "nodeup/base/field_list.h"
#include "nodeup/config/kops/list_apiserver.h"
#include "nodeup/config/kops/list_kcm.h"
#include "nodeup/config/kops/list_kubelet.h"
#include "nodeup/config/kops/list_others.h"

struct kops_leader_election {
	KOPS_LEADER_ELECTION(FIELD_MEMBER)
};
struct kops_kubelet {
	KOPS_KUBELET(FIELD_MEMBER)
};
struct kops_kube_proxy {
	KOPS_KUBE_PROXY(FIELD_MEMBER)
};
struct kops_kube_apiserver {
	KOPS_KUBE_APISERVER(FIELD_MEMBER)
};
struct kops_kcm {
	KOPS_KCM(FIELD_MEMBER)
};
struct kops_scheduler {
	KOPS_SCHEDULER(FIELD_MEMBER)
};

/* List the keys of each program. field_parse reads them and field_flags makes flags of them; `config` of a row is
 * the place in the program's own configuration. */
extern const struct schema kops_leader_election_schema, kops_kubelet_schema, kops_kube_proxy_schema,
	kops_kube_apiserver_schema, kops_kcm_schema, kops_scheduler_schema;
/* Lists kubelet's keys for kops up to 1.35, where most keys are flags. */
extern const struct schema kops_kubelet_flags_schema;
struct kops_config;
/* Returns the list of kubelet's keys that fits this kops. */
const struct schema *kops_kubelet_schema_of(const struct kops_config *c);
