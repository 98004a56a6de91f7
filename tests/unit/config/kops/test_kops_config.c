#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/kops.h"
#include "tests/unit/lib/kops_worker.h"

#define NAME "ClusterName: a.example.com\n"
#define START                                                                   \
	NAME "KubernetesVersion: v1.35.2\ncontainerdConfig: {version: 2.1.4}\n" \
	     "KeypairIDs: {kubernetes-ca: '1'}\n"

static const struct kops_boot worker = {
	.cluster_name = "a.example.com",
	.instance_group_role = "Node",
	/* of the three bytes "abc" */
	.nodeup_config_hash = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
};

/* Of no known kops: the newest is taken. */
static const struct vintage newest;

static int read_as(struct arena *a, const char *role, const char *text, struct kops_config *ret,
		   struct err *e)
{
	const struct dialect_opts o = { .checks_alone = true };
	struct kops_boot boot = worker;
	struct tree *t;

	boot.instance_group_role = role;
	boot.role = kops_role(role);
	if (yaml_parse(a, "n.yaml", text, strlen(text), &t, e) < 0)
		return -1;
	return kops_config(a, t, &boot, &newest, &o, ret, e);
}

static void a_worker_is_read(void **state)
{
	static const char text[] = START "Hooks:\n- null\n- - name: h.service\n"
					 "    execContainer: {image: busybox}\n"
					 "KubeProxy: null\n"
					 "Networking: {cilium: {ipam: eni}, kindnet: {}}\n"
					 "kubeletconfig:\n  anonymousAuth: false\n  logLevel: 2\n"
					 "  taints: ['gpu:NoSchedule']\n"
					 "  nodeLabels: {b: '', a: x}\n";
	autoarena struct arena *a = arena_new_empty();
	struct kops_config c;
	struct strv flags = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(read_as(a, "Node", text, &c, &e), 0);
	assert_int_equal(c.kubernetes.minor, 35);
	assert_string_equal(c.containerd.version, "2.1.4");
	assert_false(c.has_kube_proxy);
	assert_true(c.networking.cilium && c.networking.kindnet && !c.networking.calico);
	assert_string_equal(c.networking.cilium_ipam, "eni");
	assert_int_equal(c.hooks_of_group.n, 0);
	assert_int_equal(c.hooks_of_cluster.n, 1);
	assert_string_equal(c.hooks_of_cluster.v[0].image, "busybox");
	assert_true(c.hooks_of_cluster.v[0].has_exec_container);
	assert_true(c.kubelet.anonymous_auth.set && !c.kubelet.anonymous_auth.v);
	/* what goes into kubelet.conf gives no flag */
	field_flags(a, &kops_kubelet_schema, &c.kubelet, &flags);
	assert_string_equal(strv_join(a, &flags, " "), "--node-labels=a=x,b= --v=2");
}

static const char *config_of(const struct schema *s, const char *key)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->fields[i].key, key))
			return s->fields[i].config;
	fail_msg("no row %s", key);
	return NULL;
}

static void assert_rows(const struct schema *s, size_t n_flags, size_t n_places)
{
	size_t flags = 0, places = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];

		assert_false(f->flag && f->config);
		flags += f->flag != NULL;
		places += f->config != NULL;
	}
	assert_int_equal(flags, n_flags);
	assert_int_equal(places, n_places);
}

static void rows_carry_the_place_in_kubelet_conf(void **state)
{
	(void)state;
	assert_rows(&kops_kubelet_schema, 35, 61);
	/* and to kops 1.35; podInfraContainerImage is a flag to 1.34 */
	assert_rows(&kops_kubelet_flags_schema, 89, 7);
	assert_string_equal(config_of(&kops_kubelet_schema, "logFormat"), "logging.format");
	assert_string_equal(config_of(&kops_kubelet_schema, "eventQPS"), "eventRecordQPS");
	assert_null(config_of(&kops_kubelet_schema, "nodeLabels"));
}

