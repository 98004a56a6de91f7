#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/kops18_world.h"

static const struct {
	const char *env, *cluster, *ig, *error;
} refused[] = {
	{ "Tags: [_kubernetes_master]", "", "role: Node",
	  "ig:1:7: role is Node, but kube_env.yaml has the tag _kubernetes_master" },
	{ "", "", "role: Master",
	  "ig:1:7: role is Master, but kube_env.yaml lacks the tag _kubernetes_master, as of kops "
	  "1.11 and newer; nodeup reads kops 1.6 to 1.8, 1.29 to 1.37" },
	{ "", "", "role: Bastion", "ig:1:7: role is Bastion: a bastion is not a Kubernetes node" },
	{ "", "", "role: King", "ig:1:7: role: expected one of Master|Node|Bastion, found 'King'" },
	{ "", "kind: InstanceGroup\nspec: {}", "",
	  "cluster:1:7: expected an object of kind Cluster, found InstanceGroup" },
	{ "", "metadata: {name: other}\nspec: {}", "",
	  "cluster:1:18: this is Cluster 'other', but kube_env.yaml names 'c.example'" },
	{ "", "", "Metadata: {Name: h}\nSpec: {}",
	  "ig:1:18: this is InstanceGroup 'h', but kube_env.yaml names 'g'" },
	{ "", "apiVersion: kops.k8s.io/v1beta1\nspec: {}", "",
	  "cluster:1:13: apiVersion: expected kops/v1alpha2, found "
	  "'kops.k8s.io/v1beta1'" },
	{ "", "networking: {weave: {}, calico: {}}", "",
	  "cluster:1:13: networking: both weave and calico" },
	{ "", "kubelet: {maxPods: many}", "",
	  "cluster:1:20: kubelet.maxPods: expected an integer, found 'many'" },
	{ "", "kubelet: {maxPods: -1}", "",
	  "cluster:1:20: kubelet.maxPods: expected an integer of 0 or more, found '-1'" },
	{ "", "", "kubelet: {maxPods: -1}",
	  "ig:1:20: kubelet.maxPods: expected an integer of 0 or more, found '-1'" },
	{ "", "kubelet: {imageGCLowThresholdPercent: 60}",
	  "kubelet: {imageGCHighThresholdPercent: 59}",
	  "cluster:1:39: kubelet.imageGCLowThresholdPercent: expected imageGCLowThresholdPercent "
	  "(80 where it is not given) of at most imageGCHighThresholdPercent (85)" },
	{ "", "kubelet: {maxPods: 1, MaxPods: 2}", "",
	  "cluster:1:23: duplicate key 'MaxPods', on line 1 as 'maxPods'" },
	{ "", "networking: {cilium: {}}", "",
	  "cluster:1:14: networking: unknown network 'cilium'" },
	{ "", "networking: {}", "", "cluster:1:13: networking: it names no network" },
	{ "", "networking: {kubenet: null}", "", "cluster:1:13: networking: it names no network" },
	{ "", "networking: {kubenet: 5}", "",
	  "cluster:1:23: networking.kubenet: expected a map, found '5'" },
	{ "", "networking: {weave: {mtu: 70000}}", "",
	  "cluster:1:27: networking.weave.mtu: expected an integer from 0 to 65535, "
	  "found '70000'" },
	{ "", "networking: weave", "", "cluster:1:13: networking: expected a map, found 'weave'" },
	{ "", "kubelet: {networkPluginName: opus}", "",
	  "cluster:1:10: kubelet.networkPluginName: 'opus' is neither kubenet nor cni" },
	{ "", "cloudProvider: gce", "",
	  "cluster:1:16: cloudProvider 'gce' is not supported; aws is" },
	{ "", "kubelet: {cloudProvider: mars}", "",
	  "cluster:1:10: cloudProvider 'mars' is not supported; aws is" },
	{ "", "kubelet: 5", "", "cluster:1:10: kubelet: expected a map, found '5'" },
	{ "", "docker: [x]", "", "cluster:1:9: docker: expected a map, found a list" },
	{ "", "topology: private", "", "cluster:1:11: topology: expected a map, found 'private'" },
	{ "", "subnets: {a: b}", "", "cluster:1:10: subnets: expected a list, found a map" },
	{ "", "", "machineType: [m3.large]",
	  "ig:1:14: machineType: expected a single value, found a list" },
	{ "", "authentication: {kopeio: on}", "",
	  "cluster:1:26: authentication.kopeio: expected a map, found 'on'" },
	{ "", "isolateMasters: maybe", "",
	  "cluster:1:17: isolateMasters: expected true or false, found 'maybe'" },
	{ "", "kubeProxy: {cpuRequest: 10q}", "",
	  "cluster:1:25: kubeProxy.cpuRequest: expected an amount such as 100m or 64Mi, "
	  "found '10q'" },
	{ "", "kubelet: {kubeReserved: {cpu: 1, memory: 10q}}", "",
	  "cluster:1:42: kubelet.kubeReserved.memory: expected an amount such as 100m or "
	  "64Mi, found '10q'" },
	{ "", "kubelet: {evictionHard: 'memory.available<10q'}", "",
	  "cluster:1:25: kubelet.evictionHard: expected thresholds such as "
	  "memory.available<100Mi, found 'memory.available<10q'" },
	{ "", "kubelet: {podManifestPath: x}", "",
	  "cluster:1:28: kubelet.podManifestPath: expected an absolute path such as "
	  "/etc/kubernetes/manifests, found 'x'" },
	{ "", "masterKubelet: {kubeletCgroups: /../evil}", "",
	  "cluster:1:33: masterKubelet.kubeletCgroups: expected a cgroup such as "
	  "/system.slice/kubelet.service, found '/../evil'" },
	{ "", "kubeAPIServer: {auditLogPath: audit.log}", "",
	  "cluster:1:31: kubeAPIServer.auditLogPath: expected an absolute path, or -, found "
	  "'audit.log'" },
	{ "", "kubelet: {readOnlyPort: -1}", "",
	  "cluster:1:25: kubelet.readOnlyPort: expected an integer from 0 to 65535, found "
	  "'-1'" },
	{ "", "kubeAPIServer: {serviceNodePortRange: 9-1}", "",
	  "cluster:1:39: kubeAPIServer.serviceNodePortRange: expected ports from-to such as "
	  "30000-32767, found '9-1'" },
	{ "", "nonMasqueradeCIDR: 100.64.0.0/33", "",
	  "cluster:1:20: nonMasqueradeCIDR: expected an address range such as 10.0.0.0/8, "
	  "found '100.64.0.0/33'" },
	{ "", "serviceClusterIPRange: 100.64.0.0", "",
	  "cluster:1:24: serviceClusterIPRange: expected an address range such as "
	  "10.0.0.0/8, found '100.64.0.0'" },
	{ "", "kubelet: {clusterDNS: dns}", "",
	  "cluster:1:23: kubelet.clusterDNS: expected IP addresses with commas between "
	  "them, found 'dns'" },
	/* of which kubelet gets both */
	{ "", "", "kubelet: {taints: ['a=b:NoSchedule']}\ntaints: ['a=c:NoSchedule']",
	  "ig:2:9: taints: expected each name and effect once, found a taint twice" },
	{ "", "kubelet: {taints: ['a=b:NoSchedule']}", "taints: ['a=c:NoSchedule']",
	  "ig:1:9: taints: expected each name and effect once, found a taint twice" },
	{ "", "", "taints: [dedicated]",
	  "ig:1:10: taints[0]: expected a taint such as key=value:NoSchedule (or PreferNoSchedule, NoExecute), found "
	  "'dedicated'" },
	{ "", "egressProxy: {httpProxy: {host: 'u:p@'}}", "",
	  "cluster:1:14: egressProxy.httpProxy.host: expected a host name, "
	  "[user:password@] before it" },
	{ "", "egressProxy: {httpProxy: {host: 'https://u:p@h'}}", "",
	  "cluster:1:14: egressProxy.httpProxy.host: only http:// is known" },
	{ "", "egressProxy: {httpProxy: {host: h}, excludes: 'a b'}", "",
	  "cluster:1:14: egressProxy.excludes: expected names with commas between them" },
	{ "", "kubernetesVersion: 1.6.9\nkubeScheduler: {usePolicyConfigMap: true}", "",
	  "cluster:2:16: kubeScheduler.usePolicyConfigMap needs Kubernetes 1.7, this is "
	  "1.6" },
	{ "images: [{source: x}]", "", "", "env:5:10: images[0]: an image without a name" },
	{ "images: {}", "", "", "env:5:9: images: expected a list" },
	{ "protokubeImage: [x]", "", "", "env:5:17: protokubeImage: expected a map, found a list" },
};

