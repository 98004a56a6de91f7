#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/accepts.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/accepts_apiserver.h"
#include "nodeup/config/kops/kops.h"
#include "nodeup/config/kubeup/kubeup.h"
#include "nodeup/config/kops18/model.h"
#include "tests/unit/lib/ends.h"

enum { TODAY = 36 };

/* A value as a document has it: taken, told as a name that a build may have, or refused. */
struct sample {
	const char *text;
	char told; /* '-', 'n' or 'e' */
	int minor; /* 0: today's */
};

static void check(const struct schema *s, const struct sample *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		autoarena struct arena *a = arena_new_empty();
		const struct accepts_opts o = { .minor = all[i].minor ? all[i].minor : TODAY };
		struct accepts_findings found = { 0 };
		struct tree *t = NULL;
		struct err e;
		char told;

		assert_int_equal(yaml_parse(a, "f", all[i].text, strlen(all[i].text), &t, &e), 0);
		accepts_check(a, s, t, &o, &found);
		told = t->items[0].value->is_wrong ? 'e' /* its reader refuses it */
		       : !found.n                  ? '-'
		       : found.v[0].names          ? 'n'
						   : 'e';
		if (told != all[i].told || found.n > 1)
			fail_msg("%s, 1.%d: %zu told, %s", all[i].text, o.minor, found.n,
				 found.n ? found.v[0].text : "");
	}
}

/* Rows that test_accepts_kubelet.c has, as their demands are of several programs. */
static const char *const elsewhere[] = { "NODE_LABELS", "EVICTION_HARD", "KUBELET_PORT", NULL };

static void check_ends(const struct schema *s, const struct sample *all, size_t n,
		       const char *const *others)
{
	autoarena struct arena *a = arena_new_empty();
	struct ends_sample *samples = arena_alloc(a, n * sizeof(*samples));

	for (size_t i = 0; i < n; i++) {
		const size_t key = strcspn(all[i].text, ":");

		samples[i] = (struct ends_sample){
			.key = arena_strn(a, all[i].text, key),
			.value = all[i].text + key + strspn(all[i].text + key, ": "),
			.minor = all[i].minor ? all[i].minor : TODAY,
			.taken = all[i].told == '-',
		};
	}
	ends_are_tried(s, samples, n, others);
}

/* Each row with a demand has a value that is taken and one that is not; others: rows that another test has. */
static void check_all(const struct schema *s, const struct sample *all, size_t n,
		      const char *const *others)
{
	check(s, all, n);
	check_ends(s, all, n, others);
	for (size_t f = 0; f < s->n; f++) {
		const char *key = s->fields[f].key;
		size_t taken = 0, told = 0;

		for (size_t i = 0; i < n; i++)
			if (str_has_prefix(all[i].text, key) && all[i].text[strlen(key)] == ':')
				(*(all[i].told == '-' ? &taken : &told))++;
		if (s->fields[f].accepts && (!taken || !told) && !str_is_one_of(key, others))
			fail_msg("%s.%s: %zu taken, %zu told", s->name, key, taken, told);
	}
}