/* Each with the type that it has in kops, and in all forms that the program it is for takes. */
static void values_have_the_width_of_kops_own(void **state)
{
	static const char *const all[] = {
		"KubeletConfig: {podPidsLimit: 4294967296}",
		"KubeletConfig: {podPidsLimit: -1}",
		"KubeletConfig: {evictionHard: 'memory.available< 100Mi, nodefs.available <10%'}",
		"KubeletConfig: {evictionSoftGracePeriod: 'memory.available = 1m30s'}",
		"KubeletConfig: {evictionMinimumReclaim: 'memory.available= 0Mi'}",
		"ServiceNodePortRange: '30000'",
		"ServiceNodePortRange: 30000+2767",
		"APIServerConfig: {KubeAPIServer: {serviceNodePortRange: 30000+2767}}",
		"APIServerConfig: {KubeAPIServer: {defaultNotReadyTolerationSeconds: 4294967296}}",
		"APIServerConfig: {KubeAPIServer: {defaultUnreachableTolerationSeconds: 4294967296}}",
	};
	static const char *const wrong[] = {
		"KubeletConfig: {evictionHard: 'memory.available<100Mi,'}",
		"KubeletConfig: {evictionHard: ' <100Mi'}",
		"KubeletConfig: {maxPods: 4294967296}",
		"ServiceNodePortRange: 65000+1000",
		"ServiceNodePortRange: 30000-",
		"ServiceNodePortRange: 30000+1-2",
		"ServiceNodePortRange: '65536'",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all) + ARRAY_LEN(wrong); i++) {
		const bool right = i < ARRAY_LEN(all);
		const char *text = right ? all[i] : wrong[i - ARRAY_LEN(all)];
		autoarena struct arena *a = arena_new_empty();
		struct kops_config c;
		struct err e = { 0 };
		int r = read_as(a, "Node", arena_printf(a, START "%s\n", text), &c, &e);

		if (right != (r == 0))
			fail_msg("%s: %s", text, e.msg);
	}
}

