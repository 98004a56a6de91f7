#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/lib/kops_control_plane.h"

#define API "/srv/kubernetes/kube-apiserver/"
#define KCM "/srv/kubernetes/kube-controller-manager/"
#define SCHEDULER "/srv/kubernetes/kube-scheduler/"

static const char sidecar[] = "apiVersion: v1\n"
			      "kind: Pod\n"
			      "metadata: {}\n"
			      "spec:\n"
			      "  containers:\n"
			      "  - args: [--ca-cert=/secrets/ca.crt]\n"
			      "    image: r/healthcheck:1\n"
			      "    name: healthcheck\n"
			      "    securityContext: {runAsUser: 10012}\n"
			      "    volumeMounts: [{mountPath: /secrets, name: secrets}]\n"
			      "  volumes:\n"
			      "  - hostPath: {path: /etc/secrets, type: Directory}\n"
			      "    name: secrets\n"
			      "status: {}\n";

/* A setting of the documents, and what this node makes of it. */
enum outcome { OURS, THEIRS };

static const struct rule_row {
	const char *builder, *pod, *key, *flag, *ours;
	enum outcome given, empty; /* when the documents say "/mine", and "" */
} rule_rows[] = {
#define ROW_API(key, flag, ours, given, empty)                                    \
	{                                                                         \
		"kube-apiserver", "kube-apiserver", key, flag, ours, given, empty \
	}
#define ROW_KCM(key, flag, ours, given, empty)                                            \
	{                                                                                 \
		"control-plane", "kube-controller-manager", key, flag, ours, given, empty \
	}
#define ROW_SCHEDULER(key, flag, ours, given, empty)                             \
	{                                                                        \
		"control-plane", "kube-scheduler", key, flag, ours, given, empty \
	}
	/* clang-format off */
	ROW_API("clientCAFile", "client-ca-file", "/srv/kubernetes/ca.crt", THEIRS, OURS),
	ROW_API("etcdCAFile", "etcd-cafile", API "etcd-ca.crt", OURS, OURS),
	ROW_API("etcdCertFile", "etcd-certfile", API "etcd-client.crt", OURS, OURS),
	ROW_API("etcdKeyFile", "etcd-keyfile", API "etcd-client.key", OURS, OURS),
	ROW_API("kubeletClientCertificate", "kubelet-client-certificate", API "kubelet-api.crt", OURS, OURS),
	ROW_API("kubeletClientKey", "kubelet-client-key", API "kubelet-api.key", OURS, OURS),
	ROW_API("proxyClientCertFile", "proxy-client-cert-file", API "apiserver-aggregator.crt", OURS, OURS),
	ROW_API("proxyClientKeyFile", "proxy-client-key-file", API "apiserver-aggregator.key", OURS, OURS),
	ROW_API("requestheaderClientCAFile", "requestheader-client-ca-file", API "apiserver-aggregator-ca.crt", OURS, OURS),
	ROW_API("serviceAccountSigningKeyFile", "service-account-signing-key-file", API "service-account.key", THEIRS, THEIRS),
	ROW_API("tlsCertFile", "tls-cert-file", API "server.crt", OURS, OURS),
	ROW_API("tlsPrivateKeyFile", "tls-private-key-file", API "server.key", OURS, OURS),
	ROW_API("encryptionProviderConfig", "encryption-provider-config", NULL, THEIRS, THEIRS),
	ROW_API("authenticationTokenWebhookConfigFile", "authentication-token-webhook-config-file", NULL, THEIRS, THEIRS),
	ROW_KCM("rootCAFile", "root-ca-file", "/srv/kubernetes/ca.crt", OURS, OURS),
	ROW_KCM("serviceAccountPrivateKeyFile", "service-account-private-key-file", KCM "service-account.key", OURS, OURS),
	ROW_KCM("tlsCertFile", "tls-cert-file", KCM "server.crt", THEIRS, THEIRS),
	/* a key without a certificate is none */
	ROW_KCM("tlsPrivateKeyFile", "tls-private-key-file", KCM "server.key", OURS, OURS),
	ROW_SCHEDULER("tlsCertFile", "tls-cert-file", SCHEDULER "server.crt", THEIRS, THEIRS),
	ROW_SCHEDULER("tlsPrivateKeyFile", "tls-private-key-file", SCHEDULER "server.key", OURS, OURS),
	/* clang-format on */
};

