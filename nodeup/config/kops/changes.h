/* changes.h - what one version of kops writes differently from another
 * Each difference has one row: its name, what kops does, and the spans of versions that do so. If a fix was also
 * made in older minors, each of them has a span. If the version of Kubernetes counts too, the span says so. Builders
 * and readers ask for a difference by its name; nothing else compares versions of kops.
 * Invariant: pure. Owner: constants. Errors: none. Threads: all.
 * Source: kops 1.29 to 1.37, nodeup/pkg/model, at each tag.
 * Tests: test_kops_changes.c. */
#pragma once

#include "nodeup/config/kops/kops.h"

/* clang-format off */
#define KOPS_CHANGES(X) \
	/* kubelet, containerd */ \
	X(KUBELET_FILE, "kubelet takes nearly all its settings from kubelet.conf, not from flags", SINCE(36, 0)) \
	X(CLOUD_CONFIG_OF_KUBELET, "kubelet is told of the cloud configuration", UNTIL(32), UNTIL(35, 0, 33)) \
	X(CREDENTIAL_PROVIDER, "kubelet logs in to ECR by a program", UNTIL(33, 27), SINCE(34, 0)) \
	X(CREDENTIALS_OF_MIRRORS, "that program is told its region, and logs in to mirrors as well", SINCE(33, 0)) \
	X(IMAGE_AGES_ARE_FLAGS, "kubelet is told how old images may be by flags, to the letter", UNTIL(32)) \
	X(PARALLEL_PULLS, "kubelet's maxParallelImagePulls counts", SINCE(34, 2)) \
	X(RESTART_PERIOD, "kubelet's crashLoopBackOffMaxContainerRestartPeriod counts", SINCE(35, 0)) \
	X(SHORT_RESTART_PERIOD, "it is a minute on control planes", SINCE(35, 0, 35)) \
	X(EMPTY_CRASH_LOOP_BACK_OFF, "kubelet.conf has a crashLoopBackOff of which nothing is set", SINCE(32, 0)) \
	X(EMPTY_TEXT_LOGGING, "kubelet.conf has a logging.options.text of which nothing is set", SINCE(30, 0)) \
	X(QUOTED_FLAGS, "a flag of a unit stands in quotes where its value has one", SINCE(31, 0)) \
	X(SLICES, "cgroups have slices whatever the cgroupDriver", SINCE(34, 0)) \
	X(KUBELET_KEY_0600, "the key of kubelet's server has mode 0600 beside an API server", UNTIL(35)) \
	X(SANDBOX_OF_KUBELET, "the sandbox's image is kubelet's podInfraContainerImage", UNTIL(34)) \
	X(CONFIG_TOML_3, "config.toml has a version of containerd 2", SINCE(36, 0)) \
	X(MIRROR_FOLDERS, "mirrors are in certs.d, not in config.toml", SINCE(36, 0)) \
	X(DEFAULT_RUNTIME, "config.toml names runc without GPUs as well", SINCE(34, 0)) \
	X(NVIDIA_RUNC_V2, "containers with GPUs are started by runc.v2", SINCE(34, 0)) \
	X(KUBENET_CNI_1, "the network's template is of CNI 1.0.0", SINCE(35, 0)) \
	X(CONTAINERD_AFTER_DBUS, "containerd starts after D-Bus, not after local file systems", SINCE(34, 0)) \
	X(CONTAINERD_LABELS, "labels of SELinux are restored before containerd starts", SINCE(34, 0)) \
	X(CONTAINERD_BUNDLE, "runc and crictl may be in containerd's archive", UNTIL(36)) \
	X(LICENCE_IN_LINES, "containerd's licence begins with an empty line more, and its last line ends", UNTIL(33)) \
	X(SKIPPED_TOOLS, "skipInstall leaves out crictl too, and tools may be asked for by name", SINCE(34, 0)) \
	/* control plane, host, network */ \
	X(PROTOKUBE, "protokube runs on each control plane, and applies addons", UNTIL(35)) \
	X(OLD_PROBE, "kube-apiserver has one probe, of /healthz", UNTIL(30), UNTIL(35, 0, 31)) \
	X(IN_TREE_CLOUD, "cloud.config is there a second time, for programs that know the cloud themselves", UNTIL(35)) \
	X(API_CLOUD, "kube-apiserver is told of that second one", BETWEEN(0, 0, 32, 1), UNTIL(35, 0, 33)) \
	X(API_ENV, "kube-apiserver has variables of the documents", SINCE(31, 0)) \
	X(ETCD_LEASES, "etcd's leases have the CA, the name and the log that main and events have", SINCE(36, 0)) \
	X(SCHEDULER_LOOKUP, "the scheduler ends where it cannot learn how its users are known", SINCE(35, 0)) \
	X(SCHEDULER_BETA, "the scheduler's configuration is v1beta2", UNTIL(35, 0, 25)) \
	X(STAMPED_PODS, "pods have a creationTimestamp, null", UNTIL(33)) \
	X(QUOTED_ARGS, "a quote in an argument of a pod puts it in quotes", BETWEEN(31, 0, 35, 1)) \
	X(PROXY_FILE, "kube-proxy mounts its kubeconfig", UNTIL(35)) \
	X(PROXY_FOLDER, "kube-proxy mounts the folder of its kubeconfig", SINCE(36, 0)) \
	X(OLD_TOOLS, "conntrack, pigz and their kind are installed", UNTIL(34)) \
	X(OLDER_TOOLS, "ebtables, socat and their kind are installed", UNTIL(33)) \
	X(NFTABLES_PACKAGE, "kube-proxy's mode may bring nftables", SINCE(34, 0)) \
	X(NFTABLES_HOSTS, "hosts where iptables of old does not work get what does", SINCE(35, 2)) \
	X(NFTABLES_ALONE, "they get nothing of iptables", BETWEEN(35, 0, 35, 1)) \
	X(NFTABLES_PROXY, "kube-proxy uses nftables there, unless it is to use ipvs", WITHIN(35, 0, 29), SINCE(36, 0)) \
	X(CGROUP_2, "kubelet refuses a host with cgroup v1", SINCE(0, 0, 35)) \
	X(WIREGUARD_CHOICE, "calico's settings may leave out wireguard", SINCE(35, 0)) \
	X(INOTIFY_WATCHES, "the kernel is told how many watches of inotify there may be", UNTIL(35)) \
	X(CNI_ALWAYS, "CNI plugins are installed, whatever the documents say", UNTIL(31)) \
	/* files that keep the host from the network of pods */ \
	X(ENI_GUARDS, "the host is kept from all interfaces of pods", WITHIN(34, 3), SINCE(35, 1)) \
	X(LATE_GUARDS, "so are hosts that were left alone before", SINCE(36, 0)) \
	X(CILIUM_ROUTES, "with cilium networkd leaves routes of others alone", SINCE(32, 1)) \
	X(RELEASE_CONF, "with amazonvpc networkd is told so by 80-release.conf", BETWEEN(0, 0, 34, 2), BETWEEN(35, 0, 35, 0)) \
	X(RELEASE_CONF_LATE, "so it is on more releases", SINCE(32, 1)) \
	X(DEFAULT_LINK_AGAIN, "with amazonvpc networkd gives no MAC on releases that some versions left out", BETWEEN(0, 0, 30, 1), SINCE(32, 1)) \
	X(OTHERS_OF_VPC, "with amazonvpc its interfaces but the first are known by their names", BETWEEN(34, 2, 34, 2), BETWEEN(35, 0, 35, 0)) \
	X(OTHERS_BY_NAME, "all interfaces but the first are known by their names", WITHIN(34, 3), BETWEEN(35, 1, 36, 1)) \
	X(OTHERS_BY_DRIVER, "all interfaces but the first are known by their driver", SINCE(36, 2)) \
	X(HOTPLUG, "cloud-init does nothing when an interface is attached", SINCE(34, 2)) \
	X(ROUTING_TABLES, "with kube-router names of routing tables are where newer releases have them", SINCE(34, 2))
/* clang-format on */

#define KOPS_CHANGE_ENUM(name, doc, ...) KOPS_##name,
enum kops_change {
	KOPS_ALWAYS, /* stands for no difference: always true */
	KOPS_CHANGES(KOPS_CHANGE_ENUM) KOPS_CHANGE_COUNT,
};

/* Returns whether the kops of these documents makes the change. */
bool kops_does(const struct kops_config *c, enum kops_change change);
/* Returns whether `kops` has the minor of one of these versions, and the same patch or a later one. The last version
 * also stands for all later minors, and {0} for all versions. */
bool kops_is_since(const struct version *kops, const struct version *since, size_t n);
/* Returns whether the two versions make the same changes, for every Kubernetes. */
bool kops_is_same(const struct version *x, const struct version *y);
