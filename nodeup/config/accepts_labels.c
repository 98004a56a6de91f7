#include "nodeup/config/accepts_labels.h"

#include <string.h>
#include "nodeup/base/label.h"

#define LETTERS \
	"at most 63 letters, digits, '-', '_' and '.', with a letter or digit first and last"
static const char name_wanted[] = "the name of a label such as example.com/team: " LETTERS;
static const char value_wanted[] = "the value of a label: " LETTERS;

static const struct field_accepts names = { .wanted = name_wanted,
					    .is_valid = label_is_name,
					    .keys = true };
static const struct field_accepts given_names = { .wanted = name_wanted,
						  .is_valid = label_is_name,
						  .keys = true,
						  .names = true };

const struct field_accepts accepts_node_labels = { .wanted = value_wanted,
						   .is_valid = label_is_value,
						   .next = &names };
const struct field_accepts accepts_given_labels = { .wanted = value_wanted,
						    .is_valid = label_is_value,
						    .names = true,
						    .next = &given_names };
const struct field_accepts accepts_label_pairs = {
	.wanted = "labels such as example.com/team=blue, of " LETTERS,
	.is_valid = label_is_pair,
	.commas = true,
};
const struct field_accepts accepts_taints = {
	.wanted =
		"a taint such as example.com/team=blue:NoSchedule, its name and value of " LETTERS,
	.is_valid = label_is_taint,
};

/* "team=blue:NoSchedule" without its value, which does not count here. */
static const char *name_and_effect(struct arena *a, const char *taint)
{
	return arena_printf(a, "%.*s%s", (int)strcspn(taint, "=:"), taint,
			    taint + strcspn(taint, ":"));
}

static bool has_twins(const struct rule_values *v)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *list = rules_value(v, "taints");
	struct strv seen = { 0 };

	for (size_t i = 0; list->kind == TREE_SEQ && i < list->n; i++) {
		const struct tree *item = list->items[i].value;
		const char *taint = item->kind == TREE_SCALAR ? item->scalar : "";

		taint = name_and_effect(a, taint);
		if (strv_has(&seen, taint))
			return true;
		strv_add(a, &seen, taint);
	}
	return false;
}

static const struct field_rule twins[] = {
	{ .keys = "taints",
	  .is_broken = has_twins,
	  .text = "expected each name and effect once, found a taint twice" },
};
const struct field_rules taint_rules = { twins, ARRAY_LEN(twins) };