static const struct tree *pod_with(struct arena *a, const struct rule_row *row, const char *keys,
				   const char *api_config)
{
	struct control_plane c = { .api_config = api_config };
	const char **settings = &c.api_server;

	if (strcmp(row->pod, "kube-controller-manager") == 0)
		settings = &c.kcm;
	if (strcmp(row->pod, "kube-scheduler") == 0)
		settings = &c.scheduler;
	*settings = keys;
	return planned_pod(control_plane_plan(a, &c, row->builder), row->pod);
}

static void check_flag(const struct rule_row *row, const struct tree *pod, const char *want)
{
	const char *got = flag_of(pod, row->flag);

	if (!str_eq(got, want))
		fail_msg("%s --%s: wanted %s, found %s", row->pod, row->flag, want ? want : "none",
			 got ? got : "none");
}

static void each_rule_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rule_rows); i++) {
		const struct rule_row *row = &rule_rows[i];
		autoarena struct arena *a = arena_new_empty();

		check_flag(row, pod_with(a, row, NULL, NULL), row->ours);
		check_flag(row, pod_with(a, row, arena_printf(a, ", %s: /mine", row->key), NULL),
			   row->given == OURS ? row->ours : "/mine");
		check_flag(row, pod_with(a, row, arena_printf(a, ", %s: ''", row->key), NULL),
			   row->empty == OURS ? row->ours : NULL);
	}
}

static void a_key_goes_with_its_certificate(void **state)
{
	static const char pair[] = ", tlsCertFile: /c, tlsPrivateKeyFile: /k";
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .kcm = pair, .scheduler = ", tlsCertFile: /c" };
	const struct plan *p = control_plane_plan(a, &c, "control-plane");
	const struct tree *kcm = planned_pod(p, "kube-controller-manager");
	const struct tree *scheduler = planned_pod(p, "kube-scheduler");

	(void)state;
	assert_string_equal(flag_of(kcm, "tls-cert-file"), "/c");
	assert_string_equal(flag_of(kcm, "tls-private-key-file"), "/k");
	assert_string_equal(flag_of(scheduler, "tls-cert-file"), "/c");
	assert_null(flag_of(scheduler, "tls-private-key-file"));
}

static const struct tree *mount_of(const struct tree *pod, const char *name)
{
	const struct tree *mounts = tree_get(container_of(pod, 0), "volumeMounts");

	for (size_t i = 0; i < mounts->n; i++)
		if (str_eq(tree_text(mounts->items[i].value, "name"), name))
			return mounts->items[i].value;
	return NULL;
}

/* What of the host its volume is. */
static const struct tree *volume_of(const struct tree *pod, const char *name)
{
	const struct tree *volumes = tree_get(tree_get(pod, "spec"), "volumes");

	for (size_t i = 0; i < volumes->n; i++)
		if (str_eq(tree_text(volumes->items[i].value, "name"), name))
			return tree_get(volumes->items[i].value, "hostPath");
	return NULL;
}

