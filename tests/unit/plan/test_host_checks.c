#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/config/kops/model.h"
#include "nodeup/config/kops18/kops18.h"
#include "nodeup/config/kubeup/kubeup.h"
#include "nodeup/plan/era.h"
#include "nodeup/host/cgroup.h"
#include "tests/unit/lib/scratch.h"

static const char docker[] = "docker.service", containerd[] = "containerd.service";

#define PARSER(runtime)                                            \
	"AppArmor is on, and apparmor_parser, which this " runtime \
	" starts no container without, is missing"

/* What the check says of a host, "" when it has nothing to say. */
static const char *verdict(int minor, const struct runtime *runtime, struct err *e)
{
	const struct node n = { .dialect = &kops18_dialect, .kubernetes = { 1, minor, 0, NULL } };
	const struct plan_req req = { .node = &n, .runtime = *runtime };
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .req = &req };

	e->msg[0] = '\0';
	if (plan_check_host(&p, plan_era(p.req->node)->checks, false, e) < 0)
		assert_int_equal(e->kind, ERR_CONFIG);
	return e->msg;
}

static void pairs(void **state)
{
	static const struct {
		int minor;
		struct runtime runtime;
		const char *says;
	} rows[] = {
		{ 8, { .unit = docker, .cgroup = 1, .version = "20.10.24+dfsg1" }, NULL },
		{ 8, { .unit = docker, .cgroup = 2 }, "this host has cgroup v2" },
		{ 19, { .unit = docker, .cgroup = 2 }, NULL },
		{ 8, { .unit = docker }, NULL },
		{ 8,
		  { .unit = docker, .cgroup_driver = "systemd" },
		  "docker puts containers into systemd's cgroups, kubelet does not" },
		{ 8, { .unit = docker, .cgroup_driver = "cgroupfs" }, NULL },
		{ 8,
		  { .unit = docker, .version = "1.10.3" },
		  "this docker's API is older than kubelet's" },
		{ 8, { .unit = docker, .version = "1.11.2" }, NULL },
		{ 2, { .unit = docker, .version = "1.9.1" }, NULL },
		{ 5, { .unit = docker, .version = "1.9.1" }, NULL },
		{ 5,
		  { .unit = docker, .version = "1.8.3" },
		  "this docker's API is older than kubelet's" },
		{ 8, { .unit = docker, .version = "28.5.1" }, NULL },
		{ 8,
		  { .unit = docker, .version = "29.0.0" },
		  "this docker refuses an API as old as kubelet's" },
		{ 10, { .unit = containerd, .version = "1.0.3" }, "this containerd has no CRI" },
		{ 10, { .unit = containerd, .version = "1.7.27" }, NULL },
		{ 10,
		  { .unit = containerd, .version = "2.0.1" },
		  "this containerd refuses a CRI as old as kubelet's" },
		{ 10, { .unit = containerd, .version = "nonsense" }, NULL },
		{ 10,
		  { .unit = containerd, .cgroup_driver = "systemd" },
		  "containerd puts containers into systemd's cgroups, kubelet does not" },
#define LACKS .lacks_apparmor_parser = true
		{ 8,
		  { .unit = docker, .version = "20.10.24+dfsg1-1+deb12u1", LACKS },
		  PARSER("docker") },
		{ 8, { .unit = docker, .version = "20.10.5+dfsg1-1+b9", LACKS }, PARSER("docker") },
		{ 8,
		  { .unit = docker, .version = "23.0.6-1~debian.12~bookworm", LACKS },
		  PARSER("docker") },
		{ 8, { .unit = docker, .version = "20.10.24+dfsg1-1+deb12u1" }, NULL },
		/* these run their containers without AppArmor then */
		{ 8, { .unit = docker, .version = "17.03.2~ce-0~debian-stretch", LACKS }, NULL },
		{ 8, { .unit = docker, .version = "20.10.24~3-0~debian-bullseye", LACKS }, NULL },
		{ 8, { .unit = docker, .version = "24.0.7-1~debian.12~bookworm", LACKS }, NULL },
		{ 8, { .unit = docker, .version = "26.1.5+dfsg1-9", LACKS }, NULL },
		{ 8, { .unit = docker, LACKS }, NULL },
		{ 8, { LACKS }, NULL },
		{ 10, { .unit = containerd, .version = "1.6.0", LACKS }, PARSER("containerd") },
		{ 10, { .unit = containerd, .version = "1.6.16-1", LACKS }, PARSER("containerd") },
		{ 10, { .unit = containerd, .version = "1.6.17-1", LACKS }, NULL },
		{ 10, { .unit = containerd, .version = "1.6.20~ds1-1+deb12u1", LACKS }, NULL },
		{ 10, { .unit = containerd, .version = "1.5.9", LACKS }, NULL },
		{ 10, { .unit = containerd, .version = "1.7.27", LACKS }, NULL },
#undef LACKS
	};
	autoarena struct arena *a = arena_new_empty();
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *want =
			rows[i].says ? arena_printf(a, "Kubernetes 1.%d.0 cannot run here: %s",
						    rows[i].minor, rows[i].says)
				     : "";

		assert_string_equal(verdict(rows[i].minor, &rows[i].runtime, &e), want);
	}
}

