#include "nodeup/config/kubeup/states.h"

#include <stddef.h>
#include "manifests/pod.h"

/* clang-format off */

#define MANIFESTS POD_MANIFESTS "/"
#define ADDONS "/etc/kubernetes/addons/"
#define HELPERS "/opt/kubernetes/helpers/"
#define BOTH KUBEUP_BOTH
#define MASTER KUBEUP_MASTER
#define NODE KUBEUP_NODE
#define RENDERED .renders = true
#define TREE .tree = true
#define IS(key, text) { offsetof(struct kubeup_env, key), text }
#define IF(key, text) { IS(key, text) }
#define LOGS_TO(where) IS(enable_node_logging, "true"), IS(logging_destination, where)
#define IF_DNS IF(enable_cluster_dns, "true")
#define IF_REGISTRY IF(enable_cluster_registry, "true")
#define IF_RESCHEDULER IF(enable_rescheduler, "true")
#define IF_CALICO IF(network_policy_provider, "calico")
#define LOG(name) "/etc/logrotate.d/" name, "logrotate/conf", 0644, BOTH, 2, 0, RENDERED, .vars = "{file: '" name "'}"
#define PROXY MANIFESTS "kube-proxy.manifest", "kube-proxy/kube-proxy.manifest", 0644, NODE

/* The files that Salt's states make of the tarball, on a machine with systemd.
 * source: every init.sls of cluster/saltbase/salt from v1.2.0 to v1.5.8, rendered and run for AWS */
