#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/yaml.h"
#include "nodeup/config/kops/kops.h"

/* A CA and another one, made for this test. */
static const struct dialect_opts no_opts;

static const char cert1[] = "-----BEGIN CERTIFICATE-----\n"
			    "MIIBcDCCARegAwIBAgIUL6xEVgwSJCOLsWLSaDgp8Zhl6w0wCgYIKoZIzj0EAwIw\n"
			    "DTELMAkGA1UEAwwCYTEwIBcNMjYxMTIzMjMwNzU5WhgPMjEyNjEwMzAyMzA3NTla\n"
			    "MA0xCzAJBgNVBAMMAmExMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELjhgM/s/\n"
			    "oOIQ48h8Fpr8kg1mukDbYOGVlmLDyyb3sGL2zhdLJfWHsSmyK2S9ESYhaQRFl0kT\n"
			    "CHW39Q1FoLH0K6NTMFEwHQYDVR0OBBYEFCFp1LG2Bf2tHCrzrtj+8KDP5GQAMB8G\n"
			    "A1UdIwQYMBaAFCFp1LG2Bf2tHCrzrtj+8KDP5GQAMA8GA1UdEwEB/wQFMAMBAf8w\n"
			    "CgYIKoZIzj0EAwIDRwAwRAIgdDSdHCg0Jylma3P6OhyrC1zf3/NzmZR++q8Dh3zz\n"
			    "BTACIBqa/1jNOvHtNepFU3B5nX9o14aaUjESA/gHxva90QL7\n"
			    "-----END CERTIFICATE-----\n";
static const char key1[] = "-----BEGIN PRIVATE KEY-----\n"
			   "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+xdvZviGlQy+0HaV\n"
			   "gLBi9yKQQEqOGYPaP6pCWxVOJ9+hRANCAAQuOGAz+z+g4hDjyHwWmvySDWa6QNtg\n"
			   "4ZWWYsPLJvewYvbOF0sl9YexKbIrZL0RJiFpBEWXSRMIdbf1DUWgsfQr\n"
			   "-----END PRIVATE KEY-----\n";
/* The same in the form of its algorithm. */
static const char own_key1[] = "-----BEGIN EC PRIVATE KEY-----\n"
			       "MHcCAQEEIPsXb2b4hpUMvtB2lYCwYvcikEBKjhmD2j+qQlsVTiffoAoGCCqGSM49\n"
			       "AwEHoUQDQgAELjhgM/s/oOIQ48h8Fpr8kg1mukDbYOGVlmLDyyb3sGL2zhdLJfWH\n"
			       "sSmyK2S9ESYhaQRFl0kTCHW39Q1FoLH0Kw==\n"
			       "-----END EC PRIVATE KEY-----\n";
static const char key2[] = "-----BEGIN PRIVATE KEY-----\n"
			   "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqFUp0Uo3B9hyZgjN\n"
			   "e0A/Q2v5Pp7ck2YrWtcAsX0/VyShRANCAAQoLQUEZf7iusnqCcVKN+bCRphrIhvH\n"
			   "ve3gmlBdzWJnLepU2T5YXfsy8UO6ifnPHona5Yf0TcUgfOFGeTxUZEjB\n"
			   "-----END PRIVATE KEY-----\n";

#define HASH "9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168"

static struct tree *parse(struct arena *a, const char *text)
{
	struct tree *t;
	struct err e;

	assert_int_equal(yaml_parse(a, "k.yaml", text, strlen(text), &t, &e), 0);
	return t;
}

static char *base64(struct arena *a, const char *text)
{
	return enc_base64(a, text, strlen(text));
}

/* Key 1 is good, 2 is distrusted, 3 has the key of another certificate; 2 is the primary one. */
static struct tree *keyset(struct arena *a)
{
	return parse(a, arena_printf(a,
				     "apiVersion: kops.k8s.io/v1alpha2\nkind: Keyset\nspec:\n"
				     "  keys:\n"
				     "  - {id: '1', publicMaterial: %1$s, privateMaterial: %2$s}\n"
				     "  - {id: '2', publicMaterial: %1$s, privateMaterial: %2$s, "
				     "distrustTimestamp: 2026-01-01T00:00:00Z}\n"
				     "  - {id: '3', publicMaterial: %1$s, privateMaterial: %3$s}\n"
				     "  - {id: '4', publicMaterial: '%%', privateMaterial: %2$s}\n"
				     "  primaryId: '2'\n",
				     base64(a, cert1), base64(a, key1), base64(a, key2)));
}

