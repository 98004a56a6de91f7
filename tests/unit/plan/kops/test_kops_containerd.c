#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/kops_worker.h"

#define HASH "9" HASH_TAIL
#define HASH_TAIL \
	"d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@https://a.example/"
#define ASSETS                                                   \
	"Assets:\n  amd64:\n"                                    \
	"  - " HASH "containerd-2.3.4-linux-amd64.tgz\n"         \
	"  - 2" HASH_TAIL "cni-plugins-linux-amd64-v1.8.0.tgz\n" \
	"  - 1" HASH_TAIL "runc.amd64\n"

#define BUNDLE                                                       \
	"Assets:\n  amd64:\n"                                        \
	"  - " HASH "cri-containerd-cni-1.5.13-linux-amd64.tar.gz\n" \
	"containerdConfig: {version: 1.5.13"

#define IMPORTS "imports = [\"/etc/containerd/conf.d/*.toml\"]\n"

static const char config_path[] = "/etc/containerd/config.toml";

static struct plan *must_plan(struct arena *a, struct kops_worker *w, const char *text)
{
	struct plan *p = kops_try_plan(a, w, "containerd", text);

	if (!p)
		fail_msg("%s", w->e.msg);
	return p;
}

static const char *text_of(const struct plan *p, const char *path)
{
	const struct task_file *f = &plan_get(p, TASK_FILE, path)->file;

	assert_int_equal(f->attr.mode, str_has_prefix(path, "/opt/kops/bin/") ? 0755 : 0644);
	return f->content;
}

/* The settings of K/tests/containerdbuilder/complex, which kops makes this text of. */
static const char complex[] = ASSETS
	"containerdConfig:\n"
	"  configAdditions:\n"
	"    plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.test-handler.test_bool_false: \"false\"\n"
	"    plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.test-handler.test_bool_true: \"true\"\n"
	"    plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.test-handler.test_int: 1\n"
	"    plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.test-handler.test_intstr: \"1\"\n"
	"    plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.test-handler.test_str: test\n"
	"  logLevel: info\n"
	"  registryMirrors:\n"
	"    docker.io: ['https://registry-1.docker.io']\n"
	"    '*': ['https://fallback.example.com']\n"
	"    registry.k8s.io: ['https://mirror.example.com', 'https://backup.example.com']\n"
	"  sandboxImage: registry.k8s.io/pause:3.10.1\n"
	"  version: 2.3.4\n"
	"Networking: {nonMasqueradeCIDR: 100.64.0.0/10}\n"
	"UsesKubenet: true\n";

static const char complex_toml[] = IMPORTS
	"version = 4\n"
	"\n"
	"[plugins]\n"
	"\n"
	"  [plugins.\"io.containerd.cri.v1.images\"]\n"
	"\n"
	"    [plugins.\"io.containerd.cri.v1.images\".pinned_images]\n"
	"      sandbox = \"registry.k8s.io/pause:3.10.1\"\n"
	"\n"
	"    [plugins.\"io.containerd.cri.v1.images\".registry]\n"
	"      config_path = \"/etc/containerd/certs.d\"\n"
	"\n"
	"  [plugins.\"io.containerd.cri.v1.runtime\"]\n"
	"\n"
	"    [plugins.\"io.containerd.cri.v1.runtime\".cni]\n"
	"      conf_template = \"/etc/containerd/config-cni.template\"\n"
	"\n"
	"    [plugins.\"io.containerd.cri.v1.runtime\".containerd]\n"
	"      default_runtime_name = \"runc\"\n"
	"\n"
	"      [plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes]\n"
	"\n"
	"        [plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.runc]\n"
	"          runtime_type = \"io.containerd.runc.v2\"\n"
	"\n"
	"          [plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.runc.options]\n"
	"            SystemdCgroup = true\n"
	"\n"
	"  [plugins.\"io.containerd.grpc.v1.cri\"]\n"
	"\n"
	"    [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
	"\n"
	"      [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes]\n"
	"\n"
	"        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.test-handler]\n"
	"          test_bool_false = false\n"
	"          test_bool_true = true\n"
	"          test_int = 1\n"
	"          test_intstr = \"1\"\n"
	"          test_str = \"test\"\n";