static void what_a_feature_needs_is_set_with_it(void **state)
{
	static const struct {
		const char *config, *key, *flag, *value, *mount;
	} rows[] = {
		{ ", EncryptionConfigSecretHash: abc", "encryptionProviderConfig",
		  "encryption-provider-config", API "encryptionconfig.yaml", NULL },
		{ ", Authentication: {aws: {}}", "authenticationTokenWebhookConfigFile",
		  "authentication-token-webhook-config-file", "/etc/kubernetes/authn.config",
		  "{mountPath: /etc/kubernetes/authn.config, name: authn-config, readOnly: true}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		const char *given = arena_printf(a, ", %s: /mine", rows[i].key);
		const struct rule_row row = { .builder = "kube-apiserver",
					      .pod = "kube-apiserver",
					      .flag = rows[i].flag };
		const struct tree *pod = pod_with(a, &row, given, rows[i].config);

		check_flag(&row, pod, rows[i].value);
		assert_true(!rows[i].mount == !mount_of(pod, "authn-config"));
		if (rows[i].mount)
			assert_says(a, mount_of(pod, "authn-config"), rows[i].mount);
	}
}

static void the_node_adds_a_key_that_service_accounts_are_known_by(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = {
		.api_server = ", serviceAccountKeyFile: [/z, /b], serviceAccountIssuer: "
			      "'https://first', additionalServiceAccountIssuers: ['https://z', "
			      "'https://a']",
	};
	const struct tree *pod =
		planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");
	const struct tree *args = tree_get(container_of(pod, 0), "args");
	struct strv keys = { 0 };

	(void)state;
	for (size_t i = 0; i < args->n; i++)
		if (str_has_prefix(args->items[i].value->scalar, "--service-account-key-file="))
			strv_add(a, &keys, strchr(args->items[i].value->scalar, '=') + 1);
	assert_string_equal(strv_join(a, &keys, " "), "/b " API "service-account.pub /z");
	/* the order of issuers says which one signs */
	assert_string_equal(flag_of(pod, "service-account-issuer"), "https://first");
	assert_string_equal(args->items[args->n - 2].value->scalar,
			    "--service-account-issuer=https://z");
	assert_string_equal(args->items[args->n - 1].value->scalar,
			    "--service-account-issuer=https://a");
}

/* All of it once, in its order. */
static const char api_server_text[] =
	"apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n"
	"    dns.alpha.kubernetes.io/external: api.a.example\n"
	"    dns.alpha.kubernetes.io/internal: api.internal.a.example\n"
	"    kubectl.kubernetes.io/default-container: kube-apiserver\n"
	"  labels: {k8s-app: kube-apiserver}\n"
	"  name: kube-apiserver\n  namespace: kube-system\n"
	"spec:\n  containers:\n  - args:\n"
	"    - --log-file=/var/log/kube-apiserver.log\n    - --also-stdout\n"
	"    - /usr/local/bin/kube-apiserver\n"
	"    - --client-ca-file=/srv/kubernetes/ca.crt\n"
	"    - --etcd-cafile=" API "etcd-ca.crt\n"
	"    - --etcd-certfile=" API "etcd-client.crt\n"
	"    - --etcd-keyfile=" API "etcd-client.key\n"
	"    - --kubelet-client-certificate=" API "kubelet-api.crt\n"
	"    - --kubelet-client-key=" API "kubelet-api.key\n"
	"    - --proxy-client-cert-file=" API "apiserver-aggregator.crt\n"
	"    - --proxy-client-key-file=" API "apiserver-aggregator.key\n"
	"    - --requestheader-client-ca-file=" API "apiserver-aggregator-ca.crt\n"
	"    - --secure-port=443\n"
	"    - --service-account-key-file=" API "service-account.pub\n"
	"    - --service-account-signing-key-file=" API "service-account.key\n"
	"    - --tls-cert-file=" API "server.crt\n"
	"    - --tls-private-key-file=" API "server.key\n"
	"    command: [/go-runner]\n    image: r/api:1\n    livenessProbe:\n"
	"      failureThreshold: 8\n      httpGet: {host: 127.0.0.1, path: /livez, port: "
	"443, scheme: HTTPS}\n"
	"      initialDelaySeconds: 10\n      periodSeconds: 10\n      timeoutSeconds: 15\n"
	"    name: kube-apiserver\n"
	"    ports: [{containerPort: 443, hostPort: 443, name: https}]\n"
	"    readinessProbe:\n      failureThreshold: 3\n"
	"      httpGet: {host: 127.0.0.1, path: /healthz, port: 443, scheme: HTTPS}\n"
	"      periodSeconds: 1\n      timeoutSeconds: 15\n"
	"    resources: {requests: {cpu: 150m}}\n"
	"    startupProbe:\n      failureThreshold: 30\n"
	"      httpGet: {host: 127.0.0.1, path: /livez, port: 443, scheme: HTTPS}\n"
	"      initialDelaySeconds: 10\n      periodSeconds: 10\n"
	"      timeoutSeconds: 300\n"
	"    volumeMounts:\n"
	"    - {mountPath: /var/log/kube-apiserver.log, name: logfile}\n"
	"    - {mountPath: /etc/ssl, name: etcssl, readOnly: true}\n"
	"    - {mountPath: /etc/pki/tls, name: etcpkitls, readOnly: true}\n"
	"    - {mountPath: /etc/pki/ca-trust, name: etcpkica-trust, readOnly: true}\n"
	"    - {mountPath: /usr/share/ssl, name: usrsharessl, readOnly: true}\n"
	"    - {mountPath: /usr/ssl, name: usrssl, readOnly: true}\n"
	"    - {mountPath: /usr/lib/ssl, name: usrlibssl, readOnly: true}\n"
	"    - {mountPath: /usr/local/openssl, name: usrlocalopenssl, readOnly: true}\n"
	"    - {mountPath: /var/ssl, name: varssl, readOnly: true}\n"
	"    - {mountPath: /etc/openssl, name: etcopenssl, readOnly: true}\n"
	"    - {mountPath: /srv/kubernetes/ca.crt, name: kubernetesca, readOnly: true}\n"
	"    - {mountPath: /srv/kubernetes/kube-apiserver, name: srvkapi, readOnly: true}\n"
	"    - {mountPath: /srv/sshproxy, name: srvsshproxy, readOnly: true}\n"
	"  hostNetwork: true\n  priorityClassName: system-cluster-critical\n"
	"  tolerations: [{key: CriticalAddonsOnly, operator: Exists}]\n"
	"  volumes:\n"
	"  - {hostPath: {path: /var/log/kube-apiserver.log}, name: logfile}\n"
	"  - {hostPath: {path: /etc/ssl}, name: etcssl}\n"
	"  - {hostPath: {path: /etc/pki/tls}, name: etcpkitls}\n"
	"  - {hostPath: {path: /etc/pki/ca-trust}, name: etcpkica-trust}\n"
	"  - {hostPath: {path: /usr/share/ssl}, name: usrsharessl}\n"
	"  - {hostPath: {path: /usr/ssl}, name: usrssl}\n"
	"  - {hostPath: {path: /usr/lib/ssl}, name: usrlibssl}\n"
	"  - {hostPath: {path: /usr/local/openssl}, name: usrlocalopenssl}\n"
	"  - {hostPath: {path: /var/ssl}, name: varssl}\n"
	"  - {hostPath: {path: /etc/openssl}, name: etcopenssl}\n"
	"  - {hostPath: {path: /srv/kubernetes/ca.crt}, name: kubernetesca}\n"
	"  - {hostPath: {path: /srv/kubernetes/kube-apiserver}, name: srvkapi}\n"
	"  - {hostPath: {path: /srv/sshproxy}, name: srvsshproxy}\n"
	"status: {}\n";

static void an_api_server_as_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { 0 };
	const struct plan *p = control_plane_plan(a, &c, "kube-apiserver");
	const struct task_file *f =
		planned_file(p, "/etc/kubernetes/manifests/kube-apiserver.manifest");
	const struct task_file *log = planned_file(p, "/var/log/kube-apiserver.log");

	(void)state;
	assert_int_equal(f->attr.mode, 0644);
	assert_false(f->secret);
	assert_int_equal(log->attr.mode, 0400);
	assert_true(log->if_absent);
	assert_says(a, planned_pod(p, "kube-apiserver"), api_server_text);
}