/* clang-format off */
static void the_api_server(void **state)
{
	static const struct sample all[] = {
		{ "logFormat: text", '-' }, { "logFormat: json", '-' }, { "logFormat: xml", 'e' }, { "logFormat: JSON", 'e' },
		{ "logLevel: 0", '-' }, { "logLevel: 2147483647", '-' }, { "logLevel: 2147483648", 'e' }, { "logLevel: -1", 'e' },
		{ "securePort: 1", '-' }, { "securePort: 65535", '-' }, { "securePort: 0", 'e' }, { "securePort: 65536", 'e' },
		{ "securePort: 70000", 'e' },
		{ "securePort: 0", '-', 10 }, { "securePort: 65535", '-', 10 }, { "securePort: -1", 'e', 10 }, { "securePort: 65536", 'e', 10 },
		{ "bindAddress: 0.0.0.0", '-' }, { "bindAddress: '::'", '-' }, { "bindAddress: 255.255.255.255", '-' },
		{ "bindAddress: 010.0.0.1", '-' }, { "bindAddress: ' 10.0.0.1 '", '-' }, { "bindAddress: '::ffff:10.0.0.1'", '-' },
		{ "bindAddress: 255.255.255.256", 'e' }, { "bindAddress: 10.0.0", 'e' }, { "bindAddress: localhost", 'e' },
		{ "bindAddress: 10.0.0.1:443", 'e' }, { "bindAddress: 'fe80::1%eth0'", 'e' },
		{ "advertiseAddress: 10.0.0.1", '-' }, { "advertiseAddress: api.example.com", 'e' },
		{ "enableAdmissionPlugins: [NodeRestriction, PodSecurity]", '-' }, { "enableAdmissionPlugins: [NodeRestrictions]", 'n' },
		{ "disableAdmissionPlugins: [PodSecurity]", '-' }, { "disableAdmissionPlugins: [PodSecurityPolicy]", 'n' },
		{ "admissionControl: ['NodeRestriction,PodSecurity']", '-' }, { "admissionControl: [Mine]", 'n' },
		{ "serviceClusterIPRange: 100.64.0.0/13", '-' }, { "serviceClusterIPRange: 10.0.0.0/29", '-' },
		{ "serviceClusterIPRange: 10.0.0.0/30", 'e' }, { "serviceClusterIPRange: fd00::/108", '-' },
		{ "serviceClusterIPRange: fd00::/126", 'e' }, { "serviceClusterIPRange: 10.0.0.0/8", '-', 34 }, { "serviceClusterIPRange: 10.0.0.0/8", '-', 27 }, { "serviceClusterIPRange: 10.0.0.0/8", 'e', 26 },
		{ "serviceClusterIPRange: '10.0.0.0/16,fd00::/108'", '-' }, { "serviceClusterIPRange: '10.0.0.0/16,fd00::/128'", '-' },
		{ "serviceClusterIPRange: '10.0.0.0/16,10.1.0.0/16'", 'e' },
		{ "serviceClusterIPRange: '10.0.0.0/16,fd00::/108,10.1.0.0/16'", 'e' },
		{ "etcdServers: [https://127.0.0.1:4001]", '-' }, { "etcdServers: ['127.0.0.1:4001']", '-' },
		{ "etcdServers: ['unix:///run/etcd']", '-' }, { "etcdServers: ['htps://127.0.0.1:4001']", 'e' },
		{ "etcdServersOverrides: ['/events#https://127.0.0.1:4002;https://b:1']", '-' },
		{ "etcdServersOverrides: ['coordination.k8s.io/leases#https://127.0.0.1:4003']", '-' },
		{ "etcdServersOverrides: ['events#https://127.0.0.1:4002']", 'e' }, { "etcdServersOverrides: ['/events']", 'e' },
		{ "etcdServersOverrides: ['/a/b#https://127.0.0.1:4002']", 'e' }, { "etcdServersOverrides: ['/a#b#c']", 'e' },
		{ "tlsCipherSuites: [TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_128_CBC_SHA]", '-' }, { "tlsCipherSuites: [NOPE]", 'n' },
		{ "tlsMinVersion: VersionTLS10", '-' }, { "tlsMinVersion: VersionTLS13", '-' }, { "tlsMinVersion: VersionTLS14", 'e' },
		{ "tlsMinVersion: TLS1.2", 'e' },
		{ "apiServerCount: 1", '-' }, { "apiServerCount: 0", 'e' }, { "apiServerCount: 2147483647", '-' }, { "apiServerCount: 2147483648", 'e' },
		{ "storageBackend: etcd3", '-' }, { "storageBackend: ''", '-' }, { "storageBackend: etcd2", 'e' },
		{ "authorizationMode: AlwaysAllow,AlwaysDeny,ABAC,Webhook,RBAC,Node", '-' }, { "authorizationMode: abac", 'e' },
		{ "authorizationMode: rbac", 'e' }, { "authorizationMode: 'Node, RBAC'", 'e' },
		{ "requestheaderUsernameHeaders: [X-Remote-User]", '-' }, { "requestheaderUsernameHeaders: [' ']", 'e' },
		{ "requestheaderGroupHeaders: [a]", '-' }, { "requestheaderGroupHeaders: ['  ']", 'e' },
		{ "requestheaderExtraHeaderPrefixes: [a]", '-' }, { "requestheaderExtraHeaderPrefixes: [' ']", 'e' },
		{ "requestheaderAllowedNames: [aggregator]", '-' }, { "requestheaderAllowedNames: [' ']", 'e' },
		{ "featureGates: {AllAlpha: 'false'}", '-' }, { "featureGates: {AllAlfa: 'false'}", 'n' },
		{ "goawayChance: '0'", '-' }, { "goawayChance: 0.02", '-' }, { "goawayChance: 1e-3", '-' }, { "goawayChance: 0.021", 'e' },
		{ "goawayChance: -0.001", 'e' }, { "goawayChance: 1%", 'e' },
		{ "maxRequestsInflight: 0", '-' }, { "maxRequestsInflight: -1", 'e' },
		{ "maxRequestsInflight: 2147483647", '-' }, { "maxRequestsInflight: 2147483648", 'e' },
		{ "maxMutatingRequestsInflight: 0", '-' }, { "maxMutatingRequestsInflight: -1", 'e' },
		{ "maxMutatingRequestsInflight: 2147483647", '-' }, { "maxMutatingRequestsInflight: 2147483648", 'e' },
		{ "requestTimeout: 0s", '-' }, { "requestTimeout: -1ns", 'e' },
		{ "minRequestTimeout: 0", '-' }, { "minRequestTimeout: -1", 'e' }, { "minRequestTimeout: 2147483647", '-' }, { "minRequestTimeout: 2147483648", 'e' },
		{ "storageInitializationTimeout: 0s", '-' }, { "storageInitializationTimeout: -1ns", 'e' },
		{ "serviceAccountIssuer: https://api.internal.minimal.example.com", '-' }, { "serviceAccountIssuer: kubernetes/serviceaccount", '-' },
		{ "serviceAccountIssuer: 'https://a:x'", 'e' }, { "serviceAccountIssuer: ':a'", 'e' }, { "serviceAccountIssuer: '1a:b'", 'e' },
		{ "serviceAccountIssuer: 'https://[fd00::1]:443/a'", '-' }, { "serviceAccountIssuer: 'https://a b:1'", 'e' },
		{ "additionalServiceAccountIssuers: [a]", '-' }, { "additionalServiceAccountIssuers: ['1:']", 'e' },
		{ "serviceAccountJWKSURI: https://a/openid/v1/jwks", '-' }, { "serviceAccountJWKSURI: http://a/openid/v1/jwks", 'e' },
		{ "runtimeConfig: {api/all: 'true', v1: 'true', batch/v2alpha1: 'false', a/v1/b: ''}", '-' },
		{ "runtimeConfig: {batch: 'true'}", 'e' }, { "runtimeConfig: {a/b/c/d: 'true'}", 'e' }, { "runtimeConfig: {api/beta: on}", '-' },
		{ "runtimeConfig: {api/beta: 'enabled'}", 'e' },
		{ "corsAllowedOrigins: ['^https://a$', '//a(:|$)']", '-' }, { "corsAllowedOrigins: [a.example.com]", 'e' },
		{ "corsAllowedOrigins: ['^a']", 'e' },
		{ "strictTransportSecurityDirectives: [max-age=1, includeSubDomains, preload]", '-' },
		{ "watchCacheSizes: ['pods#100', 'a.b#0']", '-' }, { "watchCacheSizes: ['pods#-1']", 'e' }, { "watchCacheSizes: [pods]", 'e' },
		{ "strictTransportSecurityDirectives: [maxage=1]", 'e' }, { "strictTransportSecurityDirectives: [max-age=1=2]", 'e' },
	};

	(void)state;
	check_all(&kops_kube_apiserver_schema, all, ARRAY_LEN(all), elsewhere);
}