static void config_toml_is_that_of_kops_to_the_byte(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(a, &w, complex);

	(void)state;
	assert_string_equal(text_of(p, config_path), complex_toml);
	assert_string_equal(text_of(p, "/etc/sysconfig/containerd"),
			    "CONTAINERD_OPTS=--log-level=info");
	assert_string_equal(text_of(p, "/etc/crictl.yaml"),
			    "\nruntime-endpoint: unix:///run/containerd/containerd.sock\n");
}

/* source: kops 1.36 nodeup/pkg/model/containerd.go buildContainerdConfigV2 */
static void containerd_1_reads_version_2(void **state)
{
	static const char text[] = ASSETS
		"containerdConfig: {version: 1.7.28, sandboxImage: r/pause, selinuxEnabled: true, "
		"registryMirrors: {a.example: ['https://b.example']}, nvidiaGPU: {enabled: true}}\n"
		"NvidiaGPU: {enabled: true}\nUsesKubenet: true\n";
	static const char want[] = IMPORTS
		"version = 2\n"
		"\n"
		"[plugins]\n"
		"\n"
		"  [plugins.\"io.containerd.grpc.v1.cri\"]\n"
		"    enable_selinux = true\n"
		"    sandbox_image = \"r/pause\"\n"
		"\n"
		"    [plugins.\"io.containerd.grpc.v1.cri\".cni]\n"
		"      conf_template = \"/etc/containerd/config-cni.template\"\n"
		"\n"
		"    [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
		"      default_runtime_name = \"runc\"\n"
		"\n"
		"      [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes]\n"
		"\n"
		"        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\n"
		"          privileged_without_host_devices = false\n"
		"          runtime_engine = \"\"\n"
		"          runtime_root = \"\"\n"
		"          runtime_type = \"io.containerd.runc.v2\"\n"
		"\n"
		"          [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.options]\n"
		"            BinaryName = \"/usr/bin/nvidia-container-runtime\"\n"
		"            SystemdCgroup = true\n"
		"\n"
		"        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
		"          runtime_type = \"io.containerd.runc.v2\"\n"
		"\n"
		"          [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
		"            SystemdCgroup = true\n"
		"\n"
		"    [plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
		"      config_path = \"/etc/containerd/certs.d\"\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .facts.gpus = { true, 1 } };

	(void)state;
	assert_string_equal(text_of(must_plan(a, &w, text), config_path), want);
}

static void mirrors_keep_their_order_and_restart_nothing(void **state)
{
	static const char dir[] = "/etc/containerd/certs.d";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(a, &w, complex);
	const struct strv *inputs = &plan_get(p, TASK_UNIT, "containerd.service")->unit.inputs;

	(void)state;
	assert_string_equal(text_of(p, arena_printf(a, "%s/registry.k8s.io/hosts.toml", dir)),
			    "[host.\"https://mirror.example.com\"]\n"
			    "  capabilities = [\"pull\", \"resolve\"]\n\n"
			    "[host.\"https://backup.example.com\"]\n"
			    "  capabilities = [\"pull\", \"resolve\"]\n\n");
	assert_string_equal(text_of(p, arena_printf(a, "%s/_default/hosts.toml", dir)),
			    "[host.\"https://fallback.example.com\"]\n"
			    "  capabilities = [\"pull\", \"resolve\"]\n\n");
	for (size_t i = 0; i < inputs->n; i++)
		assert_false(str_is_within(inputs->v[i], dir));
	assert_true(strv_has(inputs, config_path));
	assert_true(strv_has(inputs, "/etc/sysconfig/containerd"));
	assert_true(strv_has(inputs, "/etc/systemd/system/containerd.service"));
	assert_true(strv_has(inputs, "/usr/bin/containerd"));
	assert_true(strv_has(inputs, "/usr/sbin/runc"));
}

