/* accepts_labels.c - what labels and taints of a node the API server takes
 * The API server refuses a node with any other label or taint: kubelet runs, and the node never registers. Names
 * that end in kubernetes.io or k8s.io are not restricted here: kubelet restricts them from 1.16 on, and no dialect
 * gives such a kubelet --node-labels.
 * Source: base/label.h; kubernetes 1.8.1 pkg/api/validation/validation.go validateNodeTaints.
 * Tests: test_accepts_kubelet.c, test_accepts_apiserver.c. */
#include "nodeup/config/accepts_common.h"

#include "nodeup/base/label.h"
#include "nodeup/config/accepts_kubelet.h"

#define LETTERS \
	"at most 63 letters, digits, '-', '_' and '.', with a letter or digit first and last"
#define NAME_WANTED "the name of a label such as example.com/team: " LETTERS
#define VALUE_WANTED "the value of a label: " LETTERS
#define SHORT(...)                                                                       \
	{                                                                                \
		.wanted = "at most 253 letters before '/'", .longest = LABEL_PREFIX_MAX, \
		.prefix = true, __VA_ARGS__                                              \
	}

/* clang-format off */
static const struct field_accepts short_name = SHORT(.keys = true);
static const struct field_accepts short_given_name = SHORT(.keys = true, .names = true);
static const struct field_accepts short_pair = SHORT(.commas = true);
static const struct field_accepts short_taint = SHORT();
static const struct field_accepts names = {
	.wanted = NAME_WANTED, .is_valid = label_is_name, .keys = true, .next = &short_name
};
static const struct field_accepts given_names = {
	.wanted = NAME_WANTED, .is_valid = label_is_name, .keys = true, .names = true, .next = &short_given_name
};
const struct field_accepts accepts_node_labels = {
	.wanted = VALUE_WANTED, .is_valid = label_is_value, .next = &names
};
const struct field_accepts accepts_given_labels = {
	.wanted = VALUE_WANTED, .is_valid = label_is_value, .names = true, .next = &given_names
};
const struct field_accepts accepts_label_pairs = {
	.wanted = "labels such as example.com/team=blue, of " LETTERS,
	.pattern = "^(" LABEL_PAIR ")?$", .commas = true, .next = &short_pair
};
const struct field_accepts accepts_taints = {
	.wanted = "a taint such as example.com/team=blue:NoSchedule, its name and value of " LETTERS,
	.pattern = "^" LABEL_PAIR ":(NoSchedule|PreferNoSchedule|NoExecute)$", .next = &short_taint
};

static const struct field_rule twins[] = {
	{ .keys = "taints", .when = "taints#", .text = "expected each name and effect once, found a taint twice" },
};
/* clang-format on */
const struct field_rules taint_rules = { twins, ARRAY_LEN(twins), KUBELET_SECTIONS "|document" };
