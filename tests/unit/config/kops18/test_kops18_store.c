#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/config/keys.h"
#include "tests/unit/lib/kops18_world.h"

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
	struct world tls = world_small(a, MASTER_ENV,
				       "kubernetesVersion: 1.6.2\nencryptionConfig: true\n"
				       "keyStore: /pki/\netcdClusters: [{enableEtcdTLS: true}]\n"
				       "masterKubelet: {anonymousAuth: false}",
				       "");
	struct node_wants w;

	(void)state;
	world_must_build(&m);
	w = kops18_wants(a, &(struct documents){ .cluster = m.cluster }, &m.node);
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
	w = kops18_wants(a, &(struct documents){ .cluster = tree_null(a) }, &n.node);
	assert_string_equal(wanted(a, w.keypairs, w.n_keypairs), "ca kubelet+key kube-proxy+key");
	assert_string_equal(wanted(a, w.secrets, w.n_secrets), "dockerconfig?");
	assert_string_equal(w.key_store, "s3://jdurbin-kops/abc.joshdurbin.net/pki");
	world_must_build(&tls);
	w = kops18_wants(a, &(struct documents){ .cluster = tls.cluster }, &tls.node);
	assert_string_equal(
		wanted(a, w.keypairs, w.n_keypairs),
		"ca+key kubelet+key kube-proxy+key kops+key kubecfg+key master+key "
		"kube-controller-manager+key kube-scheduler+key kubelet-api+key etcd+key "
		"etcd-client+key");
	assert_string_equal(w.key_store, "/pki");
	assert_null(w.secret_store);
}

static int add(struct arena *a, struct node *n, const char *name, const char *cert, const char *key,
	       struct err *e)
{
	const struct node_keypair pair = { .name = name, .cert = cert, .key = key },
				  from = { .cert = "f.crt", .key = "f.key" };

	return node_add_keypair(a, n, &pair, &from, e);
}

#define PKI STORE "pki/"

struct pems {
	char *cert, *key, *other;
};

static struct pems seeds_keys(struct arena *a)
{
	size_t n;

	return (struct pems){
		world_load(a, PKI "issued/kubelet/7710425790609754113396402942.crt", &n),
		world_load(a, PKI "private/kubelet/7710425790609754113396402942.key", &n),
		world_load(a, PKI "private/kops/7710425791189541713288795883.key", &n),
	};
}

static void keypairs(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct pems seed = seeds_keys(a);
	struct node n = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(add(a, &n, "ca", seed.cert, NULL, &e), 0);
	assert_int_equal(add(a, &n, "kubelet", seed.cert, seed.key, &e), 0);
	assert_null(node_keypair(&n, "ca")->key);
	assert_string_equal(node_keypair(&n, "kubelet")->key, seed.key);
	assert_null(node_keypair(&n, "other"));
	/* the order of the two texts in a file does not matter */
	assert_int_equal(add(a, &n, "both", arena_printf(a, "# text\n%s", seed.cert), seed.key, &e),
			 0);
	assert_int_equal(n.keypairs.n, 3);
	/* a last line without an end gets one */
	assert_int_equal(add(a, &n, "cut", arena_strn(a, seed.cert, strlen(seed.cert) - 1),
			     arena_strn(a, seed.key, strlen(seed.key) - 1), &e),
			 0);
	assert_string_equal(node_keypair(&n, "cut")->cert, seed.cert);
	assert_string_equal(node_keypair(&n, "cut")->key, seed.key);
}

/* The middle line of a PEM text, changed. */
static char *damage(struct arena *a, const char *pem)
{
	char *copy = arena_str(a, pem);
	char *middle = strchr(copy + strlen(copy) / 2, '\n') + 1;

	memset(middle, 'A', 16);
	return copy;
}

static char *cut(struct arena *a, const char *pem, const char *end)
{
	return arena_printf(a, "%.*s%s", (int)strlen(pem) / 2, pem, end);
}

#define KIND(text) "-----BEGIN " text "-----\nAAAA\n-----END " text "-----\n"