static void probe_is(const struct tree *pod, const char *name, const char *port, const char *scheme)
{
	const struct tree *get = tree_get(tree_get(container_of(pod, 0), name), "httpGet");

	assert_string_equal(tree_text(get, "port"), port);
	assert_true(str_eq(tree_text(get, "scheme"), scheme));
}

static void probes_go_where_an_answer_comes_from(void **state)
{
	static const char *const probes[] = { "livenessProbe", "readinessProbe", "startupProbe" };
	static const struct {
		const char *keys, *all, *port, *scheme;
		size_t ports;
	} rows[] = {
		{ NULL, NULL, "443", "HTTPS", 1 },
		{ ", insecurePort: 0", NULL, "443", "HTTPS", 1 },
		{ ", insecurePort: 8080", NULL, "8080", NULL, 2 },
		{ NULL, HEALTHCHECK_KEY, "3990", NULL, 1 },
		{ ", insecurePort: 8080", HEALTHCHECK_KEY, "3990", NULL, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .api_server = rows[i].keys, .all = rows[i].all };
		const struct tree *pod;

		strmap_set(a, &c.w.manifests, HEALTHCHECK_AT, sidecar);
		pod = planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");
		for (size_t k = 0; k < ARRAY_LEN(probes); k++)
			probe_is(pod, probes[k], rows[i].port, rows[i].scheme);
		assert_int_equal(tree_get(container_of(pod, 0), "ports")->n, rows[i].ports);
	}
}