static void the_runtime_of_the_documents_is_not_the_hosts(void **state)
{
	static const struct runtime hosts[] = {
		/* our own configuration, as the second run finds it */
		{ .unit = containerd, .version = "2.1.9", .cgroup_driver = "systemd" },
		{ .unit = docker,
		  .version = "20.10.24+dfsg1-1+deb12u1",
		  .lacks_apparmor_parser = true },
		{ .unit = docker, .cgroup_driver = "systemd" },
	};

	autoarena struct arena *a = arena_new_empty();
	const struct kops_config config = { .containerd = { .version = "2.1.9" } };
	const struct kops_node own = { .config = &config };
	const struct facts facts = { .distribution = "debian" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		const struct node n = { .dialect = &kops_dialect,
					.own = &own,
					.kubernetes = { 1, 36, 0, NULL } };
		const struct plan_req req = { .node = &n, .facts = &facts, .runtime = hosts[i] };
		struct plan p = { .arena = a, .req = &req };
		struct err e = { 0 };

		assert_int_equal(plan_check_host(&p, plan_era(p.req->node)->checks, false, &e), 0);
	}
}

static void a_node_of_another_program_is_not_judged(void **state)
{
	const struct node n = { .dialect = &kops_dialect, .is_adopted = true };
	const struct plan_req req = {
		.node = &n,
		.runtime = { .unit = containerd, .cgroup = 2, .cgroup_driver = "systemd" }
	};
	struct plan p = { .req = &req };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(plan_check_host(&p, plan_era(p.req->node)->checks, false, &e), 0);
}

static void all_that_a_host_lacks_is_told(void **state)
{
	static const char *const also[] = {
		"Kubernetes 1.8.0 cannot run here: docker puts containers into systemd's cgroups, "
		"kubelet does not",
		"Kubernetes 1.8.0 cannot run here: this docker refuses an API as old as kubelet's",
		"Kubernetes 1.8.0 cannot run here: there is swap space, with which kubelet does not "
		"start",
	};
	autoarena struct arena *a = arena_new_empty();
	const struct node n = { .dialect = &kops18_dialect,
				.refuses_swap = true,
				.kubernetes = { 1, 8, 0, NULL } };
	struct facts f = { .distribution = "debian" };
	const struct plan_req req = { .node = &n,
				      .facts = &f,
				      .runtime = { .unit = docker,
						   .cgroup = 2,
						   .version = "29.0.0",
						   .cgroup_driver = "systemd" } };
	struct plan p = { .arena = a, .req = &req };
	struct err e = { 0 };

	(void)state;
	strv_add(a, &f.swaps, "/swapfile");
	assert_false(plan_may_run(a, &req));
	(void)!plan_check_host(&p, plan_era(p.req->node)->checks, false, &e);
	assert_int_equal(p.n_wrong, 1 + ARRAY_LEN(also));
	assert_string_equal(p.wrong[0]->msg,
			    "Kubernetes 1.8.0 cannot run here: this host has cgroup v2");
	for (size_t i = 0; i < ARRAY_LEN(also); i++)
		assert_string_equal(p.wrong[1 + i]->msg, also[i]);
}