const struct kubeup_state kubeup_states[] = {
	{ "/etc/apt/apt.conf.d/20auto-upgrades", "debian-auto-upgrades/20auto-upgrades", 0644, BOTH, 2, 0 },
	{ "/etc/sysconfig/docker", "docker/docker-defaults", 0644, BOTH, 2, 0, RENDERED },
	{ "/lib/systemd/system/docker-healthcheck.service", "docker/docker-healthcheck.service", 0644, BOTH, 2, 0, RENDERED },
	{ "/lib/systemd/system/docker-healthcheck.timer", "docker/docker-healthcheck.timer", 0644, BOTH, 2, 0, RENDERED },
	{ "/lib/systemd/system/docker.service", "docker/docker.service", 0644, BOTH, 2, 0, RENDERED, .vars = "{environment_file: /etc/sysconfig/docker}" },
	{ HELPERS "docker-healthcheck", "docker/docker-healthcheck", 0755, BOTH, 2, 0 },
	{ HELPERS "docker-prestart", "docker/docker-prestart", 0755, BOTH, 2, 0 },

	{ "/var/log/etcd.log", NULL, 0644, MASTER, 2, 0 },
	{ "/var/log/etcd-events.log", NULL, 0644, MASTER, 2, 0 },
	{ MANIFESTS "etcd.manifest", "etcd/etcd.manifest", 0644, MASTER, 2, 3, RENDERED, .vars = "{suffix: '', port: 4001, server_port: 2380, cpulimit: '\"200m\"'}" },
	{ MANIFESTS "etcd.manifest", "etcd/etcd.manifest", 0644, MASTER, 4, 0, RENDERED, .vars = "{suffix: '', port: 2379, server_port: 2380, cpulimit: '\"200m\"'}" },
	{ MANIFESTS "etcd-events.manifest", "etcd/etcd.manifest", 0644, MASTER, 2, 0, RENDERED, .vars = "{suffix: '-events', port: 4002, server_port: 2381, cpulimit: '\"100m\"'}" },

	{ MANIFESTS "fluentd-es.yaml", "fluentd-es/fluentd-es.yaml", 0644, NODE, 2, 0, { LOGS_TO("elasticsearch") } },
	{ MANIFESTS "fluentd-gcp.yaml", "fluentd-gcp/fluentd-gcp.yaml", 0644, BOTH, 2, 0, { LOGS_TO("gcp") } },

	{ ADDONS "namespace.yaml", "kube-addons/namespace.yaml", 0644, MASTER, 2, 2 },
	{ "/etc/kubernetes/kube-addon-update.sh", "kube-addons/kube-addon-update.sh", 0755, MASTER, 2, 2 },
	{ "/etc/kubernetes/kube-addons.sh", "kube-addons/kube-addons.sh", 0755, MASTER, 2, 2 },
	{ "/lib/systemd/system/kube-addons.service", "kube-addons/kube-addons.service", 0644, MASTER, 2, 2 },
	{ MANIFESTS "kube-addon-manager.yaml", "kube-addons/kube-addon-manager.yaml", 0755, MASTER, 3, 0 },
	{ ADDONS "dns/skydns-rc.yaml", "kube-addons/dns/skydns-rc.yaml.in", 0644, MASTER, 2, 2, IF_DNS, RENDERED },
	{ ADDONS "dns/skydns-svc.yaml", "kube-addons/dns/skydns-svc.yaml.in", 0644, MASTER, 2, 2, IF_DNS, RENDERED },
	{ ADDONS "dns/skydns-rc.yaml", "kube-dns/skydns-rc.yaml.in", 0644, MASTER, 3, 3, IF_DNS, RENDERED },
	{ ADDONS "dns/skydns-svc.yaml", "kube-dns/skydns-svc.yaml.in", 0644, MASTER, 3, 3, IF_DNS, RENDERED },
	{ ADDONS "dns/skydns-rc.yaml", "kube-addons/dns/skydns-rc.yaml.in", 0644, MASTER, 4, 0, IF_DNS, RENDERED },
	{ ADDONS "dns/skydns-svc.yaml", "kube-addons/dns/skydns-svc.yaml.in", 0644, MASTER, 4, 0, IF_DNS, RENDERED },
	{ ADDONS "dns-horizontal-autoscaler/dns-horizontal-autoscaler.yaml", "kube-addons/dns-horizontal-autoscaler/dns-horizontal-autoscaler.yaml", 0644, MASTER, 5, 0, { IS(enable_cluster_dns, "true"), IS(enable_dns_horizontal_autoscaler, "true") } },
	{ ADDONS "cluster-monitoring/influxdb", "kube-addons/cluster-monitoring/influxdb", 0644, MASTER, 2, 0, IF(enable_cluster_monitoring, "influxdb"), RENDERED, TREE },
	{ ADDONS "cluster-monitoring/google", "kube-addons/cluster-monitoring/google", 0644, MASTER, 2, 0, IF(enable_cluster_monitoring, "google"), RENDERED, TREE },
	{ ADDONS "cluster-monitoring/googleinfluxdb", "kube-addons/cluster-monitoring", 0644, MASTER, 2, 0, IF(enable_cluster_monitoring, "googleinfluxdb"), RENDERED, TREE, .without = "heapster-controller" },
	{ ADDONS "cluster-monitoring/standalone", "kube-addons/cluster-monitoring/standalone", 0644, MASTER, 2, 0, IF(enable_cluster_monitoring, "standalone"), RENDERED, TREE },
	{ ADDONS "dashboard", "kube-addons/dashboard", 0644, MASTER, 2, 0, IF(enable_cluster_ui, "true"), TREE, .no_json = true },
	{ ADDONS "fluentd-elasticsearch", "kube-addons/fluentd-elasticsearch", 0644, MASTER, 2, 0, { LOGS_TO("elasticsearch"), IS(enable_cluster_logging, "true") }, TREE, .no_json = true },
	{ ADDONS "registry/registry-pv.yaml", "kube-addons/registry/registry-pv.yaml.in", 0644, MASTER, 2, 0, IF_REGISTRY, RENDERED },
	{ ADDONS "registry/registry-pvc.yaml", "kube-addons/registry/registry-pvc.yaml.in", 0644, MASTER, 2, 0, IF_REGISTRY, RENDERED },
	{ ADDONS "registry/registry-rc.yaml", "kube-addons/registry/registry-rc.yaml", 0644, MASTER, 2, 0, IF_REGISTRY },
	{ ADDONS "registry/registry-svc.yaml", "kube-addons/registry/registry-svc.yaml", 0644, MASTER, 2, 0, IF_REGISTRY },
	{ MANIFESTS "kube-registry-proxy.yaml", "kube-registry-proxy/kube-registry-proxy.yaml", 0644, NODE, 2, 0, IF_REGISTRY },
	{ ADDONS "node-problem-detector/node-problem-detector.yaml", "kube-addons/node-problem-detector/node-problem-detector.yaml", 0644, MASTER, 3, 0, IF(enable_node_problem_detector, "true") },
	{ "/etc/kubernetes/admission-controls/limit-range", "kube-admission-controls/limit-range", 0644, MASTER, 2, 0, { { offsetof(struct kubeup_env, admission_control), "LimitRanger", .is_part = true } }, TREE },

	{ MANIFESTS "kube-apiserver.manifest", "kube-apiserver/kube-apiserver.manifest", 0644, MASTER, 2, 0, RENDERED },
	{ "/srv/kubernetes/abac-authz-policy.jsonl", "kube-apiserver/abac-authz-policy.jsonl", 0600, MASTER, 3, 0, RENDERED },
	{ "/var/log/kube-apiserver.log", NULL, 0644, MASTER, 2, 0 },
	{ "/var/log/kube-apiserver-audit.log", NULL, 0644, MASTER, 5, 0, .sls = "kube-apiserver/init.sls", .says = "kube-apiserver-audit.log" },
	{ MANIFESTS "kube-controller-manager.manifest", "kube-controller-manager/kube-controller-manager.manifest", 0644, MASTER, 2, 0, RENDERED },
	{ "/var/log/kube-controller-manager.log", NULL, 0644, MASTER, 2, 0 },
	{ MANIFESTS "kube-scheduler.manifest", "kube-scheduler/kube-scheduler.manifest", 0644, MASTER, 2, 0, RENDERED },
	{ "/var/log/kube-scheduler.log", NULL, 0644, MASTER, 2, 0 },
	{ MANIFESTS "rescheduler.manifest", "rescheduler/rescheduler.manifest", 0644, MASTER, 4, 0, IF_RESCHEDULER, RENDERED },
	{ "/var/log/rescheduler.log", NULL, 0644, MASTER, 4, 0, IF_RESCHEDULER },

	{ PROXY, 2, 2, RENDERED, .sls = "kube-proxy/init.sls", .says = "cpurequest: '200m'", .vars = "{cpurequest: 200m}" },
	{ PROXY, 2, 2, RENDERED, .sls = "kube-proxy/init.sls", .says = "cpurequest: '20m'", .vars = "{cpurequest: 20m}" },
	{ PROXY, 3, 0, RENDERED, .vars = "{cpurequest: 100m}" },
	{ "/var/log/kube-proxy.log", NULL, 0644, NODE, 2, 0 },
	{ MANIFESTS "e2e-image-puller.manifest", "e2e-image-puller/e2e-image-puller.manifest", 0644, NODE, 3, 0, IF(prepull_e2e_images, "true"), RENDERED },
	{ MANIFESTS "calico-node.manifest", "calico/calico-node.manifest", 0644, NODE, 4, 0, IF_CALICO, RENDERED },
	{ "/etc/cni/net.d/10-calico.conf", "calico/10-calico.conf", 0644, NODE, 4, 0, IF_CALICO, RENDERED },

	{ "/etc/sysconfig/kubelet", "kubelet/default", 0644, BOTH, 2, 0, RENDERED },
	{ "/lib/systemd/system/kubelet.service", "kubelet/kubelet.service", 0644, BOTH, 2, 0 },

	{ "/etc/cron.hourly/logrotate", "logrotate/cron", 0755, BOTH, 2, 0, RENDERED },
	{ "/etc/logrotate.d/docker-containers", "logrotate/docker-containers", 0644, BOTH, 2, 0, RENDERED },
	{ LOG("docker") },
	{ LOG("kube-addons") },
	{ LOG("kube-apiserver") },
	{ LOG("kube-apiserver-audit"), .sls = "logrotate/init.sls", .says = "kube-apiserver-audit" },
	{ LOG("kube-controller-manager") },
	{ LOG("kube-proxy") },
	{ LOG("kube-scheduler") },
	{ LOG("kubelet") },
};
/* clang-format on */

const size_t kubeup_n_states = ARRAY_LEN(kubeup_states);
