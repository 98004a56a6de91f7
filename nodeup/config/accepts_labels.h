/* accepts_labels.h - what labels and taints of a node the API server takes
 * It refuses a node with another one: kubelet runs, and the node never registers. The restriction of names that end in
 * kubernetes.io or k8s.io is not here: kubelet has it from 1.16 on, and no dialect gives such a kubelet --node-labels.
 * Owner: constants. Errors: none. Threads: all.
 * Source: base/label.h; kubernetes 1.8.1 pkg/api/validation/validation.go validateNodeTaints.
 * Tests: test_accepts_kubelet.c, test_accepts_apiserver.c. */
#pragma once

#include "nodeup/base/accepts.h"
#include "nodeup/config/rules.h"

extern const struct field_accepts accepts_node_labels; /* a map: names and values */
extern const struct field_accepts
	accepts_given_labels; /* the same where kubelet does not get them from here: warnings */
extern const struct field_accepts accepts_label_pairs; /* "a=b,c=d" */
extern const struct field_accepts accepts_taints;
extern const struct field_rules taint_rules; /* of all in one list */
