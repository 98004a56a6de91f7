#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/config/kops/model.h"
#include "tests/unit/lib/kops_control_plane.h"

enum { BASE = 10, TEXT_MAX = 64 };

/* Every release of kops from 1.29 on, as minor and patch. */
static const int releases[][2] = {
	{ 29, 0 }, { 29, 1 }, { 29, 2 }, { 30, 0 }, { 30, 1 }, { 30, 2 }, { 30, 3 },
	{ 30, 4 }, { 31, 0 }, { 32, 0 }, { 32, 1 }, { 32, 2 }, { 32, 3 }, { 32, 4 },
	{ 33, 0 }, { 33, 1 }, { 33, 2 }, { 34, 0 }, { 34, 1 }, { 34, 2 }, { 34, 3 },
	{ 35, 0 }, { 35, 1 }, { 35, 2 }, { 36, 0 }, { 36, 1 }, { 36, 2 }, { 37, 0 },
};

#define API "/etc/kubernetes/manifests/kube-apiserver.manifest"
#define KCM "/etc/kubernetes/manifests/kube-controller-manager.manifest"
#define SCHEDULER "/etc/kubernetes/manifests/kube-scheduler.manifest"
#define PROXY "/etc/kubernetes/manifests/kube-proxy.manifest"
#define IN_TREE "/etc/kubernetes/in-tree-cloud.config"
#define SYSCTL "/etc/sysctl.d/99-k8s-general.conf"
#define NETWORKD "/usr/lib/systemd/networkd.conf.d/"
#define NETWORK "/etc/systemd/network/"
#define UNIT "/etc/systemd/system/protokube.service"
#define HOTPLUG "/etc/cloud/cloud.cfg.d/99-disable-network-hotplug.cfg"
#define IFUPDOWN "/etc/udev/rules.d/75-cloud-ifupdown.rules"
#define POLICY "/etc/udev/rules.d/99-vpc-policy-routes.rules"
#define MASK "/etc/systemd/system/"
#define VPC ", amazonVPC: {}"
#define CILIUM ", cilium: {}"
#define ENI ", cilium: {ipam: eni}"
#define PROXY_KEY ", KubeProxy: {image: 'r/proxy:1', cpuRequest: 100m}"
#define NFTABLES_KEY \
	", KubeProxy: {image: 'r/proxy:1', cpuRequest: 100m, enabled: true, proxyMode: nftables}"

