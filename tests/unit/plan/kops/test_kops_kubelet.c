#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/kops_control_plane.h"

#define HASH_TAIL \
	"d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@https://a.example/"
#define KUBELET "  - 4" HASH_TAIL "kubelet\n"
#define PROVIDER "  - 5" HASH_TAIL "ecr-credential-provider-linux-amd64\n"

#define FLAGS "/etc/sysconfig/kubelet"
#define CONF "/var/lib/kubelet/kubelet.conf"
#define LOGIN "/var/lib/kubelet/credential-provider.conf"
#define UNIT "/etc/systemd/system/kubelet.service"

/* Documents of a kops and a Kubernetes, as "1.34.3 1.33": keys of kubelet in YAML's flow style, and keys beside it. */
struct asked {
	const char *versions, *kubelet, *beside;
};

static struct plan *plan_of(struct arena *a, const struct asked *d, const char *assets)
{
	struct kops_worker *w = arena_new(a, struct kops_worker);
	const struct strv v = strv_split(a, d->versions, ' ');
	struct plan *p;

	w->vintage.text = v.v[0];
	/* to kops 1.32 they are refused else */
	w->accept = "[KubeletConfig.imageMaximumGCAge, KubeletConfig.imageMinimumGCAge]";
	w->facts.local_ipv4 = "172.20.1.2";
	w->facts.region = "us-test-1";
	p = kops_try_documents(a, w, "kubelet",
			       arena_printf(a,
					    "ClusterName: a.example\nKubernetesVersion: %s.1\n"
					    "Assets:\n  amd64:\n%s"
					    "CAs: {kubernetes-ca: " KOPS_TEST_CA "}\n"
					    "KeypairIDs: {kubernetes-ca: '1'}\n"
					    "KubeletConfig: {%s}\n"
					    "containerdConfig: {version: 1.7.28%s\n",
					    v.v[1], assets, d->kubelet,
					    d->beside ? d->beside : "}"));
	if (!p)
		fail_msg("kops %s: %s", d->versions, w->e.msg);
	return p;
}

static const char *text_of(struct arena *a, const struct asked *d, const char *path)
{
	const struct task *t = plan_look(plan_of(a, d, KUBELET PROVIDER), TASK_FILE, path);

	return t ? t->file.content : "";
}

/* The settings of a document of kops', and some that show how values become flags. */
#define GIVEN                                                                                      \
	"anonymousAuth: false, cgroupDriver: systemd, cgroupRoot: /, cloudProvider: "              \
	"external, clusterDNS: 100.64.0.10, evictionHard: 'memory.available<100Mi', "              \
	"featureGates: {B: 'true', A: 'false'}, kubeReserved: {memory: 1Gi, cpu: 100m}, "          \
	"kubeReservedCgroup: /kube, kubeconfigPath: /var/lib/kubelet/kubeconfig, logFormat: "      \
	"text, logLevel: 2, maxPods: 58, podInfraContainerImage: 'r/pause:3.9', readOnlyPort: 0, " \
	"resolvConf: '', runtimeRequestTimeout: 20m, shutdownGracePeriod: 30s, "                   \
	"taints: ['a=b:NoSchedule', 'c:NoExecute'], eventQPS: 0, kubeAPIQPS: 5, "                  \
	"evictionPressureTransitionPeriod: 0s, imageMaximumGCAge: 168h, tlsCertFile: /t"

static void what_is_a_flag_to_kops_1_35(void **state)
{
	static const struct asked document = {
		"1.32.4 1.32",
		GIVEN,
		"}\nNetworking: {amazonvpc: {}, nonMasqueradeCIDR: '::/0'}",
	};
	static const char want[] =
		"DAEMON_ARGS=\"--anonymous-auth=false --authentication-token-webhook=true "
		"--authorization-mode=Webhook --cgroup-driver=systemd --cgroup-root=/ "
		"--client-ca-file=/srv/kubernetes/ca.crt --cloud-provider=external "
		"--cluster-dns=100.64.0.10 --eviction-hard=memory.available<100Mi "
		"--feature-gates=A=false,B=true --hostname-override=i-0123456789abcdef0 "
		"--image-maximum-gc-age=168h --kube-reserved-cgroup=/kube "
		"--kube-reserved=cpu=100m,memory=1Gi --kubeconfig=/var/lib/kubelet/kubeconfig "
		"--max-pods=58 --pod-infra-container-image=r/pause:3.9 --read-only-port=0 "
		"--register-with-taints=a=b:NoSchedule,c:NoExecute --resolv-conf= "
		"--runtime-request-timeout=20m0s --tls-cert-file=/t --v=2 "
		"--volume-plugin-dir=/usr/libexec/kubernetes/kubelet-plugins/volume/exec/ "
		"--cloud-config=/etc/kubernetes/in-tree-cloud.config --node-ip=172.20.1.2 "
		"--runtime-request-timeout=15m "
		"--container-runtime-endpoint=unix:///run/containerd/containerd.sock "
		"--tls-cert-file=/srv/kubernetes/kubelet-server.crt "
		"--tls-private-key-file=/srv/kubernetes/kubelet-server.key --node-ip=:: "
		"--config=/var/lib/kubelet/kubelet.conf "
		"--image-credential-provider-config=/var/lib/kubelet/credential-provider.conf "
		"--image-credential-provider-bin-dir=/usr/local/bin\"\nHOME=\"/root\"\n";
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(text_of(a, &document, FLAGS), want);
}

