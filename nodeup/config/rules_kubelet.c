#include "nodeup/config/accepts_kubelet.h"

/* What kubelet has where the document has none. 1.7 was not read: what is sure of both neighbours. */
static int64_t usual_high(const struct rule_values *v)
{
	return v->minor < 8 ? 90 : 85;
}

static bool is_low_above_high(const struct rule_values *v)
{
	return rules_int(v, "imageGCLowThresholdPercent", 80) >
	       rules_int(v, "imageGCHighThresholdPercent", usual_high(v));
}

static bool is_low_not_below_high(const struct rule_values *v)
{
	return rules_int(v, "imageGCLowThresholdPercent", 80) >=
	       rules_int(v, "imageGCHighThresholdPercent", usual_high(v));
}

#define GC_KEYS "imageGCLowThresholdPercent|imageGCHighThresholdPercent"

/* clang-format off */
static const struct field_rule rules[] = {
	/* equal ones were taken before the check of 1.30; when that came is not known */
	{ .keys = GC_KEYS, .until = 29, .is_broken = is_low_above_high,
	  .text = "expected imageGCLowThresholdPercent (80 where it is not given) of at most "
		  "imageGCHighThresholdPercent (85)" },
	{ .keys = GC_KEYS, .since = 30, .is_broken = is_low_not_below_high,
	  .text = "expected imageGCLowThresholdPercent (80 where it is not given) below "
		  "imageGCHighThresholdPercent (85)" },
};
/* clang-format on */

const struct field_rules kubelet_rules = { rules, ARRAY_LEN(rules) };