/* What is there of which versions of kops, and of no others. */
static const struct row {
	const char *of; /* "29.0-34.2 35.0-": ends within */
	const char *builder;
	const char *name; /* of a task; blank-separated names are of packages */
	const char *text; /* that a file has, or NULL */
	const char *keys, *networking, *api_server;
	const char *role, *distribution, *containerd;
	const char *version; /* of the distribution; NULL: that of the table below */
	const char *owner;   /* of a file; NULL: it is of no matter */
	int kubernetes;
} rows[] = {
	/* clang-format off */
	{ "29.0-35.2", "protokube", UNIT, "ExecStart=/opt/kops/bin/protokube " },
	{ "29.0-35.2", "protokube", "/opt/kops/bin/protokube", NULL },
	{ "29.0-35.2", "protokube", "/opt/kops/bin/channels", NULL },
	{ "29.0-35.2", "protokube", "/etc/sysconfig/protokube", "KUBECONFIG=/var/lib/kops/kubeconfig\n" },
	{ "29.0-35.2", "protokube", UNIT, " --v=4\n" },
	{ "29.0-35.2", "protokube", UNIT, " --v=4 --zone=*/Z1A\n", ", DNSZone: Z1A" },
	{ "29.0-35.2", "protokube", UNIT, " --v=4 --zone=a.example\n", ", DNSZone: a.example" },
	{ "", "protokube", UNIT, NULL, .role = "APIServer" },
	{ "36.0-", "pki", "kops-channels", NULL },
	{ "29.0-35.2", "pki", "/var/lib/kops/kubeconfig", NULL, .owner = "0" },
	{ "36.0-", "pki", "/var/lib/kops/kubeconfig", NULL, .owner = "10013" },
	{ "29.0-30.4", "kube-apiserver", API, "initialDelaySeconds: 45" },
	{ "29.0-30.4", "kube-apiserver", API, "initialDelaySeconds: 45", .kubernetes = 31 },
	{ "29.0-35.2", "kube-apiserver", API, "initialDelaySeconds: 45", .kubernetes = 30 },
	{ "31.0-", "kube-apiserver", API, "startupProbe" },
	{ "31.0-", "kube-apiserver", API, "path: /livez" },
	{ "36.0-", "kube-apiserver", API, "readinessProbe", .kubernetes = 30 },
	{ "29.0-35.2", "kube-apiserver", API, "--cloud-config=" IN_TREE, .kubernetes = 32 },
	{ "29.0-32.1", "kube-apiserver", API, "--cloud-config=" IN_TREE, .kubernetes = 33 },
	{ "29.0-35.2", "kube-apiserver", API, "name: cloudconfig", .kubernetes = 34 },
	{ "31.0-", "kube-apiserver", API, "value: one", .api_server = ", env: [{name: A, value: one}]" },
	{ "36.0-", "kube-apiserver", API, "leases.etcd.internal.a.example",
	  .api_server = ", etcdServersOverrides: ['coordination.k8s.io/leases#https://127.0.0.1:4', '/events#https://127.0.0.1:3']", .role = "APIServer" },
	{ "29.0-", "kube-apiserver", API, "events.etcd.internal.a.example",
	  .api_server = ", etcdServersOverrides: ['coordination.k8s.io/leases#https://127.0.0.1:4', '/events#https://127.0.0.1:3']", .role = "APIServer" },
	{ "31.0-35.1", "kube-apiserver", API, "=\"https://a\\\"b\"", .api_server = ", serviceAccountIssuer: 'https://a\"b'" },
	{ "29.0-35.2", "control-plane", KCM, "--cloud-config=" IN_TREE, .kubernetes = 35 },
	{ "29.0-35.2", "control-plane", KCM, "name: cloudconfig", .kubernetes = 35 },
	{ "35.0-", "control-plane", SCHEDULER, "--authentication-tolerate-lookup-failure=false" },
	{ "35.0-", "control-plane", SCHEDULER, "--authentication-skip-lookup=false" },
	{ "29.0-35.2", "control-plane", "/var/lib/kube-scheduler/config.yaml", "/v1beta2\n", .kubernetes = 24 },
	{ "", "control-plane", "/var/lib/kube-scheduler/config.yaml", "/v1beta2\n", .kubernetes = 25 },
	{ "29.0-33.2", "control-plane", SCHEDULER, "creationTimestamp: null" },
	{ "29.0-33.2", "kube-apiserver", API, "creationTimestamp: null" },
	{ "29.0-33.2", "kube-proxy", PROXY, "creationTimestamp: null", PROXY_KEY },
	{ "29.0-35.2", "kube-proxy", PROXY, "path: /var/lib/kube-proxy/kubeconfig\n", PROXY_KEY },
	{ "36.0-", "kube-proxy", PROXY, "path: /var/lib/kube-proxy\n", PROXY_KEY },
	{ "29.0-35.2", "system", IN_TREE, "[global]\nElbSecurityGroup = sg-1\n", ", elbSecurityGroup: sg-1, nodeIPFamilies: [ipv6]" },
	{ "", "system", IN_TREE, "NodeIPFamilies", ", elbSecurityGroup: sg-1, nodeIPFamilies: [ipv6]" },
	{ "29.0-", "system", "/etc/kubernetes/cloud.config", "NodeIPFamilies = ipv6", ", nodeIPFamilies: [ipv6]" },
	{ "", "system", IN_TREE, NULL, ", KubeletConfig: {cloudProvider: external}", .role = "Node" },
	{ "29.0-35.2", "system", IN_TREE, NULL, .role = "Node" },
	{ "29.0-31.0", "containerd", "/opt/cni/bin/bridge", NULL, .containerd = ", skipInstall: true" },
	{ "29.0-", "containerd", "/opt/cni/bin/bridge", NULL, ", InstallCNIAssets: true", .containerd = ", skipInstall: true" },
	{ "29.0-34.3", "packages", "conntrack bridge-utils libltdl7 pigz", NULL },
	{ "29.0-33.2", "packages", "ebtables ethtool socat cgroupfs-mount", NULL },
	{ "29.0-34.3", "packages", "conntrack-tools libtool-ltdl pigz", NULL, .distribution = "amazonlinux" },
	{ "29.0-33.2", "packages", "ebtables ethtool socat libcgroup", NULL, .distribution = "amazonlinux" },
	{ "29.0-", "packages", "iptables-nft libseccomp", NULL, .distribution = "amazonlinux" },
	{ "34.0-", "packages", "nftables ", NULL, NFTABLES_KEY },
	{ "29.0-34.3", "packages", "wireguard ", NULL, .networking = ", calico: {wireguardEnabled: false}", .distribution = "ubuntu" },
	{ "29.0-34.3", "packages", "wireguard ", NULL, .networking = ", calico: {}, nonMasqueradeCIDR: '::/0'", .distribution = "ubuntu" },
	{ "29.0-", "packages", "wireguard ", NULL, .networking = ", calico: {}", .distribution = "ubuntu" },
	{ "29.0-35.2", "sysctl", SYSCTL, "instances and watches for a user\n" },
	{ "29.0-35.2", "sysctl", SYSCTL, "fs.inotify.max_user_instances = 8192\nfs.inotify.max_user_watches = 524288\n" },
	{ "36.0-", "logrotate", "/etc/logrotate.d/etcd-leases", NULL },
	{ "29.0-", "logrotate", "/etc/logrotate.d/etcd-events", NULL },
	/* networks */
	{ "29.0-34.2 35.0", "network", NETWORKD "80-release.conf", "ManageForeignRoutes=no", .networking = VPC, .distribution = "amazonlinux" },
	{ "32.1-34.2 35.0", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "ubuntu" },
	{ "", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "debian" },
	{ "34.3 35.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "amazonlinux" },
	{ "34.3 35.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "ubuntu" },
	{ "36.0-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "debian" },
	{ "32.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "ubuntu" },
	{ "32.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "amazonlinux" },
	{ "36.0-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = ENI, .distribution = "debian" },
	{ "29.0-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "amazonlinux" },
	{ "29.0-30.1 32.1-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "ubuntu" },
	{ "36.0-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "debian" },
	{ "34.3 35.1-", "network", NETWORK "99-default.link", NULL, .networking = ENI, .distribution = "amazonlinux" },
	{ "34.3 35.1-", "network", NETWORK "99-default.link", NULL, .networking = ENI, .distribution = "ubuntu" },
	{ "36.0-", "network", NETWORK "99-default.link", NULL, .networking = ENI, .distribution = "debian" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = CILIUM, .distribution = "amazonlinux" },
	{ "29.0-", "network", POLICY, NULL, .networking = VPC, .distribution = "amazonlinux" },
	{ "29.0-", "network", "policy-routes", NULL, .networking = VPC, .distribution = "amazonlinux" },
	{ "34.3 35.1-", "network", POLICY, NULL, .networking = ENI, .distribution = "amazonlinux" },
	{ "34.3 35.1-36.1", "network", NETWORK "10-eni-secondary.network", "Name=ens[6-9]* ens[1-9][0-9]*\n", .networking = VPC, .distribution = "amazonlinux" },
	{ "34.3 35.1-36.1", "network", NETWORK "10-eni-secondary.network", NULL, .networking = ENI, .distribution = "amazonlinux" },
	{ "", "network", NETWORK "10-eni-secondary.network", NULL, .networking = VPC, .distribution = "debian" },
	{ "34.2 35.0", "network", NETWORK "10-vpc-cni-secondary.network", NULL, .networking = VPC, .distribution = "amazonlinux" },
	{ "", "network", NETWORK "10-vpc-cni-secondary.network", NULL, .networking = ENI, .distribution = "amazonlinux" },
	{ "36.2-", "network", NETWORK "75-eni-secondary.network", "Driver=ena", .networking = VPC, .distribution = "amazonlinux" },
	{ "36.2-", "network", NETWORK "75-eni-secondary.network", NULL, .networking = ENI, .distribution = "debian" },
	{ "34.2-", "network", HOTPLUG, "with CNI ENI management", .networking = VPC, .distribution = "ubuntu" },
	{ "34.2-", "network", HOTPLUG, NULL, .networking = CILIUM, .distribution = "ubuntu" },
	{ "36.0-", "network", HOTPLUG, NULL, .networking = CILIUM, .distribution = "debian" },
	{ "34.2-", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "debian" },
	{ "34.2-", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "ubuntu" },
	/* releases */
	{ "29.0-33.2", "packages", "cgroupfs-mount ", NULL, .distribution = "debian", .version = "11" },
	{ "29.0-33.2", "packages", "cgroupfs-mount ", NULL, .distribution = "debian", .version = "12" },
	{ "29.0-33.2", "packages", "cgroupfs-mount ", NULL, .distribution = "ubuntu", .version = "22.04" },
	{ "29.0-33.2", "packages", "cgroupfs-mount ", NULL, .distribution = "ubuntu", .version = "24.04" },
	{ "", "packages", "cgroupfs-mount ", NULL, .distribution = "debian", .version = "13" },
	{ "", "packages", "cgroupfs-mount ", NULL, .distribution = "ubuntu", .version = "25.10" },
	{ "", "packages", "cgroupfs-mount ", NULL, .distribution = "ubuntu", .version = "26.04" },
	{ "29.0-33.2", "packages", "libcgroup ", NULL, .distribution = "rhel", .version = "8" },
	{ "29.0-33.2", "packages", "libcgroup ", NULL, .distribution = "rocky", .version = "8" },
	{ "29.0-33.2", "packages", "libcgroup ", NULL, .distribution = "fedora", .version = "41" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "rhel", .version = "9" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "rocky", .version = "9" },
	{ "29.0-", "packages", "iptables ", NULL, .distribution = "rhel", .version = "8" },
	{ "29.0-", "packages", "iptables ", NULL, .distribution = "rhel", .version = "9" },
	{ "29.0-", "packages", "iptables ", NULL, .distribution = "rocky", .version = "8" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "rocky", .version = "9" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "rocky", .version = "9" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "centos", .version = "9" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "centos", .version = "9" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "rhel", .version = "10" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "rhel", .version = "10" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "rocky", .version = "10" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "rocky", .version = "10" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "centos", .version = "10" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "centos", .version = "10" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "fedora", .version = "41" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "fedora", .version = "41" },
	{ "29.0-34.3", "packages", "iptables ", NULL, .distribution = "fedora", .version = "44" },
	{ "35.2-", "packages", "iptables-nft ", NULL, .distribution = "fedora", .version = "44" },
	{ "35.0-", "packages", "nftables ", NULL, .distribution = "rocky", .version = "9" },
	{ "35.0-", "packages", "nftables ", NULL, .distribution = "rhel", .version = "10" },
	{ "35.0-", "packages", "nftables ", NULL, .distribution = "fedora", .version = "41" },
	{ "", "packages", "nftables ", NULL, .distribution = "rhel", .version = "9" },
	{ "29.0-34.3", "packages", "wireguard ", NULL, .networking = ", calico: {wireguardEnabled: false}", .distribution = "ubuntu", .version = "22.04" },
	{ "29.0-", "packages", "wireguard ", NULL, .networking = ", calico: {}", .distribution = "ubuntu", .version = "26.04" },
	{ "35.0-", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "rhel", .version = "10" },
	{ "36.0-", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .kubernetes = 28, .distribution = "rhel", .version = "10" },
	{ "35.0-", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "fedora", .version = "41" },
	{ "36.0-", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .kubernetes = 28, .distribution = "fedora", .version = "41" },
	{ "", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "rhel", .version = "9" },
	{ "", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "rocky", .version = "9" },
	{ "", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "centos", .version = "9" },
	{ "", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "amazonlinux", .version = "2023" },
	{ "", "kube-proxy", PROXY, "--proxy-mode=nftables", .keys = PROXY_KEY, .distribution = "debian", .version = "13" },
	{ "29.0-", "kube-proxy", PROXY, "--proxy-mode=ipvs", .keys = ", KubeProxy: {image: 'r/proxy:1', cpuRequest: 100m, proxyMode: ipvs}", .distribution = "rhel", .version = "10" },
	{ "29.0-", "sysctl", SYSCTL, "IPv6 route\nnet.ipv6.conf.ens5.accept_ra=2\n# Enable IPv6 forwarding", .networking = ", nonMasqueradeCIDR: '::/0'", .distribution = "debian", .version = "11" },
	{ "", "sysctl", SYSCTL, "accept_ra", .networking = ", nonMasqueradeCIDR: '::/0'", .distribution = "debian", .version = "12" },
	{ "", "sysctl", SYSCTL, "accept_ra", .distribution = "debian", .version = "11" },
	{ "34.3 35.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "34.3 35.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "ubuntu", .version = "25.10" },
	{ "34.3 35.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "ubuntu", .version = "26.04" },
	{ "36.0-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "debian", .version = "11" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "rhel", .version = "8" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "rhel", .version = "10" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "rocky", .version = "8" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "rocky", .version = "9" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "rocky", .version = "10" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "centos", .version = "9" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "centos", .version = "10" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "fedora", .version = "41" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = VPC, .distribution = "fedora", .version = "44" },
	{ "32.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "ubuntu", .version = "22.04" },
	{ "32.1-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "ubuntu", .version = "26.04" },
	{ "36.0-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "debian", .version = "13" },
	{ "36.0-", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "debian", .version = "12" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "debian", .version = "11" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "rhel", .version = "9" },
	{ "32.1-34.2 35.0", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "32.1-34.2 35.0", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "ubuntu", .version = "25.10" },
	{ "", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "debian", .version = "11" },
	{ "", "network", NETWORKD "80-release.conf", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "29.0-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "29.0-30.1 32.1-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "ubuntu", .version = "25.10" },
	{ "29.0-30.1 32.1-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "ubuntu", .version = "26.04" },
	{ "36.0-", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "debian", .version = "11" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "rhel", .version = "8" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "rhel", .version = "10" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "rocky", .version = "8" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "rocky", .version = "9" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "rocky", .version = "10" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "centos", .version = "9" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "centos", .version = "10" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "fedora", .version = "41" },
	{ "", "network", NETWORK "99-default.link", NULL, .networking = VPC, .distribution = "fedora", .version = "44" },
	{ "34.3 35.1-", "network", NETWORK "99-default.link", NULL, .networking = ENI, .distribution = "ubuntu", .version = "22.04" },
	{ "36.0-", "network", NETWORK "99-default.link", NULL, .networking = ENI, .distribution = "debian", .version = "13" },
	{ "", "network", NETWORK "10-eni-secondary.network", NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "", "network", NETWORK "10-eni-secondary.network", NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "36.2-", "network", NETWORK "75-eni-secondary.network", NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "", "network", NETWORK "75-eni-secondary.network", NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "", "network", NETWORK "75-eni-secondary.network", NULL, .networking = VPC, .distribution = "ubuntu", .version = "24.04" },
	{ "", "network", NETWORK "75-eni-secondary.network", NULL, .networking = VPC, .distribution = "ubuntu", .version = "26.04" },
	{ "", "network", NETWORK "75-eni-secondary.network", NULL, .networking = VPC, .distribution = "debian", .version = "11" },
	{ "", "network", NETWORK "75-eni-secondary.network", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "34.2-", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "ubuntu", .version = "25.10" },
	{ "34.2-", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "ubuntu", .version = "26.04" },
	{ "36.0-", "network", HOTPLUG, NULL, .networking = CILIUM, .distribution = "debian", .version = "13" },
	{ "", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "debian", .version = "11" },
	{ "", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "amazonlinux", .version = "2023" },
	{ "", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "rhel", .version = "10" },
	{ "34.3 35.1-", "network", IFUPDOWN, NULL, .networking = VPC, .distribution = "debian", .version = "11" },
	{ "", "network", IFUPDOWN, NULL, .networking = VPC, .distribution = "debian", .version = "12" },
	{ "", "network", IFUPDOWN, NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "", "network", IFUPDOWN, NULL, .networking = VPC, .distribution = "ubuntu", .version = "22.04" },
	{ "", "network", IFUPDOWN, NULL, .networking = ENI, .distribution = "debian", .version = "11" },
	{ "34.2-", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "debian", .version = "11" },
	{ "34.2-", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "ubuntu", .version = "22.04" },
	{ "", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "debian", .version = "13" },
	{ "", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "ubuntu", .version = "25.10" },
	{ "", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "ubuntu", .version = "26.04" },
	{ "", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "rhel", .version = "9" },
	{ "", "network", "/usr/share/iproute2", NULL, .networking = ", kubeRouter: {}", .distribution = "amazonlinux", .version = "2023" },
	{ "", "network", POLICY, NULL, .networking = VPC, .distribution = "debian", .version = "13" },
	{ "", "network", POLICY, NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "35.2-", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "rhel", .version = "10" },
	{ "35.2-", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "rocky", .version = "10" },
	{ "35.2-", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "centos", .version = "10" },
	{ "35.2-", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "fedora", .version = "41" },
	{ "35.2-", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "fedora", .version = "44" },
	{ "", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "rhel", .version = "9" },
	{ "", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "rocky", .version = "9" },
	{ "", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "centos", .version = "9" },
	{ "", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "rhel", .version = "8" },
	{ "", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "amazonlinux", .version = "2023" },
	{ "", "firewall", "/etc/kops/firewalld-disabled", NULL, .distribution = "debian", .version = "13" },
	{ "35.2-", "firewall", MASK "firewalld.service", NULL, .distribution = "rhel", .version = "10" },
	{ "35.2-", "firewall", MASK "firewalld.service", NULL, .distribution = "fedora", .version = "41" },
	{ "35.2-", "firewall", MASK "firewalld.service", NULL, .distribution = "fedora", .version = "44" },
	{ "35.2-", "sysctl", "nf_tables", NULL, .distribution = "rhel", .version = "10" },
	{ "35.2-", "sysctl", "ip_set", NULL, .distribution = "rhel", .version = "10" },
	{ "35.2-", "sysctl", "kernel-modules-extra", NULL, .distribution = "rhel", .version = "10" },
	{ "35.2-", "sysctl", "nf_tables", NULL, .distribution = "rocky", .version = "10" },
	{ "35.2-", "sysctl", "ip_set", NULL, .distribution = "rocky", .version = "10" },
	{ "35.2-", "sysctl", "kernel-modules-extra", NULL, .distribution = "rocky", .version = "10" },
	{ "35.2-", "sysctl", "nf_tables", NULL, .distribution = "centos", .version = "10" },
	{ "35.2-", "sysctl", "ip_set", NULL, .distribution = "centos", .version = "10" },
	{ "35.2-", "sysctl", "kernel-modules-extra", NULL, .distribution = "centos", .version = "10" },
	{ "35.2-", "sysctl", "nf_tables", NULL, .distribution = "fedora", .version = "41" },
	{ "35.2-", "sysctl", "ip_set", NULL, .distribution = "fedora", .version = "41" },
	{ "35.2-", "sysctl", "kernel-modules-extra", NULL, .distribution = "fedora", .version = "41" },
	{ "35.2-", "sysctl", "nf_tables", NULL, .distribution = "fedora", .version = "44" },
	{ "35.2-", "sysctl", "ip_set", NULL, .distribution = "fedora", .version = "44" },
	{ "35.2-", "sysctl", "kernel-modules-extra", NULL, .distribution = "fedora", .version = "44" },
	{ "35.2-", "sysctl", "nf_conntrack", NULL, .distribution = "rocky", .version = "9" },
	{ "35.2-", "sysctl", "nf_conntrack", NULL, .distribution = "rhel", .version = "10" },
	{ "", "sysctl", "nf_conntrack", NULL, .distribution = "rhel", .version = "9" },
	{ "", "sysctl", "nf_conntrack", NULL, .distribution = "centos", .version = "9" },
	{ "", "sysctl", "nf_conntrack", NULL, .distribution = "rocky", .version = "8" },
	{ "", "sysctl", "nf_conntrack", NULL, .distribution = "debian", .version = "13" },
	{ "", "sysctl", "ip_set", NULL, .distribution = "rocky", .version = "9" },
	{ "29.0-", "sysctl", "br_netfilter", NULL, .distribution = "rocky", .version = "9" },
	{ "34.3 35.1-", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "34.3 35.1-", "network", MASK "nm-cloud-setup.timer", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "34.3 35.1-", "network", "nm-cloud-setup", NULL, .networking = VPC, .distribution = "rhel", .version = "9" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = CILIUM, .distribution = "rhel", .version = "9" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = ENI, .distribution = "rhel", .version = "9" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = VPC, .distribution = "rhel", .version = "8" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = VPC, .distribution = "rhel", .version = "10" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = VPC, .distribution = "rocky", .version = "9" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = VPC, .distribution = "centos", .version = "9" },
	{ "", "network", "/etc/kops/nm-cloud-setup-disabled", NULL, .networking = VPC, .distribution = "amazonlinux", .version = "2023" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "rhel", .version = "10" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "rocky", .version = "10" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "centos", .version = "9" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "centos", .version = "10" },
	{ "", "packages", "libcgroup ", NULL, .distribution = "fedora", .version = "44" },
	{ "29.0-", "upgrades", MASK "update-service.service", "systemctl mask --now locksmithd.service", .distribution = "flatcar", .version = "4152.2.0" },
	{ "29.0-", "upgrades", MASK "locksmithd.service", NULL, .distribution = "flatcar", .version = "4152.2.0" },
	{ "", "packages", "iptables ", NULL, .distribution = "flatcar", .version = "4152.2.0" },
	{ "", "packages", "conntrack ", NULL, .distribution = "flatcar", .version = "4152.2.0" },
	{ "", "network", HOTPLUG, NULL, .networking = VPC, .distribution = "flatcar", .version = "4152.2.0" },
	{ "", "network", NETWORKD "40-disable-manage-foreign-routes.conf", NULL, .networking = CILIUM, .distribution = "flatcar", .version = "4152.2.0" },
	/* clang-format on */
};

/* As a number by which they can be compared. */
static long release_number(const char *text, const char **end)
{
	char *at;
	const long minor = strtol(text, &at, BASE), patch = strtol(at + 1, &at, BASE);

	*end = at;
	return minor * BASE + patch;
}

static bool is_within(const char *spans, int minor, int patch)
{
	const long this_one = minor * BASE + patch;

	while (*spans) {
		const long first = release_number(spans, &spans);
		long last = first;

		if (*spans == '-' && *++spans)
			last = release_number(spans, &spans);
		else if (spans[-1] == '-')
			last = INT32_MAX;
		if (this_one >= first && this_one <= last)
			return true;
		spans += strspn(spans, " ");
	}
	return false;
}

static const struct plan *plan_of(struct arena *a, const struct row *row, int minor, int patch,
				  struct control_plane *c)
{
	static const char *const versions[][2] = { { "amazonlinux", "2023" },
						   { "ubuntu", "24.04" },
						   { "debian", "12" } };

	*c = (struct control_plane){
		.w = { .vintage = { minor, minor,
				    .text = arena_printf(a, "1.%d.%d", minor, patch) },
		       .kubernetes = row->kubernetes,
		       .role = row->role,
		       .facts = { .distribution = row->distribution ? row->distribution : "debian",
				  .mac = "0a:01" } },
		.networking = row->networking,
		.api_server = row->api_server,
		.containerd = row->containerd,
		.all = row->keys,
	};
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (row->version || str_eq(versions[i][0], c->w.facts.distribution))
			c->w.facts.version = row->version ? row->version : versions[i][1];
	strmap_set(a, &c->w.facts.interfaces, "ens5", "0A:01");
	return control_plane_plan(a, c, row->builder);
}

static bool has_packages(const struct plan *p, const char *names)
{
	const struct strv wanted = strv_split(p->arena, names, ' ');
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < wanted.n && p->tasks[i]->kind == TASK_PACKAGE; k++)
			n += *wanted.v[k] && strv_has(&p->tasks[i]->package.names, wanted.v[k]);
	for (size_t k = 0; k < wanted.n; k++)
		n += !*wanted.v[k];
	/* all of them, or none */
	assert_true(n == wanted.n || n == (names[strlen(names) - 1] == ' '));
	return n == wanted.n;
}

static bool is_there(const struct plan *p, const struct row *row)
{
	if (strchr(row->name, ' '))
		return has_packages(p, row->name);
	for (size_t i = 0; i < p->n; i++) {
		const struct task *t = p->tasks[i];

		if (!str_eq(t->name, row->name))
			continue;
		if (row->owner && t->file.attr.uid != (uid_t)strtol(row->owner, NULL, BASE))
			continue;
		return !row->text || (t->kind == TASK_FILE && t->file.content &&
				      strstr(t->file.content, row->text));
	}
	return false;
}

static void each_release_writes_what_it_wrote(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ARRAY_LEN(releases); k++) {
			autoarena struct arena *a = arena_new_empty();
			const int minor = releases[k][0], patch = releases[k][1];
			struct control_plane c;
			const bool got = is_there(plan_of(a, &rows[i], minor, patch, &c), &rows[i]);

			if (got != is_within(rows[i].of, minor, patch))
				fail_msg("kops 1.%d.%d: row %zu, %s: %s%s%s", minor, patch, i,
					 rows[i].name, got ? "there" : "not there",
					 rows[i].text ? ": " : "",
					 rows[i].text ? rows[i].text : "");
		}
}

/* Below that the leases' clients are signed by a CA of their own. */
static void leases_have_the_ca_of_all_from_a_version_on(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(releases); k++) {
		autoarena struct arena *a = arena_new_empty();
		const struct kops_config c = { .kops = { 1, releases[k][0], releases[k][1],
							 NULL } };

		assert_string_equal(kops_etcd_clients_ca(a, &c, "events"), "etcd-clients-ca");
		assert_string_equal(kops_etcd_clients_ca(a, &c, "leases"),
				    c.kops.minor < 36 ? "etcd-clients-ca-leases"
						      : "etcd-clients-ca");
	}
}

static bool is_always_there(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return true;
}

/* It would run beside the pod that applies addons. A host that is not known has none. */
static void protokube_ends_where_it_has_no_work(void **state)
{
	static const struct row none = { .builder = "protokube" };
	static const struct row row = { .builder = "protokube",
					.keys = ", channelsManifest: s3://b/x.yaml" };
	static const char units[] = "/lib/systemd/system/protokube.service";
	autoarena struct arena *a = arena_new_empty();
	struct control_plane c;

	(void)state;
	assert_int_equal(plan_of(a, &row, 36, 0, &c)->n, 0);
	c.w.req.has_file = is_always_there;
	assert_int_equal(plan_build(a, &c.w.req, &c.w.plan, &c.w.e), 0);
	/* five files, and systemd reads its units anew */
	assert_int_equal(c.w.plan.n, 6);
	assert_string_equal(planned_file(&c.w.plan, units)->unit, "protokube.service");
	assert_null(planned_file(&c.w.plan, "/opt/kops/bin/channels")->unit);
	(void)plan_of(a, &none, 35, 2, &c);
	c.w.req.has_file = is_always_there;
	assert_int_equal(plan_build(a, &c.w.req, &c.w.plan, &c.w.e), 0);
	assert_null(plan_look(&c.w.plan, TASK_FILE, units));
	/* nothing takes its place */
	(void)plan_of(a, &none, 37, 0, &c);
	c.w.req.has_file = is_always_there;
	assert_int_equal(plan_build(a, &c.w.req, &c.w.plan, &c.w.e), 0);
	assert_int_equal(c.w.plan.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_release_writes_what_it_wrote),
		cmocka_unit_test(protokube_ends_where_it_has_no_work),
		cmocka_unit_test(leases_have_the_ca_of_all_from_a_version_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
