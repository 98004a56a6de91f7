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
	{ KOPS_KUBELET_FILE, 35, 99, 31, false },
	{ KOPS_KUBELET_FILE, 36, 0, 31, true },
	/* control plane, host, network */
	{ KOPS_PROTOKUBE, 29, 0, 31, true },
	{ KOPS_PROTOKUBE, 35, 99, 31, true },
	{ KOPS_PROTOKUBE, 36, 0, 31, false },
	{ KOPS_OLD_PROBE, 29, 0, 31, true },
	{ KOPS_OLD_PROBE, 30, 99, 31, true },
	{ KOPS_OLD_PROBE, 31, 0, 31, false },
	{ KOPS_OLD_PROBE, 31, 0, 30, true },
	{ KOPS_OLD_PROBE, 35, 99, 30, true },
	{ KOPS_OLD_PROBE, 36, 0, 30, false },
	{ KOPS_IN_TREE_CLOUD, 29, 0, 31, true },
	{ KOPS_IN_TREE_CLOUD, 35, 99, 31, true },
	{ KOPS_IN_TREE_CLOUD, 36, 0, 31, false },
	{ KOPS_API_CLOUD, 29, 0, 33, true },
	{ KOPS_API_CLOUD, 32, 1, 33, true },
	{ KOPS_API_CLOUD, 32, 2, 33, false },
	{ KOPS_API_CLOUD, 32, 2, 32, true },
	{ KOPS_API_CLOUD, 35, 99, 32, true },
	{ KOPS_API_CLOUD, 36, 0, 32, false },
	{ KOPS_API_CLOUD, 35, 99, 33, false },
	{ KOPS_API_ENV, 30, 99, 31, false },
	{ KOPS_API_ENV, 31, 0, 31, true },
	{ KOPS_API_ENV, 37, 0, 31, true },
	{ KOPS_ETCD_LEASES, 35, 99, 31, false },
	{ KOPS_ETCD_LEASES, 36, 0, 31, true },
	{ KOPS_ETCD_LEASES, 37, 0, 31, true },
	{ KOPS_SCHEDULER_LOOKUP, 34, 99, 31, false },
	{ KOPS_SCHEDULER_LOOKUP, 35, 0, 31, true },
	{ KOPS_SCHEDULER_LOOKUP, 37, 0, 31, true },
	{ KOPS_SCHEDULER_BETA, 29, 0, 24, true },
	{ KOPS_SCHEDULER_BETA, 35, 99, 24, true },
	{ KOPS_SCHEDULER_BETA, 36, 0, 24, false },
	{ KOPS_SCHEDULER_BETA, 29, 0, 25, false },
	{ KOPS_STAMPED_PODS, 29, 0, 31, true },
	{ KOPS_STAMPED_PODS, 33, 99, 31, true },
	{ KOPS_STAMPED_PODS, 34, 0, 31, false },
	{ KOPS_QUOTED_ARGS, 30, 99, 31, false },
	{ KOPS_QUOTED_ARGS, 31, 0, 31, true },
	{ KOPS_QUOTED_ARGS, 35, 1, 31, true },
	{ KOPS_QUOTED_ARGS, 35, 2, 31, false },
	{ KOPS_PROXY_FILE, 29, 0, 31, true },
	{ KOPS_PROXY_FILE, 35, 99, 31, true },
	{ KOPS_PROXY_FILE, 36, 0, 31, false },
	{ KOPS_PROXY_FOLDER, 35, 99, 31, false },
	{ KOPS_PROXY_FOLDER, 36, 0, 31, true },
	{ KOPS_PROXY_FOLDER, 37, 0, 31, true },
	{ KOPS_OLD_TOOLS, 29, 0, 31, true },
	{ KOPS_OLD_TOOLS, 34, 99, 31, true },
	{ KOPS_OLD_TOOLS, 35, 0, 31, false },
	{ KOPS_OLDER_TOOLS, 29, 0, 31, true },
	{ KOPS_OLDER_TOOLS, 33, 99, 31, true },
	{ KOPS_OLDER_TOOLS, 34, 0, 31, false },
	{ KOPS_NFTABLES_PACKAGE, 33, 99, 31, false },
	{ KOPS_NFTABLES_PACKAGE, 34, 0, 31, true },
	{ KOPS_NFTABLES_PACKAGE, 37, 0, 31, true },
	{ KOPS_NFTABLES_ALONE, 34, 99, 31, false },
	{ KOPS_NFTABLES_ALONE, 35, 0, 31, true },
	{ KOPS_NFTABLES_ALONE, 35, 1, 31, true },
	{ KOPS_NFTABLES_ALONE, 35, 2, 31, false },
	{ KOPS_NFTABLES_HOSTS, 35, 1, 31, false },
	{ KOPS_NFTABLES_HOSTS, 35, 2, 31, true },
	{ KOPS_NFTABLES_HOSTS, 37, 0, 31, true },
	{ KOPS_NFTABLES_PROXY, 34, 99, 31, false },
	{ KOPS_NFTABLES_PROXY, 35, 0, 28, false },
	{ KOPS_NFTABLES_PROXY, 35, 0, 29, true },
	{ KOPS_NFTABLES_PROXY, 35, 99, 28, false },
	{ KOPS_NFTABLES_PROXY, 36, 0, 28, true },
	{ KOPS_CGROUP_2, 29, 0, 34, false },
	{ KOPS_CGROUP_2, 29, 0, 35, true },
	{ KOPS_CGROUP_2, 37, 0, 35, true },
	{ KOPS_WIREGUARD_CHOICE, 34, 99, 31, false },
	{ KOPS_WIREGUARD_CHOICE, 35, 0, 31, true },
	{ KOPS_WIREGUARD_CHOICE, 37, 0, 31, true },
	{ KOPS_INOTIFY_WATCHES, 29, 0, 31, true },
	{ KOPS_INOTIFY_WATCHES, 35, 99, 31, true },
	{ KOPS_INOTIFY_WATCHES, 36, 0, 31, false },
	{ KOPS_CNI_ALWAYS, 29, 0, 31, true },
	{ KOPS_CNI_ALWAYS, 31, 99, 31, true },
	{ KOPS_CNI_ALWAYS, 32, 0, 31, false },
	{ KOPS_ENI_GUARDS, 34, 2, 31, false },
	{ KOPS_ENI_GUARDS, 34, 3, 31, true },
	{ KOPS_ENI_GUARDS, 34, 99, 31, true },
	{ KOPS_ENI_GUARDS, 35, 0, 31, false },
	{ KOPS_ENI_GUARDS, 35, 1, 31, true },
	{ KOPS_LATE_GUARDS, 35, 99, 31, false },
	{ KOPS_LATE_GUARDS, 36, 0, 31, true },
	{ KOPS_LATE_GUARDS, 37, 0, 31, true },
	{ KOPS_CILIUM_ROUTES, 32, 0, 31, false },
	{ KOPS_CILIUM_ROUTES, 32, 1, 31, true },
	{ KOPS_CILIUM_ROUTES, 37, 0, 31, true },
	{ KOPS_RELEASE_CONF, 29, 0, 31, true },
	{ KOPS_RELEASE_CONF, 34, 2, 31, true },
	{ KOPS_RELEASE_CONF, 34, 3, 31, false },
	{ KOPS_RELEASE_CONF, 34, 99, 31, false },
	{ KOPS_RELEASE_CONF, 35, 0, 31, true },
	{ KOPS_RELEASE_CONF, 35, 1, 31, false },
	{ KOPS_RELEASE_CONF, 37, 0, 31, false },
	{ KOPS_RELEASE_CONF_LATE, 32, 0, 31, false },
	{ KOPS_RELEASE_CONF_LATE, 32, 1, 31, true },
	{ KOPS_RELEASE_CONF_LATE, 37, 0, 31, true },
	{ KOPS_DEFAULT_LINK_AGAIN, 29, 0, 31, true },
	{ KOPS_DEFAULT_LINK_AGAIN, 30, 1, 31, true },
	{ KOPS_DEFAULT_LINK_AGAIN, 30, 2, 31, false },
	{ KOPS_DEFAULT_LINK_AGAIN, 32, 0, 31, false },
	{ KOPS_DEFAULT_LINK_AGAIN, 32, 1, 31, true },
	{ KOPS_DEFAULT_LINK_AGAIN, 37, 0, 31, true },
	{ KOPS_OTHERS_BY_NAME, 34, 2, 31, false },
	{ KOPS_OTHERS_BY_NAME, 34, 3, 31, true },
	{ KOPS_OTHERS_BY_NAME, 34, 99, 31, true },
	{ KOPS_OTHERS_BY_NAME, 35, 0, 31, false },
	{ KOPS_OTHERS_BY_NAME, 35, 1, 31, true },
	{ KOPS_OTHERS_BY_NAME, 36, 1, 31, true },
	{ KOPS_OTHERS_BY_NAME, 36, 2, 31, false },
	{ KOPS_OTHERS_BY_DRIVER, 36, 1, 31, false },
	{ KOPS_OTHERS_BY_DRIVER, 36, 2, 31, true },
	{ KOPS_OTHERS_BY_DRIVER, 37, 0, 31, true },
	{ KOPS_OTHERS_OF_VPC, 34, 1, 31, false },
	{ KOPS_OTHERS_OF_VPC, 34, 2, 31, true },
	{ KOPS_OTHERS_OF_VPC, 34, 3, 31, false },
	{ KOPS_OTHERS_OF_VPC, 35, 0, 31, true },
	{ KOPS_OTHERS_OF_VPC, 35, 1, 31, false },
	{ KOPS_HOTPLUG, 34, 1, 31, false },
	{ KOPS_HOTPLUG, 34, 2, 31, true },
	{ KOPS_HOTPLUG, 37, 0, 31, true },
	{ KOPS_ROUTING_TABLES, 34, 1, 31, false },
	{ KOPS_ROUTING_TABLES, 34, 2, 31, true },
	{ KOPS_ROUTING_TABLES, 37, 0, 31, true },
	{ KOPS_CLOUD_CONFIG_OF_KUBELET, 29, 0, 24, true },
	{ KOPS_CLOUD_CONFIG_OF_KUBELET, 32, 99, 33, true },
	{ KOPS_CLOUD_CONFIG_OF_KUBELET, 33, 0, 33, false },
	{ KOPS_CLOUD_CONFIG_OF_KUBELET, 33, 0, 32, true },
	{ KOPS_CLOUD_CONFIG_OF_KUBELET, 35, 99, 32, true },
	{ KOPS_CLOUD_CONFIG_OF_KUBELET, 36, 0, 32, false },
	{ KOPS_CREDENTIAL_PROVIDER, 29, 0, 26, false },
	{ KOPS_CREDENTIAL_PROVIDER, 29, 0, 27, true },
	{ KOPS_CREDENTIAL_PROVIDER, 33, 99, 26, false },
	{ KOPS_CREDENTIAL_PROVIDER, 33, 99, 27, true },
	{ KOPS_CREDENTIAL_PROVIDER, 34, 0, 26, true },
	{ KOPS_CREDENTIALS_OF_MIRRORS, 32, 99, 31, false },
	{ KOPS_CREDENTIALS_OF_MIRRORS, 33, 0, 31, true },
	{ KOPS_IMAGE_AGES_ARE_FLAGS, 29, 0, 31, true },
	{ KOPS_IMAGE_AGES_ARE_FLAGS, 32, 99, 31, true },
	{ KOPS_IMAGE_AGES_ARE_FLAGS, 33, 0, 31, false },
	{ KOPS_PARALLEL_PULLS, 33, 99, 31, false },
	{ KOPS_PARALLEL_PULLS, 34, 1, 31, false },
	{ KOPS_PARALLEL_PULLS, 34, 2, 31, true },
	{ KOPS_PARALLEL_PULLS, 35, 0, 31, true },
	{ KOPS_RESTART_PERIOD, 34, 99, 35, false },
	{ KOPS_RESTART_PERIOD, 35, 0, 31, true },
	{ KOPS_SHORT_RESTART_PERIOD, 34, 99, 35, false },
	{ KOPS_SHORT_RESTART_PERIOD, 35, 0, 34, false },
	{ KOPS_SHORT_RESTART_PERIOD, 35, 0, 35, true },
	{ KOPS_EMPTY_CRASH_LOOP_BACK_OFF, 31, 99, 31, false },
	{ KOPS_EMPTY_CRASH_LOOP_BACK_OFF, 32, 0, 31, true },
	{ KOPS_EMPTY_TEXT_LOGGING, 29, 99, 29, false },
	{ KOPS_EMPTY_TEXT_LOGGING, 30, 0, 29, true },
	{ KOPS_QUOTED_FLAGS, 30, 99, 30, false },
	{ KOPS_QUOTED_FLAGS, 31, 0, 30, true },
	{ KOPS_SLICES, 33, 99, 31, false },
	{ KOPS_SLICES, 34, 0, 31, true },
	{ KOPS_KUBELET_KEY_0600, 29, 0, 29, true },
	{ KOPS_KUBELET_KEY_0600, 35, 99, 31, true },
	{ KOPS_KUBELET_KEY_0600, 36, 0, 31, false },
	{ KOPS_SANDBOX_OF_KUBELET, 29, 0, 29, true },
	{ KOPS_SANDBOX_OF_KUBELET, 34, 99, 31, true },
	{ KOPS_SANDBOX_OF_KUBELET, 35, 0, 31, false },
	{ KOPS_CONFIG_TOML_3, 35, 99, 31, false },
	{ KOPS_CONFIG_TOML_3, 36, 0, 31, true },
	{ KOPS_MIRROR_FOLDERS, 35, 99, 31, false },
	{ KOPS_MIRROR_FOLDERS, 36, 0, 31, true },
	{ KOPS_DEFAULT_RUNTIME, 33, 99, 31, false },
	{ KOPS_DEFAULT_RUNTIME, 34, 0, 31, true },
	{ KOPS_NVIDIA_RUNC_V2, 33, 99, 31, false },
	{ KOPS_NVIDIA_RUNC_V2, 34, 0, 31, true },
	{ KOPS_KUBENET_CNI_1, 34, 99, 31, false },
	{ KOPS_KUBENET_CNI_1, 35, 0, 31, true },
	{ KOPS_CONTAINERD_AFTER_DBUS, 33, 99, 31, false },
	{ KOPS_CONTAINERD_AFTER_DBUS, 34, 0, 31, true },
	{ KOPS_CONTAINERD_LABELS, 33, 99, 31, false },
	{ KOPS_CONTAINERD_LABELS, 34, 0, 31, true },
	{ KOPS_CONTAINERD_BUNDLE, 29, 0, 29, true },
	{ KOPS_CONTAINERD_BUNDLE, 36, 99, 31, true },
	{ KOPS_CONTAINERD_BUNDLE, 37, 0, 32, false },
	{ KOPS_LICENCE_IN_LINES, 29, 0, 29, true },
	{ KOPS_LICENCE_IN_LINES, 33, 99, 31, true },
	{ KOPS_LICENCE_IN_LINES, 34, 0, 31, false },
	{ KOPS_SKIPPED_TOOLS, 33, 99, 31, false },
	{ KOPS_SKIPPED_TOOLS, 34, 0, 31, true },
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
		assert_true(kops_does(&c, KOPS_ALWAYS));
	}
}