static void settings_become_entries(void **state)
{
	static const struct {
		const char *settings, *want;
	} cases[] = {
		{ "version: 2.2.9", IMPORTS "version = 3\n" },
		{ "version: 2.0.0", IMPORTS "version = 3\n" },
		{ "version: 2.0.0-rc.1", IMPORTS "version = 2\n" },
		{ "version: 1.7.28", IMPORTS "version = 2\n" },
		{ "version: v2.3", IMPORTS "version = 4\n" },
		{ "version: 2.3.0-rc.1", IMPORTS "version = 3\n" },
		{ "version: 3.0.0", IMPORTS "version = 4\n" },
		{ "version: 2.1.4, selinuxEnabled: true", "    enable_selinux = true\n" },
		{ "version: 2.1.4, nri: {pluginRequestTimeout: 1500ms, "
		  "pluginRegistrationTimeout: 5s}",
		  "  [plugins.\"io.containerd.nri.v1.nri\"]\n"
		  "    disable = false\n"
		  "    plugin_registration_timeout = \"5s\"\n"
		  "    plugin_request_timeout = \"1.5s\"\n" },
		{ "version: 2.1.4, configAdditions: {'a.\"b\"\"c\"': 'x\"y', a.d: -7}",
		  "[a]\n"
		  "  \"b\\\"c\" = \"x\\\"y\"\n"
		  "  d = -7\n" },
		{ "version: 2.1.4, configAdditions: {version.below: 1}", IMPORTS "version = 3\n" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kops_worker w = { 0 };
		const char *doc =
			arena_printf(a, ASSETS "containerdConfig: {%s}\n", cases[i].settings);
		const char *text = text_of(must_plan(a, &w, doc), config_path);

		if (!strstr(text, cases[i].want))
			fail_msg("%s gives\n%s", cases[i].settings, text);
	}
}

static void others_have_a_place_of_their_own(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(a, &w, ASSETS "containerdConfig: {version: 2.1.4}\n");
	const struct task_file *f = &plan_get(p, TASK_FILE, config_path)->file;

	(void)state;
	assert_string_equal(f->content, arena_printf(a, IMPORTS "%s", f->also));
	assert_true(str_has_prefix(f->also, "version = 3\n"));
	assert_string_equal(plan_get(p, TASK_UNIT, "containerd.service")->unit.shared,
			    "/etc/containerd/conf.d");
}

static void nri_that_is_off_is_left_to_containerd(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };

	(void)state;
	assert_null(strstr(text_of(must_plan(a, &w,
					     ASSETS "containerdConfig: {version: 2.1.4, "
						    "nri: {enabled: false}}\n"),
				   config_path),
			   "nri"));
}

static void an_own_configuration_stands_alone(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(
		a, &w,
		ASSETS "containerdConfig: {version: 2.1.4, configOverride: \"version = 2\\n\", "
		       "registryMirrors: {docker.io: ['https://m']}, configAdditions: {a: 1}}\n");

	(void)state;
	assert_string_equal(text_of(p, config_path), "version = 2\n");
	/* and reads nothing that others write */
	assert_null(plan_get(p, TASK_UNIT, "containerd.service")->unit.shared);
	assert_null(plan_look(p, TASK_FILE, "/etc/containerd/certs.d/docker.io/hosts.toml"));
}

static void a_network_of_kubenet_has_its_template_and_rules(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(a, &w, complex);
	const char *script = text_of(p, "/opt/kops/bin/cni-iptables-setup");

	(void)state;
	assert_string_equal(text_of(p, "/etc/containerd/config-cni.template"),
			    "{\n"
			    "    \"cniVersion\": \"1.0.0\",\n"
			    "    \"name\": \"k8s-pod-network\",\n"
			    "    \"plugins\": [\n"
			    "        {\n"
			    "            \"type\": \"ptp\",\n"
			    "            \"ipam\": {\n"
			    "                \"type\": \"host-local\",\n"
			    "                \"ranges\": [[{\"subnet\": \"{{.PodCIDR}}\"}]],\n"
			    "                \"routes\": [{\"dst\":\"0.0.0.0/0\"}]\n"
			    "            }\n"
			    "        },\n"
			    "        {\n"
			    "            \"type\": \"portmap\",\n"
			    "            \"capabilities\": {\"portMappings\": true}\n"
			    "        }\n"
			    "    ]\n"
			    "}\n");
	assert_true(str_has_prefix(script, "#!/bin/bash\n# Built by kOps - do not edit\n\n"));
	assert_non_null(strstr(script, "\niptables -w -t nat -A IP-MASQ -d 100.64.0.0/10 -m "
				       "comment --comment \"ip-masq: pod cidr is not subject to "
				       "MASQUERADE\" -j RETURN\n"));
	assert_true(plan_get(p, TASK_UNIT, "cni-iptables-setup.service")->unit.enable);
}

