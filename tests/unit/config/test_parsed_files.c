#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/config/parsed_files.h"

#define ENCRYPTION "encryption-provider-config"
#define AUDIT "audit-policy-file"
#define AUTHENTICATION "authentication-config"
#define AUTHORIZATION "authorization-config"
#define ADMISSION "admission-control-config-file"

#define HEAD "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\n"
#define OLD_HEAD "kind: EncryptionConfig\napiVersion: v1\n"
#define RESOURCES "resources:\n- resources: [secrets]\n  providers:\n"
#define KEYS(provider, secret) \
	"  - " provider ":\n      keys:\n      - name: key1\n        secret: " secret "\n"
#define KEY15 "MTIzNDU2Nzg5MDEyMzQ1"
#define KEY16 "MTIzNDU2Nzg5MDEyMzQ1Ng=="
#define KEY17 "MTIzNDU2Nzg5MDEyMzQ1Njc="
#define KEY24 "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0"
#define KEY31 "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMQ=="
#define KEY32 "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
#define KEY33 "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
#define POLICY "kind: Policy\napiVersion: audit.k8s.io/v1\n"
#define RULES "rules:\n- level: Metadata\n"
#define CONFIG(kind) "kind: " kind "\napiVersion: apiserver.config.k8s.io/v1\n"
#define ISSUER "jwt:\n- issuer:\n    url: https://a\n    audiences: [a]\n"
#define CLAIMS "  claimMappings:\n    username:\n      claim: sub\n      prefix: ''\n"
#define WEBHOOK                                                  \
	"authorizers:\n- name: a\n  type: Webhook\n  webhook:\n" \
	"    timeout: 3s\n    subjectAccessReviewVersion: v1\n    failurePolicy: Deny\n"