/* All that is in the file then, to the byte. */
static void a_kubelet_conf_of_flags(void **state)
{
	static const char form[] = "apiVersion: kubelet.config.k8s.io/v1beta1\n"
				   "authentication:\n"
				   "  anonymous: {}\n"
				   "  webhook:\n"
				   "    cacheTTL: 0s\n"
				   "  x509: {}\n"
				   "authorization:\n"
				   "  webhook:\n"
				   "    cacheAuthorizedTTL: 0s\n"
				   "    cacheUnauthorizedTTL: 0s\n"
				   "containerRuntimeEndpoint: \"\"\n"
				   "cpuManagerReconcilePeriod: 0s\n"
				   "%s"
				   "evictionPressureTransitionPeriod: 0s\n"
				   "fileCheckFrequency: 0s\n"
				   "httpCheckFrequency: 0s\n"
				   "imageMaximumGCAge: %s\n"
				   "imageMinimumGCAge: 0s\n"
				   "kind: KubeletConfiguration\n"
				   "logging:\n"
				   "  flushFrequency: 0\n"
				   "  options:\n"
				   "    json:\n"
				   "      infoBufferSize: \"0\"\n"
				   "%s"
				   "  verbosity: 0\n"
				   "memorySwap: {}\n"
				   "nodeStatusReportFrequency: 0s\n"
				   "nodeStatusUpdateFrequency: 0s\n"
				   "runtimeRequestTimeout: 0s\n"
				   "shutdownGracePeriod: 30s\n"
				   "shutdownGracePeriodCriticalPods: 0s\n"
				   "streamingConnectionIdleTimeout: 0s\n"
				   "syncFrequency: 0s\n"
				   "volumeStatsAggPeriod: 0s\n";
	static const char logging[] = "    text:\n      infoBufferSize: \"0\"\n";
	static const char restarts[] = "crashLoopBackOff: {}\n";
	static const struct {
		const char *versions, *restarts, *age, *logging;
	} cases[] = {
		{ "1.29.2 1.29", "", "0s", "" },
		{ "1.30.0 1.30", "", "0s", logging },
		{ "1.31.0 1.31", "", "0s", logging },
		{ "1.32.0 1.32", restarts, "0s", logging },
		{ "1.32.4 1.32", restarts, "0s", logging },
		{ "1.33.0 1.33", restarts, "168h0m0s", logging },
		{ "1.35.2 1.35", restarts, "168h0m0s", logging },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct asked document = { cases[i].versions, GIVEN, NULL };

		assert_string_equal(text_of(a, &document, CONF),
				    arena_printf(a, form, cases[i].restarts, cases[i].age,
						 cases[i].logging));
	}
}