/* What kops writes for a load balancer, its name among the addresses, and what could be meant by nothing. */
static void names_stand_among_addresses(void **state)
{
	static const char *const right[] = {
		"api-a-example-com-1a2b3c-0123456789.us-test-1.elb.amazonaws.com",
		"api.a.example.com",
		"localhost",
		"10.0.0.9",
		"2001:db8::9",
	};
	static const char *const wrong[] = {
		"''", "'a b'", "a/b",   "https://a",  "a..b", ".a",
		"a.", "'a,b'", "a:443", "10.0.0.256", "-a",   "10.0.0.9/32",
	};
	autoarena struct arena *a = arena_new_empty();
	struct kops_config c;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		const char *text =
			arena_printf(a, START "ApiserverAdditionalIPs: [%s]\n", right[i]);

		assert_int_equal(read_as(a, "Node", text, &c, &e), 0);
		assert_string_equal(c.apiserver_additional_ips.v[0], right[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_true(
			read_as(a, "Node",
				arena_printf(a, START "ApiserverAdditionalIPs: [%s]\n", wrong[i]),
				&c, &e) < 0);
}

static void what_is_wrong_in_it_is_told_with_its_place(void **state)
{
	static const struct {
		const char *role, *text, *want;
	} all[] = {
		{ "Node", START "KubeletConfig: {maxPodz: 1}\n",
		  "n.yaml:5:17: unknown key 'KubeletConfig.maxPodz'; did you mean "
		  "'maxPods'?" },
		{ "Node", START "KubeletConfig: {maxPods: -1}\n",
		  "n.yaml:5:26: KubeletConfig.maxPods: expected an integer of 0 or more, found "
		  "'-1'" },
		{ "Node", START "KubeletConfig: {imageGCHighThresholdPercent: 80}\n",
		  "n.yaml:5:46: KubeletConfig.imageGCHighThresholdPercent: expected "
		  "imageGCLowThresholdPercent (80 where it is not given) below "
		  "imageGCHighThresholdPercent (85)" },
		{ "Node", START "Hooks: [[{nam: x}]]\n",
		  "n.yaml:5:11: unknown key 'Hooks[0][0].nam'; did you mean 'name'?" },
		{ "Node", START "Hooks: [[], [], []]\n",
		  "n.yaml:5:8: Hooks: expected two lists, found 3" },
		{ "Node", START "multizone: true\n",
		  "n.yaml:5:1: 'multizone' is a key of GCE, and nodeup makes nodes on aws alone" },
		{ "Node", START "UsesLegacyGossip: true\n",
		  "n.yaml:5:1: 'UsesLegacyGossip' is a key of kops 1.36 or older with gossip, "
		  "which nodeup does not know" },
		{ "Node", NAME "KubernetesVersion: 1.23.9\n",
		  "n.yaml:2:20: KubernetesVersion: '1.23.9': of kops 1.29 to 1.37 it is one of "
		  "1.24 to 1.37" },
		{ "Node", NAME "KubernetesVersion: 1.37.0\n",
		  "n.yaml:1:1: 'containerdConfig' is missing: the InstanceGroupRole is Node" },
		{ "APIServer", START,
		  "n.yaml:1:1: 'APIServerConfig' is missing: the InstanceGroupRole is APIServer" },
		{ "ControlPlane",
		  START "APIServerConfig: {}\nconfigStore: {keypairs: s3://a, secrets: s3://b}\n",
		  "n.yaml:1:1: 'ControlPlaneConfig' is missing: the InstanceGroupRole is "
		  "ControlPlane" },
		{ "Node", START "ApiserverAdditionalIPs: ['10.0.0.9', 'a b']\n",
		  "n.yaml:5:38: ApiserverAdditionalIPs[1]: expected an IP address or a DNS name, "
		  "found 'a b'" },
		{ "Node", "ClusterName: b\nKubernetesVersion: 1.35.0\n",
		  "n.yaml:1:1: ClusterName: 'b', and 'a.example.com' in BootConfig" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct kops_config c;
		struct err e = { 0 };

		assert_true(read_as(a, all[i].role, all[i].text, &c, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, all[i].want);
	}
}

/* kops 1.36 writes of every node that it does not use gossip, and makes nodes of one Kubernetes more. */
static void documents_of_the_kops_before_are_read(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_config c;
	struct err e = { 0 };

	(void)state;
	if (read_as(a, "Node",
		    NAME "KubernetesVersion: 1.31.9\nusesLegacyGossip: false\n"
			 "containerdConfig: {version: 1.7.28}\nKubeletConfig: {}\n"
			 "CAs: {kubernetes-ca: " KOPS_TEST_CA "}\n"
			 "KeypairIDs: {kubernetes-ca: '1'}\n",
		    &c, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(c.kubernetes.minor, 31);
}

static void a_key_that_is_to_be_left_alone_is_told(void **state)
{
	static const char text[] = START "KubeletConfig: {maxPodz: 1, newKey: 2}\n";
	autoarena struct arena *a = arena_new_empty();
	struct strv warnings = { 0 }, accepted = { 0 }, accept = { 0 };
	const struct dialect_opts o = { .accept = &accept,
					.accepted = &accepted,
					.warnings = &warnings };
	struct kops_boot boot = worker;
	struct kops_config c;
	struct err e = { 0 };
	struct tree *t;

	(void)state;
	assert_int_equal(yaml_parse(a, "n.yaml", text, strlen(text), &t, &e), 0);
	boot.role = kops_role("Node");
	strv_add(a, &accept, "kubeletconfig.newkey");
	boot.settings.accept_keys = tree_seq(a);
	assert_true(kops_config(a, t, &boot, &newest, &o, &c, &e) < 0);
	assert_string_equal(
		e.msg, "n.yaml:5:17: unknown key 'KubeletConfig.maxPodz'; did you mean 'maxPods'?");
	assert_int_equal(e.nnotes, 0);
	boot.settings.accept_keys =
		tree_add(a, tree_seq(a), tree_string(a, "KubeletConfig.maxPodz"));
	accepted = warnings = (struct strv){ 0 };
	assert_int_equal(kops_config(a, t, &boot, &newest, &o, &c, &e), 0);
	assert_int_equal(accepted.n, 2);
	assert_string_equal(accepted.v[0], "KubeletConfig.maxPodz");
	assert_string_equal(warnings.v[1], "n.yaml:5:29: 'KubeletConfig.newKey' is left alone, as "
					   "acceptKeys says");
}

static void its_bytes_are_those_that_boot_config_means(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_boot of_server = worker;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(kops_config_check_hash(a, &worker, "n.yaml", "abc", 3, &e), 0);
	assert_true(kops_config_check_hash(a, &worker, "n.yaml", "abd", 3, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_string_equal(e.msg, "n.yaml: this is not the NodeupConfig that BootConfig means");
	/* by which name a server chooses is told where there is one */
	strv_add(a, &of_server.config_server.servers, "https://s.example");
	for (size_t i = 0; i < 2; i++) {
		e = (struct err){ 0 };
		of_server.instance_group_name = i ? "nodes" : NULL;
		assert_true(kops_config_check_hash(a, &of_server, "n.yaml", "abd", 3, &e) < 0);
		assert_int_equal(e.nnotes, 3 + i);
	}
}

/* Documents of each kops are read as its own; one of a Kubernetes that it never made is told. */
static void what_the_documents_are_of_is_known(void **state)
{
	static const char text[] = NAME "KubernetesVersion: v1.30.2\n"
					"containerdConfig: {version: 1.7.4}\n"
					"KeypairIDs: {kubernetes-ca: '1'}\n"
					"usesLegacyGossip: false\n"
					"KubeletConfig: {podInfraContainerImage: p}\n";
	autoarena struct arena *a = arena_new_empty();
	struct strv warnings = { 0 };
	const struct dialect_opts o = { .checks_alone = true, .warnings = &warnings };
	const struct vintage of_34 = { 34, 34, .text = "1.34.2" };
	struct kops_boot boot = worker;
	struct kops_config c;
	struct err e = { 0 };
	struct tree *t;

	(void)state;
	boot.role = kops_role("Node");
	assert_int_equal(yaml_parse(a, "n.yaml", text, strlen(text), &t, &e), 0);
	assert_int_equal(kops_config(a, t, &boot, &of_34, &o, &c, &e), 0);
	assert_int_equal(c.kops.minor, 34);
	assert_int_equal(c.kops.patch, 2);
	assert_int_equal(warnings.n, 0);
	assert_int_equal(kops_config(a, t, &boot, &newest, &o, &c, &e), 0);
	assert_int_equal(c.kops.minor, 37);
	assert_int_equal(warnings.n, 1);
	assert_string_equal(warnings.v[0], "n.yaml:2:20: KubernetesVersion: 'v1.30.2': kops 1.37 "
					   "never made such a node");
}

/* Kops 1.32 and older make flags of them that no kubelet has. */
static void image_ages_that_would_be_flags_are_refused(void **state)
{
	static const char *const keys[] = { "imageMinimumGCAge", "imageMaximumGCAge" };
	autoarena struct arena *a = arena_new_empty();
	const struct dialect_opts o = { .checks_alone = true };
	struct kops_boot boot = worker;

	(void)state;
	boot.role = kops_role("Node");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		for (int minor = 29; minor <= 34; minor++) {
			const struct vintage of = { minor, minor,
						    .text = arena_printf(a, "1.%d.0", minor) };
			const char *text = arena_printf(a,
							NAME "KubernetesVersion: v1.29.2\n"
							     "containerdConfig: {version: 1.7.4}\n"
							     "KeypairIDs: {kubernetes-ca: '1'}\n"
							     "KubeletConfig: {%s: 168h}\n",
							keys[i]);
			struct kops_config c;
			struct err e = { 0 };
			struct tree *t;

			assert_int_equal(yaml_parse(a, "n.yaml", text, strlen(text), &t, &e), 0);
			assert_int_equal(kops_config(a, t, &boot, &of, &o, &c, &e) < 0, minor < 33);
			if (minor < 33)
				assert_non_null(strstr(
					e.msg,
					arena_printf(a,
						     "n.yaml:5:36: KubeletConfig.%s: expected "
						     "nothing, as kubelet has no such flag",
						     keys[i])));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_is_read),
		cmocka_unit_test(rows_carry_the_place_in_kubelet_conf),
		cmocka_unit_test(values_have_the_width_of_kops_own),
		cmocka_unit_test(names_stand_among_addresses),
		cmocka_unit_test(what_is_wrong_in_it_is_told_with_its_place),
		cmocka_unit_test(documents_of_the_kops_before_are_read),
		cmocka_unit_test(a_key_that_is_to_be_left_alone_is_told),
		cmocka_unit_test(its_bytes_are_those_that_boot_config_means),
		cmocka_unit_test(what_the_documents_are_of_is_known),
		cmocka_unit_test(image_ages_that_would_be_flags_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
