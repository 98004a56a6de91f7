#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/kops_control_plane.h"

#define MANIFESTS "/etc/kubernetes/manifests/"

static void a_controller_manager_as_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = {
		.kcm = ", logLevel: 2, kubeAPIQPS: 1500m, leaderElection: {leaderElect: true}"
	};
	const struct plan *p = control_plane_plan(a, &c, "control-plane");
	const struct task_file *log = planned_file(p, "/var/log/kube-controller-manager.log");

	(void)state;
	assert_int_equal(planned_file(p, MANIFESTS "kube-controller-manager.manifest")->attr.mode,
			 0644);
	assert_int_equal(log->attr.mode, 0400);
	assert_true(log->if_absent);
	assert_says(
		a, planned_pod(p, "kube-controller-manager"),
		"apiVersion: v1\nkind: Pod\nmetadata:\n"
		"  labels: {k8s-app: kube-controller-manager}\n"
		"  name: kube-controller-manager\n  namespace: kube-system\n"
		"spec:\n  containers:\n  - args:\n"
		"    - --log-file=/var/log/kube-controller-manager.log\n    - --also-stdout\n"
		"    - /usr/local/bin/kube-controller-manager\n"
		"    - --authentication-kubeconfig=/var/lib/kube-controller-manager/kubeconfig\n"
		"    - --authorization-kubeconfig=/var/lib/kube-controller-manager/kubeconfig\n"
		"    - --cluster-signing-cert-file=/srv/kubernetes/kube-controller-manager/ca.crt\n"
		"    - --cluster-signing-key-file=/srv/kubernetes/kube-controller-manager/ca.key\n"
		"    - --flex-volume-plugin-dir=/usr/libexec/kubernetes/kubelet-plugins/volume/exec/\n"
		"    - --kube-api-qps=1.500\n"
		"    - --kubeconfig=/var/lib/kube-controller-manager/kubeconfig\n"
		"    - --leader-elect=true\n"
		"    - --root-ca-file=/srv/kubernetes/ca.crt\n"
		"    - --service-account-private-key-file=/srv/kubernetes/kube-controller-manager/"
		"service-account.key\n"
		"    - --tls-cert-file=/srv/kubernetes/kube-controller-manager/server.crt\n"
		"    - --tls-private-key-file=/srv/kubernetes/kube-controller-manager/server.key\n"
		"    - --v=2\n"
		"    command: [/go-runner]\n    image: r/kcm-amd64:1\n    livenessProbe:\n"
		"      httpGet: {host: 127.0.0.1, path: /healthz, port: 10257, scheme: HTTPS}\n"
		"      initialDelaySeconds: 15\n      timeoutSeconds: 15\n"
		"    name: kube-controller-manager\n"
		"    resources: {requests: {cpu: 100m}}\n"
		"    volumeMounts:\n"
		"    - {mountPath: /var/log/kube-controller-manager.log, name: logfile}\n"
		"    - {mountPath: /etc/ssl, name: etcssl, readOnly: true}\n"
		"    - {mountPath: /etc/pki/tls, name: etcpkitls, readOnly: true}\n"
		"    - {mountPath: /etc/pki/ca-trust, name: etcpkica-trust, readOnly: true}\n"
		"    - {mountPath: /usr/share/ssl, name: usrsharessl, readOnly: true}\n"
		"    - {mountPath: /usr/ssl, name: usrssl, readOnly: true}\n"
		"    - {mountPath: /usr/lib/ssl, name: usrlibssl, readOnly: true}\n"
		"    - {mountPath: /usr/local/openssl, name: usrlocalopenssl, readOnly: true}\n"
		"    - {mountPath: /var/ssl, name: varssl, readOnly: true}\n"
		"    - {mountPath: /etc/openssl, name: etcopenssl, readOnly: true}\n"
		"    - {mountPath: /srv/kubernetes/ca.crt, name: cabundle, readOnly: true}\n"
		"    - {mountPath: /srv/kubernetes/kube-controller-manager, name: srvkcm, readOnly: true}\n"
		"    - {mountPath: /var/lib/kube-controller-manager, name: varlibkcm, readOnly: true}\n"
		"    - {mountPath: /usr/libexec/kubernetes/kubelet-plugins/volume/exec/, name: volplugins}\n"
		"  hostNetwork: true\n  priorityClassName: system-cluster-critical\n"
		"  tolerations: [{key: CriticalAddonsOnly, operator: Exists}]\n"
		"  volumes:\n"
		"  - {hostPath: {path: /var/log/kube-controller-manager.log}, name: logfile}\n"
		"  - {hostPath: {path: /etc/ssl}, name: etcssl}\n"
		"  - {hostPath: {path: /etc/pki/tls}, name: etcpkitls}\n"
		"  - {hostPath: {path: /etc/pki/ca-trust}, name: etcpkica-trust}\n"
		"  - {hostPath: {path: /usr/share/ssl}, name: usrsharessl}\n"
		"  - {hostPath: {path: /usr/ssl}, name: usrssl}\n"
		"  - {hostPath: {path: /usr/lib/ssl}, name: usrlibssl}\n"
		"  - {hostPath: {path: /usr/local/openssl}, name: usrlocalopenssl}\n"
		"  - {hostPath: {path: /var/ssl}, name: varssl}\n"
		"  - {hostPath: {path: /etc/openssl}, name: etcopenssl}\n"
		"  - {hostPath: {path: /srv/kubernetes/ca.crt}, name: cabundle}\n"
		"  - {hostPath: {path: /srv/kubernetes/kube-controller-manager}, name: srvkcm}\n"
		"  - {hostPath: {path: /var/lib/kube-controller-manager}, name: varlibkcm}\n"
		"  - {hostPath: {path: /usr/libexec/kubernetes/kubelet-plugins/volume/exec/}, name: volplugins}\n"
		"status: {}\n");
}

