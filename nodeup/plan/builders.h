/* builders.h - all builders: what a node is made of
 * A builder reads plan->req and appends tasks (tasklist.h); it never looks at the machine. It asks the
 * model what is wanted, never which dialect the documents are of. Its errors go to plan_error().
 * Bodies are in build_*.c here, or in the room of the era that alone has them.
 * Owner: tasks live in the plan's arena. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model, one file each. */
#pragma once

#include "nodeup/plan/questions.h"
#include "nodeup/plan/tasklist.h"

/* A kind of nodes in a set of kinds. */
#define PLAN_NODE(kind) (1u << (kind))

/* Appends its tasks. */
typedef void plan_build_fn(struct plan *p);
/* Packages of the distribution that a builder takes, blank-separated; NULL: none. */
typedef const char *plan_needs_fn(struct plan *p);

/* In the order a person would tell it: name, function, the kinds of nodes that it is for, and where it has others the members
 * of plan.c's rows. */
/* clang-format off */
#define PLAN_BUILDERS(X) \
	X("release", build_kops_release, CONFIGURED) /* nothing: refuses a host that these nodes are not made on */ \
	X("volumes", build_volumes, ALL) /* disks: file systems, mounts, and the services that wait for them */ \
	X("documents", build_documents, ALL) /* documents that are gone from this machine or damaged, from their kept copies */ \
	X("directories", build_directories, DESCRIBED) /* directories that others drop files into */ \
	X("assets", build_assets, ALL) /* every asset of the documents, and the unpacking of archives */ \
	X("containeros", build_containeros, ALL) /* mounts without which no program runs on Container-Optimized OS */ \
	X("users", build_users, DESCRIBED, .master_only = true) /* the user that kops 1.8 makes on a master */ \
	X("egress-proxy", build_egress_proxy, DESCRIBED | STATED) /* the way to the outside, for services and package managers */ \
	X("packages", build_packages, ALL) /* packages of the distribution */ \
	X("upgrades", build_upgrades, DESCRIBED) /* updates that install themselves */ \
	X("ntp", build_ntp, ALL) /* the service that keeps the time */ \
	X("logrotate", build_logrotate, DESCRIBED) /* rotation of the logs of static pods */ \
	X("firewall", build_firewall, DESCRIBED) /* a firewall that lets pods and their traffic through */ \
	X("pki", build_pki, DESCRIBED) /* files of the store that every role needs: the CA, the registry login */ \
	X("sysctl", build_sysctl, DESCRIBED) /* kernel settings, as a file and in the running kernel */ \
	X("cloud-config", build_cloud_config, DESCRIBED) /* cloud.config of kubelet and the control plane */ \
	X("docker", build_docker, DESCRIBED, .packages = plan_docker_needs) /* settings of the container runtime, and images to be loaded into it */ \
	X("cni", build_cni, DESCRIBED) /* CNI plugins of the network in use */ \
	X("kube-proxy", build_kube_proxy, DESCRIBED) /* kube-proxy's static pod */ \
	X("control-plane", build_control_plane, DESCRIBED, .master_only = true) /* API server, controller manager, scheduler and kubectl */ \
	X("kubelet", build_kubelet, DESCRIBED) /* kubelet as a service */ \
	X("protokube", build_protokube, DESCRIBED) /* protokube as a service */ \
	X("states", build_states, STATED, .packages = plan_docker_needs) /* all that the model has file by file: kubelet, docker, static pods, keys, images */ \
	X("adopted", build_kops_adopted, ADOPTED) /* the services of a node that another program set up */ \
	X("system", build_kops_system, CONFIGURED, .packages = needs_kops_system) /* directories, the CA, the registry login, name resolution */ \
	X("pki", build_kops_pki, CONFIGURED) /* keys and certificates of a node with an API server, and users that may read them */ \
	X("upgrades", build_kops_upgrades, CONFIGURED, .packages = needs_kops_upgrades) /* updates that install themselves */ \
	X("ntp", build_kops_ntp, CONFIGURED, .packages = needs_kops_ntp) /* the service that keeps the time */ \
	X("logrotate", build_kops_logrotate, CONFIGURED, .packages = needs_kops_logrotate) /* rotation of logs */ \
	X("firewall", build_kops_firewall, CONFIGURED) /* a firewall that lets pods and their traffic through */ \
	X("sysctl", build_kops_sysctl, CONFIGURED) /* kernel settings, and a module */ \
	X("network", build_kops_network, CONFIGURED, .packages = needs_kops_network) /* settings of the host for its network plugin */ \
	X("runtimes", build_kops_runtimes, CONFIGURED, .packages = needs_kops_runtimes) /* what else containerd starts containers by, of its makers' packages */ \
	X("containerd", build_kops_containerd, CONFIGURED) /* containerd, its settings, and images that it has before kubelet starts */ \
	X("kube-proxy", build_kops_kube_proxy, CONFIGURED) /* kube-proxy's static pod, and what the pod that does its work needs */ \
	X("kube-apiserver", build_kops_kube_apiserver, CONFIGURED) /* the API server's static pod */ \
	X("control-plane", build_kops_control_plane, CONFIGURED) /* pods of the controller manager and the scheduler, and kubectl */ \
	X("manifests", build_kops_manifests, CONFIGURED) /* static pods that lie in the state store: etcd's, and the one that applies addons */ \
	X("kubelet", build_kops_kubelet, CONFIGURED) /* kubelet, its settings and certificates */ \
	X("warm-pool", build_kops_warm_pool, CONFIGURED) /* images that an instance of a warm pool has before it is used */ \
	X("bootstrap", build_bootstrap, ALL) /* our own unit, that runs us at each boot */ \
	X("hooks", build_hooks, DESCRIBED) /* what users add comes last, as it must not take the place of what a node is made of: units of theirs, docker runs their containers */ \
	X("hooks", build_kops_hooks, CONFIGURED) /* the same, and containerd runs them */ \
	X("file-assets", build_file_assets, ALL) /* the files of the user's own */ \
	X("bake", build_bake, ALL, .explicit_only = true) /* nothing but the assets, all of them, images too */
/* clang-format on */

/* Each does what its row says. */
#define DECLARE_BUILDER(name, function, ...) extern plan_build_fn function;
PLAN_BUILDERS(DECLARE_BUILDER)

/* Packages that these take. */
extern plan_needs_fn needs_kops_system, needs_kops_upgrades, needs_kops_ntp, needs_kops_logrotate,
	needs_kops_network, needs_kops_runtimes;