static void refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(a, refused[i].env, refused[i].cluster, refused[i].ig);

		assert_true(world_build(&w) < 0);
		assert_int_equal(w.e.kind, ERR_CONFIG);
		assert_string_equal(w.e.msg, refused[i].error);
		assert_null(w.node.cluster_name);
	}
}

static void egress_proxies(void **state)
{
	static const struct {
		const char *cluster, *url, *excludes;
		bool is_secret;
	} rows[] = {
		{ "egressProxy: {httpProxy: {host: p.example, port: 3128}, excludes: 'a,.b'}",
		  "http://p.example:3128", "a,.b", false },
		{ "egressProxy: {httpProxy: {host: 'http://10.0.0.1', port: 0}}", "http://10.0.0.1",
		  "", false },
		{ "egressProxy: {httpProxy: {host: 'u:p@h'}}", "http://u:p@h", "", true },
		{ "egressProxy: {}", NULL, NULL, false },
		{ "{}", NULL, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = world_small(a, "", rows[i].cluster, "");

		world_must_build(&w);
		assert_true(str_eq(w.node.proxy.url, rows[i].url));
		assert_true(str_eq(w.node.proxy.excludes, rows[i].excludes));
		assert_int_equal(w.node.proxy.is_secret, rows[i].is_secret);
	}
}

/* What kops' builders write into sections that no document has. */
static void options_change_the_defaults(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(
		a, MASTER_ENV,
		"isolateMasters: true\ncloudControllerManager: {}\nauthorization: {rbac: {}}\n"
		"authentication: {kopeio: {}}\nassets: {containerRegistry: r.example/k8s}\n"
		"kubernetesVersion: 1.9.0-beta.1\nnetworking: {classic: {}}\n"
		"etcdClusters: [{name: events, version: 3.0.17, etcdMembers: [{name: a}]},"
		" {name: main, etcdMembers: [{name: a}, {name: b}, {name: c}]}]",
		"");
	const struct kube_apiserver_spec *s;
	const struct kubelet_spec *k;

	(void)state;
	world_must_build(&w);
	k = &world_own(&w)->kubelet;
	s = &world_own(&w)->kube_apiserver;
	assert_true(world_own(&w)->isolate_masters && world_own(&w)->kopeio_authentication);
	assert_false(kops18_runs_kube_proxy(&w.node));
	assert_string_equal(k->hairpin_mode, "none");
	assert_true(k->enable_debugging_handlers.set && !k->enable_debugging_handlers.v);
	assert_string_equal(k->cloud_provider, "external");
	assert_null(k->network_plugin_name);
	assert_false(k->require_kubeconfig.set);
	assert_string_equal(k->pod_infra_container_image, "r.example/k8s/pause-amd64:3.0");
	assert_string_equal(s->image, "r.example/k8s/kube-apiserver:v1.9.0-beta.1");
	assert_string_equal(s->cloud_provider, "external");
	assert_string_equal(s->authorization_mode, "RBAC");
	assert_string_equal(s->authentication_token_webhook_config_file,
			    "/etc/kubernetes/authn.config");
	assert_string_equal(s->storage_backend, "etcd3");
	assert_int_equal(s->api_server_count.v, 3);
	assert_string_equal(world_own(&w)->kube_controller_manager.cloud_provider, "external");
	assert_true(world_own(&w)->kube_controller_manager.configure_cloud_routes.v);
}

/* What kops' nodeup takes for itself, and not its CLI. */
static void what_a_section_leaves_out(void **state)
{
	static const struct {
		const char *env, *cluster, *docker;
		bool keeps_time;
	} rows[] = {
		{ "Tags: [_aws]", "docker: {storage: overlay}", "1.12.3", true },
		{ "Tags: [_automatic_upgrades]", "docker: {version: ''}", "1.12.3", false },
		{ "", "docker: {version: 17.09.0}", "17.09.0", false },
		{ "", "", "1.13.1", false },
		{ "", "kubernetesVersion: 1.7.2", "1.12.6", false },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = world_small(a, rows[i].env, rows[i].cluster, "");

		world_must_build(&w);
		assert_string_equal(w.node.docker_version, rows[i].docker);
		assert_int_equal(w.node.keeps_time, rows[i].keeps_time);
		assert_string_equal(w.node.cloud_provider, "aws");
	}
}

/* kops' CLI refuses it since 1.4; nothing makes the bridge that it had. */
static void classic_networking_has_no_bridge_of_its_own(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_small(a, "", "networking: {classic: {}}", "");

	(void)state;
	world_must_build(&w);
	assert_string_equal(world_own(&w)->docker.bridge, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(egress_proxies),
		cmocka_unit_test(options_change_the_defaults),
		cmocka_unit_test(what_a_section_leaves_out),
		cmocka_unit_test(classic_networking_has_no_bridge_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
