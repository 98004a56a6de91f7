/* label.h - Kubernetes' grammar of labels and taints of a node
 * The API server refuses a node that has another one: kubelet runs, and the node never registers.
 * Owner: none. Errors: none; each is a question. Threads: all.
 * Source: k8s.io/apimachinery eed236c pkg/api/validate/content/kube.go (the same in pkg/util/validation of 1.2 on),
 * kubernetes pkg/util/taints, pkg/util/config/configuration_map.go. */
#pragma once

#include <stdbool.h>

/* Whether this may be the name of a label or of a taint: "team", "example.com/team". */
bool label_is_name(const char *s);
/* Whether this may stand before the '/' of such a name: a DNS subdomain in small letters. */
bool label_is_domain(const char *s);
/* Whether this may be the value of one: "", "blue-1.a". */
bool label_is_value(const char *s);
/* Whether this is a word of kubelet's --node-labels: "team=blue", "team", "". */
bool label_is_pair(const char *s);
/* Whether this is a taint: "team=blue:NoSchedule", "team:NoExecute". */
bool label_is_taint(const char *s);