static void a_scheduler_as_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .scheduler = ", logLevel: 2, maxPersistentVolumes: 40" };
	const struct plan *p = control_plane_plan(a, &c, "control-plane");

	(void)state;
	assert_int_equal(planned_file(p, "/var/log/kube-scheduler.log")->attr.mode, 0400);
	assert_says(
		a, planned_pod(p, "kube-scheduler"),
		"apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {k8s-app: kube-scheduler}\n"
		"  name: kube-scheduler\n  namespace: kube-system\n"
		"spec:\n  containers:\n  - args:\n"
		"    - --log-file=/var/log/kube-scheduler.log\n    - --also-stdout\n"
		"    - /usr/local/bin/kube-scheduler\n"
		"    - --authentication-kubeconfig=/var/lib/kube-scheduler/kubeconfig\n"
		"    - --authentication-skip-lookup=false\n"
		"    - --authentication-tolerate-lookup-failure=false\n"
		"    - --authorization-kubeconfig=/var/lib/kube-scheduler/kubeconfig\n"
		"    - --config=/var/lib/kube-scheduler/config.yaml\n"
		"    - --tls-cert-file=/srv/kubernetes/kube-scheduler/server.crt\n"
		"    - --tls-private-key-file=/srv/kubernetes/kube-scheduler/server.key\n"
		"    - --v=2\n"
		"    command: [/go-runner]\n"
		"    env: [{name: KUBE_MAX_PD_VOLS, value: '40'}]\n"
		"    image: r/scheduler:1\n    livenessProbe:\n"
		"      httpGet: {host: 127.0.0.1, path: /healthz, port: 10259, scheme: HTTPS}\n"
		"      initialDelaySeconds: 15\n      timeoutSeconds: 15\n"
		"    name: kube-scheduler\n    resources: {requests: {cpu: 100m}}\n"
		"    volumeMounts:\n"
		"    - {mountPath: /var/lib/kube-scheduler, name: varlibkubescheduler, readOnly: true}\n"
		"    - {mountPath: /srv/kubernetes/kube-scheduler, name: srvscheduler, readOnly: true}\n"
		"    - {mountPath: /var/log/kube-scheduler.log, name: logfile}\n"
		"  hostNetwork: true\n  priorityClassName: system-cluster-critical\n"
		"  tolerations: [{key: CriticalAddonsOnly, operator: Exists}]\n"
		"  volumes:\n"
		"  - {hostPath: {path: /var/lib/kube-scheduler}, name: varlibkubescheduler}\n"
		"  - {hostPath: {path: /srv/kubernetes/kube-scheduler}, name: srvscheduler}\n"
		"  - {hostPath: {path: /var/log/kube-scheduler.log}, name: logfile}\n"
		"status: {}\n");
}