/* Its bytes are known by their digest: kops' own text is not in this tree. */
static void the_licence_is_that_of_kops(void **state)
{
	static const char want[] =
		"b763e4258d396cd53f4023a7e6ceb6513a4257a50678210a97cd6528c3401a5c";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const char *text =
		text_of(must_plan(a, &w, complex), "/usr/share/doc/containerd/apache.txt");
	char hex[DIGEST_TEXT_MAX];
	struct digest d;

	(void)state;
	digest_of(DIGEST_SHA256, text, strlen(text), &d);
	assert_string_equal(digest_hex(&d, hex), want);
}

static void the_service_is_that_of_kops(void **state)
{
	static const char want[] =
		"[Unit]\n"
		"Description=containerd container runtime\n"
		"Documentation=https://containerd.io\n"
		"After=network.target dbus.service\n"
		"\n"
		"[Service]\n"
		"EnvironmentFile=/etc/sysconfig/containerd\n"
		"EnvironmentFile=/etc/environment\n"
		"ExecStartPre=-/sbin/modprobe overlay\n"
		"ExecStart=/usr/bin/containerd -c /etc/containerd/config.toml \"$CONTAINERD_OPTS\"\n"
		"Type=notify\n"
		"Delegate=yes\n"
		"KillMode=process\n"
		"Restart=always\n"
		"RestartSec=5\n"
		"LimitNPROC=infinity\n"
		"LimitCORE=infinity\n"
		"LimitNOFILE=1048576\n"
		"TasksMax=infinity\n"
		"OOMScoreAdjust=-999\n"
		"\n"
		"[Install]\n"
		"WantedBy=multi-user.target\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(a, &w, complex);

	(void)state;
	assert_string_equal(text_of(p, "/etc/systemd/system/containerd.service"), want);
	assert_true(plan_get(p, TASK_UNIT, "containerd.service")->unit.enable);
}

static void labels_and_a_cgroup_of_its_own_are_in_the_service(void **state)
{
	static const char doc[] = ASSETS
		"containerdConfig: {version: 2.1.4, selinuxEnabled: true}\n"
		"KubeletConfig: {runtimeCgroups: /run/}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .facts = { .distribution = "amazonlinux" } };
	struct kops_worker debian = { 0 };
	const char *unit = text_of(must_plan(a, &w, doc), "/etc/systemd/system/containerd.service");

	(void)state;
	assert_non_null(strstr(unit, "ExecStartPre=/bin/sh -c 'restorecon -v /usr/sbin/runc'\n"
				     "ExecStartPre=/bin/sh -c 'restorecon -v "
				     "/usr/bin/containerd*'\n"));
	assert_non_null(strstr(unit, "\nSlice=run.slice\n\n[Install]\n"));
	assert_null(strstr(text_of(must_plan(a, &debian, doc),
				   "/etc/systemd/system/containerd.service"),
			   "restorecon"));
}

static const struct task_install *install(const struct plan *p, const char *path)
{
	return &plan_get(p, TASK_INSTALL, path)->install;
}

