#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/kops_worker.h"

#define DIGEST "d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@https://a.example/"
#define ASSETS                                                                           \
	"Assets: {amd64: [9" DIGEST "runc.amd64, 8" DIGEST "kubelet, 7" DIGEST           \
	"containerd-2.3.4.tgz, 6" DIGEST "ecr-credential-provider-linux-amd64, 5" DIGEST \
	"crictl-v1.tgz]}\n"                                                              \
	"containerdConfig: {version: 2.3.4}\n"
#define UNITS "/etc/systemd/system/"

/* A host, the kops of its documents (NULL: the newest), and what they say beside. */
static struct plan *plan_of(struct arena *a, struct kops_worker *w, const char *distribution,
			    const char *version, const char *kops, const char *text)
{
	struct plan *p;

	*w = (struct kops_worker){ .facts = { .distribution = distribution, .version = version },
				   .vintage.text = kops };
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

static void assert_masked(const struct plan *p, const char *unit, bool is_masked)
{
	autoarena struct arena *a = arena_new_empty();
	const struct task *link = plan_look(p, TASK_LINK, arena_printf(a, UNITS "%s", unit));
	const struct task *off = plan_look(p, TASK_UNIT, unit);

	assert_int_equal(is_masked, link != NULL);
	assert_int_equal(is_masked, off != NULL);
	if (!is_masked)
		return;
	assert_string_equal(link->link.target, "/dev/null");
	assert_ptr_equal(off->ops, &task_unit_off_ops);
	assert_true(needs(plan_get(p, TASK_RELOAD, "systemd"), link));
	assert_true(needs(off, plan_get(p, TASK_RELOAD, "systemd")));
}

static void a_system_that_updates_itself_does_not_boot_for_it(void **state)
{
	static const struct {
		const char *text;
		bool reboots, updates, is_written;
	} rows[] = {
		{ "UpdatePolicy: automatic\n", false, true, true },
		{ "UpdatePolicy: external\n", false, false, true },
		{ "UpdatePolicy: external\n"
		  "Hooks: [null, [{name: update-service, manifest: Type=oneshot}]]\n",
		  true, true, false },
		{ "Hooks: [[{name: update-service.service, manifest: Type=oneshot}], null]\n", true,
		  true, false },
		/* which asks for the same */
		{ "Hooks: [[{name: locksmithd.service, enabled: false}], null]\n", false, true,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w;
		const struct plan *p = plan_of(a, &w, "flatcar", "4152.2.0", NULL, rows[i].text);
		const struct task *file = plan_get(p, TASK_FILE, UNITS "update-service.service");

		assert_masked(p, "locksmithd.service", !rows[i].reboots);
		assert_masked(p, "update-engine.service", !rows[i].updates);
		assert_int_equal(rows[i].is_written,
				 strstr(file->file.content, "systemctl mask --now locksmithd") !=
					 NULL);
	}
}

/* Its /usr cannot be written to, and it installs no packages. */
static void a_system_that_is_read_only_is_left_as_it_is(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w;
	const struct plan *p = plan_of(a, &w, "flatcar", "4152.2.0", NULL, "");
	const struct task *runtime = plan_get(p, TASK_UNIT, "containerd.service");

	(void)state;
	for (size_t i = 0; i < p->n; i++) {
		const struct task *t = p->tasks[i];

		assert_int_not_equal(t->kind, TASK_PACKAGE);
		if (t->kind == TASK_FILE || t->kind == TASK_DIR || t->kind == TASK_INSTALL ||
		    t->kind == TASK_LINK)
			assert_false(str_is_within(t->name, "/usr"));
	}
	(void)plan_get(p, TASK_INSTALL, "/opt/kubernetes/bin/kubelet");
	(void)plan_get(p, TASK_INSTALL, "/opt/kubernetes/bin/ecr-credential-provider");
	(void)plan_get(p, TASK_INSTALL, "/opt/kops/bin/crictl");
	assert_false(runtime->unit.enable);
	assert_true(strv_has(&runtime->unit.inputs, UNITS "containerd.service.d/10-kops.conf"));
	assert_true(strv_has(&runtime->unit.inputs, "/etc/containerd/config.toml"));
	assert_null(plan_look(p, TASK_FILE, UNITS "containerd.service"));
	assert_null(plan_look(p, TASK_FILE, "/etc/sysconfig/containerd"));
	/* of the documents' 2.3 it would be version 4, which the system's own cannot read */
	assert_non_null(strstr(plan_get(p, TASK_FILE, "/etc/containerd/config.toml")->file.content,
			       "\nversion = 3\n"));
	assert_non_null(strstr(plan_get(p, TASK_FILE, "/etc/logrotate.d/kubelet")->file.content,
			       "  maxsize 100M\n  dateformat -%Y%m%d-%s\n  daily\n"));
	assert_null(plan_look(p, TASK_FILE, UNITS "logrotate.service"));
	(void)plan_get(p, TASK_UNIT, "logrotate.timer");
}

/* Of Flatcar's releases older ones have containerd 1.7, which reads no version 3. */
static void a_configuration_is_one_that_the_hosts_containerd_reads(void **state)
{
	static const struct {
		const char *containerd, *version;
	} rows[] = { { "1.7.23", "\nversion = 2\n" },
		     { "2.0.4", "\nversion = 3\n" },
		     { NULL, "\nversion = 3\n" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w = { .facts = { .distribution = "flatcar" },
					 .runtime.version = rows[i].containerd };
		const struct plan *p = kops_try_plan(a, &w, NULL, ASSETS);

		assert_non_null(p);
		assert_non_null(
			strstr(plan_get(p, TASK_FILE, "/etc/containerd/config.toml")->file.content,
			       rows[i].version));
	}
}

static void packages_cannot_be_had_everywhere(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .facts = { .distribution = "flatcar" } };
	const struct plan *p;

	(void)state;
	/* a host, not documents alone */
	strmap_set(a, &w.manifests, "memfs://tests/a.yaml", "");
	p = kops_try_plan(a, &w, "packages", ASSETS "packages: [htop, nfs-common]\n");
	if (!p)
		fail_msg("%s", w.e.msg);
	assert_int_equal(p->warnings.n, 1);
	assert_string_equal(p->warnings.v[0],
			    "packages: htop nfs-common: this distribution installs none");
	for (size_t i = 0; i < p->n; i++)
		assert_int_not_equal(p->tasks[i]->kind, TASK_PACKAGE);
}

static const struct {
	const char *distribution, *version;
	const char *kops;      /* NULL: the newest */
	bool is_masked, loads; /* the firewall; modules of its own */
	const char *mode;      /* kube-proxy's; NULL: the documents' */
} hosts[] = {
	{ "rhel", "10.1", NULL, true, true, "nftables" },
	{ "rocky", "10.0", "1.35.2", true, true, "nftables" },
	{ "rocky", "10.0", "1.35.1", false, false, "nftables" },
	{ "centos", "10.0", NULL, true, true, "nftables" },
	{ "fedora", "43", NULL, true, true, "nftables" },
	{ "rocky", "9.5", NULL, false, true, NULL },
	{ "rocky", "9.5", "1.34.3", false, false, NULL },
	{ "rhel", "9.4", NULL, false, false, NULL },
	{ "debian", "12", NULL, false, false, NULL },
};

static void a_host_of_nftables_is_made_ready(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w;
		const struct plan *p =
			plan_of(a, &w, hosts[i].distribution, hosts[i].version, hosts[i].kops, "");
		const struct task *module = plan_look(p, TASK_MODULE, "nf_conntrack");
		const struct task *extra = plan_look(p, TASK_PACKAGE, "kernel-modules-extra");

		assert_masked(p, "firewalld.service", hosts[i].is_masked);
		assert_int_equal(hosts[i].is_masked,
				 plan_look(p, TASK_FILE, "/etc/kops/firewalld-disabled") != NULL);
		assert_int_equal(hosts[i].loads, module != NULL);
		assert_int_equal(hosts[i].is_masked, extra != NULL);
		if (!extra)
			continue;
		assert_true(module->optional && extra->optional);
		assert_true(needs(module, extra));
		assert_true(needs(plan_get(p, TASK_MODULE, "br_netfilter"), extra));
		assert_true(strv_has(&extra->package.modules, "ip_set"));
	}
}

static void kube_proxy_has_the_mode_that_the_host_can(void **state)
{
	static const char *const modes[][2] = { { "", "--proxy-mode=nftables" },
						{ ", proxyMode: iptables",
						  "--proxy-mode=nftables" },
						{ ", proxyMode: ipvs", "--proxy-mode=ipvs" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hosts) * ARRAY_LEN(modes); i++) {
		const size_t h = i / ARRAY_LEN(modes), m = i % ARRAY_LEN(modes);
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w;
		const struct plan *p =
			plan_of(a, &w, hosts[h].distribution, hosts[h].version, hosts[h].kops,
				arena_printf(a, "KubeProxy: {image: a/b:1, cpuRequest: 100m%s}\n",
					     modes[m][0]));
		const char *text =
			plan_get(p, TASK_FILE, "/etc/kubernetes/manifests/kube-proxy.manifest")
				->file.content;

		if (hosts[h].mode || m == 2)
			assert_non_null(strstr(text, modes[m][1]));
		else
			assert_null(strstr(text, "nftables"));
	}
}

/* It gives the host the addresses of pods. */
static void rules_of_network_manager_are_taken_back(void **state)
{
	static const struct {
		const char *distribution, *version, *text;
		bool is_stopped;
	} rows[] = {
		{ "rhel", "9.4", "Networking: {amazonVPC: {}}\n", true },
		{ "rhel", "9.4",
		  "Networking: {amazonVPC: {}}\n"
		  "Hooks: [[{name: nm-cloud-setup.timer, enabled: false}], null]\n",
		  true },
		{ "rhel", "9.4", "Networking: {cilium: {}}\n", false },
		{ "rhel", "10.1", "Networking: {amazonVPC: {}}\n", false },
		{ "rocky", "9.4", "Networking: {amazonVPC: {}}\n", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_worker w;
		const struct plan *p =
			plan_of(a, &w, rows[i].distribution, rows[i].version, NULL, rows[i].text);
		const struct task *stray = plan_look(p, TASK_STRAY, "nm-cloud-setup");
		const char *marker = "/etc/kops/nm-cloud-setup-disabled";

		assert_int_equal(rows[i].is_stopped, stray != NULL);
		assert_int_equal(rows[i].is_stopped, plan_look(p, TASK_FILE, marker) != NULL);
		if (!stray)
			continue;
		assert_true(needs(stray, plan_get(p, TASK_FILE, marker)));
		for (size_t k = 0; k < p->n; k++)
			if (p->tasks[k]->kind == TASK_LINK &&
			    str_eq(p->tasks[k]->link.target, "/dev/null"))
				assert_true(needs(stray, p->tasks[k]));
		assert_true(needs(plan_get(p, TASK_UNIT, "kubelet.service"), stray));
		assert_string_equal(
			plan_get(p, TASK_LINK, UNITS "nm-cloud-setup.timer")->link.target,
			"/dev/null");
		assert_string_equal(
			plan_get(p, TASK_LINK, UNITS "nm-cloud-setup.service")->link.target,
			"/dev/null");
		/* its own task would stop it, and what it did would stay */
		assert_null(plan_look(p, TASK_UNIT, "nm-cloud-setup.timer"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_that_updates_itself_does_not_boot_for_it),
		cmocka_unit_test(a_system_that_is_read_only_is_left_as_it_is),
		cmocka_unit_test(a_configuration_is_one_that_the_hosts_containerd_reads),
		cmocka_unit_test(packages_cannot_be_had_everywhere),
		cmocka_unit_test(a_host_of_nftables_is_made_ready),
		cmocka_unit_test(kube_proxy_has_the_mode_that_the_host_can),
		cmocka_unit_test(rules_of_network_manager_are_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
