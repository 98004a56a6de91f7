#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "manifests/manifest.h"

static struct pod sample(struct arena *a)
{
	struct pod p = {
		.name = "sample",
		.namespace_ = "kube-system",
		.host_network = true,
		.container = { .name = "sample", .image = "registry/sample:v1" },
	};

	strv_add(a, &p.container.command, "/bin/true");
	return p;
}

static const char pod_in_order[] = "apiVersion: v1\n"
				   "kind: Pod\n"
				   "metadata:\n"
				   "  annotations:\n"
				   "    critical: \"\"\n"
				   "  creationTimestamp: null\n"
				   "  labels:\n"
				   "    k8s-app: sample\n"
				   "    tier: node\n"
				   "  name: sample\n"
				   "  namespace: kube-system\n"
				   "spec:\n"
				   "  containers:\n"
				   "  - command:\n"
				   "    - /bin/true\n"
				   "    env:\n"
				   "    - name: ANSWER\n"
				   "      value: \"42\"\n"
				   "    image: registry/sample:v1\n"
				   "    livenessProbe:\n"
				   "      httpGet:\n"
				   "        host: 127.0.0.1\n"
				   "        path: /healthz\n"
				   "        port: 443\n"
				   "        scheme: HTTPS\n"
				   "      initialDelaySeconds: 15\n"
				   "      timeoutSeconds: 16\n"
				   "    name: sample\n"
				   "    ports:\n"
				   "    - containerPort: 443\n"
				   "      hostPort: 443\n"
				   "      name: https\n"
				   "    resources:\n"
				   "      requests:\n"
				   "        cpu: 100m\n"
				   "    securityContext:\n"
				   "      privileged: true\n"
				   "    volumeMounts:\n"
				   "    - mountPath: /var/log/x.log\n"
				   "      name: logfile\n"
				   "    - mountPath: /etc/certs\n"
				   "      name: certs\n"
				   "      readOnly: true\n"
				   "  hostNetwork: true\n"
				   "  tolerations:\n"
				   "  - key: Key\n"
				   "    operator: Exists\n"
				   "  volumes:\n"
				   "  - hostPath:\n"
				   "      path: /var/log/x.log\n"
				   "    name: logfile\n"
				   "  - hostPath:\n"
				   "      path: /usr/share/certs\n"
				   "    name: certs\n"
				   "status: {}\n";

static void a_pod_is_written_in_upstream_order(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct pod p = sample(a);
	struct pod_container *c = &p.container;
	struct err e;
	char *text;

	(void)state;
	strmap_set(a, &p.labels, "tier", "node");
	strmap_set(a, &p.labels, "k8s-app", "sample");
	strmap_set(a, &p.annotations, "critical", "");
	p.is_stamped = true;
	c->cpu_request = "100m";
	c->privileged = true;
	c->liveness = (struct pod_probe){
		.host = "127.0.0.1",
		.path = "/healthz",
		.scheme = "HTTPS",
		.port = 443,
		.initial_delay = 15,
		.timeout = 16,
	};
	arena_push(a, c->ports, c->n_ports, (struct pod_port){ "https", 443 });
	arena_push(a, c->env, c->n_env, (struct pod_env){ .name = "ANSWER", .value = "42" });
	arena_push(a, p.tolerations, p.n_tolerations, (struct pod_toleration){ "Key", "Exists" });
	pod_host_path(a, &p, "logfile", "/var/log/x.log", NULL, false);
	pod_host_path(a, &p, "certs", "/usr/share/certs", "/etc/certs", true);
	assert_int_equal(manifest_render(a, &p, &text, &e), 0);
	assert_string_equal(text, pod_in_order);
}

static void what_is_not_set_is_left_out(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct pod p = sample(a);
	struct err e;
	char *text;

	(void)state;
	p.host_network = false;
	assert_int_equal(manifest_render(a, &p, &text, &e), 0);
	assert_string_equal(text, "apiVersion: v1\n"
				  "kind: Pod\n"
				  "metadata:\n"
				  "  name: sample\n"
				  "  namespace: kube-system\n"
				  "spec:\n"
				  "  containers:\n"
				  "  - command:\n"
				  "    - /bin/true\n"
				  "    image: registry/sample:v1\n"
				  "    name: sample\n"
				  "    resources: {}\n"
				  "status: {}\n");
}

static void the_shell_sees_what_was_meant(void **state)
{
	static const char *const flags[] = {
		"--etcd=/events#http://127.0.0.1:4002",
		"--empty=",
		"--two=a b",
		"--evil=$(rm);`x`'&",
		"--less=a<1Gi",
	};
	autoarena struct arena *a = arena_new_empty();
	struct pod p = sample(a);
	struct strv v = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		strv_add(a, &v, flags[i]);
	p.container.command = (struct strv){ 0 };
	pod_shell_command(a, &p, "/bin/x", &v, "/bin/tee", "/var/log/x.log");
	assert_int_equal(p.container.command.n, 3);
	assert_string_equal(p.container.command.v[0], "/bin/sh");
	assert_string_equal(p.container.command.v[1], "-c");
	assert_string_equal(p.container.command.v[2],
			    "/bin/x --etcd=/events#http://127.0.0.1:4002 --empty=\"\" '--two=a b' "
			    "'--evil=$(rm);`x`'\\''&' '--less=a<1Gi' "
			    "2>&1 | /bin/tee -a /var/log/x.log");
}

/* Each pod has one fault that kubelet would refuse. */
static void a_bad_pod_is_refused(void **state)
{
	static const char *const wants[] = {
		"it or its container has no valid name",
		"it or its container has no valid name",
		"pod sample: no image",
		"'log_file' is not the name of a volume",
		"two volumes are named 'log'",
		"volume log: 'log' is not an absolute path",
		"mounts volume 'gone', which it does not have",
		"pod sample: mounts two volumes at '/log', and kubelet refuses such a pod",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wants); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct pod p = sample(a);
		struct pod_container *c = &p.container;
		char *text = NULL;
		struct err e;

		p.name = i == 0 ? "Sample" : p.name;
		c->name = i == 1 ? NULL : c->name;
		c->image = i == 2 ? "" : c->image;
		pod_host_path(a, &p, i == 3 ? "log_file" : "log", i == 5 ? "log" : "/log", NULL,
			      true);
		if (i == 4)
			pod_host_path(a, &p, "log", "/other", NULL, true);
		if (i == 6)
			arena_push(a, c->mounts, c->n_mounts, (struct pod_mount){ "gone", "/", 0 });
		if (i == 7)
			pod_host_path(a, &p, "other", "/other", "/log", true);
		assert_int_equal(manifest_render(a, &p, &text, &e), -EINVAL);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, wants[i]));
		assert_null(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_is_written_in_upstream_order),
		cmocka_unit_test(what_is_not_set_is_left_out),
		cmocka_unit_test(the_shell_sees_what_was_meant),
		cmocka_unit_test(a_bad_pod_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