static void programs_come_from_their_archives(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p =
		must_plan(a, &w,
			  ASSETS "  - 3" HASH_TAIL "crictl-v1.35.0-linux-amd64.tar.gz\n"
				 "InstallCNIAssets: true\ncontainerdConfig: {version: 2.1.4}\n");
	const struct task *plugin = plan_get(p, TASK_INSTALL, "/opt/cni/bin/bridge");

	(void)state;
	assert_int_equal(install(p, "/usr/bin/containerd")->n_sources, 1);
	assert_string_equal(install(p, "/usr/bin/containerd-shim-runc-v2")->sources[0]->name,
			    "containerd-2.3.4-linux-amd64.tgz");
	assert_true(plan_get(p, TASK_INSTALL, "/usr/bin/containerd-stress")->install.may_lack);
	assert_false(plan_get(p, TASK_INSTALL, "/usr/bin/ctr")->install.may_lack);
	assert_null(install(p, "/usr/sbin/runc")->member);
	assert_string_equal(install(p, "/usr/local/bin/crictl")->sources[0]->name,
			    "crictl-v1.35.0-linux-amd64.tar.gz");
	assert_null(plan_look(p, TASK_INSTALL, "/usr/local/bin/nerdctl"));
	assert_int_equal(plugin->install.n_sources, 1);
	assert_string_equal(plugin->install.sources[0]->name, "cni-plugins-linux-amd64-v1.8.0.tgz");
	assert_int_equal(plugin->install.mode, 0755);
	/* of two archives neither can do without what the other has */
	assert_false(plan_get(p, TASK_UNPACK, "containerd-2.3.4-linux-amd64.tgz")->optional);
	assert_null(plan_look(p, TASK_INSTALL, "/opt/cni/bin/containerd"));
	assert_null(plan_look(p, TASK_INSTALL, "/opt/cni/bin/runc.amd64"));
}

static void a_containerd_of_another_owner_is_left_alone(void **state)
{
	static const char doc[] = ASSETS
		"  - 3" HASH_TAIL "crictl-v1.35.0-linux-amd64.tar.gz\n"
		"  - 4" HASH_TAIL "nerdctl-2.1.0-linux-amd64.tar.gz\n"
		"InstallCNIAssets: true\n"
		"containerdConfig: {skipInstall: true, installNerdCtl: true}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { 0 };
	const struct plan *p = must_plan(a, &w, doc);

	(void)state;
	assert_null(plan_look(p, TASK_FILE, config_path));
	assert_null(plan_look(p, TASK_UNIT, "containerd.service"));
	assert_null(plan_look(p, TASK_INSTALL, "/usr/bin/containerd"));
	assert_null(plan_look(p, TASK_INSTALL, "/usr/local/bin/crictl"));
	assert_non_null(plan_look(p, TASK_INSTALL, "/usr/local/bin/nerdctl"));
	assert_non_null(plan_look(p, TASK_INSTALL, "/opt/cni/bin/loopback"));
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *doc, *want;
	} cases[] = {
		{ ASSETS,
		  "n.yaml:1:1: 'containerdConfig' is missing: the InstanceGroupRole is Node" },
		{ ASSETS "containerdConfig: {logLevel: info}\n",
		  "containerdConfig.version: '' is not a version" },
		{ ASSETS "containerdConfig: {version: 2.1.4, configAdditions: {a.b\"c: 1}}\n",
		  "n.yaml:8:61: containerdConfig.configAdditions: a.b\"c is not a path of keys" },
		{ ASSETS "containerdConfig: {version: 2.1.4, configAdditions: {'\"a': 1}}\n",
		  "n.yaml:8:60: containerdConfig.configAdditions: \"a is not a path of keys" },
		{ ASSETS "containerdConfig: {version: 2.1.4, configAdditions: {a: 1.5}}\n",
		  "n.yaml:8:57: containerdConfig.configAdditions: a: expected a text, an integer, "
		  "true or false" },
		{ ASSETS "containerdConfig: {version: 2.1.4, registryMirrors: {../x: []}}\n",
		  "n.yaml:8:54: registryMirrors: '../x': expected a registry's name and a list of "
		  "URLs" },
		{ "Assets:\n  amd64:\n  - " HASH "containerd.tgz\n"
		  "containerdConfig: {version: 2.1.4}\n",
		  "n.yaml:5:5: Assets: no asset runc.amd64, which containerd needs" },
		{ "Assets:\n  amd64:\n  - " HASH "runc.amd64\n"
		  "containerdConfig: {version: 2.1.4}\n",
		  "n.yaml:5:5: Assets: no archive containerd-* that could hold containerd, which "
		  "containerd needs, and 5 more errors" },
		{ "Assets:\n  amd64:\n  - " HASH "runc.amd64\nInstallCNIAssets: true\n"
		  "containerdConfig: {skipInstall: true}\n",
		  "n.yaml:5:5: Assets: no archive cni-plugins-* that could hold bandwidth, which "
		  "containerd needs, and 20 more errors" },
		{ "Assets:\n  arm64:\n  - " HASH "runc.arm64\ncontainerdConfig: {version: 2.1.4}\n",
		  "n.yaml:4:3: Assets: expected a list for amd64" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kops_worker w = { 0 };

		assert_null(kops_try_plan(a, &w, "containerd", cases[i].doc));
		assert_int_equal(w.e.kind, ERR_CONFIG);
		assert_string_equal(w.e.msg, cases[i].want);
	}
}

