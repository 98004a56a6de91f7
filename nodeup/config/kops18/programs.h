/* programs.h - the component specs of kops 1.8: what a document says about each program of a node
 * One list a spec, in list_*.h: C type, member, document key, flag and doc of each field; programs.c makes the rows of the
 * same lists. `const char *` is Go's string and *string (NULL: absent), struct opt_* its pointers, a plain
 * int64_t its plain int.
 * Owner: the arena they were read into. Errors: none; data only.
 * Source: kops 1.8.1 pkg/apis/kops/componentconfig.go and dockerconfig.go.
 * Tests: test_flags.py. */
#pragma once

#include "nodeup/base/field_list.h"
#include "nodeup/config/kops18/list_apiserver.h"
#include "nodeup/config/kops18/list_kubelet.h"
#include "nodeup/config/kops18/list_others.h"

struct docker_spec {
	DOCKER_SPEC(FIELD_MEMBER)
};

struct kubelet_spec {
	KUBELET_SPEC(FIELD_MEMBER)
};

struct kube_proxy_spec {
	KUBE_PROXY_SPEC(FIELD_MEMBER)
};

struct leader_election_spec {
	LEADER_ELECTION_SPEC(FIELD_MEMBER)
};

struct kube_apiserver_spec {
	KUBE_APISERVER_SPEC(FIELD_MEMBER)
};

struct kube_controller_manager_spec {
	KCM_SPEC(FIELD_MEMBER)
};

struct kube_scheduler_spec {
	SCHEDULER_SPEC(FIELD_MEMBER)
};

/* One table a spec; field_parse, field_flags, field_overlay and field_docs walk them. */
extern const struct schema docker_schema;
extern const struct schema kubelet_schema;
extern const struct schema kube_proxy_schema;
extern const struct schema kube_apiserver_schema;
extern const struct schema kube_controller_manager_schema;
extern const struct schema kube_scheduler_schema;
extern const struct schema leader_election_schema;
