#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/pem.h>
#include <string.h>
#include "nodeup/base/buf.h"
#include "nodeup/config/pem.h"
#include "nodeup/join/protocol.h"

static void requests_are_those_of_kops(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strmap keys = { 0 }, ids = { 0 };

	(void)state;
	assert_string_equal(protocol_request(a, NULL, NULL),
			    "{\"apiVersion\":\"bootstrap.kops.k8s.io/v1alpha1\",\"certs\":null,"
			    "\"keypairIDs\":null,\"includeNodeConfig\":true}");
	strmap_set(a, &keys, "kube-proxy", "-----BEGIN RSA PUBLIC KEY-----\nMIIB+/=\n");
	strmap_set(a, &keys, "kubelet", "K");
	strmap_set(a, &ids, "kubernetes-ca", "698");
	assert_string_equal(protocol_request(a, &keys, &ids),
			    "{\"apiVersion\":\"bootstrap.kops.k8s.io/v1alpha1\",\"certs\":{\"kube-"
			    "proxy\":\"-----BEGIN RSA PUBLIC KEY-----\\nMIIB+/=\\n\",\"kubelet\":"
			    "\"K\"},\"keypairIDs\":{\"kubernetes-ca\":\"698\"},"
			    "\"includeNodeConfig\":false}");
}

static void answers_are_read(void **state)
{
	static const char text[] = "{\"Certs\":{\"kubelet\":\"PEM\"},\"nodeConfig\":{"
				   "\"nodeupConfig\":\"a: 1\\n\",\"nodeSecrets\":{"
				   "\"dockerconfig\":\"e30=\"}},\"later\":1}";
	autoarena struct arena *a = arena_new_empty();
	struct protocol_answer got;
	struct err e;

	(void)state;
	assert_int_equal(protocol_read(a, text, strlen(text), &got, &e), 0);
	assert_string_equal(strmap_get(&got.certificates, "kubelet"), "PEM");
	assert_string_equal(got.config, "a: 1\n");
	assert_string_equal(strmap_get(&got.secrets, "dockerconfig"), "{}");
	assert_int_equal(protocol_read(a, "{}", 2, &got, &e), 0);
	assert_null(got.config);
}

static void what_is_no_answer_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"<html>",
		"{\"Certs\":[]}",
		"{\"Certs\":{\"a\":{}}}",
		"{\"nodeConfig\":1}",
		"{\"nodeConfig\":{\"nodeSecrets\":{\"a\":\"?\"}}}",
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct protocol_answer got;
		struct err e;

		assert_true(protocol_read(a, wrong[i], strlen(wrong[i]), &got, &e) < 0);
		assert_int_equal(e.kind, ERR_INTEGRITY);
		assert_non_null(strstr(e.msg, "kops-controller's answer: "));
	}
}

/* Each would take some hundred bytes. */
static void an_answer_has_few_values(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf text = BUF_INIT(4 << 20);
	struct protocol_answer got;
	struct err e;

	(void)state;
	(void)buf_adds(&text, "{\"Certs\":{");
	for (int i = 0; i < 30000; i++)
		(void)buf_addf(&text, "\"[%d\":\"\\\",\",", i);
	(void)buf_adds(&text, "\"last\":\"\"}}");
	assert_true(protocol_read(a, buf_str(&text), text.len, &got, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	/* what stands inside a text is none */
	text.len = 0;
	(void)buf_adds(&text, "{\"Certs\":{\"a\":\"");
	for (int i = 0; i < 30000; i++)
		(void)buf_adds(&text, "[\\\",{");
	(void)buf_adds(&text, "\"}}");
	assert_int_equal(protocol_read(a, buf_str(&text), text.len, &got, &e), 0);
}

/* The block has PKCS#1's name and the bytes of PKIX. */
static void a_new_key_is_given_as_kops_takes_it(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *private, *public, *again;
	char *name, *header;
	unsigned char *der;
	const unsigned char *p;
	EVP_PKEY *key, *own;
	struct err e;
	BIO *bio;
	long n;

	(void)state;
	assert_int_equal(pem_new_key(a, &private, &public, &e), 0);
	assert_true(str_has_prefix(private, "-----BEGIN RSA PRIVATE KEY-----\n"));
	bio = BIO_new_mem_buf(public, -1);
	assert_int_equal(PEM_read_bio(bio, &name, &header, &der, &n), 1);
	assert_string_equal(name, "RSA PUBLIC KEY");
	p = der;
	key = d2i_PUBKEY(NULL, &p, n);
	assert_non_null(key);
	assert_int_equal(EVP_PKEY_get_bits(key), 2048);
	BIO_free(bio);
	bio = BIO_new_mem_buf(private, -1);
	own = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	assert_int_equal(EVP_PKEY_eq(key, own), 1);
	assert_int_equal(pem_new_key(a, &again, &public, &e), 0);
	assert_string_not_equal(private, again);
	BIO_free(bio);
	EVP_PKEY_free(key);
	EVP_PKEY_free(own);
	OPENSSL_free(name);
	OPENSSL_free(header);
	OPENSSL_free(der);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_those_of_kops),
		cmocka_unit_test(answers_are_read),
		cmocka_unit_test(what_is_no_answer_is_refused),
		cmocka_unit_test(an_answer_has_few_values),
		cmocka_unit_test(a_new_key_is_given_as_kops_takes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
