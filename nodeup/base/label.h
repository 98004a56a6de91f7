/* label.h - Kubernetes' grammar of a node's labels and taints, as parts of extended regular expressions, and as
 * functions
 * The API server refuses a node with any other label or taint: kubelet runs, but the node never registers.
 * Owner: constants. Errors: none. Threads: all.
 * Source: k8s.io/apimachinery eed236c pkg/api/validate/content/kube.go (the same in pkg/util/validation of 1.2 on),
 * kubernetes pkg/util/taints, pkg/util/config/configuration_map.go.
 * Tests: test_label.c. */
#pragma once

#include <stdbool.h>

/* A label's value, if it is not empty: "blue-1.a". */
#define LABEL_WORD "[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
#define LABEL_VALUE "(" LABEL_WORD ")?"
/* A DNS subdomain in small letters. */
#define LABEL_DOMAIN "[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
/* A label's or taint's name: "team", "example.com/team". Does not limit the number of letters before '/'. */
#define LABEL_NAME "(" LABEL_DOMAIN "/)?" LABEL_WORD
/* "team=blue", "team". */
#define LABEL_PAIR LABEL_NAME "(=" LABEL_VALUE ")?"
/* Limit on the letters of a name before its '/'. */
enum { LABEL_PREFIX_MAX = 253 };
/* Limit on the letters of a value, and of a name after its '/'. */
enum { LABEL_WORD_MAX = 63 };
/* Return whether a whole text matches LABEL_NAME or LABEL_VALUE. Written by hand, as matching these expressions
 * takes 0.8 million instructions. */
bool label_is_name(const char *s);
bool label_is_value(const char *s);