/* To kops 1.35 all is in one file, of version 2 whatever containerd is. */
static void config_toml_of_kops_1_33_to_the_byte(void **state)
{
	static const char text[] = ASSETS
		"KubeletConfig: {podInfraContainerImage: 'r/pause:3.9'}\n"
		"containerdConfig: {version: 2.1.4, sandboxImage: none, registryMirrors: "
		"{docker.io: ['https://a.example', 'https://b.example'], '*': "
		"['https://c.example']}, configAdditions: "
		"{'plugins.\"io.containerd.grpc.v1.cri\".x': 1}}\n";
	static const char want[] = IMPORTS
		"version = 2\n"
		"\n"
		"[plugins]\n"
		"\n"
		"  [plugins.\"io.containerd.grpc.v1.cri\"]\n"
		"    sandbox_image = \"r/pause:3.9\"\n"
		"    x = 1\n"
		"\n"
		"    [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
		"\n"
		"      [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes]\n"
		"\n"
		"        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
		"          runtime_type = \"io.containerd.runc.v2\"\n"
		"\n"
		"          "
		"[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n"
		"            SystemdCgroup = true\n"
		"\n"
		"    [plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
		"\n"
		"      [plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors]\n"
		"\n"
		"        [plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"*\"]\n"
		"          endpoint = [\"https://c.example\"]\n"
		"\n"
		"        [plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"docker.io\"]\n"
		"          endpoint = [\"https://a.example\", \"https://b.example\"]\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .vintage.text = "1.33.2" };
	const struct plan *p = must_plan(a, &w, text);

	(void)state;
	assert_string_equal(text_of(p, config_path), want);
	assert_null(plan_look(p, TASK_FILE, "/etc/containerd/certs.d/docker.io/hosts.toml"));
	/* as a password may be in a URL */
	assert_true(plan_get(p, TASK_FILE, config_path)->file.secret);
}

#define TEMPLATE "/etc/containerd/config-cni.template"
#define SERVICE "/etc/systemd/system/containerd.service"
#define CRICTL "  - 3" HASH_TAIL "crictl-v1.35.0-linux-amd64.tar.gz\n"
#define NERDCTL "  - 7" HASH_TAIL "nerdctl-2.1.0-linux-amd64.tar.gz\n"
#define GPU "1.7.28, nvidiaGPU: {enabled: true}}\nNvidiaGPU: {enabled: true"
#define SANDBOXES "2.1.4, sandboxImage: c}\nKubeletConfig: {podInfraContainerImage: k"
#define MIRRORS "2.1.4, registryMirrors: {a.example: ['https://b.example']}"
#define SELINUX "2.1.4, selinuxEnabled: true"
#define CGROUP "2.1.4}\nKubeletConfig: {runtimeCgroups: r"
#define SKIPPED CRICTL NERDCTL "containerdConfig: {skipInstall: true"

