/* builders.h - what a node of kops 1.8 is made of
 * Each builder does what its row says; those of every era are declared in plan/builders.h.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/builders.h"

/* In the order a person would tell it: name, function, and where it has others the members of struct builder. */
/* clang-format off */
#define KOPS18_BUILDERS(X) \
	X("volumes", build_volumes) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents) /* documents that are gone from this machine or damaged, from their kept copies */ \
	X("directories", build_directories) /* directories that others drop files into */ \
	X("assets", build_assets) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros) /* what Container-Optimized OS needs so that programs run at all */ \
	X("users", build_users, .master_only = true) /* the user that kops 1.8 makes on a master */ \
	X("egress-proxy", build_egress_proxy) /* the way to the outside, for services and package managers */ \
	X("packages", build_packages, .packages = needs_packages) /* packages of the distribution */ \
	X("upgrades", build_upgrades, .packages = plan_needs_upgrades) /* updates that install themselves */ \
	X("ntp", build_ntp, .packages = plan_needs_ntp) /* the service that keeps the time */ \
	X("logrotate", build_logrotate) /* rotation of the logs of static pods */ \
	X("firewall", build_firewall) /* a firewall that lets pods and their traffic through */ \
	X("pki", build_pki) /* what every role needs of the store: the CA, the registry login */ \
	X("sysctl", build_sysctl) /* kernel settings, as a file and in the running kernel */ \
	X("cloud-config", build_cloud_config) /* cloud.config of kubelet and the control plane */ \
	X("docker", build_docker, .packages = plan_docker_needs) /* settings of the container runtime, and images to be loaded into it */ \
	X("cni", build_cni) /* CNI plugins of the network in use */ \
	X("kube-proxy", build_kube_proxy) /* kube-proxy's static pod */ \
	X("control-plane", build_control_plane, .master_only = true) /* API server, controller manager, scheduler and kubectl */ \
	X("kubelet", build_kubelet) /* kubelet as a service */ \
	X("protokube", build_protokube) /* protokube as a service */ \
	X("bootstrap", build_bootstrap) /* our own unit, that runs us at each boot */ \
	X("hooks", build_hooks) /* what users add comes last, as it must not take the place of what a node is made of: units of theirs, docker runs their containers */ \
	X("file-assets", build_file_assets) /* the files of the user's own */ \
	X("bake", build_bake, .explicit_only = true) /* nothing but the assets, all of them, images too */
/* clang-format on */

extern plan_build_fn build_directories, build_users, build_upgrades, build_logrotate,
	build_firewall, build_pki, build_sysctl, build_cloud_config, build_docker, build_cni,
	build_kube_proxy, build_control_plane, build_kubelet, build_protokube, build_hooks;
/* The packages that those of these names take. */
extern plan_needs_fn needs_packages;