static void the_schedulers_configuration_is_kops_or_ours(void **state)
{
	static const char path[] = "/var/lib/kube-scheduler/config.yaml";
	static const struct {
		const char *keys, *burst, *qps; /* lines, or nothing */
	} rows[] = {
		{ NULL, "", "" },
		{ ", qps: 500m, burst: 7", "  burst: 7\n", "  qps: 0.500\n" },
		{ ", qps: '2k', burst: 0", "", "  qps: 2000\n" },
	};
	autoarena struct arena *a = arena_new_empty();
	struct control_plane given = {
		.all = ", FileAssets: [{path: /var/lib/kube-scheduler/config.yaml, content: theirs}]",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct control_plane c = { .scheduler = rows[i].keys };
		const struct plan *p = control_plane_plan(a, &c, "control-plane");
		const struct task_file *f = planned_file(p, path);

		assert_int_equal(f->attr.mode, 0400);
		assert_string_equal(
			f->content,
			arena_printf(a,
				     "apiVersion: kubescheduler.config.k8s.io/v1\n"
				     "clientConnection:\n%s"
				     "  kubeconfig: /var/lib/kube-scheduler/kubeconfig\n%s"
				     "kind: KubeSchedulerConfiguration\n",
				     rows[i].burst, rows[i].qps));
	}
	assert_null(plan_look(control_plane_plan(a, &given, "control-plane"), TASK_FILE, path));
}

static void the_folder_of_volume_plugins_is_kubelets(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .all = ", KubeletConfig: {volumePluginDirectory: /plugins}" };
	const struct tree *pod =
		planned_pod(control_plane_plan(a, &c, "control-plane"), "kube-controller-manager");
	const struct tree *mounts = tree_get(container_of(pod, 0), "volumeMounts");

	(void)state;
	assert_string_equal(flag_of(pod, "flex-volume-plugin-dir"), "/plugins");
	assert_says(a, mounts->items[mounts->n - 1].value,
		    "{mountPath: /plugins, name: volplugins}");
}

static void resources_are_those_of_the_documents(void **state)
{
	static const char all[] =
		", cpuRequest: 200m, cpuLimit: '2', memoryRequest: 1Gi, memoryLimit: 2Gi";
	static const struct {
		const char *builder, *pod, *keys, *resources;
	} rows[] = {
		{ "kube-apiserver", "kube-apiserver", "", "{requests: {cpu: 150m}}" },
		{ "control-plane", "kube-controller-manager", "", "{requests: {cpu: 100m}}" },
		{ "control-plane", "kube-scheduler", "", "{requests: {cpu: 100m}}" },
		{ "kube-apiserver", "kube-apiserver", all, NULL },
		{ "control-plane", "kube-controller-manager", all, NULL },
		{ "control-plane", "kube-scheduler", all, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .api_server = rows[i].keys,
					   .kcm = rows[i].keys,
					   .scheduler = rows[i].keys };
		const struct tree *pod =
			planned_pod(control_plane_plan(a, &c, rows[i].builder), rows[i].pod);

		assert_says(a, tree_get(container_of(pod, 0), "resources"),
			    rows[i].resources ? rows[i].resources
					      : "{limits: {cpu: '2', memory: 2Gi}, "
						"requests: {cpu: 200m, memory: 1Gi}}");
	}
}

/* Every pod of ours reads the host's files. */
static void selinux_lets_pods_at_the_host(void **state)
{
	static const struct {
		const char *builder, *pod;
	} rows[] = {
		{ "kube-apiserver", "kube-apiserver" },
		{ "control-plane", "kube-controller-manager" },
		{ "control-plane", "kube-scheduler" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .containerd = ", selinuxEnabled: true" };
		const struct tree *pod =
			planned_pod(control_plane_plan(a, &c, rows[i].builder), rows[i].pod);

		assert_says(a, tree_get(tree_get(pod, "spec"), "securityContext"),
			    "{seLinuxOptions: {level: s0, type: spc_t}}");
	}
}

