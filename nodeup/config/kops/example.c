/* Tests: test_validate.py. */
#include "nodeup/config/kops/kops.h"

/* Shows a small cluster of Kubernetes 1.36.2, as kops writes it. The CA is made up: each cluster has its own. */

#define CLUSTER "example.com"
#define CA                                                                       \
	"    -----BEGIN CERTIFICATE-----\n"                                      \
	"    MIIBhDCCASqgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1rdWJlcm5l\n" \
	"    dGVzLWNhMCAXDTI2MTEyNzIwNDQyNloYDzIxMjYxMTAzMjA0NDI2WjAYMRYwFAYD\n" \
	"    VQQDDA1rdWJlcm5ldGVzLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtsbW\n" \
	"    TQ07sGFdeNN3ouICWLxM4oZcLuuZITfdRX2G8IaMw10oe10ZI0jj9m/cMqcsynr4\n" \
	"    U5oEP9aKnB8f5c/XMaNjMGEwHQYDVR0OBBYEFLj79ol0Tv/4rfS32lWBaoUKbTG/\n" \
	"    MB8GA1UdIwQYMBaAFLj79ol0Tv/4rfS32lWBaoUKbTG/MA8GA1UdEwEB/wQFMAMB\n" \
	"    Af8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0gAMEUCIH/DAgdxulioR1g0\n" \
	"    A0jAyDh9f0aIFWznX2DQu1LbzbRtAiEAnedFG+TxYbz9k3nMqAn/r64Z59MhHU73\n" \
	"    THZgU2ryGK0=\n"                                                     \
	"    -----END CERTIFICATE-----\n"
#define PUBLIC_KEY                                                               \
	"    -----BEGIN PUBLIC KEY-----\n"                                       \
	"    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtsbWTQ07sGFdeNN3ouICWLxM4oZc\n" \
	"    LuuZITfdRX2G8IaMw10oe10ZI0jj9m/cMqcsynr4U5oEP9aKnB8f5c/XMQ==\n"     \
	"    -----END PUBLIC KEY-----\n"

#define BOOT "CloudProvider: aws\nClusterName: " CLUSTER "\n"

#define COMMON_CONFIG                                                                            \
	"Assets:\n"                                                                              \
	"  amd64:\n"                                                                             \
	"  - 3ba68cb4f0906053c08ab843131d5cec559cf8c718dbd679950a078b306abbb4@"                  \
	"https://dl.k8s.io/release/v1.36.2/bin/linux/amd64/kubelet\n"                            \
	"  - 1e9045ec32bea85da43de85f0065358529ea7c7a152eca78154fba5b58c27d82@"                  \
	"https://dl.k8s.io/release/v1.36.2/bin/linux/amd64/kubectl\n"                            \
	"  - 7644623e4ec9ad443ab352a8a5800a5180ee28741288be805286ba72bb8e7164@"                  \
	"https://artifacts.k8s.io/binaries/cloud-provider-aws/v1.31.7/linux/amd64/"              \
	"ecr-credential-provider-linux-amd64\n"                                                  \
	"  - ab3bda535f9d90766cccc90d3dddb5482003dd744d7f22bcf98186bf8eea8be6@"                  \
	"https://github.com/containernetworking/plugins/releases/download/v1.8.0/"               \
	"cni-plugins-linux-amd64-v1.8.0.tgz\n"                                                   \
	"  - 9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168@"                  \
	"https://github.com/containerd/containerd/releases/download/v2.3.4/"                     \
	"containerd-2.3.4-linux-amd64.tar.gz\n"                                                  \
	"  - f6ae8efc0fa40079e1475e97cbe9d1bd3f106a28d6af78a11d9f1bd565515e60@"                  \
	"https://github.com/opencontainers/runc/releases/download/v1.4.3/runc.amd64\n"           \
	"ClusterName: " CLUSTER "\n"                                                             \
	"Hooks: [null, null]\n"                                                                  \
	"InstallCNIAssets: true\n"                                                               \
	"KubernetesVersion: 1.36.2\n"                                                            \
	"KubeProxy:\n"                                                                           \
	"  clusterCIDR: 100.96.0.0/11\n"                                                         \
	"  cpuRequest: 100m\n"                                                                   \
	"  image: registry.k8s.io/kube-proxy:v1.36.2\n"                                          \
	"Networking: {nonMasqueradeCIDR: 100.64.0.0/10, serviceClusterIPRange: 100.64.0.0/13}\n" \
	"UpdatePolicy: automatic\n"                                                              \
	"containerdConfig: {logLevel: info, runc: {version: 1.4.3}, sandboxImage: "              \
	"'registry.k8s.io/pause:3.10.1', version: 2.3.4}\n"                                      \
	"KubeletConfig:\n"                                                                       \
	"  anonymousAuth: false\n"                                                               \
	"  cgroupDriver: systemd\n"                                                              \
	"  cgroupRoot: /\n"                                                                      \
	"  cloudProvider: external\n"                                                            \
	"  clusterDNS: 100.64.0.10\n"                                                            \
	"  clusterDomain: cluster.local\n"                                                       \
	"  enableDebuggingHandlers: true\n"                                                      \
	"  evictionHard: memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,"      \
	"imagefs.available<10%,imagefs.inodesFree<5%\n"                                          \
	"  kubeconfigPath: /var/lib/kubelet/kubeconfig\n"                                        \
	"  podManifestPath: /etc/kubernetes/manifests\n"                                         \
	"  protectKernelDefaults: true\n"                                                        \
	"  shutdownGracePeriod: 30s\n"                                                           \
	"  shutdownGracePeriodCriticalPods: 10s\n"