/* Each difference on both sides of where it begins or ends. */
static const struct {
	struct asked document;
	const char *path, *text;
	bool is_there;
} edges[] = {
	/* flags, and the file */
	{ { "1.35.2 1.35", "anonymousAuth: false", NULL }, FLAGS, "--anonymous-auth=false ", true },
	{ { "1.36.0 1.35", "anonymousAuth: false", NULL }, FLAGS, "--anonymous-auth", false },
	{ { "1.36.0 1.35", "anonymousAuth: false", NULL }, CONF, "enabled: false", true },
	{ { "1.35.2 1.35", "runtimeRequestTimeout: 20m", NULL },
	  FLAGS,
	  "--runtime-request-timeout=20m0s ",
	  true },
	{ { "1.35.2 1.35", "runtimeRequestTimeout: 20m", NULL },
	  FLAGS,
	  " --runtime-request-timeout=15m ",
	  true },
	{ { "1.36.0 1.35", "runtimeRequestTimeout: 20m", NULL }, FLAGS, "15m", false },
	{ { "1.35.2 1.35", "imageMinimumGCAge: 5m", NULL }, CONF, "MinimumGCAge: 5m0s", true },
	{ { "1.33.0 1.33", "imageMinimumGCAge: 5m", NULL }, CONF, "MinimumGCAge: 5m0s", true },
	{ { "1.33.0 1.33", "imageMinimumGCAge: 5m", NULL }, FLAGS, "gc-age", false },
	{ { "1.32.4 1.32", "imageMinimumGCAge: 5m", NULL }, CONF, "MinimumGCAge: 0s", true },
	{ { "1.32.4 1.32", "imageMinimumGCAge: 5m", NULL },
	  FLAGS,
	  "--image-minimum-gc-age=5m ",
	  true },
	{ { "1.34.3 1.34", "podInfraContainerImage: p", NULL }, FLAGS, "-image=p ", true },
	{ { "1.35.0 1.34", "podInfraContainerImage: p", NULL }, FLAGS, "-image=p", false },
	{ { "1.34.1 1.34", "maxParallelImagePulls: 3", NULL }, CONF, "ImagePulls", false },
	{ { "1.34.2 1.34", "maxParallelImagePulls: 3", NULL },
	  CONF,
	  "maxParallelImagePulls: 3\n",
	  true },
	{ { "1.35.0 1.34", "maxParallelImagePulls: 3", NULL },
	  CONF,
	  "maxParallelImagePulls: 3\n",
	  true },
	{ { "1.34.3 1.35", "crashLoopBackOffMaxContainerRestartPeriod: 2m", NULL },
	  CONF,
	  "2m0s",
	  false },
	{ { "1.35.0 1.35", "crashLoopBackOffMaxContainerRestartPeriod: 2m", NULL },
	  CONF,
	  "2m0s",
	  true },
	/* the cloud configuration */
	{ { "1.32.4 1.33", "", NULL }, FLAGS, " --cloud-config=", true },
	{ { "1.33.0 1.33", "", NULL }, FLAGS, "--cloud-config", false },
	{ { "1.33.0 1.32", "", NULL }, FLAGS, " --cloud-config=", true },
	{ { "1.35.2 1.32", "", NULL }, FLAGS, " --cloud-config=", true },
	{ { "1.36.0 1.32", "", NULL }, FLAGS, "--cloud-config", false },
	/* the login at ECR */
	{ { "1.33.2 1.26", "", NULL }, FLAGS, "--image-credential-provider-", false },
	{ { "1.33.2 1.26", "", NULL }, LOGIN, "", false },
	{ { "1.33.2 1.27", "", NULL }, FLAGS, "--image-credential-provider-", true },
	{ { "1.33.2 1.27", "", NULL }, LOGIN, "matchImages", true },
	{ { "1.34.0 1.26", "", NULL }, LOGIN, "matchImages", true },
	{ { "1.32.4 1.32", "", NULL }, LOGIN, "    defaultCacheDuration: \"12h\"\n", true },
	{ { "1.32.4 1.32", "", NULL }, LOGIN, "\"*.dkr.ecr.us-isob-east-1.sc2s.sgov.gov\"", true },
	{ { "1.32.4 1.32", "", NULL }, LOGIN, "env", false },
	{ { "1.33.0 1.32", "", NULL }, LOGIN, "  defaultCacheDuration: 12h0m0s\n", true },
	{ { "1.33.0 1.32", "", NULL }, LOGIN, "isob", false },
	{ { "1.33.0 1.32", "", NULL }, LOGIN, "AWS_REGION", true },
	/* quotes */
	{ { "1.30.4 1.30", "rootDir: '/a\"b'", NULL }, FLAGS, " --root-dir=/a\"b ", true },
	{ { "1.31.0 1.30", "rootDir: '/a\"b'", NULL }, FLAGS, " --root-dir=\"/a\\\"b\" ", true },
	/* slices */
	{ { "1.33.2 1.33", "kubeletCgroups: /k", NULL }, UNIT, "Slice=", false },
	{ { "1.33.2 1.33", "kubeletCgroups: /k", NULL }, "/etc/systemd/system/k.slice", "", false },
	{ { "1.33.2 1.33", "kubeletCgroups: /k, cgroupDriver: systemd", NULL },
	  UNIT,
	  "Slice=k.slice\n",
	  true },
	{ { "1.33.2 1.33", "systemCgroups: /s, cgroupRoot: /, cgroupDriver: systemd", NULL },
	  "/etc/systemd/system/s.slice",
	  "[Unit]\n",
	  true },
	{ { "1.34.0 1.33", "kubeletCgroups: /k", NULL }, UNIT, "Slice=k.slice\n", true },
	{ { "1.34.0 1.33", "runtimeCgroups: /r", NULL },
	  "/etc/systemd/system/r.slice",
	  "[Unit]\n",
	  true },
};

