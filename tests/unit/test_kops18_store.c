#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "tests/unit/kops18_world.h"

static char *wanted(struct arena *a, const struct node_want *v, size_t n)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < n; i++)
		strv_add(a, &names,
			 arena_printf(a, "%s%s%s", v[i].name, v[i].key ? "+key" : "",
				      v[i].optional ? "?" : ""));
	return strv_join(a, &names, " ");
}

static void wants(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct world m = world_master(a), n = world_worker(a);
	struct world tls = world_small(a, "Tags: [_kubernetes_master]",
				       "kubernetesVersion: 1.6.2\nencryptionConfig: true\n"
				       "keyStore: /pki/\netcdClusters: [{enableEtcdTLS: true}]\n"
				       "masterKubelet: {anonymousAuth: false}",
				       "");
	struct node_wants w;

	(void)state;
	world_must_build(&m);
	w = kops18_wants(a, &m.node, &m.env, m.cluster);
	assert_string_equal(wanted(a, w.keypairs, w.n_keypairs),
			    "ca+key kubelet+key kube-proxy+key kops+key kubecfg+key master+key "
			    "kube-controller-manager+key kube-scheduler+key "
			    "apiserver-proxy-client+key apiserver-aggregator+key? "
			    "apiserver-aggregator-ca?");
	assert_string_equal(wanted(a, w.secrets, w.n_secrets),
			    "dockerconfig? kube admin? kubelet? kube-proxy? system:scheduler? "
			    "system:controller_manager? system:logging? system:monitoring? "
			    "system:dns?");
	assert_string_equal(w.key_store, "s3://jdurbin-kops/abc.joshdurbin.net/pki");
	assert_string_equal(w.secret_store, "s3://jdurbin-kops/abc.joshdurbin.net/secrets");
	world_must_build(&n);
	w = kops18_wants(a, &n.node, &n.env, tree_null(a));
	assert_string_equal(wanted(a, w.keypairs, w.n_keypairs), "ca kubelet+key kube-proxy+key");
	assert_string_equal(wanted(a, w.secrets, w.n_secrets), "dockerconfig?");
	assert_string_equal(w.key_store, "s3://jdurbin-kops/abc.joshdurbin.net/pki");
	world_must_build(&tls);
	w = kops18_wants(a, &tls.node, &tls.env, tls.cluster);
	assert_string_equal(
		wanted(a, w.keypairs, w.n_keypairs),
		"ca+key kubelet+key kube-proxy+key kops+key kubecfg+key master+key "
		"kube-controller-manager+key kube-scheduler+key kubelet-api+key etcd+key "
		"etcd-client+key");
	assert_string_equal(w.key_store, "/pki");
	assert_null(w.secret_store);
}

#define BEGIN(what) "-----BEGIN " what "-----\nAAAA\n"
#define END(what) "-----END " what "-----\n"

static int add(struct arena *a, struct node *n, const char *name, const char *cert, const char *key,
	       struct err *e)
{
	const struct node_keypair pair = { name, cert, key }, from = { name, "f.crt", "f.key" };

	return node_add_keypair(a, n, &pair, &from, e);
}

static void keypairs(void **state)
{
	static const char cert[] = BEGIN("CERTIFICATE") END("CERTIFICATE");
	static const char key[] = BEGIN("RSA PRIVATE KEY") END("RSA PRIVATE KEY");
	static const char *const bad[] = { "", "SECRET", BEGIN("CERTIFICATE"),
					   BEGIN("RSA PRIVATE KEY") END("PRIVATE KEY"),
					   "-----BEGIN PRIVATE KEY\n-----END PRIVATE KEY\n" };
	autoarena struct arena *a = arena_new_empty();
	struct node n = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(add(a, &n, "ca", cert, NULL, &e), 0);
	assert_int_equal(add(a, &n, "kubelet", cert, key, &e), 0);
	assert_null(node_keypair(&n, "ca")->key);
	assert_string_equal(node_keypair(&n, "kubelet")->key, key);
	assert_null(node_keypair(&n, "other"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_true(add(a, &n, "x", cert, bad[i], &e) < 0);
		assert_string_equal(e.msg, "f.key: keypair x: no PEM private key");
		assert_true(add(a, &n, "x", bad[i], NULL, &e) < 0);
		assert_string_equal(e.msg, "f.crt: keypair x: no PEM certificate");
	}
	assert_true(add(a, &n, "x", key, NULL, &e) < 0);
	assert_true(add(a, &n, "x", NULL, NULL, &e) < 0);
	assert_int_equal(n.keypairs.n, 2);
}

static void secrets(void **state)
{
	static const char *const bad[] = { "[SECRET]",
					   "{}",
					   "{Data: [SECRET]}",
					   "{Data: SECRET!}",
					   "{Data: 'U0VDUkVUAA=='}",
					   "{Data: ''}",
					   "SECRET" };
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_new(a);

	(void)state;
	assert_int_equal(node_add_secret(a, &w.node, "kube",
					 world_text(&w, "f", "{\"Data\": \"dG9rZW4=\"}"), "f",
					 &w.e),
			 0);
	assert_string_equal(strmap_get(&w.node.secrets, "kube"), "token");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_true(node_add_secret(a, &w.node, "id", world_text(&w, "f", bad[i]), "f",
					    &w.e) < 0);
		assert_int_equal(w.e.kind, ERR_CONFIG);
		assert_null(strstr(w.e.msg, "SECRET"));
		assert_non_null(strstr(w.e.msg, "secret id"));
	}
	assert_null(strmap_get(&w.node.secrets, "id"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wants),
		cmocka_unit_test(keypairs),
		cmocka_unit_test(secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
