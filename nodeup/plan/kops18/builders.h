/* builders.h - the builders of a node of kops 1.8
 * Each builder does what its row says; those that several eras share are declared in plan/builders.h.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/builders.h"

/* Lists the builders in the order in which a person would describe a node. A row is a name, a function, and further
 * members of struct builder. */
/* clang-format off */
#define KOPS18_BUILDERS(X) \
	X("volumes", build_volumes) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents) /* puts missing or damaged documents back from their kept copies */ \
	X("directories", build_directories) /* directories for files of other programs */ \
	X("assets", build_assets) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros) /* a directory from which programs may run on Container-Optimized OS */ \
	X("users", build_users, .master_only = true) /* the user that kops 1.8 makes on a master */ \
	X("egress-proxy", build_egress_proxy) /* the proxy for services and package managers */ \
	X("packages", build_packages, .packages = needs_packages) /* packages of the distribution */ \
	X("upgrades", build_upgrades, .packages = plan_needs_upgrades) /* automatic updates */ \
	X("ntp", build_ntp, .packages = plan_needs_ntp) /* the service that keeps the time */ \
	X("logrotate", build_logrotate) /* log rotation for static pods */ \
	X("firewall", build_firewall) /* firewall rules for pods */ \
	X("pki", build_pki) /* the CA and the registry login, for every role */ \
	X("sysctl", build_sysctl) /* kernel settings, as a file and in the running kernel */ \
	X("cloud-config", build_cloud_config) /* cloud.config of kubelet and the control plane */ \
	X("docker", build_docker, .packages = plan_docker_needs) /* settings of the container runtime, and images to
								  * load */ \
	X("cni", build_cni) /* CNI plugins of the network */ \
	X("kube-proxy", build_kube_proxy) /* kube-proxy's static pod */ \
	X("control-plane", build_control_plane, .master_only = true) /* API server, controller manager, scheduler and kubectl */ \
	X("kubelet", build_kubelet) /* kubelet as a service */ \
	X("protokube", build_protokube) /* protokube as a service */ \
	X("bootstrap", build_bootstrap) /* nodeup's own unit, which runs it at each boot */ \
	X("guard", build_guard) /* the units that look for drift, if a setting asks for them */ \
	X("hooks", build_hooks) /* the user's units, and containers that docker runs; they come last, as they may not
				 * replace a part of the node */ \
	X("file-assets", build_file_assets) /* files that the user names */ \
	X("bake", build_bake, .explicit_only = true) /* only the assets, container images too, to bake a machine
						      * image */
/* clang-format on */

extern plan_build_fn build_directories, build_users, build_upgrades, build_logrotate,
	build_firewall, build_pki, build_sysctl, build_cloud_config, build_docker, build_cni,
	build_kube_proxy, build_control_plane, build_kubelet, build_protokube, build_hooks;
/* The packages that the builder of these tasks needs. */
extern plan_needs_fn needs_packages;
