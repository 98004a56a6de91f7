#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/plan/release.h"
#include "tests/unit/lib/kops_worker.h"

#define DIGEST "d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@https://a.example/"
#define ASSETS                                                                     \
	"Assets: {amd64: [9" DIGEST "runc.amd64, 8" DIGEST "kubelet, 7" DIGEST     \
	"containerd-2.3.4.tgz, 6" DIGEST "ecr-credential-provider-linux-amd64]}\n" \
	"containerdConfig: {version: 2.3.4}\n"

static const char networkd[] = "systemd-networkd.service";
static const char rules[] = "/etc/udev/rules.d/99-vpc-policy-routes.rules";

static struct plan *plan_of(struct arena *a, struct kops_worker *w, const char *version,
			    const char *text)
{
	struct plan *p;

	w->facts.version = version;
	p = kops_try_plan(a, w, NULL, arena_printf(a, ASSETS "%s", text));
	if (!p)
		fail_msg("%s", w->e.msg);
	return p;
}

static bool needs(const struct task *t, const struct task *other)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == other)
			return true;
	return false;
}

/* A node of amazonvpc on the distribution whose own services are in its way. */
static void the_network_begins_anew_once_and_before_there_are_pods(void **state)
{
	static const char *const inputs[] = {
		"/etc/udev/rules.d/99-vpc-policy-routes.rules",
		"/usr/lib/systemd/networkd.conf.d/40-disable-manage-foreign-routes.conf",
		"/etc/systemd/network/99-default.link",
		"/etc/systemd/network/75-eni-secondary.network",
	};
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .facts = { .distribution = "amazonlinux", .mac = "0a:01" } };
	const struct task *unit, *stray;
	const struct plan *p;

	(void)state;
	strmap_set(a, &w.facts.interfaces, "ens5", "0A:01");
	p = plan_of(a, &w, "2023", "Networking: {amazonVPC: {}}\n");
	unit = plan_get(p, TASK_UNIT, networkd);
	stray = plan_get(p, TASK_STRAY, "policy-routes");
	assert_false(unit->unit.enable);
	assert_int_equal(unit->unit.inputs.n, ARRAY_LEN(inputs));
	for (size_t i = 0; i < ARRAY_LEN(inputs); i++) {
		assert_true(strv_has(&unit->unit.inputs, inputs[i]));
		assert_true(needs(unit, plan_get(p, TASK_FILE, inputs[i])));
	}
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_PACKAGE)
			assert_int_equal(needs(unit, p->tasks[i]),
					 !p->tasks[i]->package.builders.n);
	assert_true(needs(unit, stray) && needs(stray, plan_get(p, TASK_FILE, rules)));
	assert_true(needs(plan_get(p, TASK_UNIT, "kubelet.service"), unit));
	assert_true(needs(plan_get(p, TASK_UNIT, "containerd.service"), unit));
	assert_false(needs(plan_get(p, TASK_UNIT, "kubelet.service"), stray));
}

static void a_network_of_others_is_left_alone(void **state)
{
	static const char *const texts[] = { "Networking: {calico: {}}\n",
					     "Networking: {kubeRouter: {}}\n", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { 0 };
		const struct plan *p = plan_of(a, &w, "12", texts[i]);

		assert_null(plan_look(p, TASK_UNIT, networkd));
		assert_null(plan_look(p, TASK_STRAY, "policy-routes"));
	}
}

/* A service that ends at once is never found running: it would be started by each run. */
static void logs_are_rotated_when_the_timer_says_so(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "12", "");
	const struct task *timer = plan_get(p, TASK_UNIT, "logrotate.timer");

	(void)state;
	assert_false(timer->unit.at_boot);
	(void)plan_get(p, TASK_FILE, "/etc/systemd/system/logrotate.service");
	assert_null(plan_look(p, TASK_UNIT, "logrotate.service"));
}

/* Also through others. */
static bool waits_for(const struct task *t, const struct task *need)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i] == need || waits_for(t->needs[i], need))
			return true;
	return false;
}