static void the_api_server_of_kops_18(void **state)
{
	static const struct sample all[] = {
		{ "securePort: 0", '-', 8 }, { "securePort: 65535", '-', 8 }, { "securePort: 65536", 'e', 8 }, { "securePort: -1", 'e', 8 },
		{ "insecurePort: 0", '-', 8 }, { "insecurePort: 65535", '-', 8 }, { "insecurePort: 65536", 'e', 8 }, { "insecurePort: -1", 'e', 8 },
		{ "securePort: 1", '-', 20 }, { "securePort: 65535", '-', 20 }, { "securePort: 0", 'e', 20 }, { "securePort: 65536", 'e', 20 },
		{ "apiServerCount: 1", '-', 8 }, { "apiServerCount: 0", 'e', 8 }, { "apiServerCount: 2147483647", '-', 8 }, { "apiServerCount: 2147483648", 'e', 8 },
		{ "auditLogMaxAge: 0", '-', 8 }, { "auditLogMaxAge: -1", 'e', 9 }, { "auditLogMaxAge: -1", '-', 10 },
		{ "auditLogMaxAge: 2147483647", '-', 8 }, { "auditLogMaxAge: 2147483648", 'e', 8 },
		{ "auditLogMaxBackups: 0", '-', 8 }, { "auditLogMaxBackups: -1", 'e', 8 }, { "auditLogMaxBackups: 2147483647", '-', 8 }, { "auditLogMaxBackups: 2147483648", 'e', 8 },
		{ "auditLogMaxSize: 0", '-', 8 }, { "auditLogMaxSize: -1", 'e', 8 }, { "auditLogMaxSize: 2147483647", '-', 8 }, { "auditLogMaxSize: 2147483648", 'e', 8 },
		{ "authorizationMode: RBAC", '-', 6 }, { "authorizationMode: abac", 'e', 6 }, { "authorizationMode: 'Node,RBAC'", '-', 7 },
		{ "authorizationMode: 'Node,RBAC'", 'e', 6 }, { "authorizationMode: 'Node,RBAC'", '-', 10 }, { "authorizationMode: 'Node,rbac'", 'e', 7 },
		{ "admissionControl: [NamespaceLifecycle, Initializers]", '-', 8 }, { "admissionControl: [PodSecurity]", 'n', 8 },
		{ "serviceClusterIPRange: 100.64.0.0/12", '-', 8 }, { "serviceClusterIPRange: 100.64.0.0/11", 'e', 8 },
		{ "serviceClusterIPRange: 10.0.0.0/29", '-', 8 }, { "serviceClusterIPRange: 10.0.0.0/30", 'e', 8 },
		{ "etcdServers: [http://127.0.0.1:4001]", '-', 8 }, { "etcdServers: ['ftp://127.0.0.1']", 'e', 8 },
		{ "runtimeConfig: {batch: 'true', batch/v2alpha1: 'true'}", '-', 8 }, { "runtimeConfig: {batch/v2alpha1: 'yes'}", 'e', 8 },
		{ "oidcIssuerURL: https://a?b", '-', 8 }, { "oidcIssuerURL: HTTPS://a", '-', 8 }, { "oidcIssuerURL: http://a", 'e', 8 },
		{ "oidcIssuerURL: a", 'e', 8 },
	};

	(void)state;
	check_all(&kube_apiserver_schema, all, ARRAY_LEN(all), elsewhere);
}