static void kubelet_without_tokens(void **state)
{
	static const char says[] =
		"Kubernetes 1.17.0 cannot run here: this instance's metadata service wants tokens, "
		"kubelet before 1.18 sends none";
	struct node n = { .dialect = &kops18_dialect, .kubernetes = { 1, 17, 0, NULL } };
	struct facts f = { .instance_id = "i-0abc" };
	const struct plan_req req = { .node = &n, .facts = &f, .imds_lacks_version1 = true };
	autoarena struct arena *a = arena_new_empty();
	struct plan p = { .arena = a, .req = &req };
	struct err e = { 0 };

	(void)state;
	assert_true(plan_check_host(&p, plan_era(p.req->node)->checks, false, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, says);
	assert_int_equal(e.nnotes, 3);
	assert_string_equal(e.notes[1].text,
			    "aws ec2 modify-instance-metadata-options --instance-id i-0abc "
			    "--http-tokens optional");
	n.kubernetes.minor = 18;
	assert_int_equal(plan_check_host(&p, plan_era(p.req->node)->checks, false, &e), 0);
}

/* Of each kind of documents; kubelet has the flag since 1.8. */
static void kubelet_that_swap_ends(void **state)
{
	static const struct {
		const struct dialect *dialect;
		int minor;
		bool refuses, now, refused;
		size_t warnings;
		const char *hook;
		bool is_adopted;
	} rows[] = {
		{ &kops_dialect, 36, true, true, false, 0,
		  "[Service]\nExecStart=/sbin/swapoff -a\n" },
		{ &kops18_dialect, 10, true, true, true, 0, "[Service]\nExecStart=/bin/true\n" },
		{ &kops18_dialect, 8, true, true, true, 0 },
		{ &kops18_dialect, 8, false, true, false, 0 },
		{ &kops18_dialect, 7, false, true, false, 0 },
		{ &kubeup_dialect, 5, false, true, false, 0 },
		{ &kops_dialect, 36, true, true, true, 0 },
		{ &kops_dialect, 36, false, true, false, 0 },
		{ &kops_dialect, 36, true, false, false, 1 },
		{ &kops_dialect, 36, false, false, false, 0 },
		{ &kops_dialect, 36, true, true, false, 0, .is_adopted = true },
	};
	autoarena struct arena *a = arena_new_empty();
	const struct kops_config config = { .containerd = { .version = "2.1.9" } };
	const struct kops_node own = { .config = &config };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct node_hook hook = { .manifest = rows[i].hook };
		const struct node n = { .dialect = rows[i].dialect,
					.is_adopted = rows[i].is_adopted,
					.own = &own,
					.hooks = { &hook, 1 },
					.refuses_swap = rows[i].refuses,
					.kubernetes = { 1, rows[i].minor, 0, NULL } };
		struct facts f = { .distribution = "debian" };
		const struct plan_req req = { .node = &n, .facts = &f };
		struct plan p = { .arena = a, .req = &req };
		struct err e = { 0 };

		strv_add(a, rows[i].now ? &f.swaps : &f.boot_swaps, "/swapfile");
		if ((plan_check_host(&p, plan_era(p.req->node)->checks, false, &e) < 0) !=
			    rows[i].refused ||
		    p.warnings.n != rows[i].warnings)
			fail_msg("row %zu: '%s', %zu warnings", i, e.msg, p.warnings.n);
		if (!rows[i].refused)
			continue;
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(
			strstr(e.msg, "there is swap space, with which kubelet does not start"));
		assert_string_equal(e.notes[1].text, "/swapfile");
		assert_int_equal(plan_check_host(&p, plan_era(p.req->node)->checks, true, &e), 0);
		assert_int_equal(p.warnings.n, 1);
	}
}

