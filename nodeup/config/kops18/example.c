/* Tests: test_validate.py. */
#include "nodeup/config/kops18/kops18.h"

/* The keys that a document needs and most clusters change. All other keys have a default of kops, or may be left
 * out. */

#define RELEASE "https://storage.googleapis.com/kubernetes-release/"

#define COMMON_ENV                                                              \
	"ClusterName: example.k8s.local\n"                                      \
	"Assets:\n"                                                             \
	"- 0f3a59e4c0aae8c2b2a0924d8ace010ebf39f48e@" RELEASE                   \
	"release/v1.8.7/bin/linux/amd64/kubelet\n"                              \
	"- 36340bb4bb158357fe36ffd545d8295774f55ed9@" RELEASE                   \
	"release/v1.8.7/bin/linux/amd64/kubectl\n"                              \
	"- 1d9788b0f5420e1a219aad2cb8681823fc515e7c@" RELEASE                   \
	"network-plugins/cni-0799f5732f2a11b329d9e3d51b9c8f2e3759f2ff.tar.gz\n" \
	"- 42b15a0a0a56531750bde3c7b08d0cf27c170c48@https://kubeupv2.s3.amazonaws.com/kops/1.8.1/linux/amd64/utils.tar.gz\n"

static const char cluster[] = "kubernetesVersion: 1.8.7\n"
			      "cloudProvider: aws\n"
			      "masterInternalName: api.internal.example.k8s.local\n"
			      "masterPublicName: api.example.k8s.local\n"
			      "clusterDNSDomain: cluster.local\n"
			      "serviceClusterIPRange: 100.64.0.0/13\n"
			      "nonMasqueradeCIDR: 100.64.0.0/10\n"
			      "networking: {kubenet: {}}\n"
			      "etcdClusters:\n"
			      "- {name: main, etcdMembers: [{name: a, instanceGroup: master}]}\n"
			      "- {name: events, etcdMembers: [{name: a, instanceGroup: master}]}\n";

const struct dialect_example kops18_examples[] = {
	{ "worker-of-1.8",
	  COMMON_ENV "InstanceGroupName: nodes\nTags: [_automatic_upgrades, _aws]\n", cluster,
	  "role: Node\nnodeLabels: {kops.k8s.io/instancegroup: nodes}\n" },
	{ "master",
	  COMMON_ENV
	  "InstanceGroupName: master\nTags: [_automatic_upgrades, _aws, _kubernetes_master]\n"
	  "channels: [s3://BUCKET/example.k8s.local/addons/bootstrap-channel.yaml]\n"
	  "protokubeImage:\n"
	  "  name: protokube:1.8.1\n"
	  "  hash: 0b1f26208f8f6cc02468368706d0236670fec8a2\n"
	  "  source: https://kubeupv2.s3.amazonaws.com/kops/1.8.1/images/protokube.tar.gz\n",
	  cluster, "role: Master\nnodeLabels: {kops.k8s.io/instancegroup: master}\n" },
	{ 0 },
};
