/* label.h - Kubernetes' grammar of labels and taints of a node, as parts of extended regular expressions, and by hand
 * The API server refuses a node that has another one: kubelet runs, and the node never registers.
 * Owner: constants. Errors: none. Threads: all.
 * Source: k8s.io/apimachinery eed236c pkg/api/validate/content/kube.go (the same in pkg/util/validation of 1.2 on),
 * kubernetes pkg/util/taints, pkg/util/config/configuration_map.go.
 * Tests: test_label.c. */
#pragma once

#include <stdbool.h>

/* The value of a label that has one: "blue-1.a". */
#define LABEL_WORD "[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
#define LABEL_VALUE "(" LABEL_WORD ")?"
/* A DNS subdomain in small letters. */
#define LABEL_DOMAIN "[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
/* The name of a label or of a taint: "team", "example.com/team"; what is before '/' is not counted. */
#define LABEL_NAME "(" LABEL_DOMAIN "/)?" LABEL_WORD
/* "team=blue", "team". */
#define LABEL_PAIR LABEL_NAME "(=" LABEL_VALUE ")?"
/* Limits the letters of a name before its '/'. */
enum { LABEL_PREFIX_MAX = 253 };
/* Those of a value, and of a name behind that. */
enum { LABEL_WORD_MAX = 63 };
/* Return whether all of a text matches LABEL_NAME or LABEL_VALUE, which counts letters: to match it takes 0.8 million instructions. */
bool label_is_name(const char *s);
bool label_is_value(const char *s);