/* A row without a case is one that nobody looks at. */
static void no_difference_is_left_out(void **state)
{
	(void)state;
	for (int change = KOPS_ALWAYS + 1; change < KOPS_CHANGE_COUNT; change++) {
		bool any[2] = { false, false };

		for (size_t i = 0; i < ARRAY_LEN(edges); i++)
			if ((int)edges[i].change == change)
				any[edges[i].is_done] = true;
		if (!any[0] || !any[1])
			fail_msg("change %d is tried on one side alone", change);
	}
}

/* What came with a patch of two minors is in later patches of both, and in all minors behind them. */
static void what_was_carried_back_has_a_version_in_each_minor(void **state)
{
	static const struct version since[2] = { { 1, 32, 2, NULL }, { 1, 33, 1, NULL } };
	static const struct version one[2] = { { 1, 35, 0, NULL } }, none[2] = { 0 };
	static const struct {
		int minor, patch;
		bool is_since;
	} all[] = { { 31, 9, false }, { 32, 1, false }, { 32, 2, true }, { 32, 9, true },
		    { 33, 0, false }, { 33, 1, true },  { 34, 0, true }, { 37, 0, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct version v = { 1, all[i].minor, all[i].patch, NULL };

		assert_int_equal(kops_is_since(&v, since, 2), all[i].is_since);
		assert_int_equal(kops_is_since(&v, one, 2), all[i].minor >= 35);
		assert_true(kops_is_since(&v, none, 2));
	}
}

/* Patches of which no row speaks. */
static void patches_may_be_the_same(void **state)
{
	static const struct {
		int x[2], y[2];
		bool is_same;
	} all[] = {
		{ { 36, 0 }, { 36, 1 }, true },  { { 36, 1 }, { 36, 2 }, false },
		{ { 33, 0 }, { 33, 2 }, true },  { { 35, 0 }, { 35, 1 }, false },
		{ { 30, 1 }, { 30, 2 }, false }, { { 36, 1 }, { 37, 0 }, false },
		{ { 36, 2 }, { 37, 0 }, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct version x = { 1, all[i].x[0], all[i].x[1], NULL };
		const struct version y = { 1, all[i].y[0], all[i].y[1], NULL };

		assert_int_equal(kops_is_same(&x, &y), all[i].is_same);
		assert_int_equal(kops_is_same(&y, &x), all[i].is_same);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_difference_has_its_versions),
		cmocka_unit_test(what_was_carried_back_has_a_version_in_each_minor),
		cmocka_unit_test(no_difference_is_left_out),
		cmocka_unit_test(patches_may_be_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