static void openid_connect(void **state)
{
	static const struct sample all[] = {
		{ "issuerURL: https://accounts.google.com", '-' }, { "issuerURL: https://a:8443/b@c", '-' },
		{ "issuerURL: http://a", 'e' }, { "issuerURL: https://u@a", 'e' }, { "issuerURL: https://a?b", 'e' },
		{ "issuerURL: 'https://a#b'", 'e' },
	};

	(void)state;
	check_all(&kops_oidc_schema, all, ARRAY_LEN(all), elsewhere);
}

static void the_controller_manager(void **state)
{
	static const struct sample all[] = {
		{ "logFormat: json", '-' }, { "logFormat: yaml", 'e' }, { "logLevel: 0", '-' }, { "logLevel: 2147483647", '-' }, { "logLevel: 2147483648", 'e' }, { "logLevel: -1", 'e' },
		{ "controllers: ['*', -nodeipam, job-controller, tokencleaner]", '-' }, { "controllers: ['*', -nodeipm]", 'n' },
		{ "attachDetachReconcileSyncPeriod: 1s", '-' }, { "attachDetachReconcileSyncPeriod: 999999999ns", 'e' },
		{ "featureGates: {WatchList: 'true'}", '-' }, { "featureGates: {Watchlist: 'true'}", 'n' },
		{ "tlsCipherSuites: [TLS_AES_128_GCM_SHA256]", '-' }, { "tlsCipherSuites: [RC4]", 'n' },
		{ "tlsMinVersion: VersionTLS12", '-' }, { "tlsMinVersion: '1.2'", 'e' },
		{ "minResyncPeriod: 12h", '-' }, { "minResyncPeriod: 12", 'e' },
		{ "concurrentHorizontalPodAustoscalerSyncs: 1", '-' }, { "concurrentHorizontalPodAustoscalerSyncs: 0", 'e' },
		{ "concurrentHorizontalPodAustoscalerSyncs: 2147483647", '-' }, { "concurrentHorizontalPodAustoscalerSyncs: 2147483648", 'e' },
		{ "concurrentJobSyncs: 1", '-' }, { "concurrentJobSyncs: 0", 'e' },
		{ "concurrentJobSyncs: 2147483647", '-' }, { "concurrentJobSyncs: 2147483648", 'e' },
		{ "concurrentDeploymentSyncs: 0", '-' }, { "terminatedPodGCThreshold: -1", '-' },
		{ "authorizationAlwaysAllowPaths: [/healthz, '/a*', '*']", '-' }, { "authorizationAlwaysAllowPaths: ['/*/a']", 'e' },
	};

	(void)state;
	check_all(&kops_kcm_schema, all, ARRAY_LEN(all), elsewhere);
}

static void the_controller_manager_of_kops_18(void **state)
{
	static const struct sample all[] = {
		{ "attachDetachReconcileSyncPeriod: 1s", '-', 6 }, { "attachDetachReconcileSyncPeriod: 999999999ns", 'e', 6 },
	};

	(void)state;
	check_all(&kube_controller_manager_schema, all, ARRAY_LEN(all), elsewhere);
}