static void the_way_out_is_told(void **state)
{
	static const struct {
		const char *proxy, *url, *excludes;
		mode_t mode;
	} rows[] = {
		{ "{httpProxy: {host: p}}", "http://p", "", 0644 },
		{ "{httpProxy: {host: p, port: 3128}, excludes: x}", "http://p:3128", "x", 0644 },
		{ "{httpProxy: {host: 'u:pw@p'}}", "http://u:pw@p", "", 0600 },
	};
	static const char *const pods[] = { "kube-controller-manager", "kube-scheduler" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(pods); i++) {
		const char *pod = pods[i % ARRAY_LEN(pods)];
		const size_t k = i / ARRAY_LEN(pods);
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = {
			.networking = arena_printf(a, ", egressProxy: %s", rows[k].proxy),
		};
		const struct plan *p = control_plane_plan(a, &c, "control-plane");
		const char *path = arena_printf(a, MANIFESTS "%s.manifest", pod);

		assert_says(a, tree_get(container_of(planned_pod(p, pod), 0), "env"),
			    arena_printf(a,
					 "[{name: http_proxy, value: '%s'}, {name: https_proxy, "
					 "value: '%s'}, {name: NO_PROXY, value: '%s'}, "
					 "{name: no_proxy, value: '%s'}]",
					 rows[k].url, rows[k].url, rows[k].excludes,
					 rows[k].excludes));
		assert_int_equal(planned_file(p, path)->attr.mode, rows[k].mode);
		assert_int_equal(planned_file(p, path)->secret, rows[k].mode == 0600);
	}
}

static void an_image_is_of_this_architecture(void **state)
{
	static const struct {
		const char *arch, *image;
	} rows[] = { { "amd64", "r/kcm-amd64:1" }, { "arm64", "r/kcm-arm64:1" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .w.facts = { .arch = rows[i].arch } };
		const struct plan *p = control_plane_plan(a, &c, "control-plane");

		assert_string_equal(
			tree_text(container_of(planned_pod(p, "kube-controller-manager"), 0),
				  "image"),
			rows[i].image);
		assert_string_equal(tree_text(container_of(planned_pod(p, "kube-scheduler"), 0),
					      "image"),
				    "r/scheduler:1");
	}
}

static void each_role_has_its_pods(void **state)
{
	static const char *const paths[] = {
		MANIFESTS "kube-apiserver.manifest",
		"/usr/local/bin/kubectl",
		MANIFESTS "kube-controller-manager.manifest",
		MANIFESTS "kube-scheduler.manifest",
		MANIFESTS "etcd-main-a.manifest",
		MANIFESTS "kops-channels.manifest",
	};
	static const char *const builders[] = { "kube-apiserver", "control-plane", "manifests" };
	static const struct {
		const char *role;
		size_t n; /* how many of these it has */
	} rows[] = { { "ControlPlane", 6 }, { "APIServer", 2 }, { "Node", 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		size_t found = 0;

		for (size_t k = 0; k < ARRAY_LEN(builders); k++) {
			struct control_plane c = {
				.w.role = rows[i].role,
				.all = ", etcdManifests: ['s3://e/main-a.yaml'], channelsManifest: 's3://c'",
			};
			const struct plan *p = control_plane_plan(a, &c, builders[k]);

			for (size_t n = 0; n < ARRAY_LEN(paths); n++)
				found += plan_look(p, n == 1 ? TASK_INSTALL : TASK_FILE,
						   paths[n]) != NULL;
		}
		assert_int_equal(found, rows[i].n);
	}
}

static void manifests_of_others_stay_as_they_are(void **state)
{
	static const char keys[] =
		", etcdManifests: ['s3://e/x/main-a.yaml', 's3://e/x/events.b'], "
		"channelsManifest: 's3://c/kops-channels.yaml'";
	static const struct {
		const char *url, *text, *path;
		mode_t mode;
	} rows[] = {
		{ "s3://e/x/main-a.yaml", "# main\na:   b\n", MANIFESTS "etcd-main-a.manifest",
		  0440 },
		{ "s3://e/x/events.b", "# events", MANIFESTS "etcd-events.manifest", 0440 },
		{ "s3://c/kops-channels.yaml", "# not even a pod",
		  MANIFESTS "kops-channels.manifest", 0644 },
	};
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .all = keys };
	const struct plan *p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		strmap_set(a, &c.w.manifests, rows[i].url, rows[i].text);
	p = control_plane_plan(a, &c, "manifests");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(planned_file(p, rows[i].path)->content, rows[i].text);
		assert_int_equal(planned_file(p, rows[i].path)->attr.mode, rows[i].mode);
	}
	c = (struct control_plane){ .all = keys };
	strmap_set(a, &c.w.manifests, "s3://e/x/main-a.yaml", "a");
	assert_null(control_plane_try(a, &c, "manifests"));
	assert_string_equal(c.w.e.msg,
			    "manifest s3://e/x/events.b: it is not there, and manifests needs it, "
			    "and 1 more error");
}