static void each_difference_is_where_it_is_with_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(edges); i++) {
		const char *text = text_of(a, &edges[i].document, edges[i].path);
		const bool has = *edges[i].text ? strstr(text, edges[i].text) != NULL
						: *text != '\0';

		if (has != edges[i].is_there)
			fail_msg("row %zu, kops %s: %s has\n%s", i, edges[i].document.versions,
				 edges[i].path, text);
	}
}

static void no_login_needs_no_program(void **state)
{
	static const struct asked document = { "1.31.0 1.26", "", NULL };
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = plan_of(a, &document, KUBELET);

	(void)state;
	assert_null(plan_look(p, TASK_FILE, LOGIN));
	assert_non_null(plan_look(p, TASK_FILE, CONF));
}

static const struct {
	const char *kops, *role;
	mode_t key;
	bool is_short;  /* kubelet's longest wait between restarts of a pod */
	int kubernetes; /* of Kubernetes 1.x; 0: 35 */
} roles[] = {
	{ "1.34.3", "ControlPlane", 0600, false }, { "1.35.0", "ControlPlane", 0600, true },
	{ "1.35.2", "APIServer", 0600, false },    { "1.36.0", "ControlPlane", 0400, true },
	{ "1.36.0", "APIServer", 0400, false },    { "1.35.0", "ControlPlane", 0600, false, 34 },
};

static void beside_an_api_server(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		struct control_plane c = { .w = { .role = roles[i].role,
						  .kubernetes = roles[i].kubernetes,
						  .vintage.text = roles[i].kops } };
		const struct plan *p = control_plane_plan(a, &c, "kubelet");
		const struct task_file *key = planned_file(p, "/srv/kubernetes/kubelet-server.key");
		const bool is_short = strstr(planned_file(p, CONF)->content,
					     "  maxContainerRestartPeriod: 1m0s\n");

		if (key->attr.mode != roles[i].key || is_short != roles[i].is_short)
			fail_msg("kops %s, %s: %o\n%s", roles[i].kops, roles[i].role,
				 key->attr.mode, planned_file(p, CONF)->content);
	}
}

static void a_worker_s_key_is_read_alone(void **state)
{
	static const struct asked document = { "1.29.0 1.29", "", NULL };
	autoarena struct arena *a = arena_new_empty();
	const struct plan *p = plan_of(a, &document, KUBELET PROVIDER);

	(void)state;
	assert_int_equal(planned_file(p, "/srv/kubernetes/kubelet-server.key")->attr.mode, 0400);
}

/* Also of a kops that left it enabled. */
static void kubelet_of_a_warm_pool_waits(void **state)
{
	static const char *const all[] = { "1.29.0", "1.32.2", "1.34.1", "1.35.0", "1.37.0" };
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct kops_worker w = {
			.vintage.text = all[i],
			.facts.target_lifecycle_state = "Warmed:Stopped",
		};
		const struct plan *p = kops_try_plan(
			a, &w, "kubelet",
			"Assets:\n  amd64:\n" KUBELET PROVIDER
			"warmPoolImages: [r/a]\ncontainerdConfig: {version: 1.7.28}\n");

		if (!p)
			fail_msg("%s", w.e.msg);
		assert_true(plan_get(p, TASK_UNIT, "kubelet.service")->ops == &task_unit_off_ops);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_a_flag_to_kops_1_35),
		cmocka_unit_test(a_kubelet_conf_of_flags),
		cmocka_unit_test(each_difference_is_where_it_is_with_kops),
		cmocka_unit_test(no_login_needs_no_program),
		cmocka_unit_test(beside_an_api_server),
		cmocka_unit_test(a_worker_s_key_is_read_alone),
		cmocka_unit_test(kubelet_of_a_warm_pool_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