static void the_healthcheck_runs_in_the_pod_of_the_api_server(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .all = HEALTHCHECK_KEY };
	const struct tree *pod, *spec, *volumes;

	(void)state;
	strmap_set(a, &c.w.manifests, HEALTHCHECK_AT, sidecar);
	pod = planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");
	spec = tree_get(pod, "spec");
	volumes = tree_get(spec, "volumes");
	assert_int_equal(tree_get(spec, "containers")->n, 2);
	assert_string_equal(tree_text(container_of(pod, 0), "name"), "kube-apiserver");
	assert_says(
		a, container_of(pod, 1),
		"{args: [--ca-cert=/secrets/ca.crt], image: 'r/healthcheck:1', name: healthcheck, "
		"securityContext: {runAsUser: 10012}, volumeMounts: [{mountPath: /secrets, "
		"name: secrets}]}");
	assert_says(a, volumes->items[volumes->n - 1].value,
		    "{hostPath: {path: /etc/secrets, type: Directory}, name: secrets}");
}

static void a_healthcheck_that_cannot_be_is_told(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ NULL,
		  "manifest " HEALTHCHECK_AT ": it is not there, and kube-apiserver needs it" },
		{ "", "manifest " HEALTHCHECK_AT ": it is empty, and kube-apiserver needs it" },
		{ "- a\n", HEALTHCHECK_AT ":1:1: this is not a pod with a spec" },
		{ "kind: Pod\nspec: x\n", HEALTHCHECK_AT ":1:1: this is not a pod with a spec" },
		{ "kind: List\nspec: {}\n", HEALTHCHECK_AT ":1:1: this is not a pod with a spec" },
		{ "kind: Pod\nspec: {containers: x}\n",
		  HEALTHCHECK_AT ":2:20: spec.containers: expected a list" },
		{ "kind: Pod\nspec: {volumes: [{name: srvkapi}]}\n",
		  HEALTHCHECK_AT ":2:18: pod kube-apiserver has a volume 'srvkapi' of its own" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .all = HEALTHCHECK_KEY };

		strmap_set(a, &c.w.manifests, "s3://another", "x");
		if (rows[i].text)
			strmap_set(a, &c.w.manifests, HEALTHCHECK_AT, rows[i].text);
		assert_null(control_plane_try(a, &c, "kube-apiserver"));
		assert_string_equal(c.w.e.msg, rows[i].message);
	}
}

static void documents_alone_have_no_healthcheck_to_show(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .all = HEALTHCHECK_KEY };
	const struct tree *pod =
		planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");

	(void)state;
	assert_int_equal(tree_get(tree_get(pod, "spec"), "containers")->n, 1);
	probe_is(pod, "livenessProbe", "3990", NULL);
}

static void an_api_server_alone_reaches_etcd_by_names(void **state)
{
	static const char keys[] =
		", etcdServers: ['https://127.0.0.1:4001', 'https://127.0.0.1:4005'], "
		"etcdServersOverrides: ['/events#https://127.0.0.1:4002;https://127.0.0.1:4012', "
		"'coordination.k8s.io/leases#https://127.0.0.1:4003', '/pods#https://127.0.0.1:4004']";
	static const struct {
		const char *role, *servers, *overrides;
	} rows[] = {
		{ "ControlPlane", "https://127.0.0.1:4001,https://127.0.0.1:4005",
		  "/events#https://127.0.0.1:4002;https://127.0.0.1:4012,"
		  "coordination.k8s.io/leases#https://127.0.0.1:4003,/pods#https://127.0.0.1:4004" },
		{ "APIServer",
		  "https://main.etcd.internal.a.example:4001,"
		  "https://main.etcd.internal.a.example:4005",
		  "/events#https://events.etcd.internal.a.example:4002;"
		  "https://events.etcd.internal.a.example:4012,"
		  "coordination.k8s.io/leases#https://leases.etcd.internal.a.example:4003,"
		  "/pods#https://127.0.0.1:4004" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .w.role = rows[i].role, .api_server = keys };
		const struct tree *pod =
			planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");

		assert_string_equal(flag_of(pod, "etcd-servers"), rows[i].servers);
		assert_string_equal(flag_of(pod, "etcd-servers-overrides"), rows[i].overrides);
	}
}

