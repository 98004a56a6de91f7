#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/config/kops18/kops18.h"
#include "nodeup/documents/dialects.h"

#define WANTS "; --conf wants a kube_env.yaml of kops or kube-up, or the user data that bring it"

/* What is said of a document's bytes; "": it may be a dialect's. */
static const char *told(struct arena *a, const char *text, size_t n)
{
	struct err e = { 0 };
	struct tree *t;

	if (kinds_parse(a, "f", text, n, &t, &e) == 0 && kinds_check(a, t, &e) == 0)
		return "";
	assert_int_equal(e.kind, ERR_CONFIG);
	assert_int_equal(e.nnotes, 0);
	return arena_str(a, e.msg);
}

#define SPEC "\nmetadata: {name: x}\nspec: {}\n"

static const struct {
	const char *text, *want;
} other_kinds[] = {
	{ "", "f: this is an empty file" },
	{ " \r\n\t", "f: this is an empty file" },
	{ "# nothing\n---\n", "f: this is an empty document" },
	{ "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster" SPEC,
	  "f:1:1: this is a cluster spec of kops" },
	{ "docker: {}\nkubeProxy: {image: x}\n", "f:2:12: this is a cluster spec of kops" },
	{ "apiVersion: kops/v1alpha2\nkind: InstanceGroup" SPEC,
	  "f:1:1: this is an instance group of kops" },
	{ "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster" SPEC "---\n"
	  "apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup" SPEC,
	  "f:1:1: this is a cluster spec of kops" },
	{ "# c\n---\nkind: InstanceGroup\napiVersion: kops.k8s.io/v1alpha3" SPEC "---\nx: 1",
	  "f:3:1: this is an instance group of kops" },
	{ "apiVersion: kops.k8s.io/v1alpha2\nkind: Keyset" SPEC, "f:1:1: this is kops' Keyset" },
	{ "---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}",
	  "f:2:1: this is nodeadm's NodeConfig" },
	{ "apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration",
	  "f:1:1: this is kubeadm's JoinConfiguration" },
	{ "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n---\n"
	  "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration",
	  "f:1:1: this is kubeadm's InitConfiguration" },
	{ "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1",
	  "f:1:1: this is kubelet's KubeletConfiguration" },
	{ "apiVersion: v1\nkind: Config\nclusters: []", "f:1:1: this is a kubeconfig" },
	{ "apiVersion: apps/v1\nkind: Deployment" SPEC,
	  "f:1:1: this is an object of kind 'Deployment', apiVersion 'apps/v1'" },
	{ "kind: Cluster" SPEC, "f:1:1: this is an object of kind 'Cluster'" },
	{ "{\"ignition\":{\"version\":\"3.3.0\"}}", "f:1:13: this is Ignition's configuration" },
	{ "variant: fcos\nversion: 1.5.0", "f:1:10: this is Butane's configuration" },
	{ "#cloud-config\npackages: [curl]", "f: this is a cloud-config of cloud-init" },
	{ "AWSTemplateFormatVersion: '2010-09-09'\nResources: {}",
	  "f:1:27: this is a template of CloudFormation" },
	{ "{\"Resources\": {\"A\": {\"Type\": \"AWS::EC2::VPC\"}}}",
	  "f:1:15: this is a template of CloudFormation" },
	{ "AWSTemplateFormatVersion: x\nResources:\n  A: !Ref B\n",
	  "f: this is a template of CloudFormation" },
	{ "[{\"apiVersion\": \"kops.k8s.io/v1alpha2\", \"kind\": \"Cluster\"}, {}]",
	  "f:1:2: this is a cluster spec of kops" },
	{ "MIME-Version: 1.0\n\n--B\n\n---\napiVersion: node.eks.aws/v1alpha1\n",
	  "f: this is nodeadm's NodeConfig" },
	{ "# made by kops\n\n# twice\nlocals {\n", "f: this is a file of Terraform" },
	{ "[Unit]\nDescription=x\n", "f: this is a unit of systemd" },
	{ "SALT_TAR_URL: https://h/kubernetes-release-gke/v1/x\nKUBERNETES_MASTER: 'true'",
	  "f:1:15: this is the kube-env of a node of GKE" },
	{ "{\"resource\": {\"aws_vpc\": {}}}", "f:1:14: this is a configuration of Terraform" },
	{ "locals {\n  cluster_name = \"x\"\n}", "f: this is a file of Terraform" },
	{ "version: v1alpha1\nmachine: {type: worker}\ncluster: {}",
	  "f:2:10: this is a machine configuration of Talos" },
	{ "server: https://s:6443\ntoken: t", "f:2:8: this is a configuration of k3s or RKE2" },
	{ "ZONE: z\nKUBERNETES_MASTER: 'false'\nSALT_TAR_URL: x\nKUBE_MANIFESTS_TAR_URL: y",
	  "f:4:25: this is the kube-env of a node of GKE or GCE" },
	{ "SALT_TAR_URL: x\nKUBELET_ARGS: --v=2 --cloud-provider=gce",
	  "f:2:15: this is the kube-env of a node of GKE or GCE" },
	{ "ClusterName: c\nKubernetesVersion: 1.35.3\nCAs: {}\nAssets: {amd64: []}",
	  "f:4:9: this is a NodeupConfig of kops (nodeupconfig.yaml)" },
	{ "distribution: debian\nversion: '12'", "f:1:15: this is facts, which --facts takes" },
	{ "-----BEGIN CERTIFICATE-----\n", "f: this is a certificate or a key (PEM)" },
	{ "<!DOCTYPE html>", "f: this is a page of HTML" },
	{ "PK\3\4....", "f: this is an archive (zip)" },
	{ "\x7f"
	  "ELF...",
	  "f: this is a program" },
};