/* As a drop-in of kubelet's, a file of its variables or of its configuration may have it. */
static void kubelet_that_takes_swap(void **state)
{
	static const struct {
		const char *text;
		bool takes;
	} rows[] = {
		{ "[Service]\nEnvironment=KUBELET_EXTRA_ARGS=--fail-swap-on=false\n", true },
		{ "ARGS=\"--v=2 --fail-swap-on=False --x\"\n", true },
		{ "ARGS=--fail-swap-on=true --fail-swap-on=0", true },
		{ "kind: KubeletConfiguration\nfailSwapOn: false\n", true },
		{ "{\"kind\": \"KubeletConfiguration\",\"failSwapOn\":false}", true },
		{ "#!/bin/sh\nswapoff -a\n", true },
		{ "ARGS=--fail-swap-on=true\nOTHER=false\n", false },
		{ "ARGS=--fail-swap-on\n", false },
		{ "failSwapOn:", false },
		{ "", false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		const char *text = rows[i / 2].text;
		struct node_file file = {
			.path = "/etc/systemd/system/kubelet.service.d/9-mine.conf",
			.content = text,
			.len = strlen(text),
		};
		const struct node n = { .dialect = &kops18_dialect,
					.refuses_swap = true,
					.files = { &file, i % 2 ? 1 : 0 },
					.kubernetes = { 1, 10, 0, NULL } };
		/* of the host, where no document has it */
		struct facts f = {
			.distribution = "debian",
			.kubelet_takes_swap = { true, i % 2 == 0 && rows[i / 2].takes },
		};
		const struct plan_req req = { .node = &n, .facts = &f };
		struct plan p = { .arena = a, .req = &req };
		struct err e = { 0 };

		strv_add(a, &f.swaps, "/swapfile");
		if ((plan_check_host(&p, plan_era(p.req->node)->checks, false, &e) == 0) !=
		    rows[i / 2].takes)
			fail_msg("row %zu: '%s'", i, text);
	}
}

static struct runtime probe(struct arena *a, const struct scratch *s, const char *unit,
			    const char *command)
{
	struct runtime r = { .unit = unit };

	probe_cgroup(a, s->fd, command, NULL, &r);
	return r;
}

static void versions_and_drivers_are_found(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	static const char options[] = "{\"exec-opts\": [\"native.cgroupdriver=systemd\"]}";
	struct node_file file = { .path = "/etc/docker/daemon.json", .content = options };
	const struct node_files written = { &file, 1 };
	struct runtime r, by_run = { .unit = docker };
	struct scratch s;

	(void)state;
	scratch_new(&s);
	scratch_write(&s, "/var/lib/dpkg/status",
		      "Package: a\nVersion: 9\n\nPackage: docker-ce\nStatus: install ok installed\n"
		      "Version: 5:24.0.7-1~debian.12~bookworm\n\nPackage: docker.io\n"
		      "Status: deinstall ok config-files\nVersion: 1.0\n\n"
		      "Package: b\nVersion: 7\n\nPackage: containerd.io\n"
		      "Status: install ok installed\nVersion: 1.6.33-1\n");
	r = probe(a, &s, docker, NULL);
	assert_string_equal(r.version, "24.0.7-1~debian.12~bookworm");
	assert_null(r.cgroup_driver);
	assert_int_equal(r.cgroup, 0);
	assert_string_equal(probe(a, &s, containerd, NULL).version, "1.6.33-1");
	r = probe(a, &s, docker, "/usr/bin/dockerd --exec-opt native.cgroupdriver=systemd -D");
	assert_string_equal(r.cgroup_driver, "systemd");
	scratch_write(&s, "/etc/docker/daemon.json",
		      "{\"exec-opts\": [\"native.cgroupdriver=cgroupfs\"]}");
	assert_string_equal(probe(a, &s, docker, NULL).cgroup_driver, "cgroupfs");
	probe_cgroup(a, s.fd, NULL, &written, &by_run);
	assert_string_equal(by_run.cgroup_driver, "systemd");
	scratch_write(&s, "/etc/docker/daemon.json", "{\"exec-opts\": 1");
	assert_null(probe(a, &s, docker, NULL).cgroup_driver);
	assert_null(probe(a, &s, containerd, NULL).cgroup_driver);
	scratch_write(&s, "/etc/containerd/config.toml",
		      "[x]\n  # SystemdCgroup = true\nSystemdCgroup = false\n");
	assert_null(probe(a, &s, containerd, NULL).cgroup_driver);
	scratch_write(&s, "/etc/containerd/config.toml",
		      "[x]\n            SystemdCgroup=true # yes\n");
	assert_string_equal(probe(a, &s, containerd, NULL).cgroup_driver, "systemd");
	scratch_write(&s, "/etc/containerd/config.toml", "systemd_cgroup = true");
	assert_string_equal(probe(a, &s, containerd, NULL).cgroup_driver, "systemd");
	scratch_done(&s);
}

static void the_parser_of_apparmor_is_looked_for(void **state)
{
	static const char enabled[] = "/sys/module/apparmor/parameters/enabled";
	static const char *const programs[] = { "/sbin/apparmor_parser",
						"/usr/sbin/apparmor_parser" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		struct scratch s;

		scratch_new(&s);
		assert_false(probe(a, &s, docker, NULL).lacks_apparmor_parser);
		scratch_write(&s, enabled, "N\n");
		scratch_write(&s, "/sys/kernel/security/apparmor/profiles", "");
		assert_false(probe(a, &s, docker, NULL).lacks_apparmor_parser);
		scratch_write(&s, enabled, "Y\n");
		assert_true(probe(a, &s, docker, NULL).lacks_apparmor_parser);
		assert_true(probe(a, &s, containerd, NULL).lacks_apparmor_parser);
		scratch_write(&s, programs[i], "");
		assert_false(probe(a, &s, docker, NULL).lacks_apparmor_parser);
		scratch_done(&s);
		/* as in a container: the kernel has it on, runtimes do not see it */
		scratch_new(&s);
		scratch_write(&s, enabled, "Y\n");
		assert_false(probe(a, &s, docker, NULL).lacks_apparmor_parser);
		scratch_done(&s);
	}
}

/* Where there is no dpkg the program says it. */
static void a_program_is_asked_for_its_version(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch s;

	(void)state;
	scratch_new(&s);
	scratch_program(&s, "/bin/dockerd",
			"#!/bin/sh\necho Docker version 1.13.1, build 092cba3\n");
	scratch_program(&s, "/bin/containerd",
			"#!/bin/sh\necho containerd github.com/x/containerd v2.0.1 abc\n");
	scratch_find_programs(&s, "/bin");
	assert_string_equal(probe(a, &s, docker, NULL).version, "1.13.1");
	assert_string_equal(probe(a, &s, containerd, NULL).version, "2.0.1");
	scratch_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(all_that_a_host_lacks_is_told),
		cmocka_unit_test(kubelet_without_tokens),
		cmocka_unit_test(kubelet_that_swap_ends),
		cmocka_unit_test(kubelet_that_takes_swap),
		cmocka_unit_test(the_runtime_of_the_documents_is_not_the_hosts),
		cmocka_unit_test(a_node_of_another_program_is_not_judged),
		cmocka_unit_test(versions_and_drivers_are_found),
		cmocka_unit_test(the_parser_of_apparmor_is_looked_for),
		cmocka_unit_test(a_program_is_asked_for_its_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