static void the_scheduler(void **state)
{
	static const struct sample all[] = {
		{ "logFormat: json", '-' }, { "logFormat: yaml", 'e' }, { "logLevel: 0", '-' }, { "logLevel: 2147483647", '-' }, { "logLevel: 2147483648", 'e' }, { "logLevel: -1", 'e' },
		{ "featureGates: {WatchList: 'true'}", '-' }, { "featureGates: {Watchlist: 'true'}", 'n' },
		{ "burst: 0", '-' }, { "burst: -1", 'e' }, { "burst: 2147483647", '-' }, { "burst: 2147483648", 'e' },
		{ "authorizationAlwaysAllowPaths: [/healthz]", '-' }, { "authorizationAlwaysAllowPaths: ['/**']", 'e' },
	};

	(void)state;
	check_all(&kops_scheduler_schema, all, ARRAY_LEN(all), elsewhere);
}

static void containerd_and_docker(void **state)
{
	static const struct sample containerd[] = {
		{ "logLevel: panic", '-' }, { "logLevel: Trace", '-' }, { "logLevel: warning", '-' }, { "logLevel: notice", 'e' },
	};
	static const struct sample docker[] = {
		{ "defaultUlimit: ['nofile=1024', 'nofile=1024:1024', 'memlock=-1:-1']", '-', 8 }, { "defaultUlimit: ['nofile=1025:1024']", 'e', 8 },
		{ "defaultUlimit: ['files=1']", 'e', 8 }, { "defaultUlimit: ['nofile=a']", 'e', 8 }, { "defaultUlimit: ['nofile=1:']", 'e', 8 },
		{ "defaultUlimit: [nofile]", 'e', 8 }, { "defaultUlimit: ['nofile=1:2:3']", 'e', 8 },
		{ "mtu: 0", '-', 8 }, { "mtu: 65535", '-', 8 }, { "mtu: -1", 'e', 8 }, { "mtu: 65536", 'e', 8 },
		{ "registryMirrors: [https://a, 'http://a:5000/']", '-', 8 }, { "registryMirrors: [a]", 'e', 8 },
		{ "registryMirrors: ['ftp://a']", 'e', 8 }, { "registryMirrors: [https://a/v2]", 'e', 8 }, { "registryMirrors: ['https://']", 'e', 8 },
		{ "logDriver: json-file", '-', 8 }, { "logDriver: jsonfile", 'n', 8 },
	};

	(void)state;
	check_all(&kops_containerd_schema, containerd, ARRAY_LEN(containerd), elsewhere);
	check_all(&docker_schema, docker, ARRAY_LEN(docker), elsewhere);
}

static void texts_of_kube_up(void **state)
{
	static const struct sample all[] = {
		{ "ADMISSION_CONTROL: NamespaceLifecycle,LimitRanger,ServiceAccount,PersistentVolumeLabel,ResourceQuota", '-', 4 },
		{ "ADMISSION_CONTROL: NamespaceLifecycle,LimitRangr", 'n', 4 },
		{ "FEATURE_GATES: 'AllAlpha=true,AppArmor= false'", '-', 4 }, { "FEATURE_GATES: AllAlpha", 'e', 4 },
		{ "FEATURE_GATES: AllAlpha=yes", 'e', 4 }, { "FEATURE_GATES: =true", 'n', 4 },
	};

	(void)state;
	check_all(&kubeup_env_schema, all, ARRAY_LEN(all), elsewhere);
}
/* What rules tell of a sample. */
static struct accepts_findings told_of(struct arena *a, const struct field_rules *rules,
				       const struct sample *s)
{
	struct rule_section section = { .path = "P" };
	struct rule_values v = { &section, 1, s->minor ? s->minor : TODAY };
	struct accepts_findings found = { 0 };
	struct tree *t = NULL;
	struct err e;

	assert_int_equal(yaml_parse(a, "f", s->text, strlen(s->text), &t, &e), 0);
	section.map = t;
	rules_find(a, rules, &v, &found);
	return found;
}

/* Each sample breaks one rule or none, and each rule is broken by one. */
static void tell(const struct field_rules *rules, const struct sample *all, size_t n)
{
	autoarena struct arena *a = arena_new_empty();

	for (size_t i = 0; i < n; i++) {
		const struct accepts_findings found = told_of(a, rules, &all[i]);

		if (found.n != (all[i].told == 'e'))
			fail_msg("%s, 1.%d: %zu told, %s", all[i].text, all[i].minor, found.n,
				 found.n ? found.v[0].text : "");
	}
	for (size_t r = 0; r < rules->n; r++) {
		const struct field_rules one = { &rules->v[r], 1, rules->sections };
		size_t i = 0;

		while (i < n && !told_of(a, &one, &all[i]).n)
			i++;
		if (i == n)
			fail_msg("%s: %s", rules->v[r].keys, rules->v[r].when);
	}
}

