#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/config/kops/changes.h"

/* Versions on both sides of each place where a row begins or ends. */
static const struct {
	enum kops_change change;
	int minor, patch;
	int kubernetes;
	bool is_done;
} edges[] = {
	{ KOPS_KUBELET_FILE, 35, 99, 31, false }, { KOPS_KUBELET_FILE, 36, 0, 31, true },
	{ KOPS_PROTOKUBE, 29, 0, 31, true },      { KOPS_PROTOKUBE, 35, 99, 31, true },
	{ KOPS_PROTOKUBE, 36, 0, 31, false },
};

static void each_difference_has_its_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(edges); i++) {
		const struct kops_config c = {
			.kops = { .major = 1, .minor = edges[i].minor, .patch = edges[i].patch },
			.kubernetes = { .major = 1, .minor = edges[i].kubernetes },
		};

		if (kops_does(&c, edges[i].change) != edges[i].is_done)
			fail_msg("row %zu: change %d, kops 1.%d.%d", i, (int)edges[i].change,
				 edges[i].minor, edges[i].patch);
	}
}

/* A row without a case is one that nobody looks at. */
static void no_difference_is_left_out(void **state)
{
	(void)state;
	for (int change = 0; change < KOPS_CHANGE_COUNT; change++) {
		bool any[2] = { false, false };

		for (size_t i = 0; i < ARRAY_LEN(edges); i++)
			if ((int)edges[i].change == change)
				any[edges[i].is_done] = true;
		if (!any[0] || !any[1])
			fail_msg("change %d is tried on one side alone", change);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_difference_has_its_versions),
		cmocka_unit_test(no_difference_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
