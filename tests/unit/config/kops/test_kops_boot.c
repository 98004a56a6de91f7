#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/enc.h"
#include "nodeup/base/yaml.h"
#include "nodeup/documents/dialects.h"
#include "nodeup/documents/user_data.h"
#include "tests/unit/lib/kops_worker.h"

#define HASH "NodeupConfigHash: V2Uc2Z93/mG2/4W4SivEjv50rzmrYZ0w8cHIj1r9hGI=\n"
#define NAMES "ClusterName: minimal.example.com\nInstanceGroupName: m\n"
#define BASE "ConfigBase: s3://tests/minimal.example.com\n"
#define START "CloudProvider: aws\n" NAMES BASE
#define MASTER START "InstanceGroupRole: ControlPlane\n" HASH

static int read_text(const char *text, bool checks_alone, struct documents *ret, struct err *e,
		     struct arena *a)
{
	const struct dialect_opts o = { .checks_alone = checks_alone };
	struct tree *t;

	if (yaml_parse(a, "k.yaml", text, strlen(text), &t, e) < 0)
		return -1;
	return dialects_read(a, t, &o, ret, e);
}

static void it_is_known_by_keys_that_kops_18_lacks(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct documents d = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(read_text(MASTER, true, &d, &e, a), 0);
	assert_string_equal(d.dialect->name, "kops");
	assert_string_equal(d.cluster_name, "minimal.example.com");
	assert_int_equal(read_text(NAMES BASE, true, &d, &e, a), 0);
	assert_string_equal(d.dialect->name, "kops18");
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
	static const struct {
		const char *text, *want;
	} all[] = {
		{ MASTER "Assets: []\n",
		  "k.yaml:1:1: 'CloudProvider' and, at k.yaml:7:1, 'Assets' are keys of two kinds "
		  "of documents: kops and kops18" },
		{ MASTER "SALT_TAR_URL: x\n",
		  "k.yaml:7:1: 'SALT_TAR_URL' and, at k.yaml:1:1, 'CloudProvider' are keys of two "
		  "kinds of documents: kubeup and kops" },
		{ MASTER "EtcdIP: []\n",
		  "k.yaml:7:1: unknown key 'EtcdIP'; did you mean 'EtcdIPs'?" },
		{ "CloudProvider: gce\n" NAMES BASE "InstanceGroupRole: Node\n" HASH,
		  "k.yaml:1:16: CloudProvider: 'gce': nodeup makes nodes on aws alone" },
		{ START "InstanceGroupRole: Bastion\n" HASH,
		  "k.yaml:5:20: InstanceGroupRole: 'Bastion': a bastion is not a node; want "
		  "ControlPlane, APIServer or Node" },
		{ START "InstanceGroupRole: Node\n" HASH,
		  "k.yaml:1:1: ConfigServer.servers is missing: a node gets its certificates there" },
		{ START "InstanceGroupRole: ControlPlane\nNodeupConfigHash: YWJj\n",
		  "k.yaml:6:19: NodeupConfigHash: 'YWJj' is not the base64 of a sha256" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct documents d = { 0 };
		struct err e = { 0 };

		assert_true(read_text(all[i].text, true, &d, &e, a) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_string_equal(e.msg, all[i].want);
	}
}

static void keys_come_from_a_store(void **state)
{
	static const char server[] =
		"ConfigServer: {servers: ['https://a:3988/'], CACertificates: " KOPS_TEST_CA "}\n";
	autoarena struct arena *a = arena_new_empty();
	struct documents d = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(read_text(MASTER, false, &d, &e, a), 0);
	assert_true(d.in_store && d.beside_will_do && d.of_instance);
	assert_string_equal(d.base, "s3://tests/minimal.example.com");
	assert_string_equal(d.cluster_at, "s3://tests/minimal.example.com/igconfig/control-plane/m/"
					  "nodeupconfig.yaml");
	assert_true(read_text(arena_printf(a, "%s%s", MASTER, server), false, &d, &e, a) < 0);
	assert_string_equal(e.msg, "k.yaml:1:1: ConfigServer has servers, and an InstanceGroupRole "
				   "ControlPlane takes its keys from ConfigBase alone");
}

#define SCRIPT_HEAD "#!/bin/bash\n\n"
#define SCRIPT_TAIL "__EOF_KUBE_ENV\n\ndownload-release\n"

static int unwrap(struct arena *a, const char *text, const char **ret, struct err *e)
{
	const struct user_data_file given = { NULL, text, strlen(text), 0 };
	struct user_data u;
	int r = user_data_read(a, "u", &given, false, &u, e);

	*ret = r < 0 ? NULL : u.conf.text;
	return r;
}

static void user_data_in_the_clear_keeps_its_lines(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *got;
	struct err e = { 0 };

	(void)state;
	/* the mark is quoted: the shell leaves what stands there as it is */
	assert_int_equal(unwrap(a,
				SCRIPT_HEAD "cat > conf/kube_env.yaml << '__EOF_KUBE_ENV'\n"
					    "ClusterName: $x\n" SCRIPT_TAIL,
				&got, &e),
			 0);
	assert_string_equal(got, "\n\n\nClusterName: $x\n");
	assert_int_equal(
		unwrap(a,
		       "Content-Type: multipart/mixed; boundary=\"B\"\nMIME-Version: 1.0\n--B\n\n" SCRIPT_HEAD
		       "cat > conf/kube_env.yaml << '__EOF_KUBE_ENV'\n"
		       "ClusterName: x\n" SCRIPT_TAIL "--B--\n",
		       &got, &e),
		0);
	assert_string_equal(got, "\n\n\n\n\n\n\nClusterName: x\n");
	assert_true(unwrap(a,
			   SCRIPT_HEAD "cat > conf/kube_env.yaml << __EOF_KUBE_ENV\n"
				       "ClusterName: $x\n" SCRIPT_TAIL,
			   &got, &e) < 0);
	assert_string_equal(e.msg, "u:4:14: '$' in a document that the booting shell expands: what "
				   "it becomes cannot be said");
	assert_true(unwrap(a,
			   SCRIPT_HEAD "cat > conf/kube_env.yaml << '__EOF_KUBE_ENV'\n"
				       "ClusterName: x\n",
			   &got, &e) < 0);
	assert_string_equal(e.msg, "u:3:1: the document that begins here has no line "
				   "'__EOF_KUBE_ENV' at its end");
}

static const char *packed(struct arena *a, const char *base64)
{
	return arena_printf(a,
			    SCRIPT_HEAD "echo \"%s\" | base64 -d | gzip -d > "
					"conf/kube_env.yaml\n\ndownload-release\n",
			    base64);
}

static void compressed_user_data_is_unpacked(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *got;
	struct err e = { 0 };
	size_t n;
	const char *gzip = enc_gzip(a, MASTER, strlen(MASTER), &n);

	(void)state;
	assert_int_equal(unwrap(a, packed(a, enc_base64(a, gzip, n)), &got, &e), 0);
	assert_string_equal(got, MASTER);
	assert_true(unwrap(a, packed(a, enc_base64(a, gzip, n / 2)), &got, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_true(str_has_prefix(e.msg, "u:3:1: the document that is packed here: "));
	assert_true(unwrap(a, packed(a, "%"), &got, &e) < 0);
	assert_true(str_has_prefix(e.msg, "u:3:1: the document that is packed here: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_known_by_keys_that_kops_18_lacks),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
		cmocka_unit_test(keys_come_from_a_store),
		cmocka_unit_test(user_data_in_the_clear_keeps_its_lines),
		cmocka_unit_test(compressed_user_data_is_unpacked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
