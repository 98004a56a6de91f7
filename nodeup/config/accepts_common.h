/* accepts_common.h - values that several programs of Kubernetes accept in the same way
 * Owner: constants. Errors: none. Threads: all. Source: Kubernetes 1.31.14 to 1.36.3 and a state of 1.37:
 * component-base cli/flag/ciphersuites_flag.go, logs/api/v1, featuregate; Go's crypto/tls for the names of ciphers.
 * Tests: test_accepts_kubelet.c, test_accepts_apiserver.c. */
#pragma once

#include "nodeup/base/accepts.h"
#include "nodeup/config/rules.h"

/* Parts of patterns. */
/* clang-format off */
/* booleans that Go's flags accept */
#define FLAG_BOOL "1|t|T|true|TRUE|True|0|f|F|false|FALSE|False"
/* leading zeros are allowed, as in Kubernetes: 010.0.0.1 is 10.0.0.1 */
#define IPV4_PART "0*(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
#define IPV4_ADDRESS "(" IPV4_PART "[.]){3}" IPV4_PART
#define IPV6_PART "[0-9A-Fa-f]{1,4}"
#define IPV6_TAIL(before, most) "(" before "((:" IPV6_PART "){1," #most "}|:))"
#define IPV6_MIXED \
	"((" IPV6_PART ":){6}|((" IPV6_PART ":){1,5}|:):(" IPV6_PART ":){0,5})" IPV4_ADDRESS
#define IP_ADDRESS \
	IPV4_ADDRESS "|" IPV6_MIXED "|(" IPV6_PART ":){7}" IPV6_PART "|" \
	"(" IPV6_PART ":){7}:|" IPV6_TAIL("(" IPV6_PART ":){6}", 1) "|" \
	IPV6_TAIL("(" IPV6_PART ":){5}", 2) "|" IPV6_TAIL("(" IPV6_PART ":){4}", 3) "|" \
	IPV6_TAIL("(" IPV6_PART ":){3}", 4) "|" IPV6_TAIL("(" IPV6_PART ":){2}", 5) "|" \
	IPV6_TAIL(IPV6_PART ":", 6) "|" IPV6_TAIL(":", 7)
/* one range, or one of each family */
#define RANGES_DUAL "^([^,]*|[^,:]*,[^,:]*:[^,]*|[^,:]*:[^,]*,[^,:]*)$"
/* clang-format on */

extern const struct field_accepts accepts_gates;       /* for the keys of a map; from 1.31 on */
extern const struct field_accepts accepts_tls_ciphers; /* for a list, or a text with commas */
extern const struct field_accepts accepts_tls_version;
extern const struct field_accepts
	accepts_log_level; /* from 1.31 on; glog accepted negative numbers */
extern const struct field_accepts accepts_log_format;
extern const struct field_accepts accepts_not_negative;
extern const struct field_accepts accepts_no_negative_period;

/* Demands on labels and taints. */
extern const struct field_accepts accepts_node_labels; /* a map: names and values */
/* the same demands, but as warnings: for labels that kubelet gets from elsewhere */
extern const struct field_accepts accepts_given_labels;
extern const struct field_accepts accepts_label_pairs; /* "a=b,c=d" */
extern const struct field_accepts accepts_taints;
extern const struct field_rules taint_rules; /* for the taints of one list together */