/* clang-format off */
static const struct sample {
	const char *flag;
	int minor;
	const char *text;
	const char *finding; /* what stands behind the place; NULL: it is taken */
} samples[] = {
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aescbc", KEY16), NULL },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aescbc", KEY24), NULL },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aesgcm", KEY32), NULL },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("secretbox", KEY32) "  - identity: {}\n", NULL },
	{ ENCRYPTION, 36, OLD_HEAD RESOURCES "  - identity: {}\n", NULL },
	{ ENCRYPTION, 36, "---\n" HEAD RESOURCES "  - identity: {}\n---\nb: c\n", NULL },
	{ ENCRYPTION, 8, OLD_HEAD RESOURCES KEYS("aescbc", KEY32), NULL },
	{ ENCRYPTION, 7, "kind: EncryptionConfig\nresources: []\n", NULL },
	{ ENCRYPTION, 6, "garbage", NULL },
	{ ENCRYPTION, 36,
	  "{\n\t\"kind\": \"EncryptionConfiguration\", \"apiVersion\": \"apiserver.config.k8s.io/v1\",\n"
	  "\t\"resources\": [{\"resources\": [\"secrets\"], \"providers\": [{\"identity\": {}}]}]}",
	  NULL },
	{ "experimental-" ENCRYPTION, 8, HEAD RESOURCES "  - identity: {}\n",
	  "1:7: kind: expected EncryptionConfig, found a text" },
	{ ENCRYPTION, 36, "garbage: [", "2:1: expected YAML, found what cannot be read" },
	{ ENCRYPTION, 36, "- a\n", "1:1: expected a map, found a list" },
	{ ENCRYPTION, 36, "",
	  "1:1: kind: expected one of EncryptionConfiguration|EncryptionConfig, found nothing\n"
	  "f:1:1: apiVersion: expected one of apiserver.config.k8s.io/v1|v1, found nothing\n"
	  "f:1:1: resources: expected a list, found nothing" },
	{ ENCRYPTION, 36, "garbage", "1:1: expected a map, found a text" },
	{ ENCRYPTION, 36, "kind: Encryption\napiVersion: v1\n" RESOURCES "  - identity: {}\n",
	  "1:7: kind: expected one of EncryptionConfiguration|EncryptionConfig, found a text" },
	{ ENCRYPTION, 36, "kind: EncryptionConfig\n" RESOURCES "  - identity: {}\n",
	  "1:1: apiVersion: expected one of apiserver.config.k8s.io/v1|v1, found nothing" },
	{ ENCRYPTION, 36, "apiVersion: v1\n" RESOURCES "  - identity: {}\n",
	  "1:1: kind: expected one of EncryptionConfiguration|EncryptionConfig, found nothing" },
	{ ENCRYPTION, 36, HEAD "resources: []\n",
	  "3:12: resources: expected a list, found nothing" },
	{ ENCRYPTION, 36, HEAD "resources: {}\n",
	  "3:12: resources: expected a list, found nothing" },
	{ ENCRYPTION, 36, HEAD, "1:1: resources: expected a list, found nothing" },
	{ ENCRYPTION, 36, HEAD RESOURCES,
	  "5:13: resources[0].providers: expected a list, found nothing" },
	{ ENCRYPTION, 36, HEAD "resources:\n- resources: []\n  providers:\n  - identity: {}\n",
	  "4:14: resources[0].resources: expected a list, found nothing" },
	{ ENCRYPTION, 36, HEAD "resources:\n- resources: [Secrets]\n  providers:\n  - identity: {}\n",
	  "4:15: resources[0].resources[0]: expected a resource such as secrets or configmaps, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - aes: {}\n",
	  "6:5: resources[0].providers[0]: expected one of aescbc|aesgcm|identity|kms|secretbox, found none of them" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - identity:\n",
	  "6:5: resources[0].providers[0]: expected one of aescbc|aesgcm|identity|kms|secretbox, found none of them" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aescbc", KEY32) "    identity: {}\n",
	  "6:5: resources[0].providers[0]: expected one of aescbc|aesgcm|identity|kms|secretbox, found aescbc and identity" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - aescbc: {}\n",
	  "6:13: resources[0].providers[0].aescbc.keys: expected a list, found nothing" },
	{ ENCRYPTION, 8, OLD_HEAD RESOURCES "  - aescbc:\n      keys: []\n",
	  "7:13: resources[0].providers[0].aescbc.keys: expected a list, found nothing" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - aesgcm:\n      keys:\n      - secret: " KEY32 "\n",
	  "8:9: resources[0].providers[0].aesgcm.keys[0].name: expected a text, found nothing" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aescbc", "''"),
	  "9:17: resources[0].providers[0].aescbc.keys[0].secret: expected base64 of 16, 24 or 32 bytes, found nothing" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aescbc", KEY15),
	  "9:17: resources[0].providers[0].aescbc.keys[0].secret: expected base64 of 16, 24 or 32 bytes, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aesgcm", KEY17),
	  "9:17: resources[0].providers[0].aesgcm.keys[0].secret: expected base64 of 16, 24 or 32 bytes, found a text" },
	{ ENCRYPTION, 8, OLD_HEAD RESOURCES KEYS("aescbc", KEY33),
	  "9:17: resources[0].providers[0].aescbc.keys[0].secret: expected base64 of 16, 24 or 32 bytes, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("aescbc", "not-base64"),
	  "9:17: resources[0].providers[0].aescbc.keys[0].secret: expected base64 of 16, 24 or 32 bytes, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("secretbox", KEY31),
	  "9:17: resources[0].providers[0].secretbox.keys[0].secret: expected base64 of 32 bytes, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES KEYS("secretbox", KEY33),
	  "9:17: resources[0].providers[0].secretbox.keys[0].secret: expected base64 of 32 bytes, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - kms: {apiVersion: v2, name: a, endpoint: 'unix:///a'}\n", NULL },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - kms: {name: a}\n",
	  "6:10: resources[0].providers[0].kms.endpoint: expected a socket such as unix:///run/kms.sock, found nothing" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - kms: {name: a, endpoint: 'tcp://a:1'}\n",
	  "6:30: resources[0].providers[0].kms.endpoint: expected a socket such as unix:///run/kms.sock, found a text" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - kms: {endpoint: 'unix:///a'}\n",
	  "6:10: resources[0].providers[0].kms.name: expected a text, found nothing" },
	{ ENCRYPTION, 36, HEAD RESOURCES "  - kms: {apiVersion: v3, name: a, endpoint: 'unix:///a'}\n",
	  "6:23: resources[0].providers[0].kms.apiVersion: expected one of v1|v2, found a text" },

	{ AUDIT, 36, POLICY RULES "Kind: other\n", NULL },
	{ AUDIT, 36, POLICY RULES "- level: None\n- level: Request\n- level: RequestResponse\n", NULL },
	{ AUDIT, 36,
	  POLICY "omitStages: [RequestReceived, ResponseStarted]\n" RULES
		 "  omitStages: [Panic, ResponseComplete]\n  nonResourceURLs: ['*', /a, '/b*']\n"
		 "  resources:\n  - group: ''\n  - {group: apps, resources: [a]}\n",
	  NULL },
	{ AUDIT, 7, "rules: []\n", NULL },
	{ AUDIT, 9, "apiVersion: audit.k8s.io/v1beta1\n" RULES, NULL },
	{ AUDIT, 8, "kind: Policy\nrules: []\n", "2:8: rules: expected a list, found nothing" },
	{ AUDIT, 36, POLICY "rules: []\n", "3:8: rules: expected a list, found nothing" },
	{ AUDIT, 36, POLICY, "1:1: rules: expected a list, found nothing" },
	{ AUDIT, 36, "kind: Polic\napiVersion: audit.k8s.io/v1\n" RULES,
	  "1:7: kind: expected Policy, found 'Polic'; did you mean Policy?" },
	{ AUDIT, 10, "apiVersion: audit.k8s.io/v1beta1\n" RULES,
	  "1:1: kind: expected Policy, found nothing" },
	{ AUDIT, 36, "kind: Policy\n" RULES,
	  "1:1: apiVersion: expected audit.k8s.io/v1, found nothing" },
	{ AUDIT, 36, "kind: Policy\napiVersion: audit.k8s.io/v1beta1\n" RULES,
	  "2:13: apiVersion: expected audit.k8s.io/v1, found 'audit.k8s.io/v1beta1'; did you mean audit.k8s.io/v1? (names)" },
	{ AUDIT, 23, "kind: Policy\napiVersion: audit.k8s.io/v1beta1\n" RULES, NULL },
	{ AUDIT, 36, POLICY "rules:\n- level: metadata\n",
	  "4:10: rules[0].level: expected one of Metadata|None|Request|RequestResponse, found 'metadata'; did you mean Metadata?" },
	{ AUDIT, 36, POLICY "rules:\n- verbs: [get]\n",
	  "4:3: rules[0].level: expected one of Metadata|None|Request|RequestResponse, found nothing" },
	{ AUDIT, 36, POLICY "omitStages: [Received]\n" RULES,
	  "3:14: omitStages[0]: expected one of Panic|RequestReceived|ResponseComplete|ResponseStarted, found 'Received'" },
	{ AUDIT, 36, POLICY RULES "  omitStages: Panic\n",
	  "5:15: rules[0].omitStages: expected a list, found 'Panic'" },
	{ AUDIT, 36, POLICY RULES "  nonResourceURLs: [a]\n",
	  "5:21: rules[0].nonResourceURLs[0]: expected a path such as /healthz*, found 'a'" },
	{ AUDIT, 36, POLICY RULES "  nonResourceURLs: [/a*b]\n",
	  "5:21: rules[0].nonResourceURLs[0]: expected a path such as /healthz*, found '/a*b'" },
	{ AUDIT, 36, POLICY RULES "  resources: [{group: apps/v1}]\n",
	  "5:23: rules[0].resources[0].group: expected a group such as apps, without its version, found 'apps/v1'" },

	{ AUTHENTICATION, 36, CONFIG("AuthenticationConfiguration"), NULL },
	{ AUTHENTICATION, 36, CONFIG("AuthenticationConfiguration") ISSUER CLAIMS, NULL },
	{ AUTHENTICATION, 30, CONFIG("AuthorizationConfiguration"), NULL },
	{ AUTHENTICATION, 36, CONFIG("AuthorizationConfiguration"),
	  "1:7: kind: expected AuthenticationConfiguration, found 'AuthorizationConfiguration'; did you mean AuthenticationConfiguration?" },
	{ AUTHENTICATION, 36, CONFIG("AuthenticationConfiguration") ISSUER,
	  "4:3: jwt[0].claimMappings: expected a map, found nothing" },
	{ AUTHENTICATION, 36,
	  CONFIG("AuthenticationConfiguration") ISSUER "  claimMappings:\n    username: {prefix: ''}\n",
	  "8:15: jwt[0].claimMappings.username: expected one of claim|expression, found none of them" },
	{ AUTHENTICATION, 36, CONFIG("AuthenticationConfiguration") "jwt:\n- issuer: {url: 'http://a', audiences: [a]}\n" CLAIMS,
	  "4:17: jwt[0].issuer.url: expected a URL such as https://issuer.example, found 'http://a'" },
	{ AUTHENTICATION, 36, CONFIG("AuthenticationConfiguration") "jwt:\n- issuer: {url: 'https://a'}\n" CLAIMS,
	  "4:11: jwt[0].issuer.audiences: expected a list, found nothing" },

	{ AUTHORIZATION, 36, CONFIG("AuthorizationConfiguration") "authorizers: [{type: Node, name: node}]\n", NULL },
	{ AUTHORIZATION, 36, CONFIG("AuthorizationConfiguration") WEBHOOK "    connectionInfo: {type: InClusterConfig}\n", NULL },
	{ AUTHORIZATION, 30, CONFIG("AuthenticationConfiguration"), NULL },
	{ AUTHORIZATION, 36, CONFIG("AuthorizationConfiguration"),
	  "1:1: authorizers: expected a list, found nothing" },
	{ AUTHORIZATION, 36, CONFIG("AuthorizationConfiguration") "authorizers: [{type: Node}]\n",
	  "3:15: authorizers[0].name: expected a name in small letters such as node.example, found nothing" },
	{ AUTHORIZATION, 36, CONFIG("AuthorizationConfiguration") "authorizers: [{type: rbac, name: a}]\n",
	  "3:22: authorizers[0].type: expected one of ABAC|AlwaysAllow|AlwaysDeny|Node|RBAC|Webhook, found 'rbac'; did you mean RBAC? (names)" },
	{ AUTHORIZATION, 36, CONFIG("AuthorizationConfiguration") WEBHOOK,
	  "7:5: authorizers[0].webhook.connectionInfo: expected a map, found nothing" },

	{ ADMISSION, 36, CONFIG("AdmissionConfiguration") "plugins: [{name: PodSecurity, path: a.yaml}]\n", NULL },
	{ ADMISSION, 36, "imagePolicy: {kubeConfigFile: /a}\n", NULL },
	{ ADMISSION, 36, "- imagePolicy\n", "1:1: expected a map, found a list" },
	{ ADMISSION, 36, "kind: AdmissionConfig\napiVersion: apiserver.config.k8s.io/v1\n",
	  "1:7: kind: expected AdmissionConfiguration, found 'AdmissionConfig'" },
	{ ADMISSION, 36, CONFIG("AdmissionConfiguration") "plugins: {}\n", NULL },
	{ ADMISSION, 36, CONFIG("AdmissionConfiguration") "plugins: {name: PodSecurity}\n",
	  "3:10: plugins: expected a list, found a map" },

	{ "client-ca-file", 36, "garbage: [", NULL },
};
/* clang-format on */