static void admission_control_has_a_newer_flag(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = {
		.api_server = ", admissionControl: [A, B], enableAdmissionPlugins: [C], "
			      "appendAdmissionPlugins: [D]",
	};
	const struct tree *pod =
		planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");

	(void)state;
	assert_string_equal(flag_of(pod, "enable-admission-plugins"), "A,B");
	assert_null(flag_of(pod, "admission-control"));
}

static void users_of_openid_connect_are_known_by_flags(void **state)
{
	static const char oidc[] =
		", Authentication: {oidc: {usernameClaim: u, usernamePrefix: 'u:', groupsClaims: [g, h], "
		"groupsPrefix: 'g:', issuerURL: 'https://i', clientID: c, requiredClaims: {b: '2', a: 'x,y'}}}";
	static const struct {
		const char *flag, *value;
	} rows[] = {
		{ "oidc-username-claim", "u" },     { "oidc-username-prefix", "u:" },
		{ "oidc-groups-claim", "g,h" },     { "oidc-groups-prefix", "g:" },
		{ "oidc-issuer-url", "https://i" }, { "oidc-client-id", "c" },
		{ "oidc-required-claim=a", "x,y" }, { "oidc-required-claim=b", "2" },
	};
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .api_config = oidc };
	const struct tree *pod =
		planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");
	const struct tree *args = tree_get(container_of(pod, 0), "args");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(flag_of(pod, rows[i].flag), rows[i].value);
	for (size_t i = 4; i < args->n; i++)
		assert_true(strcmp(args->items[i - 1].value->scalar,
				   args->items[i].value->scalar) <= 0);
}

static void folders_of_audit_are_mounted(void **state)
{
	static const struct {
		const char *keys, *log, *config; /* NULL: not mounted */
	} rows[] = {
		{ ", auditLogPath: /var/log/audit/a.log", "/var/log/audit", NULL },
		{ ", auditLogPath: '-'", NULL, NULL },
		{ ", auditLogPath: ''", NULL, NULL },
		{ ", auditLogPath: /a.log", NULL, NULL },
		{ ", auditPolicyFile: /etc/audit/p.yaml", NULL, "/etc/audit" },
		{ ", auditPolicyFile: " API "p.yaml", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .api_server = rows[i].keys };
		const struct tree *pod =
			planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");
		const struct tree *log = mount_of(pod, "auditlogpathdir");
		const struct tree *config = mount_of(pod, "auditconfigdir");

		assert_true(str_eq(log ? tree_text(log, "mountPath") : NULL, rows[i].log));
		assert_true(str_eq(config ? tree_text(config, "mountPath") : NULL, rows[i].config));
		assert_true(!log || !tree_get(log, "readOnly"));
		assert_true(!config || str_eq(tree_text(config, "readOnly"), "true"));
	}
}