#define STORE "s3://BUCKET/" CLUSTER

const struct dialect_example kops_examples[] = {
	{ "worker",
	  BOOT "ConfigServer:\n"
	       "  servers: [https://kops-controller.internal." CLUSTER ":3988/]\n"
	       "  CACertificates: |\n" CA "InstanceGroupName: nodes\n"
	       "InstanceGroupRole: Node\n",
	  COMMON_CONFIG "  nodeLabels: {kops.k8s.io/instancegroup: nodes, "
			"node-role.kubernetes.io/node: ''}\n"
			"KeypairIDs: {kubernetes-ca: '1'}\n" },
	{ "control-plane",
	  BOOT "ConfigBase: " STORE "\n"
	       "InstanceGroupName: control-plane\n"
	       "InstanceGroupRole: ControlPlane\n",
	  COMMON_CONFIG
	  "  nodeLabels: {kops.k8s.io/instancegroup: control-plane, kops.k8s.io/kops-controller-pki: '', "
	  "node-role.kubernetes.io/control-plane: '', "
	  "node.kubernetes.io/exclude-from-external-load-balancers: ''}\n"
	  "  taints: ['node-role.kubernetes.io/control-plane=:NoSchedule']\n"
	  "APIServerConfig:\n"
	  "  API: {dns: {}, publicName: api." CLUSTER "}\n"
	  "  ClusterDNSDomain: cluster.local\n"
	  "  KubeAPIServer:\n"
	  "    allowPrivileged: true\n"
	  "    anonymousAuth: false\n"
	  "    authorizationMode: Node,RBAC\n"
	  "    enableAdmissionPlugins: [NodeRestriction]\n"
	  "    etcdServers: ['https://127.0.0.1:4001']\n"
	  "    etcdServersOverrides: ['/events#https://127.0.0.1:4002']\n"
	  "    image: registry.k8s.io/kube-apiserver:v1.36.2\n"
	  "    securePort: 443\n"
	  "    serviceAccountIssuer: https://api.internal." CLUSTER "\n"
	  "    serviceClusterIPRange: 100.64.0.0/13\n"
	  "    storageBackend: etcd3\n"
	  "  ServiceAccountPublicKeys: |\n" PUBLIC_KEY "CAs:\n"
	  "  kubernetes-ca: &ca |\n" CA "  apiserver-aggregator-ca: *ca\n"
	  "  etcd-clients-ca: *ca\n"
	  "  etcd-manager-ca-events: *ca\n"
	  "  etcd-manager-ca-main: *ca\n"
	  "  etcd-peers-ca-events: *ca\n"
	  "  etcd-peers-ca-main: *ca\n"
	  "ControlPlaneConfig:\n"
	  "  KubeControllerManager:\n"
	  "    allocateNodeCIDRs: true\n"
	  "    cloudProvider: external\n"
	  "    clusterCIDR: 100.96.0.0/11\n"
	  "    clusterName: " CLUSTER "\n"
	  "    configureCloudRoutes: false\n"
	  "    image: registry.k8s.io/kube-controller-manager:v1.36.2\n"
	  "    leaderElection: {leaderElect: true}\n"
	  "    useServiceAccountCredentials: true\n"
	  "  KubeScheduler:\n"
	  "    image: registry.k8s.io/kube-scheduler:v1.36.2\n"
	  "    leaderElection: {leaderElect: true}\n"
	  "EtcdClusterNames: [main, events]\n"
	  "KeypairIDs: {apiserver-aggregator-ca: '1', etcd-clients-ca: '1', etcd-manager-ca-events: '1', "
	  "etcd-manager-ca-main: '1', etcd-peers-ca-events: '1', etcd-peers-ca-main: '1', "
	  "kubernetes-ca: '1', service-account: '1'}\n"
	  "configStore: {keypairs: '" STORE "/pki', secrets: '" STORE "/secrets'}\n"
	  "etcdManifests: ['" STORE "/manifests/etcd/main.yaml', '" STORE
	  "/manifests/etcd/events.yaml']\n"
	  "channelsManifest: " STORE "/manifests/channels/kops-channels.yaml\n" },
	{ 0 },
};
