/* builders.h - what a node of today's kops consists of
 * Each builder does what its row says; plan/builders.h declares those that every era has.
 * Owner: tasks live in the plan's arena.
 * Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/builders.h"

/* Lists the builders in the order in which a person would describe a node: name, function, and further members of
 * struct builder. */
/* clang-format off */
#define KOPS_BUILDERS(X) \
	X("release", build_kops_release) /* installs nothing: refuses a host on which kops makes no such node */ \
	X("volumes", build_volumes) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents) /* missing or damaged documents, restored from their kept copies */ \
	X("assets", build_assets) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros) /* what Container-Optimized OS needs so that programs run at all */ \
	X("packages", build_packages) /* packages of the distribution */ \
	X("system", build_kops_system, .packages = needs_kops_system) /* directories, the CA, the registry login, name resolution */ \
	X("pki", build_kops_pki) /* on a node with an API server: keys, certificates, and users that may read them */ \
	X("upgrades", build_kops_upgrades, .packages = needs_kops_upgrades) /* updates that install themselves */ \
	X("ntp", build_kops_ntp, .packages = needs_kops_ntp) /* the service that keeps the time */ \
	X("logrotate", build_kops_logrotate, .packages = needs_kops_logrotate) /* rotation of logs */ \
	X("firewall", build_kops_firewall) /* a firewall that lets pods and their traffic through */ \
	X("sysctl", build_kops_sysctl) /* kernel settings, and a module */ \
	X("network", build_kops_network, .packages = needs_kops_network) /* settings of the host that the network
									  * plugin needs */ \
	X("runtimes", build_kops_runtimes, .packages = needs_kops_runtimes) /* containers with a GPU or in gVisor:
									     * packages of their makers */ \
	X("containerd", build_kops_containerd) /* containerd, its settings, and images that it has before kubelet starts */ \
	X("kube-proxy", build_kops_kube_proxy) /* kube-proxy's static pod; or the files for the pod that replaces it */ \
	X("kube-apiserver", build_kops_kube_apiserver) /* the API server's static pod */ \
	X("control-plane", build_kops_control_plane) /* pods of the controller manager and the scheduler, and kubectl */ \
	X("manifests", build_kops_manifests) /* static pods whose manifests are in the state store: the pods of etcd,
					      * and the pod that applies addons */ \
	X("protokube", build_kops_protokube) /* up to kops 1.35: the service that applies addons */ \
	X("kubelet", build_kops_kubelet) /* kubelet, its settings and certificates */ \
	X("warm-pool", build_kops_warm_pool) /* images that an instance of a warm pool has before it is used */ \
	X("bootstrap", build_bootstrap) /* nodeup's own unit, which runs it at each boot */ \
	X("guard", build_guard) /* the units that look for drift, if a setting asks for them */ \
	X("hooks", build_kops_hooks) /* the users' units; containerd runs their containers. These units come last, as
				      * they must not replace a part of the node */ \
	X("file-assets", build_file_assets) /* files that the user names */ \
	X("bake", build_bake, .explicit_only = true) /* only the assets, container images too, to bake a machine
						      * image */

/* Lists the builders of a node that another program set up, and whose documents are not here. */
#define KOPS_ADOPTED_BUILDERS(X) \
	X("volumes", build_volumes) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents) /* missing or damaged documents, restored from their kept copies */ \
	X("assets", build_assets) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros) /* what Container-Optimized OS needs so that programs run at all */ \
	X("packages", build_packages) /* packages of the distribution */ \
	X("adopted", build_kops_adopted) /* the services of a node that another program set up */ \
	X("bootstrap", build_bootstrap) /* nodeup's own unit, which runs it at each boot */ \
	X("guard", build_guard) /* the units that look for drift, if a setting asks for them */ \
	X("file-assets", build_file_assets) /* files that the user names */ \
	X("bake", build_bake, .explicit_only = true) /* only the assets, container images too, to bake a machine
						      * image */
/* clang-format on */

extern plan_build_fn build_kops_release, build_kops_system, build_kops_pki, build_kops_upgrades,
	build_kops_ntp, build_kops_logrotate, build_kops_firewall, build_kops_sysctl,
	build_kops_network, build_kops_runtimes, build_kops_containerd, build_kops_kube_proxy,
	build_kops_kube_apiserver, build_kops_control_plane, build_kops_manifests,
	build_kops_kubelet, build_kops_warm_pool, build_kops_hooks, build_kops_adopted,
	build_kops_protokube;
/* Return the packages that the builders of these names need. */
extern plan_needs_fn needs_kops_system, needs_kops_upgrades, needs_kops_ntp, needs_kops_logrotate,
	needs_kops_network, needs_kops_runtimes;