static void selinux_is_told_of_the_pod_that_applies_addons(void **state)
{
	static const char url[] = "s3://c/kops-channels.yaml";
	static const struct {
		const char *text, *spec; /* NULL: it cannot be */
		const char *wrong;
	} rows[] = {
		{ "kind: Pod\nspec: {hostNetwork: true}\n",
		  "{hostNetwork: true, securityContext: {seLinuxOptions: {level: s0, type: spc_t}}}" },
		{ "kind: Pod\nspec: {securityContext: {runAsUser: 1, seLinuxOptions: {user: u}}}\n",
		  "{securityContext: {runAsUser: 1, seLinuxOptions: {level: s0, type: spc_t}}}" },
		{ "kind: Pod\nspec: {securityContext: null}\n",
		  "{securityContext: {seLinuxOptions: {level: s0, type: spc_t}}}" },
		{ "kind: Pod\n", NULL, ":1:1: this is not a pod with a spec" },
		{ "a: [", NULL,
		  ":2:1: did not find expected node content (while parsing a flow node from line 2)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = {
			.containerd = ", selinuxEnabled: true",
			.all = ", channelsManifest: 's3://c/kops-channels.yaml'",
		};

		strmap_set(a, &c.w.manifests, url, rows[i].text);
		if (!rows[i].spec) {
			assert_null(control_plane_try(a, &c, "manifests"));
			assert_string_equal(c.w.e.msg, arena_printf(a, "%s%s", url, rows[i].wrong));
			continue;
		}
		assert_says(a,
			    tree_get(planned_pod(control_plane_plan(a, &c, "manifests"),
						 "kops-channels"),
				     "spec"),
			    rows[i].spec);
	}
}

static void a_proxy_comes_up_before_there_are_names(void **state)
{
	static const struct {
		const char *role, *key, *master;
	} rows[] = {
		{ "ControlPlane", "", "https://127.0.0.1" },
		{ "APIServer", "", "https://api.internal.a.example" },
		{ "Node", "", "https://api.internal.a.example" },
		{ "ControlPlane", ", master: 'https://mine'", "https://mine" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = {
			.w.role = rows[i].role,
			.all = arena_printf(a, ", KubeProxy: {image: 'r/p:1', cpuRequest: 100m%s}",
					    rows[i].key),
		};

		assert_string_equal(
			flag_of(planned_pod(control_plane_plan(a, &c, "kube-proxy"), "kube-proxy"),
				"master"),
			rows[i].master);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_controller_manager_as_of_kops),
		cmocka_unit_test(a_scheduler_as_of_kops),
		cmocka_unit_test(the_schedulers_configuration_is_kops_or_ours),
		cmocka_unit_test(the_folder_of_volume_plugins_is_kubelets),
		cmocka_unit_test(resources_are_those_of_the_documents),
		cmocka_unit_test(selinux_lets_pods_at_the_host),
		cmocka_unit_test(the_way_out_is_told),
		cmocka_unit_test(an_image_is_of_this_architecture),
		cmocka_unit_test(each_role_has_its_pods),
		cmocka_unit_test(manifests_of_others_stay_as_they_are),
		cmocka_unit_test(selinux_is_told_of_the_pod_that_applies_addons),
		cmocka_unit_test(a_proxy_comes_up_before_there_are_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