/* Each difference on both sides of where it begins or ends: containerd's version and what follows in its settings. */
static const struct {
	const char *kops, *settings, *path, *text;
	bool is_there;
} edges[] = {
	{ "1.35.2", "2.1.4", config_path, "version = 2\n", true },
	{ "1.36.0", "2.1.4", config_path, "version = 3\n", true },
	{ "1.36.0", "1.7.28", config_path, "version = 2\n", true },
	{ "1.35.2", "2.3.1", config_path, "version = 2\n", true },
	{ "1.36.2", "2.3.1", config_path, "version = 4\n", true },
	{ "1.36.2", "2.2.9", config_path, "version = 3\n", true },
	{ "1.37.0", "2.3.1", config_path, "version = 4\n", true },
	{ "1.34.3", SANDBOXES, config_path, "sandbox_image = \"k\"", true },
	{ "1.35.0", SANDBOXES, config_path, "sandbox_image = \"c\"", true },
	{ "1.35.2", MIRRORS, config_path, "endpoint = [\"https://b.example\"]", true },
	{ "1.36.0", MIRRORS, config_path, "endpoint", false },
	{ "1.36.0", MIRRORS, config_path, "config_path = ", true },
	{ "1.36.0", MIRRORS, "/etc/containerd/certs.d/a.example/hosts.toml", "[host.", true },
	{ "1.33.2", "1.7.28", config_path, "default_runtime_name", false },
	{ "1.34.0", "1.7.28", config_path, "default_runtime_name = \"runc\"", true },
	{ "1.33.2", GPU, config_path, "default_runtime_name = \"runc\"", true },
	{ "1.33.2", GPU, config_path, "io.containerd.runc.v1", true },
	{ "1.34.0", GPU, config_path, "io.containerd.runc.v1", false },
	{ "1.35.2", "2.1.4, nri: {pluginRequestTimeout: 5s}", config_path,
	  "    plugin_request_timeout = \"5s\"\n", true },
	{ "1.34.3", "2.1.4}\nUsesKubenet: true\nNetworking: {nonMasqueradeCIDR: 100.64.0.0/10",
	  TEMPLATE, "\"cniVersion\": \"0.4.0\"", true },
	{ "1.35.0", "2.1.4}\nUsesKubenet: true\nNetworking: {nonMasqueradeCIDR: 100.64.0.0/10",
	  TEMPLATE, "\"cniVersion\": \"1.0.0\"", true },
	{ "1.33.2", "2.1.4", SERVICE, "\nAfter=network.target local-fs.target\n", true },
	{ "1.34.0", "2.1.4", SERVICE, "\nAfter=network.target dbus.service\n", true },
	{ "1.33.2", SELINUX, SERVICE, "restorecon", false },
	{ "1.34.0", SELINUX, SERVICE, "restorecon", true },
	{ "1.33.2", CGROUP, SERVICE, "Slice", false },
	{ "1.33.2", CGROUP ", cgroupDriver: systemd", SERVICE, "\nSlice=r.slice\n", true },
	{ "1.34.0", CGROUP, SERVICE, "\nSlice=r.slice\n", true },
};

static void each_difference_is_where_it_is_with_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(edges); i++) {
		struct kops_worker w = { .vintage.text = edges[i].kops,
					 .facts = { .distribution = "amazonlinux",
						    .gpus = { true, 1 } } };
		const char *doc = arena_printf(a, ASSETS "containerdConfig: {version: %s}\n",
					       edges[i].settings);
		const char *text = text_of(must_plan(a, &w, doc), edges[i].path);

		if (!strstr(text, edges[i].text) == edges[i].is_there)
			fail_msg("row %zu, kops %s: %s gives\n%s", i, edges[i].kops,
				 edges[i].settings, text);
	}
}

static void the_licence_of_kops_1_33(void **state)
{
	static const char want[] =
		"d14dea82f6f44c31908d07012f4d572ee3906ab00d2840f99350d3f9bc83c245";
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .vintage.text = "1.33.2" }, later = { .vintage.text = "1.34.0" };
	const char *path = "/usr/share/doc/containerd/apache.txt";
	const char *text = text_of(must_plan(a, &w, complex), path);
	char hex[DIGEST_TEXT_MAX];
	struct digest d;

	(void)state;
	digest_of(DIGEST_SHA256, text, strlen(text), &d);
	assert_string_equal(digest_hex(&d, hex), want);
	assert_string_equal(text, arena_printf(a, "\n%s\n",
					       text_of(must_plan(a, &later, complex), path)));
}