/* Only what comes with them does, and the manager does what the node needs first. */
static void no_pod_waits_for_a_package_of_comfort(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = plan_of(a, &w, "12", "packages: [htop]\n");
	const struct task *comfort =
		plan_get(p, TASK_PACKAGE, "unattended-upgrades chrony logrotate");
	const struct task *needed =
		plan_get(p, TASK_PACKAGE, "iptables libapparmor1 libseccomp2 util-linux htop");

	(void)state;
	assert_true(needs(comfort, needed));
	assert_true(needs(plan_get(p, TASK_UNIT, "chrony.service"), comfort));
	assert_true(needs(plan_get(p, TASK_UNIT, "logrotate.timer"), comfort));
	assert_int_equal(comfort->n_users, 2);
	assert_true(waits_for(plan_get(p, TASK_UNIT, "containerd.service"), needed));
	assert_true(waits_for(plan_get(p, TASK_UNIT, "kubelet.service"), needed));
	assert_false(waits_for(plan_get(p, TASK_UNIT, "kubelet.service"), comfort));
}

static void modules_are_there_before_settings_and_services(void **state)
{
	static const struct {
		const char *text, *module, *other;
	} rows[] = {
		{ "Networking: {kindnet: {}}\n", "nfnetlink_queue", "br_netfilter" },
		{ "Networking: {cilium: {}}\n", "br_netfilter", "nfnetlink_queue" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { 0 };
		const struct plan *p = plan_of(a, &w, "12", rows[i].text);
		const struct task *module = plan_get(p, TASK_MODULE, rows[i].module);

		assert_null(plan_look(p, TASK_MODULE, rows[i].other));
		assert_true(module->optional);
		assert_true(needs(plan_get(p, TASK_SYSCTL, "/etc/sysctl.d/99-k8s-general.conf"),
				  module));
		assert_true(needs(plan_get(p, TASK_UNIT, "kubelet.service"), module));
	}
}

static void the_kernel_gets_what_the_file_says(void **state)
{
	static const char text[] =
		"sysctlParameters: ['#net.core.somaxconn = 1', ';x=1', '-net.bridge.a = 1', "
		"'kernel.panic=0']\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 }, strict = { 0 };
	const struct plan *p = plan_of(a, &w, "12", text);
	const struct task *t = plan_get(p, TASK_SYSCTL, "/etc/sysctl.d/99-k8s-general.conf");
	const struct strmap *values = &t->sysctl.values;

	(void)state;
	assert_string_equal(strmap_get(values, "net.core.somaxconn"), "32768");
	assert_string_equal(strmap_get(values, "net.ipv4.neigh.default.gc_thresh1"), "0");
	assert_string_equal(strmap_get(values, "net.ipv4.ip_local_reserved_ports"), "30000-32767");
	assert_string_equal(strmap_get(values, "net.bridge.a"), "1");
	assert_string_equal(strmap_get(values, "kernel.panic"), "0");
	/* of the documents' own, one that may fail is not told of */
	assert_int_equal(t->sysctl.asked.n, 1);
	assert_string_equal(t->sysctl.asked.v[0], "kernel.panic");
	assert_false(t->sysctl.keeps_defaults);
	p = plan_of(a, &strict, "12", "KubeletConfig: {protectKernelDefaults: true}\n");
	assert_true(plan_get(p, TASK_SYSCTL, t->name)->sysctl.keeps_defaults);
	for (size_t i = 0; i < values->n; i++)
		assert_null(strchr("#;-", values->v[i].key[0]));
}

static void the_kernel_is_told_of_ports_in_its_own_form(void **state)
{
	static const char *const all[][2] = { { "30000-32767", "30000-32767" },
					      { "30000+2767", "30000-32767" },
					      { "'30000'", "30000" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { 0 };
		const struct plan *p = plan_of(
			a, &w, "12", arena_printf(a, "ServiceNodePortRange: %s\n", all[i][0]));

		assert_string_equal(
			strmap_get(&plan_get(p, TASK_SYSCTL, "/etc/sysctl.d/99-k8s-general.conf")
					    ->sysctl.values,
				   "net.ipv4.ip_local_reserved_ports"),
			all[i][1]);
	}
}

static const struct plan *plan_for(struct arena *a, const char *distribution, const char *version,
				   struct kops_worker *w)
{
	*w = (struct kops_worker){ .facts = { .distribution = distribution } };
	return plan_of(a, w, version, "");
}

static void documents_alone_are_planned_for_what_is_known(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w;

	(void)state;
	assert_int_equal(plan_for(a, "amazonlinux", "2023", &w)->warnings.n, 0);
	assert_int_equal(plan_for(a, "ubuntu", NULL, &w)->warnings.n, 0);
}

static bool nth_of_three(size_t n, struct facts *ret)
{
	static const struct facts all[] = { { .distribution = "rhel", .version = "10" },
					    { .distribution = "rhel", .version = "9" },
					    { .distribution = "flatcar" } };

	if (n < ARRAY_LEN(all))
		*ret = all[n];
	return n < ARRAY_LEN(all);
}

static void releases_are_listed_by_distribution(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(release_list(a, nth_of_three), "rhel 10, 9; flatcar");
}

static void other_releases_are_refused(void **state)
{
	static const char *const all[][2] = { { "debian", "10" },    { "ubuntu", "20.04" },
					      { "ubuntu", "25.04" }, { "amazonlinux", "2" },
					      { "rhel", "7.9" },     { "centos", "8" } };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(all); i++) {
		const char *const *host = all[i / 2];
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { .facts = { .distribution = host[0], .version = host[1] } };

		assert_null(kops_try_plan(a, &w, NULL, ASSETS));
		w.req.no_keys = i % 2;
		w.plan = (struct plan){ 0 };
		assert_true(plan_build(a, &w.req, &w.plan, &w.e) < 0);
		assert_string_equal(
			w.e.msg, arena_printf(a,
					      "this is %s %s, and nodes of these documents are "
					      "made on %s%s",
					      host[0], host[1], release_list(a, release_nth_today),
					      i % 2 ? "" : ", and 2 more errors"));
	}
}

/* It is made as the newest that is known, and one line says so. */
static void a_newer_release_is_as_the_newest(void **state)
{
	static const struct {
		const char *distribution, *version, *newest;
	} all[] = {
		{ "debian", "14", "debian 13" }, { "ubuntu", "26.10", "ubuntu 26.04" },
		{ "rhel", "11.1", "rhel 10" },   { "amazonlinux", "2025", "amazonlinux 2023" },
		{ "fedora", "45", "fedora 44" }, { "rhel", "10.4", NULL },
		{ "ubuntu", "24.04.3", NULL },   { "centos", "9", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w;
		const struct plan *p = plan_for(a, all[i].distribution, all[i].version, &w);

		assert_int_equal(p->warnings.n, all[i].newest ? 1 : 0);
		if (all[i].newest)
			assert_string_equal(p->warnings.v[0],
					    arena_printf(a,
							 "%s %s is newer than what is known: this "
							 "node is made as one of %s",
							 all[i].distribution, all[i].version,
							 all[i].newest));
	}
}

static bool warns(const struct plan *p, const char *text)
{
	return strv_has(&p->warnings, text);
}

/* kops' own program of that time would have ended there. */
static void a_release_that_a_kops_did_not_know_is_told(void **state)
{
	static const struct {
		const char *distribution, *version, *release;
		int minor, patch;     /* the first that knew it */
		int late, late_patch; /* of a later minor, which did not know it at first */
	} all[] = {
		{ "debian", "11", "debian 11", 29, 0, 0, 0 },
		{ "debian", "12", "debian 12", 29, 0, 0, 0 },
		{ "debian", "13", "debian 13", 32, 2, 33, 1 },
		{ "ubuntu", "22.04", "ubuntu 22.04", 29, 0, 0, 0 },
		{ "ubuntu", "24.04", "ubuntu 24.04", 29, 0, 0, 0 },
		{ "ubuntu", "25.10", "ubuntu 25.10", 35, 0, 0, 0 },
		{ "ubuntu", "26.04", "ubuntu 26.04", 35, 1, 0, 0 },
		{ "amazonlinux", "2023", "amazonlinux 2023", 29, 0, 0, 0 },
		{ "rhel", "8.10", "rhel 8", 29, 0, 0, 0 },
		{ "rhel", "9.4", "rhel 9", 29, 0, 0, 0 },
		{ "rhel", "10.1", "rhel 10", 35, 0, 0, 0 },
		{ "rocky", "8.10", "rocky 8", 29, 0, 0, 0 },
		{ "rocky", "9.4", "rocky 9", 30, 0, 0, 0 },
		{ "rocky", "10.1", "rocky 10", 35, 0, 0, 0 },
		{ "centos", "9", "centos 9", 35, 0, 0, 0 },
		{ "centos", "10", "centos 10", 35, 0, 0, 0 },
		{ "fedora", "41", "fedora 41", 31, 0, 0, 0 },
		{ "fedora", "42", "fedora 42", 35, 0, 0, 0 },
		{ "fedora", "43", "fedora 43", 35, 0, 0, 0 },
		{ "fedora", "44", "fedora 44", 35, 0, 0, 0 },
		{ "flatcar", "4152.2.0", "flatcar", 29, 0, 0, 0 },
	};
	/* the first and the last of each minor that some of them came with */
	static const int kops[][2] = { { 29, 0 }, { 29, 2 }, { 30, 0 }, { 30, 4 }, { 31, 0 },
				       { 32, 1 }, { 32, 2 }, { 32, 4 }, { 33, 0 }, { 33, 1 },
				       { 34, 0 }, { 34, 3 }, { 35, 0 }, { 35, 1 }, { 37, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all) * ARRAY_LEN(kops); i++) {
		const size_t h = i / ARRAY_LEN(kops);
		const int minor = kops[i % ARRAY_LEN(kops)][0],
			  patch = kops[i % ARRAY_LEN(kops)][1];
		const bool is_known = minor == all[h].minor  ? patch >= all[h].patch
				      : minor == all[h].late ? patch >= all[h].late_patch
							     : minor > all[h].minor;
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = {
			.vintage = { minor, minor,
				     .text = arena_printf(a, "1.%d.%d", minor, patch) },
			.facts = { .distribution = all[h].distribution, .version = all[h].version },
			.kubernetes = 31,
		};
		const char *line = arena_printf(a,
						"kops 1.%d.%d made no nodes on %s: this one is "
						"made as later versions make it",
						minor, patch, all[h].release);
		struct plan_req req;
		struct plan p;

		(void)kops_try_plan(a, &w, "release", ASSETS);
		req = w.req;
		req.no_keys = false;
		assert_int_equal(plan_build(a, &req, &p, &w.e), 0);
		if (warns(&p, line) == is_known)
			fail_msg("%s%s", is_known ? "told: " : "not told: ", line);
		req.no_keys = true;
		assert_int_equal(plan_build(a, &req, &p, &w.e), 0);
		assert_false(warns(&p, line));
	}
}

/* Where the machine itself can be asked, a check of hosts refuses it. */
static void an_image_with_cgroup_v1_is_told(void **state)
{
	static const struct {
		const char *version;
		int kubernetes, cgroup;
		bool is_told;
	} all[] = { { "8.10", 35, 0, true },
		    { "8.10", 34, 0, false },
		    { "8.10", 35, 2, false },
		    { "9.4", 35, 0, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { .facts = { .distribution = "rhel",
						    .version = all[i].version },
					 .kubernetes = all[i].kubernetes };
		struct plan_req req;
		struct plan p;

		(void)kops_try_plan(a, &w, "release", ASSETS);
		req = w.req;
		req.no_keys = false;
		req.runtime.cgroup = all[i].cgroup;
		assert_int_equal(plan_build(a, &req, &p, &w.e), 0);
		assert_int_equal(warns(&p, "rhel 8 has cgroup v1, which kubelet of this Kubernetes "
					   "refuses, unless its kernel is told otherwise"),
				 all[i].is_told);
	}
}

static void kubelet_says_whether_it_refuses_swap(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };

	(void)state;
	(void)plan_of(a, &w, "12", "");
	assert_true(w.node.refuses_swap);
	(void)plan_of(a, &w, "12", "KubeletConfig: {failSwapOn: true}\n");
	assert_true(w.node.refuses_swap);
	(void)plan_of(a, &w, "12", "KubeletConfig: {failSwapOn: false}\n");
	assert_false(w.node.refuses_swap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_network_begins_anew_once_and_before_there_are_pods),
		cmocka_unit_test(a_network_of_others_is_left_alone),
		cmocka_unit_test(logs_are_rotated_when_the_timer_says_so),
		cmocka_unit_test(no_pod_waits_for_a_package_of_comfort),
		cmocka_unit_test(modules_are_there_before_settings_and_services),
		cmocka_unit_test(the_kernel_gets_what_the_file_says),
		cmocka_unit_test(the_kernel_is_told_of_ports_in_its_own_form),
		cmocka_unit_test(documents_alone_are_planned_for_what_is_known),
		cmocka_unit_test(releases_are_listed_by_distribution),
		cmocka_unit_test(other_releases_are_refused),
		cmocka_unit_test(a_newer_release_is_as_the_newest),
		cmocka_unit_test(a_release_that_a_kops_did_not_know_is_told),
		cmocka_unit_test(an_image_with_cgroup_v1_is_told),
		cmocka_unit_test(kubelet_says_whether_it_refuses_swap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