static void a_file_of_a_flag_gets_a_mount_where_it_has_none(void **state)
{
	static const struct {
		const char *keys, *volume, *mount; /* NULL: there is one that will do */
		const char *host;
	} rows[] = {
		/* of its own it has the folder */
		{ ", admissionControlConfigFile: /etc/admission/c.yaml",
		  "admission-control-config-file",
		  "{mountPath: /etc/admission, name: admission-control-config-file, readOnly: true}",
		  "{path: /etc/admission}" },
		/* not of what is the container's, nor of what others are mounted in */
		{ ", authenticationConfigFile: /etc/c.yaml", "authentication-config",
		  "{mountPath: /etc/c.yaml, name: authentication-config, readOnly: true}",
		  "{path: /etc/c.yaml, type: File}" },
		{ ", oidcCAFile: /usr/local/bin/ca.crt", "oidc-ca-file",
		  "{mountPath: /usr/local/bin/ca.crt, name: oidc-ca-file, readOnly: true}",
		  "{path: /usr/local/bin/ca.crt, type: File}" },
		{ ", auditWebhookConfigFile: /srv/kubernetes/w.yaml", "audit-webhook-config-file",
		  "{mountPath: /srv/kubernetes/w.yaml, name: audit-webhook-config-file, readOnly: true}",
		  "{path: /srv/kubernetes/w.yaml, type: File}" },
		{ ", auditPolicyFile: /p.yaml", "audit-policy-file",
		  "{mountPath: /p.yaml, name: audit-policy-file, readOnly: true}",
		  "{path: /p.yaml, type: File}" },
		{ ", admissionControlConfigFile: " API "c.yaml", "admission-control-config-file" },
		{ ", oidcCAFile: /etc/ssl/certs/ca.pem", "oidc-ca-file" },
		/* one folder has one mount, which is for both */
		{ ", auditPolicyFile: /var/log/audit/p.yaml, auditLogPath: /var/log/audit/a.log",
		  "auditlogpathdir", "{mountPath: /var/log/audit, name: auditlogpathdir}",
		  "{path: /var/log/audit}" },
		{ ", auditLogPath: /srv/sshproxy/a.log", "srvsshproxy",
		  "{mountPath: /srv/sshproxy, name: srvsshproxy}", "{path: /srv/sshproxy}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .api_server = rows[i].keys };
		const struct tree *pod =
			planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");

		if (!rows[i].mount) {
			assert_null(mount_of(pod, rows[i].volume));
			continue;
		}
		assert_says(a, mount_of(pod, rows[i].volume), rows[i].mount);
		assert_says(a, volume_of(pod, rows[i].volume), rows[i].host);
	}
}

/* Whether the container sees the file by one of its mounts; no two of them are at one place. */
static bool is_mounted(const struct tree *pod, const char *path)
{
	const struct tree *mounts = tree_get(container_of(pod, 0), "volumeMounts");
	bool found = false;

	for (size_t i = 0; i < mounts->n; i++) {
		const char *at = tree_text(mounts->items[i].value, "mountPath");

		found = found || str_is_within(path, at);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(at, tree_text(mounts->items[k].value, "mountPath"));
	}
	return found;
}

/* Each setting that names a file, at each kind of place. */
static void whatever_file_a_flag_names_is_mounted_once(void **state)
{
	static const char *const folders[] = {
		"",
		"/etc",
		"/etc/ssl",
		"/etc/ssl/more",
		"/opt/a/b",
		"/srv/kubernetes",
		"/srv/sshproxy",
		"/srv/kubernetes/kube-apiserver",
		"/usr/lib",
		"/var/log",
		"/var/lib/kube-scheduler",
	};
	static const struct {
		const struct schema *schema;
		const char *builder, *pod;
		size_t settings; /* of struct control_plane */
	} programs[] = {
		{ &kops_kube_apiserver_schema, "kube-apiserver", "kube-apiserver",
		  offsetof(struct control_plane, api_server) },
		{ &kops_kcm_schema, "control-plane", "kube-controller-manager",
		  offsetof(struct control_plane, kcm) },
		{ &kops_scheduler_schema, "control-plane", "kube-scheduler",
		  offsetof(struct control_plane, scheduler) },
	};
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		for (size_t k = 0; k < programs[i].schema->n * ARRAY_LEN(folders); k++) {
			const struct field *f = &programs[i].schema->fields[k / ARRAY_LEN(folders)];
			const char *folder = folders[k % ARRAY_LEN(folders)], *value;
			autoarena struct arena *a = arena_new_empty();
			struct control_plane c = { 0 };
			const struct tree *pod;

			/* a log has a folder */
			if (!f->file || (f->file == FIELD_LOG && !*folder))
				continue;
			value = arena_printf(a,
					     f->kind == FIELD_STRV ? ", %s: [%s/f]" : ", %s: %s/f",
					     f->key, folder);
			if (str_eq(f->key, "authorizationWebhookConfigFile"))
				value = arena_printf(a, "%s, authorizationMode: Webhook", value);
			memcpy((char *)&c + programs[i].settings, &value, sizeof(value));
			pod = planned_pod(control_plane_plan(a, &c, programs[i].builder),
					  programs[i].pod);
			value = flag_of(pod, f->flag);
			if (!value || !is_mounted(pod, value))
				fail_msg("%s: %s/f is not mounted", f->key, folder);
			seen++;
		}
	assert_in_range(seen, 300, 1000);
}

static void names_in_dns_are_those_that_lead_here(void **state)
{
	static const struct {
		const char *api, *all, *internal, *external;
	} rows[] = {
		{ "{dns: {}, publicName: p.example}", NULL, "api.internal.a.example", "p.example" },
		{ "{dns: {}}", NULL, "api.internal.a.example", NULL },
		{ "{publicName: p.example}", NULL, "api.internal.a.example", NULL },
		{ "{loadBalancer: {}, publicName: p.example}", NULL, "api.internal.a.example",
		  NULL },
		{ "{loadBalancer: {useForInternalAPI: true}, publicName: p.example}", NULL, NULL,
		  NULL },
		{ "{dns: {}, publicName: p.example}", ", usesNoneDNS: true", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct control_plane c = { .api_address = rows[i].api, .all = rows[i].all };
		const struct tree *pod =
			planned_pod(control_plane_plan(a, &c, "kube-apiserver"), "kube-apiserver");
		const struct tree *m = tree_get(tree_get(pod, "metadata"), "annotations");

		assert_string_equal(tree_text(m, "kubectl.kubernetes.io/default-container"),
				    "kube-apiserver");
		assert_true(
			str_eq(tree_text(m, "dns.alpha.kubernetes.io/internal"), rows[i].internal));
		assert_true(
			str_eq(tree_text(m, "dns.alpha.kubernetes.io/external"), rows[i].external));
	}
}

static void variables_may_be_passwords(void **state)
{
	static const char manifest[] = "/etc/kubernetes/manifests/kube-apiserver.manifest";
	static const char env[] =
		", env: [{name: GOGC, value: '50'}, {name: LIMIT, valueFrom: {resourceFieldRef: "
		"{divisor: '1', resource: limits.memory}}}]";
	static const char proxy[] = ", egressProxy: {httpProxy: {host: 'u:pw@p', port: "
				    "3128}, excludes: 'a,b'}";
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .api_server = env, .networking = proxy },
			     own = { .api_server = env };
	const struct plan *p = control_plane_plan(a, &c, "kube-apiserver");
	const struct task_file *f = planned_file(p, manifest);
	const struct task_file *own_file =
		planned_file(control_plane_plan(a, &own, "kube-apiserver"), manifest);

	(void)state;
	assert_true(f->secret);
	assert_int_equal(f->attr.mode, 0600);
	assert_true(own_file->secret);
	assert_int_equal(own_file->attr.mode, 0600);
	assert_says(a, tree_get(container_of(planned_pod(p, "kube-apiserver"), 0), "env"),
		    "[{name: GOGC, value: '50'}, {name: LIMIT, valueFrom: {resourceFieldRef: "
		    "{divisor: '1', resource: limits.memory}}}, {name: http_proxy, value: "
		    "'http://u:pw@p:3128'}, {name: https_proxy, value: 'http://u:pw@p:3128'}, "
		    "{name: NO_PROXY, value: 'a,b'}, {name: no_proxy, value: 'a,b'}]");
}

static void a_variable_has_a_name(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c = { .api_server = ", env: [{name: A, value: x}, {value: pw}]" };

	(void)state;
	assert_null(control_plane_try(a, &c, "kube-apiserver"));
	assert_non_null(strstr(c.w.e.msg, ": KubeAPIServer.env[1]: no name"));
	assert_null(strstr(c.w.e.msg, "pw"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_holds),
		cmocka_unit_test(a_key_goes_with_its_certificate),
		cmocka_unit_test(what_a_feature_needs_is_set_with_it),
		cmocka_unit_test(the_node_adds_a_key_that_service_accounts_are_known_by),
		cmocka_unit_test(an_api_server_as_of_kops),
		cmocka_unit_test(probes_go_where_an_answer_comes_from),
		cmocka_unit_test(the_healthcheck_runs_in_the_pod_of_the_api_server),
		cmocka_unit_test(a_healthcheck_that_cannot_be_is_told),
		cmocka_unit_test(documents_alone_have_no_healthcheck_to_show),
		cmocka_unit_test(an_api_server_alone_reaches_etcd_by_names),
		cmocka_unit_test(admission_control_has_a_newer_flag),
		cmocka_unit_test(users_of_openid_connect_are_known_by_flags),
		cmocka_unit_test(folders_of_audit_are_mounted),
		cmocka_unit_test(a_file_of_a_flag_gets_a_mount_where_it_has_none),
		cmocka_unit_test(whatever_file_a_flag_names_is_mounted_once),
		cmocka_unit_test(names_in_dns_are_those_that_lead_here),
		cmocka_unit_test(variables_may_be_passwords),
		cmocka_unit_test(a_variable_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
