/* builders.h - the builders of a node of kube-up
 * Each builder does what its row says; those that several eras share are declared in plan/builders.h.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kubernetes 1.5 cluster/aws. */
#pragma once

#include "nodeup/plan/builders.h"

/* Lists the builders in the order in which a person would describe a node. A row is a name, a function, and further
 * members of struct builder. */
/* clang-format off */
#define KUBEUP_BUILDERS(X) \
	X("volumes", build_volumes) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents) /* puts missing or damaged documents back from their kept copies */ \
	X("assets", build_assets) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros) /* a directory from which programs may run on Container-Optimized OS */ \
	X("egress-proxy", build_egress_proxy) /* the proxy for services and package managers */ \
	X("packages", build_packages, .packages = plan_needs_upgrades) /* packages of the distribution */ \
	X("ntp", build_ntp, .packages = plan_needs_ntp) /* the service that keeps the time */ \
	X("states", build_states, .packages = plan_docker_needs) /* every file of the model: kubelet, docker, static
								  * pods, keys, images */ \
	X("bootstrap", build_bootstrap) /* nodeup's own unit, which runs it at each boot */ \
	X("guard", build_guard) /* the units that look for drift, if a setting asks for them */ \
	X("file-assets", build_file_assets) /* files that the user names */ \
	X("bake", build_bake, .explicit_only = true) /* only the assets, container images too, to bake a machine
						      * image */
/* clang-format on */

extern plan_build_fn build_states;
