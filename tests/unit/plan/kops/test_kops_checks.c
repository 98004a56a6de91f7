#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/utsname.h>
#include "nodeup/host/kernel.h"
#include "nodeup/plan/kops/kops.h"
#include "tests/unit/lib/kops_worker.h"
#include "tests/unit/lib/scratch.h"

/* What the checks say of a worker on such a host; "" nothing. */
static const char *verdict(struct arena *a, int minor, const char *text,
			   const struct runtime *runtime, struct err *e)
{
	struct kops_worker *w = arena_new(a, struct kops_worker);
	struct plan_req req;
	struct plan p = { .arena = a, .req = &req };

	*w = (struct kops_worker){ 0 };
	if (!kops_try_plan(a, w, "system", arena_printf(a, "Assets: {amd64: []}\n%s", text)))
		fail_msg("%s", w->e.msg);
	w->node.kubernetes.minor = minor;
	req = w->req;
	req.runtime = *runtime;
	*e = (struct err){ 0 };
	if (plan_check_host(&p, kops_host_checks, false, e) < 0)
		assert_int_equal(e->kind, ERR_CONFIG);
	return e->msg;
}

static const char *note(const struct err *e, const char *label)
{
	for (size_t i = 0; i < (size_t)e->nnotes; i++)
		if (str_eq(e->notes[i].label, label))
			return e->notes[i].text;
	return "";
}

#define OF(version) "containerdConfig: {version: " version "}\n"
#define OVERRIDE(version, config) \
	"containerdConfig: {version: " version ", configOverride: \"" config "\"}\n"
#define IPVS "KubeProxy: {cpuRequest: 100m, proxyMode: ipvs}\n" OF("2.2.1")

static const struct {
	int minor;
	const char *text;
	struct runtime runtime;
	const char *says, *got;
} pair_rows[] = {
	{ 35, OF("2.2.1"), { .cgroup = 1 }, "this host has cgroup v1", "" },
	{ 35, OF("2.2.1"), { .cgroup = 2 }, NULL, NULL },
	{ 35, OF("2.2.1"), { 0 }, NULL, NULL },
	{ 34, OF("2.2.1"), { .cgroup = 1 }, NULL, NULL },
	{ 35, OF("1.7.28"), { 0 }, NULL, NULL },
	{ 36, OF("1.7.28"), { 0 }, "the last that works with containerd 1", "1.7.28" },
	{ 36, OF("2.1.9"), { 0 }, NULL, NULL },
	{ 26, OF("1.5.9"), { 0 }, "no CRI v1", "1.5.9" },
	{ 25, OF("1.5.9"), { 0 }, NULL, NULL },
	{ 36,
	  "containerdConfig: {skipInstall: true}\n",
	  { .unit = "containerd.service", .version = "1.6.20" },
	  "the last that works with containerd 1",
	  "1.6.20" },
	{ 36,
	  "containerdConfig: {skipInstall: true}\n",
	  { .unit = "containerd.service" },
	  NULL,
	  NULL },
	{ 34, OVERRIDE("2.2.1", "version = 4\\n"), { 0 }, "so new a version", "2.2.1" },
	{ 34, OVERRIDE("2.3.0", "version = 4\\n"), { 0 }, NULL, NULL },
	{ 34, OVERRIDE("1.7.28", "# x\\n version = 3\\n"), { 0 }, "so new a version", "1.7.28" },
	{ 34, OVERRIDE("2.0.1", "version = 3\\n"), { 0 }, NULL, NULL },
	{ 34, OVERRIDE("1.7.28", "[a]\\nversion = 4\\n"), { 0 }, NULL, NULL },
	{ 36,
	  "KubeletConfig: {networkPluginName: cni}\n" OF("2.2.1"),
	  { 0 },
	  "kubelet of this Kubernetes does not know a flag",
	  "networkPluginName gives --network-plugin, which Kubernetes 1.23 was the last to have" },
	{ 32,
	  "KubeletConfig: {logLevel: 2, configureCbr0: false}\n" OF("2.2.1"),
	  { 0 },
	  "does not know a flag",
	  "configureCbr0 gives --configure-cbr0, which Kubernetes 1.5 was the last to have" },
	{ 30,
	  "APIServerConfig: {KubeAPIServer: {targetRamMB: 1}}\n" OF("2.2.1"),
	  { 0 },
	  "kube-apiserver of this Kubernetes does not know a flag",
	  "targetRamMB gives --target-ram-mb, which Kubernetes 1.23 was the last to have" },
	{ 27,
	  "ControlPlaneConfig: {KubeControllerManager: {podEvictionTimeout: 5m}}\n" OF("2.2.1"),
	  { 0 },
	  "kube-controller-manager of this Kubernetes does not know a flag",
	  "podEvictionTimeout gives --pod-eviction-timeout, which Kubernetes 1.26 was the last to have" },
	{ 26,
	  "ControlPlaneConfig: {KubeControllerManager: {podEvictionTimeout: 5m}}\n" OF("2.2.1"),
	  { 0 },
	  NULL,
	  NULL },
	{ 36,
	  "KubeletConfig: {logLevel: 2, cloudProvider: external}\n" OF("2.2.1"),
	  { 0 },
	  NULL,
	  NULL },
	{ 34, IPVS, { .lacks_ipvs = true }, "the module ip_vs", "" },
	{ 34, IPVS, { .lacks_ipvs = false }, NULL, NULL },
	{ 34, OF("2.2.1"), { .lacks_ipvs = true }, NULL, NULL },
	/* what nodes of before could not do these can */
	{ 34,
	  OF("2.2.1"),
	  { .unit = "containerd.service",
	    .version = "2.2.1",
	    .cgroup = 2,
	    .cgroup_driver = "systemd" },
	  NULL,
	  NULL },
};