/* Tools by what the documents say of them. */
static const struct {
	const char *kops, *doc, *path;
	bool is_there;
} tools[] = {
	{ "1.33.2", ASSETS SKIPPED, "/usr/local/bin/crictl", true },
	{ "1.34.0", ASSETS SKIPPED, "/usr/local/bin/crictl", false },
	{ "1.34.0", ASSETS SKIPPED ", installCriCtl: true", "/usr/local/bin/crictl", true },
	{ "1.33.2", ASSETS SKIPPED ", installNerdCtl: true", "/usr/local/bin/nerdctl", false },
	{ "1.34.0", ASSETS SKIPPED ", installNerdCtl: true", "/usr/local/bin/nerdctl", true },
	{ "1.29.2", ASSETS "containerdConfig: {version: 1.7.28", "/usr/local/bin/crictl", false },
	{ "1.29.2", ASSETS CRICTL "containerdConfig: {version: 1.7.28", "/usr/local/bin/crictl",
	  true },
	{ "1.36.2", BUNDLE, "/usr/bin/crictl", true },
	{ "1.36.2", ASSETS "containerdConfig: {version: 1.7.28", "/usr/bin/crictl", false },
};

static void tools_are_those_that_kops_installs(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		struct kops_worker w = { .vintage.text = tools[i].kops };
		const struct plan *p = must_plan(a, &w, arena_printf(a, "%s}\n", tools[i].doc));

		if (!plan_look(p, TASK_INSTALL, tools[i].path) == tools[i].is_there)
			fail_msg("row %zu, kops %s: %s", i, tools[i].kops, tools[i].path);
	}
}

static void runc_may_be_in_the_archive_of_containerd(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_worker w = { .vintage.text = "1.36.2" }, last = { .vintage.text = "1.37.0" };
	const struct plan *p = must_plan(a, &w, BUNDLE "}\n");

	(void)state;
	assert_string_equal(install(p, "/usr/sbin/runc")->member, "runc");
	assert_string_equal(install(p, "/usr/sbin/runc")->sources[0]->name,
			    "cri-containerd-cni-1.5.13-linux-amd64.tar.gz");
	assert_true(install(p, "/usr/bin/crictl")->may_lack);
	assert_null(kops_try_plan(a, &last, "containerd", BUNDLE "}\n"));
	assert_string_equal(last.e.msg,
			    "n.yaml:5:5: Assets: no asset runc.amd64, which containerd needs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config_toml_is_that_of_kops_to_the_byte),
		cmocka_unit_test(containerd_1_reads_version_2),
		cmocka_unit_test(mirrors_keep_their_order_and_restart_nothing),
		cmocka_unit_test(settings_become_entries),
		cmocka_unit_test(others_have_a_place_of_their_own),
		cmocka_unit_test(nri_that_is_off_is_left_to_containerd),
		cmocka_unit_test(an_own_configuration_stands_alone),
		cmocka_unit_test(a_network_of_kubenet_has_its_template_and_rules),
		cmocka_unit_test(the_licence_is_that_of_kops),
		cmocka_unit_test(the_service_is_that_of_kops),
		cmocka_unit_test(labels_and_a_cgroup_of_its_own_are_in_the_service),
		cmocka_unit_test(programs_come_from_their_archives),
		cmocka_unit_test(a_containerd_of_another_owner_is_left_alone),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(config_toml_of_kops_1_33_to_the_byte),
		cmocka_unit_test(each_difference_is_where_it_is_with_kops),
		cmocka_unit_test(the_licence_of_kops_1_33),
		cmocka_unit_test(tools_are_those_that_kops_installs),
		cmocka_unit_test(runc_may_be_in_the_archive_of_containerd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