static void rules_of_the_api_server(void **state)
{
	static const struct sample all[] = {
		{ "authorizationMode: 'Node,RBAC'", '-' }, { "authorizationMode: RBAC", 'e' }, { "authorizationMode: RBAC", '-', 8 },
		{ "authorizationMode: AlwaysAllow", '-' }, { "authorizationMode: AlwaysDeny", 'e' }, { "authorizationMode: ''", '-' },
		{ "authorizationMode: 'RBAC,AlwaysAllow'", '-' }, { "authorizationMode: 'Node,ABAC'", 'e' }, { "authorizationMode: ABAC", 'e', 8 },
		{ "authorizationMode: 'RBAC,Node,RBAC'", 'e' },
		{ "{authorizationMode: 'Node,Webhook', authorizationWebhookConfigFile: /a}", '-' }, { "authorizationMode: 'Node,Webhook'", 'e' },
		{ "{authorizationMode: 'Node,Webhook', authorizationWebhookConfigFile: ''}", 'e' },
		{ "{authorizationMode: 'Node,RBAC', authorizationWebhookConfigFile: /a}", 'e' }, { "authorizationWebhookConfigFile: /a", 'e' },
		{ "{enableAdmissionPlugins: [A, B], disableAdmissionPlugins: [C]}", '-' },
		{ "{enableAdmissionPlugins: [A, B], disableAdmissionPlugins: ['C,B']}", 'e' },
		{ "{admissionControl: [A], enableAdmissionPlugins: [B], disableAdmissionPlugins: [B]}", '-' },
		{ "{admissionControl: [A], enableAdmissionPlugins: [B], disableAdmissionPlugins: [A]}", 'e' },
		{ "{auditLogPath: '-', auditLogFormat: json, auditLogMaxAge: 0, auditLogMaxBackups: 0, auditLogMaxSize: 0}", '-' },
		{ "{auditLogPath: '-', auditLogFormat: xml}", 'e' }, { "auditLogFormat: xml", '-' }, { "{auditLogPath: '-', auditLogFormat: ''}", '-' },
		{ "{auditLogPath: /a, auditLogMaxAge: -1}", 'e' }, { "auditLogMaxAge: -1", '-' },
		{ "{auditLogPath: /a, auditLogMaxBackups: -1}", 'e' }, { "{auditLogPath: /a, auditLogMaxSize: -1}", 'e' },
		{ "{auditWebhookConfigFile: /a, auditWebhookMode: blocking-strict}", '-' }, { "{auditWebhookConfigFile: /a, auditWebhookMode: async}", 'e' },
		{ "auditWebhookMode: async", '-' },
		{ "{auditWebhookConfigFile: /a, auditWebhookBatchBufferSize: 1, auditWebhookBatchMaxSize: 1}", '-' },
		{ "{auditWebhookConfigFile: /a, auditWebhookBatchBufferSize: 0}", 'e' }, { "{auditWebhookConfigFile: /a, auditWebhookBatchMaxSize: 0}", 'e' },
		{ "{auditWebhookConfigFile: /a, auditWebhookMode: blocking, auditWebhookBatchMaxSize: 0}", '-' },
		{ "auditWebhookBatchBufferSize: 0", '-' },
		{ "{auditWebhookConfigFile: /a, auditWebhookBatchThrottleQps: 10m, auditWebhookBatchThrottleBurst: 1}", '-' },
		{ "{auditWebhookConfigFile: /a, auditWebhookBatchThrottleQps: 0}", 'e' }, { "{auditWebhookConfigFile: /a, auditWebhookBatchThrottleBurst: 0}", 'e' },
		{ "{auditWebhookConfigFile: /a, auditWebhookBatchThrottleQps: '0', auditWebhookBatchThrottleEnable: false}", '-' },
		{ "{oidcIssuerURL: https://a, oidcClientID: b}", '-', 8 }, { "oidcIssuerURL: https://a", 'e', 8 }, { "oidcClientID: b", 'e', 8 },
		{ "oidcUsernameClaim: b", '-', 8 },
		{ "runtimeConfig: {api/alpha: 'false'}", '-' }, { "runtimeConfig: {flowcontrol.apiserver.k8s.io/v1: 'false'}", 'e' },
		{ "runtimeConfig: {api/ga: 'false'}", 'e' }, { "runtimeConfig: {api/ga: false, flowcontrol.apiserver.k8s.io/v1: true}", '-' },
		{ "runtimeConfig: {api/all: 'false'}", 'e' }, { "runtimeConfig: {api/all: 'false', api/ga: 'true'}", '-' },
		{ "runtimeConfig: {api/all: 'true'}", '-' },
		{ "serviceClusterIPRange: 10.0.0.0/12", '-', 33 }, { "serviceClusterIPRange: 10.0.0.0/11", 'e', 33 }, { "serviceClusterIPRange: 10.0.0.0/11", '-', 34 },
		{ "serviceClusterIPRange: 'fd00::/108,10.0.0.0/11'", 'e', 31 },
		{ "{serviceClusterIPRange: 10.0.0.0/11, featureGates: {DisableAllocatorDualWrite: 'true'}}", '-', 33 },
		{ "{serviceClusterIPRange: 10.0.0.0/12, advertiseAddress: 10.0.0.1}", '-' }, { "{serviceClusterIPRange: 10.0.0.0/12, advertiseAddress: 'fd00::1'}", 'e' },
		{ "{serviceClusterIPRange: 'fd00::/108,10.0.0.0/12', advertiseAddress: '10.0.0.1'}", 'e' },
		{ "{serviceClusterIPRange: 'fd00::/108', advertiseAddress: 0.0.0.0}", '-' }, { "advertiseAddress: 'fd00::1'", '-' },
		{ "etcdServers: [a]", '-' }, { "etcdServers: []", 'e' }, { "etcdServers: ['']", 'e' },
		{ "{serviceAccountIssuer: a, additionalServiceAccountIssuers: [b]}", '-' }, { "{serviceAccountIssuer: a, additionalServiceAccountIssuers: [b, a]}", 'e' },
		{ "{cpuRequest: 150m, cpuLimit: 150m}", '-' }, { "{cpuRequest: 1, cpuLimit: 999m}", 'e' }, { "cpuLimit: 0.15", '-' }, { "cpuLimit: 149m", 'e' },
		{ "{memoryRequest: 1Gi, memoryLimit: 1024Mi}", '-' }, { "{memoryRequest: 1Gi, memoryLimit: 1G}", 'e' }, { "memoryLimit: 1", '-' },
	};
	static const struct sample oidc[] = {
		{ "{issuerURL: https://a, clientID: b, usernameClaim: c}", '-' }, { "issuerURL: https://a", 'e' }, { "clientID: a", 'e' },
		{ "{issuerURL: https://a, clientID: ''}", 'e' }, { "{issuerURL: '', clientID: ''}", '-' },
		{ "{issuerURL: https://a, clientID: b, authenticationConfigFile: /c}", 'e' }, { "authenticationConfigFile: /c", '-' },
	};

	(void)state;
	tell(&rules_apiserver, all, ARRAY_LEN(all));
	tell(&rules_oidc, oidc, ARRAY_LEN(oidc));
}

