/* builders.h - what a node of kube-up is made of
 * Each builder does what its row says; those of every era are declared in plan/builders.h.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kubernetes 1.5 cluster/aws. */
#pragma once

#include "nodeup/plan/builders.h"

/* In the order a person would tell it: name, function, and where it has others the members of struct builder. */
/* clang-format off */
#define KUBEUP_BUILDERS(X) \
	X("volumes", build_volumes) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents) /* documents that are gone from this machine or damaged, from their kept copies */ \
	X("assets", build_assets) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros) /* what Container-Optimized OS needs so that programs run at all */ \
	X("egress-proxy", build_egress_proxy) /* the way to the outside, for services and package managers */ \
	X("packages", build_packages, .packages = plan_needs_upgrades) /* packages of the distribution */ \
	X("ntp", build_ntp, .packages = plan_needs_ntp) /* the service that keeps the time */ \
	X("states", build_states, .packages = plan_docker_needs) /* what the model has file by file: kubelet, docker, static pods, keys, images */ \
	X("bootstrap", build_bootstrap) /* our own unit, that runs us at each boot */ \
	X("file-assets", build_file_assets) /* the files of the user's own */ \
	X("bake", build_bake, .explicit_only = true) /* nothing but the assets, all of them, images too */
/* clang-format on */

extern plan_build_fn build_states;