static const char *findings_of(struct arena *a, const char *flag, const char *text, int minor)
{
	struct accepts_findings found = { 0 };
	struct strv all = { 0 };

	parsed_text_check(
		a,
		&(struct parsed_text){
			.flag = flag, .key = "key", .from = "f", .text = text, .n = strlen(text) },
		minor, &found);
	for (size_t i = 0; i < found.n; i++) {
		const struct accepts_finding *f = &found.v[i];

		assert_string_equal(f->key, "key");
		strv_addf(a, &all, "%s%s%s%s%s", f->text, f->nearest ? "; did you mean " : "",
			  f->nearest ? f->nearest : "", f->nearest ? "?" : "",
			  f->names ? " (names)" : "");
	}
	return strv_join(a, &all, "\n");
}

static void files_are_taken_as_the_api_server_takes_them(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		const struct sample *s = &samples[i];
		const char *want = s->finding ? arena_printf(a, "f:%s", s->finding) : "";
		const char *got = findings_of(a, s->flag, s->text, s->minor);

		if (strcmp(got, want) != 0)
			fail_msg("%s\ngot  %s\nwant %s", s->text, got, want);
	}
}

static void no_finding_shows_a_key(void **state)
{
	static const char *const texts[] = {
		(HEAD RESOURCES KEYS("aescbc", "hunter2")),
		(HEAD "resources: hunter2\n"),
		(HEAD "resources: [hunter2]\n"),
		"kind: hunter2\napiVersion: hunter2\nresources: []\n",
		(HEAD RESOURCES "  - hunter2: {}\n"),
		(HEAD RESOURCES KEYS("aescbc", "hunter2") "      - hunter2\n"),
		"hunter2",
		"a: *hunter2",
		"a: !hunter2 b",
		"hunter2: [",
		"'hunter2",
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (strstr(findings_of(a, ENCRYPTION, texts[i], 36), "hunter2"))
			fail_msg("%s", texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_taken_as_the_api_server_takes_them),
		cmocka_unit_test(no_finding_shows_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