static void the_pinned_key_is_taken(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct node_keypair pair;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(kops_keyset(a, keyset(a), "ca", "1", &pair, &e), 0);
	assert_string_equal(pair.cert, cert1);
	assert_string_equal(pair.key, own_key1);
}

static void the_primary_key_never_stands_in(void **state)
{
	static const struct {
		const char *id, *want;
	} all[] = {
		{ "7", "k.yaml:1:1: keyset ca: key '7', which KeypairIDs pins, is not there" },
		{ "2",
		  "k.yaml:1:1: keyset ca: key '2', which KeypairIDs pins, is not to be trusted "
		  "any more" },
		{ "3", "k.yaml:7:5: keyset ca: key '3': " },
		{ "4",
		  "k.yaml:8:5: keyset ca: key '4': publicMaterial is not the base64 of a text" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct node_keypair pair;
		struct err e = { 0 };

		assert_true(kops_keyset(a, keyset(a), "ca", all[i].id, &pair, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_true(str_has_prefix(e.msg, all[i].want));
	}
}

static int assets_of(struct arena *a, const char *text, const char *arch, struct node_texts *ret,
		     struct err *e)
{
	const struct kops_config c = { .assets = parse(a, text) };

	return kops_assets(a, &c, arch, &no_opts, ret, e);
}

static void assets_are_those_of_the_machine(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct node_texts got = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(assets_of(a,
				   "amd64: []\narm64: ['" HASH
				   "@https://x/kubelet,s3://bucket/kubelet']\n",
				   "arm64", &got, &e),
			 0);
	assert_int_equal(got.n, 1);
	assert_string_equal(got.v[0].text, HASH "@https://x/kubelet,s3://bucket/kubelet");
	assert_true(assets_of(a, "amd64: []\n", "arm64", &got, &e) < 0);
	assert_string_equal(e.msg, "k.yaml:1:1: Assets: expected a list for arm64");
	/* of another cloud, without a hash, and of one too short to trust */
	assert_true(assets_of(a, "arm64: ['" HASH "@gs://x/kubelet']\n", "arm64", &got, &e) < 0);
	assert_true(str_has_prefix(e.msg, "k.yaml:1:9: "));
	assert_true(assets_of(a, "arm64: ['https://x/kubelet']\n", "arm64", &got, &e) < 0);
	assert_true(str_has_prefix(e.msg, "k.yaml:1:9: "));
	assert_true(assets_of(a,
			      "arm64: ['da39a3ee5e6b4b0d3255bfef95601890afd80709@https://x/y']\n",
			      "arm64", &got, &e) < 0);
	assert_string_equal(e.msg, "k.yaml:1:9: asset 'y': its hash is not a sha256");
}

static void images_are_read(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct kops_config c = { 0 };
	struct node_images got = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(kops_images(a, &c, "amd64", &no_opts, &got, &e), 0);
	c.images = parse(a, "amd64:\n- name: a:1\n  hash: " HASH
			    "\n  sources: [https://x/a.tar, https://y/a.tar]\n");
	assert_int_equal(kops_images(a, &c, "amd64", &no_opts, &got, &e), 0);
	assert_int_equal(got.n, 1);
	assert_string_equal(got.v[0].source, "https://x/a.tar,https://y/a.tar");
	assert_string_equal(got.v[0].name, "a:1");
	assert_false(got.v[0].is_unnamed);
	/* as kops writes it */
	c.images = parse(a, "amd64:\n- hash: " HASH "\n  sources: [https://x/kube-proxy.tar]\n");
	got.n = 0;
	assert_int_equal(kops_images(a, &c, "amd64", &no_opts, &got, &e), 0);
	assert_string_equal(got.v[0].name, "kube-proxy.tar");
	assert_true(got.v[0].is_unnamed);
	assert_true(kops_images(a, &c, "arm64", &no_opts, &got, &e) < 0);
	assert_string_equal(e.msg, "k.yaml:1:1: images: expected a list for arm64");
	c.images = parse(a, "amd64:\n- name: a:1\n  sources: [https://x/a.tar]\n");
	assert_true(kops_images(a, &c, "amd64", &no_opts, &got, &e) < 0);
	assert_string_equal(e.msg, "k.yaml:2:3: 'images.amd64[0].hash' is missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pinned_key_is_taken),
		cmocka_unit_test(the_primary_key_never_stands_in),
		cmocka_unit_test(assets_are_those_of_the_machine),
		cmocka_unit_test(images_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