static void pairs(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pair_rows); i++) {
		struct err e;
		const char *said = verdict(a, pair_rows[i].minor, pair_rows[i].text,
					   &pair_rows[i].runtime, &e);

		if (!pair_rows[i].says && *said)
			fail_msg("row %zu: %s", i, said);
		if (!pair_rows[i].says)
			continue;
		if (!strstr(said, pair_rows[i].says))
			fail_msg("row %zu: '%s'", i, said);
		assert_string_equal(note(&e, "got"), pair_rows[i].got);
		assert_non_null(strstr(note(&e, "do"), "ignoreHostChecks"));
	}
}

static void swap_is_refused_unless_the_documents_allow_it(void **state)
{
	static const struct {
		const char *text;
		bool refused;
	} rows[] = {
		{ "KubeletConfig: {logLevel: 2}\n", true },
		{ "KubeletConfig: {failSwapOn: true}\n", true },
		{ "KubeletConfig: {failSwapOn: false}\n", false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kops_worker *w = arena_new(a, struct kops_worker);
		struct plan p = { .arena = a, .req = &w->req };
		struct err e = { 0 };

		*w = (struct kops_worker){ 0 };
		if (!kops_try_plan(a, w, "system",
				   arena_printf(a, "Assets: {amd64: []}\n%s" OF("2.2.1"),
						rows[i].text)))
			fail_msg("%s", w->e.msg);
		strv_add(a, &w->facts.swaps, "/dev/nvme1n1p2");
		assert_int_equal(plan_check_host(&p, kops_host_checks, false, &e) < 0,
				 rows[i].refused);
		assert_string_equal(note(&e, "got"), rows[i].refused ? "/dev/nvme1n1p2" : "");
	}
}

static void a_kernel_without_lists_lacks_nothing(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct utsname host;
	struct scratch root;
	const char *lists;

	(void)state;
	scratch_new(&root);
	assert_int_equal(uname(&host), 0);
	lists = arena_printf(a, "/lib/modules/%s/modules.", host.release);
	assert_false(kernel_lacks(root.fd, "ip_vs"));
	scratch_write(&root, arena_printf(a, "%sdep", lists),
		      "kernel/net/netfilter/ipvs/ip_vs_rr.ko.zst: kernel/x.ko\n");
	assert_true(kernel_lacks(root.fd, "ip_vs"));
	scratch_write(&root, arena_printf(a, "%sbuiltin", lists),
		      "kernel/net/netfilter/ipvs/ip_vs.ko\n");
	assert_false(kernel_lacks(root.fd, "ip_vs"));
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(swap_is_refused_unless_the_documents_allow_it),
		cmocka_unit_test(a_kernel_without_lists_lacks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