static void another_kind_is_called_by_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(other_kinds); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(told(a, other_kinds[i].text, strlen(other_kinds[i].text)),
				    arena_printf(a, "%s" WANTS, other_kinds[i].want));
	}
}

static void bytes_are_no_text(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char tar[512] = "name";

	(void)state;
	/* which has a place */
	assert_non_null(strstr(told(a, "a\0b", 3), "f:1:2: control characters are not allowed"));
	memcpy(tar + 257, "ustar", 6);
	assert_string_equal(told(a, tar, sizeof(tar)), "f: this is an archive (tar)" WANTS);
}

/* Text of user data, and the agent that they are for. */
static void user_data_of_others_are_named(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_true(kinds_explain("u", "x\n---\napiVersion: node.eks.aws/v1alpha1\n", &e) < 0);
	assert_string_equal(e.msg, "u: this is nodeadm's NodeConfig" WANTS);
	assert_true(kinds_explain("u", "#!/bin/bash\n/etc/eks/bootstrap.sh c\n", &e) < 0);
	assert_string_equal(e.msg, "u: this is user data of a node of EKS" WANTS);
	(void)err_config(&e, "as it was");
	assert_true(kinds_explain("u", "#!/bin/bash\n", &e) < 0);
	assert_string_equal(e.msg, "as it was");
}

/* Whatever a dialect reads is none of these. */
static void what_nodeup_reads_is_no_other_kind(void **state)
{
	static const char *const all[] = {
		"ClusterName: c\nAssets: []\nTags: [_aws]\nprotokubeImage: {}\nchannels: [x]\n",
		"ClusterName: c\nkind: x\n",
		"CloudProvider: aws\nNodeupConfigHash: x\nInstanceGroupName: g\n",
		"KUBERNETES_MASTER: 'true'\nSALT_TAR_URL: x\nZONE: us-west-2a\n",
		"ZONE: us-west-2a\nSERVER_BINARY_TAR_URL: https://a/kubernetes-release/x\n",
		"Asets: []\n",
		"- a\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		autoarena struct arena *a = arena_new_empty();

		assert_string_equal(told(a, all[i], strlen(all[i])), "");
	}
	for (const struct dialect *const *d = dialects; *d; d++)
		for (const struct dialect_example *x = (*d)->examples; x && x->role; x++) {
			autoarena struct arena *a = arena_new_empty();

			assert_string_equal(told(a, x->document, strlen(x->document)), "");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_kind_is_called_by_its_name),
		cmocka_unit_test(bytes_are_no_text),
		cmocka_unit_test(user_data_of_others_are_named),
		cmocka_unit_test(what_nodeup_reads_is_no_other_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