static void rules_of_the_controller_manager(void **state)
{
	static const struct sample all[] = {
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/11}", '-' }, { "allocateNodeCIDRs: true", 'e' }, { "allocateNodeCIDRs: false", '-' },
		{ "allocateNodeCIDRs: true", '-', 8 }, { "{allocateNodeCIDRs: true, cidrAllocatorType: CloudAllocator}", '-' },
		{ "{allocateNodeCIDRs: true, controllers: ['*', -nodeipam]}", '-' }, { "{allocateNodeCIDRs: true, controllers: [job]}", '-' },
		{ "{allocateNodeCIDRs: true, controllers: ['*', -job]}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: '10.0.0.0/11,fd00::/48'}", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: '10.0.0.0/11,11.0.0.0/11'}", 'e' },
		{ "clusterCIDR: '10.0.0.0/11,11.0.0.0/11'", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: '10.0.0.0/11,fd00::/48', nodeCIDRMaskSize: 64}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/24}", '-' }, { "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/24}", '-', 8 }, { "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25}", 'e', 8 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25, nodeCIDRMaskSize: 25}", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25, nodeCIDRMaskSize: 24}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/8, nodeCIDRMaskSize: 32}", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/8, nodeCIDRMaskSize: 33}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/56', nodeCIDRMaskSize: 72}", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/56', nodeCIDRMaskSize: 73}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/113', nodeCIDRMaskSize: 128}", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/113', nodeCIDRMaskSize: 129}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/48'}", '-' }, { "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/47'}", 'e' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25}", 'e', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25}", 'e', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25, nodeCIDRMaskSize: 24}", 'e', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/25, nodeCIDRMaskSize: 24}", 'e', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/56', nodeCIDRMaskSize: 73}", 'e', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/56', nodeCIDRMaskSize: 73}", 'e', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/8, nodeCIDRMaskSize: 33}", 'e', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/8, nodeCIDRMaskSize: 33}", 'e', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/113', nodeCIDRMaskSize: 129}", 'e', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/113', nodeCIDRMaskSize: 129}", 'e', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/24}", '-', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/24}", '-', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/48'}", '-', 24 }, { "{allocateNodeCIDRs: true, clusterCIDR: 'fd00::/48'}", '-', 30 },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/8, cidrAllocatorType: RangeAllocator}", '-' },
		{ "{allocateNodeCIDRs: true, clusterCIDR: 10.0.0.0/8, cidrAllocatorType: rangeAllocator}", 'e' }, { "cidrAllocatorType: none", '-' },
		{ "kubeAPIBurst: 1", '-' }, { "kubeAPIBurst: 0", 'e' }, { "{kubeAPIBurst: 0, kubeAPIQPS: 0}", '-' }, { "cpuLimit: 99m", 'e' }, { "cpuLimit: 100m", '-' },
		{ "{memoryRequest: 1Gi, memoryLimit: 1024Mi}", '-' }, { "{memoryRequest: 1Gi, memoryLimit: 1023Mi}", 'e' },
	};
	static const struct sample leader[] = {
		{ "leaderElectLeaseDuration: 10001ms", '-' }, { "leaderElectLeaseDuration: 10s", 'e' }, { "{leaderElect: false, leaderElectLeaseDuration: 10s}", '-' },
		{ "leaderElectRenewDeadlineDuration: 14999ms", '-' }, { "leaderElectRenewDeadlineDuration: 15s", 'e' },
		{ "leaderElectRenewDeadlineDuration: 2401ms", '-' }, { "leaderElectRenewDeadlineDuration: 2.4s", 'e' },
		{ "leaderElectRetryPeriod: 8333ms", '-' }, { "leaderElectRetryPeriod: 8334ms", 'e' },
		{ "leaderElectRetryPeriod: 1ns", '-' }, { "{leaderElectLeaseDuration: 2m, leaderElectRenewDeadlineDuration: 90s}", '-' }, { "leaderElectRetryPeriod: 0s", 'e' },
		{ "leaderElectResourceLock: leases", '-' }, { "leaderElectResourceLock: endpoints", 'e' }, { "leaderElectResourceLock: endpoints", '-', 20 }, { "leaderElectResourceLock: endpointsleases", '-', 26 },
	};

	(void)state;
	tell(&rules_kcm, all, ARRAY_LEN(all));
	tell(&rules_leader, leader, ARRAY_LEN(leader));
}