static void bad_certificates(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct pems seed = seeds_keys(a);
	const struct {
		const char *cert, *error;
	} rows[] = {
		{ "", "no PEM certificate" },
		{ NULL, "no PEM certificate" },
		{ "SECRET", "no PEM certificate" },
		{ seed.key, "no PEM certificate" },
		{ cut(a, seed.cert, ""), "the certificate is damaged" },
		{ KIND("CERTIFICATE"), "the certificate is damaged" },
		{ cut(a, seed.cert, "\n-----END CERTIFICATE-----\n"),
		  "the certificate is damaged" },
	};
	struct node n = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = { 0 };

		assert_true(add(a, &n, "x", rows[i].cert, NULL, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, arena_printf(a, "f.crt: keypair x: %s", rows[i].error));
	}
	assert_int_equal(n.keypairs.n, 0);
}

static void bad_keys(void **state)
{
	static const char encrypted[] =
		"the private key is encrypted, and no person is here to type a "
		"password";
	autoarena struct arena *a = arena_new_empty();
	const struct pems seed = seeds_keys(a);
	const struct {
		const char *key, *error;
	} rows[] = {
		{ "", "no PEM private key" },
		{ "SECRET", "no PEM private key" },
		{ seed.cert, "no PEM private key" },
		{ cut(a, seed.key, ""), "the private key is damaged" },
		{ "-----BEGIN PRIVATE KEY\n-----END PRIVATE KEY\n", "no PEM private key" },
		{ KIND("RSA PRIVATE KEY"), "the private key is damaged" },
		{ cut(a, seed.key, "\n-----END RSA PRIVATE KEY-----\n"),
		  "the private key is damaged" },
		/* its numbers do not belong together any more */
		{ damage(a, seed.key), "the private key is damaged" },
		{ KIND("ENCRYPTED PRIVATE KEY"), encrypted },
		{ "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
		  "AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n-----END RSA PRIVATE "
		  "KEY-----\n",
		  encrypted },
		{ seed.other, "the private key is not the certificate's" },
	};
	struct node n = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = { 0 };

		assert_true(add(a, &n, "x", seed.cert, rows[i].key, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, arena_printf(a, "f.key: keypair x: %s", rows[i].error));
		assert_int_equal(e.nnotes, 0);
	}
	assert_int_equal(n.keypairs.n, 0);
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

/* One line of known_tokens.csv each; the other two are whole documents. */
static void tokens_have_one_line(void **state)
{
	static const char *const lines[] = { "U0VDUkVUCg==", "U0VDUkVUDQ==", "U0UJQ1JFVA==",
					     "U0UKQ1JFVA==" };
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_new(a);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		const char *text = arena_printf(a, "{Data: %s}", lines[i]);

		assert_true(node_add_secret(a, &w.node, "kube", world_text(&w, "f", text), "f",
					    &w.e) < 0);
		assert_int_equal(w.e.kind, ERR_CONFIG);
		assert_string_equal(w.e.msg, "f: secret kube: there is a line break or another "
					     "control character in it, which no token or password "
					     "has");
	}
	assert_null(strmap_get(&w.node.secrets, "kube"));
}

/* kubelet reads it as JSON; what it is not may be a secret. */
static void a_login_at_registries_is_a_document(void **state)
{
	static const struct {
		const char *data; /* base64 */
		bool right;
	} rows[] = {
		{ "ewogImF1dGhzIjoge30KfQo=", true }, /* {"auths": {}} over three lines */
		{ "Ym90aA==", false },                /* both */
		{ "W10=", false },                    /* [] */
		{ "e30gLQ==", false },                /* {} - */
	};
	autoarena struct arena *a = arena_new_empty();
	struct world w = world_new(a);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = arena_printf(a, "{Data: %s}", rows[i].data);
		const int r = node_add_secret(a, &w.node, "dockerconfig", world_text(&w, "f", text),
					      "f", &w.e);

		assert_int_equal(r == 0, rows[i].right);
		if (r < 0)
			assert_string_equal(w.e.msg, "f: secret dockerconfig: not a JSON object");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wants),
		cmocka_unit_test(a_login_at_registries_is_a_document),
		cmocka_unit_test(keypairs),
		cmocka_unit_test(bad_certificates),
		cmocka_unit_test(bad_keys),
		cmocka_unit_test(secrets),
		cmocka_unit_test(tokens_have_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