static void rules_of_the_others(void **state)
{
	static const struct sample pod[] = {
		{ "cpuLimit: 50m", '-' }, { "{cpuLimit: 50m, cpuRequest: 51m}", 'e' },
		{ "{memoryRequest: 1Gi, memoryLimit: 1Gi}", '-' }, { "{memoryRequest: 1025Mi, memoryLimit: 1Gi}", 'e' },
	};
	static const struct sample scheduler[] = {
		{ "cpuLimit: 100m", '-' }, { "cpuLimit: 99m", 'e' },
		{ "{memoryRequest: 1Gi, memoryLimit: 1Gi}", '-' }, { "{memoryRequest: 1025Mi, memoryLimit: 1Gi}", 'e' },
	};
	static const struct sample containerd[] = {
		{ "{root: /a, state: /b}", '-' }, { "{root: /a, state: /a}", 'e' }, { "root: /run/containerd", 'e' }, { "state: /var/lib/containerd", 'e' },
	};

	(void)state;
	tell(&rules_pod, pod, ARRAY_LEN(pod));
	tell(&rules_scheduler, scheduler, ARRAY_LEN(scheduler));
	tell(&rules_containerd, containerd, ARRAY_LEN(containerd));
}
/* clang-format on */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_api_server),
		cmocka_unit_test(the_api_server_of_kops_18),
		cmocka_unit_test(openid_connect),
		cmocka_unit_test(the_controller_manager),
		cmocka_unit_test(the_controller_manager_of_kops_18),
		cmocka_unit_test(the_scheduler),
		cmocka_unit_test(containerd_and_docker),
		cmocka_unit_test(texts_of_kube_up),
		cmocka_unit_test(rules_of_the_api_server),
		cmocka_unit_test(rules_of_the_controller_manager),
		cmocka_unit_test(rules_of_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
